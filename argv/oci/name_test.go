package oci

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var validName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$`)

// An image name that is admitted cannot be taken for a flag, and gives a container
// name that both engines take and that fits a host name.
func FuzzImage(f *testing.F) {
	for _, seed := range []string{"a", "a:1", "localhost:5000/a/b", "ghcr.io/x/y@sha256:" + strings.Repeat("0", 64), "--privileged", "A", "a b", "a:", "/a", "a//b", "[::1]:5000/a", "a:" + strings.Repeat("x", 128)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, image string) {
		name, err := containerName(image, nil)
		if err != nil {
			return
		}
		require.False(t, strings.HasPrefix(image, "-"))
		require.NotContains(t, image, " ")
		require.Regexp(t, validName, name)
	})
}

func TestContended(t *testing.T) {
	require.True(t, Contended("x/sandbox:1", []string{"y", "sandbox-1-12"}))
	require.False(t, Contended("x/sandbox:1", []string{"sandbox-1-x", "my-sandbox-1-0", "sandbox-10-0", "sandbox-1-"}))
}

func TestSecretNames(t *testing.T) {
	for _, name := range []string{"GEMINI_API_KEY", "NPM_TOKEN", "MY_SECRET", "DB_PASSWORD", "TOKEN", "aws_secret_access_key", "AWS_SESSION_TOKEN", "X_CREDENTIALS"} {
		require.NotEmpty(t, EnvVar(name, "v").Secret, name)
	}
	for _, name := range []string{"TERM", "GOOGLE_CLOUD_PROJECT", "KEYBOARD", "DOCKER_TOKEN", "CONTAINER_API_KEY", "XDG_TOKEN", "SSH_TOKEN", "HTTPS_PROXY", "PATH"} {
		require.Equal(t, "v", EnvVar(name, "v").Value, name)
	}
}

package launch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/platform"
)

func TestRootless(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"currentContext": "rootless"}`), 0o600))
	user := &platform.Facts{OS: platform.Linux, UID: 1000, Home: "/nohome"}
	for _, c := range []struct {
		engine string
		facts  *platform.Facts
		env    config.Env
		want   bool
	}{
		{"podman", user, nil, true},
		{"podman", &platform.Facts{OS: platform.Linux}, nil, false},
		{"podman", &platform.Facts{OS: platform.Darwin, UID: 501}, nil, false},
		{"docker", user, nil, false},
		{"docker", user, config.Env{"DOCKER_HOST": "unix:///run/user/1000/docker.sock"}, true},
		{"docker", user, config.Env{"DOCKER_HOST": "unix:///var/run/docker.sock", "DOCKER_CONTEXT": "rootless"}, false},
		{"docker", user, config.Env{"DOCKER_CONTEXT": "rootless"}, true},
		{"docker", user, config.Env{"DOCKER_CONTEXT": "default", "DOCKER_CONFIG": dir}, false},
		{"docker", user, config.Env{"DOCKER_CONFIG": dir}, true},
		{"docker", &platform.Facts{OS: platform.Linux}, config.Env{"DOCKER_CONFIG": dir}, false},
	} {
		require.Equal(t, c.want, Rootless(c.engine, c.facts, c.env), "%+v", c)
	}
}

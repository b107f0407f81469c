package config

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/argv/oci"
	"github.com/llxsandbox/llxsandbox/platform"
)

var lookup = func(name string) string { return map[string]string{"A": "a value", "EMPTY": ""}[name] }

// SANDBOX_FLAGS never panics, and words that Quote wrote come back as they were.
func FuzzSplitFlags(f *testing.F) {
	for _, seed := range []string{"--label a", `"a b" 'c d'`, "$A ${A}x", `\$A`, "'$A'", "${", "#x", "a#b", "\\\n", `"`, "a\\", "$", "$1", "é$A"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = SplitFlags("SANDBOX_FLAGS", text, lookup)
		if strings.ContainsRune(text, 0) || strings.Contains(text, "\\\n") || !utf8.ValidString(text) {
			return
		}
		words, err := SplitFlags("SANDBOX_FLAGS", argv.Quote(text)+" x", lookup)
		require.NoError(t, err)
		require.Equal(t, []string{text, "x"}, words)
	})
}

// Where no expansion is involved, a real shell splits in the same way.
func TestSplitFlagsLikeAShell(t *testing.T) {
	for _, text := range []string{`a  b`, `"a b"c'd e'`, `a\ b`, `"a\"b"`, `'a\b'`, `"a\\b"`, `"" ''`, "a\tb\nc", `"$A" $A`, `"${A}z"`, `\$A`, `'$A'`, `"\$A"`, `x"$A"y`, `$EMPTY"x"`} {
		cmd := exec.Command("sh", "-c", `set -f; IFS=; A="a value"; EMPTY=; printf '%s|' `+strings.ReplaceAll(text, "\n", " "))
		out, err := cmd.Output()
		require.NoError(t, err)
		words, err := SplitFlags("X", text, lookup)
		require.NoError(t, err)
		require.Equal(t, string(out), strings.Join(words, "|")+"|", text)
	}
}

// A mount is from an absolute path to an absolute path with one of four modes, and
// none of the three can hold a colon.
func FuzzMounts(f *testing.F) {
	for _, seed := range []string{"/a", "/a:/b:rw", "a", ":", "/a::z", "/a:/b:ro,z", "~", `C:\a:/b`, `/:\`, "/a,/b", " /a "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Load(Flags{}, Env{"SANDBOX_MOUNTS": text}, Profile{}, "/h", nil)
		if err != nil {
			require.Contains(t, err.Error(), "SANDBOX_MOUNTS")
			return
		}
		for _, m := range c.Options.Mounts {
			require.NotContains(t, m.To, ":")
			require.True(t, strings.HasPrefix(m.To, "/"), m.To)
			require.True(t, strings.HasPrefix(m.From, "/") || m.From[1] == ':', m.From)
			if !platform.HasDrive(m.From) {
				require.NotContains(t, m.From, ":")
			}
			require.Contains(t, []string{"ro", "rw", "z", "Z"}, m.Mode)
		}
	})
}

// A variable has a valid name, and an error never repeats a value.
func FuzzEnv(f *testing.F) {
	for _, seed := range []string{"A=1", "A=1,B=2", "A", "=x", "A B=x", "TOKEN=a,hunter2", "ÿ=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Load(Flags{}, Env{"SANDBOX_ENV": text}, Profile{}, "/h", nil)
		if err != nil {
			require.Contains(t, err.Error(), "SANDBOX_ENV")
			for _, item := range items(text) {
				if _, value, ok := strings.Cut(item, "="); ok && len(value) > 12 {
					require.NotContains(t, strings.TrimPrefix(err.Error(), "SANDBOX_ENV must be a comma-separated list of KEY=VALUE pairs"), value)
				} else if !ok && len(item) > 12 {
					require.NotContains(t, strings.TrimPrefix(err.Error(), "SANDBOX_ENV must be a comma-separated list of KEY=VALUE pairs"), item)
				}
			}
			return
		}
		for _, v := range c.Options.Custom {
			require.True(t, argv.ValidName(v.Name))
		}
	})
}

// A port is from 1 to 65535.
func FuzzPorts(f *testing.F) {
	for _, seed := range []string{"80", "80:90", "0", "65536", "+1", "1:2:3", "٣", " 8 "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Load(Flags{}, Env{"SANDBOX_PORTS": text}, Profile{}, "/h", nil)
		if err != nil {
			require.Contains(t, err.Error(), "SANDBOX_PORTS")
			return
		}
		for _, p := range c.Options.Ports {
			require.True(t, 1 <= p.Host && p.Host <= 65535 && 1 <= p.Container && p.Container <= 65535)
		}
	})
}

// A profile gives a configuration or one error that names its file.
func FuzzProfile(f *testing.F) {
	for _, seed := range []string{`{}`, `{"network":"off"}`, `[]`, `null`, `{"resources":{"cpus":1}}`, `{"mounts":[{"from":"~"}]} // x`, `{"env":{"A":"b"}}`, ``, ` `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := LoadProfile("x", "FILE", string(text), true)
		if err == nil {
			_, err = Load(Flags{}, Env{}, p, "/h", nil)
		}
		if err != nil {
			require.Contains(t, err.Error(), "FILE", string(text))
		}
	})
}

// The proxy's URL changes its host only, and only a loopback one.
func TestProxyURL(t *testing.T) {
	for raw, want := range map[string]string{
		"http://localhost:8877":               "http://" + oci.ProxyName + ":8877",
		"http://user:p@127.0.0.1:1/localhost": "http://user:p@" + oci.ProxyName + ":1/localhost",
		"http://[::1]:3128":                   "http://" + oci.ProxyName + ":3128",
		"http://LOCALHOST":                    "http://" + oci.ProxyName,
		"http://localhost.example:1":          "http://localhost.example:1",
		"http://10.0.0.1:1":                   "http://10.0.0.1:1",
		"localhost:1":                         "http://" + oci.ProxyName + ":1",
	} {
		got, err := proxyURL(raw)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := proxyURL("http://a b")
	require.Error(t, err)
}

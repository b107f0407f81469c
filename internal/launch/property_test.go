package launch

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/platform"
)

// valued are the flags that the sections own and that take a value; the rest of the
// list is made of bare ones.
var valued = map[string]bool{
	"--workdir": true, "--security-opt": true, "--cpus": true, "--memory": true, "--pids-limit": true, "--network": true,
	"--volume": true, "--env": true, "--publish": true, "--name": true, "--hostname": true, "--user": true, "--authfile": true,
}

var bare = []string{"-i", "--rm", "--init", "--cap-drop=ALL", "--cap-add=CHOWN", "--cap-add=SETUID", "--cap-add=SETGID"}

// Whatever the values of the environment are, none of them adds a flag or a mount that
// its section does not own: the launch is refused, or its list has exactly the words
// of its sections, and every mount comes from where the user said.
func FuzzNoValueAddsAFlagOrAMount(f *testing.F) {
	nasty := []string{"--privileged", "/:/host", "a --privileged", "x\n--privileged", "-v", "=", "a,b=c", ":", "$(x)", "'"}
	for i, n := range nasty {
		f.Add(n, nasty[(i+1)%len(nasty)], nasty[(i+3)%len(nasty)], uint8(i))
	}
	names := []string{
		"LLXPRT_SANDBOX_IMAGE", "LLXSANDBOX_COMMAND", "LLXPRT_SANDBOX_CPUS", "SANDBOX_MEMORY", "SANDBOX_PIDS", "SANDBOX_MOUNTS", "SANDBOX_PORTS",
		"SANDBOX_ENV", "DEBUG_PORT", "DEBUG", "NODE_OPTIONS", "VIRTUAL_ENV", "PATH", "PYTHONPATH", "GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_API_KEY",
		"GOOGLE_CLOUD_PROJECT", "TERM", "TERM_PROGRAM", "LLXPRT_CODE_IDE_WORKSPACE_PATH", "SSH_AUTH_SOCK", "SANDBOX_SET_UID_GID",
	}
	f.Fuzz(func(t *testing.T, a, b, c string, pick uint8) {
		if strings.ContainsRune(a+b+c, 0) {
			t.Skip("no variable holds a NUL")
		}
		env := config.Env{"SANDBOX_ENV": "K=" + c}
		env[names[int(pick)%len(names)]] = a
		env[names[int(pick/3)%len(names)]] = b
		f := platform.Facts{
			OS: platform.Linux, Home: "/home/ada" + c, WorkDir: "/work/" + b, TempDir: "/tmp", RuntimeDir: "/run/u", StateDir: "/s", Self: "/self",
			UID: 1000, GID: 1000, Programs: []string{"docker"}, Engines: []platform.Engine{{Name: "docker", ImageID: "1"}},
		}
		for _, p := range []string{f.Home, f.Home + "/.gitconfig", f.Home + "/.llxprt", f.WorkDir, a, b} {
			f.Paths = append(f.Paths, platform.Path{Path: p, Kind: platform.File})
		}
		f.Paths[0].Kind, f.Paths[2].Kind, f.Paths[3].Kind = platform.Dir, platform.Dir, platform.Dir
		cfg, err := config.Load(config.Flags{}, env, config.Profile{}, f.Home, []string{a, b})
		if err != nil {
			return
		}
		l, err := Plan(cfg, &f)
		if err != nil {
			return
		}
		require.NoError(t, argv.Check(l.Plan))
		checkWords(t, l.Main().Cmd.Args, cfg, &f)
	})
}

// checkWords reads the list as docker would and holds that it knows every word.
func checkWords(t *testing.T, args []string, cfg config.Config, f *platform.Facts) {
	require.Equal(t, []string{"docker", "run"}, args[:2])
	i := 2
	for ; args[i] != cfg.Options.Image; i++ {
		if valued[args[i]] {
			i++
			if args[i-1] == "--volume" {
				checkMount(t, args[i], cfg, f)
			}
			continue
		}
		require.Contains(t, bare, args[i])
	}
	rest := args[i+1:]
	require.Equal(t, []string{"bash", "-c"}, rest[:2])
	if len(rest) > 3 { // long arguments travel behind the script
		require.Equal(t, append([]string{"bash"}, cfg.Options.Args...), rest[3:])
	}
}

func checkMount(t *testing.T, spec string, cfg config.Config, f *platform.Facts) {
	parts := strings.Split(spec, ":")
	require.LessOrEqual(t, len(parts), 3, spec)
	own := []string{f.WorkDir, f.TempDir, f.Home + "/.llxprt", f.Home + "/.gitconfig", cfg.Options.ADC, cfg.SSH.AuthSock, f.Join(f.WorkDir, ".llxprt/sandbox.venv")}
	for i := range own {
		if own[i] != "" {
			own = append(own, f.Join(own[i]))
		}
	}
	for _, m := range cfg.Options.Mounts {
		own = append(own, m.From)
	}
	require.True(t, slices.Contains(own, parts[0]), "%q is mounted from nowhere that was asked for", spec)
	if len(parts) == 3 {
		require.Contains(t, []string{"ro", "rw", "z", "Z"}, parts[2])
	}
}

package config

// Variable is one environment variable that the program reads.
type Variable struct {
	Name string
	Help string // what it does, one sentence
}

// Variables is every environment variable that the program reads, in the order of
// the README's table, which a test compares with this one. Reading one that is not
// listed here is a bug, and [Env.Get] says so.
var Variables = []Variable{
	{"LLXPRT_SANDBOX", "The engine: `docker`, `podman`, `sandbox-exec`, or `true` for whichever is there; `false` makes `run` refuse."},
	{"LLXPRT_SANDBOX_IMAGE", "The image to run."},
	{"LLXSANDBOX_COMMAND", "The agent command inside, instead of `llxprt`."},
	{"LLXSANDBOX_HARDENING", "`off` leaves out `--cap-drop=ALL` and `no-new-privileges`."},
	{"LLXSANDBOX_PUBLISH", "`local` publishes ports on 127.0.0.1 only; `all` (the default) on every address."},
	{"BUILD_SANDBOX", "If set, builds `.llxprt/sandbox.Dockerfile` of the working directory as the image first."},
	{"BUILD_SANDBOX_FLAGS", "More flags for that build, split as a shell does."},
	{"SANDBOX_FLAGS", "More flags for `docker run`, split as a shell does; `$VAR` expands outside single quotes."},
	{"LLXPRT_SANDBOX_CPUS", "The CPU limit, such as `1.5`. Without it, `SANDBOX_CPUS`."},
	{"SANDBOX_CPUS", "The CPU limit where `LLXPRT_SANDBOX_CPUS` is not set."},
	{"LLXPRT_SANDBOX_MEMORY", "The memory limit: a number, and `b`, `k`, `m` or `g`. Without it, `SANDBOX_MEMORY`."},
	{"SANDBOX_MEMORY", "The memory limit where `LLXPRT_SANDBOX_MEMORY` is not set."},
	{"LLXPRT_SANDBOX_PIDS", "The limit on processes. Without it, `SANDBOX_PIDS`."},
	{"SANDBOX_PIDS", "The limit on processes where `LLXPRT_SANDBOX_PIDS` is not set."},
	{"LLXPRT_SANDBOX_NETWORK", "`on`, `off` or `proxied`. Without it, `SANDBOX_NETWORK`."},
	{"SANDBOX_NETWORK", "The network where `LLXPRT_SANDBOX_NETWORK` is not set."},
	{"LLXPRT_SANDBOX_PROXY_COMMAND", "The command of a proxy container through which alone the sandbox reaches the network."},
	{"LLXPRT_SANDBOX_SSH_AGENT", "`on`, `off` or `auto`; `off` here or in `SANDBOX_SSH_AGENT` wins over everything."},
	{"SANDBOX_SSH_AGENT", "The same, where `LLXPRT_SANDBOX_SSH_AGENT` is not set."},
	{"SSH_AUTH_SOCK", "The ssh agent's socket, which is forwarded to `/ssh-agent`."},
	{"LLXPRT_SANDBOX_MOUNTS", "Mounts: `FROM[:TO[:ro|rw|z|Z]]`, comma separated. Without it, `SANDBOX_MOUNTS`."},
	{"SANDBOX_MOUNTS", "Mounts where `LLXPRT_SANDBOX_MOUNTS` is not set."},
	{"SANDBOX_PORTS", "Ports to publish: `PORT` or `HOST:CONTAINER`, comma separated."},
	{"SANDBOX_ENV", "Variables for the sandbox: `KEY=VALUE`, comma separated."},
	{"SANDBOX_SET_UID_GID", "`true` runs the agent as the host's user, `false` as the image's. Not set: `true` on Debian and Ubuntu."},
	{"LLXPRT_CODE_INTEGRATION_TEST", "`true` runs the agent as root."},
	{"DEBUG", "If set, and not `0`, `false` or `off`: runs the agent under the Node debugger and publishes its port."},
	{"DEBUG_PORT", "The debugger's port, instead of 9229."},
	{"NODE_ENV", "`development` runs `npm rebuild && npm run start` instead of the agent command."},
	{"NODE_OPTIONS", "Passed on, together with `--node-arg`."},
	{"VIRTUAL_ENV", "A Python environment below the working directory is replaced by `.llxprt/sandbox.venv`."},
	{"PATH", "Entries below the working directory are appended to the sandbox's."},
	{"PYTHONPATH", "Likewise."},
	{"GOOGLE_APPLICATION_CREDENTIALS", "A credentials file, mounted read-only, and passed on."},
	{"GEMINI_API_KEY", "Passed on, never in an argument list."},
	{"GOOGLE_API_KEY", "Passed on, never in an argument list."},
	{"GOOGLE_GENAI_USE_VERTEXAI", "Passed on."},
	{"GOOGLE_GENAI_USE_GCA", "Passed on."},
	{"GOOGLE_CLOUD_PROJECT", "Passed on."},
	{"GOOGLE_CLOUD_LOCATION", "Passed on."},
	{"GEMINI_MODEL", "Passed on."},
	{"TERM", "Passed on."},
	{"COLORTERM", "Passed on."},
	{"LLXPRT_CODE_IDE_SERVER_PORT", "Passed on."},
	{"LLXPRT_CODE_IDE_WORKSPACE_PATH", "Passed on."},
	{"LLXPRT_CODE_WELCOME_CONFIG_PATH", "Passed on."},
	{"TERM_PROGRAM", "Passed on."},
	{"HTTPS_PROXY", "With a proxy command: the proxy's URL as the sandbox sees it. The first of these four counts."},
	{"https_proxy", "As `HTTPS_PROXY`."},
	{"HTTP_PROXY", "As `HTTPS_PROXY`."},
	{"http_proxy", "As `HTTPS_PROXY`."},
	{"NO_PROXY", "With a proxy command: passed on in both spellings."},
	{"no_proxy", "As `NO_PROXY`."},
	{"SANDBOX", "Set inside a sandbox: `run` then starts the agent command directly."},
	{"HOME", "The home directory."},
	{"TMPDIR", "The temp directory; without it `TMP`, then `TEMP`, then `/tmp`."},
	{"TMP", "See `TMPDIR`."},
	{"TEMP", "See `TMPDIR`."},
	{"XDG_RUNTIME_DIR", "Where our sockets and small files live, in `llxsandbox/`."},
	{"XDG_STATE_HOME", "Where our larger files live, in `llxsandbox/`, instead of `~/.local/state`."},
	{"DOCKER_HOST", "Read to tell whether docker is rootless."},
	{"DOCKER_CONTEXT", "Read to tell whether docker is rootless."},
	{"DOCKER_CONFIG", "Where docker's `config.json` is, which is read to tell whether docker is rootless."},
}

var known = func() map[string]bool {
	names := map[string]bool{}
	for _, v := range Variables {
		names[v.Name] = true
	}
	return names
}()

// Env is the environment that the program was started with.
type Env map[string]string

// NewEnv reads the form of os.Environ.
func NewEnv(environ []string) Env {
	env := Env{}
	for _, entry := range environ {
		for i := 1; i < len(entry); i++ { // from 1: Windows has names that begin with =
			if entry[i] == '=' {
				env[entry[:i]] = entry[i+1:]
				break
			}
		}
	}
	return env
}

// Get returns the value of a variable in [Variables]; empty and not set are the same (defect 6).
func (e Env) Get(name string) string {
	if !known[name] {
		panic("config: " + name + " is not in the table of variables")
	}
	return e[name]
}

// first returns the first of the variables that is set, and its name.
func (e Env) first(names ...string) (value, from string) {
	for _, name := range names {
		if value = e.Get(name); value != "" {
			return value, name
		}
	}
	return "", names[0]
}

package config

import (
	"fmt"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/platform"
)

// Auto means whichever engine is there.
const Auto = "auto"

const validEngines = "docker, podman, sandbox-exec, true and false"

func (l *loader) engine(c *Config) {
	value, from := l.pick("--engine", l.flags.Engine, "engine", l.profile.Engine)
	if value != "" {
		w, err := word(from, value, Auto, platform.Docker, platform.Podman, platform.SandboxExec, "none")
		l.keep(err)
		c.Engine, c.EngineFrom = w, from
		return
	}
	if value := l.env.Get("LLXPRT_SANDBOX"); strings.TrimSpace(value) != "" {
		w, err := engineWord("LLXPRT_SANDBOX", value)
		l.keep(err)
		c.Engine, c.EngineFrom = w, "LLXPRT_SANDBOX"
	}
}

// engineWord reads a value as LLXPRT_SANDBOX and the settings files hold it.
func engineWord(from, value string) (string, error) {
	switch w := strings.ToLower(strings.TrimSpace(value)); w {
	case "1", "true":
		return Auto, nil
	case "0", "false":
		return "none", nil
	case platform.Docker, platform.Podman, platform.SandboxExec:
		return w, nil
	}
	return "", badValue(from, value, validEngines, "")
}

// ResolveEngine decides the engine as far as words can: what the configuration says,
// else what the settings files say, else auto. "Decided" means a name or Auto; a word
// that switches sandboxing off is an error, since run was asked for.
func ResolveEngine(c Config, s platform.Settings) (engine, from string, warnings []string, err error) {
	engine, from = c.Engine, c.EngineFrom
	if engine == "" && s.Problem != "" {
		return "", "", nil, &argv.Fatal{Text: s.Problem, Hint: "correct the file, or name an engine with --engine or LLXPRT_SANDBOX"}
	}
	if engine == "" && s.Sandbox != "" {
		if engine, err = engineWord("sandbox of "+s.From, s.Sandbox); err != nil {
			return "", "", nil, err
		}
		from = s.From
	}
	if engine == "" && s.EnvTrash != "" {
		warnings = append(warnings, s.EnvTrash)
	}
	if engine == "" && s.DotEnv != "" {
		from = "LLXPRT_SANDBOX of " + s.EnvFrom
		if engine, err = engineWord(from, s.DotEnv); err != nil {
			return "", "", nil, err
		}
	}
	switch engine {
	case "":
		return Auto, "", warnings, nil
	case "none":
		return "", "", nil, &argv.Fatal{
			Text: fmt.Sprintf("%s says that no sandbox is wanted, and `run` asks for one", from),
			Hint: "start the agent itself, or name an engine: --engine auto",
		}
	}
	return engine, from, warnings, nil
}

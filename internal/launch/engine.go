package launch

import (
	"fmt"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/platform"
)

// Wanted returns the engines that could serve, best first: the one that was named,
// or for auto those that are installed. With none it is an error that says so.
func Wanted(c config.Config, f *platform.Facts) (engines []string, named bool, warnings []string, err error) {
	word, from, warnings, err := config.ResolveEngine(c, f.Settings)
	if err != nil {
		return nil, false, nil, err
	}
	installed := installed(f)
	if word != config.Auto {
		if !f.Has(word) {
			return nil, true, nil, notInstalled(word, from, installed)
		}
		return []string{word}, true, warnings, nil
	}
	if len(installed) == 0 {
		return nil, false, nil, &argv.Fatal{
			Text: "there is no container engine: install docker or podman, or name one in LLXPRT_SANDBOX",
			Hint: "`llxsandbox --help` ends with how to install one",
		}
	}
	return installed, false, warnings, nil
}

// installed are the engines on PATH in the order in which auto takes them.
func installed(f *platform.Facts) []string {
	var found []string
	for _, engine := range []string{platform.Docker, platform.Podman} {
		if f.Has(engine) {
			found = append(found, engine)
		}
	}
	return found
}

func notInstalled(engine, from string, installed []string) error {
	hint := "install it, or docker or podman"
	if len(installed) > 0 {
		hint = "installed is " + strings.Join(installed, " and ") + ": --engine " + installed[0]
	}
	return &argv.Fatal{Text: fmt.Sprintf("the engine %s (%s) is not on PATH", engine, from), Hint: hint}
}

// Engine returns the engine of this launch. For auto it is the first that answers,
// with a warning that says so if that is not the first that is installed.
func Engine(c config.Config, f *platform.Facts) (engine string, warnings []string, err error) {
	engines, named, warnings, err := Wanted(c, f)
	if err != nil {
		return "", nil, err
	}
	if named {
		return engines[0], warnings, nil
	}
	for _, engine := range engines {
		if f.Engine(engine).Problem != "" {
			continue
		}
		if engine != engines[0] {
			warnings = append(warnings, fmt.Sprintf("%s does not answer: using %s", engines[0], engine))
		}
		return engine, warnings, nil
	}
	return engines[0], warnings, nil
}

// answering is an error that quotes an engine that does not answer, and says how to
// start it (defect 18).
func answering(e platform.Engine) error {
	if e.Problem == "" {
		return nil
	}
	hint := "is podman set up? `podman info` tells; on macOS: podman machine start"
	if e.Name == platform.Docker {
		hint = "start the daemon: `sudo systemctl start docker`, or Docker Desktop; to use it without root: `sudo usermod -aG docker $USER`"
	}
	return &argv.Fatal{Text: fmt.Sprintf("cannot use %s: it does not answer", e.Name), Words: e.Problem, Hint: hint}
}

// Usable is Engine, and an error if that engine does not answer.
func Usable(c config.Config, f *platform.Facts) (engine string, warnings []string, err error) {
	engine, warnings, err = Engine(c, f)
	if err != nil {
		return "", nil, err
	}
	return engine, warnings, answering(f.Engine(engine))
}

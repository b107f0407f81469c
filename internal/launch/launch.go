// Package launch is the container launcher: it decides the engine, says which paths
// and questions matter, and turns a checked configuration and the facts into the one
// plan that `run` carries out and `print-args` shows. Planning is pure.
package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/argv/oci"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/platform"
)

// None is the engine's name where the launch needs none: inside a sandbox already.
const None = "none"

// SupportURL is where users of the sandbox image ask for help (R1.1).
const SupportURL = "https://github.com/vybestack/llxprt-code/discussions"

// Launch is a plan, and what it is for.
type Launch struct {
	Engine    string
	Container string // its name; "" with no container
	Tunnel    string // the socket in podman's machine that this launch needs for itself; "" for none
	argv.Plan
}

// Plan returns the launch that the configuration asks for on a host of these facts.
// It is pure; an error is an *argv.Fatal.
func Plan(c config.Config, f *platform.Facts) (Launch, error) {
	if c.Inside != "" {
		return insideAlready(c), nil
	}
	engine, warnings, err := Engine(c, f)
	if err != nil {
		return Launch{}, err
	}
	if engine == platform.SandboxExec {
		return Launch{}, &argv.Fatal{Text: "sandbox-exec is not built yet", Hint: "name docker or podman: --engine docker"}
	}
	if err := answering(f.Engine(engine)); err != nil {
		return Launch{}, err
	}
	o := c.Options
	o.Engine = engine
	l := Launch{Engine: engine, Plan: argv.Plan{Warnings: warnings}}
	agent, err := sshAgent(c, &o, f)
	if err != nil {
		return Launch{}, err
	}
	o.Agent = agent.socket
	run, err := oci.Run(o, f)
	if err != nil {
		return Launch{}, err
	}
	image, err := imageSteps(c, o, f)
	if err != nil {
		return Launch{}, err
	}
	l.Container, l.Tunnel = run.Name, agent.tunnel
	l.Warnings = slices.Concat(l.Warnings, agent.warnings, run.Warnings)
	l.Notes = run.Notes
	before := slices.DeleteFunc(run.Before, func(step argv.Step) bool {
		return slices.ContainsFunc(image, func(done argv.Step) bool { return done.Kind == argv.Write && done.Path == step.Path })
	})
	l.Steps = slices.Concat(image, before, proxySteps(o, f), agent.steps, []argv.Step{mainStep(o, f, run)})
	return l, nil
}

// insideAlready starts the agent directly: a sandbox in a sandbox is not wanted.
func insideAlready(c config.Config) Launch {
	cmd := argv.New(c.Options.Command, c.Options.Args...)
	return Launch{Engine: None, Plan: argv.Plan{
		Warnings: []string{fmt.Sprintf("already inside the sandbox %q: starting %s directly", c.Inside, c.Options.Command)},
		Steps:    []argv.Step{{Kind: argv.Main, Why: "run the agent", Cmd: &cmd, Replace: true}},
	}}
}

// mainStep runs the agent. Without a terminal the launcher may become docker's client,
// which passes signals on. It stays where the client does not: with a terminal, and
// with podman, whose client can leave the container behind when a signal comes early.
//
// A name that another launch took meanwhile is looked for where that costs nothing
// (with a terminal, standard error is the client's alone) or is likely.
func mainStep(o oci.Options, f *platform.Facts, run oci.Launch) argv.Step {
	terminal := f.Terminal.Both()
	step := argv.Step{
		Kind: argv.Main, Why: "run the agent in a container", Cmd: &run.Cmd,
		Stop:    []argv.Cmd{argv.New(o.Engine, "stop", "-t", "10", run.Name)},
		Hint:    "is " + o.Engine + " still installed and running? `llxsandbox engine` tells",
		Replace: !terminal && o.Engine == platform.Docker,
	}
	if o.Engine == platform.Podman {
		step.Stop = append(step.Stop, argv.New(o.Engine, "rm", "-f", run.Name)) // --rm is the client's work
	}
	if terminal || oci.Contended(o.Image, f.Engine(o.Engine).Containers) {
		step.Taken = "already in use"
	}
	return step
}

// imageSteps makes sure that the image is there: built, or pulled if it is missing (R1).
func imageSteps(c config.Config, o oci.Options, f *platform.Facts) ([]argv.Step, error) {
	var authfile []string
	var before []argv.Step
	if o.Engine == platform.Podman {
		step, file := oci.EmptyAuthfile(f)
		authfile = []string{"--authfile", file}
		before = []argv.Step{step}
	}
	if c.Build {
		file := dockerfile(f)
		if f.Kind(file) != platform.File {
			return nil, &argv.Fatal{Text: fmt.Sprintf("BUILD_SANDBOX is set, and there is no %s", file), Hint: "write that Dockerfile, or unset BUILD_SANDBOX"}
		}
		build := argv.New(o.Engine, slices.Concat([]string{"build"}, authfile, c.BuildFlags, []string{"-f", file, "-t", o.Image, f.WorkDir})...)
		return append(before, argv.Step{Kind: argv.Run, Why: "build the sandbox image", Cmd: &build, Hint: "correct " + file + ", or unset BUILD_SANDBOX"}), nil
	}
	if f.Engine(o.Engine).ImageID != "" {
		return nil, nil
	}
	missing := missingImage(o.Image)
	if oci.IsLocal(o.Image) {
		return nil, &argv.Fatal{Text: missing, Hint: "it is never pulled: build it with BUILD_SANDBOX=1 llxsandbox run, in a project that has .llxprt/sandbox.Dockerfile"}
	}
	pull := argv.New(o.Engine, "pull", o.Image)
	ask := platform.EngineQuestions(o.Engine, o.Image)[0].Cmd
	hint := "check the name and the network; `" + o.Engine + " login` if the registry wants you to sign in"
	return []argv.Step{
		{Kind: argv.Run, Why: "pull the sandbox image", Cmd: &pull, Failure: missing, Hint: hint},
		{Kind: argv.Run, Why: "see that the image is there now", Cmd: &ask, Output: argv.NonEmpty, Failure: missing, Hint: hint},
	}, nil
}

// missingImage is the text of R1, word for word.
func missingImage(image string) string {
	text := "Sandbox image '" + image + "' is missing or could not be pulled. "
	if oci.IsLocal(image) {
		return text + "Build it first: it is a local development image."
	}
	return text + "Please check the image name, your network connection, or visit " + SupportURL + " if the issue persists."
}

func dockerfile(f *platform.Facts) string { return f.Join(f.WorkDir, ".llxprt", "sandbox.Dockerfile") }

// Candidates are the paths that matter to a launch: what exists of them is a fact.
func Candidates(c config.Config, f *platform.Facts) []string {
	paths := []string{f.Home, f.WorkDir, f.TempDir, dockerfile(f)}
	for _, rel := range []string{
		".llxprt", ".config/gcloud", ".gitconfig", ".config/git/config", ".gitignore_global", ".ssh/known_hosts",
	} {
		paths = append(paths, f.Join(f.Home, rel))
	}
	for _, name := range oci.Sensitive {
		paths = append(paths, f.Join(f.Home, name))
	}
	paths = append(paths, f.Join(f.WorkDir, ".llxprt", "sandbox.bashrc"), f.Join(f.WorkDir, ".llxprt", "sandbox.venv"),
		c.Options.ADC, c.SSH.AuthSock)
	for _, m := range c.Options.Mounts {
		paths = append(paths, m.From)
	}
	return slices.DeleteFunc(paths, func(p string) bool { return !f.Abs(p) })
}

// Questions are what a launch asks the host once the engine is known.
func Questions(c config.Config, f *platform.Facts, engine string) []platform.Question {
	questions := platform.EngineQuestions(engine, c.Options.Image)
	if c.Options.Network == oci.Proxied {
		questions = append(questions, platform.NetworksQuestion(engine))
	}
	if f.OS == platform.Darwin && forwards(c, f) {
		questions = append(questions, platform.MachineQuestions(engine, c.Options.Image)...)
	}
	if asksForKeys(c, f) {
		questions = append(questions, platform.KeysQuestion())
	}
	return questions
}

// Rootless tells whether the engine runs as the user. Podman does for everybody but
// root; a rootless docker shows by where its socket is, or by the name of the context
// that its own set-up makes the current one.
func Rootless(engine string, f *platform.Facts, env config.Env) bool {
	if f.OS != platform.Linux || f.UID == 0 {
		return false
	}
	if engine == platform.Podman {
		return true
	}
	if host := env.Get("DOCKER_HOST"); host != "" {
		return strings.HasPrefix(host, "unix:///run/user/")
	}
	if context := env.Get("DOCKER_CONTEXT"); context != "" {
		return context == "rootless"
	}
	return f.DockerContext(env.Get("DOCKER_CONFIG")) == "rootless"
}

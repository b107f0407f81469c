package oci

import (
	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/platform"
)

// Paths inside the sandbox.
const (
	nodeHome    = "/home/node" // the home of the user `node`, whom the sandbox image provides
	agentSocket = "/ssh-agent" // provided by our own mount (R4.3, R5, R6, R7.5)
)

// Launch is what Run returns: the command, and what belongs to it.
type Launch struct {
	Cmd      argv.Cmd
	Name     string      // of the container
	Before   []argv.Step // what must be there before the command starts
	Warnings []string
	Notes    []string
}

// part is what one section adds. Sections return their part and change nothing.
type part struct {
	args     []string
	env      []argv.Var // for the engine's client: the values that travel by reference
	before   []argv.Step
	warnings []string
	notes    []string
}

func args(list ...string) part { return part{args: list} }

func (p *part) add(other part) {
	p.args = append(p.args, other.args...)
	p.env = append(p.env, other.env...)
	p.before = append(p.before, other.before...)
	p.warnings = append(p.warnings, other.warnings...)
	p.notes = append(p.notes, other.notes...)
}

// builder carries what several sections share.
type builder struct {
	Options
	facts   *platform.Facts
	name    string
	mounted map[string]Mount // by target: docker refuses to mount one twice
}

// sections are the parts of the list in the order of the launcher contract's
// section 4, one line each, so that the two can be compared at a glance.
var sections = []struct {
	number string
	build  func(*builder) (part, error)
}{
	{"1 base", (*builder).base},
	{"2 hardening", (*builder).hardening},
	{"3 flags", (*builder).flags},
	{"4 limits", (*builder).limits},
	{"5 network", (*builder).network},
	{"6 terminal", (*builder).terminal},
	{"7 working directory", (*builder).workDir},
	{"8 settings", (*builder).settings},
	{"9 temp", (*builder).temp},
	{"10 gcloud", (*builder).gcloud},
	{"11 git", (*builder).git},
	{"12 credentials", (*builder).credentials},
	{"13 mounts", (*builder).userMounts},
	{"14 ssh agent", (*builder).sshAgent},
	{"15 ports", (*builder).ports},
	{"16 debug", (*builder).debug},
	{"17 proxy", (*builder).proxy},
	{"18 name", (*builder).naming},
	{"19 environment", (*builder).environment},
	{"20 virtual env", (*builder).virtualEnv},
	{"21 custom environment", (*builder).custom},
	{"22 node options", (*builder).nodeOptions},
	{"23 sandbox", (*builder).sandbox},
	{"24 authfile", (*builder).authfile},
	{"25 user", (*builder).user},
	{"26 image", (*builder).image},
	{"27 entrypoint", (*builder).entrypoint},
}

// Run returns the `docker run` or `podman run` that launches the agent, every
// section of the launcher contract in order. An error is an *argv.Fatal.
func Run(o Options, f *platform.Facts) (Launch, error) {
	name, err := containerName(o.Image, f.Engine(o.Engine).Containers)
	if err != nil {
		return Launch{}, err
	}
	b := &builder{Options: o, facts: f, name: name, mounted: map[string]Mount{}}
	var all part
	for _, section := range sections {
		p, err := section.build(b)
		if err != nil {
			return Launch{}, err
		}
		all.add(p)
	}
	cmd := argv.New(o.Engine, all.args...)
	cmd.Env = all.env
	return Launch{Cmd: cmd, Name: name, Before: all.before, Warnings: all.warnings, Notes: all.notes}, nil
}

func (b *builder) base() (part, error) {
	return args("run",
		"-i",     // keep standard input open
		"--rm",   // the container goes when the agent ends
		"--init", // an init process, so that signals arrive and no zombie stays
		"--workdir", ContainerPath(b.facts.WorkDir)), nil
}

// hardening stands in front of the user's own flags, which can give a capability back.
func (b *builder) hardening() (part, error) {
	return args(b.Harden()...), nil
}

// Harden returns the flags that take every capability and every way to more from a
// container; none if that is switched off.
func (o Options) Harden() []string {
	if !o.Hardening {
		return nil
	}
	return []string{"--cap-drop=ALL", "--security-opt", "no-new-privileges"}
}

func (b *builder) flags() (part, error) { return args(b.Flags...), nil }

func (b *builder) limits() (part, error) {
	var p part
	for _, limit := range []struct{ flag, value string }{
		{"--cpus", b.CPUs}, {"--memory", b.Memory}, {"--pids-limit", b.Pids},
	} {
		if limit.value != "" {
			p.args = append(p.args, limit.flag, limit.value)
		}
	}
	return p, nil
}

// terminal: with only one of the two, docker refuses to start or mangles what a
// script captures.
func (b *builder) terminal() (part, error) {
	if b.facts.Terminal.Both() {
		return args("-t"), nil
	}
	return part{}, nil
}

func (b *builder) naming() (part, error) {
	return args("--name", b.name, "--hostname", b.name), nil
}

func (b *builder) sandbox() (part, error) { return args("--env", "SANDBOX="+b.name), nil }

// authfile: podman asks the user's credential helpers otherwise, which may fail or prompt.
func (b *builder) authfile() (part, error) {
	if b.Engine != platform.Podman {
		return part{}, nil
	}
	step, file := EmptyAuthfile(b.facts)
	return part{args: []string{"--authfile", file}, before: []argv.Step{step}}, nil
}

// EmptyAuthfile returns the step that writes podman's empty credentials file, and
// its path, which lies in a directory that is ours alone.
func EmptyAuthfile(f *platform.Facts) (argv.Step, string) {
	file := f.Join(f.RuntimeDir, "empty-auth.json")
	return argv.Step{Kind: argv.Write, Why: "write an empty credentials file for podman", Path: file, Text: "{}"}, file
}

func (b *builder) image() (part, error) { return args(b.Image), nil }

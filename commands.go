package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/internal/launch"
	"github.com/llxsandbox/llxsandbox/internal/relay"
	"github.com/llxsandbox/llxsandbox/internal/runner"
	"github.com/llxsandbox/llxsandbox/platform"
)

// version is set by the release build.
var version = ""

// app is what every command shares.
type app struct {
	signals *runner.Signals
	runner  *runner.Runner
	env     config.Env
	code    int // the exit code of a command that has no error
}

func newApp() *app {
	signals := runner.Catch()
	return &app{
		signals: signals,
		runner:  runner.New(signals, line, func(text string) { line("warning: " + text) }),
		env:     config.NewEnv(os.Environ()),
	}
}

// maxTaken is how often a launch takes the next name when the engine refuses one.
const maxTaken = 10

// Run launches: gather, plan, reserve what must not be shared, carry out. If the
// engine refuses the container's name all the same, another launch was faster: plan
// again with the next.
func (c *runCmd) Run(a *app) error {
	a.runner.Verbose = c.Verbose
	cfg, facts, err := a.gather(c.launchFlags, agentArgs(c.Args))
	if err != nil {
		return err
	}
	names := reservations{facts: &facts, ours: map[string]bool{}}
	for taken := 0; ; {
		l, err := names.plan(cfg)
		if err != nil {
			return err
		}
		if taken == 0 {
			say(l.Plan)
		}
		a.code, err = a.runner.Run(l.Plan)
		var refused *argv.TakenError
		if !errors.As(err, &refused) {
			return err
		}
		if taken++; taken == maxTaken {
			return &argv.Fatal{Text: fmt.Sprintf("cannot find a free container name: %s refused %d of them", l.Engine, taken), Words: refused.Text, Hint: "end other sandboxes, or try again"}
		}
		line(fmt.Sprintf("warning: the name %s was taken by another launch: trying the next", l.Container))
		facts.TakeName(l.Engine, l.Container)
	}
}

// reservations are the names that this launch holds for itself: its container's, and
// its socket's in podman's machine. They end with this process, or with the program
// that it becomes.
type reservations struct {
	facts *platform.Facts
	ours  map[string]bool
}

// plan plans the launch until every name in the plan is ours.
func (r *reservations) plan(cfg config.Config) (launch.Launch, error) {
	for {
		l, err := launch.Plan(cfg, r.facts)
		if err != nil || l.Container == "" {
			return l, err
		}
		free, err := r.reserve(l.Engine + "-" + l.Container)
		if err == nil && !free {
			r.facts.TakeName(l.Engine, l.Container)
			continue
		}
		if err == nil && l.Tunnel != "" {
			if free, err = r.reserve("tunnel" + strings.ReplaceAll(l.Tunnel, "/", "-")); err == nil && !free {
				r.facts.Tunnel = max(r.facts.Tunnel, 1) + 1
				continue
			}
		}
		return l, err
	}
}

func (r *reservations) reserve(name string) (bool, error) {
	if r.ours[name] {
		return true, nil
	}
	free, err := runner.Reserve(r.facts.Join(r.facts.RuntimeDir, "names"), name)
	if err != nil {
		return false, &argv.Fatal{Text: fmt.Sprintf("cannot reserve the name %s: %v", name, err), Hint: "is " + r.facts.RuntimeDir + " writable, and yours?", Cause: err}
	}
	r.ours[name] = free
	return free, nil
}

// say prints a plan's warnings and notes before it runs.
func say(p argv.Plan) {
	for _, warning := range p.Warnings {
		line("warning: " + warning)
	}
	for _, note := range p.Notes {
		line(note)
	}
}

// agentArgs drops the -- that separates the agent's arguments from ours.
func agentArgs(args []string) []string {
	if len(args) > 0 && args[0] == "--" {
		return args[1:]
	}
	return args
}

// Run prints the facts of a launch with these flags.
func (c *factsCmd) Run(a *app) error {
	_, facts, err := a.gather(c.launchFlags, nil)
	if err != nil {
		return err
	}
	data, err := facts.JSON()
	if err != nil {
		return err
	}
	return write(string(data))
}

// Run prints the engine, or says by the exit code that there is none.
func (c *engineCmd) Run(a *app) error {
	cfg, facts, err := a.gather(c.launchFlags, nil)
	var engine string
	var warnings []string
	if err == nil {
		engine, warnings, err = launch.Usable(cfg, &facts)
	}
	if err == nil && c.Quiet {
		return nil
	}
	if err == nil {
		for _, warning := range warnings {
			line("warning: " + warning)
		}
		return write(engine + "\n")
	}
	var fatal *argv.Fatal
	if errors.As(err, &fatal) && fatal.Usage {
		return err
	}
	if !c.Quiet {
		report(err)
	}
	a.code = exitNone
	return nil
}

// Run lists the profiles.
func (c *profileListCmd) Run(a *app) error {
	facts, err := platform.Gather(a.host(), a.env.Get, "")
	if err != nil {
		return err
	}
	type entry struct {
		Name    string `json:"name"`
		BuiltIn bool   `json:"builtIn"`
		File    string `json:"file,omitempty"`
	}
	entries := []entry{}
	files := facts.ListProfiles()
	for _, name := range config.BuiltinProfiles() {
		if !slices.Contains(files, name) {
			entries = append(entries, entry{Name: name, BuiltIn: true})
		}
	}
	for _, name := range files {
		entries = append(entries, entry{Name: name, File: facts.Join(facts.ProfileDir(), name+".json")})
	}
	if c.JSON {
		return writeJSON(entries)
	}
	for _, e := range entries {
		where := e.File
		if e.BuiltIn {
			where = "built in"
		}
		if err := write(fmt.Sprintf("%-12s %s\n", e.Name, where)); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(v any) error {
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Run prints a profile, checked, as JSON.
func (c *profileShowCmd) Run(a *app) error {
	facts, err := platform.Gather(a.host(), a.env.Get, "")
	if err != nil {
		return err
	}
	profile, err := a.profile(c.Name, &facts)
	if err != nil {
		return err
	}
	return writeJSON(profile)
}

// Run prints the code that a shell evaluates.
func (c *completionCmd) Run(ctx *kong.Context) error {
	return (&kongcompletion.Completion{Shell: c.Shell, Code: true}).Run(ctx)
}

// Run prints the version.
func (c *versionCmd) Run() error {
	v := version
	if info, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = info.Main.Version
	}
	return write("llxsandbox " + v + "\n")
}

// Run relays an ssh agent until the launcher ends it, or is gone: then standard
// input, a pipe that the launcher holds, comes to its end.
func (c *relayCmd) Run(a *app) error {
	if err := runner.PrivateParent(c.Listen); err != nil {
		return &argv.Fatal{Text: fmt.Sprintf("cannot serve %s: %v", c.Listen, err)}
	}
	ctx, cancel := context.WithCancel(a.signals.Context())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	cfg := relay.Config{Listen: c.Listen, Agent: c.Agent, Keys: c.Key}
	if c.Verbose {
		cfg.Log = func(text string) { line("ssh agent: " + text) }
	}
	return relay.Serve(ctx, cfg)
}

// Run tells whether something accepts connections at the address.
func (c *dialCmd) Run() error {
	conn, err := net.DialTimeout("tcp", c.Address, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

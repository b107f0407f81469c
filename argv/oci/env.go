package oci

import (
	"fmt"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/platform"
)

// variable returns the --env of one variable. A secret is named only, and its value
// goes to the engine's client by its environment: never into a process list, a log
// or a printed plan (section 6.4).
func variable(v argv.Var) part {
	if v.Secret != "" {
		return part{args: []string{"--env", v.Name}, env: []argv.Var{v}}
	}
	return args("--env", v.Name+"="+v.Value)
}

// environment is section 19.
func (b *builder) environment() (part, error) {
	var all part
	for _, v := range b.Google {
		all.add(variable(v))
	}
	// The mounts lie on several file systems, and git stops looking at the first border (R2.1).
	all.add(args("--env", "GIT_DISCOVERY_ACROSS_FILESYSTEM=1"))
	for _, v := range b.Passthrough {
		all.add(variable(v))
	}
	return all, nil
}

// virtualEnv is section 20: the host's Python environment holds programs of the
// host, so that the sandbox gets one of its own in its place.
func (b *builder) virtualEnv() (part, error) {
	if b.VirtualEnv == "" || !below(b.facts, b.VirtualEnv, b.facts.WorkDir) {
		return part{}, nil
	}
	env := args("--env", "VIRTUAL_ENV="+ContainerPath(b.VirtualEnv))
	if below(b.facts, b.facts.WorkDir, b.VirtualEnv) {
		env.warnings = []string{"VIRTUAL_ENV is the working directory itself: the sandbox shares it with the host instead of having one of its own"}
		return env, nil
	}
	own := b.facts.Join(b.facts.WorkDir, ".llxprt", "sandbox.venv")
	p, err := b.volume(Mount{From: own, To: ContainerPath(b.VirtualEnv), Source: "VIRTUAL_ENV"})
	if err != nil {
		return part{}, err
	}
	if b.facts.Kind(own) == platform.Missing {
		p.before = append(p.before, argv.Step{Kind: argv.Mkdir, Why: "make the sandbox's own Python environment", Path: own})
	}
	p.add(env)
	return p, nil
}

// custom is section 21. Keys are reported, values never (defect 23).
func (b *builder) custom() (part, error) {
	var all part
	for _, v := range b.Custom {
		all.add(variable(v))
		all.notes = append(all.notes, fmt.Sprintf("environment: %s", v.Name))
	}
	return all, nil
}

// nodeOptions is section 22, without the quotes that made several options one (defect 1).
func (b *builder) nodeOptions() (part, error) {
	if b.NodeOptions == "" {
		return part{}, nil
	}
	return args("--env", "NODE_OPTIONS="+b.NodeOptions), nil
}

// exports are the parts of the script that append the entries of a search path that
// lie below the working directory. Each is quoted, so that nothing in it expands
// inside (defect 9).
func (b *builder) exports(name string, entries []string) string {
	var inside []string
	for _, entry := range entries {
		if b.facts.Abs(entry) && below(b.facts, entry, b.facts.WorkDir) {
			inside = append(inside, ContainerPath(entry))
		}
	}
	if len(inside) == 0 {
		return ""
	}
	// An empty PYTHONPATH before the colon would mean the working directory.
	return "export " + name + `="${` + name + ":+$" + name + `:}"` + argv.Quote(strings.Join(inside, ":")) + ";"
}

package oci

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/platform"
)

// BashRC is sourced inside before the agent starts, if the project has one.
const BashRC = ".llxprt/sandbox.bashrc"

// longScript is the length in bytes from which the agent's arguments travel as
// positional parameters. One word of a command holds 128 KiB at most (defect 3), and
// quoting for su can make a text four times as long.
const longScript = 96 * 1024

// entrypoint is section 27: bash -c SCRIPT, and for long argument lists the
// arguments behind it.
func (b *builder) entrypoint() (part, error) {
	for i, arg := range b.Args {
		if strings.ContainsRune(arg, 0) {
			return part{}, &argv.Fatal{Text: fmt.Sprintf("argument %d of the agent holds a NUL byte", i+1), Hint: "no program can be given one"}
		}
		if len(arg) > argv.MaxWord {
			return part{}, &argv.Fatal{
				Text: fmt.Sprintf("argument %d of the agent is %d bytes long; one argument holds at most %d", i+1, len(arg), argv.MaxWord),
				Hint: "write it to a file of the working directory and name the file",
			}
		}
	}
	if script := b.asUser(b.script(argv.Join(b.Args)), false); len(script) < longScript {
		return args("bash", "-c", script), nil
	}
	p := args("bash", "-c", b.asUser(b.script(`"$@"`), true), "bash")
	p.args = append(p.args, b.Args...)
	return p, nil
}

// asUser wraps the script so that it runs as the host's user, where that is asked for.
func (b *builder) asUser(script string, rest bool) string {
	if Whom(b.Options, b.facts) != UserHost || asRoot(b.Options, b.facts) {
		return script
	}
	return b.becomeUser(script, rest)
}

// script is what bash runs inside, its parts joined by blanks. Every value that came
// from outside is quoted.
func (b *builder) script(agentArgs string) string {
	var parts []string
	for _, part := range []string{b.exports("PATH", b.Path), b.exports("PYTHONPATH", b.PythonPath)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if b.facts.Kind(b.facts.Join(b.facts.WorkDir, ".llxprt", "sandbox.bashrc")) == platform.File {
		parts = append(parts, "source "+BashRC+";")
	}
	for _, port := range b.Ports {
		n := strconv.Itoa(port.Container)
		// A server inside listens on its loopback only; the engine publishes the container's address.
		parts = append(parts, "socat TCP4-LISTEN:"+n+",bind=$(hostname -i),fork,reuseaddr TCP4:127.0.0.1:"+n+" 2> /dev/null &")
	}
	parts = append(parts, b.agent())
	if agentArgs != "" {
		parts = append(parts, agentArgs)
	}
	return strings.Join(parts, " ")
}

// agent is the command line of the agent, without its arguments.
func (b *builder) agent() string {
	switch {
	case b.Development && b.Debug:
		return "npm run debug --"
	case b.Development:
		return "npm rebuild && npm run start --"
	case b.Debug:
		return "node --inspect-brk=0.0.0.0:" + strconv.Itoa(b.DebugPort) + " $(which " + argv.Quote(b.Command) + ")"
	}
	return argv.Join([]string{b.Command}) // Join, since NAME=x would be an assignment
}

// llxsandbox runs AI coding agents in sandboxes, by shelling out to docker and
// podman. This file is the whole command grammar, the one place where errors are
// printed, and the table of exit codes.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/internal/runner"
)

// Exit codes of the launcher itself. The sandboxed command's own code passes through
// untouched, and 128+n means that signal n ended the launch.
const (
	exitNone   = 1  // `engine`: there is none
	exitUsage  = 2  // wrong usage
	exitLaunch = 44 // every failure of the launcher itself (FatalSandboxError)
)

// cli is the command grammar: a line a command.
type cli struct {
	Run        runCmd        `cmd:"" help:"Launch the agent in a sandbox. ARGS go to the agent."`
	PrintArgs  printArgsCmd  `cmd:"" help:"Print every command of that launch, changing nothing."`
	Facts      factsCmd      `cmd:"" help:"Print what is known of this host, as print-args --facts reads it."`
	Engine     engineCmd     `cmd:"" help:"Print the engine that run would use; exit 1 if there is none."`
	Profile    profileCmd    `cmd:"" help:"Show sandbox profiles."`
	Completion completionCmd `cmd:"" help:"Print completion code: source <(llxsandbox completion bash)."`
	Version    versionCmd    `cmd:"" help:"Print the version."`

	SSHAgentRelay relayCmd `cmd:"" name:"ssh-agent-relay" hidden:"" help:"Serve an ssh agent to a sandbox of another user."`
	Dial          dialCmd  `cmd:"" hidden:"" help:"Succeed if ADDRESS accepts a connection."`
}

// launchFlags are what run, print-args, facts and engine share. Its fields are those
// of config.Flags.
type launchFlags struct {
	Engine      string   `help:"auto, docker, podman or sandbox-exec." placeholder:"NAME"`
	Image       string   `help:"Image to run." placeholder:"IMAGE"`
	Profile     string   `help:"Sandbox profile: dev, safe, tight, offline, or one of yours." placeholder:"NAME"`
	WorkDir     string   `name:"workdir" help:"Directory to work in (default: the current one)." placeholder:"DIR"`
	Command     string   `help:"Agent command (default: llxprt)." placeholder:"NAME"`
	NodeArg     []string `help:"Option for node; repeatable." placeholder:"ARG" sep:"none"`
	Mount       []string `help:"FROM[:TO[:ro|rw|z|Z]]; repeatable." placeholder:"MOUNT" sep:"none"`
	Env         []string `help:"KEY=VALUE, or KEY to pass this shell's value on; repeatable." placeholder:"KEY[=VALUE]" sep:"none"`
	Port        []string `help:"PORT or HOST:CONTAINER to publish; repeatable." placeholder:"PORT" sep:"none"`
	CPUs        string   `name:"cpus" help:"CPU limit, such as 1.5." placeholder:"N"`
	Memory      string   `help:"Memory limit, such as 4g." placeholder:"SIZE"`
	Pids        string   `help:"Limit on processes." placeholder:"N"`
	Network     string   `help:"on, off or proxied." placeholder:"MODE"`
	SSHAgent    string   `name:"ssh-agent" help:"auto, on or off." placeholder:"MODE"`
	SSHAgentKey []string `name:"ssh-agent-key" help:"Let the sandbox use this key only, by fingerprint; repeatable." placeholder:"SHA256:…" sep:"none"`
	Tmp         string   `help:"Temp directory: shared (the host's) or private (a fresh one)." placeholder:"MODE"`
	Verbose     bool     `help:"Show each command and each signature of the ssh agent."`
}

type runCmd struct {
	launchFlags
	Args []string `arg:"" optional:"" passthrough:"partial" help:"Arguments for the agent."`
}

type printArgsCmd struct {
	launchFlags
	FactsFile   string   `name:"facts" help:"Read the host's facts from this JSON file (- for standard input); nothing of this host is read then." placeholder:"FILE"`
	Platform    string   `help:"With --facts: plan for linux, darwin or windows." placeholder:"OS" enum:",linux,darwin,windows" default:""`
	Format      string   `help:"shell (default), json, or argv: only the launch itself, one argument a line." enum:"shell,json,argv" default:"shell"`
	NUL         bool     `short:"0" help:"With --format argv: end each argument with NUL instead of a line break."`
	ShowSecrets bool     `help:"Show secrets in clear instead of ***."`
	Args        []string `arg:"" optional:"" passthrough:"partial" help:"Arguments for the agent."`
}

type factsCmd struct{ launchFlags }

type engineCmd struct {
	launchFlags
	Quiet bool `short:"q" help:"Print nothing; only the exit code tells."`
}

type profileCmd struct {
	List profileListCmd `cmd:"" help:"List the profiles, built in and yours."`
	Show profileShowCmd `cmd:"" help:"Print a profile as JSON."`
}

type profileListCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

type profileShowCmd struct {
	Name string `arg:"" help:"The profile."`
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

type versionCmd struct{}

type relayCmd struct {
	Listen  string   `required:"" help:"Socket to serve."`
	Agent   string   `required:"" help:"Socket of the real agent."`
	Key     []string `help:"Fingerprint of a key that may be used; repeatable. Default: all." sep:"none"`
	Verbose bool     `help:"A line for each signature."`
}

type dialCmd struct {
	Address string `arg:"" help:"HOST:PORT"`
}

const description = `Run AI coding agents in sandboxes, by docker and podman.`

// epilogue ends the root help.
const epilogue = `Examples:
  llxsandbox run                                  the agent on this directory
  llxsandbox run -- --prompt "fix the tests"      arguments for the agent go behind --
  llxsandbox run --profile safe --command claude  no network, no ssh agent, limits
  llxsandbox print-args --format argv             what would run, and nothing else
  llxsandbox run --env OPENAI_API_KEY             hand a secret over; no process list shows it
  llxsandbox run --image my/image:1 --mount /data --port 8080 --cpus 2 --memory 4g

No engine yet? Debian, Ubuntu: sudo apt install podman. Fedora: sudo dnf install podman.
macOS: brew install podman && podman machine init && podman machine start.

Exit codes:
  the agent's own; 128+n if signal n ended it; 2 wrong usage; 44 the launch failed
`

func main() { os.Exit(run(os.Args[1:])) }

// run is the program: it parses, carries out one command and returns the exit code.
func run(args []string) int {
	var c cli
	parser := kong.Must(&c, kong.Name("llxsandbox"), kong.Description(description), kong.Help(help),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))
	kongcompletion.Register(parser)
	ctx, err := parser.Parse(args)
	if err != nil {
		return report(&argv.Fatal{Text: err.Error(), Hint: "`llxsandbox --help` shows the commands, `llxsandbox COMMAND --help` their flags", Usage: true})
	}
	a := newApp()
	if err := ctx.Run(a, ctx); err != nil {
		return report(err)
	}
	return a.code
}

func help(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if ctx.Selected() == nil {
		_, _ = fmt.Fprint(ctx.Stdout, "\n"+epilogue)
	}
	return nil
}

// report prints an error and its hints and returns the exit code that it means. The
// rules of the interface: all of it goes to standard error; one line for the
// problem; then the failed program's own words; then what to do.
func report(err error) int {
	var signal *runner.SignalError
	if errors.As(err, &signal) {
		return signal.Code() // whoever sent it knows
	}
	if errors.Is(err, syscall.EPIPE) {
		return 128 + int(syscall.SIGPIPE) // whoever read our output has seen enough
	}
	line("error: " + err.Error())
	var fatal *argv.Fatal
	if !errors.As(err, &fatal) {
		return exitLaunch
	}
	if fatal.Words != "" {
		fmt.Fprintln(os.Stderr, fatal.Words)
	}
	for hint := range strings.Lines(fatal.Hint) {
		line("hint: " + strings.TrimSpace(hint))
	}
	if fatal.Usage {
		return exitUsage
	}
	return exitLaunch
}

// line prints one line of ours.
func line(text string) { fmt.Fprintln(os.Stderr, "llxsandbox: "+text) }

// Package runner carries out plans: it starts processes, waits, polls, passes
// signals on and undoes. It knows nothing of docker, podman or ssh, and it is the
// only package that starts anything.
package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/llxsandbox/llxsandbox/argv"
)

// Time limits. Tests shorten them.
type limits struct {
	ask   time.Duration // a question to the host or an engine
	grace time.Duration // from a signal until the main command is stopped by name
	end   time.Duration // from SIGTERM to SIGKILL for a process of ours
	undo  time.Duration // one undo command
}

var defaults = limits{ask: 5 * time.Second, grace: 10 * time.Second, end: 2 * time.Second, undo: 10 * time.Second}

// Runner runs plans. Its streams go to the main command as they are.
type Runner struct {
	Stdin, Stdout, Stderr *os.File
	Signals               *Signals
	Verbose               bool                 // show each command, and what background processes say
	Say                   func(string)         // prints one line of ours to standard error
	Warn                  func(string)         // prints one warning of ours
	Replace               func(argv.Cmd) error // becomes the command; nil where that is not possible

	limits limits
}

// New returns a runner on the process's own streams.
func New(signals *Signals, say, warn func(string)) *Runner {
	return &Runner{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Signals: signals, Say: say, Warn: warn, Replace: replace, limits: defaults,
	}
}

// LookPath tells whether program is on PATH.
func LookPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// run is one plan being carried out.
type run struct {
	*Runner
	plan       argv.Plan
	undo       []func()      // what is to be done on the way out, in the order of registration
	background []*background // what start steps left running
	died       chan *background
}

// Run carries out the plan and returns the exit code of its main step. Whatever ends
// it, everything that began is undone, last in, first out, exactly once.
//
// The error is an *argv.Fatal that says which step failed, a *SignalError if a
// signal ended the plan outside the main step, or an *argv.TakenError (see
// [argv.Step.Taken]). With no main step the code is 0.
func (r *Runner) Run(plan argv.Plan) (code int, err error) {
	if err := argv.Check(plan); err != nil {
		return 0, &argv.Fatal{Text: err.Error(), Hint: "this is a bug of llxsandbox, or a value that no program can be given", Cause: err}
	}
	x := &run{Runner: r, plan: plan, died: make(chan *background, len(plan.Steps))}
	defer x.undoAll()
	for _, step := range plan.Steps {
		if err := x.Signals.Err(); err != nil {
			return 0, err
		}
		x.register(step)
		if r.Verbose && step.Cmd != nil {
			r.Say(string(step.Kind) + ": " + step.Cmd.Shell())
		}
		if step.Kind == argv.Main {
			return x.main(step)
		}
		if err := x.step(step); err != nil {
			var signal *SignalError
			if !step.MayFail || errors.As(err, &signal) {
				return 0, err
			}
			r.Warn(err.Error())
		}
	}
	return 0, nil
}

// step carries out one step that is not the main one.
func (x *run) step(step argv.Step) error {
	switch step.Kind {
	case argv.Run:
		return x.wait(step)
	case argv.Start:
		return x.start(step)
	case argv.Poll:
		return x.poll(step)
	case argv.Mkdir:
		return failure(step, "", makeDir(step.Path))
	default:
		return failure(step, "", writeFile(step.Path, step.Text))
	}
}

// wait runs a step's command to its end.
func (x *run) wait(step argv.Step) error {
	cmd := command(*step.Cmd)
	var said bytes.Buffer
	if step.Output == argv.NonEmpty {
		cmd.Stdout, cmd.Stderr = &said, &said
	} else {
		// Standard output belongs to the sandboxed command alone.
		cmd.Stdout, cmd.Stderr = x.Stderr, x.Stderr
	}
	err := x.finish(cmd)
	if err == nil && step.Output == argv.NonEmpty && strings.TrimSpace(said.String()) == "" {
		err = errors.New("it found nothing")
	}
	return failure(step, said.String(), err)
}

// finish starts cmd and waits for it; a signal to us ends it.
func (x *run) finish(cmd *exec.Cmd) error {
	done, err := begin(cmd)
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		if signal := x.Signals.Err(); signal != nil {
			return signal
		}
		return err
	case <-x.Signals.Context().Done():
		end(cmd.Process.Pid, false, done, x.limits.end)
		return x.Signals.Err()
	}
}

// begin starts cmd; done gets what its Wait returns.
func begin(cmd *exec.Cmd) (done chan error, err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done = make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return done, nil
}

// runGroup runs cmd to its end, in a process group of its own; when ctx is done, it
// ends the whole group at once.
func runGroup(ctx context.Context, cmd *exec.Cmd) error {
	ownGroup(cmd)
	done, err := begin(cmd)
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		killGroup(cmd.Process.Pid)
		<-done
		return ctx.Err()
	}
}

// command returns the process of a Cmd, with our environment and its own variables.
func command(c argv.Cmd) *exec.Cmd {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = environ(c)
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	cmd.WaitDelay = time.Second // a grandchild may hold our pipe open
	return cmd
}

// environ is the environment of a Cmd: ours, with its variables in place of ours of
// the same names. Secrets are in clear here, and nowhere else.
func environ(c argv.Cmd) []string {
	env := os.Environ()
	for _, v := range c.Env {
		env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, v.Name+"=") })
		env = append(env, v.Name+"="+v.Text())
	}
	return env
}

// failure turns the error of a step into what the user is told; nil stays nil.
func failure(step argv.Step, words string, err error) error {
	if err == nil {
		return nil
	}
	var signal *SignalError
	if errors.As(err, &signal) {
		return err
	}
	text := "cannot " + step.Why + ": " + step.Failure
	if step.Failure == "" {
		text = "cannot " + step.Why + ": " + cause(step, err)
	}
	return &argv.Fatal{Text: text, Words: strings.TrimSpace(words), Hint: step.Hint, Cause: err}
}

func cause(step argv.Step, err error) string {
	if step.Cmd == nil {
		return err.Error()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return step.Cmd.Args[0] + ": not found on PATH"
	}
	return step.Cmd.Args[0] + ": " + err.Error()
}

// tail keeps the last bytes that were written to it, and passes everything on.
type tail struct {
	pass io.Writer // may be nil
	kept []byte
}

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > tailSize {
		t.kept = slices.Clone(t.kept[len(t.kept)-tailSize:])
	}
	if t.pass != nil {
		_, _ = t.pass.Write(p) // our own terminal may be gone; the program's may not notice
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }

// exitCode is the code that a process ended with, in the shell's way: 128+n for a
// signal n. ok is false if err is no such end.
func exitCode(err error) (code int, signalled, ok bool) {
	if err == nil {
		return 0, false, true
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, false, false
	}
	if n := signalOf(exit.ProcessState); n > 0 {
		return 128 + n, true, true
	}
	return exit.ExitCode(), false, true
}

// Ask runs a read-only command and returns what it answered. It is bounded in time,
// and everything that it started is ended with it (defect 19).
func (r *Runner) Ask(ctx context.Context, c argv.Cmd) (stdout, stderr string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.limits.ask)
	defer cancel()
	cmd := command(c)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = runGroup(ctx, cmd)
	if ctx.Err() != nil {
		return "", "", 0, fmt.Errorf("no answer within %s", r.limits.ask)
	}
	if code, _, ok := exitCode(err); ok {
		return out.String(), errs.String(), code, nil
	}
	return out.String(), errs.String(), 0, err
}

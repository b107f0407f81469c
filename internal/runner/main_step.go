package runner

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/llxsandbox/llxsandbox/argv"
)

// takenCode is the exit code of an engine's client that failed before the container ran.
const takenCode = 125

// main carries out the main step: by becoming it where nothing is left to watch or
// undo, else as a child that has our terminal and process group.
func (x *run) main(step argv.Step) (int, error) {
	if x.replaceable(step) {
		err := x.Replace(*step.Cmd)
		return 0, failure(step, "", err)
	}
	cmd := command(*step.Cmd)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.Stdin, x.Stdout, x.Stderr
	var said tail
	if step.Taken != "" {
		said.pass = x.Stderr
		cmd.Stderr = &said
	}
	done, err := begin(cmd)
	if err != nil {
		return 0, failure(step, "", err)
	}
	w := watched{}
	err = x.watch(cmd, step, done, &w)
	code, signalled, ok := exitCode(err)
	if !ok && !errors.Is(err, exec.ErrWaitDelay) {
		return 0, failure(step, "", err)
	}
	if signalled || w.passed {
		x.stop(step, &w) // the client is gone, and what it began may not be
	}
	switch {
	case w.lost != nil:
		return 0, w.lost
	case code == takenCode && step.Taken != "" && strings.Contains(said.String(), step.Taken):
		return code, &argv.TakenError{Text: strings.TrimSpace(said.String())}
	case (signalled || w.stopped) && x.Signals.Err() != nil:
		return 0, x.Signals.Err()
	}
	return code, nil
}

// replaceable tells whether the launcher may become the main command.
func (x *run) replaceable(main argv.Step) bool {
	if x.Replace == nil || !main.Replace || main.Taken != "" {
		return false
	}
	for _, step := range x.plan.Steps {
		if step.Kind == argv.Start || len(step.Undo) > 0 {
			return false
		}
	}
	return true
}

// watched is what happened while the main command ran.
type watched struct {
	passed  bool  // a signal was passed on
	stopped bool  // it was still there, and Stop ended it
	lost    error // a background process that it needs has died
}

// watch waits for the main command. It passes signals on, stops the command by name
// when one did not end it within the grace time, and ends it when a background
// process that it needs has died.
func (x *run) watch(cmd *exec.Cmd, step argv.Step, done chan error, w *watched) error {
	var grace, kill <-chan time.Time
	for {
		select {
		case err := <-done:
			return err
		case sig := <-x.Signals.C:
			if (sig == os.Interrupt || sig == syscall.SIGQUIT) && x.fromTerminal() {
				continue // the terminal sent it to the command as well
			}
			_ = cmd.Process.Signal(sig)
			if !w.passed {
				w.passed, grace = true, time.After(x.limits.grace)
			}
		case <-grace:
			x.stop(step, w)
			kill = time.After(x.limits.end)
		case <-kill:
			_ = cmd.Process.Kill()
		case b := <-x.died:
			if b.step.MayFail {
				x.Warn(b.lost().Error())
				continue
			}
			w.lost = b.lost()
			x.stop(step, w)
			_ = cmd.Process.Signal(terminate)
			kill = time.After(x.limits.grace)
		}
	}
}

// stop ends by name what the main command began elsewhere. That it is gone already is
// the usual case, and no news.
func (x *run) stop(step argv.Step, w *watched) {
	if w.stopped {
		return
	}
	for i, c := range step.Stop {
		if err := x.bounded(c, io.Discard); i == 0 && err != nil {
			return
		}
		w.stopped = true
	}
}

// fromTerminal tells whether a SIGINT or SIGQUIT can have come from the terminal, which sends it
// to the main command too. A terminal in raw mode sends none, so that one came to us
// alone (defect 16).
func (x *run) fromTerminal() bool {
	fd := int(x.Stdin.Fd())
	return term.IsTerminal(fd) && sendsInterrupt(fd)
}

// bounded runs a command of the way out: bounded in time, and in a process group of
// its own, so that Ctrl-C does not end it.
func (x *run) bounded(c argv.Cmd, words io.Writer) error {
	if x.Verbose {
		x.Say("undo: " + c.Shell())
	}
	// The grace time comes on top: stopping a container may take as long.
	ctx, cancel := context.WithTimeout(context.Background(), x.limits.undo+x.limits.grace)
	defer cancel()
	cmd := command(c)
	cmd.Stdout, cmd.Stderr = words, words
	err := runGroup(ctx, cmd)
	if ctx.Err() != nil {
		return errors.New("it took too long")
	}
	return err
}

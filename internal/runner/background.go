package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/llxsandbox/llxsandbox/argv"
)

// background is a process that a start step left running.
type background struct {
	step argv.Step
	cmd  *exec.Cmd
	said *tail
	hold *os.File      // its standard input: it reads the end of file when we are gone
	done chan error    // its end, for whoever ends it
	gone chan struct{} // closed when it has ended
}

// start leaves a step's command running, in a process group of its own, so that
// Ctrl-C does not end it before the main command.
func (x *run) start(step argv.Step) error {
	cmd := command(*step.Cmd)
	ownGroup(cmd)
	said := &tail{}
	if x.Verbose {
		said.pass = x.Stderr
	}
	cmd.Stderr = said
	read, hold, err := os.Pipe()
	if err != nil {
		return failure(step, "", err)
	}
	defer read.Close()
	cmd.Stdin = read
	if err := cmd.Start(); err != nil {
		_ = hold.Close()
		return failure(step, "", err)
	}
	b := &background{step: step, cmd: cmd, said: said, hold: hold, done: make(chan error, 1), gone: make(chan struct{})}
	x.background = append(x.background, b)
	go func() {
		b.done <- cmd.Wait()
		close(b.gone)
		x.died <- b
	}()
	x.undo = append(x.undo, func() { x.endBackground(b) })
	return nil
}

// endBackground asks the process to end, then makes it.
func (x *run) endBackground(b *background) {
	_ = b.hold.Close()
	end(b.cmd.Process.Pid, true, b.done, x.limits.end)
}

// lost is the error of a background process that ended by itself.
func (b *background) lost() error {
	return &argv.Fatal{
		Text:  fmt.Sprintf("cannot %s: %s ended early (%s)", b.step.Why, b.step.Cmd.Args[0], b.cmd.ProcessState),
		Words: strings.TrimSpace(b.said.String()),
		Hint:  b.step.Hint,
	}
}

// poll repeats a step's command until it succeeds. The interval grows to five times
// its first value. A background process that ends meanwhile, and a signal, end it.
// What it reports at its limit is the last try that finished, since the very last
// one is often cut off and has nothing to say.
func (x *run) poll(step argv.Step) error {
	ctx, cancel := context.WithTimeout(x.Signals.Context(), millis(step.Within))
	defer cancel()
	every := millis(step.Every)
	last, words := errors.New("no try finished"), ""
	for {
		said, err := x.try(ctx, step)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last, words = err, said
		}
		if lost := x.lostMeanwhile(); lost != nil {
			return lost
		}
		select {
		case <-ctx.Done():
			if signal := x.Signals.Err(); signal != nil {
				return signal
			}
			return failure(step, words, fmt.Errorf("not ready after %s (%w)", step.Within, last))
		case <-time.After(every):
		}
		every = min(every+every/2, 5*millis(step.Every))
	}
}

// lostMeanwhile is the error of the first background process that is gone. One that
// may fail later on is needed here too: it is what is being waited for.
func (x *run) lostMeanwhile() error {
	for _, b := range x.background {
		select {
		case <-b.gone:
			return b.lost()
		default:
		}
	}
	return nil
}

// try runs a poll's command once. One that hangs is ended with the context.
func (x *run) try(ctx context.Context, step argv.Step) (words string, err error) {
	cmd := command(*step.Cmd)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = runGroup(ctx, cmd)
	return said.String(), err
}

func millis(d argv.Duration) time.Duration { return time.Duration(d) * time.Millisecond }

// register makes sure that a step is undone, before it begins.
func (x *run) register(step argv.Step) {
	if len(step.Undo) == 0 {
		return
	}
	x.undo = append(x.undo, func() {
		for _, c := range step.Undo {
			var words bytes.Buffer
			// What a background process leaves is usually gone with it; failing to find it is no news.
			if err := x.bounded(c, &words); err != nil && (step.Kind != argv.Start || x.Verbose) {
				x.Warn(fmt.Sprintf("left behind: %s: %v %s", c.Shell(), err, strings.TrimSpace(words.String())))
			}
		}
	})
}

// undoAll undoes what began, last in, first out. It is called once, on every way out.
func (x *run) undoAll() {
	for i := len(x.undo) - 1; i >= 0; i-- {
		x.undo[i]()
	}
	x.undo = nil
}

package runner

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

const terminate = syscall.SIGTERM

// SignalError reports that a signal ended the launch.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string { return fmt.Sprintf("ended by %s", e.Signal) }

// Code is the exit code of a process that the signal ended: 128+n.
func (e *SignalError) Code() int { return 128 + int(e.Signal) }

// Signals catches SIGINT, SIGTERM, SIGHUP and SIGQUIT for the whole life of the program, so
// that nothing of it ends without being undone.
type Signals struct {
	C <-chan os.Signal // every signal, for the main step to pass on

	ctx   context.Context
	mu    sync.Mutex
	first error
}

// Catch begins to catch signals.
func Catch() *Signals {
	caught := make(chan os.Signal, 8)
	// Our standard error may be a terminal that is gone; writing to it must not end us.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	return newSignals(caught)
}

// newSignals takes the signals from a channel.
func newSignals(caught <-chan os.Signal) *Signals {
	ctx, cancel := context.WithCancel(context.Background())
	pass := make(chan os.Signal, 8)
	s := &Signals{C: pass, ctx: ctx}
	go func() {
		for sig := range caught {
			s.mu.Lock()
			if s.first == nil {
				s.first = &SignalError{sig.(syscall.Signal)}
			}
			s.mu.Unlock()
			cancel()
			select {
			case pass <- sig:
			default: // eight are waiting already
			}
		}
	}()
	return s
}

// Context is cancelled by the first signal.
func (s *Signals) Context() context.Context { return s.ctx }

// Err returns a *SignalError for the first signal, nil if there was none.
func (s *Signals) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

//go:build unix

package runner

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/llxsandbox/llxsandbox/argv"
)

// replace becomes the command (execve), which puts every signal that we catch back to
// what it does by default. It returns only if that failed.
func replace(c argv.Cmd) error {
	path, err := exec.LookPath(c.Args[0])
	if err != nil {
		return err
	}
	if c.Dir != "" {
		if err := os.Chdir(c.Dir); err != nil {
			return err
		}
	}
	return syscall.Exec(path, c.Args, environ(c))
}

// ownGroup gives the process a group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// end asks a process, or its group, to end, and makes it after a while. done is its
// Wait; end returns when that has answered.
func end(pid int, group bool, done <-chan error, grace time.Duration) {
	target := pid
	if group {
		target = -pid
	}
	_ = syscall.Kill(target, syscall.SIGTERM)
	select {
	case <-done:
	case <-time.After(grace):
		_ = syscall.Kill(target, syscall.SIGKILL)
		<-done
	}
	if group {
		_ = syscall.Kill(target, syscall.SIGKILL) // what the process itself left behind
	}
}

// signalOf returns the signal that ended the process, 0 if none did.
func signalOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status.Signal())
	}
	return 0
}

// sendsInterrupt tells whether Ctrl-C on the terminal makes a SIGINT.
func sendsInterrupt(fd int) bool {
	mode, err := unix.IoctlGetTermios(fd, getTermios)
	return err != nil || mode.Lflag&unix.ISIG != 0
}

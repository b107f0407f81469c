package runner

import (
	"os"
	"os/exec"
	"time"

	"github.com/llxsandbox/llxsandbox/argv"
)

// Windows has no execve: the main command is always a child.
var replace func(argv.Cmd) error

func ownGroup(*exec.Cmd) {}

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func end(pid int, _ bool, done <-chan error, _ time.Duration) {
	killGroup(pid)
	<-done
}

func signalOf(*os.ProcessState) int { return 0 }

func sendsInterrupt(int) bool { return true }

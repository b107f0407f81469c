//go:build unix && !linux

package runner

import "golang.org/x/sys/unix"

const getTermios = unix.TIOCGETA

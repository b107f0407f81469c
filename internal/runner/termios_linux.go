//go:build linux

package runner

import "golang.org/x/sys/unix"

const getTermios = unix.TCGETS

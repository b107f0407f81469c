//go:build unix

package runner

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// Reserve takes a name for as long as this process lives, also after it became
// another program: the lock's descriptor is left open across execve. It returns
// false if another process holds the name. dir is ours; its lock files are empty
// and stay.
func Reserve(dir, name string) (bool, error) {
	if err := PrivateDir(dir); err != nil {
		return false, err
	}
	fd, err := unix.Open(filepath.Join(dir, name+".lock"), unix.O_CREAT|unix.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return false, err
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = unix.Close(fd)
		if err == unix.EWOULDBLOCK {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

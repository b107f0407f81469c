package runner

import (
	"fmt"
	"os"
	"path/filepath"
)

// makeDir makes a directory and its missing parents, for us alone (0700). One that
// is there already stays as it is.
func makeDir(path string) error { return os.MkdirAll(path, 0o700) }

// writeFile writes a file for us alone (0600), by rename, so that a reader sees the
// old text or the new one, and a link at its place is replaced, never followed. Its
// directory must be ours.
func writeFile(path, text string) error {
	dir := filepath.Dir(path)
	if err := PrivateDir(dir); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(text); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// PrivateDir makes sure that dir is a directory of ours that no other user can
// enter: it makes it with its parents if it is missing, closes it if it is open to
// others, and refuses one that is a link or somebody else's.
func PrivateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if !owned(info) {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// PrivateParent is PrivateDir for the directory that path lies in.
func PrivateParent(path string) error { return PrivateDir(filepath.Dir(path)) }

package platform

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// FindWorktree records where the repository of the working directory is, if its .git
// is a file: a linked worktree, or a submodule.
//
// An agent of an earlier launch may have written that file, to have some other
// directory mounted this time. So the two directories count only if they belong
// together by what stands outside the working directory: a linked worktree's
// repository names the worktree, and a submodule's names its work tree.
func (f *Facts) FindWorktree() {
	file := filepath.Join(f.WorkDir, ".git")
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	dir := ParseGitFile(string(text))
	if dir == "" {
		return
	}
	w := Worktree{GitDir: resolve(f.WorkDir, dir)}
	w.CommonDir = w.GitDir
	if text, err := os.ReadFile(filepath.Join(w.GitDir, "commondir")); err == nil {
		w.CommonDir = resolve(w.GitDir, strings.TrimSpace(string(text)))
	}
	w.Problem = f.distrust(w)
	f.Worktree = &w
}

// resolve returns p, taken relative to dir, without symbolic links where it exists.
func resolve(dir, p string) string {
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return filepath.Clean(p)
}

// distrust says what is wrong with the pair of directories; "" if nothing is.
func (f *Facts) distrust(w Worktree) string {
	for _, entry := range []string{"objects", "refs"} {
		if kindOf(filepath.Join(w.CommonDir, entry)) != Dir {
			return fmt.Sprintf("%s is not a git repository", w.CommonDir)
		}
	}
	if kindOf(filepath.Join(w.CommonDir, "HEAD")) != File || kindOf(filepath.Join(w.GitDir, "HEAD")) != File {
		return fmt.Sprintf("%s is not a git repository", w.GitDir)
	}
	if w.GitDir != w.CommonDir {
		if filepath.Dir(w.GitDir) != filepath.Join(w.CommonDir, "worktrees") {
			return fmt.Sprintf("%s is no worktree of %s", w.GitDir, w.CommonDir)
		}
		text, _ := os.ReadFile(filepath.Join(w.GitDir, "gitdir"))
		if back := strings.TrimSpace(string(text)); resolve(w.GitDir, back) != filepath.Join(f.WorkDir, ".git") {
			return fmt.Sprintf("%s belongs to another working directory", w.GitDir)
		}
		return ""
	}
	text, _ := os.ReadFile(filepath.Join(w.GitDir, "config"))
	tree := ParseCoreWorktree(string(text))
	if tree == "" || resolve(w.GitDir, tree) != f.WorkDir {
		return fmt.Sprintf("%s belongs to another working directory", w.GitDir)
	}
	return ""
}

package oci

import (
	"path"

	"github.com/llxsandbox/llxsandbox/platform"
)

// gitFiles are the git configuration files that are mounted (R3.1–R3.3), relative to
// the home. Never .git-credentials (R3.7), nor anything that one of these includes.
var gitFiles = []string{".gitconfig", ".config/git/config", ".gitignore_global"}

// knownHosts lets git over ssh recognise its servers; nothing else of .ssh goes in.
const knownHosts = ".ssh/known_hosts"

// git mounts git's configuration read-only (R3.5), skipping what is not there (R3.6),
// and the repository of a linked worktree or submodule.
func (b *builder) git() (part, error) {
	files := gitFiles
	if b.Agent != nil {
		files = append(files[:len(files):len(files)], knownHosts)
	}
	var all part
	for _, rel := range files {
		if b.facts.Kind(b.facts.Join(b.facts.Home, rel)) != platform.File {
			continue
		}
		p, err := b.both(rel, "ro", "the git configuration", true)
		if err != nil {
			return part{}, err
		}
		all.add(p)
	}
	p, err := b.worktree()
	all.add(p)
	return all, err
}

// worktree mounts what a working directory's .git file points to: git inside is
// dead otherwise. The directories were checked to belong together when they were
// found, since an agent can rewrite that file to point anywhere.
func (b *builder) worktree() (part, error) {
	w := b.facts.Worktree
	if w == nil {
		return part{}, nil
	}
	if w.Problem != "" {
		return part{warnings: []string{"git will not work inside: the .git file of the working directory is not trusted: " + w.Problem}}, nil
	}
	all := part{}
	for _, dir := range []string{w.CommonDir, w.GitDir} {
		if b.covered(dir) {
			continue
		}
		p, err := b.volume(Mount{From: dir, To: ContainerPath(dir), Source: "the worktree's repository"})
		if err != nil {
			return part{}, err
		}
		all.add(p)
	}
	// A `git gc` inside sees none of the host's other worktrees and would forget them.
	all.args = append(all.args,
		"--env", "GIT_CONFIG_COUNT=1",
		"--env", "GIT_CONFIG_KEY_0=gc.worktreePruneExpire",
		"--env", "GIT_CONFIG_VALUE_0=never")
	return all, nil
}

// covered tells whether a directory is inside already, as part of a writable mount
// at its own path.
func (b *builder) covered(dir string) bool {
	for _, m := range b.mounted {
		own := path.Clean(ContainerPath(m.From)) == path.Clean(m.To)
		if own && m.Mode == "" && below(b.facts, dir, m.From) {
			return true
		}
	}
	return false
}

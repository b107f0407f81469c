package oci

import (
	"fmt"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/platform"
)

// temp mounts the host's temp directory, or in its place a fresh one that only this
// launch uses: a shared one carries other programs' sockets into the sandbox.
func (b *builder) temp() (part, error) {
	dir := b.facts.TempDir
	if b.Private {
		return b.privateTemp()
	}
	exposed, err := b.exposure("the temp directory", dir)
	if err != nil {
		return part{}, err
	}
	p, err := b.volume(Mount{From: dir, To: ContainerPath(dir), Source: "the temp directory"})
	if err != nil {
		return part{}, err
	}
	if dir != b.facts.WorkDir {
		p.warnings = exposed
	}
	switch b.facts.Kind(dir) {
	case platform.File, platform.Socket, platform.Other:
		return part{}, &argv.Fatal{Text: fmt.Sprintf("the temp directory %q is not a directory", dir), Hint: "set TMPDIR to one, or use --tmp private"}
	}
	for _, socket := range b.facts.TempSockets {
		p.notes = append(p.notes, fmt.Sprintf("the shared temp directory exposes the socket %s (--tmp private does not)", socket))
	}
	if b.facts.KnownMissing(dir) {
		p.before = append(p.before, argv.Step{Kind: argv.Mkdir, Why: "make the temp directory", Path: dir})
	}
	return p, nil
}

func (b *builder) privateTemp() (part, error) {
	if b.facts.TempDir == b.facts.WorkDir {
		return part{}, &argv.Fatal{
			Text: fmt.Sprintf("the working directory is the temp directory %q, which cannot be private then", b.facts.TempDir),
			Hint: "use --tmp shared, or work in a directory below it",
		}
	}
	own := b.facts.Join(b.facts.StateDir, "tmp", b.facts.LaunchID)
	p, err := b.volume(Mount{From: own, To: ContainerPath(b.facts.TempDir), Source: "a private temp directory"})
	if err != nil {
		return part{}, err
	}
	p.before = append(p.before, argv.Step{
		Kind: argv.Mkdir, Why: "make a temp directory for this launch alone", Path: own,
		Undo: []argv.Cmd{argv.New("rm", "-rf", "--", own)},
	})
	if !HostUserInside(b.Options, b.facts) {
		// The directories above it stay 0700, so this opens it to the sandbox's user alone.
		chmod := argv.New("chmod", "1777", own)
		p.before = append(p.before, argv.Step{Kind: argv.Run, Why: "let the sandbox's user write to it", Cmd: &chmod})
	}
	return p, nil
}

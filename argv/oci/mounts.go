package oci

import (
	"fmt"
	"path"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/platform"
)

// ContainerPath returns where a host path is inside: at the same place, and on
// Windows C:\a\b at /c/a/b.
func ContainerPath(host string) string {
	if platform.HasDrive(host) {
		host = "/" + strings.ToLower(host[:1]) + host[2:]
	} else if strings.HasPrefix(host, "/") {
		return host // a backslash is a character like any other there
	}
	return strings.ReplaceAll(host, `\`, "/")
}

// volume returns the --volume of one mount. What is mounted already is left out; a
// second mount over the same target is an error, since the engines refuse it with
// words that name neither source.
func (b *builder) volume(m Mount) (part, error) {
	from := m.From
	if platform.HasDrive(from) && b.facts.OS == platform.Windows {
		from = from[2:]
	}
	if strings.Contains(m.To, ":") || strings.Contains(from, ":") {
		return part{}, &argv.Fatal{
			Text: fmt.Sprintf("cannot mount %q at %q (%s): a path holds a colon, which --volume cannot carry", m.From, m.To, m.Source),
			Hint: "rename it, or reach it through a directory whose name holds none",
		}
	}
	target := path.Clean(m.To)
	if first, ok := b.mounted[target]; ok {
		if first.From == m.From && (first.Mode == m.Mode || m.Source == "") {
			return part{}, nil
		}
		return part{}, &argv.Fatal{
			Text: fmt.Sprintf("cannot mount %q at %q (%s): %q is mounted there (%s)", m.From, m.To, m.Source, first.From, first.Source),
			Hint: "give one of the two another place inside: FROM:TO",
		}
	}
	b.mounted[target] = m
	spec := m.From + ":" + m.To
	if m.Mode != "" {
		spec += ":" + m.Mode
	}
	return args("--volume", spec), nil
}

// both mounts a path of the host's home at the home of the image's user and at its
// own path, so that it is found whichever HOME is in force (R3.4). hostFirst tells
// which of the two comes first.
func (b *builder) both(rel, mode, source string, hostFirst bool) (part, error) {
	host := b.facts.Join(b.facts.Home, rel)
	targets := []string{path.Join(nodeHome, rel), ContainerPath(host)}
	if hostFirst {
		targets[0], targets[1] = targets[1], targets[0]
	}
	var all part
	for _, to := range targets {
		p, err := b.volume(Mount{From: host, To: to, Mode: mode, Source: source})
		if err != nil {
			return part{}, err
		}
		all.add(p)
	}
	return all, nil
}

func (b *builder) workDir() (part, error) {
	dir := b.facts.WorkDir
	if b.facts.KnownMissing(dir) || b.facts.Kind(dir) == platform.File {
		return part{}, &argv.Fatal{Text: fmt.Sprintf("the working directory %q is not a directory", dir), Hint: "name one that exists with --workdir"}
	}
	exposed, err := b.exposure("the working directory", dir)
	if err != nil {
		return part{}, err
	}
	p, err := b.volume(Mount{From: dir, To: ContainerPath(dir), Source: "the working directory"})
	p.warnings = exposed
	return p, err
}

// Sensitive are the names in a home directory that a user would not want to share.
var Sensitive = []string{".ssh", ".git-credentials", ".netrc", ".aws", ".azure", ".kube", ".docker", ".gnupg", ".npmrc", ".pypirc", ".config", ".password-store", ".mozilla", ".bash_history"}

// exposure refuses the root directory, and warns of a directory that is the home or
// above it, naming what of it is sensitive.
func (b *builder) exposure(what, dir string) ([]string, error) {
	if path.Clean(ContainerPath(dir)) == "/" {
		return nil, &argv.Fatal{
			Text: fmt.Sprintf("%s is %q: mounting it would give the sandbox the whole host", what, dir),
			Hint: "go to the project's directory, or name it with --workdir",
		}
	}
	if !below(b.facts, b.facts.Home, dir) {
		return nil, nil
	}
	var found []string
	for _, name := range Sensitive {
		if b.facts.Kind(b.facts.Join(b.facts.Home, name)) != platform.Missing {
			found = append(found, "~/"+name)
		}
	}
	text := fmt.Sprintf("%s %s holds your home directory: the sandbox can read and write all of it", what, dir)
	if len(found) > 0 {
		text += ", also " + strings.Join(found, ", ")
	}
	return []string{text}, nil
}

// below tells whether p is dir or lies below it, by whole path elements, and with
// the platform's own case rules (defect 8).
func below(f *platform.Facts, p, dir string) bool {
	p, dir = path.Clean(ContainerPath(p)), path.Clean(ContainerPath(dir))
	if f.OS == platform.Windows {
		p, dir = strings.ToLower(p), strings.ToLower(dir)
	}
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// settings are the agent's own, shared with the host at both homes.
func (b *builder) settings() (part, error) {
	dir := b.facts.Join(b.facts.Home, ".llxprt")
	if b.facts.KnownMissing(b.facts.Home) {
		return part{}, &argv.Fatal{ // defect 26
			Text: fmt.Sprintf("the home directory %q does not exist", b.facts.Home),
			Hint: "set HOME to a directory that does",
		}
	}
	p, err := b.both(".llxprt", "", "the agent's settings", false)
	if err != nil {
		return part{}, err
	}
	switch b.facts.Kind(dir) {
	case platform.Missing:
		p.before = append(p.before, argv.Step{Kind: argv.Mkdir, Why: "make the directory of the agent's settings", Path: dir})
	case platform.Dir:
	default:
		return part{}, &argv.Fatal{Text: fmt.Sprintf("%q is not a directory", dir), Hint: "the agent keeps its settings there; move what is in its place"}
	}
	return p, nil
}

func (b *builder) gcloud() (part, error) {
	dir := b.facts.Join(b.facts.Home, ".config", "gcloud")
	if b.facts.Kind(dir) == platform.Missing {
		return part{}, nil
	}
	return b.volume(Mount{From: dir, To: ContainerPath(dir), Mode: "ro", Source: "the gcloud configuration"})
}

// credentials are Google's application default credentials. The variable names a
// file, so it travels in the open.
func (b *builder) credentials() (part, error) {
	if b.ADC == "" || b.facts.Kind(b.ADC) == platform.Missing {
		return part{}, nil
	}
	p, err := b.volume(Mount{From: b.ADC, To: ContainerPath(b.ADC), Mode: "ro", Source: "GOOGLE_APPLICATION_CREDENTIALS"})
	p.args = append(p.args, "--env", "GOOGLE_APPLICATION_CREDENTIALS="+ContainerPath(b.ADC))
	return p, err
}

// userMounts are SANDBOX_MOUNTS, --mount and a profile's mounts.
func (b *builder) userMounts() (part, error) {
	var all part
	for _, m := range b.Mounts {
		if b.facts.Kind(m.From) == platform.Missing {
			return part{}, &argv.Fatal{
				Text:  fmt.Sprintf("path %q listed in %s does not exist", m.From, m.Source),
				Hint:  "make it first: an engine would make it itself, as root",
				Usage: strings.HasPrefix(m.Source, "--"),
			}
		}
		p, err := b.volume(m)
		if err != nil {
			return part{}, err
		}
		p.notes = append(p.notes, fmt.Sprintf("%s: %s -> %s (%s)", m.Source, m.From, m.To, m.Mode))
		all.add(p)
	}
	return all, nil
}

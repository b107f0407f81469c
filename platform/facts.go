// Package platform holds what the program knows about the host: Facts, plain data
// that is written and read as JSON; pure functions that parse what the host and
// its engines answer; and Gather, which asks through functions that it is given.
// It never changes anything, and starts no process by itself.
package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// The platforms, as the operating system names itself.
const (
	Linux   = "linux"
	Darwin  = "darwin"
	Windows = "windows"
)

// The engines that a container can run in, and Seatbelt.
const (
	Docker      = "docker"
	Podman      = "podman"
	SandboxExec = "sandbox-exec"
)

// Facts is everything that planning a launch may depend on, besides the
// configuration. A fact that is missing is one that does not hold: a path that is
// not listed does not exist, a program that is not listed is not installed.
type Facts struct {
	OS         string    `json:"os"`         // linux, darwin or windows
	Home       string    `json:"home"`       // absolute, no trailing slash
	WorkDir    string    `json:"workDir"`    // absolute, as the user sees it
	TempDir    string    `json:"tempDir"`    // absolute, no trailing slash
	RuntimeDir string    `json:"runtimeDir"` // ours alone (0700), for sockets and small files
	StateDir   string    `json:"stateDir"`   // ours alone (0700), for files of any size
	Self       string    `json:"self"`       // this program's own path
	LaunchID   string    `json:"launchId"`   // distinguishes this launch from every other
	UID        int       `json:"uid"`
	GID        int       `json:"gid"`
	OSRelease  OSRelease `json:"osRelease"`
	Terminal   Terminal  `json:"terminal"`

	Programs []string  `json:"programs"`           // which of the programs that matter are on PATH
	Paths    []Path    `json:"paths"`              // the candidate paths that exist, and what they are
	Worktree *Worktree `json:"worktree,omitempty"` // set if WorkDir is a linked worktree or a submodule
	Settings Settings  `json:"settings"`
	Profiles []Profile `json:"profiles,omitempty"` // the profile file that was asked for
	Engines  []Engine  `json:"engines"`            // the engines that were asked, and their answers
	SSHAgent SSHAgent  `json:"sshAgent"`

	Tunnel int `json:"tunnel,omitempty"` // the number of this launch's socket in podman's machine, from 1

	TempSockets []string `json:"tempSockets,omitempty"` // sockets in TempDir, looked for with --verbose

	Live bool `json:"-"` // gathered here and now: more may be asked of this host
}

// OSRelease is what /etc/os-release says about the distribution.
type OSRelease struct {
	ID     string   `json:"id,omitempty"`
	IDLike []string `json:"idLike,omitempty"`
}

// Terminal tells which of the standard streams are terminals.
type Terminal struct {
	Stdin  bool `json:"stdin"`
	Stdout bool `json:"stdout"`
}

// Both tells whether the agent can be given a terminal.
func (t Terminal) Both() bool { return t.Stdin && t.Stdout }

// Path is one path of the host. A symbolic link is what it points to.
type Path struct {
	Path string   `json:"path"`
	Kind PathKind `json:"kind"`
}

// PathKind is what a path of the host is.
type PathKind string

// What a path of the host can be.
const (
	File    PathKind = "file"
	Dir     PathKind = "dir"
	Socket  PathKind = "socket"
	Other   PathKind = "other"   // a device, a pipe, …
	Missing PathKind = "missing" // asked for, and not there
)

// Worktree is where a working directory whose .git is a file keeps its repository.
type Worktree struct {
	GitDir    string `json:"gitDir"`            // where its .git file points to
	CommonDir string `json:"commonDir"`         // the repository that GitDir shares; may equal GitDir
	Problem   string `json:"problem,omitempty"` // why the two can't be trusted; they are not mounted then
}

// Settings holds what the files of the user and the project say about sandboxing.
type Settings struct {
	Sandbox  string `json:"sandbox,omitempty"`  // the key "sandbox", or LLXPRT_SANDBOX of an .env file
	From     string `json:"from,omitempty"`     // the file that says so
	Problem  string `json:"problem,omitempty"`  // why the settings file can't be read
	DotEnv   string `json:"dotEnv,omitempty"`   // LLXPRT_SANDBOX of the nearest .env file
	EnvFrom  string `json:"envFrom,omitempty"`  // that file
	EnvTrash string `json:"envTrash,omitempty"` // why that file can't be read
}

// Profile is the text of one profile file.
type Profile struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Text string `json:"text"`
}

// Engine is what one engine answered to the questions of a launch.
type Engine struct {
	Name       string   `json:"name"`
	Problem    string   `json:"problem,omitempty"`    // why it does not answer, in its own words
	ImageID    string   `json:"imageId,omitempty"`    // of the sandbox image; empty if it is not there
	Containers []string `json:"containers,omitempty"` // the names of all, running or not
	Rootless   bool     `json:"rootless,omitempty"`
	Networks   []string `json:"networks,omitempty"`

	// Docker on macOS (R6.1).
	OperatingSystem string `json:"operatingSystem,omitempty"`
	DesktopSocket   bool   `json:"desktopSocket,omitempty"`

	// Podman on macOS (R7.2): the text that the engine printed.
	Connections string `json:"connections,omitempty"`
}

// SSHAgent is what the ssh agent at SSH_AUTH_SOCK answered.
type SSHAgent struct {
	Asked   bool   `json:"asked,omitempty"`
	Keys    int    `json:"keys,omitempty"`
	Problem string `json:"problem,omitempty"` // why it did not answer
}

// Kind returns what path is; Missing if it was not listed.
func (f *Facts) Kind(p string) PathKind {
	for _, known := range f.Paths {
		if known.Path == p {
			return known.Kind
		}
	}
	return Missing
}

// KnownMissing tells whether path was asked for and is not there. The directories
// that every launch needs are taken to exist unless the facts say otherwise.
func (f *Facts) KnownMissing(p string) bool {
	return slices.Contains(f.Paths, Path{p, Missing})
}

// Has tells whether the program is on PATH.
func (f *Facts) Has(program string) bool { return slices.Contains(f.Programs, program) }

// Engine returns the answers of the named engine; empty ones if it was not asked.
func (f *Facts) Engine(name string) Engine {
	for _, e := range f.Engines {
		if e.Name == name {
			return e
		}
	}
	return Engine{Name: name}
}

// TakeName records that a container's name is not free.
func (f *Facts) TakeName(engine, name string) {
	e := f.engine(engine)
	e.Containers = append(e.Containers, name)
}

// Join joins path elements in the way of the facts' own platform.
func (f *Facts) Join(elem ...string) string {
	if f.OS != Windows {
		return path.Join(elem...)
	}
	return strings.ReplaceAll(path.Join(elem...), "/", `\`)
}

// ReadFacts reads the JSON that WriteFacts and `llxsandbox facts` write. An unknown
// field is an error, and so are values that no host can have: a misspelt fact must
// not quietly mean "no".
func ReadFacts(data []byte) (Facts, error) {
	var f Facts
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return Facts{}, fmt.Errorf("not valid facts: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Facts{}, errors.New("not valid facts: there is text after the object")
	}
	return f, f.check()
}

func (f *Facts) check() error {
	if !slices.Contains([]string{Linux, Darwin, Windows}, f.OS) {
		return fmt.Errorf("not valid facts: os is %q; valid are linux, darwin and windows", f.OS)
	}
	for _, dir := range []struct{ name, value string }{
		{"home", f.Home}, {"workDir", f.WorkDir}, {"tempDir", f.TempDir}, {"runtimeDir", f.RuntimeDir}, {"stateDir", f.StateDir},
	} {
		if !f.Abs(dir.value) {
			return fmt.Errorf("not valid facts: %s is %q, which is not an absolute path", dir.name, dir.value)
		}
	}
	if f.UID < 0 || f.GID < 0 {
		return fmt.Errorf("not valid facts: uid %d and gid %d must not be negative", f.UID, f.GID)
	}
	for _, p := range f.Paths {
		switch p.Kind {
		case File, Dir, Socket, Other, Missing:
		default:
			return fmt.Errorf("not valid facts: %q is of the kind %q; valid are file, dir, socket, other and missing", p.Path, p.Kind)
		}
	}
	return nil
}

// Abs tells whether p is absolute on the facts' platform.
func (f *Facts) Abs(p string) bool {
	if f.OS == Windows {
		return HasDrive(p) || strings.HasPrefix(p, `\\`)
	}
	return strings.HasPrefix(p, "/")
}

// HasDrive tells whether a path begins with a drive of Windows, such as C:\.
func HasDrive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && ('a' <= p[0] && p[0] <= 'z' || 'A' <= p[0] && p[0] <= 'Z')
}

// JSON returns the facts as ReadFacts reads them.
func (f *Facts) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(f)
	return b.Bytes(), err
}

package platform

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/llxsandbox/llxsandbox/argv"
)

// Answer is what a command answered to a question.
type Answer struct {
	Stdout, Stderr string
	Code           int
	Err            error // it could not be started, or did not answer in time
}

// Host is what Gather may do on the host: ask a read-only command, bounded in time,
// and look a program up on PATH.
type Host struct {
	Ask      func(context.Context, argv.Cmd) Answer
	LookPath func(program string) bool
}

// testOnlyPlatform takes the place of the system's own name in a program that was
// linked so (-X) by a test, to run the strategies of another platform for real.
var testOnlyPlatform = ""

// programs are those whose presence a plan may depend on.
var programs = []string{Docker, Podman, SandboxExec, "ssh-add", "ssh", "git"}

// osRelease is where a Linux distribution says what it is.
const osRelease = "/etc/os-release"

// Gather returns the facts of this host that are known without a question: the
// platform, the directories, the user, the terminals, the programs. workDir is the
// directory that was asked for; empty means the current one. getenv reads the
// environment. It is the only place that asks which platform this is.
func Gather(h Host, getenv func(string) string, workDir string) (Facts, error) {
	f := Facts{OS: runtime.GOOS, UID: os.Getuid(), GID: os.Getgid(), Live: true}
	if testOnlyPlatform != "" {
		f.OS = testOnlyPlatform
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return Facts{}, &argv.Fatal{Text: "HOME is not set", Hint: "set HOME to your home directory"}
	}
	f.Home = clean(home)
	if !filepath.IsAbs(f.Home) {
		return Facts{}, &argv.Fatal{Text: fmt.Sprintf("HOME is %q, which is not an absolute path", home), Hint: "set HOME to your home directory"}
	}
	if f.WorkDir, err = physical(workDir); err != nil {
		return Facts{}, &argv.Fatal{Text: fmt.Sprintf("cannot find the working directory: %v", err), Hint: "name one that exists with --workdir", Cause: err}
	}
	f.TempDir = tempDir(getenv)
	if !filepath.IsAbs(f.TempDir) {
		return Facts{}, &argv.Fatal{Text: fmt.Sprintf("the temp directory is %q, which is not an absolute path", f.TempDir), Hint: "correct TMPDIR"}
	}
	f.StateDir, f.RuntimeDir = ownDirs(getenv, f.Home)
	f.Self, _ = os.Executable()
	var id [6]byte
	_, _ = rand.Read(id[:]) // never fails
	f.LaunchID = hex.EncodeToString(id[:])
	f.Terminal = Terminal{Stdin: term.IsTerminal(int(os.Stdin.Fd())), Stdout: term.IsTerminal(int(os.Stdout.Fd()))}
	if f.OS == Linux {
		text, _ := os.ReadFile(osRelease)
		f.OSRelease = ParseOSRelease(string(text))
	}
	for _, program := range programs {
		if h.LookPath(program) {
			f.Programs = append(f.Programs, program)
		}
	}
	return f, nil
}

func clean(dir string) string {
	if dir == "" {
		return dir
	}
	return filepath.Clean(dir)
}

// physical returns dir as an absolute path without symbolic links, as a process
// started there would see it.
func physical(dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return "", err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// tempDir is the temp directory, found as the original launcher finds it.
func tempDir(getenv func(string) string) string {
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		if dir := getenv(name); dir != "" {
			return clean(dir)
		}
	}
	return "/tmp"
}

// ownDirs returns our state and runtime directories. The runtime directory is the
// session's if there is one, which the system empties; never a shared one.
func ownDirs(getenv func(string) string, home string) (state, runtimeDir string) {
	state = getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		state = filepath.Join(home, ".local", "state")
	}
	state = filepath.Join(state, "llxsandbox")
	session := getenv("XDG_RUNTIME_DIR")
	if info, err := os.Stat(session); err == nil && info.IsDir() && filepath.IsAbs(session) {
		return state, filepath.Join(session, "llxsandbox")
	}
	return state, filepath.Join(state, "run")
}

// Look records what each candidate path is. Missing ones are listed too, so that
// "not there" and "never asked" differ.
func (f *Facts) Look(candidates []string) {
	seen := map[string]bool{}
	for _, p := range candidates {
		if p == "" || seen[p] {
			continue
		}
		seen[p] = true
		f.Paths = append(f.Paths, Path{p, kindOf(p)})
	}
}

// LookForSockets records the sockets in the temp directory and one level below it:
// other programs' doors, which a shared temp directory opens to the sandbox.
func (f *Facts) LookForSockets() {
	for _, pattern := range []string{"*", "*/*"} {
		paths, _ := filepath.Glob(filepath.Join(f.TempDir, pattern))
		for _, p := range paths {
			if kindOf(p) == Socket {
				f.TempSockets = append(f.TempSockets, p)
			}
		}
	}
}

func kindOf(p string) PathKind {
	info, err := os.Stat(p)
	switch {
	case err != nil:
		return Missing
	case info.IsDir():
		return Dir
	case info.Mode().IsRegular():
		return File
	case info.Mode()&os.ModeSocket != 0:
		return Socket
	}
	return Other
}

// ReadSettings reads what the settings file of the user and the nearest .env file
// say about sandboxing.
func (f *Facts) ReadSettings() {
	f.Settings = Settings{}
	file := filepath.Join(f.Home, ".llxprt", "settings.json")
	if text, err := os.ReadFile(file); err == nil {
		word, err := ParseSandboxSetting(text)
		if err != nil {
			f.Settings.Problem = fmt.Sprintf("%s: %v", file, err)
		}
		f.Settings.Sandbox, f.Settings.From = word, file
	}
	for dir := f.WorkDir; ; dir = filepath.Dir(dir) {
		for _, name := range []string{filepath.Join(".llxprt", ".env"), ".env"} {
			file := filepath.Join(dir, name)
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			value, err := ParseDotEnv(string(text), "LLXPRT_SANDBOX")
			if err != nil {
				f.Settings.EnvTrash = fmt.Sprintf("%s: %v; it is not used", file, err)
			}
			f.Settings.DotEnv, f.Settings.EnvFrom = value, file
			return
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// DockerContext returns the docker context that docker's own configuration makes the
// current one, "" if it names none. dir is where that is; "" means ~/.docker.
func (f *Facts) DockerContext(dir string) string {
	if dir == "" {
		dir = filepath.Join(f.Home, ".docker")
	}
	text, _ := os.ReadFile(filepath.Join(dir, "config.json"))
	return ParseDockerContext(text)
}

// ReadProfile reads the file of the named profile, if there is one.
func (f *Facts) ReadProfile(name string) error {
	file := filepath.Join(f.ProfileDir(), name+".json")
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return &argv.Fatal{Text: fmt.Sprintf("cannot read the profile: %v", err), Hint: "correct its permissions", Cause: err}
	}
	f.Profiles = append(f.Profiles, Profile{Name: name, Path: file, Text: string(text)})
	return nil
}

// ProfileDir is where the user's profiles are.
func (f *Facts) ProfileDir() string { return f.Join(f.Home, ".llxprt", "sandboxes") }

// ListProfiles returns the names of the profile files of the user.
func (f *Facts) ListProfiles() []string {
	files, _ := filepath.Glob(filepath.Join(f.ProfileDir(), "*.json"))
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	return names
}

// Ask puts the questions to the host, all at the same time, and records the answers.
func (f *Facts) Ask(ctx context.Context, h Host, questions []Question) {
	answers := make([]Answer, len(questions))
	var wait sync.WaitGroup
	for i, q := range questions {
		wait.Go(func() { answers[i] = h.Ask(ctx, q.Cmd) })
	}
	wait.Wait()
	for i, q := range questions {
		f.record(q, answers[i])
	}
}

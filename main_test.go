//go:build unix

package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what scripts compare with")

func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=10") // each program would sleep a second at its end
	}
	programs := map[string]func(){"llxsandbox": main}
	for _, name := range fakes {
		programs[name] = fake
	}
	testscript.Main(m, programs)
}

// linked are the programs of this system that plans use themselves.
var linked = []string{"sh", "bash", "rm", "chmod", "test", "cat", "sleep", "id", "true", "mkdir", "git", "sed", "basename", "uname"}

// TestScripts runs the real program against fake engines. A script sees our programs
// and the linked ones, and nothing else of this system: a forgotten fake must not
// reach a real docker.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fake":  linkFakes,
			"code":  code,
			"mode":  mode,
			"lines": lines,
		},
	})
}

func setup(env *testscript.Env) error {
	bin := filepath.Join(env.WorkDir, "bin")
	for _, dir := range []string{bin, filepath.Join(env.WorkDir, "home", "ada", "proj"), filepath.Join(env.WorkDir, "tmp"), filepath.Join(env.WorkDir, "state"), filepath.Join(env.WorkDir, "inner")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	ours, _, _ := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator))
	if err := os.Symlink(filepath.Join(ours, "llxsandbox"), filepath.Join(bin, "llxsandbox")); err != nil {
		return err
	}
	for _, name := range linked {
		path, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	env.Setenv("FAKES", ours)
	env.Setenv("PATH", bin)
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home", "ada"))
	env.Setenv("TMPDIR", filepath.Join(env.WorkDir, "tmp"))
	env.Setenv("XDG_RUNTIME_DIR", filepath.Join(env.WorkDir, "state"))
	env.Setenv("SANDBOX_SSH_AGENT", "off")
	env.Setenv("SANDBOX_SET_UID_GID", "0")
	env.Cd = filepath.Join(env.WorkDir, "home", "ada", "proj")
	env.Defer(func() { checkFakes(env.T(), env.WorkDir) })
	return nil
}

// linkFakes puts the named fakes on PATH: fake docker podman.
func linkFakes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: fake PROGRAM...")
	}
	for _, name := range args {
		dir := ts.Getenv("PATH")
		if inside, ok := strings.CutPrefix(name, "inner/"); ok { // as the container's command sees it
			dir, name = filepath.Join(ts.Getenv("WORK"), "inner"), inside
		}
		ts.Check(os.Symlink(filepath.Join(ts.Getenv("FAKES"), name), filepath.Join(dir, name)))
	}
}

// code checks an exit code: code 44 llxsandbox run.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// mode checks a file's permissions: mode 0600 FILE.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode PERM FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	if uint64(info.Mode().Perm()) != want {
		ts.Fatalf("%s is %o, want %o", args[1], info.Mode().Perm(), want)
	}
}

// lines checks how many lines of a file contain a text: lines 2 docker.log run.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: lines N FILE TEXT")
	}
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if strings.Contains(line, args[2]) {
			n++
		}
	}
	if strconv.Itoa(n) != args[0] {
		ts.Fatalf("%d lines of %s contain %q, want %s", n, args[1], args[2], args[0])
	}
}

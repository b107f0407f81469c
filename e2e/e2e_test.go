//go:build unix

// Package e2e_test runs the real program against every real engine of this machine.
// An engine that is not there is a visible skip; where LLXSANDBOX_TEST_ENGINES names
// it (as CI does) it is a failure.
package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const image = "llxsandbox-demo:latest"

var (
	binary string          // the program, built once
	onMac  string          // the same, which takes this system for macOS
	usable map[string]bool // the engines that answer and have the image
)

func TestMain(m *testing.M) { os.Exit(setup(m)) }

func setup(m *testing.M) int {
	dir, err := os.MkdirTemp("", "llxsandbox-e2e-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	must(os.Chmod(dir, 0o755))
	binary = filepath.Join(dir, "llxsandbox")
	onMac = filepath.Join(dir, "llxsandbox-mac")
	for path, flags := range map[string]string{binary: "", onMac: "-X github.com/llxsandbox/llxsandbox/platform.testOnlyPlatform=darwin"} {
		build := exec.Command("go", "build", "-o", path, "-ldflags", flags, "..")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		must(build.Run())
	}
	usable = map[string]bool{}
	for _, engine := range []string{"docker", "podman"} {
		usable[engine] = prepare(engine)
		if !usable[engine] && slices.Contains(strings.Split(os.Getenv("LLXSANDBOX_TEST_ENGINES"), ","), engine) {
			fmt.Fprintf(os.Stderr, "%s must be there (LLXSANDBOX_TEST_ENGINES), and does not answer or has no image\n", engine)
			return 1
		}
	}
	return m.Run()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// prepare tells whether the engine answers, and builds the demo image for it.
func prepare(engine string) bool {
	if exec.Command(engine, "ps").Run() != nil {
		return false
	}
	cmd := exec.Command("../scripts/demo-image.sh", engine, image)
	out, err := cmd.CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "no demo image for %s: %v\n%s\n", engine, err, out)
	}
	return err == nil
}

// world is a home and a project for one test with one engine.
type world struct {
	engine string
	root   string // everything of this test lies below it
	home   string
	work   string
	env    []string
	as     *syscall.Credential // another user; nil means the test's own
	mac    bool                // take this system for macOS
}

// engines runs the test once for each engine.
func engines(t *testing.T, test func(t *testing.T, w *world)) {
	for _, engine := range []string{"docker", "podman"} {
		t.Run(engine, func(t *testing.T) {
			if !usable[engine] {
				t.Skipf("%s is not there", engine)
			}
			test(t, newWorld(t, engine))
		})
	}
}

func newWorld(t *testing.T, engine string) *world {
	root, err := os.MkdirTemp("", "llxe2e-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	require.NoError(t, os.Chmod(root, 0o755))
	w := &world{engine: engine, root: root, home: filepath.Join(root, "home"), work: filepath.Join(root, "home", "proj")}
	for _, dir := range []string{w.home, w.work, filepath.Join(root, "tmp"), filepath.Join(root, "run")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	require.NoError(t, os.Chmod(filepath.Join(root, "run"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(root, "tmp"), 0o777))
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + filepath.Join(root, "tmp"), "TERM=xterm",
		"XDG_RUNTIME_DIR=" + filepath.Join(root, "run"), "SANDBOX_SSH_AGENT=off", "SANDBOX_SET_UID_GID=0",
	}
	if rootless(engine) { // its images and its runtime state are the user's, found by these
		real, _ := os.UserHomeDir()
		w.env = append(w.env, "XDG_DATA_HOME="+filepath.Join(real, ".local", "share"), "XDG_CONFIG_HOME="+filepath.Join(real, ".config"))
		if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
			w.env = append(w.env, "XDG_RUNTIME_DIR="+dir)
		}
	}
	for _, name := range []string{"DOCKER_HOST", "CONTAINERS_CONF", "CONTAINERS_REGISTRIES_CONF"} {
		if value := os.Getenv(name); value != "" {
			w.env = append(w.env, name+"="+value)
		}
	}
	t.Cleanup(func() { w.noContainers(t) })
	return w
}

// rootless tells whether the engine runs as the user.
func rootless(engine string) bool { return engine == "podman" && os.Getuid() != 0 }

// user makes everything of the world belong to an ordinary user of this uid, as whom
// the program runs then. It needs root, and an engine that serves other users.
func (w *world) user(t *testing.T, uid int) {
	if os.Getuid() != 0 || w.engine != "docker" {
		t.Skip("needs root, and a docker that serves other users")
	}
	socket := strings.TrimPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if socket == "" {
		socket = "/var/run/docker.sock"
	}
	info, err := os.Stat(socket)
	require.NoError(t, err)
	group := info.Sys().(*syscall.Stat_t).Gid
	w.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), Groups: []uint32{group}}
	require.NoError(t, exec.Command("chown", "-R", fmt.Sprintf("%d:%d", uid, uid), w.root).Run())
}

// set adds variables to the environment.
func (w *world) set(vars ...string) *world {
	other := *w
	other.env = slices.Concat(w.env, vars)
	return &other
}

type result struct {
	out, err string
	code     int
}

// command is the program with the engine, the image and args.
func (w *world) command(args ...string) *exec.Cmd {
	program := binary
	if w.mac {
		program = onMac
	}
	cmd := exec.Command(program, slices.Concat([]string{args[0], "--engine", w.engine, "--image", image}, args[1:])...)
	cmd.Dir, cmd.Env = w.work, w.env
	if w.as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.as}
	}
	return cmd
}

// run runs the program to its end.
func (w *world) run(t *testing.T, args ...string) result {
	t.Helper()
	return finish(t, w.command(args...))
}

func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	code := cmd.ProcessState.ExitCode()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return result{out.String(), errs.String(), code}
}

// bash runs a script inside, with flags for the launcher before it.
func (w *world) bash(t *testing.T, script string, flags ...string) result {
	t.Helper()
	return w.run(t, slices.Concat([]string{"run", "--command", "bash"}, flags, []string{"--", "-c", script})...)
}

// ok is bash, and fails the test unless the script succeeds.
func (w *world) ok(t *testing.T, script string, flags ...string) string {
	t.Helper()
	r := w.bash(t, script, flags...)
	require.Zero(t, r.code, "%s%s", r.out, r.err)
	return r.out
}

// file writes a file below the home.
func (w *world) file(t *testing.T, rel, text string) string {
	path := filepath.Join(w.home, rel)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// containers are the names of the containers that mount something of this world.
func (w *world) containers(t *testing.T) []string {
	out, err := exec.Command(w.engine, "ps", "-aq").Output()
	require.NoError(t, err)
	var names []string
	for _, id := range strings.Fields(string(out)) {
		inspect, err := exec.Command(w.engine, "inspect", "--format", "{{.Name}} {{json .Mounts}}", id).Output()
		if err == nil && bytes.Contains(inspect, []byte(w.root+"/")) {
			names = append(names, string(inspect))
		}
	}
	return names
}

// noContainers waits until none is left: an engine needs a moment to remove one.
func (w *world) noContainers(t *testing.T) {
	t.Helper()
	eventually(t, 5*time.Second, func() error {
		if left := w.containers(t); len(left) > 0 {
			return fmt.Errorf("containers are left: %v", left)
		}
		return nil
	})
}

// eventually repeats check until it gives nil.
func eventually(t *testing.T, within time.Duration, check func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

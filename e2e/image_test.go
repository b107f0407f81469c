//go:build unix

package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An image that is neither here nor to be had: R1's message, exit code 44, nothing made.
func TestImageMissing(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		r := w.run(t, "run", "--image", "127.0.0.1:1/no/such:image")
		require.Equal(t, 44, r.code)
		require.Empty(t, r.out)
		require.Contains(t, r.err, "Sandbox image '127.0.0.1:1/no/such:image' is missing or could not be pulled. Please check the image name, your network connection, or visit https://github.com/vybestack/llxprt-code/discussions if the issue persists.")
		require.NoDirExists(t, filepath.Join(w.home, ".llxprt"))
	})
}

// A missing image is pulled from a real registry, with its progress on standard error.
func TestPull(t *testing.T) {
	address := registry(t)
	engines(t, func(t *testing.T, w *world) {
		conf := filepath.Join(w.root, "registries.conf")
		require.NoError(t, os.WriteFile(conf, []byte(fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", address)), 0o644))
		w = w.set("CONTAINERS_REGISTRIES_CONF=" + conf)
		name := address + "/llx/pulled:1"
		engine := func(args ...string) {
			cmd := exec.Command(w.engine, args...)
			cmd.Env = w.env
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
		}
		engine("tag", image, name)
		engine("push", name)
		engine("rmi", name)
		defer engine("rmi", name)
		r := w.run(t, "run", "--image", name, "--command", "echo", "--", "ran")
		require.Zero(t, r.code, r.err)
		require.Equal(t, "ran\n", r.out)
		require.NotEmpty(t, r.err, "progress")
	})
}

// registry starts a real one on loopback.
func registry(t *testing.T) string {
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		if os.Getenv("LLXSANDBOX_TEST_ENGINES") != "" {
			t.Fatal("docker-registry must be there in CI")
		}
		t.Skip("docker-registry is not there")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yml")
	require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf("version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: %s\nhttp:\n  addr: %s\n", dir, address)), 0o644))
	cmd := exec.Command(program, "serve", config)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, 10*time.Second, func() error {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
	return address
}

// BUILD_SANDBOX builds the project's Dockerfile and runs it.
func TestBuild(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		w.file(t, "proj/.llxprt/sandbox.Dockerfile", "FROM "+image+"\nENV BUILT=yes\n")
		w = w.set("BUILD_SANDBOX=1", "DOCKER_BUILDKIT=0")
		name := "llxsandbox-e2e-built:" + w.engine
		t.Cleanup(func() { _ = exec.Command(w.engine, "rmi", "-f", name).Run() })
		r := w.run(t, "run", "--image", name, "--command", "bash", "--", "-c", "echo $BUILT")
		require.Zero(t, r.code, r.err)
		require.Equal(t, "yes\n", r.out)
	})
}

// A daemon that is down, and no engine at all.
func TestNoEngine(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		none := filepath.Join(w.root, "none")
		require.NoError(t, os.Mkdir(none, 0o755))
		r := w.set("PATH="+none).run(t, "run")
		require.Equal(t, 44, r.code)
		require.Contains(t, r.err, "not on PATH")
		if w.engine == "docker" {
			r := w.set("DOCKER_HOST=unix://"+w.root+"/no.sock").run(t, "run")
			require.Equal(t, 44, r.code)
			require.Contains(t, r.err, "docker: it does not answer")
			require.Contains(t, r.err, "Cannot connect to the Docker daemon")
			require.NotContains(t, r.err, "is missing")
		}
		cmd := exec.Command(binary, "run")
		cmd.Dir, cmd.Env = w.work, append(w.env, "PATH="+none)
		r = finish(t, cmd)
		require.Equal(t, 44, r.code)
		require.Contains(t, r.err, "install docker or podman, or name one in LLXPRT_SANDBOX")
	})
}

// auto takes the podman that answers when docker's daemon does not.
func TestFallBack(t *testing.T) {
	if !usable["docker"] || !usable["podman"] {
		t.Skip("needs both clients")
	}
	w := newWorld(t, "podman")
	cmd := exec.Command(binary, "run", "--image", image, "--command", "echo", "--", "ran")
	cmd.Dir, cmd.Env = w.work, append(w.env, "DOCKER_HOST=unix://"+w.root+"/no.sock")
	r := finish(t, cmd)
	require.Zero(t, r.code, r.err)
	require.Equal(t, "ran\n", r.out)
	require.Contains(t, r.err, "docker does not answer: using podman")
}

// What print-args shows can be pasted into a shell, and does what run does.
func TestPrintArgsPaste(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		printed := w.run(t, "print-args", "--command", "bash", "--", "-c", `echo "it's $SANDBOX"; exit 5`)
		require.Zero(t, printed.code, printed.err)
		text, _, _ := strings.Cut(printed.out, "# stop:")
		cmd := exec.Command("sh", "-c", text)
		cmd.Dir, cmd.Env = w.work, w.env
		pasted := finish(t, cmd)
		require.Equal(t, 5, pasted.code, pasted.err)
		require.Regexp(t, `^it's llxsandbox-demo-latest-\d+\n$`, pasted.out)
	})
}

//go:build unix

package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// machine is a stand-in for a podman machine: a real sshd on this system, a real
// connection to it, and a podman on PATH that answers `machine ssh` by ssh and hands
// everything else to the real one.
type machine struct {
	*world
	sshd   *exec.Cmd
	config string
}

func newMachine(t *testing.T, extra string) *machine {
	if !usable["podman"] {
		t.Skip("podman is not there")
	}
	daemon := "/usr/sbin/sshd"
	if _, err := os.Stat(daemon); err != nil || os.Getuid() != 0 {
		if os.Getenv("LLXSANDBOX_TEST_ENGINES") != "" {
			t.Fatal("sshd, and root to run it, must be there in CI")
		}
		t.Skip("sshd, or root to run it, is not there")
	}
	m := &machine{world: newWorld(t, "podman")}
	m.mac = true
	key := filepath.Join(m.root, "machine")
	for _, path := range []string{key, filepath.Join(m.root, "host")} {
		require.NoError(t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).Run())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	require.NoError(t, listener.Close())
	require.NoError(t, os.MkdirAll("/run/sshd", 0o755))
	m.config = filepath.Join(m.root, "sshd_config")
	require.NoError(t, os.WriteFile(m.config, []byte(fmt.Sprintf("ListenAddress 127.0.0.1\nPort %d\nHostKey %s/host\nAuthorizedKeysFile %s.pub\nPidFile none\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n%s", port, m.root, key, extra)), 0o600))
	m.sshd = exec.Command(daemon, "-D", "-e", "-f", m.config)
	require.NoError(t, m.sshd.Start())
	t.Cleanup(func() { _ = m.sshd.Process.Kill(); _ = m.sshd.Wait() })
	eventually(t, 5*time.Second, func() error {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
	real, err := exec.LookPath("podman")
	require.NoError(t, err)
	bin := filepath.Join(m.root, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "podman"), []byte(fmt.Sprintf(`#!/bin/sh
if [ "$1 $2" = "machine ssh" ]; then
	exec ssh -i %s -p %d -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes root@127.0.0.1 "$3"
fi
exec %s "$@"
`, key, port, real)), 0o755))
	conf := filepath.Join(m.root, "containers.conf")
	base, _ := os.ReadFile(os.Getenv("CONTAINERS_CONF"))
	require.NoError(t, os.WriteFile(conf, base, 0o644))
	m.world = m.set("PATH="+bin+":"+os.Getenv("PATH"), "CONTAINERS_CONF="+conf)
	add := exec.Command("podman", "system", "connection", "add", "--default", "--identity", key, "stand-in", fmt.Sprintf("ssh://root@127.0.0.1:%d/run/podman/podman.sock", port))
	add.Env = m.env
	out, err := add.CombinedOutput()
	require.NoError(t, err, string(out))
	socket, _, _ := agent(t, m.world)
	m.world = m.set("SANDBOX_SSH_AGENT=on", "SSH_AUTH_SOCK="+socket)
	t.Cleanup(func() { require.NoFileExists(t, "/tmp/ssh-agent.sock") })
	return m
}

// R7 for real: the host's agent is listed and signs inside, for a user who is not root,
// and nothing of the tunnel is left.
func TestMachineTunnel(t *testing.T) {
	m := newMachine(t, "")
	public := filepath.Join(m.work, "one.pub")
	out := m.ok(t, `id -u; ssh-add -l; echo data | ssh-keygen -Y sign -n test -f `+public+` 2>/dev/null`)
	require.True(t, strings.HasPrefix(out, "1000\n"), out)
	require.Contains(t, out, " one (ED25519)")
	verify(t, m.world, public, out)
	noTunnel(t, m)
}

// A stale socket makes a forward fail: it is removed first (R7.3).
func TestMachineStaleSocket(t *testing.T) {
	m := newMachine(t, "")
	listener, err := net.Listen("unix", "/tmp/ssh-agent.sock")
	require.NoError(t, err)
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, listener.Close())
	require.Contains(t, m.ok(t, `ssh-add -l`), " one (ED25519)")
	noTunnel(t, m)
}

// Two launches at once have a socket each.
func TestMachineTwoLaunches(t *testing.T) {
	m := newMachine(t, "")
	first := m.command("run", "--command", "bash", "--", "-c", "echo ready; read -r _; ssh-add -l")
	in, err := first.StdinPipe()
	require.NoError(t, err)
	stdout, err := first.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, first.Start())
	_, err = stdout.Read(make([]byte, 8))
	require.NoError(t, err)
	require.Contains(t, m.ok(t, `ssh-add -l`), " one (ED25519)")
	require.FileExists(t, "/tmp/ssh-agent.sock")
	require.NoFileExists(t, "/tmp/ssh-agent-2.sock")
	_, _ = in.Write([]byte("\n"))
	rest := make([]byte, 4096)
	n, _ := stdout.Read(rest)
	require.Contains(t, string(rest[:n]), " one (ED25519)")
	require.NoError(t, first.Wait())
	noTunnel(t, m)
}

// A forward that sshd refuses, and a machine that is not reached, are fatal, with
// ssh's own words, and the container never starts (R7.7).
func TestMachineRefuses(t *testing.T) {
	m := newMachine(t, "AllowStreamLocalForwarding no\n")
	r := m.bash(t, "echo started")
	require.Equal(t, 44, r.code)
	require.Empty(t, r.out)
	require.Contains(t, r.err, "cannot tunnel the ssh agent into the podman machine: ssh ended early")
	require.Contains(t, r.err, "forward")
	require.Contains(t, r.err, "hint: is the machine running? podman machine start")
	noTunnel(t, m)

	_ = m.sshd.Process.Kill()
	_ = m.sshd.Wait()
	r = m.bash(t, "echo started")
	require.Equal(t, 44, r.code)
	require.Empty(t, r.out)
	require.Contains(t, r.err, "cannot remove a stale socket from the podman machine")
	noTunnel(t, m)
}

// A signal ends the tunnel with the sandbox, and the socket goes (R7.9, R7.10).
func TestMachineSignal(t *testing.T) {
	m := newMachine(t, "")
	cmd := m.command("run", "--command", "bash", "--", "-c", `trap 'exit 3' TERM; `+waiting)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = stdout.Read(make([]byte, 8))
	require.NoError(t, err)
	for range 3 {
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	_ = cmd.Wait()
	require.NotZero(t, cmd.ProcessState.ExitCode())
	noTunnel(t, m)
}

// noTunnel holds that no ssh process of this machine's tunnel is left, nor its socket.
func noTunnel(t *testing.T, m *machine) {
	t.Helper()
	eventually(t, 5*time.Second, func() error {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			text, _ := os.ReadFile(file)
			line := strings.ReplaceAll(string(text), "\x00", " ")
			if strings.Contains(line, "-R /tmp/ssh-agent") && strings.Contains(line, m.root) {
				return fmt.Errorf("a tunnel is left: %s", line)
			}
		}
		return nil
	})
	require.NoFileExists(t, "/tmp/ssh-agent.sock")
}

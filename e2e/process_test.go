//go:build unix

package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// Exit codes, of a launcher that became the client and of one that stayed.
func TestExitCodes(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		for _, tmp := range []string{"shared", "private"} {
			for _, code := range []int{0, 1, 42} {
				require.Equal(t, code, w.bash(t, "exit "+strconv.Itoa(code), "--tmp", tmp).code)
			}
			require.Equal(t, 137, w.bash(t, "kill -9 $$", "--tmp", tmp).code)
		}
		require.Equal(t, 127, w.run(t, "run", "--command", "no-such-agent").code)
	})
}

// The agent's arguments arrive as they are, in a real container, through su too.
func TestArguments(t *testing.T) {
	args := []string{"~", "~/x", "!", "it's", `"`, "$HOME", "`id`", "a\nb", "", "--", "-x", "{a,b}", "*", "é", `\`, "#c", "x=~/y", strings.Repeat("long ", 20000), strings.Repeat("l'ng ", 20000)}
	var want bytes.Buffer
	for _, arg := range args {
		fmt.Fprintf(&want, "%s\x00", arg)
	}
	engines(t, func(t *testing.T, w *world) {
		for _, mapped := range []string{"0", "1"} {
			for _, n := range []int{len(args) - 2, len(args)} { // quoted in the script, and behind it
				r := w.set("SANDBOX_SET_UID_GID="+mapped).run(t, append([]string{"run", "--command", "printf", "--", `%s\0`}, args[:n]...)...)
				require.Zero(t, r.code, r.err)
				require.Equal(t, want.String()[:len(r.out)], r.out)
				require.Equal(t, n, strings.Count(r.out, "\x00"))
			}
		}
	})
}

// Limits as the kernel has them.
func TestLimits(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		if rootless(w.engine) {
			t.Skip("whether a user may set limits depends on what systemd delegates")
		}
		read := `v() { for f in "$@"; do if [ -r "$f" ]; then cat "$f"; return; fi; done; echo none; }
			v /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes
			v /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max
			v /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us`
		out := strings.Split(w.ok(t, read, "--memory", "256m", "--pids", "77", "--cpus", "0.5"), "\n")
		require.Equal(t, strconv.Itoa(256<<20), out[0])
		require.Equal(t, "77", out[1])
		require.Contains(t, []string{"50000 100000", "50000"}, out[2])
	})
}

// --network off really has no way out.
func TestNetworkOff(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		out := w.ok(t, `ip route | wc -l; ip -o link | grep -vc ' lo:' || true`, "--network", "off")
		require.Equal(t, "0\n0\n", strings.ReplaceAll(out, " ", ""))
	})
}

// A port is reachable from the host though the server inside listens on loopback only.
func TestPorts(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		port := listener.Addr().(*net.TCPAddr).Port
		require.NoError(t, listener.Close())
		cmd := w.command("run", "--port", fmt.Sprintf("%d:8080", port), "--command", "socat", "--", "TCP4-LISTEN:8080,bind=127.0.0.1,fork", "SYSTEM:echo hello")
		require.NoError(t, cmd.Start())
		defer func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }()
		eventually(t, 10*time.Second, func() error {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				return err
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Second))
			if text, _ := io.ReadAll(conn); string(text) != "hello\n" {
				return fmt.Errorf("the port answered %q", text)
			}
			return nil
		})
	})
}

// The container has a terminal under a pty, and none in a pipe.
func TestTerminal(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		require.Equal(t, "no\n", w.ok(t, `[ -t 0 ] || [ -t 1 ] || echo no`))
		cmd := w.command("run", "--command", "bash", "--", "-c", `[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all; exit 7`)
		out, code := inTerminal(t, cmd, nil)
		require.Contains(t, out, "all\r\n")
		require.Equal(t, 7, code)
	})
}

// inTerminal runs a command under a pseudo-terminal; during, if any, is called with it.
func inTerminal(t *testing.T, cmd *exec.Cmd, during func(terminal *os.File, seen func() string)) (string, int) {
	t.Helper()
	blocking, err := pty.Start(cmd)
	require.NoError(t, err)
	// A descriptor that Go polls, so that closing it is not put off by a read.
	fd, err := syscall.Dup(int(blocking.Fd()))
	require.NoError(t, err)
	require.NoError(t, blocking.Close())
	require.NoError(t, syscall.SetNonblock(fd, true))
	syscall.CloseOnExec(fd)
	terminal := os.NewFile(uintptr(fd), "terminal")
	defer terminal.Close()
	var mu sync.Mutex
	var out bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := terminal.Read(buf)
			mu.Lock()
			out.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	seen := func() string { mu.Lock(); defer mu.Unlock(); return out.String() }
	if during != nil {
		during(terminal, seen)
	}
	_ = cmd.Wait()
	<-done
	code := cmd.ProcessState.ExitCode()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return seen(), code
}

const waiting = `echo ready; sleep 60 & wait` // bash ends at a signal, once it is its turn

func ready(t *testing.T, seen func() string) {
	eventually(t, 20*time.Second, func() error {
		if !strings.Contains(seen(), "ready") {
			return fmt.Errorf("the sandbox said %q", seen())
		}
		return nil
	})
}

// Ctrl-C, SIGTERM and SIGHUP under a terminal, where the engine's client passes no
// signal on, leave no container behind.
func TestSignalsInTerminal(t *testing.T) {
	for name, send := range map[string]func(*os.File, *os.Process){
		"ctrl-c":  func(tty *os.File, _ *os.Process) { _, _ = tty.Write([]byte{3}) },
		"sigterm": func(_ *os.File, p *os.Process) { _ = p.Signal(syscall.SIGTERM) },
		"sighup":  func(_ *os.File, p *os.Process) { _ = p.Signal(syscall.SIGHUP) },
		"sigint":  func(_ *os.File, p *os.Process) { _ = p.Signal(os.Interrupt) },
		"hang-up": func(tty *os.File, _ *os.Process) { _ = tty.Close() },
	} {
		want := map[string]int{"ctrl-c": 130, "sigterm": 143, "sighup": 129, "sigint": 130, "hang-up": 129}[name]
		t.Run(name, func(t *testing.T) {
			engines(t, func(t *testing.T, w *world) {
				cmd := w.command("run", "--command", "bash", "--", "-c", `trap 'exit 143' TERM; `+waiting)
				_, code := inTerminal(t, cmd, func(tty *os.File, seen func() string) {
					ready(t, seen)
					send(tty, cmd.Process)
				})
				if name == "sigint" && w.engine == "podman" {
					require.NotZero(t, code, "130, or what podman's client says when it is interrupted itself")
				} else {
					require.Equal(t, want, code)
				}
				w.noContainers(t)
			})
		})
	}
}

// The same without a terminal, for a launcher that became the client and one that stayed.
func TestSignalsInPipe(t *testing.T) {
	for _, tmp := range []string{"shared", "private"} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
			t.Run(fmt.Sprintf("%s %s", tmp, sig), func(t *testing.T) {
				engines(t, func(t *testing.T, w *world) {
					cmd := w.command("run", "--tmp", tmp, "--command", "bash", "--", "-c", `trap 'exit 3' INT TERM HUP; `+waiting)
					out, err := cmd.StdoutPipe()
					require.NoError(t, err)
					require.NoError(t, cmd.Start())
					line := make([]byte, 6)
					_, err = io.ReadFull(out, line)
					require.NoError(t, err)
					require.NoError(t, cmd.Process.Signal(sig))
					_ = cmd.Wait()
					codes := []int{3} // the agent's own
					if w.engine == "podman" {
						codes = append(codes, 128+int(sig)) // its client may give up on the container, which is ended by name then
					}
					require.Contains(t, codes, cmd.ProcessState.ExitCode())
					w.noContainers(t)
				})
			})
		}
	}
}

// An agent that ignores SIGTERM is stopped by name after the grace time.
func TestStubbornAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("takes the grace time")
	}
	engines(t, func(t *testing.T, w *world) {
		t.Parallel()
		cmd := w.command("run", "--tmp", "private", "--command", "bash", "--", "-c", `trap '' INT TERM HUP; echo ready; while :; do sleep 1; done`)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.ReadFull(out, make([]byte, 6))
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		_ = cmd.Wait()
		require.NotZero(t, cmd.ProcessState.ExitCode())
		w.noContainers(t)
		left, _ := filepath.Glob(filepath.Join(w.home, ".local/state/llxsandbox/tmp/*"))
		require.Empty(t, left)
	})
}

// Ten launches at once all start, each under a name of its own.
func TestTenAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		var wait sync.WaitGroup
		results := make([]result, 10)
		for i := range results {
			wait.Go(func() {
				results[i] = finish(t, w.command("run", "--command", "bash", "--", "-c", "echo $SANDBOX; sleep 2"))
			})
		}
		wait.Wait()
		names := map[string]bool{}
		for _, r := range results {
			require.Zero(t, r.code, r.err)
			names[r.out] = true
		}
		require.Len(t, names, 10)
	})
}

// No process of the host shows a secret in its command line while the sandbox runs,
// and the sandbox has it.
func TestSecretInNoProcessList(t *testing.T) {
	const secret = "s3cret-value-of-the-test"
	engines(t, func(t *testing.T, w *world) {
		w = w.set("GEMINI_API_KEY="+secret, "SANDBOX_ENV=MY_TOKEN="+secret)
		for _, tmp := range []string{"shared", "private"} {
			cmd := w.command("run", "--verbose", "--tmp", tmp, "--command", "bash", "--", "-c", `[ "$GEMINI_API_KEY$MY_TOKEN" = "`+strings.ToUpper(secret)+`" ]; echo ready; read -r _; printf %s "$GEMINI_API_KEY$MY_TOKEN"`)
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			var out, errs bytes.Buffer
			var mu sync.Mutex
			cmd.Stdout, cmd.Stderr = &locked{mu: &mu, w: &out}, &errs
			require.NoError(t, cmd.Start())
			ready(t, func() string { mu.Lock(); defer mu.Unlock(); return out.String() })
			lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
			require.NoError(t, err)
			require.NotEmpty(t, lines)
			for _, file := range lines {
				text, _ := os.ReadFile(file)
				require.NotContains(t, string(text), secret, file)
			}
			_, _ = in.Write([]byte("\n"))
			require.NoError(t, cmd.Wait())
			require.Equal(t, "ready\n"+secret+secret, out.String())
			require.NotContains(t, errs.String(), secret)
		}
	})
}

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// Attempts to break out, kept as a test: no capability, no new privilege, no mount, no
// device, nothing of the host but what was mounted.
func TestBreakOut(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		for _, mapped := range []string{"0", "1"} {
			out := w.set("SANDBOX_SET_UID_GID="+mapped).ok(t, `
				grep -E '^(CapBnd|NoNewPrivs)' /proc/self/status
				mount -t tmpfs none /mnt 2>/dev/null && echo mounted
				mknod /tmp/sda b 8 0 2>/dev/null && echo device
				chroot / true 2>/dev/null && echo chroot
				echo x 2>/dev/null >/proc/sys/kernel/core_pattern && echo core_pattern
				ls /proc/1/root/home 2>/dev/null | grep -q . && [ -e /proc/1/root/`+binary+` ] && echo host
				[ -e `+binary+` ] && echo binary
				true`)
			bound := "CapBnd:\t0000000000000000"
			if mapped == "1" {
				bound = "CapBnd:\t00000000000000c1" // CHOWN, SETGID, SETUID
			}
			require.Equal(t, bound+"\nNoNewPrivs:\t1\n", out)
		}
	})
}

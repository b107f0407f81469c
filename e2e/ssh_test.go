//go:build unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// agent starts a real ssh-agent as the world's user, with two keys, and returns their
// fingerprints and the public key files.
func agent(t *testing.T, w *world) (socket string, prints, public []string) {
	socket = filepath.Join(w.root, "agent.sock")
	cmd := exec.Command("ssh-agent", "-D", "-a", socket)
	cmd.Env, cmd.SysProcAttr = w.env, w.command("x").SysProcAttr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, 5*time.Second, func() error { _, err := os.Stat(socket); return err })
	for _, name := range []string{"one", "two"} {
		key := filepath.Join(w.work, name)
		for _, args := range [][]string{{"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key}, {"ssh-add", "-q", key}} {
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Env = append(w.env, "SSH_AUTH_SOCK="+socket) // as root: the user has no name, which they insist on
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
		}
		require.NoError(t, os.Remove(key)) // only the agent has it now
		out, err := exec.Command("ssh-keygen", "-lf", key+".pub").Output()
		require.NoError(t, err)
		prints = append(prints, strings.Fields(string(out))[1])
		public = append(public, key+".pub")
	}
	return socket, prints, public
}

// The host's agent answers inside, lists its keys and signs: for the host's user by a
// direct mount (R5), for another one by the relay.
func TestSSHAgent(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		if w.engine == "docker" && os.Getuid() == 0 {
			w.user(t, 1234)
		}
		socket, prints, public := agent(t, w)
		w = w.set("SANDBOX_SSH_AGENT=auto", "SSH_AUTH_SOCK="+socket)
		w.file(t, ".ssh/known_hosts", "host key\n")
		for _, mapped := range []string{"0", "1"} {
			w := w.set("SANDBOX_SET_UID_GID=" + mapped)
			out := w.ok(t, `ssh-add -l; echo $SSH_AUTH_SOCK; cat ~/.ssh/known_hosts; ls ~/.ssh
				cat `+public[0]+` >/dev/null && echo data | ssh-keygen -Y sign -n test -f `+public[0]+` 2>/dev/null`)
			require.Contains(t, out, prints[0])
			require.Contains(t, out, prints[1])
			require.Contains(t, out, "\n/ssh-agent\nhost key\nknown_hosts\n")
			require.Contains(t, out, "BEGIN SSH SIGNATURE")
			verify(t, w, public[0], out)
		}
		require.Contains(t, w.run(t, "print-args").out, "ssh-agent-relay")
		left, _ := filepath.Glob(filepath.Join(w.root, "run/llxsandbox/*.sock"))
		require.Empty(t, left)
	})
}

// verify checks a signature of "data\n" in out with ssh-keygen on the host.
func verify(t *testing.T, w *world, public, out string) {
	key, err := os.ReadFile(public)
	require.NoError(t, err)
	allowed, signature := filepath.Join(w.root, "allowed"), filepath.Join(w.root, "signature")
	require.NoError(t, os.WriteFile(allowed, append([]byte("ada "), key...), 0o644))
	require.NoError(t, os.WriteFile(signature, []byte(out[strings.Index(out, "-----BEGIN"):]), 0o644))
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "ada", "-n", "test", "-s", signature)
	cmd.Stdin = strings.NewReader("data\n")
	r := finish(t, cmd)
	require.Zero(t, r.code, r.out+r.err)
}

// The key filter: one key is listed and signs, the other does neither, and the agent
// can't be changed; each signature is a line of the log.
func TestSSHAgentKeyFilter(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		socket, prints, public := agent(t, w)
		w = w.set("SANDBOX_SSH_AGENT=on", "SSH_AUTH_SOCK="+socket)
		r := w.bash(t, `ssh-add -l
			echo data | ssh-keygen -Y sign -n test -f `+public[1]+` 2>/dev/null && echo signed-with-two
			ssh-add -D >/dev/null 2>&1 && echo removed
			ssh-keygen -q -t ed25519 -N '' -f /tmp/new && ssh-add /tmp/new 2>/dev/null && echo added
			echo data | ssh-keygen -Y sign -n test -f `+public[0]+` 2>/dev/null`, "--ssh-agent-key", prints[0], "--verbose")
		require.Zero(t, r.code, r.err)
		require.Contains(t, r.out, prints[0])
		require.NotContains(t, r.out, prints[1])
		for _, word := range []string{"signed-with-two", "removed", "added"} {
			require.NotContains(t, r.out, word)
		}
		verify(t, w, public[0], r.out)
		require.Equal(t, 1, strings.Count(r.err, "ssh agent: signed with "+prints[0]), r.err)
		out, err := exec.Command("env", "SSH_AUTH_SOCK="+socket, "ssh-add", "-l").Output()
		require.NoError(t, err)
		require.Equal(t, 2, strings.Count(string(out), "\n"), "the agent still holds both")
	})
}

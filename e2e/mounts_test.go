//go:build unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Read-only really refuses writes, and what must not be there is not (R3.5, R3.7).
func TestMounts(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		w.file(t, ".gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n")
		w.file(t, ".config/git/config", "[alias]\n\tst = status\n")
		w.file(t, ".gitignore_global", "*.swp\n")
		w.file(t, ".git-credentials", "https://ada:secret@example.com\n")
		w.file(t, ".ssh/id_ed25519", "secret\n")
		w.file(t, ".ssh/known_hosts", "host key\n")
		w.file(t, ".config/gcloud/c", "x\n")
		ro, rw := w.file(t, "ro/f", "1\n"), w.file(t, "rw/f", "1\n")
		require.NoError(t, os.Chmod(rw, 0o666))
		require.NoError(t, os.Chmod(ro, 0o666))
		w.file(t, "proj/in", "x")
		require.NoError(t, os.Chmod(w.work, 0o777))
		out := w.set("SANDBOX_MOUNTS="+filepath.Dir(ro)+":/mnt/ro,"+filepath.Dir(rw)+":/mnt/rw:rw").ok(t, `
			for f in "$H/.gitconfig" ~/.gitconfig ~/.config/git/config ~/.gitignore_global "$H/.config/gcloud/c" /mnt/ro/f; do
				cat "$f" >/dev/null || echo "not readable: $f"
				if { echo x >>"$f"; } 2>/dev/null; then echo "writable: $f"; fi
			done
			touch /mnt/ro/new 2>&1 | grep -o 'Read-only file system'
			for f in "$H/.git-credentials" ~/.git-credentials "$H/.ssh" ~/.ssh /var/run/docker.sock /run/podman/podman.sock; do
				if [ -e "$f" ]; then echo "there: $f"; fi
			done
			echo more >>/mnt/rw/f && touch made && git config user.name
			pwd`, "--env", "H="+w.home)
		require.Equal(t, "Read-only file system\nAda\n"+w.work+"\n", out)
		text, err := os.ReadFile(rw)
		require.NoError(t, err)
		require.Equal(t, "1\nmore\n", string(text))
		require.FileExists(t, filepath.Join(w.work, "made"))
		require.DirExists(t, filepath.Join(w.home, ".llxprt"))
	})
}

// What is made inside belongs to the host's user, and a commit is on the host.
func TestOwnership(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		uid := os.Getuid()
		if w.engine == "docker" && uid == 0 {
			uid = 1234
		}
		w.file(t, ".gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n")
		w.file(t, ".config/git/config", "")
		require.NoError(t, exec.Command("git", "init", "-q", w.work).Run())
		if uid != os.Getuid() {
			w.user(t, uid)
		}
		w = w.set("SANDBOX_SET_UID_GID=1")
		require.Equal(t, "written\n", w.ok(t, `mkdir -p ~/.cache/x ~/.config/y && touch ~/.cache/x/f && echo written`), "the home inside is the user's")
		require.NoDirExists(t, filepath.Join(w.home, ".cache", "x"), "and not the host's")
		out := w.ok(t, `id -u; id -g; echo "$HOME"; echo x >f; mkdir d; git add f && git commit -qm "from inside" && git log --format=%an:%s`)
		require.Equal(t, strconv.Itoa(uid)+"\n"+strconv.Itoa(gid(w))+"\n"+w.home+"\nAda:from inside\n", out)
		for _, name := range []string{"f", "d", ".git/HEAD", ".git/COMMIT_EDITMSG"} {
			info, err := os.Stat(filepath.Join(w.work, name))
			require.NoError(t, err)
			require.EqualValues(t, uid, info.Sys().(*syscall.Stat_t).Uid, name)
		}
		r := finish(t, exec.Command("git", "-c", "safe.directory=*", "-C", w.work, "log", "--format=%s"))
		require.Equal(t, "from inside\n", r.out, r.err)
	})
}

func gid(w *world) int {
	if w.as != nil {
		return int(w.as.Gid)
	}
	return os.Getgid()
}

// A home with a blank and a quote works in a real container (defect 10).
func TestHomeWithBlank(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		home := filepath.Join(w.root, "ada's home")
		require.NoError(t, os.Mkdir(home, 0o755))
		out := w.set("HOME="+home, "SANDBOX_SET_UID_GID=1").ok(t, `echo "$HOME"`)
		require.Equal(t, home+"\n", out)
	})
}

// A linked worktree: git inside works, and gc forgets none of the host's worktrees.
func TestWorktree(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		main := filepath.Join(w.home, "main")
		git := func(args ...string) {
			out, err := exec.Command("git", args...).CombinedOutput()
			require.NoError(t, err, string(out))
		}
		git("init", "-q", main)
		git("-C", main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
		git("-C", main, "worktree", "add", "-q", filepath.Join(w.home, "one"))
		git("-C", main, "worktree", "add", "-q", filepath.Join(w.home, "two"))
		w.work = filepath.Join(w.home, "one")
		out := w.set("SANDBOX_SET_UID_GID=1").ok(t, `git -c safe.directory='*' log --format=%s && git -c safe.directory='*' gc -q --prune=now`)
		require.Equal(t, "first\n", out)
		git("-C", filepath.Join(w.home, "two"), "status")
	})
}

// The project's Python environment is replaced, the host's is untouched.
func TestVirtualEnv(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		w.file(t, "proj/.venv/host", "x")
		w = w.set("SANDBOX_SET_UID_GID=1", "VIRTUAL_ENV="+filepath.Join(w.work, ".venv"))
		require.Equal(t, "", w.ok(t, `ls .venv`))
		require.DirExists(t, filepath.Join(w.work, ".llxprt", "sandbox.venv"))
		require.FileExists(t, filepath.Join(w.work, ".venv", "host"))
	})
}

// A private temp directory hides the host's, is writable and goes away.
func TestPrivateTemp(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		shared := filepath.Join(w.root, "tmp")
		require.NoError(t, os.WriteFile(filepath.Join(shared, "secret"), nil, 0o644))
		require.Equal(t, "secret\n", w.ok(t, `ls `+shared))
		for _, mapped := range []string{"0", "1"} {
			out := w.set("SANDBOX_SET_UID_GID="+mapped).ok(t, `ls `+shared+`; touch `+shared+`/mine && ls `+shared, "--tmp", "private")
			require.Equal(t, "mine\n", out)
		}
		left, err := filepath.Glob(filepath.Join(w.home, ".local/state/llxsandbox/tmp/*"))
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoFileExists(t, filepath.Join(shared, "mine"))
	})
}

// What the environment inside promises (R2.1, section 19), and nothing more.
func TestEnvironment(t *testing.T) {
	engines(t, func(t *testing.T, w *world) {
		w = w.set("GEMINI_API_KEY=k", "GOOGLE_CLOUD_PROJECT=p", "COLORTERM=truecolor", "TERM_PROGRAM=vscode", "OPENAI_API_KEY=o",
			"SANDBOX_ENV=A=1,B=two words", "NODE_OPTIONS=--a --b", "PYTHONPATH="+w.work+"/src", "PASSED=x y", "HOSTONLY=1")
		out := w.ok(t, `env`, "--env", "PASSED")
		lines := strings.Split(out, "\n")
		for _, want := range []string{
			"GEMINI_API_KEY=k", "GOOGLE_CLOUD_PROJECT=p", "TERM=xterm", "COLORTERM=truecolor", "TERM_PROGRAM=vscode",
			"GIT_DISCOVERY_ACROSS_FILESYSTEM=1", "A=1", "B=two words", "NODE_OPTIONS=--a --b", "PYTHONPATH=" + w.work + "/src", "PASSED=x y",
		} {
			require.Contains(t, lines, want)
		}
		require.NotContains(t, out, "OPENAI_API_KEY")
		require.NotContains(t, out, "HOSTONLY")
		require.Regexp(t, `(?m)^SANDBOX=llxsandbox-demo-latest-\d+$`, out)
	})
}

package platform

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/llxsandbox/llxsandbox/argv"
)

func FuzzOSRelease(f *testing.F) {
	for _, seed := range []string{"ID=debian\n", `ID="ubuntu"`, "ID_LIKE='ubuntu debian'", "ID", "=", "\x00ID=debian", "# ID=debian"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := ParseOSRelease(text)
		for _, word := range r.IDLike {
			require.NotEmpty(t, word)
		}
		_ = r.Debian()
	})
}

func TestDebianByWholeWords(t *testing.T) {
	for text, want := range map[string]bool{
		"ID=debian": true, "ID=\"ubuntu\"": true, "ID=mint\nID_LIKE=\"ubuntu debian\"": true, "NAME=debian\nID=x": false,
		"ID=debianish": false, "ID_LIKE=not-debian": false, "": false, "VARIANT_ID=debian": false,
	} {
		require.Equal(t, want, ParseOSRelease(text).Debian(), text)
	}
}

func FuzzSettings(f *testing.F) {
	for _, seed := range []string{`{"sandbox":true}`, `{"sandbox":"docker",} // c`, `{`, `[]`, `null`, `{"sandbox":1}`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := string(text)
		_, _ = ParseSandboxSetting(text)
		require.Equal(t, before, string(text), "the text is left alone")
	})
}

func FuzzFacts(f *testing.F) {
	f.Add([]byte(`{"os":"linux","home":"/h","workDir":"/w","tempDir":"/t","runtimeDir":"/r","stateDir":"/s"}`))
	f.Add([]byte(`{"os":"plan9"}`))
	f.Add([]byte(`{} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		facts, err := ReadFacts(data)
		if err != nil {
			return
		}
		text, err := facts.JSON()
		require.NoError(t, err)
		again, err := ReadFacts(text)
		require.NoError(t, err)
		second, err := again.JSON()
		require.NoError(t, err)
		require.Equal(t, string(text), string(second))
	})
}

func FuzzGitFiles(f *testing.F) {
	f.Add("gitdir: /x", "[core]\n\tworktree = ../x")
	f.Add("gitdir: ", "[Core]\nworktree=\"a\"")
	f.Fuzz(func(t *testing.T, file, config string) {
		_ = ParseGitFile(file)
		_ = ParseCoreWorktree(config)
		_, _ = ParseDotEnv(file, "A")
		_ = ParseDockerContext([]byte(config))
	})
}

func TestAskFilesEachAnswer(t *testing.T) {
	h := Host{Ask: func(_ context.Context, c argv.Cmd) Answer {
		switch c.Args[1] {
		case "images":
			return Answer{Stdout: "0123\n0123\n"}
		case "ps":
			return Answer{Stdout: "a-0\nb\n"}
		case "-l":
			return Answer{Code: 1, Stdout: "The agent has no identities.\n"}
		}
		return Answer{Code: 1, Stderr: "Error: no\n"}
	}}
	var f Facts
	f.Ask(context.Background(), h, append(EngineQuestions(Docker, "x"), KeysQuestion()))
	f.Ask(context.Background(), h, []Question{NetworksQuestion(Podman)})
	require.Equal(t, Engine{Name: Docker, ImageID: "0123", Containers: []string{"a-0", "b"}}, f.Engine(Docker))
	require.Equal(t, "Error: no", f.Engine(Podman).Problem)
	require.Equal(t, SSHAgent{Asked: true}, f.SSHAgent)
}

func TestGatherFindsTheWorld(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"TMPDIR": dir + "/", "XDG_STATE_HOME": dir, "XDG_RUNTIME_DIR": dir + "/none"}
	t.Setenv("HOME", dir+"/")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	f, err := Gather(Host{LookPath: func(p string) bool { return p == Podman }}, func(n string) string { return env[n] }, filepath.Join(dir, "link"))
	require.NoError(t, err)
	require.Equal(t, dir, f.Home)
	require.Equal(t, dir, f.TempDir)
	require.Equal(t, filepath.Join(dir, "real"), f.WorkDir, "as a process would see it")
	require.Equal(t, filepath.Join(dir, "llxsandbox", "run"), f.RuntimeDir, "a session directory that does not exist is not used")
	require.Equal(t, []string{Podman}, f.Programs)
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	f.Look([]string{dir, filepath.Join(dir, "dangling"), filepath.Join(dir, "link"), dir})
	require.Equal(t, []Path{{dir, Dir}, {filepath.Join(dir, "dangling"), Missing}, {filepath.Join(dir, "link"), Dir}}, f.Paths)
	_, err = Gather(Host{LookPath: func(string) bool { return false }}, func(string) string { return "" }, filepath.Join(dir, "nope"))
	require.Error(t, err)
}

func FuzzConnections(f *testing.F) {
	for _, seed := range []string{`[]`, `null`, `{}`, `[{"Name":"m","URI":"ssh://core@127.0.0.1:1/x","Default":true}]`, `[{`, `[1]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseConnections(text)
		if err == nil {
			require.NotNil(t, list)
		}
	})
}

// What comes out of a URI cannot be taken for an option of ssh, or for another host.
func FuzzSSHURI(f *testing.F) {
	for _, seed := range []string{"ssh://core@127.0.0.1:53685/run/x.sock", "ssh://core@[::1]/x", "ssh://-oProxyCommand=x@h/", "ssh://a@-h/", "ssh://u%20v@h", "ssh://u@h:0", "unix:///x", "", "ssh://@h", "ssh://u@h:99999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseSSHURI(text)
		if err != nil {
			return
		}
		require.True(t, 1 <= a.Port && a.Port <= 65535)
		for _, part := range []string{a.User, a.Host} {
			require.NotEmpty(t, part)
			require.NotEqual(t, byte('-'), part[0])
			require.NotContains(t, part, "@")
			require.NotContains(t, part, " ")
		}
	})
}

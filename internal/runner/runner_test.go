//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/llxsandbox/llxsandbox/argv"
)

// bench is a runner on files, with short limits and signals that a test sends.
type bench struct {
	*Runner
	dir    string
	send   chan os.Signal
	said   []string
	warned []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir()}
	signals, send := fakeSignals()
	b.send = send
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	out, err := os.Create(filepath.Join(b.dir, "out"))
	require.NoError(t, err)
	errs, err := os.Create(filepath.Join(b.dir, "err"))
	require.NoError(t, err)
	b.Runner = &Runner{
		Stdin: null, Stdout: out, Stderr: errs, Signals: signals,
		Say: func(s string) { b.said = append(b.said, s) }, Warn: func(s string) { b.warned = append(b.warned, s) },
		limits: limits{ask: 300 * time.Millisecond, grace: 200 * time.Millisecond, end: 200 * time.Millisecond, undo: 300 * time.Millisecond},
	}
	return b
}

// fakeSignals are Signals that come from a channel instead of the system.
func fakeSignals() (*Signals, chan os.Signal) {
	send := make(chan os.Signal)
	s := newSignals(send)
	return s, send
}

func (b *bench) text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	require.NoError(t, err)
	return string(data)
}

// sh is a shell command in the bench's directory.
func (b *bench) sh(script string) *argv.Cmd {
	return &argv.Cmd{Args: []string{"sh", "-c", script}, Dir: b.dir}
}

func (b *bench) undo(word string) []argv.Cmd { return []argv.Cmd{*b.sh("echo " + word + " >>undone")} }

func plan(steps ...argv.Step) argv.Plan {
	for i := range steps {
		if steps[i].Why == "" {
			steps[i].Why = fmt.Sprintf("do step %d", i)
		}
	}
	return argv.Plan{Steps: steps}
}

func TestKindsInOrder(t *testing.T) {
	b := newBench(t)
	code, err := b.Run(plan(
		argv.Step{Kind: argv.Mkdir, Path: b.dir + "/d/e"},
		argv.Step{Kind: argv.Write, Path: b.dir + "/own/f", Text: "text"},
		argv.Step{Kind: argv.Run, Cmd: b.sh("echo progress; echo run >>log")},
		argv.Step{Kind: argv.Start, Cmd: b.sh("echo started >>log; touch up; sleep 60")},
		argv.Step{Kind: argv.Poll, Cmd: b.sh("test -e up"), Every: 5, Within: 5000},
		argv.Step{Kind: argv.Main, Cmd: b.sh("echo main >>log; echo $X; exit 42"), Undo: b.undo("main")},
	))
	require.NoError(t, err)
	require.Equal(t, 42, code)
	require.Equal(t, "run\nstarted\nmain\n", b.text(t, "log"))
	require.Equal(t, "\n", b.text(t, "out"), "standard output belongs to the main command")
	require.Equal(t, "progress\n", b.text(t, "err"))
	for path, mode := range map[string]os.FileMode{"d": 0o700, "d/e": 0o700, "own": 0o700, "own/f": 0o600} {
		info, err := os.Stat(filepath.Join(b.dir, path))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
}

func TestUndoLastInFirstOutOnce(t *testing.T) {
	for name, last := range map[string]func(b *bench) argv.Step{
		"main ends": func(b *bench) argv.Step { return argv.Step{Kind: argv.Main, Cmd: b.sh("exit 3"), Undo: b.undo("last")} },
		"run fails": func(b *bench) argv.Step { return argv.Step{Kind: argv.Run, Cmd: b.sh("exit 3"), Undo: b.undo("last")} },
		"poll fails": func(b *bench) argv.Step {
			return argv.Step{Kind: argv.Poll, Cmd: b.sh("exit 3"), Every: 5, Within: 50, Undo: b.undo("last")}
		},
		"no program": func(b *bench) argv.Step {
			return argv.Step{Kind: argv.Main, Cmd: &argv.Cmd{Args: []string{"/no/such/program"}}, Undo: b.undo("last")}
		},
		"signal": func(b *bench) argv.Step {
			go func() {
				for !exists(b.dir + "/here") {
					time.Sleep(time.Millisecond)
				}
				b.send <- syscall.SIGTERM
				b.send <- syscall.SIGHUP
				b.send <- os.Interrupt
			}()
			return argv.Step{Kind: argv.Main, Cmd: b.sh("touch here; exec sleep 60"), Undo: b.undo("last")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			_, _ = b.Run(plan(
				argv.Step{Kind: argv.Run, Cmd: b.sh("true"), Undo: b.undo("one")},
				argv.Step{Kind: argv.Run, Cmd: b.sh("true"), Undo: append(b.undo("two-a"), b.undo("two-b")...)},
				last(b),
			))
			require.Equal(t, "last\ntwo-a\ntwo-b\none\n", b.text(t, "undone"))
		})
	}
}

func TestFailureSaysWhyWhatAndHint(t *testing.T) {
	b := newBench(t)
	_, err := b.Run(plan(argv.Step{Kind: argv.Run, Why: "pull it", Cmd: b.sh("exit 3"), Hint: "look"}))
	var fatal *argv.Fatal
	require.ErrorAs(t, err, &fatal)
	require.Equal(t, "cannot pull it: sh: exit status 3", fatal.Text)
	require.Equal(t, "look", fatal.Hint)

	_, err = b.Run(plan(argv.Step{Kind: argv.Run, Why: "pull it", Cmd: b.sh("exit 3"), Failure: "it is missing."}))
	require.EqualError(t, err, "cannot pull it: it is missing.")

	_, err = b.Run(plan(argv.Step{Kind: argv.Main, Why: "go", Cmd: &argv.Cmd{Args: []string{"no-such-program"}}}))
	require.EqualError(t, err, "cannot go: no-such-program: not found on PATH")

	_, err = b.Run(plan(argv.Step{Kind: argv.Run, Why: "see it", Cmd: b.sh("true"), Output: argv.NonEmpty}))
	require.EqualError(t, err, "cannot see it: sh: it found nothing")
	_, err = b.Run(plan(argv.Step{Kind: argv.Run, Why: "see it", Cmd: b.sh("echo yes"), Output: argv.NonEmpty}))
	require.NoError(t, err)
	require.Empty(t, b.text(t, "err"), "an answer is not shown")
}

func TestMayFailIsAWarning(t *testing.T) {
	b := newBench(t)
	code, err := b.Run(plan(
		argv.Step{Kind: argv.Run, Why: "try", Cmd: b.sh("exit 3"), MayFail: true},
		argv.Step{Kind: argv.Main, Cmd: b.sh("exit 4")},
	))
	require.NoError(t, err)
	require.Equal(t, 4, code)
	require.Equal(t, []string{"cannot try: sh: exit status 3"}, b.warned)
}

func TestPollReportsTheLastTryThatFinished(t *testing.T) {
	b := newBench(t)
	_, err := b.Run(plan(argv.Step{Kind: argv.Poll, Why: "wait for it", Every: 5, Within: 300,
		Cmd: b.sh("test -e again && sleep 60; touch again; echo not yet >&2; exit 7")}))
	var fatal *argv.Fatal
	require.ErrorAs(t, err, &fatal)
	require.Equal(t, "cannot wait for it: sh: not ready after 300ms (exit status 7)", fatal.Text)
	require.Equal(t, "not yet", fatal.Words)
}

func TestPollEndsWithTheBackgroundProcess(t *testing.T) {
	b := newBench(t)
	begin := time.Now()
	_, err := b.Run(plan(
		argv.Step{Kind: argv.Start, Why: "run the helper", Cmd: b.sh("echo boom >&2; exit 5"), Hint: "look"},
		argv.Step{Kind: argv.Poll, Why: "wait for it", Cmd: b.sh("false"), Every: 5, Within: 30000},
	))
	var fatal *argv.Fatal
	require.ErrorAs(t, err, &fatal)
	require.Equal(t, "cannot run the helper: sh ended early (exit status 5)", fatal.Text)
	require.Equal(t, "boom", fatal.Words)
	require.Less(t, time.Since(begin), 10*time.Second)
}

func TestBackgroundIsEndedWithItsGroup(t *testing.T) {
	b := newBench(t)
	_, err := b.Run(plan(
		argv.Step{Kind: argv.Start, Cmd: b.sh(`trap "" TERM; sleep 60 & echo $! >child; echo $$ >self; wait; sleep 60`)},
		argv.Step{Kind: argv.Poll, Cmd: b.sh("test -s self"), Every: 5, Within: 5000},
		argv.Step{Kind: argv.Main, Cmd: b.sh("true")},
	))
	require.NoError(t, err)
	for _, name := range []string{"self", "child"} {
		var pid int
		_, err := fmt.Sscan(b.text(t, name), &pid)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return !alive(pid) }, 2*time.Second, 10*time.Millisecond, name)
	}
}

// alive tells whether a process is there and no zombie: a test has no init that would
// reap a grandchild.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

func TestBackgroundSeesTheLauncherGo(t *testing.T) {
	b := newBench(t)
	_, err := b.Run(plan(
		argv.Step{Kind: argv.Start, Cmd: b.sh(`trap "" TERM; cat >/dev/null; echo end of file >eof`)},
		argv.Step{Kind: argv.Main, Cmd: b.sh("true")},
	))
	require.NoError(t, err)
	require.Equal(t, "end of file\n", b.text(t, "eof"))
}

func TestLostBackgroundEndsTheMainCommand(t *testing.T) {
	b := newBench(t)
	begin := time.Now()
	stop := []argv.Cmd{*b.sh("echo stopped >>undone")}
	_, err := b.Run(plan(
		argv.Step{Kind: argv.Start, Why: "run the proxy", Cmd: b.sh("while ! test -e up; do sleep 0.01; done; echo gone >&2; exit 9")},
		argv.Step{Kind: argv.Main, Cmd: b.sh("touch up; sleep 60"), Stop: stop},
	))
	require.EqualError(t, err, "cannot run the proxy: sh ended early (exit status 9)")
	require.Equal(t, "stopped\n", b.text(t, "undone"))
	require.Less(t, time.Since(begin), 10*time.Second)

	b = newBench(t)
	code, err := b.Run(plan(
		argv.Step{Kind: argv.Start, Why: "relay", Cmd: b.sh("exit 9"), MayFail: true},
		argv.Step{Kind: argv.Main, Cmd: b.sh("sleep 0.3; exit 6"), Stop: stop},
	))
	require.NoError(t, err)
	require.Equal(t, 6, code)
	require.Equal(t, []string{"cannot relay: sh ended early (exit status 9)"}, b.warned)
}

func TestSignalInEveryPhase(t *testing.T) {
	phases := map[string]func(b *bench) []argv.Step{
		"run": func(b *bench) []argv.Step { return []argv.Step{{Kind: argv.Run, Cmd: b.sh("touch here; sleep 60")}} },
		"poll": func(b *bench) []argv.Step {
			return []argv.Step{{Kind: argv.Poll, Cmd: b.sh("touch here; false"), Every: 5, Within: 60000}}
		},
		"slow poll": func(b *bench) []argv.Step {
			return []argv.Step{{Kind: argv.Poll, Cmd: b.sh("touch here; sleep 60"), Every: 5, Within: 60000}}
		},
		"main": func(b *bench) []argv.Step {
			return []argv.Step{{Kind: argv.Main, Cmd: b.sh("touch here; exec sleep 60"), Stop: []argv.Cmd{*b.sh("echo stopped >>undone")}}}
		},
	}
	for name, steps := range phases {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
			t.Run(fmt.Sprintf("%s %s", name, sig), func(t *testing.T) {
				b := newBench(t)
				go func() {
					for b.text(t, "here") == "" && !exists(b.dir+"/here") {
						time.Sleep(time.Millisecond)
					}
					for range 3 { // many signals, one undo
						b.send <- sig
					}
				}()
				begin := time.Now()
				_, err := b.Run(plan(append([]argv.Step{{Kind: argv.Run, Cmd: b.sh("true"), Undo: b.undo("one")}}, steps(b)...)...))
				var signal *SignalError
				require.ErrorAs(t, err, &signal)
				require.Equal(t, 128+int(sig), signal.Code())
				require.Equal(t, "one\n", strings.TrimPrefix(b.text(t, "undone"), "stopped\n"))
				require.Less(t, time.Since(begin), 10*time.Second)
			})
		}
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func TestStubbornMainIsStoppedByNameThenKilled(t *testing.T) {
	b := newBench(t)
	go func() {
		for !exists(b.dir + "/here") {
			time.Sleep(time.Millisecond)
		}
		b.send <- syscall.SIGTERM
	}()
	_, err := b.Run(plan(argv.Step{Kind: argv.Main, Cmd: b.sh(`trap "" TERM; touch here; while :; do sleep 0.05; done`), Stop: []argv.Cmd{*b.sh("echo stopped >>undone")}}))
	var signal *SignalError
	require.ErrorAs(t, err, &signal)
	require.Equal(t, "stopped\n", b.text(t, "undone")[:8])
}

func TestMainThatHandlesTheSignalKeepsItsCode(t *testing.T) {
	b := newBench(t)
	go func() {
		for !exists(b.dir + "/here") {
			time.Sleep(time.Millisecond)
		}
		b.send <- syscall.SIGTERM
	}()
	// Stop fails, as for a container that is gone: the command ended by itself.
	code, err := b.Run(plan(argv.Step{Kind: argv.Main, Cmd: b.sh(`trap "exit 9" TERM; touch here; while :; do sleep 0.05; done`), Stop: []argv.Cmd{*b.sh("exit 1")}}))
	require.NoError(t, err)
	require.Equal(t, 9, code)
}

func TestTakenName(t *testing.T) {
	b := newBench(t)
	step := argv.Step{Kind: argv.Main, Cmd: b.sh(`echo "name is already in use" >&2; exit 125`), Taken: "already in use", Replace: true}
	_, err := b.Run(plan(step))
	var taken *argv.TakenError
	require.ErrorAs(t, err, &taken)
	require.Contains(t, b.text(t, "err"), "already in use", "passed on as well")
	step.Cmd = b.sh(`echo "already in use" >&2; exit 124`)
	code, err := b.Run(plan(step))
	require.NoError(t, err)
	require.Equal(t, 124, code)
}

func TestReplaceOnlyWhenNothingIsLeft(t *testing.T) {
	main := argv.Step{Kind: argv.Main, Cmd: &argv.Cmd{Args: []string{"true"}}, Replace: true}
	for name, c := range map[string]struct {
		plan argv.Plan
		want bool
	}{
		"alone":      {plan(main), true},
		"after run":  {plan(argv.Step{Kind: argv.Run, Cmd: &argv.Cmd{Args: []string{"true"}}}, main), true},
		"with start": {plan(argv.Step{Kind: argv.Start, Cmd: &argv.Cmd{Args: []string{"sleep", "60"}}}, main), false},
		"with undo":  {plan(argv.Step{Kind: argv.Run, Cmd: &argv.Cmd{Args: []string{"true"}}, Undo: []argv.Cmd{{Args: []string{"true"}}}}, main), false},
		"not asked":  {plan(argv.Step{Kind: argv.Main, Cmd: &argv.Cmd{Args: []string{"true"}}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			replaced := false
			b.Replace = func(argv.Cmd) error { replaced = true; return errors.New("back") }
			_, _ = b.Run(c.plan)
			require.Equal(t, c.want, replaced)
		})
	}
}

func TestAskIsBounded(t *testing.T) {
	b := newBench(t)
	_, _, _, err := b.Ask(context.Background(), *b.sh("sleep 60 & echo $! >child; sleep 60"))
	require.EqualError(t, err, "no answer within 300ms")
	var pid int
	_, err = fmt.Sscan(b.text(t, "child"), &pid)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return !alive(pid) }, 2*time.Second, 10*time.Millisecond, "what it started is ended too")
	out, errs, code, err := b.Ask(context.Background(), *b.sh("echo out; echo err >&2; exit 3"))
	require.NoError(t, err)
	require.Equal(t, "out\nerr\n3", fmt.Sprint(out, errs, code))
}

func TestSlowUndoIsBoundedAndSaid(t *testing.T) {
	b := newBench(t)
	_, err := b.Run(plan(argv.Step{Kind: argv.Run, Cmd: b.sh("true"), Undo: []argv.Cmd{*b.sh("sleep 60")}}))
	require.NoError(t, err)
	require.Len(t, b.warned, 1)
	require.Contains(t, b.warned[0], "left behind: (cd ")
}

func TestSecretsReachTheCommandOnly(t *testing.T) {
	b := newBench(t)
	b.Verbose = true
	cmd := b.sh("echo $KEY")
	cmd.Env = []argv.Var{{Name: "KEY", Secret: "s3cret"}}
	_, err := b.Run(plan(argv.Step{Kind: argv.Main, Cmd: cmd}))
	require.NoError(t, err)
	require.Equal(t, "s3cret\n", b.text(t, "out"))
	require.NotContains(t, strings.Join(b.said, "\n"), "s3cret")
}

func TestPrivateDirRefusesWhatIsNotOurs(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/tmp", filepath.Join(dir, "link")))
	require.Error(t, PrivateDir(filepath.Join(dir, "link")))
	open := filepath.Join(dir, "open")
	require.NoError(t, os.Mkdir(open, 0o755))
	require.NoError(t, os.Chmod(open, 0o777))
	require.NoError(t, PrivateDir(open))
	info, err := os.Stat(open)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(open, 1234, 1234))
		require.ErrorContains(t, PrivateDir(open), "belongs to another user")
	}
}

func TestWriteReplacesALinkInsteadOfFollowingIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "own")
	require.NoError(t, os.Mkdir(dir, 0o700))
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("keep"), 0o600))
	require.NoError(t, os.Symlink(victim, filepath.Join(dir, "f")))
	require.NoError(t, writeFile(filepath.Join(dir, "f"), "new"))
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "keep", string(text))
}

func TestReserve(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "names")
	free, err := Reserve(dir, "a-0")
	require.NoError(t, err)
	require.True(t, free)
	free, err = Reserve(dir, "a-0")
	require.NoError(t, err)
	require.False(t, free)
	free, err = Reserve(dir, "a-1")
	require.NoError(t, err)
	require.True(t, free)
}

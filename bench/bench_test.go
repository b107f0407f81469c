// Package bench_test measures what the launcher adds, in paired runs: one launch by
// llxsandbox, one by the very same command typed by hand, in turn, so that both see
// the same machine. `make bench` runs it; nothing here is asserted.
package bench_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const image = "llxsandbox-demo:latest"

var binary = sync(func() string {
	dir, err := os.MkdirTemp("", "llxbench-")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "llxsandbox")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return path
})

func sync(f func() string) func() string {
	var value string
	return func() string {
		if value == "" {
			value = f()
		}
		return value
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(filepath.Dir(binary()))
	os.Exit(code)
}

// BenchmarkRun is `llxsandbox run … true` against the same `docker run` by hand.
func BenchmarkRun(b *testing.B) {
	for _, engine := range []string{"docker", "podman"} {
		for _, kind := range []struct {
			name string
			env  []string
		}{
			{"plain", []string{"SANDBOX_SET_UID_GID=0"}},
			{"mapped", []string{"SANDBOX_SET_UID_GID=1"}},
		} {
			b.Run(engine+"/"+kind.name, func(b *testing.B) {
				if exec.Command(engine, "ps").Run() != nil {
					b.Skipf("%s is not there", engine)
				}
				if out, err := exec.Command("../scripts/demo-image.sh", engine, image).CombinedOutput(); err != nil {
					b.Fatal(string(out))
				}
				pair(b, engine, kind.env)
			})
		}
	}
}

func pair(b *testing.B, engine string, env []string) {
	home := b.TempDir()
	environ := append(os.Environ(), append(env, "HOME="+home, "TMPDIR="+home, "SANDBOX_SSH_AGENT=off", "XDG_RUNTIME_DIR="+home)...)
	args := []string{"--engine", engine, "--image", image, "--command", "true"}
	work := filepath.Join(home, "w")
	must(b, os.Mkdir(work, 0o755))
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = work, environ
		return cmd
	}
	must(b, command(binary(), append([]string{"run"}, args...)...).Run()) // what is made once
	out, err := command(binary(), append([]string{"print-args", "--format", "argv", "-0"}, args...)...).Output()
	must(b, err)
	byHand := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var ours, theirs []time.Duration
	for range 25 {
		theirs = append(theirs, timed(b, command(byHand[0], byHand[1:]...)))
		ours = append(ours, timed(b, command(binary(), append([]string{"run"}, args...)...)))
	}
	report(b, ours, theirs)
}

func timed(b *testing.B, cmd *exec.Cmd) time.Duration {
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return time.Since(begin)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func report(b *testing.B, ours, theirs []time.Duration) {
	a, c := median(ours), median(theirs)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(a)/float64(c), "ratio")
	b.ReportMetric(float64((a-c).Microseconds())/1000, "added-ms")
	b.ReportMetric(float64(c.Microseconds())/1000, "by-hand-ms")
}

// BenchmarkPrintArgs is print-args from a facts file, as a whole process.
func BenchmarkPrintArgs(b *testing.B) {
	file := filepath.Join(b.TempDir(), "facts.json")
	must(b, os.WriteFile(file, []byte(`{"os":"linux","home":"/h","workDir":"/w","tempDir":"/t","runtimeDir":"/r","stateDir":"/s",
		"programs":["docker"],"engines":[{"name":"docker","imageId":"1"}]}`), 0o600))
	var times, nothing []time.Duration
	for range 100 {
		nothing = append(nothing, timed(b, exec.Command("true")))
		times = append(times, timed(b, exec.Command(binary(), "print-args", "--facts", file)))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median(times).Microseconds())/1000, "ms")
	b.ReportMetric(float64(median(nothing).Microseconds())/1000, "ms-of-true")
}

// BenchmarkResident is the memory of a launcher that stays beside the agent.
func BenchmarkResident(b *testing.B) {
	for _, engine := range []string{"docker", "podman"} {
		b.Run(engine, func(b *testing.B) {
			if exec.Command(engine, "ps").Run() != nil {
				b.Skipf("%s is not there", engine)
			}
			cmd := exec.Command(binary(), "run", "--engine", engine, "--image", image, "--tmp", "private", "--command", "bash", "--", "-c", "echo up; read -r _")
			cmd.Env = append(os.Environ(), "SANDBOX_SET_UID_GID=0", "SANDBOX_SSH_AGENT=off", "HOME="+b.TempDir())
			cmd.Dir = b.TempDir()
			in, err := cmd.StdinPipe()
			must(b, err)
			out, err := cmd.StdoutPipe()
			must(b, err)
			must(b, cmd.Start())
			_, err = out.Read(make([]byte, 8))
			must(b, err)
			status, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status")
			must(b, err)
			_ = in.Close()
			_ = cmd.Wait()
			for line := range bytes.Lines(status) {
				if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
					kb, _ := strconv.Atoi(string(bytes.Fields(rest)[0]))
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(float64(kb)/1024, "MiB")
				}
			}
		})
	}
}

// BenchmarkBinary is the size of the stripped static binary.
func BenchmarkBinary(b *testing.B) {
	info, err := os.Stat(binary())
	must(b, err)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

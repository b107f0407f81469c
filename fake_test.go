//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/llxsandbox/llxsandbox/argv"
)

// fakes are the programs that a script can have answered by fake: the test binary
// itself under another name, so that quoting, environment and exit codes are real.
var fakes = []string{"docker", "podman", "ssh-add", "llxprt", "node", "su", "groupadd", "useradd", "claude"}

// fake answers a call from $WORK/PROGRAM.replies, and logs it to $WORK/PROGRAM.log.
// A replies file holds rules; a rule is a line "> REGEXP", matched against the
// quoted arguments, and what to do on the lines below it:
//
//	out TEXT      print TEXT         err TEXT   print it to standard error
//	exit N        end with N         kill N     end by signal N
//	once          count for one call only
//	sleep MS      wait               hang       wait until a signal comes
//	args          print each argument on a line, quoted
//	env NAME      print NAME=VALUE of the environment
//	inner         run the container's command, with $WORK/inner as its PATH
//	touch FILE    make $WORK/FILE    pid FILE   write our process id there
//	whole         print the whole command line, a word a line
//	listen MS     accept connections at the proxy's port for a while
//
// A call that no rule matches fails, and so does the test; so does a rule that no
// call matched, unless its line is ">? REGEXP".
func fake() {
	work := os.Getenv("WORK")
	name := filepath.Base(os.Args[0])
	call := argv.Join(os.Args[1:])
	appendTo(filepath.Join(work, name+".log"), call)
	text, _ := os.ReadFile(filepath.Join(work, name+".replies"))
	for i, rule := range strings.Split("\n"+string(text), "\n>")[1:] {
		head, body, _ := strings.Cut(rule, "\n")
		pattern := strings.TrimSpace(strings.TrimPrefix(head, "?"))
		if !regexp.MustCompile("^(?:" + pattern + ")$").MatchString(strings.ReplaceAll(call, "\n", " ")) {
			continue
		}
		used := filepath.Join(work, fmt.Sprintf(".used-%s-%d", name, i))
		file, err := os.OpenFile(used, os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil && strings.Contains(body, "once") {
			continue
		}
		_ = file.Close()
		act(work, name, body)
	}
	appendTo(filepath.Join(work, "unexpected"), name+" "+call)
	fmt.Fprintf(os.Stderr, "fake %s: unexpected call: %s\n", name, call)
	os.Exit(97)
}

func appendTo(path, line string) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = fmt.Fprintln(file, line)
		_ = file.Close()
	}
}

func act(work, name, body string) {
	for line := range strings.Lines(body) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.Atoi(rest)
		switch verb {
		case "out":
			fmt.Println(rest)
		case "err":
			fmt.Fprintln(os.Stderr, rest)
		case "exit":
			os.Exit(n)
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.Signal(n))
			select {}
		case "sleep":
			time.Sleep(time.Duration(n) * time.Millisecond)
		case "hang":
			time.Sleep(time.Minute)
		case "args":
			for _, arg := range os.Args[1:] {
				fmt.Printf("%q\n", arg)
			}
		case "env":
			fmt.Printf("%s=%s\n", rest, os.Getenv(rest))
		case "listen":
			listener, err := net.Listen("tcp", "127.0.0.1:8877")
			if err == nil {
				time.Sleep(time.Duration(n) * time.Millisecond)
				_ = listener.Close()
			}
		case "touch":
			appendTo(filepath.Join(work, rest), "touched")
		case "pid":
			appendTo(filepath.Join(work, rest), strconv.Itoa(os.Getpid()))
		case "whole":
			fmt.Println(strings.Join(append([]string{name}, os.Args[1:]...), "\n"))
		case "inner":
			inner(work)
		}
	}
	os.Exit(0)
}

// inner runs what the container would run: everything from "bash -c" on. For su it is
// the command of -c, with the arguments behind the user.
func inner(work string) {
	args := os.Args[1:]
	for i, arg := range args {
		if arg == "bash" && i+1 < len(args) && args[i+1] == "-c" {
			args = args[i+1:]
			break
		}
	}
	if filepath.Base(os.Args[0]) == "su" {
		args = suArgs(args)
	}
	cmd := exec.Command("/bin/bash", args...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(work, "inner"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	_ = cmd.Run()
	os.Exit(cmd.ProcessState.ExitCode())
}

// suArgs reads su's command line as util-linux does: options may stand behind the
// user, unless a -- stands before it.
func suArgs(args []string) []string {
	var command string
	var rest []string
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-p":
		case "-c":
			i++
			command = args[i]
		case "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		default:
			rest = append(rest, args[i])
		}
	}
	return append([]string{"-c", command}, rest[1:]...)
}

// checkFakes fails the test for a call that no rule expected, and for a rule that no
// call used.
func checkFakes(t testscript.T, work string) {
	if calls, err := os.ReadFile(filepath.Join(work, "unexpected")); err == nil {
		t.Fatal("unexpected calls:\n" + string(calls))
	}
	for _, name := range fakes {
		text, _ := os.ReadFile(filepath.Join(work, name+".replies"))
		for i, rule := range strings.Split("\n"+string(text), "\n>")[1:] {
			if strings.HasPrefix(rule, "?") {
				continue
			}
			if _, err := os.Stat(filepath.Join(work, fmt.Sprintf(".used-%s-%d", name, i))); err != nil {
				head, _, _ := strings.Cut(rule, "\n")
				t.Fatal("fake " + name + ": no call matched >" + head)
			}
		}
	}
}

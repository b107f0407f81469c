// Package tunnel plans the ssh tunnel that brings the host's ssh agent into a podman
// machine, whose file sharing cannot carry a socket (R7). It is pure: the steps are
// data, and the runner carries them out.
package tunnel

import (
	"fmt"
	"strconv"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/platform"
)

const (
	socketName = "/tmp/ssh-agent" // in the machine; .sock, and a number for all but the first
	every      = 100 * argv.Millisecond
	within     = 10 * argv.Second
)

// MaxSocket is the length in bytes of the longest path that a socket can have, by
// platform: the system's limit less the closing NUL.
func MaxSocket(os string) int {
	if os == platform.Linux {
		return 107
	}
	return 103
}

// Socket is where the n-th launch at the same time has its socket in the machine; n
// counts from 1.
func Socket(n int) string {
	if n <= 1 {
		return socketName + ".sock"
	}
	return socketName + "-" + strconv.Itoa(n) + ".sock"
}

// Choose returns the connection marked as default, else the only one (R7.2).
func Choose(text string) (platform.Connection, error) {
	const start = "start one: podman machine init && podman machine start"
	if text == "" {
		return platform.Connection{}, &argv.Fatal{
			Text: "cannot list podman's connections, so the ssh agent cannot be forwarded",
			Hint: "is the machine running? podman machine start\nto launch without the agent: --ssh-agent off",
		}
	}
	list, err := platform.ParseConnections(text)
	if err != nil { // R7.6
		return platform.Connection{}, &argv.Fatal{
			Text: fmt.Sprintf("cannot read the output of `podman system connection list --format json`: %v", err),
			Hint: "is podman installed correctly? podman machine init && podman machine start", Cause: err,
		}
	}
	for _, c := range list {
		if c.Default {
			return c, nil
		}
	}
	switch len(list) {
	case 0:
		return platform.Connection{}, &argv.Fatal{Text: "podman has no machine connection", Hint: start}
	case 1:
		return list[0], nil
	}
	return platform.Connection{}, &argv.Fatal{
		Text: fmt.Sprintf("podman has %d connections, and none is the default", len(list)),
		Hint: "choose one: podman system connection default " + argv.Quote(list[0].Name),
	}
}

// Steps returns what sets the tunnel up: a stale socket is removed (R7.3), ssh
// forwards the agent's socket (R7.1), a poll waits for it (R7.4), and the machine's
// other users may open it. Undone, the tunnel ends and the socket goes (R7.9, R7.11).
func Steps(c platform.Connection, authSock, socket string) ([]argv.Step, error) {
	address, err := platform.ParseSSHURI(c.URI)
	if err != nil {
		return nil, &argv.Fatal{
			Text: fmt.Sprintf("the URI %q of podman's connection %q cannot be used: %v", c.URI, c.Name, err),
			Hint: "podman system connection list shows it; podman machine start sets it up", Cause: err,
		}
	}
	ssh := argv.New("ssh")
	if c.Identity != "" {
		ssh.Args = append(ssh.Args, "-i", c.Identity)
	}
	ssh.Args = append(ssh.Args,
		"-p", strconv.Itoa(address.Port),
		"-R", socket+":"+authSock,
		"-o", "StrictHostKeyChecking=no", // the machine's key changes with every machine
		"-o", "UserKnownHostsFile=/dev/null", // and must not be remembered
		"-o", "LogLevel=ERROR", // or ssh would say that it was
		"-o", "ExitOnForwardFailure=yes", // a tunnel without its socket is none
		"-o", "BatchMode=yes", // never ask for a password
		"-o", "ServerAliveInterval=15", // notice a machine that went away
		"-o", "IdentitiesOnly=yes", // offer this key, not those of the agent
		"-N", // no command
		address.User+"@"+address.Host)
	remove, there, open := machine("rm -f "+socket), machine("test -S "+socket), machine("chmod 0666 "+socket)
	hint := "is the machine running? podman machine start\nto launch without the agent: --ssh-agent off"
	return []argv.Step{
		{Kind: argv.Run, Why: "remove a stale socket from the podman machine", Cmd: &remove, Hint: hint},
		{Kind: argv.Start, Why: "tunnel the ssh agent into the podman machine", Cmd: &ssh, Hint: hint, Undo: []argv.Cmd{remove}},
		{Kind: argv.Poll, Why: "wait for the ssh agent in the podman machine", Cmd: &there, Every: every, Within: within,
			Hint: "is your agent running? ssh-add -l\nis the machine reached? podman machine ssh true\nto launch without the agent: --ssh-agent off"},
		// sshd makes the socket for the machine's own user alone.
		{Kind: argv.Run, Why: "open the socket to the sandbox's user", Cmd: &open, Hint: hint},
	}, nil
}

// machine is a command in the podman machine. Its words are ours alone, and need no quotes.
func machine(command string) argv.Cmd { return argv.New("podman", "machine", "ssh", command) }

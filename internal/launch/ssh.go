package launch

import (
	"fmt"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/argv/oci"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/platform"
	"github.com/llxsandbox/llxsandbox/tunnel"
)

// agentPart is what forwarding the ssh agent adds to a launch.
type agentPart struct {
	socket   *oci.Agent // nil: it is not forwarded
	steps    []argv.Step
	warnings []string
	tunnel   string // the socket in podman's machine that no other launch may use
}

func unforwarded(format string, args ...any) agentPart {
	return agentPart{warnings: []string{fmt.Sprintf(format, args...)}}
}

// sshAgent decides how the ssh agent is forwarded (R4), by platform.
func sshAgent(c config.Config, o *oci.Options, f *platform.Facts) (agentPart, error) {
	sock := c.SSH.AuthSock
	switch {
	case c.SSH.Setting == "off": // R4.1
		return agentPart{}, nil
	case sock == "": // R4.2
		return unforwarded("SSH_AUTH_SOCK is not set: no ssh agent in the sandbox (LLXPRT_SANDBOX_SSH_AGENT=off silences this)"), nil
	case f.Kind(sock) == platform.Missing:
		return unforwarded("SSH_AUTH_SOCK is %q, which does not exist: no ssh agent in the sandbox", sock), nil
	case f.Kind(sock) != platform.Socket:
		return unforwarded("SSH_AUTH_SOCK is %q, which is not a socket: no ssh agent in the sandbox", sock), nil
	}
	var p agentPart
	switch {
	case f.OS == platform.Darwin && o.Engine == platform.Docker:
		p = desktop(f)
	case f.OS == platform.Darwin:
		var err error
		if p, err = tunnelled(c, f); err != nil {
			return agentPart{}, err
		}
	case f.OS == platform.Windows:
		p = direct(sock)
		p.warnings = append(p.warnings, "forwarding the ssh agent on Windows is untested")
	case len(c.SSH.Keys) > 0 || !oci.HostUserInside(*o, f):
		if p = relayed(c, f); len(p.socket.Socket) > tunnel.MaxSocket(f.OS) {
			return agentPart{}, &argv.Fatal{
				Text: fmt.Sprintf("the path %q is too long for a socket (%d bytes at most)", p.socket.Socket, tunnel.MaxSocket(f.OS)),
				Hint: "set XDG_RUNTIME_DIR to a shorter directory, or launch without the agent: --ssh-agent off",
			}
		}
	default:
		p = direct(sock)
	}
	p.warnings = append(p.warnings, keysWarning(f)...)
	return p, nil
}

// desktop mounts the socket that Docker Desktop serves in its machine, if both checks
// hold (R6.1); otherwise it warns, and the launch goes on (R6.2).
func desktop(f *platform.Facts) agentPart {
	e := f.Engine(platform.Docker)
	switch {
	case !strings.Contains(e.OperatingSystem, "Docker Desktop"):
		return unforwarded("docker is not Docker Desktop (%s): no ssh agent in the sandbox; --ssh-agent off silences this", orUnknown(e.OperatingSystem))
	case !e.DesktopSocket:
		return unforwarded("Docker Desktop serves no %s: no ssh agent in the sandbox; --ssh-agent off silences this", platform.DesktopSocket)
	}
	// Desktop gives the socket to root:root 0660, and the container's user is neither.
	return agentPart{socket: &oci.Agent{Socket: platform.DesktopSocket, Groups: []string{"0"}}}
}

func orUnknown(word string) string {
	if word == "" {
		return "it did not say what it is"
	}
	return word
}

// tunnelled brings the agent into podman's machine by ssh (R7).
func tunnelled(c config.Config, f *platform.Facts) (agentPart, error) {
	if len(c.SSH.AuthSock) > tunnel.MaxSocket(f.OS) {
		return agentPart{}, &argv.Fatal{
			Text: fmt.Sprintf("SSH_AUTH_SOCK is %q, which is too long for ssh to forward (%d bytes at most)", c.SSH.AuthSock, tunnel.MaxSocket(f.OS)),
			Hint: "use an agent with a shorter SSH_AUTH_SOCK, or launch without it: --ssh-agent off",
		}
	}
	if strings.Contains(c.SSH.AuthSock, ":") {
		return agentPart{}, &argv.Fatal{Text: fmt.Sprintf("SSH_AUTH_SOCK is %q, and ssh cannot forward a path that holds a colon", c.SSH.AuthSock), Hint: "use another SSH_AUTH_SOCK, or launch without it: --ssh-agent off"}
	}
	connection, err := tunnel.Choose(f.Engine(platform.Podman).Connections)
	if err != nil {
		return agentPart{}, err
	}
	socket := tunnel.Socket(f.Tunnel)
	steps, err := tunnel.Steps(connection, c.SSH.AuthSock, socket)
	if err != nil {
		return agentPart{}, err
	}
	return agentPart{
		// The machine's SELinux forbids a container to connect to that socket.
		socket: &oci.Agent{Socket: socket, LabelDisable: true}, steps: steps, tunnel: socket,
	}, nil
}

// direct mounts the socket itself (R5).
func direct(sock string) agentPart { return agentPart{socket: &oci.Agent{Socket: sock}} }

// relayed serves a socket of our own in the agent's place: to a user whom the agent
// would not answer, or to limit the keys.
func relayed(c config.Config, f *platform.Facts) agentPart {
	sock := f.Join(f.RuntimeDir, "agent-"+f.LaunchID+".sock")
	cmd := argv.New(f.Self, "ssh-agent-relay", "--listen", sock, "--agent", c.SSH.AuthSock)
	for _, key := range c.SSH.Keys {
		cmd.Args = append(cmd.Args, "--key", key)
	}
	if c.Verbose {
		cmd.Args = append(cmd.Args, "--verbose")
	}
	ready := argv.New("test", "-S", sock)
	return agentPart{
		socket: &oci.Agent{Socket: sock},
		steps: []argv.Step{
			{Kind: argv.Start, Why: "relay the ssh agent to the sandbox's user", Cmd: &cmd, Undo: []argv.Cmd{argv.New("rm", "-f", "--", sock)},
				MayFail: true, Hint: "--ssh-agent off launches without it"},
			{Kind: argv.Poll, Why: "wait for the relay of the ssh agent", Cmd: &ready, Every: 5 * argv.Millisecond, Within: 5 * argv.Second,
				Hint: "--ssh-agent off launches without it"},
		},
	}
}

// asksForKeys tells whether the agent is worth asking for its identities.
func asksForKeys(c config.Config, f *platform.Facts) bool {
	return forwards(c, f) && f.Has("ssh-add")
}

// forwards tells whether there is an agent that may be forwarded.
func forwards(c config.Config, f *platform.Facts) bool {
	return c.SSH.Setting != "off" && f.Kind(c.SSH.AuthSock) == platform.Socket
}

// keysWarning says when the agent that is forwarded has nothing to offer.
func keysWarning(f *platform.Facts) []string {
	a := f.SSHAgent
	switch {
	case a.Problem != "":
		return []string{"the ssh agent at SSH_AUTH_SOCK does not answer: " + a.Problem}
	case a.Asked && a.Keys == 0:
		return []string{"the ssh agent holds no keys: add one with ssh-add"}
	}
	return nil
}

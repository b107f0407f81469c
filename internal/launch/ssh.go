package launch

import (
	"fmt"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/argv/oci"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/platform"
)

// agentPart is what forwarding the ssh agent adds to a launch.
type agentPart struct {
	socket   *oci.Agent // nil: it is not forwarded
	steps    []argv.Step
	warnings []string
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
	case f.OS == platform.Darwin:
		return unforwarded("the ssh agent is not forwarded on macOS yet"), nil
	case f.OS == platform.Windows:
		p = direct(sock)
		p.warnings = append(p.warnings, "forwarding the ssh agent on Windows is untested")
	case len(c.SSH.Keys) > 0 || !oci.HostUserInside(*o, f):
		p = relayed(c, f)
	default:
		p = direct(sock)
	}
	p.warnings = append(p.warnings, keysWarning(f)...)
	return p, nil
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
	return c.SSH.Setting != "off" && f.Has("ssh-add") && f.Kind(c.SSH.AuthSock) == platform.Socket
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

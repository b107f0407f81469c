package launch

import (
	"slices"
	"strconv"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/argv/oci"
	"github.com/llxsandbox/llxsandbox/platform"
)

// proxySteps set the proxy container up (launcher contract, section 7): the networks
// if they are missing, the container, the wait until it accepts connections, and its
// link to the sandbox's network. No shell is involved (defect 11).
func proxySteps(o oci.Options, f *platform.Facts) []argv.Step {
	if o.Network != oci.Proxied {
		return nil
	}
	var steps []argv.Step
	run := func(why string, args ...string) {
		cmd := argv.New(o.Engine, args...)
		steps = append(steps, argv.Step{Kind: argv.Run, Why: why, Cmd: &cmd, Hint: "look at `" + o.Engine + " network ls`"})
	}
	networks := f.Engine(o.Engine).Networks
	if !slices.Contains(networks, oci.SandboxNetwork) {
		run("make the sandbox's network, which has no way out", "network", "create", "--internal", oci.SandboxNetwork)
	}
	if !slices.Contains(networks, oci.ProxyNetwork) {
		run("make the proxy's network", "network", "create", oci.ProxyNetwork)
	}
	start := argv.New(o.Engine, proxyArgs(o, f)...)
	ready := argv.New(f.Self, "dial", "127.0.0.1:"+oci.ProxyPort)
	hint := "LLXPRT_SANDBOX_PROXY_COMMAND must serve a proxy on port " + oci.ProxyPort + " of the container"
	steps = append(steps,
		argv.Step{Kind: argv.Start, Why: "run the proxy container", Cmd: &start, Hint: hint,
			Undo: []argv.Cmd{argv.New(o.Engine, "rm", "-f", oci.ProxyName)}},
		argv.Step{Kind: argv.Poll, Why: "wait for the proxy", Cmd: &ready, Hint: hint,
			Every: 50 * argv.Millisecond, Within: 30 * argv.Second})
	run("connect the proxy to the sandbox's network", "network", "connect", oci.SandboxNetwork, oci.ProxyName)
	return steps
}

func proxyArgs(o oci.Options, f *platform.Facts) []string {
	args := append([]string{"run", "--rm", "--init"}, o.Harden()...)
	if oci.Whom(o, f) == oci.UserHost {
		args = append(args, "--user", strconv.Itoa(f.UID)+":"+strconv.Itoa(f.GID))
	}
	dir := oci.ContainerPath(f.WorkDir)
	args = append(args, "--name", oci.ProxyName, "--network", oci.ProxyNetwork, "-p", oci.ProxyPort+":"+oci.ProxyPort,
		"-v", f.WorkDir+":"+dir, "--workdir", dir, o.Image)
	return append(args, o.Proxy.Command...)
}

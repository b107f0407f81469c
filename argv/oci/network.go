package oci

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/platform"
)

// Names of the proxied network (launcher contract, section 7).
const (
	SandboxNetwork = "llxprt-code-sandbox"       // internal: the sandbox sees the proxy on it, and nothing else
	ProxyNetwork   = "llxprt-code-sandbox-proxy" // the proxy's own way out
	ProxyName      = "llxprt-code-sandbox-proxy" // the proxy container, and its host name
	ProxyPort      = "8877"
)

// network is section 5. A second --network is one clear error instead of whatever
// the engine makes of two (defect 14).
func (b *builder) network() (part, error) {
	if b.Network == On {
		return part{}, nil
	}
	for i, flag := range b.Flags {
		name, _, _ := strings.Cut(flag, "=")
		if name == "--network" || name == "--net" {
			return part{}, &argv.Fatal{
				Text: fmt.Sprintf("the network is %s, and SANDBOX_FLAGS sets another by %q", b.Network, strings.Join(b.Flags[i:min(i+2, len(b.Flags))], " ")),
				Hint: "leave one of the two out",
			}
		}
	}
	if b.Network == Off {
		return args("--network", "none"), nil
	}
	return part{}, nil // proxied: with the proxy's variables, section 17
}

func (b *builder) sshAgent() (part, error) {
	if b.Agent == nil {
		return part{}, nil
	}
	mount := Mount{From: b.Agent.Socket, To: agentSocket, Source: "the ssh agent"}
	if b.Engine == platform.Podman && b.facts.OS == platform.Linux {
		mount.Mode = "z" // let SELinux's container type use it (R5.2)
	}
	p, err := b.volume(mount)
	if err != nil {
		return part{}, err
	}
	for _, group := range b.Agent.Groups {
		p.args = append(p.args, "--group-add", group)
	}
	if b.Agent.LabelDisable {
		p.args = append(p.args, "--security-opt", "label=disable")
	}
	p.args = append(p.args, "--env", "SSH_AUTH_SOCK="+agentSocket) // R4.3
	return p, nil
}

// ports is section 15.
func (b *builder) ports() (part, error) {
	var p part
	for _, port := range b.Ports {
		p.args = append(p.args, "--publish", b.publish(port))
	}
	if len(b.Ports) > 0 && b.Network == Off {
		p.warnings = append(p.warnings, "the network is off: no published port can be reached")
	}
	return p, nil
}

func (b *builder) publish(port Port) string {
	spec := strconv.Itoa(port.Host) + ":" + strconv.Itoa(port.Container)
	if b.Loopback {
		return "127.0.0.1:" + spec
	}
	return spec
}

// debug is section 16: the port of the Node debugger.
func (b *builder) debug() (part, error) {
	port := Port{b.DebugPort, b.DebugPort}
	if !b.Debug {
		return part{}, nil
	}
	for _, published := range b.Ports {
		if published == port {
			return part{}, nil // docker refuses the same one twice
		}
	}
	return args("--publish", b.publish(port)), nil
}

// proxy is section 17: what the sandbox must know of its only way out.
func (b *builder) proxy() (part, error) {
	if b.Network != Proxied {
		return part{}, nil
	}
	var p part
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		p.args = append(p.args, "--env", name+"="+b.Proxy.URL)
	}
	if b.Proxy.NoProxy != "" {
		p.args = append(p.args, "--env", "NO_PROXY="+b.Proxy.NoProxy, "--env", "no_proxy="+b.Proxy.NoProxy)
	}
	p.args = append(p.args, "--network", SandboxNetwork)
	return p, nil
}

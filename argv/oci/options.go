// Package oci builds the argument lists of docker and podman: one builder for both,
// with a file for each concern. It is pure: what it returns depends on its Options
// and the host's Facts alone, and it neither reads nor starts anything.
package oci

import (
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
)

// Options is what a launch was asked to be, checked. Values come from flags, a
// profile or the environment; the builder does not care which.
type Options struct {
	Engine  string // docker or podman
	Image   string
	Command string   // the agent command inside
	Args    []string // its arguments

	Hardening bool
	Flags     []string // SANDBOX_FLAGS, split
	CPUs      string   // empty means no limit
	Memory    string
	Pids      string

	Network  Network
	Proxy    *Proxy // set if Network is Proxied
	Private  bool   // a temp directory of this launch's own
	Mounts   []Mount
	ADC      string // the credentials file, mounted if it exists
	Ports    []Port
	Loopback bool // publish on 127.0.0.1 only

	Debug       bool
	DebugPort   int
	Development bool // NODE_ENV=development: npm instead of the agent command

	Agent *Agent // the forwarded ssh agent; nil means none

	Google      []argv.Var // sections 19: keys and settings of Google's services, terminal
	Passthrough []argv.Var // the rest of section 19
	Custom      []argv.Var // SANDBOX_ENV, --env and a profile's env
	NodeOptions string
	VirtualEnv  string
	Path        []string // the host's PATH, split
	PythonPath  []string

	User User
}

// Network is how the sandbox reaches the network.
type Network string

// The networks of a sandbox.
const (
	On      Network = "on"      // as the engine does by default
	Off     Network = "off"     // no route at all
	Proxied Network = "proxied" // through a proxy container only
)

// Proxy is the proxy container of a proxied network (launcher contract, section 7).
type Proxy struct {
	Command []string // runs in the sandbox image
	URL     string   // as the sandbox sees it
	NoProxy string
}

// Mount is one mount that the user asked for.
type Mount struct {
	From, To string // absolute paths, outside and inside
	Mode     string // ro, rw, z or Z
	Source   string // who asked for it: a variable, a flag, or a profile's file
}

// Port is one published port.
type Port struct{ Host, Container int }

// Agent is a socket that answers as the user's ssh agent, mounted into the sandbox.
type Agent struct {
	Socket       string   // on the host, or in the engine's virtual machine
	Groups       []string // further groups that the container's user needs to open it
	LabelDisable bool     // SELinux would forbid the connection otherwise
}

// User is whom the agent runs as inside.
type User string

// The users of a sandbox.
const (
	UserAuto  User = ""      // the host's user on Debian and Ubuntu, else the image's
	UserHost  User = "host"  // the host's uid and gid
	UserImage User = "image" // whom the image names
	UserRoot  User = "root"
)

// secretNames are patterns of the names whose values never go into an argument list.
var secretNames = []string{
	"_API_KEY", "_APIKEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_PASSPHRASE", "_CREDENTIAL", "_CREDENTIALS",
	"_PRIVATE_KEY", "_ACCESS_KEY", "_ACCESS_KEY_ID", "_SECRET_KEY", "_AUTH", "_PAT", "_DSN", "_KEY",
}

// bareSecretNames are whole names that a pattern with an underscore would miss.
var bareSecretNames = []string{"API_KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS", "PRIVATE_KEY", "DATABASE_URL"}

// clientNames are prefixes of the names that the engines' own clients read. Such a
// variable must not change the client, so it goes as KEY=VALUE whatever it is.
var clientNames = []string{"DOCKER_", "BUILDX_", "BUILDKIT_", "COMPOSE_", "CONTAINER_", "CONTAINERS_", "PODMAN_", "REGISTRY_", "STORAGE_", "XDG_", "SSH_", "LD_"}

// clientWholeNames are further such names.
var clientWholeNames = []string{"PATH", "HOME", "USER", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY", "NOTIFY_SOCKET", "GODEBUG", "GOTRACEBACK"}

// EnvVar returns the variable with its value hidden if its name says that it is a
// secret, and if it can travel by reference at all (section 6.4).
func EnvVar(name, value string) argv.Var {
	if value != "" && secretName(name) && !clientName(name) {
		return argv.Var{Name: name, Secret: argv.Secret(value)}
	}
	return argv.Var{Name: name, Value: value}
}

func secretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, bare := range bareSecretNames {
		if upper == bare {
			return true
		}
	}
	for _, end := range secretNames {
		if strings.HasSuffix(upper, end) {
			return true
		}
	}
	return false
}

func clientName(name string) bool {
	upper := strings.ToUpper(name)
	for _, whole := range clientWholeNames {
		if upper == whole {
			return true
		}
	}
	for _, prefix := range clientNames {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return false
}

// Package config turns flags, environment variables and profiles into one checked
// Config. It is pure: files are read by others and come in as text. A wrong value is
// an error that names where it came from, before anything is asked or started.
package config

import (
	"fmt"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/argv/oci"
)

// DefaultImage is the image that is run where nothing names another.
const DefaultImage = "ghcr.io/vybestack/llxprt-code/sandbox:latest"

// DefaultCommand is the agent command where nothing names another.
const DefaultCommand = "llxprt"

// Flags are the flags that run and print-args share. Empty means not given.
type Flags struct {
	Engine      string
	Image       string
	Profile     string
	WorkDir     string
	Command     string
	NodeArg     []string
	Mount       []string
	Env         []string
	Port        []string
	CPUs        string
	Memory      string
	Pids        string
	Network     string
	SSHAgent    string
	SSHAgentKey []string
	Tmp         string
	Verbose     bool
}

// Config is what a launch was asked to be, every value checked.
type Config struct {
	Options oci.Options // all but the engine and the ssh agent's socket, which depend on the facts

	Engine     string // auto, docker, podman, sandbox-exec, none; empty: the settings files decide
	EngineFrom string // who says so
	Build      bool   // BUILD_SANDBOX
	BuildFlags []string
	SSH        SSH
	Inside     string // SANDBOX: the sandbox that we are in already
	Verbose    bool
}

// SSH is how the ssh agent is to be forwarded (R4).
type SSH struct {
	Setting  string   // on, off or auto
	OffBy    string   // what says off
	AuthSock string   // SSH_AUTH_SOCK
	Keys     []string // fingerprints; empty means every key of the agent
}

// loader carries the three sources in the order in which they win.
type loader struct {
	flags   Flags
	profile Profile
	env     Env
	home    string
	err     error // the first
}

// Load checks flags, environment and profile, and merges them: a flag wins over the
// profile, the profile over the environment. home replaces ~ in a profile's paths.
func Load(flags Flags, env Env, profile Profile, home string, args []string) (Config, error) {
	l := &loader{flags: flags, profile: profile, env: env, home: home}
	c := Config{Inside: env.Get("SANDBOX"), Verbose: flags.Verbose}
	o := &c.Options

	l.engine(&c)
	o.Image, _ = l.pick("--image", flags.Image, "image", profile.Image, "LLXPRT_SANDBOX_IMAGE")
	if o.Image == "" {
		o.Image = DefaultImage
	}
	l.keep(oci.CheckImage(o.Image))
	o.Command, _ = l.pick("--command", flags.Command, "", "", "LLXSANDBOX_COMMAND")
	if o.Command == "" {
		o.Command = DefaultCommand
	}
	o.Args = args

	l.limits(o)
	l.network(o)
	l.lists(o)
	l.user(o)
	l.build(&c)
	l.ssh(&c)

	o.ADC = env.Get("GOOGLE_APPLICATION_CREDENTIALS")
	o.VirtualEnv = env.Get("VIRTUAL_ENV")
	o.Path = strings.Split(env.Get("PATH"), ":")
	o.PythonPath = strings.Split(env.Get("PYTHONPATH"), ":")
	o.Development = env.Get("NODE_ENV") == "development"
	o.NodeOptions = strings.Join(append(items0(env.Get("NODE_OPTIONS")), flags.NodeArg...), " ")
	o.Google = l.passed("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
		"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GEMINI_MODEL", "TERM", "COLORTERM")
	o.Passthrough = l.passed("LLXPRT_CODE_IDE_SERVER_PORT", "LLXPRT_CODE_IDE_WORKSPACE_PATH",
		"LLXPRT_CODE_WELCOME_CONFIG_PATH", "TERM_PROGRAM")
	return c, l.err
}

// items0 is a list of one, or of none if it is empty.
func items0(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// keep remembers the first error.
func (l *loader) keep(err error) {
	if l.err == nil && err != nil {
		l.err = err
	}
}

// pick returns the value that wins, and who set it, as an error names it.
func (l *loader) pick(flag, flagValue, key, profileValue string, vars ...string) (value, from string) {
	if flagValue != "" {
		return flagValue, flag
	}
	if profileValue != "" {
		return profileValue, l.profile.key(key)
	}
	if len(vars) == 0 {
		return "", flag
	}
	return l.env.first(vars...)
}

// word is pick for a value that is one of a few words.
func (l *loader) word(fallback string, valid []string, flag, flagValue, key, profileValue string, vars ...string) (value, from string) {
	value, from = l.pick(flag, flagValue, key, profileValue, vars...)
	if value == "" {
		return fallback, ""
	}
	w, err := word(from, value, valid...)
	l.keep(err)
	return w, from
}

// passed returns the named variables that are set and not empty.
func (l *loader) passed(names ...string) []argv.Var {
	var out []argv.Var
	for _, name := range names {
		if value := l.env.Get(name); value != "" {
			out = append(out, oci.EnvVar(name, value))
		}
	}
	return out
}

func (l *loader) limits(o *oci.Options) {
	r := l.profile.Resources
	value, from := l.pick("--cpus", l.flags.CPUs, "resources.cpus", r.CPUs.String(), "LLXPRT_SANDBOX_CPUS", "SANDBOX_CPUS")
	cpus, err := limit(from, value, cpusForm, "a number above 0, such as 1.5")
	l.keep(err)
	value, from = l.pick("--memory", l.flags.Memory, "resources.memory", r.Memory, "LLXPRT_SANDBOX_MEMORY", "SANDBOX_MEMORY")
	memory, err := limit(from, value, memoryForm, "a whole number above 0 with b, k, m or g, such as 512m")
	l.keep(err)
	value, from = l.pick("--pids", l.flags.Pids, "resources.pids", r.Pids.String(), "LLXPRT_SANDBOX_PIDS", "SANDBOX_PIDS")
	pids, err := limit(from, value, numberForm, "a whole number above 0")
	l.keep(err)
	o.CPUs, o.Memory, o.Pids = cpus, memory, pids

	hardening, _ := l.word("on", []string{"on", "off"}, "", "", "hardening", l.profile.Hardening, "LLXSANDBOX_HARDENING")
	o.Hardening = hardening != "off"
	tmp, _ := l.word("shared", []string{"shared", "private"}, "--tmp", l.flags.Tmp, "tmp", l.profile.Tmp)
	o.Private = tmp == "private"
	publish, _ := l.word("all", []string{"all", "local"}, "", "", "publish", l.profile.Publish, "LLXSANDBOX_PUBLISH")
	o.Loopback = publish == "local"
}

// lists are the values that hold several: mounts, variables, ports, flags. A profile
// replaces what the environment says; flags are added to either.
func (l *loader) lists(o *oci.Options) {
	value, from := l.env.first("LLXPRT_SANDBOX_MOUNTS", "SANDBOX_MOUNTS")
	mounts, err := eachOf(items(value), func(_ int, item string) (oci.Mount, error) { return parseMount(from, item, "") })
	if l.profile.Mounts != nil {
		mounts, err = l.profile.mounts(l.home)
	}
	l.keep(err)
	more, err := eachOf(l.flags.Mount, func(_ int, item string) (oci.Mount, error) { return parseMount("--mount", item, "") })
	l.keep(err)
	o.Mounts = append(mounts, more...)

	custom, err := eachOf(items(l.env.Get("SANDBOX_ENV")), func(n int, item string) (argv.Var, error) { return parseEnv("SANDBOX_ENV", n, item) })
	if l.profile.Env != nil {
		custom, err = l.profile.env()
	}
	l.keep(err)
	moreEnv, err := eachOf(l.flags.Env, l.envFlag)
	l.keep(err)
	o.Custom = append(custom, moreEnv...)

	ports, err := eachOf(items(l.env.Get("SANDBOX_PORTS")), func(_ int, item string) (oci.Port, error) { return parsePort("SANDBOX_PORTS", item) })
	l.keep(err)
	morePorts, err := eachOf(l.flags.Port, func(_ int, item string) (oci.Port, error) { return parsePort("--port", item) })
	l.keep(err)
	o.Ports = append(ports, morePorts...)

	o.Flags, err = SplitFlags("SANDBOX_FLAGS", l.env.Get("SANDBOX_FLAGS"), l.lookup)
	l.keep(err)

	switch strings.ToLower(strings.TrimSpace(l.env.Get("DEBUG"))) {
	case "", "0", "false", "off": // defect 7
	default:
		o.Debug = true
	}
	o.DebugPort = 9229
	if value := l.env.Get("DEBUG_PORT"); value != "" && o.Debug {
		port, err := parsePort("DEBUG_PORT", value)
		if err == nil && port.Host != port.Container {
			err = badValue("DEBUG_PORT", value, "one port from 1 to 65535", "")
		}
		l.keep(err)
		o.DebugPort = port.Host
	}
}

// lookup gives SANDBOX_FLAGS the whole environment, not only the table's variables.
func (l *loader) lookup(name string) string { return l.env[name] }

// envFlag reads --env KEY=VALUE, or --env KEY for the value that KEY has here: the
// way to hand over a secret without writing it into an argument list.
func (l *loader) envFlag(n int, item string) (argv.Var, error) {
	if argv.ValidName(item) {
		value, ok := l.env[item]
		if !ok {
			return argv.Var{}, &argv.Fatal{Text: fmt.Sprintf("--env names %s, which is not set", item), Hint: "export it first, or write --env " + item + "=VALUE", Usage: true}
		}
		return oci.EnvVar(item, value), nil
	}
	return parseEnv("--env", n, item)
}

func (l *loader) user(o *oci.Options) {
	if l.env.Get("LLXPRT_CODE_INTEGRATION_TEST") == "true" {
		o.User = oci.UserRoot
		return
	}
	value := l.env.Get("SANDBOX_SET_UID_GID")
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "":
	case "1", "true":
		o.User = oci.UserHost
	case "0", "false":
		o.User = oci.UserImage
	default:
		l.keep(badValue("SANDBOX_SET_UID_GID", value, "1, true, 0 or false", ""))
	}
}

func (l *loader) build(c *Config) {
	c.Build = l.env.Get("BUILD_SANDBOX") != ""
	if !c.Build {
		return
	}
	flags, err := SplitFlags("BUILD_SANDBOX_FLAGS", l.env.Get("BUILD_SANDBOX_FLAGS"), l.lookup)
	l.keep(err)
	c.BuildFlags = flags
}

// ssh is R4.1: off in either variable wins over everything, a flag included.
func (l *loader) ssh(c *Config) {
	words := []string{"on", "off", "auto"}
	c.SSH.AuthSock = l.env.Get("SSH_AUTH_SOCK")
	c.SSH.Keys = l.flags.SSHAgentKey
	c.SSH.Setting, c.SSH.OffBy = l.word("auto", words, "--ssh-agent", l.flags.SSHAgent, "sshAgent", l.profile.SSHAgent,
		"LLXPRT_SANDBOX_SSH_AGENT", "SANDBOX_SSH_AGENT")
	for _, name := range []string{"LLXPRT_SANDBOX_SSH_AGENT", "SANDBOX_SSH_AGENT"} {
		value, _ := l.word("auto", words, "", "", "", "", name)
		if value == "off" {
			c.SSH.Setting, c.SSH.OffBy = "off", name
		}
	}
	for _, key := range c.SSH.Keys {
		if !strings.HasPrefix(key, "SHA256:") || len(key) != len("SHA256:")+43 {
			l.keep(badValue("--ssh-agent-key", key, "a fingerprint as `ssh-add -l` prints it, such as SHA256:…", "`ssh-add -l` lists the keys of your agent"))
		}
	}
}

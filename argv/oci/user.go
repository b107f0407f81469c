package oci

import (
	"path"
	"slices"
	"strconv"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/platform"
)

// sandboxUser is the account that is made inside for the host's uid.
const sandboxUser = "gemini"

// imageUID is the uid of the sandbox image's own user, `node`.
const imageUID = 1000

// Whom resolves the user: the host's on Debian and Ubuntu, unless something else was asked for.
func Whom(o Options, f *platform.Facts) User {
	if o.User != UserAuto {
		return o.User
	}
	if f.OS == platform.Linux && f.OSRelease.Debian() {
		return UserHost
	}
	return UserImage
}

// asRoot tells whether the agent runs as the container's root to be the host's user:
// a rootless docker maps exactly that user to root, and every other one to a
// subordinate uid that could not write what is mounted.
func asRoot(o Options, f *platform.Facts) bool {
	return o.Engine == platform.Docker && f.Engine(o.Engine).Rootless
}

// HostUserInside tells whether the processes of the sandbox are, as the host sees
// them, the host's user or root: whoever is neither cannot use that user's ssh agent
// or a 0700 directory.
func HostUserInside(o Options, f *platform.Facts) bool {
	rootless := f.Engine(o.Engine).Rootless
	switch Whom(o, f) {
	case UserHost, UserRoot:
		return true
	default:
		return !rootless && f.UID == imageUID
	}
}

// user is section 25.
func (b *builder) user() (part, error) {
	switch Whom(b.Options, b.facts) {
	case UserRoot:
		return args("--user", "root"), nil
	case UserHost:
	default:
		var p part
		if b.Engine == platform.Podman && b.facts.Engine(b.Engine).Rootless {
			p.warnings = []string{"podman is rootless: what the image's user writes belongs to a subordinate uid; SANDBOX_SET_UID_GID=true runs the agent as you"}
		}
		return p, nil
	}
	p := args("--user", "root")
	if b.Hardening && !asRoot(b.Options, b.facts) {
		p.args = append(p.args,
			"--cap-add=CHOWN",                      // useradd gives its files away
			"--cap-add=SETUID", "--cap-add=SETGID") // su becomes the user
	}
	if b.Engine == platform.Podman && b.facts.Engine(b.Engine).Rootless {
		p.args = append(p.args, "--userns", "keep-id") // the host's uid is the same uid inside
	}
	p.args = append(p.args, "--env", "HOME="+ContainerPath(b.facts.Home))
	return p, nil
}

// homeDirs are the home inside and the directories below it that the engine makes, as
// root, to mount something in: without them an agent could write no ~/.cache. What is
// part of a mount is the host's and left alone.
func (b *builder) homeDirs() []string {
	home := path.Clean(ContainerPath(b.facts.Home))
	dirs := []string{home}
	for target := range b.mounted {
		for dir := path.Dir(target); len(dir) > len(home) && below(b.facts, dir, home); dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.DeleteFunc(slices.Compact(dirs), func(dir string) bool {
		for target := range b.mounted {
			if below(b.facts, dir, target) {
				return true
			}
		}
		return false
	})
}

// becomeUser returns the words that make the group and the user of the host if they
// are missing, and run script as that user; rest, if any, are its positional
// parameters. Everything is quoted: a home may hold a blank (defect 10).
func (b *builder) becomeUser(script string, rest bool) string {
	uid, gid := strconv.Itoa(b.facts.UID), strconv.Itoa(b.facts.GID)
	home := argv.Quote(ContainerPath(b.facts.Home))
	line := ""
	if dirs := b.homeDirs(); len(dirs) > 0 {
		line = "chown " + uid + " " + argv.Join(dirs) + " 2>/dev/null; "
	}
	line += "groupadd -f -g " + gid + " " + sandboxUser +
		" && id -u " + sandboxUser + " &>/dev/null || useradd -o -u " + uid + " -g " + gid +
		" -d " + home + " -s /bin/bash " + sandboxUser + " && "
	if rest {
		return line + "su -p -c " + argv.Quote(script) + ` -- ` + sandboxUser + ` bash "$@"`
	}
	return line + "su -p " + sandboxUser + " -c " + argv.Quote(script)
}

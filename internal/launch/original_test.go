package launch

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/llxsandbox/llxsandbox/argv/oci"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/platform"
)

// original is one recorded launch of the launcher that this one replaces.
type original struct {
	Name, Engine, Platform, Cwd, Image, OSRelease string
	TTY                                           struct{ Stdin, Stdout bool }
	Env                                           map[string]string
	Files                                         []struct{ Path, Kind, Target string }
	Args, NodeArgs, Missing, Names                []string
	Images                                        []bool
	PsFails                                       bool
	Networks                                      map[string]int
	ID                                            [2]int
	Argv                                          []string
	Error                                         *string
}

// differs names the recorded launches whose result is another one here, and why.
var differs = map[string]string{
	"mounts/llxprt-empty-masks-plain":        "defect 6: an empty LLXPRT_ variable masked the plain one",
	"ssh-linux/llxprt-empty-masks-plain-off": "defect 6, and R4.1",
	"mounts/relative-to":                     "a relative target is an error before docker says so",
	"flags/underscore-var":                   "$_FOO is the variable _FOO",
	"flags/glob":                             "defect 20: globs vanished",
	"ports/debug-false":                      "defect 7: DEBUG=false opened the port",
	"venv/case-differs":                      "defect 8: another case was below the working directory",
	"res/net-none":                           "defect 5: none left the network on; another word is an error",
	"ssh-linux/regular-file":                 "a file that is no socket is not forwarded",
	"uid/garbage-fedora":                     "a word that means nothing is an error",
	"image/empty-tag":                        "an image name with an empty tag is not valid",
	"index/prefix-of-other":                  "defect 25: the index was a substring test",
	"dirs/home-trailing-slash":               "HOME inside has no trailing slash",
	"dirs/tmpdir-missing-podman":             "the authfile does not lie in the temp directory",
	"image/digest":                           "defect 4: a digest is no part of a container's name",
	"uid/unset-quoted-debian":                "os-release values may be quoted",
}

func TestOriginalLaunches(t *testing.T) {
	data, err := os.ReadFile("testdata/original.json")
	require.NoError(t, err)
	var cases []original
	require.NoError(t, json.Unmarshal(data, &cases))
	require.Greater(t, len(cases), 100)
	different := map[string]bool{}
	for _, o := range cases {
		t.Run(o.Name, func(t *testing.T) {
			if o.Platform == platform.Darwin && o.Env["SSH_AUTH_SOCK"] != "" && o.Env["SANDBOX_SSH_AGENT"] != "off" {
				t.Skip("the ssh agent reaches a virtual machine in another way here: golden/darwin_*_ssh_* hold how")
			}
			got, err := o.plan()
			same := false
			if o.Argv == nil || o.Error != nil && len(got) == 0 {
				same = (err != nil) == (o.Error != nil)
			} else if err == nil {
				same = slices.Equal(o.pairs(o.Argv), o.pairs(got))
			}
			if reason, ok := differs[o.Name]; ok {
				different[o.Name] = true
				require.False(t, same, "the same as the original, which should have: %s", reason)
				return
			}
			if !same {
				require.NoError(t, err)
				require.Equal(t, o.pairs(o.Argv), o.pairs(got))
			}
		})
	}
	for name := range differs {
		require.True(t, different[name], "%s is not recorded", name)
	}
}

// plan returns the arguments that this launcher gives the engine.
func (o original) plan() ([]string, error) {
	f := platform.Facts{
		OS: o.Platform, WorkDir: o.Cwd, Home: strings.TrimRight(o.Env["HOME"], "/"), TempDir: "/tmp",
		RuntimeDir: "/own", StateDir: "/own", Self: "/self", UID: o.ID[0], GID: o.ID[1],
		Terminal: platform.Terminal{Stdin: o.TTY.Stdin, Stdout: o.TTY.Stdout}, Programs: []string{"docker", "podman"},
	}
	for _, name := range []string{"TEMP", "TMP", "TMPDIR"} {
		if o.Env[name] != "" {
			f.TempDir = o.Env[name]
		}
	}
	if o.OSRelease != "MISSING" && o.Platform == platform.Linux {
		f.OSRelease = platform.ParseOSRelease(o.OSRelease)
	}
	if slices.Contains(o.Missing, o.Engine) {
		f.Programs = nil
	}
	for _, file := range o.Files {
		kind := platform.PathKind(file.Kind)
		if kind == "symlink" {
			kind = platform.Missing
			for _, other := range o.Files {
				if other.Path == file.Target {
					kind = platform.PathKind(other.Kind)
				}
			}
		}
		f.Paths = append(f.Paths, platform.Path{Path: file.Path, Kind: kind})
	}
	engine := platform.Engine{Name: o.Engine, Containers: o.Names}
	if o.Images[0] {
		engine.ImageID = "1"
	}
	if o.PsFails {
		engine.Problem = "Error: x"
	}
	f.Engines = []platform.Engine{engine}
	cfg, err := config.Load(config.Flags{Engine: o.Engine, Image: o.Image, NodeArg: o.NodeArgs}, config.Env(o.Env), config.Profile{}, f.Home, o.Args)
	if err != nil {
		return nil, err
	}
	l, err := Plan(cfg, &f)
	if err != nil {
		return nil, err
	}
	if o.Argv == nil { // the pull failed: that is the runner's business, and the plan must say so
		for _, step := range l.Steps {
			if o.Error != nil && strings.Contains(step.Failure, *o.Error) || len(l.Steps) > 3 {
				return nil, &failed{}
			}
		}
	}
	return l.Main().Cmd.Args[1:], nil
}

type failed struct{}

func (*failed) Error() string { return "the plan can fail in the way that was recorded" }

// pairs brings a list into a form in which the two launchers can be compared: flags
// with their values, sorted, since the order of the sections is another; less what
// the contract adds; with what it changes for the better. The script stays out: it
// is run for real elsewhere.
func (o original) pairs(args []string) []string {
	var out []string
	words := map[string]bool{"run": true, "-i": true, "--rm": true, "--init": true, "-t": true}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == o.Image:
			out = append(out, "IMAGE")
			i = len(args)
		case arg == "-t" && o.TTY.Stdin != o.TTY.Stdout: // here it needs both
		case arg == "--cap-drop=ALL", arg == "--cap-add=CHOWN", arg == "--cap-add=SETUID", arg == "--cap-add=SETGID":
		case words[arg] || !strings.HasPrefix(arg, "--") || strings.Contains(arg, "=") || i+1 == len(args):
			out = append(out, arg)
		default:
			i++
			out = append(out, o.pair(arg, args[i]))
		}
	}
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })
	slices.Sort(out)
	return out
}

func (o original) pair(flag, value string) string {
	name, rest, _ := strings.Cut(value, "=")
	switch {
	case flag == "--security-opt" && value == "no-new-privileges":
		return ""
	case flag == "--authfile":
		value = "FILE"
	case strings.Contains(value, "/.ssh/known_hosts:") && o.Env["SSH_AUTH_SOCK"] == "":
		return "" // here it goes with the agent only
	case strings.Contains(value, "/.ssh/known_hosts:") && (o.Env["SANDBOX_SSH_AGENT"] == "off" || o.Env["LLXPRT_SANDBOX_SSH_AGENT"] == "off"):
		return ""
	case flag == "--env" && (name == "GEMINI_API_KEY" || name == "GOOGLE_API_KEY"):
		value = name // by reference
	case flag == "--env" && name == "NODE_OPTIONS":
		if strings.HasPrefix(rest, `"`) { // defect 1: quotes round all of it
			value = name + "=" + rest[1:len(rest)-1]
		}
	case flag == "--name" || flag == "--hostname" || name == "SANDBOX":
		if strings.Contains(value, "/") { // defect 4: a registry's port
			number := value[strings.LastIndex(value, "-")+1:]
			value = oci.BaseName(o.Image) + "-" + number
			if name == "SANDBOX" {
				value = "SANDBOX=" + value
			}
		}
	}
	return flag + " " + value
}

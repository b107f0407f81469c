package platform

import (
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
)

// Question is one read-only command and what its answer is about.
type Question struct {
	About Topic
	Of    string // the engine that is asked, or ""
	Cmd   argv.Cmd
}

// Topic says what the answer to a Question tells.
type Topic string

// The topics of questions.
const (
	AboutImage       Topic = "image"       // is the image there?
	AboutContainers  Topic = "containers"  // which names are taken?
	AboutNetworks    Topic = "networks"    // which networks are there?
	AboutSystem      Topic = "system"      // what does docker run on? (R6.1)
	AboutDesktop     Topic = "desktop"     // is Docker Desktop's ssh socket there? (R6.1)
	AboutConnections Topic = "connections" // how is podman's machine reached? (R7.2)
	AboutKeys        Topic = "keys"        // does the ssh agent hold any?
)

// EngineQuestions are what a launch of image asks its engine.
func EngineQuestions(engine, image string) []Question {
	return []Question{
		{AboutImage, engine, argv.New(engine, "images", "-q", image)},
		{AboutContainers, engine, argv.New(engine, "ps", "-a", "--format", "{{.Names}}")},
	}
}

// NetworksQuestion asks which networks there are.
func NetworksQuestion(engine string) Question {
	return Question{AboutNetworks, engine, argv.New(engine, "network", "ls", "--format", "{{.Name}}")}
}

// DesktopSocket is the ssh agent's socket in Docker Desktop's machine.
const DesktopSocket = "/run/host-services/ssh-auth.sock"

// MachineQuestions ask an engine that lives in a virtual machine how the ssh agent
// gets there: for docker what it runs on and whether its socket is there, asked with
// the sandbox image itself (--mount, unlike --volume, makes nothing when the path is
// missing); for podman its connections.
func MachineQuestions(engine, image string) []Question {
	if engine == Podman {
		return []Question{{AboutConnections, engine, argv.New(engine, "system", "connection", "list", "--format", "json")}}
	}
	return []Question{
		{AboutSystem, engine, argv.New(engine, "info", "--format", "{{.OperatingSystem}}")},
		{AboutDesktop, engine, argv.New(engine, "run", "--rm", "--pull=never", "--network", "none", "--entrypoint", "test",
			"--mount", "type=bind,source="+DesktopSocket+",target=/probe", image, "-S", "/probe")},
	}
}

// KeysQuestion asks the ssh agent for its identities.
func KeysQuestion() Question { return Question{About: AboutKeys, Cmd: argv.New("ssh-add", "-l")} }

// record files an answer. An engine that failed one question does not answer.
func (f *Facts) record(q Question, a Answer) {
	if q.About == AboutKeys {
		f.SSHAgent = keysAnswer(a)
		return
	}
	e := f.engine(q.Of)
	if problem := a.problem(); problem != "" {
		switch q.About {
		case AboutSystem, AboutDesktop: // optional: without them the agent is not forwarded (R6.2)
		case AboutConnections:
			e.Connections = ""
		default:
			if e.Problem == "" {
				e.Problem = problem
			}
		}
		return
	}
	switch q.About {
	case AboutImage:
		if lines := ParseLines(a.Stdout); len(lines) > 0 {
			e.ImageID = lines[0]
		}
	case AboutContainers:
		e.Containers = ParseLines(a.Stdout)
	case AboutNetworks:
		e.Networks = ParseLines(a.Stdout)
	case AboutSystem:
		e.OperatingSystem = strings.TrimSpace(a.Stdout)
	case AboutDesktop:
		e.DesktopSocket = true
	case AboutConnections:
		e.Connections = a.Stdout
	}
}

// engine returns the entry of the named engine, made if it is not there.
func (f *Facts) engine(name string) *Engine {
	for i := range f.Engines {
		if f.Engines[i].Name == name {
			return &f.Engines[i]
		}
	}
	f.Engines = append(f.Engines, Engine{Name: name})
	return &f.Engines[len(f.Engines)-1]
}

// SetRootless records whether the engine runs as the user instead of root.
func (f *Facts) SetRootless(name string, rootless bool) { f.engine(name).Rootless = rootless }

// problem is why an answer is none, in the program's own words; "" if it is one.
func (a Answer) problem() string {
	if a.Err == nil && a.Code == 0 {
		return ""
	}
	if words := strings.TrimSpace(a.Stderr); words != "" {
		return words
	}
	if a.Err != nil {
		return a.Err.Error()
	}
	return strings.TrimSpace("it failed without a word " + a.Stdout)
}

// keysAnswer reads `ssh-add -l`: 0 with a line for each key, 1 for an empty agent, 2
// for one that does not answer.
func keysAnswer(a Answer) SSHAgent {
	switch {
	case a.Err == nil && a.Code == 0:
		return SSHAgent{Asked: true, Keys: ParseKeys(a.Stdout)}
	case a.Err == nil && a.Code == 1:
		return SSHAgent{Asked: true}
	}
	return SSHAgent{Asked: true, Problem: a.problem()}
}

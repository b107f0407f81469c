// Package argv is the vocabulary of the program: commands as data, the steps
// that a plan consists of, and their one printed form. It starts nothing, reads
// nothing and imports nothing but a few pure packages of the standard library.
package argv

// Cmd is one command, exactly as the operating system will receive it.
type Cmd struct {
	Args  []string `json:"args"`            // Args[0] is the program; no shell is involved
	Env   []Var    `json:"env,omitempty"`   // added to the inherited environment, in order
	Dir   string   `json:"dir,omitempty"`   // empty means the caller's directory
	Stdin string   `json:"stdin,omitempty"` // literal text; empty means none
}

// New returns the command that runs program with args.
func New(program string, args ...string) Cmd {
	return Cmd{Args: append([]string{program}, args...)}
}

// Var is one environment variable. Exactly one of Value and Secret counts: a
// non-empty Secret hides itself from every printer, and only the runner reveals it.
type Var struct {
	Name   string
	Value  string
	Secret Secret
}

// Kind says what a Step does, and so which of its fields count.
type Kind string

// The kinds of a Step.
const (
	Run   Kind = "run"   // wait for Cmd; a failure stops the plan
	Start Kind = "start" // leave Cmd running; it is ended on the way out
	Poll  Kind = "poll"  // repeat Cmd until it succeeds or Within has passed
	Main  Kind = "main"  // give Cmd the terminal; its exit code becomes ours (at most one)
	Mkdir Kind = "mkdir" // make the directory Path (0700) with its missing parents
	Write Kind = "write" // write Text to the file Path (0600), replacing it
)

// Step is one thing to do. Which fields count depends on Kind.
type Step struct {
	Kind    Kind     `json:"kind"`
	Why     string   `json:"why"`           // an infinitive: heads the printed step, completes "cannot …" in an error
	Cmd     *Cmd     `json:"cmd,omitempty"` // run, start, poll, main
	Path    string   `json:"path,omitempty"`
	Text    string   `json:"text,omitempty"`
	Every   Duration `json:"every,omitempty"`   // poll: the first interval; it backs off to five times that
	Within  Duration `json:"within,omitempty"`  // poll: the limit
	MayFail bool     `json:"mayFail,omitempty"` // a failure is a warning
	Output  Output   `json:"output,omitempty"`  // run: what its standard output is for
	Failure string   `json:"failure,omitempty"` // said in place of the bare cause when the step fails
	Hint    string   `json:"hint,omitempty"`    // what the user can do about a failure
	Undo    []Cmd    `json:"undo,omitempty"`    // run on the way out once the step began, whatever ended the plan

	// The rest counts for main alone.

	// Replace allows the launcher to become the command (execve) when nothing of the
	// plan is left to watch or undo, so that signals, terminal and exit code are its own.
	Replace bool `json:"replace,omitempty"`
	// Taken is what the command prints to standard error, together with exit code
	// 125, when a name in it was taken by somebody else. The runner then returns a
	// *TakenError, and the caller plans anew. Empty: nothing is looked for.
	Taken string `json:"taken,omitempty"`
	// Stop ends by name what the command began elsewhere. It runs when a signal
	// ended the launch, or when the command has not ended a grace time after one. If
	// its first command fails, there was nothing left to end.
	Stop []Cmd `json:"stop,omitempty"`
}

// Output says what a run step's standard output is for.
type Output string

// What a run step's standard output is for.
const (
	Shown    Output = ""         // progress for the user: it goes to our standard error
	NonEmpty Output = "nonempty" // an answer: not shown, and an empty one is a failure
)

// Plan is everything that one launch does, in order.
type Plan struct {
	Warnings []string `json:"warnings"`
	Notes    []string `json:"notes,omitempty"` // information, such as where each mount comes from
	Steps    []Step   `json:"steps"`
}

// Main returns the plan's main step, or nil if it has none.
func (p *Plan) Main() *Step {
	for i := range p.Steps {
		if p.Steps[i].Kind == Main {
			return &p.Steps[i]
		}
	}
	return nil
}

// TakenError reports that the main command found a name of its own already taken.
type TakenError struct{ Text string }

func (e *TakenError) Error() string { return "a name is taken: " + e.Text }

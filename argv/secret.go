package argv

import (
	"encoding/json"
	"fmt"
	"io"
)

// Hidden is what a secret looks like wherever it is printed.
const Hidden = "***"

// Secret is a text that hides itself from every printer: %v, %+v, %#v, %q, %x,
// JSON and text marshalling all give [Hidden]. Only [Secret.Reveal] gives the text.
type Secret string

// Reveal returns the text itself. Only the runner, and a print that was asked to
// show secrets, have a reason to call it.
func (s Secret) Reveal() string { return string(s) }

// Format implements fmt.Formatter for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Hidden) }

func (s Secret) String() string { return Hidden }

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return Hidden }

// MarshalText implements encoding.TextMarshaler, which JSON uses too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Hidden), nil }

// Format implements fmt.Formatter: a command prints as its shell line, whatever the
// verb. Without it, a verb that does not fit a struct would have fmt print the raw
// fields behind a pointer, the secrets too.
func (c Cmd) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.Shell()) }

// shown returns the variable's value as a printer may show it.
func (v Var) shown() string {
	if v.Secret != "" {
		return Hidden
	}
	return v.Value
}

// Text returns the variable's value in clear, secret or not. It is for the runner.
func (v Var) Text() string {
	if v.Secret != "" {
		return v.Secret.Reveal()
	}
	return v.Value
}

// MarshalJSON writes {"name":…,"value":…} with a secret's value hidden.
func (v Var) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}{v.Name, v.shown()})
}

// UnmarshalJSON reads what MarshalJSON writes; a hidden value stays the text "***".
func (v *Var) UnmarshalJSON(data []byte) error {
	var open struct{ Name, Value string }
	if err := json.Unmarshal(data, &open); err != nil {
		return err
	}
	*v = Var{Name: open.Name, Value: open.Value}
	return nil
}

// WithSecrets returns a copy of the plan in which every secret is an open value,
// for a print that was asked to show them.
func (p Plan) WithSecrets() Plan {
	steps := make([]Step, len(p.Steps))
	for i, step := range p.Steps {
		step.Cmd = open(step.Cmd)
		step.Stop, step.Undo = openAll(step.Stop), openAll(step.Undo)
		steps[i] = step
	}
	p.Steps = steps
	return p
}

func openAll(commands []Cmd) []Cmd {
	out := make([]Cmd, len(commands))
	for i := range commands {
		out[i] = *open(&commands[i])
	}
	return out
}

func open(cmd *Cmd) *Cmd {
	if cmd == nil {
		return nil
	}
	shown := *cmd
	shown.Env = make([]Var, len(cmd.Env))
	for i, v := range cmd.Env {
		shown.Env[i] = Var{Name: v.Name, Value: v.Text()}
	}
	return &shown
}

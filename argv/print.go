package argv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Shell returns the command as one line for a POSIX shell, copy-and-paste exact
// but for secrets, which are shown as ***.
func (c Cmd) Shell() string {
	var words []string
	for _, v := range c.Env {
		words = append(words, v.Name+"="+Quote(v.shown()))
	}
	words = append(words, Join(c.Args))
	line := strings.Join(words, " ")
	if c.Dir != "" {
		line = "(cd " + Quote(c.Dir) + " && " + line + ")"
	}
	if c.Stdin != "" {
		line = "printf %s " + Quote(c.Stdin) + " | " + line
	}
	return line
}

// Shell returns the plan as text for a POSIX shell: each command under a
// "# kind: why" line, warnings first, and last, in the order in which they would
// run, the commands that undo it.
func (p Plan) Shell() string {
	var b strings.Builder
	for _, warning := range p.Warnings {
		comment(&b, "warning: "+warning)
	}
	for _, note := range p.Notes {
		comment(&b, "note: "+note)
	}
	for _, step := range p.Steps {
		comment(&b, string(step.Kind)+": "+step.Why+step.terms())
		b.WriteString(step.shell() + "\n")
	}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		step := p.Steps[i]
		list(&b, "stop: end what a signal left behind", step.Stop)
		list(&b, "undo: "+step.Why, step.Undo)
	}
	return b.String()
}

// list writes commands under one comment line, and nothing if there are none.
func list(b *strings.Builder, why string, commands []Cmd) {
	for i, c := range commands {
		if i == 0 {
			comment(b, why)
		}
		b.WriteString(c.Shell() + "\n")
	}
}

// comment writes text as one comment line: a line break in it must not begin a command.
func comment(b *strings.Builder, text string) {
	b.WriteString("# " + strings.NewReplacer("\n", " ", "\r", " ").Replace(text) + "\n")
}

// terms describes, for the comment line, what the command alone does not show.
func (s Step) terms() string {
	var terms []string
	switch s.Kind {
	case Poll:
		terms = append(terms, fmt.Sprintf("every %s, for %s at most", s.Every, s.Within))
	case Start:
		terms = append(terms, "in the background, ended on the way out")
	}
	if s.Output == NonEmpty {
		terms = append(terms, "must print something")
	}
	if s.MayFail {
		terms = append(terms, "may fail")
	}
	if len(terms) == 0 {
		return ""
	}
	return " (" + strings.Join(terms, "; ") + ")"
}

func (s Step) shell() string {
	switch s.Kind {
	case Mkdir:
		return "(umask 077 && mkdir -p -- " + Quote(s.Path) + ")"
	case Write:
		return "(umask 077 && mkdir -p -- " + Quote(path.Dir(s.Path)) + " && printf %s " + Quote(s.Text) + " > " + Quote(s.Path) + ")"
	case Start:
		return s.Cmd.Shell() + " &"
	}
	return s.Cmd.Shell()
}

// JSON returns the plan as one indented JSON object, version 1 of the form that
// print-args documents, with the engine and the platform that it is for.
func (p Plan) JSON(engine, platform string) ([]byte, error) {
	if p.Warnings == nil {
		p.Warnings = []string{}
	}
	if p.Steps == nil {
		p.Steps = []Step{}
	}
	data, err := marshal(struct {
		Version  int    `json:"version"`
		Engine   string `json:"engine"`
		Platform string `json:"platform"`
		Plan
	}{1, engine, platform, p})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// marshal is json.Marshal without the escapes for <, > and &, which would make
// argument lists hard to read.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

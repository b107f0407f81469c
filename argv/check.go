package argv

import (
	"errors"
	"fmt"
	"strings"
)

// MaxWord is the longest single argument, in bytes, that Linux hands to a program
// (MAX_ARG_STRLEN less the closing NUL).
const MaxWord = 128*1024 - 1

// Check reports the first thing in the plan that could not be carried out as
// written: an empty or impossible command, a field that the kind of its step needs
// and that is missing, more than one main step, or a main step that is not last.
func Check(p Plan) error {
	for i, step := range p.Steps {
		if err := checkStep(step); err != nil {
			return fmt.Errorf("step %d (%s: %s): %w", i+1, step.Kind, step.Why, err)
		}
		if step.Kind == Main && i != len(p.Steps)-1 {
			return fmt.Errorf("step %d (main: %s): only the last step can be the main one", i+1, step.Why)
		}
	}
	return nil
}

func checkStep(s Step) error {
	if s.Why == "" {
		return errors.New("no reason is given")
	}
	for i := range s.Undo {
		if err := checkCmd(&s.Undo[i]); err != nil {
			return fmt.Errorf("undo: %w", err)
		}
	}
	for i := range s.Stop {
		if err := checkCmd(&s.Stop[i]); err != nil {
			return fmt.Errorf("stop: %w", err)
		}
	}
	switch s.Kind {
	case Run, Start, Main:
		return checkCmd(s.Cmd)
	case Poll:
		if s.Every <= 0 || s.Within <= 0 {
			return errors.New("a poll needs an interval and a limit")
		}
		return checkCmd(s.Cmd)
	case Mkdir, Write:
		if s.Path == "" || strings.ContainsRune(s.Path, 0) {
			return fmt.Errorf("%q is no path", s.Path)
		}
		return nil
	}
	return fmt.Errorf("unknown kind %q", s.Kind)
}

func checkCmd(c *Cmd) error {
	if c == nil || len(c.Args) == 0 || c.Args[0] == "" {
		return errors.New("no program is given")
	}
	for i, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("argument %d of %s holds a NUL byte", i, c.Args[0])
		}
		if len(arg) > MaxWord {
			return fmt.Errorf("argument %d of %s is %d bytes long; one argument holds at most %d", i, c.Args[0], len(arg), MaxWord)
		}
	}
	for _, v := range c.Env {
		if !ValidName(v.Name) {
			return fmt.Errorf("%q is no name for an environment variable", v.Name)
		}
		if strings.ContainsRune(v.Text(), 0) {
			return fmt.Errorf("the value of %s holds a NUL byte", v.Name)
		}
	}
	return nil
}

// ValidName tells whether name can be an environment variable's: a letter or _,
// then letters, digits and _.
func ValidName(name string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

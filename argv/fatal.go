package argv

// Fatal is a failure of the launcher itself (the FatalSandboxError of the
// requirements): what is wrong, and what the user can do about it.
type Fatal struct {
	Text  string
	Words string // what the program that failed said, unchanged
	Hint  string
	Usage bool  // the command line is wrong, not the host: exit code 2 instead of 44
	Cause error // kept for errors.Is; Text says it already
}

func (f *Fatal) Error() string { return f.Text }

// Unwrap returns the cause, which may be nil.
func (f *Fatal) Unwrap() error { return f.Cause }

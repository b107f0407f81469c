package argv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What Quote writes, a real shell reads back unchanged.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "a b", "it's", `"`, "$HOME", "`id`", "a\nb", "~", "!", "é", "\\", "*", "#", "=x", "x=~", "\x80\xff", "-n", "\t"} {
		f.Add(seed)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("no sh")
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.ContainsRune(word, 0) {
			t.Skip("no argument holds a NUL")
		}
		out, err := exec.Command(sh, "-c", "printf '%s|' "+Join([]string{word, word})).Output()
		require.NoError(t, err)
		require.Equal(t, word+"|"+word+"|", string(out))
		if bash, err := exec.LookPath("bash"); err == nil {
			out, err = exec.Command(bash, "-c", "printf '%s|' x="+Quote(word)).Output()
			require.NoError(t, err)
			require.Equal(t, "x="+word+"|", string(out))
		}
	})
}

func TestSecretHidesFromEveryPrinter(t *testing.T) {
	const text = "s3cret"
	v := Var{Name: "KEY", Secret: Secret(text)}
	cmd := Cmd{Args: []string{"x"}, Env: []Var{v}}
	step := Step{Kind: Main, Why: "x", Cmd: &cmd, Undo: []Cmd{cmd}}
	plan := Plan{Steps: []Step{step}}
	for _, value := range []any{v.Secret, &v.Secret, v, &v, cmd, step, plan, []Secret{v.Secret}, map[string]Secret{"a": v.Secret}} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s"} {
			require.NotContains(t, fmt.Sprintf(format, value), text, format)
			require.NotContains(t, fmt.Sprintf(format, value), fmt.Sprintf("%x", text), format)
		}
		data, err := json.Marshal(value)
		require.NoError(t, err)
		require.NotContains(t, string(data), text)
	}
	data, err := plan.JSON("docker", "linux")
	require.NoError(t, err)
	require.NotContains(t, string(data), text)
	require.NotContains(t, plan.Shell(), text)
	require.Contains(t, plan.WithSecrets().Shell(), "KEY=s3cret x")
	require.NotContains(t, plan.Shell(), text, "the copy was opened, not the plan")
	require.Equal(t, text, v.Text())
}

func TestPlanJSONRoundTrip(t *testing.T) {
	cmd := Cmd{Args: []string{"a", "<&>"}, Env: []Var{{Name: "K", Value: "v"}}, Dir: "/d", Stdin: "in"}
	plan := Plan{Warnings: []string{"w"}, Notes: []string{"n"}, Steps: []Step{
		{Kind: Poll, Why: "wait", Cmd: &cmd, Every: 250 * Millisecond, Within: 10 * Second, Undo: []Cmd{cmd}, Hint: "h"},
		{Kind: Write, Why: "write", Path: "/p", Text: "t"},
		{Kind: Main, Why: "go", Cmd: &cmd, Stop: []Cmd{cmd}, Taken: "t", Replace: true},
	}}
	data, err := plan.JSON("docker", "linux")
	require.NoError(t, err)
	require.Contains(t, string(data), `"<&>"`, "no escapes")
	var back struct {
		Version          int
		Engine, Platform string
		Plan
	}
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, plan, back.Plan)
	require.Equal(t, 1, back.Version)
}

func TestShellOfEveryField(t *testing.T) {
	cmd := Cmd{Args: []string{"cat"}, Env: []Var{{Name: "K", Value: "a b"}}, Dir: "/tmp", Stdin: "it's"}
	require.Equal(t, `printf %s 'it'\''s' | (cd /tmp && K='a b' cat)`, cmd.Shell())
	out, err := exec.Command("sh", "-c", cmd.Shell()).Output()
	require.NoError(t, err)
	require.Equal(t, "it's", string(out))
	text := Plan{Warnings: []string{"a\nrm -rf /"}, Steps: []Step{{Kind: Main, Why: "x\ny", Cmd: &Cmd{Args: []string{"true"}}}}}.Shell()
	for line := range strings.Lines(text) {
		require.True(t, strings.HasPrefix(line, "# ") || line == "true\n", "a line break in a comment must not begin a command: %q", line)
	}
}

func TestCheckRefuses(t *testing.T) {
	ok := &Cmd{Args: []string{"true"}}
	for want, plan := range map[string]Plan{
		"no reason is given":         {Steps: []Step{{Kind: Run, Cmd: ok}}},
		"no program is given":        {Steps: []Step{{Kind: Run, Why: "x"}}},
		"only the last step":         {Steps: []Step{{Kind: Main, Why: "x", Cmd: ok}, {Kind: Main, Why: "x", Cmd: ok}}},
		"holds a NUL byte":           {Steps: []Step{{Kind: Run, Why: "x", Cmd: &Cmd{Args: []string{"a\x00"}}}}},
		"bytes long":                 {Steps: []Step{{Kind: Run, Why: "x", Cmd: &Cmd{Args: []string{"a", strings.Repeat("x", MaxWord+1)}}}}},
		"no name for an environment": {Steps: []Step{{Kind: Run, Why: "x", Cmd: &Cmd{Args: []string{"a"}, Env: []Var{{Name: "A=B"}}}}}},
		"the value of A holds a NUL": {Steps: []Step{{Kind: Run, Why: "x", Cmd: &Cmd{Args: []string{"a"}, Env: []Var{{Name: "A", Secret: "\x00"}}}}}},
		"needs an interval":          {Steps: []Step{{Kind: Poll, Why: "x", Cmd: ok}}},
		"is no path":                 {Steps: []Step{{Kind: Mkdir, Why: "x"}}},
		"unknown kind":               {Steps: []Step{{Kind: "dance", Why: "x"}}},
		"undo: no program is given":  {Steps: []Step{{Kind: Run, Why: "x", Cmd: ok, Undo: []Cmd{{}}}}},
		"stop: no program is given":  {Steps: []Step{{Kind: Main, Why: "x", Cmd: ok, Stop: []Cmd{{}}}}},
	} {
		require.ErrorContains(t, Check(plan), want)
	}
	require.NoError(t, Check(Plan{Steps: []Step{{Kind: Main, Why: "x", Cmd: ok}}}))
}

func FuzzDuration(f *testing.F) {
	f.Add([]byte(`"250ms"`))
	f.Add([]byte(`"10s"`))
	f.Add([]byte(`"-1s"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Duration
		if json.Unmarshal(data, &d) != nil {
			return
		}
		again, err := json.Marshal(d)
		require.NoError(t, err)
		var back Duration
		require.NoError(t, json.Unmarshal(again, &back))
		require.Equal(t, d, back)
		require.False(t, bytes.Contains(again, []byte("-")))
	})
}

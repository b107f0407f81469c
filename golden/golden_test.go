// Package golden_test compares the plans of many small cases with the texts that
// stand beside them. Each case is a txtar file: what the user asked for (flags.json,
// env, profile.json, args) and what the host is like (facts.json, over the base
// below); then the wanted plan as text (plan), as JSON (plan.json, where the case
// has one), or the wanted error.
//
// `go test ./golden -update` writes what the program does now; read the difference
// before you commit it.
package golden_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/internal/config"
	"github.com/llxsandbox/llxsandbox/internal/launch"
	"github.com/llxsandbox/llxsandbox/platform"
)

var update = flag.Bool("update", false, "write what the program does now")

// base is a host with both engines, an image, and nothing else. Cases add to it.
const base = `{
	"os": "linux", "home": "/home/ada", "workDir": "/home/ada/proj", "tempDir": "/tmp",
	"runtimeDir": "/run/user/1000/llxsandbox", "stateDir": "/home/ada/.local/state/llxsandbox",
	"self": "/usr/bin/llxsandbox", "launchId": "c0ffee", "uid": 1000, "gid": 1000,
	"osRelease": {"id": "fedora"}, "terminal": {"stdin": false, "stdout": false},
	"programs": ["docker", "podman"],
	"paths": [{"path": "/home/ada/.llxprt", "kind": "dir"}],
	"engines": [{"name": "docker", "imageId": "0123"}, {"name": "podman", "imageId": "0123"}]
}`

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("*.txtar")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 120, "a case is missing")
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".txtar"), func(t *testing.T) { check(t, file) })
	}
}

func check(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	require.NotEmpty(t, strings.TrimSpace(string(archive.Comment)), "the first line says what the case is about")
	in := map[string][]byte{}
	for _, f := range archive.Files {
		in[f.Name] = f.Data
	}
	got := plan(t, in)
	if *update {
		var kept []txtar.File
		for _, f := range archive.Files {
			if f.Name != "plan" && f.Name != "plan.json" && f.Name != "error" {
				kept = append(kept, f)
			}
		}
		for _, name := range []string{"plan", "plan.json", "error"} {
			_, asked := in[name]
			if got[name] != "" && (asked || name != "plan.json") {
				kept = append(kept, txtar.File{Name: name, Data: []byte(got[name])})
			}
		}
		archive.Files = kept
		require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
		return
	}
	wanted := 0
	for _, name := range []string{"plan", "plan.json", "error"} {
		want, ok := in[name]
		if !ok {
			continue
		}
		wanted++
		if d := diff.Diff("want", want, "got", []byte(got[name])); d != nil {
			t.Errorf("%s differs (go test ./golden -update, then read the difference):\n%s", name, d)
		}
	}
	require.NotZero(t, wanted, "the case wants nothing")
}

// plan returns what the case gives: a plan as text and JSON, or an error and its hint.
func plan(t *testing.T, in map[string][]byte) map[string]string {
	facts, err := platform.ReadFacts([]byte(base))
	require.NoError(t, err)
	// Decoding over a slice could keep fields of the elements that were there.
	if bytes.Contains(in["facts.json"], []byte(`"engines"`)) {
		facts.Engines = nil
	}
	if bytes.Contains(in["facts.json"], []byte(`"paths"`)) {
		facts.Paths = nil
	}
	strict(t, in["facts.json"], &facts)
	var flags config.Flags
	strict(t, in["flags.json"], &flags)
	env := config.NewEnv(strings.Split(strings.ReplaceAll(strings.TrimRight(string(in["env"]), "\n"), `\n`, "\n"), "\n"))
	if multi, ok := in["env.json"]; ok {
		strict(t, multi, &env)
	}
	var args []string
	strict(t, in["args.json"], &args)
	var profile config.Profile
	if text, ok := in["profile.json"]; ok {
		profile, err = config.LoadProfile("case", "/home/ada/.llxprt/sandboxes/case.json", string(text), true)
	} else if flags.Profile != "" {
		profile, err = config.LoadProfile(flags.Profile, "", "", false)
	}
	var cfg config.Config
	if err == nil {
		cfg, err = config.Load(flags, env, profile, facts.Home, args)
	}
	var l launch.Launch
	if err == nil {
		l, err = launch.Plan(cfg, &facts)
	}
	if err != nil {
		var fatal *argv.Fatal
		require.ErrorAs(t, err, &fatal, "every error has a hint")
		require.NotEmpty(t, fatal.Hint)
		text := "error: " + fatal.Text + "\n"
		if fatal.Words != "" {
			text += fatal.Words + "\n"
		}
		text += "hint: " + fatal.Hint + "\n"
		if fatal.Usage {
			text += "wrong usage\n"
		}
		return map[string]string{"error": text}
	}
	require.NoError(t, argv.Check(l.Plan))
	data, err := l.Plan.JSON(l.Engine, facts.OS)
	require.NoError(t, err)
	return map[string]string{"plan": l.Plan.Shell(), "plan.json": string(data) + "\n"}
}

// strict decodes JSON over what v holds; a misspelt key is an error.
func strict(t *testing.T, data []byte, v any) {
	if len(data) == 0 {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s: %v", data, err)
	}
}

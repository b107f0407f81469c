package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/argv/oci"
)

// Profile is one sandbox profile (launcher contract, section 8). What it does not
// set is left to the environment.
type Profile struct {
	Engine    string            `json:"engine,omitempty"`
	Image     string            `json:"image,omitempty"`
	Resources Resources         `json:"resources,omitzero"`
	Network   string            `json:"network,omitempty"`
	SSHAgent  string            `json:"sshAgent,omitempty"`
	Mounts    []ProfileMount    `json:"mounts,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Tmp       string            `json:"tmp,omitempty"`
	Hardening string            `json:"hardening,omitempty"`
	Publish   string            `json:"publish,omitempty"`

	from string // the file, for errors; or that it is built in
}

// Resources are a profile's limits. cpus and pids are numbers, memory is text.
type Resources struct {
	CPUs   json.Number `json:"cpus,omitempty"`
	Memory string      `json:"memory,omitempty"`
	Pids   json.Number `json:"pids,omitempty"`
}

// ProfileMount is one mount of a profile; to defaults to from, and mode to ro.
type ProfileMount struct {
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Mode string `json:"mode,omitempty"`
}

// builtin are the profiles that exist without a file.
var builtin = map[string]Profile{
	"dev":     {Engine: "auto", Resources: Resources{"2", "4g", "256"}, Network: "on", SSHAgent: "auto"},
	"safe":    {Resources: Resources{"2", "4g", "128"}, Network: "off", SSHAgent: "off", Tmp: "private"},
	"tight":   {Resources: Resources{"1", "2g", "64"}, Network: "off", SSHAgent: "off", Tmp: "private"},
	"offline": {Resources: Resources{"2", "4g", "128"}, Network: "off", SSHAgent: "off", Tmp: "private"},
}

// BuiltinProfiles returns the names of the built-in profiles, sorted.
func BuiltinProfiles() []string { return slices.Sorted(maps.Keys(builtin)) }

var profileName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// ProfileName checks the name of a profile and removes an optional .json: it becomes
// part of a path, and must not lead out of the profiles' directory.
func ProfileName(name string) (string, error) {
	name = strings.TrimSuffix(name, ".json")
	if !profileName.MatchString(name) {
		return "", badValue("--profile", name, "a name of letters, digits, '.', '_' and '-'", "`llxsandbox profile list` shows the profiles")
	}
	return name, nil
}

// LoadProfile returns the named profile: of the file's text if there is a file, else
// the built-in one. from names the file in errors.
func LoadProfile(name, from, text string, isFile bool) (Profile, error) {
	if !isFile {
		p, ok := builtin[name]
		if !ok {
			return Profile{}, &argv.Fatal{
				Text:  fmt.Sprintf("there is no profile %q", name),
				Hint:  fmt.Sprintf("built in are %s; your own go to ~/.llxprt/sandboxes/%s.json", strings.Join(BuiltinProfiles(), ", "), name),
				Usage: true,
			}
		}
		p.from = "the built-in profile " + name
		return p, nil
	}
	p, err := ParseProfile(from, []byte(text))
	p.from = from
	return p, err
}

// ParseProfile reads the text of a profile file, JSON with comments. An unknown key
// and a wrong type are errors that name the file and the key.
func ParseProfile(from string, text []byte) (Profile, error) {
	bad := func(err error) error {
		return &argv.Fatal{
			Text: fmt.Sprintf("the profile %s is not valid: %s", from, strings.TrimPrefix(err.Error(), "json: ")),
			Hint: "valid keys are engine, image, resources{cpus,memory,pids}, network, sshAgent, mounts[{from,to,mode}], env{}, tmp, hardening, publish; `llxsandbox profile show dev` prints an example",
		}
	}
	standard, err := hujson.Standardize(slices.Clone(text))
	if err != nil {
		return Profile{}, bad(err)
	}
	var p Profile
	dec := json.NewDecoder(bytes.NewReader(standard))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Profile{}, bad(err)
	}
	if bytes.TrimSpace(standard)[0] != '{' {
		return Profile{}, bad(fmt.Errorf("it must be an object"))
	}
	for _, number := range []struct {
		key   string
		value json.Number
	}{{"resources.cpus", p.Resources.CPUs}, {"resources.pids", p.Resources.Pids}} {
		// A quoted number decodes into a json.Number as well.
		if bytes.Contains(standard, []byte(`"`+number.value.String()+`"`)) && number.value != "" {
			return Profile{}, bad(fmt.Errorf("%s must be a number, not text", number.key))
		}
	}
	return p, nil
}

// mounts returns the profile's mounts, with ~ for the home.
func (p *Profile) mounts(home string) ([]oci.Mount, error) {
	return eachOf(p.Mounts, func(_ int, m ProfileMount) (oci.Mount, error) {
		from := p.key("mounts")
		if strings.HasPrefix(m.To, "~/") {
			m.To = home + m.To[1:]
		}
		item := m.From
		if m.To != "" || m.Mode != "" {
			item += ":" + m.To
		}
		if m.Mode != "" {
			item += ":" + m.Mode
		}
		return parseMount(from, item, home)
	})
}

// env returns the profile's variables, sorted: a map has no order of its own.
func (p *Profile) env() ([]argv.Var, error) {
	return eachOf(slices.Sorted(maps.Keys(p.Env)), func(n int, key string) (argv.Var, error) {
		return parseEnv(p.key("env"), n, key+"="+p.Env[key])
	})
}

// key names one of the profile's keys in an error.
func (p *Profile) key(name string) string {
	if p.from == "" {
		return name
	}
	return name + " of " + p.from
}

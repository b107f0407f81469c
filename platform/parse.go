package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/joho/godotenv"
	"github.com/tailscale/hujson"
)

// ParseOSRelease reads the text of an os-release file. Values may be bare or
// quoted; lines that are no assignments are passed over.
func ParseOSRelease(text string) OSRelease {
	var r OSRelease
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch key {
		case "ID":
			r.ID = strings.ToLower(value)
		case "ID_LIKE":
			r.IDLike = strings.Fields(strings.ToLower(value))
		}
	}
	return r
}

// Debian tells whether the distribution is Debian or Ubuntu, or says that it is like
// one of them, by whole words.
func (r OSRelease) Debian() bool {
	for _, id := range append([]string{r.ID}, r.IDLike...) {
		if id == "debian" || id == "ubuntu" {
			return true
		}
	}
	return false
}

// ParseSandboxSetting reads the key "sandbox" of a settings file, which is JSON
// with comments. The value may be a boolean or an engine's name; it comes back as
// a word, and as "" if the key is not there or null.
func ParseSandboxSetting(text []byte) (string, error) {
	standard, err := hujson.Standardize(slices.Clone(text))
	if err != nil {
		return "", fmt.Errorf("not valid JSON with comments: %w", err)
	}
	var settings struct {
		Sandbox any `json:"sandbox"`
	}
	if err := json.Unmarshal(standard, &settings); err != nil {
		return "", fmt.Errorf("not a valid settings file: %w", err)
	}
	switch v := settings.Sandbox.(type) {
	case nil:
		return "", nil
	case bool:
		return fmt.Sprint(v), nil
	case string:
		return v, nil
	}
	return "", errors.New(`the key "sandbox" is neither a boolean nor an engine's name`)
}

// ParseDotEnv returns the value of name in the text of an .env file, "" if it is not there.
func ParseDotEnv(text, name string) (string, error) {
	values, err := godotenv.Unmarshal(text)
	if err != nil {
		// The parser's message quotes the text, which may hold secrets.
		return "", errors.New("not a valid .env file")
	}
	return values[name], nil
}

// ParseLines returns the non-empty lines of an engine's answer.
func ParseLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// ParseGitFile returns the path in the text of a .git file ("gitdir: PATH"), "" if
// it is not one.
func ParseGitFile(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	dir, ok := strings.CutPrefix(line, "gitdir: ")
	if !ok {
		return ""
	}
	return strings.TrimRight(dir, "\r")
}

var coreWorktree = regexp.MustCompile(`(?mi)^\s*worktree\s*=\s*(.*?)\s*$`)

// ParseCoreWorktree returns the value of core.worktree in the text of a git
// configuration file, "" if there is none. It reads what git itself writes there
// for a submodule, and no more of the format than that.
func ParseCoreWorktree(text string) string {
	section := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") {
			section = strings.ToLower(trimmed)
			continue
		}
		if section != "[core]" {
			continue
		}
		if m := coreWorktree.FindStringSubmatch(line); m != nil {
			return strings.Trim(m[1], `"`)
		}
	}
	return ""
}

// ParseDockerContext returns the currentContext in the text of docker's config.json,
// "" if there is none or the text is not valid.
func ParseDockerContext(text []byte) string {
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	_ = json.Unmarshal(text, &config)
	return config.CurrentContext
}

// ParseKeys returns how many keys `ssh-add -l` listed.
func ParseKeys(text string) int { return len(ParseLines(text)) }

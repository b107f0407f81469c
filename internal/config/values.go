package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/llxsandbox/llxsandbox/argv"
	"github.com/llxsandbox/llxsandbox/argv/oci"
	"github.com/llxsandbox/llxsandbox/platform"
)

// badValue is the one error for a wrong value: where it came from, what it is, what
// is valid. A value that came from a flag is wrong usage.
func badValue(from, value, valid, hint string) error {
	if hint == "" {
		hint = "correct " + from + ", or leave it out"
	}
	return &argv.Fatal{
		Text:  fmt.Sprintf("%s is %q; valid is %s", from, value, valid),
		Hint:  hint,
		Usage: strings.HasPrefix(from, "--"),
	}
}

// word checks a value against the words that are valid, ignoring case and blanks.
func word(from, value string, valid ...string) (string, error) {
	w := strings.ToLower(strings.TrimSpace(value))
	if slices.Contains(valid, w) {
		return w, nil
	}
	return "", badValue(from, value, "one of "+strings.Join(valid, ", "), "")
}

var (
	cpusForm   = regexp.MustCompile(`^([0-9]+(\.[0-9]*)?|\.[0-9]+)$`)
	memoryForm = regexp.MustCompile(`^[0-9]+[bkmg]?$`)
	numberForm = regexp.MustCompile(`^[0-9]+$`)
	someDigit  = regexp.MustCompile(`[1-9]`)
)

// limit checks one of the limits: its form, and that it is more than nothing.
func limit(from, value string, form *regexp.Regexp, valid string) (string, error) {
	value = strings.TrimSpace(value)
	if value == "" {
		return "", nil
	}
	if !form.MatchString(value) || !someDigit.MatchString(value) || len(value) > 20 {
		return "", badValue(from, value, valid, "")
	}
	return value, nil
}

// parsePort reads "PORT" or "HOST:CONTAINER" (defect 22).
func parsePort(from, item string) (oci.Port, error) {
	host, container, two := strings.Cut(strings.TrimSpace(item), ":")
	if !two {
		container = host
	}
	var port oci.Port
	for _, side := range []struct {
		text string
		to   *int
	}{{host, &port.Host}, {container, &port.Container}} {
		n, err := strconv.Atoi(side.text)
		if err != nil || n < 1 || n > 65535 || !numberForm.MatchString(side.text) {
			return oci.Port{}, badValue(from, item, "PORT or HOST:CONTAINER, each from 1 to 65535", "")
		}
		*side.to = n
	}
	return port, nil
}

// parseMount reads "FROM[:TO[:OPTS]]". Whether FROM exists is a question for the facts.
func parseMount(from, item, home string) (oci.Mount, error) {
	rest, drive := item, ""
	if platform.HasDrive(item) && item[2] == '\\' { // C:\a\b
		drive, rest = item[:2], item[2:]
	}
	parts := strings.Split(rest, ":")
	m := oci.Mount{From: drive + parts[0], Mode: "ro", Source: from}
	if len(parts) > 3 {
		return m, badValue(from, item, "FROM[:TO[:OPTIONS]]", "a path that holds a colon cannot be mounted")
	}
	if home != "" && (m.From == "~" || strings.HasPrefix(m.From, "~/")) {
		m.From = home + m.From[1:]
	}
	if !strings.HasPrefix(m.From, "/") && drive == "" {
		return m, &argv.Fatal{
			Text:  fmt.Sprintf("path %q listed in %s must be absolute", m.From, from),
			Hint:  "write the whole path, such as /home/me/data; ~ is not expanded here",
			Usage: strings.HasPrefix(from, "--"),
		}
	}
	m.To = oci.ContainerPath(m.From)
	if len(parts) > 1 && parts[1] != "" {
		m.To = parts[1]
		if !strings.HasPrefix(m.To, "/") {
			return m, badValue(from, item, "FROM[:TO[:OPTIONS]] with an absolute TO", "")
		}
	}
	if len(parts) > 2 && parts[2] != "" {
		if !slices.Contains([]string{"ro", "rw", "z", "Z"}, parts[2]) {
			return m, badValue(from, item, "FROM[:TO[:OPTIONS]] with one of the options ro, rw, z, Z", "")
		}
		m.Mode = parts[2]
	}
	return m, nil
}

// parseEnv reads the n-th "KEY=VALUE" of a list, n from 0. Nothing of an item that is
// none is repeated: it may be the second half of a secret that holds a comma.
func parseEnv(from string, n int, item string) (argv.Var, error) {
	key, value, ok := strings.Cut(item, "=")
	if !ok || !argv.ValidName(key) {
		if strings.HasPrefix(from, "--") {
			return argv.Var{}, &argv.Fatal{Text: from + " must be KEY=VALUE, or KEY for the value of this shell's variable", Hint: "a key is made of letters, digits and _", Usage: true}
		}
		return argv.Var{}, &argv.Fatal{
			Text: fmt.Sprintf("%s must be a comma-separated list of KEY=VALUE pairs, and item %d is none", from, n+1),
			Hint: "a key is made of letters, digits and _; a value that holds a comma goes by --env KEY=VALUE",
		}
	}
	return oci.EnvVar(key, value), nil
}

// items splits a comma-separated list, trims blanks and skips empty items.
func items(list string) []string {
	var out []string
	for item := range strings.SplitSeq(list, ",") {
		if item = trim(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// trim removes blanks at both ends, the byte order mark that some editors leave included.
func trim(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

// eachOf parses every item, with its number from 0, and stops at the first that is wrong.
func eachOf[S, T any](list []S, parse func(n int, item S) (T, error)) ([]T, error) {
	var out []T
	for n, item := range list {
		v, err := parse(n, item)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

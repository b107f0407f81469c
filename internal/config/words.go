package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/shlex"

	"github.com/llxsandbox/llxsandbox/argv"
)

// SplitFlags splits text as a POSIX shell splits a command line: quotes, backslashes
// and lines joined by a backslash. $NAME and ${NAME} outside single quotes are
// replaced from the environment, and what they give is not split again. Everything
// else that a shell would act on (#, *, ;, |) stands for itself (defect 20).
func SplitFlags(from, text string, lookup func(string) string) ([]string, error) {
	if strings.ContainsRune(text, 0) {
		return nil, notWords(from, "it holds a NUL byte")
	}
	if !utf8.ValidString(text) {
		return nil, notWords(from, "it is not valid UTF-8")
	}
	marked, err := markDollars(strings.ReplaceAll(text, "\\\n", ""))
	if err != nil {
		return nil, notWords(from, err.Error())
	}
	words, err := shlex.Split(marked)
	if err != nil {
		return nil, notWords(from, "a quote or a backslash has no end")
	}
	for i, word := range words {
		words[i] = expand(word, lookup)
	}
	return words, nil
}

// notWords is the error for a text that cannot be split. The text itself is not
// repeated: flags may hold secrets.
func notWords(from, why string) error {
	return &argv.Fatal{Text: fmt.Sprintf("%s cannot be split into words: %s", from, why), Hint: "write it as you would in a shell, such as --label 'a b' --env X=$NAME"}
}

// dollar stands for a $ that is to be expanded, while shlex removes the quotes that
// tell which are. The text holds no NUL of its own.
const dollar = "\x00"

// markDollars replaces each $ that begins an expansion by the mark, and protects
// each # that shlex would take for a comment.
func markDollars(text string) (string, error) {
	var b strings.Builder
	quote, start := byte(0), true // the open quote; whether a word could begin here
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(text):
			b.WriteByte(c)
			i++
			b.WriteByte(text[i])
			start = false
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case c == '$' && quote != '\'':
			name, length, err := reference(text[i+1:])
			if err != nil {
				return "", err
			}
			if name != "" {
				b.WriteString(dollar + name + dollar)
				i += length
				start = false
				continue
			}
		case c == '#' && quote == 0 && start:
			b.WriteByte('\\')
		}
		b.WriteByte(c)
		start = quote == 0 && unicode.IsSpace(rune(c))
	}
	return b.String(), nil
}

// reference reads the NAME or {NAME} that text begins with, and how long it is. An
// empty name means that the $ before it stands for itself.
func reference(text string) (name string, length int, err error) {
	if inner, ok := strings.CutPrefix(text, "{"); ok {
		name, _, closed := strings.Cut(inner, "}")
		if !closed || !argv.ValidName(name) {
			return "", 0, errors.New("${ must be followed by a name and }")
		}
		return name, len(name) + 2, nil
	}
	for length < len(text) && argv.ValidName(text[:length+1]) {
		length++
	}
	return text[:length], length, nil
}

// expand replaces each marked name by its value.
func expand(word string, lookup func(string) string) string {
	parts := strings.Split(word, dollar)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = lookup(parts[i])
	}
	return strings.Join(parts, "")
}

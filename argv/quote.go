package argv

import "strings"

// Quote returns word as one word of a POSIX shell: sh reads it back unchanged,
// whatever it holds (a NUL cannot be in an argument at all; see [Check]).
func Quote(word string) string {
	if word == "" {
		return "''"
	}
	if strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// special tells the characters that a shell might not take literally. The list is
// of those that are safe, so that an unknown one is quoted. A tilde is not safe at
// a word's start and an equals sign makes an assignment of a first word.
func special(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_./:,@%+=", r)
}

// Join quotes each word and joins them with blanks.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(word)
		if i == 0 && strings.Contains(word, "=") && quoted[i] == word {
			quoted[i] = "'" + word + "'" // a command, not an assignment
		}
	}
	return strings.Join(quoted, " ")
}

package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fundesk/tui/find"
)

// asciiSigns and spelled replace our signs, and letters of two, on terminals with ASCII only.
var (
	asciiSigns = strings.NewReplacer("…", "~", "·", "-", "•", "*", "→", ">")
	spelled    = strings.NewReplacer("€", "EUR", "ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue")
)

// asciiLine returns a line of the screen without accents, in the same width. A letter that becomes two takes a blank
// behind it in its column; without a blank it becomes one.
func asciiLine(line string) string {
	columns := strings.Split(asciiSigns.Replace(line), "|")
	for i, column := range columns {
		var roomy, tight strings.Builder
		owed := 0
		for at, r := range column {
			letters := string(r)
			if r >= utf8.RuneSelf {
				letters = inASCII(r)
			}
			isFiller := r == ' ' || r == '-'
			if owed > 0 && isFiller && strings.HasPrefix(column[at+1:], letters) {
				owed--
			} else {
				roomy.WriteString(letters)
			}
			if r >= utf8.RuneSelf && len(letters) > 1 && letters[0] < utf8.RuneSelf {
				owed += len(letters) - 1
				letters = letters[:1]
			}
			tight.WriteString(letters)
		}
		columns[i] = roomy.String()
		if owed > 0 {
			columns[i] = tight.String()
		}
	}
	return strings.Join(columns, "|")
}

// inASCII returns a letter as it is spelled without its accent, or the sign itself.
func inASCII(r rune) string {
	if letters := spelled.Replace(string(r)); letters != string(r) {
		return letters
	}
	letters := find.Unaccented(strings.ToLower(string(r)))
	if unicode.IsUpper(r) && letters != "" {
		letters = strings.ToUpper(letters[:1]) + letters[1:]
	}
	return letters
}

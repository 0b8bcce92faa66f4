package desk

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"fundesk/render"
)

// Say returns a text of the Desk in the agent's language. The English text is its name in the tables
// of the languages; where one has none, the text stays English. args are put in as by fmt.Sprintf.
func (b *base) Say(text string, args ...any) string {
	if b != nil { // Where no desk is open, texts are English.
		text = cmp.Or(languages[b.Language][text], text)
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Count returns a number with its word, such as 2 tries.
func (b *base) Count(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, b.Say(one))
	}
	return fmt.Sprintf("%d %s", n, b.Say(many))
}

// Ago returns a time as a person says it, such as 29 days ago.
func (b *base) Ago(t time.Time) string {
	ago := render.Ago(t, b.Now())
	if n, unit, counted := strings.Cut(ago, " "); counted && n[0] <= '9' {
		return b.Say("%s "+unit, n)
	}
	return b.Say(ago)
}

// languages are the texts of the Desk by language and English text.
var languages = map[string]map[string]string{"nl": dutch, "de": german}

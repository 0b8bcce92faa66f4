package desk

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"fundesk/render"
)

// Say returns a text of the Desk in the agent's language. The English text is its name in the tables
// of the languages; where one has none, the text stays English, or what follows its colon does. args are put in as by fmt.Sprintf.
func (b *base) Say(text string, args ...any) string {
	if b != nil && languages[b.Language] != nil { // Where no desk is open, texts are English.
		table := languages[b.Language]()
		before, after, _ := strings.Cut(text, ": ")
		switch said := table[text]; {
		case said != "":
			text = said
		case len(args) == 0 && table[before] != "": // What follows is a name, or an error.
			text = table[before] + ": " + after
		}
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// SayDate returns a date with its days and months in the agent's language.
func SayDate(say func(string, ...any) string, text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		words[i] = say(word)
	}
	return strings.Join(words, " ")
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

//go:embed say_nl.txt
var dutch string

//go:embed say_de.txt
var german string

// languages are the texts of the Desk by language and English text. A table is read when it is first needed.
var languages = map[string]func() map[string]string{
	"nl": sync.OnceValue(func() map[string]string { return readTexts(dutch) }),
	"de": sync.OnceValue(func() map[string]string { return readTexts(german) }),
}

// readTexts reads a table: in each line an English text, a tab, and the text that is said.
func readTexts(table string) map[string]string {
	texts := map[string]string{}
	for line := range strings.Lines(table) {
		english, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		texts[english] = said
	}
	return texts
}

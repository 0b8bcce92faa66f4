// Package say has the texts of the Desk in English, Dutch and German.
package say

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fundesk/render"
)

// Texts are the texts for one agent: in a language, with amounts and dates as the locale writes them. The zero value is
// English.
type Texts struct {
	Language string        // nl or de; any other is English.
	Locale   render.Locale // For shown amounts, dates and phone numbers.
}

// OfPledge ends the key of a word that has another translation for pledges. English has one word for both.
const OfPledge = " (pledge)"

// Say returns a text in the agent's language. The English text is its key in the tables. If a table has no translation,
// the text stays English, or the part after its colon does. args are inserted as by fmt.Sprintf.
func (t Texts) Say(text string, args ...any) string {
	if languages[t.Language] != nil {
		table := languages[t.Language]()
		before, after, _ := strings.Cut(text, ": ")
		switch said := table.texts[text]; {
		case said != "":
			text = said
		case len(args) == 0 && table.texts[before] != "": // A name or a cause follows.
			text = table.texts[before] + ": " + table.cause(after)
		case len(args) == 0:
			text = table.cause(text)
		}
	}
	if len(args) == 0 {
		return strings.TrimSuffix(text, OfPledge)
	}
	return fmt.Sprintf(text, args...)
}

// Date returns a written date with its days and months in the agent's language: "Mon 2 Jan" is "Mo 2. Jan" in German.
func (t Texts) Date(text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		words[i] = t.Say(word)
		isDay := len(word) <= 2 && strings.Trim(word, "0123456789") == ""
		if isDay && t.Language == "de" {
			words[i] += "."
		}
	}
	return strings.Join(words, " ")
}

// Count returns a number with its word, such as 2 tries.
func (t Texts) Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + t.Say(one)
	}
	return t.Locale.Count(n) + " " + t.Say(many)
}

// Ago returns a time in words, such as 29 days ago.
func (t Texts) Ago(at, now time.Time) string {
	ago := render.Ago(at, now)
	if n, unit, counted := strings.Cut(ago, " "); counted && n[0] <= '9' {
		return t.Say("%s "+unit, n)
	}
	return t.Say(ago)
}

// When returns why if something is so, or else an empty text.
func When(is bool, why string) string {
	if is {
		return why
	}
	return ""
}

//go:embed nl.txt
var dutch string

//go:embed de.txt
var german string

// languages are the tables by language. A table is read when it is first needed.
var languages = map[string]func() table{
	"nl": sync.OnceValue(func() table { return readTexts(dutch) }),
	"de": sync.OnceValue(func() table { return readTexts(german) }),
}

// table holds the texts of a language by their English ones.
type table struct {
	texts  map[string]string
	causes map[string]string // Texts of other packages, the service and the system. place marks a value.
	order  []string          // The causes with a place, the longest first.
}

// place marks a value in a cause. ofProfile is a cause that names a profile.
const (
	place     = "{}"
	ofProfile = " of profile " + place
)

// readTexts reads a table. Each line has an English text, a tab, and the translation. The causes follow an empty line.
func readTexts(lines string) table {
	t := table{texts: map[string]string{}, causes: map[string]string{}}
	into := t.texts
	for line := range strings.Lines(lines) {
		english, said, isText := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !isText {
			into = t.causes
			continue
		}
		into[english] = said
		if strings.Contains(english, place) {
			t.order = append(t.order, english)
		}
	}
	slices.SortFunc(t.order, func(a, b string) int { return len(b) - len(a) })
	return t
}

// cause translates an error of another package: as a whole, or else its parts. An unknown one stays.
func (t table) cause(text string) string {
	if status, after, found := strings.Cut(text, " "); found && len(status) == 3 &&
		strings.Trim(status, "0123456789") == "" {
		return status + " " + t.cause(after)
	}
	if said, isWhole := t.whole(text); isWhole {
		return said
	}
	for _, joint := range []string{"; ", ": "} {
		if before, after, found := strings.Cut(text, joint); found {
			return t.cause(before) + joint + t.cause(after)
		}
	}
	field, after, _ := strings.Cut(text, " ")
	if said, isWhole := t.whole(after); isWhole {
		return field + " " + said
	}
	return text
}

// whole returns a cause in the language, with the values that it names.
func (t table) whole(text string) (string, bool) {
	said := t.causes[text]
	if said != "" {
		return said, true
	}
	for _, english := range t.order {
		if values, fits := valuesIn(text, strings.Split(english, place)); fits {
			said = t.causes[english]
			kind := ""
			if strings.HasPrefix(english, "the pledge is ") {
				kind = OfPledge
			}
			for _, value := range values {
				word := cmp.Or(t.texts[value+kind], t.texts[value], t.cause(value))
				if english == ofProfile { // The name of a profile may be a word of the Desk, too.
					word = value
				}
				said = strings.Replace(said, place, word, 1)
			}
			return said, true
		}
	}
	return "", false
}

// valuesIn returns the texts between the parts. The first part begins the text, and the last one ends it.
func valuesIn(text string, parts []string) ([]string, bool) {
	rest, fits := strings.CutPrefix(text, parts[0])
	var values []string
	for i, part := range parts[1:] {
		at := strings.Index(rest, part)
		if i == len(parts)-2 {
			at = len(rest) - len(part)
		}
		if !fits || at < 0 || !strings.HasSuffix(rest[:at+len(part)], part) {
			return nil, false
		}
		values, rest = append(values, rest[:at]), rest[at+len(part):]
	}
	return values, fits
}

package say

import (
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// The tables of the languages have the same texts and causes, with the same places for values.
func TestTablesOfLanguagesMatch(t *testing.T) {
	t.Parallel()
	verbs := regexp.MustCompile(`%[a-z%]|` + regexp.QuoteMeta(place))
	first := languages["nl"]()
	for language, read := range languages {
		table := read()
		servicetest.Same(t, language+": texts (-nl +"+language+")", slices.Sorted(maps.Keys(first.texts)),
			slices.Sorted(maps.Keys(table.texts)))
		servicetest.Same(t, language+": causes (-nl +"+language+")", slices.Sorted(maps.Keys(first.causes)),
			slices.Sorted(maps.Keys(table.causes)))
		for _, texts := range []map[string]string{table.texts, table.causes} {
			for text, said := range texts {
				got, want := verbs.FindAllString(said, -1), verbs.FindAllString(text, -1)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q has %q, want the values of %q", language, said, got, text)
				}
			}
		}
		for _, status := range []int{400, 401, 403, 404, 408, 409, 412, 429, 500, 502, 503, 504} {
			cause := strings.ToLower(http.StatusText(status))
			if table.causes[cause] == "" {
				t.Errorf("%s: no text for the cause %q", language, cause)
			}
		}
	}
}

// A text in the code is in the tables: what is said, the words of an action, a reason why it does nothing, and the
// label of a field.
func TestSaidTextsAreTranslated(t *testing.T) {
	t.Parallel()
	const quoted = `("(?:[^"\\]|\\.)*")`
	label := regexp.MustCompile(`\bLabel:\s*` + quoted)
	said := regexp.MustCompile(strings.Join([]string{
		`\b(?:Say|say|[Ss]ayf|Refuse|Fail|FailRead)\(` + quoted + `[,)]`,
		`\b(?:Word|Help|Hint|Title|Label):\s*` + quoted,
		`\bsay\.When\((?:[^",]|"")*,\s*` + quoted + `\)`,
	}, "|"))
	table := languages["nl"]().texts
	found := 0
	for folder, texts := range map[string]*regexp.Regexp{
		"../..":                      said,
		"../../../commands/desk":     said,
		"../../../apiclient/apitype": label,
	} {
		servicetest.Check(t, filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			source, err := os.ReadFile(name)
			for _, match := range texts.FindAllStringSubmatch(string(source), -1) {
				text, err := strconv.Unquote(strings.Join(match[1:], ""))
				servicetest.Check(t, err)
				found++
				if _, known := table[text]; !known && strings.Trim(text, "%sdq ,·:") != "" {
					t.Errorf("%s: tui/desk/say/nl.txt and de.txt have no row for %q", name, text)
				}
			}
			return err
		}))
	}
	if found < 100 {
		t.Errorf("got %d texts, want those of the Desk", found)
	}
}

func TestDatesOfLanguages(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		"":   "Mon 2 Mar 09:15",
		"nl": "ma 2 mrt 09:15",
		"de": "Mo 2. Mär 09:15",
	} {
		servicetest.Same(t, language, want, (Texts{Language: language}).Date("Mon 2 Mar 09:15"))
	}
}

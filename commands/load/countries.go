package load

import (
	_ "embed"
	"maps"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// otherCountryNames are names that people write and that no list of countries has.
var otherCountryNames = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"uk": "GB", "greatbritain": "GB", "england": "GB", "scotland": "GB", "wales": "GB", "northernireland": "GB",
		"grootbrittannie": "GB", "engeland": "GB", "grossbritannien": "GB", "grandebretagne": "GB", "angleterre": "GB",
		"granbretana": "GB", "inglaterra": "GB", "holland": "NL", "hollande": "NL", "holanda": "NL", "usa": "US",
		"unitedstatesofamerica": "US", "czechrepublic": "CZ", "bundesrepublikdeutschland": "DE", "turkey": "TR",
	}
})

// countryTable has a country on each line: its codes of two and three letters, and its folded names in English, Dutch,
// German, French and Spanish. They are those of golang.org/x/text/language/display, which makes the start of every
// command slower.
//
//go:embed countries.txt
var countryTable string

// countryNames returns the codes of countries by their names and codes.
var countryNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for line := range strings.Lines(countryTable) {
		code, rest, _ := strings.Cut(line, " ")
		names[strings.ToLower(code)] = code
		for name := range strings.FieldsSeq(rest) {
			names[name] = code
		}
	}
	maps.Copy(names, otherCountryNames())
	return names
})

// foldName returns the letters of a name in lower case, without accents and the article.
func foldName(name string) string {
	name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "the ")
	var letters strings.Builder
	for _, r := range norm.NFKD.String(name) {
		if unicode.IsLetter(r) {
			letters.WriteRune(r)
		}
	}
	return strings.ReplaceAll(letters.String(), "ß", "ss")
}

// countryOf returns the code of a country by its code or name, or an empty text.
func countryOf(text string) string {
	return countryNames()[foldName(text)]
}

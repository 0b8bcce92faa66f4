package load

import (
	"maps"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"

	"fundesk/apiclient/apitype"
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

// countryNames returns the codes of countries by their folded names in English, Dutch, German, French and Spanish, and
// by their codes of two and three letters.
var countryNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	languages := []display.Namer{
		display.Regions(language.English),
		display.Regions(language.Dutch),
		display.Regions(language.German),
		display.Regions(language.French),
		display.Regions(language.Spanish),
	}
	for _, code := range apitype.CountryCodes() {
		region, err := language.ParseRegion(code)
		if err != nil {
			continue
		}
		for _, in := range languages {
			names[foldName(in.Name(region))] = code
		}
		names[strings.ToLower(region.ISO3())] = code
		names[strings.ToLower(code)] = code
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

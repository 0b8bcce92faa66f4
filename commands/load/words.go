package load

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"fundesk/commands/bulk"
)

// gendersOf lists the words of English, Dutch, German, French and Spanish for a gender, without accents and points.
var gendersOf = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"female": "female woman mrs ms miss vrouw vrouwelijk mevrouw mevr mw mej mejuffrouw frau weiblich weibl " +
			"femme feminin " +
			"feminine madame mme mademoiselle mlle mujer femenino femenina senora sra senorita srta dona",
		"male": "male man mr mister mannelijk heer dheer deheer dhr meneer herr hr mann mannlich maennlich homme " +
			"masculin " +
			"monsieur mons hombre masculino senor sr varon don",
		"other":   "other anders divers autre otro",
		"unknown": "unknown onbekend unbekannt inconnu desconocido",
	}
})

// letterGender returns the gender of a letter in the language of a country, or an empty text.
// Spanish has no letter M: it is mujer and masculino.
func letterGender(letter, country string) string {
	letters := map[string]string{"m": "male", "v": "female", "w": "female", "f": "female"}
	if country == "ES" {
		letters = map[string]string{"h": "male", "v": "male", "f": "female"}
	}
	return letters[letter]
}

var (
	errGender = errors.New(
		"must be a word; --country NL reads the letter, --value 'gender:V=female' says what it means",
	)
	errNoGender = errors.New(
		"must be one of male, female, other, unknown; --value 'gender:V=female' says what a word means",
	)
)

// genderWord returns the gender that a word or, with a country, a letter stands for.
func genderWord(text, country string) (string, error) {
	word := foldName(text)
	if len(word) == 1 {
		gender := letterGender(word, country)
		if gender == "" && !strings.Contains("mhvwf", word) {
			return "", errNoGender
		}
		if gender == "" || country == "" {
			return "", errGender
		}
		return gender, nil
	}
	for gender, words := range gendersOf() {
		if slices.Contains(strings.Fields(words), word) {
			return gender, nil
		}
	}
	return "", errNoGender
}

// trimmed returns a text without the blanks at its ends.
func trimmed(text string) string { return bulk.Trimmed(text) }

// Package postal splits addresses that are written on one line, by the form of their country.
package postal

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The countries whose addresses are split, by the place of the number.
const (
	numberLast  = "NL BE DE AT CH ES IT DK SE NO FI PL CZ PT"
	numberFirst = "GB IE FR LU US CA AU NZ"
)

// Why a line is not split.
var (
	ErrNoCountry = errors.New("cannot be split without a country")
	ErrForm      = errors.New("cannot be split into street and house number")
)

// A house number, with an extension that is joined to it, a flat before it, and an address that begins with one.
var (
	houseNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{1,5})[-/]?([A-Za-z]{0,4}|[\dIVX]{1,4}(?:/[\dIVX]{1,4}){0,2})$`)
	})
	flatBefore = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:flat|apartment|apt|unit|suite)\s+\w{1,4}[\s,]+`)
	})
	numberThenStreet = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(\d{1,5})(?:\s*(bis|ter|quater|[a-z]|[-/]\s?\d{1,4}))?[\s,]+(\D.*)$`)
	})
)

// beforeExtension are the words after which a number is not a house number.
const beforeExtension = "bus box bte boite b app apt appt appartement top stiege tur piso pta esc int scala"

// Split returns the parts of a line with a street and a house number by the form of its country. It refuses a line that
// has a postcode and a town as well.
func Split(text, country string) (street, number, extension string, err error) {
	text = strings.Join(strings.Fields(text), " ")
	if _, isWhole := SplitWhole(text, country); isWhole {
		return "", "", "", ErrForm
	}
	isLast := slices.Contains(strings.Fields(numberLast), country)
	isFirst := slices.Contains(strings.Fields(numberFirst), country)
	if country == "" {
		return "", "", "", ErrNoCountry
	}
	if isFirst {
		m := numberThenStreet().FindStringSubmatch(text)
		if m == nil || strings.ContainsAny(m[3], "0123456789") && strings.Contains(m[3], ",") {
			return "", "", "", ErrForm
		}
		return m[3], m[1], trimExtension(m[2]), nil
	}
	if isLast {
		return splitAtNumber(strings.Fields(text))
	}
	return "", "", "", ErrForm
}

// splitAtNumber splits at the last word that is a house number. It refuses two numbers side by side, and a number after
// a comma that follows another one: that may be a postcode.
func splitAtNumber(words []string) (street, number, extension string, err error) {
	for i := len(words) - 1; i > 0; i-- {
		word := strings.Trim(words[i], ",")
		m := houseNumber().FindStringSubmatch(word)
		before := strings.ToLower(strings.Trim(words[i-1], ",."))
		if m == nil || slices.Contains(strings.Fields(beforeExtension), before) {
			continue
		}
		if houseNumber().MatchString(before) || hasNumberBeforeComma(words[:i]) {
			return "", "", "", ErrForm
		}
		rest := strings.Join(words[i+1:], " ")
		isStreet := len(rest) > 12 && len(strings.Fields(rest)) < 2
		if m[2] != "" && rest != "" || isStreet {
			return "", "", "", ErrForm
		}
		return strings.TrimRight(strings.Join(words[:i], " "), " ,"), m[1], trimExtension(m[2] + rest), nil
	}
	return "", "", "", ErrForm
}

// hasNumberBeforeComma reports whether a house number stands among words, with a comma at some place behind it.
func hasNumberBeforeComma(words []string) bool {
	isNumber := func(word string) bool { return houseNumber().MatchString(strings.Trim(word, ",")) }
	first := slices.IndexFunc(words, isNumber)
	return first > 0 &&
		slices.ContainsFunc(words[first:], func(word string) bool { return strings.HasSuffix(word, ",") })
}

// trimExtension returns an extension without what joins it to its number.
func trimExtension(text string) string { return strings.Trim(text, " -/,") }

// Address is an address in its parts.
type Address struct{ Street, Number, Extension, Code, City string }

// codes are the forms of postcodes by country, within a line.
var codes = sync.OnceValue(func() map[string]*regexp.Regexp {
	const four, five = `(?:[A-Z]{1,2}-)?(\d{4})`, `(?:[A-Z]{1,2}-)?(\d{5})`
	forms := map[string]string{
		"NL": `(\d{4} ?[A-Za-z]{2})`,
		"BE": four, "AT": four, "CH": four, "LU": four,
		"DE": five, "FR": five, "ES": five, "IT": five,
	}
	all := map[string]*regexp.Regexp{
		"GB": regexp.MustCompile(`^(.+?),\s*([^,\d]+?),?\s+([A-Za-z]{1,2}\d[A-Za-z\d]?\s*\d[A-Za-z]{2})$`),
	}
	for country, form := range forms {
		all[country] = regexp.MustCompile(`^(.+?)[,;\s]\s*` + form + `[,\s]+(\D+)$`)
	}
	return all
})

// SplitWhole returns the parts of a line with street, number, postcode and town by the form of its country. It returns
// false for any other line.
func SplitWhole(text, country string) (Address, bool) {
	form := codes()[country]
	var a Address
	if form == nil {
		return a, false
	}
	text = strings.Join(strings.Fields(text), " ")
	m := form.FindStringSubmatch(text)
	if m == nil {
		return a, false
	}
	first, code, city := m[1], m[2], m[3]
	if isDutch := codes()["NL"].MatchString(text); isDutch && country != "NL" { // 8094 RA Zwolle is no town RA Zwolle.
		return a, false
	}
	if country == "GB" { // The town comes before the postcode.
		code, city = city, code
	}
	flat := ""
	if country == "GB" { // "Flat 3, 10 High Street".
		flat = flatBefore().FindString(first)
	}
	street, number, extension, err := Split(strings.Trim(strings.TrimPrefix(first, flat), " ,"), country)
	extension = strings.TrimSpace(extension + " " + strings.Trim(flat, " ,"))
	a = Address{street, number, extension, strings.ToUpper(code), strings.Trim(city, " ,")}
	return a, err == nil
}

// countryNames are the names of countries at the end of an address, in English, Dutch and German.
var countryNames = map[string]string{
	"NL": "netherlands the-netherlands nederland niederlande holland",
	"BE": "belgium belgië belgie belgien",
	"DE": "germany duitsland deutschland",
	"AT": "austria oostenrijk österreich oesterreich",
	"CH": "switzerland zwitserland schweiz",
	"LU": "luxembourg luxemburg",
	"FR": "france frankrijk frankreich",
	"ES": "spain spanje spanien",
	"IT": "italy italië italie italien",
	"GB": "uk united-kingdom england verenigd-koninkrijk vereinigtes-königreich engeland",
}

// CutCountry cuts the country from the end of a line: ", Germany" or ", DE". The country is empty without one.
func CutCountry(text string) (line, country string) {
	at := strings.LastIndexAny(text, ",;\n")
	if at < 0 {
		return text, ""
	}
	name := strings.TrimSpace(text[at+1:])
	for code, names := range countryNames {
		isName := slices.Contains(strings.Fields(names), strings.ToLower(strings.Join(strings.Fields(name), "-")))
		if isName || name == code {
			return strings.TrimSpace(text[:at]), code
		}
	}
	return text, ""
}

// Countries returns the countries in which a line has the form of a whole address, in alphabetical order.
func Countries(text string) []string {
	var all []string
	for _, country := range slices.Sorted(maps.Keys(codes())) {
		if _, isWhole := SplitWhole(text, country); isWhole {
			all = append(all, country)
		}
	}
	return all
}

// extensionWords are the words of more than two letters that may stand behind a house number, beside those before a
// further number.
const extensionWords = "bis ter quater boîte apartment appart hinterhaus hinterhof vorderhaus seitenflügel " +
	"gartenhaus erdgeschoss souterrain links rechts mitte boven beneden achter voor kelder verdieping hoog huis " +
	"rood zwart ges stock etage floor flat tür interno izq dcha rear suite unit iii vii viii xii bâtiment batiment " +
	"résidence escalera izquierda derecha planta zij ingang woonboot woonschip aanbouw"

// IsExtension reports whether a text may stand behind a house number: short parts, and words for a part of a house. A
// sentence has others.
func IsExtension(text string) bool {
	known := strings.Fields(beforeExtension + " " + extensionWords)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), isNoLetter) {
		if utf8.RuneCountInString(word) > 2 && !slices.Contains(known, word) {
			return false
		}
	}
	return true
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

// IsCode reports whether a text may be a postcode: letters, digits, blanks and hyphens. The countries whose addresses
// are split have digits in it.
func IsCode(text, country string) bool {
	isOther := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ' ' && r != '-' }
	isSplit := codes()[country] != nil
	return utf8.RuneCountInString(text) <= mostCode && !strings.ContainsFunc(text, isOther) &&
		(!isSplit || strings.ContainsAny(text, "0123456789"))
}

// mostCode is the most characters of a postcode.
const mostCode = 12

// LooksWhole reports whether a line is more than a street: it has a comma, or a line break, and a digit.
func LooksWhole(text string) bool {
	return strings.ContainsAny(text, ",;\n") && strings.ContainsAny(text, "0123456789")
}

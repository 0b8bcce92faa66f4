package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// nationalLength is the number of digits of national numbers that begin with a prefix, without the trunk prefix.
type nationalLength struct {
	prefix      string // Empty for all others.
	least, most int
}

// nationalLengths has the lengths of national numbers by country, for those that are read without a plus sign.
var nationalLengths = sync.OnceValue(func() map[string][]nationalLength {
	return map[string][]nationalLength{
		"AT": {{"", 7, 13}},
		"BE": {{"4", 8, 9}, {"", 8, 8}},
		"CH": {{"", 9, 9}},
		"DE": {{"15", 10, 11}, {"16", 10, 11}, {"17", 10, 11}, {"", 6, 11}},
		"ES": {{"", 9, 9}},
		"FR": {{"", 9, 9}},
		"GB": {{"1", 9, 10}, {"8", 9, 10}, {"", 10, 10}},
		"IT": {{"0", 6, 11}, {"3", 9, 10}, {"", 6, 11}},
		"LU": {{"", 6, 9}},
		"NL": {{"97", 9, 11}, {"", 9, 9}},
	}
})

// DialledCountries returns the countries with numbers that [Dialled] reads without a plus sign.
func DialledCountries() []string {
	all := make([]string, 0, len(nationalLengths()))
	for country := range nationalLengths() {
		all = append(all, country)
	}
	slices.Sort(all)
	return all
}

// Dialled returns a number as it is dialled in a country in E.164. A number that begins with + or 00 is that of any
// country. Any other one must have a length that the country's numbers have.
func Dialled(typed, country string) (string, error) {
	number := International(typed, country)
	start := strings.TrimLeft(typed, " (\u00a0")
	if strings.HasPrefix(start, "+") || strings.HasPrefix(start, "00") {
		return number, nil
	}
	lengths, isKnown := nationalLengths()[country]
	if !isKnown {
		return "", fmt.Errorf(
			"must begin with + and the country's code; without it, numbers of %s are read",
			strings.Join(DialledCountries(), ", "),
		)
	}
	of, national, isOfForm := splitPhone(number)
	if !isOfForm || !of.has(country) {
		return "", lengthError(len(digitsOf(typed)), country, lengths)
	}
	for _, length := range lengths {
		if !strings.HasPrefix(national, length.prefix) {
			continue
		}
		if len(national) < length.least || len(national) > length.most {
			return "", lengthError(len(national), country, []nationalLength{length})
		}
		return number, nil
	}
	return number, nil
}

var errNoNumber = errors.New("must be a phone number, of digits")

// lengthError returns the error of a number of an impossible length, of that many digits.
func lengthError(n int, country string, lengths []nationalLength) error {
	if n == 0 {
		return errNoNumber
	}
	length := lengths[len(lengths)-1]
	want := fmt.Sprint(length.least)
	if length.most > length.least {
		want += " to " + fmt.Sprint(length.most)
	}
	without := ""
	for _, c := range phoneCountries {
		if c.has(country) && c.trunk != "" {
			without = " after the " + c.trunk
		}
	}
	return fmt.Errorf("has %d digits%s, and a number of %s has %s", n, without, country, want)
}

// digitsOf returns the digits of a text.
func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

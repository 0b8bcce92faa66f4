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

// nationalLengths has the lengths of national numbers by country, for those that are read without a plus sign. A
// country without a length for all others has no other numbers.
var nationalLengths = sync.OnceValue(func() map[string][]nationalLength {
	return map[string][]nationalLength{
		"AT": {
			{"650", 10, 13},
			{"660", 10, 13},
			{"664", 10, 13},
			{"676", 10, 13},
			{"677", 10, 13},
			{"680", 10, 13},
			{"681", 10, 13},
			{"688", 10, 13},
			{"699", 10, 13},
			{"", 7, 13},
		},
		"BE": {{"42", 8, 8}, {"43", 8, 8}, {"4", 9, 9}, {"", 8, 8}}, // 04 is Liège, and the mobile networks.
		"CH": {{"", 9, 9}},
		"DE": {{"15", 10, 11}, {"16", 10, 11}, {"17", 10, 11}, {"", 6, 11}},
		"ES": {{"", 9, 9}},
		"FR": {{"", 9, 9}},
		"GB": {{"1", 9, 10}, {"8", 9, 10}, {"", 10, 10}},
		"IT": {{"0", 6, 11}, {"3", 9, 10}}, // The zero of a town is part of the number.
		"LU": {{"6", 9, 9}, {"", 6, 9}},
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

// longestLocal returns the most digits of a number without an area code, for countries whose numbers differ in length.
// Such a number cannot be told from one whose zero a spreadsheet dropped. It returns 0 for other countries.
func longestLocal(country string) int {
	if country == "AT" || country == "DE" {
		return 8
	}
	return 0
}

// errNoNumber refuses letters and signs that no number has.
var errNoNumber = errors.New("must be a phone number")

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
			"must begin with + and the country code; without them, only numbers of %s are read",
			strings.Join(DialledCountries(), ", "),
		)
	}
	if strings.Trim(strings.TrimPrefix(number, "+"), "0123456789") != "" {
		return "", errNoNumber
	}
	digits := digitsOf(typed)
	isLocal := len(digits) <= longestLocal(country) && !strings.HasPrefix(digits, trunkOf(country))
	if isLocal && len(digits) > 0 {
		return "", fmt.Errorf("has no area code; a number of %s begins with %s or +", country, trunkOf(country))
	}
	of, national, isOfForm := splitPhone(number)
	if !isOfForm || !of.has(country) {
		return "", lengthError(len(digits), country, lengths[len(lengths)-1])
	}
	for _, length := range lengths {
		if !strings.HasPrefix(national, length.prefix) {
			continue
		}
		if len(national) < length.least || len(national) > length.most {
			return "", lengthError(len(national), country, length)
		}
		return number, nil
	}
	return "", fmt.Errorf("does not begin as a number of %s; with + and its country code it is taken as it is", country)
}

// trunkOf returns the digit that national numbers of a country are dialled with, or an empty text.
func trunkOf(country string) string {
	for _, c := range phoneCountries {
		if c.has(country) {
			return c.trunk
		}
	}
	return ""
}

// lengthError returns the error of a number of an impossible length, of that many digits.
func lengthError(n int, country string, length nationalLength) error {
	if n == 0 {
		return errNoNumber
	}
	want := fmt.Sprint(length.least)
	if length.most > length.least {
		want += " to " + fmt.Sprint(length.most)
	}
	without := ""
	if trunk := trunkOf(country); trunk != "" {
		without = " after the " + trunk
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

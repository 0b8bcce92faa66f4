package load

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// wholeAddress is the name of a column that has street, house number and its extension in one cell.
const wholeAddress = "address"

// The countries whose addresses are split, by the place of the number.
const (
	numberLast  = "NL BE DE AT CH ES IT DK SE NO FI PL CZ PT"
	numberFirst = "GB IE FR LU US CA AU NZ"
)

var (
	errNoAddressCountry = errors.New("cannot be split without a country; --country or country_column names it")
	errAddress          = errors.New("cannot be split into street and house number; use columns of their own")
)

// A house number, with an extension that is joined to it, and an address that begins with one.
var (
	houseNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{1,5})[-/]?([A-Za-z]{0,4}|[\dIVX]{1,4})$`)
	})
	numberThenStreet = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(\d{1,5})(?:\s*(bis|ter|quater|[a-z]|[-/]\s?\d{1,4}))?[\s,]+(\D.*)$`)
	})
)

// beforeExtension are the words after which a number is no house number.
const beforeExtension = "bus box bte boite b app apt appt appartement top stiege tur piso pta esc int scala"

// splitAddress returns the parts of a line of an address by the form of its country.
func splitAddress(text, country string) (street, number, extension string, err error) {
	text = strings.Join(strings.Fields(text), " ")
	isLast := slices.Contains(strings.Fields(numberLast), country)
	isFirst := slices.Contains(strings.Fields(numberFirst), country)
	switch {
	case country == "":
		return "", "", "", errNoAddressCountry
	case isFirst:
		m := numberThenStreet().FindStringSubmatch(text)
		if m == nil || strings.ContainsAny(m[3], "0123456789") && strings.Contains(m[3], ",") {
			return "", "", "", errAddress
		}
		return m[3], m[1], trimExtension(m[2]), nil
	case isLast:
		return splitAtNumber(strings.Fields(text))
	default:
		return "", "", "", errAddress
	}
}

// splitAtNumber splits at the last word that is a house number. Two numbers side by side are refused.
func splitAtNumber(words []string) (street, number, extension string, err error) {
	for i := len(words) - 1; i > 0; i-- {
		word := strings.Trim(words[i], ",")
		m := houseNumber().FindStringSubmatch(word)
		before := strings.ToLower(strings.Trim(words[i-1], ",."))
		switch {
		case m == nil || slices.Contains(strings.Fields(beforeExtension), before):
			continue
		case houseNumber().MatchString(before):
			return "", "", "", errAddress
		}
		rest := strings.Join(words[i+1:], " ")
		isStreet := len(rest) > 12 && len(strings.Fields(rest)) < 2
		if m[2] != "" && rest != "" || isStreet {
			return "", "", "", errAddress
		}
		return strings.TrimRight(strings.Join(words[:i], " "), " ,"), m[1], trimExtension(m[2] + rest), nil
	}
	return "", "", "", errAddress
}

// trimExtension returns an extension without what joins it to its number.
func trimExtension(text string) string { return strings.Trim(text, " -/,") }

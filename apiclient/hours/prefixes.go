package hours

import (
	_ "embed" // The prefixes of numbers.
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
)

// CountryOf returns the country in which a person is called: the country of the address, or else of the number's
// prefix. It is "" if neither has one.
func CountryOf(p apitype.Person) string {
	address := p.Address.Pointer()
	if address != nil && address.Country != "" {
		return strings.ToUpper(address.Country)
	}
	for _, number := range []*string{p.MobilePhoneNumber, p.PhoneNumber} {
		if number == nil {
			continue
		}
		if country := countryOfNumber(*number); country != "" {
			return country
		}
	}
	return ""
}

// maxPrefix is the highest number of digits that name a country in a phone number.
const maxPrefix = 4

// countryOfNumber returns the country of a number in international form, or "".
func countryOfNumber(number string) string {
	digits := strings.TrimPrefix(number, "+")
	for n := min(maxPrefix, len(digits)); n > 0; n-- {
		if country := prefixes()[digits[:n]]; country != "" {
			return country
		}
	}
	return ""
}

var prefixes = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for line := range strings.Lines(prefixTable) {
		words := strings.Fields(line)
		for _, prefix := range words[1:] {
			table[prefix] = words[0]
		}
	}
	return table
})

// prefixTable has a country and the prefixes of its numbers on each line, after the numbering plan of the ITU.
//
//go:embed prefixes.txt
var prefixTable string

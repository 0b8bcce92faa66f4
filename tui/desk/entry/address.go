package entry

import (
	"cmp"
	"slices"
	"strings"

	"fundesk/apiclient/postal"
)

// StreetKey is the first part of an address. addressKeys are its parts, in the order in which they are typed after a
// new street.
const StreetKey = "address/street"

var addressKeys = []string{
	StreetKey, "address/houseNumber", "address/houseNumberExtension", "address/zipCode", "address/city",
}

// country returns the country of the donor's address, as it is to be.
func (e Form) country() string {
	i := slices.IndexFunc(e.Fixes(), func(f Fix) bool { return f.Key == "address/country" })
	if i < 0 {
		return ""
	}
	return strings.ToUpper(e.Fixes()[i].Is)
}

// movedTo is a typed address in its parts.
type movedTo struct {
	postal.Address
	country string // Empty if it stays.
}

// wholeAddress returns the parts of an address that was typed as a street. A country at its end goes with it.
func (e Form) wholeAddress(f Fix, typed string) (movedTo, bool) {
	var a movedTo
	if f.Key != StreetKey {
		return a, false
	}
	line, named := postal.CutCountry(typed)
	var isWhole bool
	a.Address, isWhole = postal.SplitWhole(line, cmp.Or(named, e.country()))
	if named != e.country() {
		a.country = named
	}
	return a, isWhole
}

// otherCountries returns the countries in which a typed street is a whole address, unless it is one in the donor's.
func (e Form) otherCountries(f Fix, typed string) []string {
	if _, isWhole := e.wholeAddress(f, typed); isWhole || f.Key != StreetKey {
		return nil
	}
	return postal.Countries(typed)
}

// wrongStreet returns why a text is neither a street nor an address, or an empty text.
func (e Form) wrongStreet(f Fix, typed string) string {
	_, isWhole := e.wholeAddress(f, typed)
	if f.Key != StreetKey || isWhole {
		return ""
	}
	if postal.LooksWhole(typed) || isSentence(typed, e.country()) {
		return e.Say("is more than a street, and no address in %s: type the street alone", e.country())
	}
	return ""
}

// mostStreet is the most words of a street.
const mostStreet = 12

// isSentence reports whether a text is more than a street and a house number.
func isSentence(typed, country string) bool {
	if strings.Contains(typed, "@") || len(strings.Fields(typed)) > mostStreet {
		return true
	}
	_, number, extension, err := postal.Split(typed, country)
	return err == nil && len(number) < yearDigits && !postal.IsExtension(extension)
}

// wrongPart returns why a text is no part of an address, or an empty text.
func (e Form) wrongPart(f Fix, typed string) string {
	if typed == "" || !strings.HasPrefix(f.Key, "address/") {
		return ""
	}
	if strings.Contains(typed, "@") {
		return e.Say("is an e-mail address")
	}
	if f.Key == "address/zipCode" && !postal.IsCode(typed, e.country()) {
		return e.Say("is not a postcode")
	}
	return ""
}

// move corrects all parts of an address. Nothing of the old one stays.
func (e Form) move(a movedTo) string {
	is := map[string]string{
		StreetKey: a.Street, "address/houseNumber": a.Number, "address/houseNumberExtension": a.Extension,
		"address/zipCode": a.Code, "address/city": a.City,
	}
	if a.country != "" {
		is["address/country"] = a.country
	}
	return e.correctAll(is)
}

// yearDigits is the length of a number that may belong to the street, as in Plein 1944.
const yearDigits = 4

// correctStreet corrects a street, and the number behind it.
func (e Form) correctStreet(typed string) (bool, string) {
	street, number, extension, err := postal.Split(typed, e.country())
	if err != nil || len(number) >= yearDigits {
		return false, ""
	}
	return true, e.correctAll(map[string]string{
		StreetKey:                      street,
		"address/houseNumber":          number,
		"address/houseNumberExtension": extension,
	})
}

// correctAll corrects details by their keys, all or none.
func (e Form) correctAll(is map[string]string) string {
	before := *e.Entered
	for _, f := range e.Fixes() {
		if value, isPart := is[f.Key]; isPart {
			e.correct(f.Key, value, f.Was)
		}
	}
	if _, _, problems := e.corrections(); len(problems) > 0 {
		*e.Entered = before
		return e.Say(problems[0].Message)
	}
	e.propose()
	e.Save()
	return ""
}

// AfterStreet returns the part of an address that comes after another one, when the agent has typed a new street. It
// returns false after the last one, and after a whole address. A new house number drops the old extension.
func (e Form) AfterStreet(f Fix, typed string) (Fix, bool) {
	_, isWhole := e.wholeAddress(f, typed)
	at := slices.Index(addressKeys, f.Key)
	hasNext := at >= 0 && at < len(addressKeys)-1
	if isWhole || !hasNext || !e.hasNewStreet() {
		return Fix{}, false
	}
	if f.Key == "address/houseNumber" && typed != "" && typed != f.Was {
		e.dropExtension()
	}
	for _, fix := range e.Fixes() {
		if fix.Key == addressKeys[at+1] {
			return fix, true
		}
	}
	return Fix{}, false
}

func (e Form) dropExtension() {
	for _, f := range e.Fixes() {
		if f.Key == "address/houseNumberExtension" && !f.IsChanged() {
			e.Correct(f, "")
		}
	}
}

func (e Form) hasNewStreet() bool {
	return slices.ContainsFunc(e.Fixes(), func(f Fix) bool { return f.Key == StreetKey && f.IsChanged() })
}

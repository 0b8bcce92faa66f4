package entry

import (
	"errors"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
)

// Doubt is a question about a typed value that may not mean what the agent thinks.
type Doubt struct {
	Title    string
	Lines    []string
	Meanings []Meaning
}

// Meaning is one of the values that may be meant.
type Meaning struct{ Key, Label, Value string }

// Doubt returns a question about a typed amount that is ambiguous, or far from the recorded one, and about an address
// of another country. Nil asks nothing.
func (e Form) Doubt(f Fix, typed string) *Doubt {
	if countries := e.otherCountries(f, typed); len(countries) > 0 {
		return e.countryDoubt(typed, countries)
	}
	if !f.IsAmount() {
		return nil
	}
	title := e.Say("Correct") + ": " + e.Say(f.Label)
	meaning := func(key, label string, amount apitype.Amount) Meaning {
		return Meaning{key, e.Say(label, e.Locale.Amount(amount)), amount.Fixed()}
	}
	amount, err := apitype.ParseTypedAmount(typed, 0)
	if ambiguous, is := errors.AsType[*apitype.AmbiguousAmount](err); is {
		return &Doubt{
			Title: title,
			Lines: []string{e.Say("%q has two meanings.", strings.TrimSpace(typed))},
			Meanings: []Meaning{
				meaning("t", "thousands: %s euros", ambiguous.Thousands),
				meaning("c", "cents: %s euros", ambiguous.Cents),
			},
		}
	}
	was, _ := apitype.ParseAmount(f.Was)
	if err != nil || !isFar(amount, was) || amount.Fixed() == f.Is {
		return nil
	}
	return &Doubt{
		Title:    title,
		Lines:    []string{e.Say("The amount is now %s euros.", e.Locale.Amount(was))},
		Meanings: []Meaning{meaning("y", "yes, %s euros", amount)},
	}
}

// far is the factor from which an amount looks like a mistake next to another one.
const far = 5

func isFar(amount, was apitype.Amount) bool {
	before, _ := was.Cents()
	now, isCents := amount.Cents()
	return isCents && before != 0 && now > 0 && (now > far*before || before > far*now)
}

// countryDoubt asks for the country of a typed address.
func (e Form) countryDoubt(typed string, countries []string) *Doubt {
	doubt := &Doubt{
		Title: e.Say("Which country is the address in?"),
		Lines: []string{e.Say("No address in %s has this form.", e.country())},
	}
	for i, country := range countries {
		whole := strings.TrimRight(strings.TrimSpace(typed), ",") + ", " + country
		doubt.Meanings = append(doubt.Meanings, Meaning{strconv.Itoa(i + 1), whole, whole})
	}
	return doubt
}

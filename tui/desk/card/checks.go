package card

import (
	"cmp"
	"slices"
	"strings"

	"fundesk/tui/desk/entry"
)

// The ticks of a call are sent with its result, if the service keeps them. An organization may require checks. A
// required check without a line on the card gets one, and the Desk asks once before it sends a result without it.

// checkNames has the check of each tick, by the first detail of its fact. Another tick has the name of its check.
var checkNames = map[string]string{
	"mobilePhoneNumber": "mobile",
	"phoneNumber":       "home",
	"email":             "email",
	"address/street":    "address",
	"dateOfBirth":       "born",
	"iban":              "iban",
	entry.OptOutKey:     "contact",
	"donationAmount":    "amount",
}

// CheckOf returns the check of a tick.
func CheckOf(tick string) string { return cmp.Or(checkNames[tick], tick) }

// checkTexts has the sentences for checks without a fact.
var checkTexts = map[string]struct{ label, text string }{
	"objection": {"objection", "the right to object was offered"},
	"recording": {"recording", "the donor knows that the call is recorded"},
	"firstName": {"name", "the first name is right"},
	"language":  {"language", "the language is right"},
}

// requiredFacts returns a fact for each required check that has no other one.
func (k Card) requiredFacts() []Fact {
	var facts []Fact
	for _, name := range k.Required {
		if isFactCheck(name) {
			continue
		}
		says, isKnown := checkTexts[name]
		if !isKnown {
			says.label = strings.TrimPrefix(name, "script:")
			says.text = "this step of the script was read"
		}
		text := k.Say(says.text)
		facts = append(facts, Fact{
			Label:   k.Say(says.label),
			Parts:   []Part{{"", text, text}},
			Checked: slices.Contains(k.Checked, name),
			ID:      name,
		})
	}
	return facts
}

// isFactCheck reports whether a check belongs to a fact of the donor or the pledge.
func isFactCheck(name string) bool {
	for _, of := range checkNames {
		if of == name {
			return true
		}
	}
	return false
}

// MissingChecks returns the required checks that were not ticked, in words.
func (k Card) MissingChecks() []string {
	var missing []string
	for _, name := range k.Required {
		isTicked := slices.ContainsFunc(k.Checked, func(tick string) bool { return CheckOf(tick) == name })
		if !isTicked {
			missing = append(missing, k.checkLabel(name))
		}
	}
	return missing
}

// checkLabel returns a check in words. Labels of the card may be short.
func (k Card) checkLabel(name string) string {
	if says := checkTexts[name].text; says != "" {
		return k.Say(says)
	}
	for _, fact := range k.Facts(func(said string) string { return said }) {
		if CheckOf(fact.ID) == name {
			return fact.Label
		}
	}
	return name
}

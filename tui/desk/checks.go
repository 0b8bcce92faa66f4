package desk

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
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
	optOutKey:           "contact",
	"donationAmount":    "amount",
}

// checkOf returns the check of a tick.
func checkOf(tick string) string { return cmp.Or(checkNames[tick], tick) }

// checkTexts has the sentences for checks without a fact.
var checkTexts = map[string]struct{ label, text string }{
	"objection": {"objection", "the right to object was offered"},
	"recording": {"recording", "the donor knows that the call is recorded"},
	"firstName": {"name", "the first name is right"},
	"language":  {"language", "the language is right"},
}

// Required returns the checks that the organization of the call on the Desk requires. They stay the same while the
// call is on the Desk.
func (e *Form) Required() []string {
	d := e.day
	if d.Call == nil || !d.has(apitype.ExtensionChecks) || d.WaitsForSettings() {
		return nil
	}
	if !d.hasRequired {
		d.required, d.hasRequired = d.floor.of(d.Call).RequiredChecks[d.Call.Type], true
	}
	return d.required
}

// requiredFacts returns a fact for each required check that has no other one.
func (e *Form) requiredFacts() (facts []Fact) {
	for _, name := range e.Required() {
		if isFactCheck(name) {
			continue
		}
		says, isKnown := checkTexts[name]
		if !isKnown {
			says.label = strings.TrimPrefix(name, "script:")
			says.text = "this step of the script was read"
		}
		text := e.Say(says.text)
		facts = append(facts, Fact{
			Label:   e.Say(says.label),
			Parts:   []Part{{"", text, text}},
			Checked: slices.Contains(e.Checked, name),
			id:      name,
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
func (e *Form) MissingChecks() (missing []string) {
	for _, name := range e.Required() {
		isTicked := slices.ContainsFunc(e.Checked, func(tick string) bool { return checkOf(tick) == name })
		if !isTicked {
			missing = append(missing, e.checkLabel(name))
		}
	}
	return missing
}

// checkLabel returns a check in words. Labels of the card may be short.
func (e *Form) checkLabel(name string) string {
	if says := checkTexts[name].text; says != "" {
		return e.Say(says)
	}
	for _, fact := range e.Facts(func(said string) string { return said }) {
		if checkOf(fact.id) == name {
			return fact.Label
		}
	}
	return name
}

// checksChange returns what was ticked of the call on the desk as it is sent; false if there is nothing to send, or the
// service keeps no checks.
func (d *Day) checksChange() (Change, bool) {
	if !d.has(apitype.ExtensionChecks) || len(d.Form.Checked) == 0 {
		return Change{}, false
	}
	checks := apitype.CallChecks{UserUUID: d.Agent}
	for _, tick := range d.Form.Checked[:min(len(d.Form.Checked), apitype.MaxChecks)] {
		at, isKnown := d.Form.CheckedAt[tick]
		if !isKnown { // Of an earlier version.
			at = d.Now()
		}
		checks.Items = append(checks.Items, apitype.Check{Name: checkOf(tick), At: apitype.NewTime(at)})
	}
	change, err := apiclient.PutChecksChange(d.Call.UUID, checks)
	label := d.Say("what was checked") + ": " + d.Name()
	return Change{Change: change, Label: label, err: err, isExtra: true}, true
}

// joinTimes returns the times of both. The times of b win.
func joinTimes(a, b map[string]time.Time) map[string]time.Time {
	if len(a) == 0 {
		return b
	}
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

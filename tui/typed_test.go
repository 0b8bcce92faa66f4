package tui

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
)

// Each example of a typed time and of a correction on the agent's page does what the page says.
func TestAgentsPageTypesWhatItSays(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/agent.md")
	if err != nil {
		t.Fatal(err)
	}
	_, times, _ := strings.Cut(string(page), "in yours:\n")
	times, rest, found := strings.Cut(times, "An empty line")
	code := regexp.MustCompile("`([^`]+)`")
	_, row, _ := strings.Cut(string(page), "call back later: type ")
	row, _, _ = strings.Cut(row, "; `tab`")
	examples := code.FindAllStringSubmatch(row+times, -1)
	_, asked, _ := strings.Cut(rest, "two meanings, such as ")
	asked, _, _ = strings.Cut(asked, " is asked back")
	questions := code.FindAllStringSubmatch(asked, -1)
	rows := regexp.MustCompile("(?m)^\\| `(.)` \\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if !found || len(examples) < 11 || len(questions) != 2 || len(rows) < 6 {
		t.Fatalf("got %d times, %d questions and %d corrections, want those of the page", len(examples), len(questions), len(rows))
	}
	for _, example := range examples {
		_, d := laterLine(t)
		call := d.app.Call.UUID
		at, err := d.app.ReadLater(example[1])
		if err != nil {
			t.Errorf("%s: %v", example[1], err)
			continue
		}
		d.typing(example[1])
		echo := d.app.BothTimes(at)
		if text := d.text(); !strings.Contains(text, echo) {
			t.Errorf("%s: got:\n%s\nwant %q", example[1], text, echo)
		}
		if d.press("enter"); d.app.IsOn(call) || !strings.Contains(d.text(), echo) {
			t.Errorf("%s: got:\n%s\nwant it saved for %q", example[1], d.text(), echo)
		}
	}
	for _, question := range questions {
		_, d := laterLine(t)
		d.typing(question[1])
		d.press("enter")
		if text := d.text(); !strings.Contains(text, "Which time is meant?") {
			t.Errorf("%s: got:\n%s\nwant it asked back", question[1], text)
		}
	}
	for _, row := range rows {
		_, d := fixer(t)
		d.enter("f", row[1])
		d.typing(row[2])
		d.press("enter")
		if fixes := d.app.Corrected(); len(fixes) != 1 || fixes[0].Is != row[3] {
			t.Errorf("%s %s: got %+v, want %s", row[1], row[2], fixes, row[3])
		}
	}
}

// Every key of the corrections is the same detail on every donor: what the card says is what is sent,
// and a detail that cannot be corrected says why.
func TestEveryKeyOfTheCorrections(t *testing.T) {
	t.Parallel()
	typed := map[string][3]string{ // What is typed, what the card says, and what is sent.
		"1": {"06 27 08 40 34", "+31 6 27 08 40 34 ✎", `"mobilePhoneNumber":"+31627084034"`}, "2": {"020 123 45 67", "+31 20 123 45 67 ✎", `"phoneNumber":"+31201234567"`},
		"3": {"b@example.org", "→ b@example.org ✎", `"email":"b@example.org"`}, "4": {"", "✗ ✎", `"optIns":{"phone":false}`}, "5": {"25,5", "→ € 25.50 ✎", `"donationAmount":25.5`},
		"6": {"4", "→ half-yearly ✎", `"donationInterval":"half-yearly"`}, "7": {"3-1-2030", "→ 2030-01-03 ✎", `"endsAt":"2030-01-03T00:00:00.000Z"`},
		"8": {"Eva", "Eva", `"name":{"firstName":"Eva"}`}, "9": {"van", "van ", `"name":{"lastNamePrefix":"van"}`}, "a": {"Vos", "Vos ✎", `"name":{"lastName":"Vos"}`}, "b": {"E.", "", `"name":{"initials":"E."}`},
		"c": {"Kade", "Kade 12", `"address":{"street":"Kade"}`}, "d": {"61", "Dorpsstraat 61", `"address":{"houseNumber":"61"}`}, "e": {"b", "Dorpsstraat 12", `"address":{"houseNumberExtension":"b"}`},
		"f": {"8094 RA", "8094 RA", `"address":{"zipCode":"8094 RA"}`}, "g": {"Zwolle", "Zwolle", `"address":{"city":"Zwolle"}`}, "h": {"DE", ", DE ✎", `"address":{"country":"DE"}`},
		"i": {"2-12-1967", "→ 2 December 1967 ✎", `"dateOfBirth":"1967-12-02"`}, "l": {"NL20INGB0001234567", "→ NL20INGB0001234567 ✎", `"iban":"NL20INGB0001234567"`}, "m": {"de", "→ de ✎", `"language":"de"`},
		"o": {"", "✗ ✎", `"optIns":{"email":false}`}, "p": {"", "✗ ✎", `"optIns":{"mail":false}`}, "r": {"", "✗ ✎", `"optIns":{"sms":false}`},
	}
	external := apitype.Pledge{DonationAmount: apitype.Cents(1250), DonationInterval: "monthly", ExternalSource: apitype.Embed(apitype.ExternalSource{Name: "crm"})}
	for name, donor := range map[string]struct {
		change func(*apitype.Call)
		why    string // Of the pledge; "" where it can be corrected.
	}{
		"with a pledge":                {func(*apitype.Call) {}, ""},
		"without a pledge":             {func(c *apitype.Call) { c.PledgeCase, c.RelatedCaseUUID = apitype.Embedded[apitype.Pledge]{}, nil }, "no pledge on this call"},
		"with a pledge of another":     {func(c *apitype.Call) { c.PledgeCase = apitype.Embed(external) }, "pledge of an external source"},
		"with a pledge that is hidden": {func(c *apitype.Call) { c.PledgeCase = apitype.Embedded[apitype.Pledge]{} }, "the pledge is not shown to this account"},
		"of whom hardly anything known": {func(c *apitype.Call) {
			p := c.Person.Value()
			p.Email, p.MobilePhoneNumber, p.IBAN, p.Language = nil, nil, nil, nil
			c.Person = apitype.Embed(p)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, d := fixer(t)
			d.send(tea.WindowSizeMsg{Width: 200, Height: 50})
			donor.change(d.app.Call)
			if n := len(d.app.Fixes()); n != len(typed) {
				t.Fatalf("got %d details, want %d", n, len(typed))
			}
			for _, fix := range slices.Clone(d.app.Fixes()) {
				want, known := typed[fix.Press]
				if !known {
					t.Fatalf("%s: no key %s is tried", fix.Label, fix.Press)
				}
				isPledge := strings.Contains("567", fix.Press)
				d.app.Form = desk.Form{Code: "corrected"}
				d.enter("f", fix.Press)
				if isPledge && donor.why != "" {
					if text := d.text(); !strings.Contains(text, donor.why) || len(d.app.Form.Corrections) != 0 {
						t.Errorf("%s: got:\n%s\nwant %q", fix.Label, text, donor.why)
					}
					d.press("esc")
					continue
				}
				if want[0] != "" {
					d.typing(want[0])
				}
				if fix.Press != "6" && want[0] != "" {
					d.press("enter")
				}
				d.press("esc")
				if text := d.text(); !strings.Contains(text, want[1]) {
					t.Errorf("%s: got:\n%s\nwant %q on the card", fix.Label, text, want[1])
				}
				call := *d.app.Call
				before := len(w.entries(t))
				d.press("ctrl+s")
				entries, _, err := w.box.List()
				if err != nil || len(entries) != before+2 || string(entries[before].Body) != "{"+want[2]+"}" {
					t.Fatalf("%s: got %d changes, %v, want the result after {%s}: %s", fix.Label, len(entries)-before, err, want[2], entries[max(before-1, 0)].Body)
				}
				d.press("u")
				d.app.Call = &call
			}
		})
	}
}

package tui

import (
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/entry"
)

// Each example of a typed time and of a correction on the agent's page has the effect that the page describes.
func TestAgentsPageTypesWhatItSays(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/agent.md")
	servicetest.Check(t, err)
	_, times, _ := strings.Cut(string(page), "Type a time, such as ")
	times, rest, found := strings.Cut(times, ". The line below")
	code := regexp.MustCompile("`([^`]+)`")
	examples := code.FindAllStringSubmatch(times, -1)
	_, asked, _ := strings.Cut(rest, "two meanings, such as ")
	asked, _, _ = strings.Cut(asked, ", the Desk asks")
	questions := code.FindAllStringSubmatch(asked, -1)
	rows := regexp.MustCompile("(?m)^\\| `(.)` \\| `([^`]+)` \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if !found || len(examples) < 8 || len(questions) != 2 || len(rows) < 6 {
		t.Fatalf("got %d times, %d questions and %d corrections, want those of the page",
			len(examples), len(questions), len(rows))
	}
	for _, example := range examples {
		_, d := laterLine(t)
		d.app.Day.Hours = card.CallingHours{"NL": {Sunday: "10:00-18:00"}} // The day after tomorrow is a Sunday.
		call := d.app.Day.Call.UUID
		at, err := d.app.Day.Card().ReadLater(example[1])
		if err != nil {
			t.Errorf("%s: %v", example[1], err)
			continue
		}
		d.typing(example[1])
		echo := d.app.Day.Card().BothTimes(at.At)
		d.sees(echo)
		if d.press("enter"); d.app.Day.IsOn(call) || !strings.Contains(d.text(), echo) {
			t.Errorf("%s: got:\n%s\nwant it saved for %q", example[1], d.text(), echo)
		}
	}
	for _, question := range questions {
		_, d := laterLine(t)
		d.typing(question[1])
		d.press("enter")
		d.sees("Which time do you mean?")
	}
	for _, row := range rows {
		_, d := fixer(t)
		d.enter("f", row[1])
		d.typing(row[2])
		d.press("enter")
		if fixes := d.app.Day.Form().Corrected(); len(fixes) != 1 || fixes[0].Is != row[3] {
			t.Errorf("%s %s: got %+v, want %s", row[1], row[2], fixes, row[3])
		}
	}
}

// Every key of the corrections is the same detail for every donor. The value on the card is the one that is sent, and a
// detail that cannot be corrected explains why.
func TestEveryKeyOfTheCorrections(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	typed := map[string][3]string{ // The typed text, the card, and the sent value.
		"1": {"06 27 08 40 34", "+31 6 27 08 40 34 ✎", `"mobilePhoneNumber":"+31627084034"`},
		"2": {"020 123 45 67", "+31 20 123 45 67 ✎", `"phoneNumber":"+31201234567"`},
		"3": {"b@example.org", "→ b@example.org ✎", `"email":"b@example.org"`},
		"9": {"", "✗ ✎", `"optIns":{"phone":false}`},
		"0": {"25,5", "→ € 25.50 ✎", `"donationAmount":25.5`},
		"u": {"4", "→ half-yearly ✎", `"donationInterval":"half-yearly"`},
		"w": {"3-1-2030", "→ 3 January 2030 ✎", `"endsAt":"2030-01-03T00:00:00.000Z"`},
		"4": {"Eva", "Eva", `"name":{"firstName":"Eva"}`},
		"t": {"van", "van ", `"name":{"lastNamePrefix":"van"}`},
		"a": {"Vos", "Vos ✎", `"name":{"lastName":"Vos"}`},
		"b": {"E.", "→ E. ✎", `"name":{"initials":"E."}`},
		"6": {"Kade", "→ Kade", `"address":{"street":"Kade"}`},
		"d": {"61", "Dorpsstraat 12 → 61 ✎", `"address":{"houseNumber":"61"}`},
		"e": {"b", "12 → 12b ✎", `"address":{"houseNumberExtension":"b"}`},
		"f": {"8094 RA", "8094 RA", `"address":{"zipCode":"8094 RA"}`},
		"g": {"Zwolle", "Zwolle", `"address":{"city":"Zwolle"}`},
		"h": {"DE", "NL → DE ✎", `"address":{"country":"DE"}`},
		"7": {"2-12-1967", "→ 2 December 1967 ✎", `"dateOfBirth":"1967-12-02"`},
		"8": {"NL20INGB0001234567", "→ NL20INGB0001234567 ✎", `"iban":"NL20INGB0001234567"`},
		"5": {"de", "→ de ✎", `"language":"de"`},
		"o": {"", "✗ ✎", `"optIns":{"email":false}`},
		"p": {"", "✗ ✎", `"optIns":{"mail":false}`},
		"r": {"", "✗ ✎", `"optIns":{"sms":false}`},
	}
	external := apitype.Pledge{
		DonationAmount:   apitype.Cents(1250),
		DonationInterval: "monthly",
		ExternalSource:   apitype.Embed(apitype.ExternalSource{Name: "crm"}),
	}
	for name, donor := range map[string]struct {
		change func(*apitype.Call)
		why    string // Of the pledge. Empty if it can be corrected.
	}{
		"with a pledge": {change: func(*apitype.Call) {}},
		"without a pledge": {change: func(c *apitype.Call) {
			c.PledgeCase, c.RelatedCaseUUID = apitype.Embedded[apitype.Pledge]{}, nil
		}, why: "no pledge on this call"},
		"with a pledge of another": {
			change: func(c *apitype.Call) { c.PledgeCase = apitype.Embed(external) },
			why:    "pledge of an external source",
		},
		"with a pledge that is hidden": {
			change: func(c *apitype.Call) { c.PledgeCase = apitype.Embedded[apitype.Pledge]{} },
			why:    "the pledge is not shown to this account",
		},
		"of whom hardly anything known": {change: func(c *apitype.Call) {
			p := c.Person.Value()
			p.Email = nil
			p.MobilePhoneNumber = nil
			p.PhoneNumber = nil
			p.IBAN = nil
			p.Language = nil
			p.DateOfBirth = nil
			p.FirstName = nil
			p.LastNamePrefix = nil
			p.Initials = nil
			p.OptInPhone = nil
			p.OptInEmail = nil
			p.OptInMail = nil
			p.OptInSMS = nil
			c.Person = apitype.Embed(p)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newQueueWorld(t)
			d := fixerOf(t, w)
			d.size(200, 50)
			donor.change(d.app.Day.Call)
			if n := len(d.app.Day.Form().Fixes()); n != len(typed) {
				t.Fatalf("got %d details, want %d", n, len(typed))
			}
			for _, fix := range slices.Clone(d.app.Day.Form().Fixes()) {
				want, known := typed[fix.Press]
				if !known {
					t.Fatalf("%s: no key %s is tried", fix.Label, fix.Press)
				}
				why := ""
				if strings.Contains("0uw", fix.Press) {
					why = donor.why
				}
				*d.app.Day.Form().Entered = entry.Entered{Draft: outbox.Draft{ResultCode: "corrected"}}
				d.enter("f", fix.Press)
				if why != "" {
					d.sees(fix.Label + ": " + why)
					servicetest.Same(t, "corrections", 0, len(d.app.Day.Form().Corrections))
					d.enter("esc", "esc") // The first ends what is dropped.
					continue
				}
				if want[0] == "" {
					d.press("n")
				} else {
					d.typing(want[0])
				}
				if fix.Press != "u" && want[0] != "" {
					d.press("enter")
				}
				if fix.Press == "6" { // The house number is next.
					d.press("esc")
				}
				d.press("esc")
				d.sees(want[1])
				call := *d.app.Day.Call
				before := len(w.entries(t))
				d.press("ctrl+s")
				entries, _, err := w.box.List()
				if err != nil || len(entries) != before+2 || string(entries[before].Body) != "{"+want[2]+"}" {
					t.Fatalf("%s: got %d changes, %v, want the result after {%s}: %s",
						fix.Label, len(entries)-before, err, want[2], entries[max(before-1, 0)].Body)
				}
				d.press("u")
				d.app.Day.Call = &call
			}
		})
	}
}

// What has two meanings, or is far from what was, is asked once; Enter alone changes nothing, and a
// dash is text.
func TestCorrectionsAskBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, keys, typed, after string
		is                       map[string]string
		says                     string
	}{
		{"a point of two meanings", "f 0", "1.000", "enter enter", nil, "has two meanings"},
		{"thousands", "f 0", "1.000", "enter t", map[string]string{"donationAmount": "1000.00"}, ""},
		{"cents", "f 0", "1,250", "enter c", map[string]string{"donationAmount": "1.25"}, ""},
		{"far from what was", "f 0", "100", "enter enter", nil, "The amount is now 12.50 euros."},
		{"far from what was, yes", "f 0", "100", "enter y", map[string]string{"donationAmount": "100.00"}, ""},
		{"far from what was, no", "f 0", "100", "enter esc", nil, "100"},
		{"an exponent", "f 0", "2e2", "enter", nil, "is not an amount in euros"},
		{"Enter alone", "f 3", "", "enter", nil, "a@example.org"},
		{"one letter at the end", "f 3", "", "end x enter", map[string]string{"email": "a@example.orgx"}, ""},
		{"a dash is text", "f g", "-", "enter", map[string]string{"address/city": "-"}, ""},
		{"deleted", "f 3", "", "ctrl+x", map[string]string{"email": ""}, "none"},
		{"deleted, and taken back", "f 3", "", "ctrl+x 3 ctrl+r", nil, "a@example.org"},
		{"a key of no detail", "f c", "", "", nil, "no detail has the key c"},
		{"a name of digits", "f 4", "20", "enter", nil, "it has digits and no letter"},
		{"seen before Enter", "f 1", "12", "", nil, "must be in international format"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, d := fixer(t)
			d.enter(strings.Fields(test.keys)...)
			d.typing(test.typed)
			d.enter(strings.Fields(test.after)...)
			got := map[string]string{}
			for _, f := range d.app.Day.Form().Corrected() {
				got[f.Key] = f.Is
			}
			if text := d.text(); !maps.Equal(got, test.is) || !strings.Contains(text, test.says) {
				t.Errorf("got %v, want %v and %q:\n%s", got, test.is, test.says, text)
			}
		})
	}
	// A corrected record with another result is asked about once.
	w, d := fixer(t)
	d.enter("f", "3")
	d.typing("b@example.org")
	d.enter("enter", "esc", "c", "1", "esc", "ctrl+s", "enter")
	d.sees("The record was corrected")
	servicetest.Same(t, "changes", 0, len(w.entries(t)))
	if d.press("y"); len(w.entries(t)) != 2 {
		t.Errorf("got %q, want it sent", w.entries(t))
	}
}

// Enter refuses half an address: the line names the missing part and goes on with it. ctrl+s sends nothing before the
// address is whole.
func TestHalfAnAddressIsRefused(t *testing.T) {
	t.Parallel()
	w, d := fixer(t)
	p := d.app.Day.Call.Person.Value()
	p.Address = apitype.Embedded[apitype.Address]{}
	d.app.Day.Call.Person = apitype.Embed(p)
	d.enter("f", "6")
	for i, part := range []string{"Kade", "7", "1234 AB", "Utrecht"} {
		d.typing(part)
		if d.press([]string{"enter", "ctrl+s"}[i%2]); len(w.entries(t)) != 0 {
			t.Fatalf("after %q: got %q, want nothing sent", part, w.entries(t))
		}
		missing := strings.Join([]string{"house number", "postcode", "city", "country"}[i:], ", ")
		d.sees("the address needs its " + missing)
	}
	// The card reminds an agent who leaves it, and nothing is sent.
	d.enter("esc", "ctrl+s")
	d.sees("the address needs its country")
	servicetest.Same(t, "changes", 0, len(w.entries(t)))
	if d.enter("esc", "ctrl+s"); !strings.Contains(d.app.status(), "the address needs its country, too: f") {
		t.Errorf("status: got %q, want what is missing and the key", d.app.status())
	}
	d.enter("f", "h")
	d.typing("nl")
	d.press("ctrl+s")
	entries, _, err := w.box.List()
	want := `{"address":{"street":"Kade","houseNumber":"7","zipCode":"1234 AB","city":"Utrecht","country":"NL"}}`
	if err != nil || len(entries) != 2 || string(entries[0].Body) != want {
		t.Errorf("got %+v %v, want the whole address and the result", entries, err)
	}
}

// A correction that the service refuses holds its result back, whatever the reason: one key sends the
// result without it.
func TestRefusedCorrectionLetsTheResultGo(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 403, 404, 409, 412, 422} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.faulty(t, new(ofPath("/actions/update", withStatus(status))))
			d := fixerOf(t, w)
			d.enter("f", "1")
			d.typing("06 27 08 40 34")
			d.enter("enter", "ctrl+s")
			d.sendHeld(w)
			d.send(ticked{})
			if got := w.call(t, callID(1)); got.Status != apitype.CallRequested {
				t.Fatalf("got the call %s, want it held back", got.Status)
			}
			if status := ansi.Strip(d.app.status()); !strings.Contains(status, "enter sends the result without it") {
				t.Fatalf("status: got %q, want the way out", status)
			}
			w.seen()
			d.press("enter")
			d.deliverOutbox(w)
			got := w.call(t, callID(1))
			if got.Status != apitype.CallCompleted || len(w.entries(t)) != 0 || d.app.Day.Transitions.IsProposed() {
				t.Errorf("got the call %s and %q in the outbox, want the result alone sent, and nothing offered",
					got.Status, w.entries(t))
			}
			if status := ansi.Strip(d.app.status()); strings.Contains(status, "is kept") {
				t.Errorf("status: got %q, want nothing of a text that was dropped", status)
			}
		})
	}
}

// Each task on the agent's page takes the keys that the page names.
func TestAgentsPageKeysPerTask(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/agent.md")
	servicetest.Check(t, err)
	_, table, _ := strings.Cut(string(page), "## Keys per task")
	table, _, found := strings.Cut(table, "\n## ")
	wants := map[string]string{
		"not reached, with the reason": "not reached, busy: Anna Jansen",
		"result, rating, complete":     "confirmed: Anna Jansen",
		"no more calls":                "wants to stop (opt-out): Anna Jansen",
		"a move of house":              "Kerkstraat 61a, 8094 RA Zwolle",
		"pause":                        "paused · lunch",
		"callback":                     "Anna Jansen, Sat 21 Nov 14:00",
		"the second number":            "Dial the home number",
	}
	typed := map[string]string{"the pasted address": "Kerkstraat 61a, 8094 RA Zwolle", "the time": "tomorrow 14:00"}
	row := regexp.MustCompile(`(?m)^\| ([^|` + "`" + `]+) \| ([^|]+) \|$`)
	part := regexp.MustCompile("`([^`]+)`|the pasted address|the time")
	for _, task := range row.FindAllStringSubmatch(table, -1) {
		want, isTask := wants[task[1]]
		if !isTask {
			continue // The head.
		}
		delete(wants, task[1])
		w := newQueueWorld(t)
		home := `{"phoneNumber":"+31201234567"}`
		path := "/api/v1/persons/" + personID(1).String() + "/actions/update"
		if got := w.Do(w.token, http.MethodPut, path, home); got.Status/100 != 2 {
			t.Fatalf("got %d %s", got.Status, got.Body)
		}
		d := fixerOf(t, w)
		d.size(200, 50)
		if strings.HasSuffix(task[2], "again") {
			d.press("d")
			w.Clock.Advance(time.Second) // The agent hears the first number ring.
		}
		for _, key := range part.FindAllStringSubmatch(task[2], -1) {
			if text := typed[key[0]]; text != "" {
				d.send(tea.PasteMsg{Content: text})
				continue
			}
			d.press(key[1])
		}
		if text := d.text() + d.app.Day.Changes.HeldText("u"); !strings.Contains(text, want) {
			t.Errorf("%s, %s: got\n%s\nwant %q", task[1], task[2], text, want)
		}
	}
	if !found || len(wants) > 0 {
		t.Errorf("the page does not name: %v", wants)
	}
}

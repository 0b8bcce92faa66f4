package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// overtakenFields are details with their keys, a colleague's change in between, and the two values in answers.
var overtakenFields = map[string]struct{ keys, typed, body, ours, theirs string }{
	"mobile": {
		keys:   "f 1",
		typed:  "0611111111",
		body:   `{"mobilePhoneNumber":"+31622222222"}`,
		ours:   `"mobilePhoneNumber":"+31611111111"`,
		theirs: `"mobilePhoneNumber":"+31622222222"`,
	},
	"home": {
		keys:   "f 2",
		typed:  "0201111111",
		body:   `{"phoneNumber":"+31202222222"}`,
		ours:   `"phoneNumber":"+31201111111"`,
		theirs: `"phoneNumber":"+31202222222"`,
	},
	"e-mail": {
		keys:   "f 3",
		typed:  "ours@example.org",
		body:   `{"email":"theirs@example.org"}`,
		ours:   `"email":"ours@example.org"`,
		theirs: `"email":"theirs@example.org"`,
	},
	"may be": {"f 9", "", `{"optIns":{"phone":null}}`, `"optInPhone":false`, `"optInPhone":null`},
	"amount": {"f 0", "15", `{"donationAmount":20}`, `"donationAmount":15,`, `"donationAmount":20,`},
	"interval": {
		keys:   "f u 1",
		body:   `{"donationInterval":"yearly"}`,
		ours:   `"donationInterval":"once"`,
		theirs: `"donationInterval":"yearly"`,
	},
	"ends":       {"f w", "2-1-2030", `{"endsAt":"2031-01-02T00:00:00Z"}`, `"endsAt":"2030-`, `"endsAt":"2031-`},
	"first name": {"f 4", "Ours", `{"name":{"firstName":"Theirs"}}`, `"firstName":"Ours"`, `"firstName":"Theirs"`},
	"prefix": {
		keys:   "f t",
		typed:  "van",
		body:   `{"name":{"lastNamePrefix":"von"}}`,
		ours:   `"lastNamePrefix":"van"`,
		theirs: `"lastNamePrefix":"von"`,
	},
	"last name": {"f a", "Ours", `{"name":{"lastName":"Theirs"}}`, `"lastName":"Ours"`, `"lastName":"Theirs"`},
	"street":    {"f 6", "Ours", `{"address":{"street":"Theirs"}}`, `"street":"Ours"`, `"street":"Theirs"`},
	"addition": {
		keys:   "f e",
		typed:  "a",
		body:   `{"address":{"houseNumberExtension":"b"}}`,
		ours:   `"houseNumberExtension":"a"`,
		theirs: `"houseNumberExtension":"b"`,
	},
	"born": {
		keys:   "f 7",
		typed:  "2-1-1970",
		body:   `{"dateOfBirth":"1971-01-02"}`,
		ours:   `"dateOfBirth":"1970-01-02"`,
		theirs: `"dateOfBirth":"1971-01-02"`,
	},
	"IBAN": {
		keys:   "f 8",
		typed:  "NL02ABNA0123456789",
		body:   `{"iban":"DE89370400440532013000"}`,
		ours:   `"iban":"NL02ABNA0123456789"`,
		theirs: `"iban":"DE89370400440532013000"`,
	},
	"language": {"f 5", "de", `{"language":"fr"}`, `"language":"de"`, `"language":"fr"`},
	"post":     {"f p", "", `{"optIns":{"mail":true}}`, `"optInMail":false`, `"optInMail":true`},
}

// A detail that changed elsewhere is never overwritten in silence. The agent is asked which value stays: before the
// correction is sent if the card shows the change, or after the service refused it. The result is sent in both cases.
func TestOvertakenDetailAsks(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for name, field := range overtakenFields {
		for _, isShown := range []bool{true, false} {
			for _, answer := range []string{"k", "o"} {
				t.Run(fmt.Sprintf("%s/shown %t/%s", name, isShown, answer), func(t *testing.T) {
					t.Parallel()
					w, d := fixer(t)
					path := "/api/v1/persons/" + personID(1).String()
					want := map[string]string{"k": field.theirs, "o": field.ours}[answer]
					if strings.Contains(field.body, "donation") || strings.Contains(field.body, "ends") {
						path = "/api/v1/pledges/" + pledgeID(1).String()
					}
					d.enter(strings.Fields(field.keys)...)
					for _, r := range field.typed {
						d.press(string(r))
					}
					d.enter("enter", "esc", "c", "2")
					if a := w.Do(w.Token(), "PUT", path+"/actions/update", field.body); a.Status != 200 {
						t.Fatalf("colleague: got %d %s", a.Status, a.Body)
					}
					if isShown {
						d.untilPoll(w)
						d.untilPoll(w)
						d.sees("was changed elsewhere")
						d.press("ctrl+s")
					} else {
						d.press("ctrl+s")
						d.sendHeld(w)
						if got := string(w.Do(w.Token(), "GET", path, "").Body); !strings.Contains(got, field.theirs) {
							t.Errorf("got %s, want the colleague's value before anything is answered", got)
						}
						d.press("enter")
						w.Clock.Advance(time.Second)
						d.enter("enter")
						w.Clock.Advance(time.Second)
					}
					if text := d.text(); !strings.Contains(text, "Changed elsewhere: ") {
						t.Fatalf("got no question:\n%s", text)
					}
					d.enter(answer)
					if isShown && w.call(t, callID(1)).Status == apitype.CallRequested && len(w.entries(t)) == 0 {
						d.enter("c", "1", "ctrl+s") // The proposed result went with the correction.
					}
					d.sendHeld(w)
					if got := string(w.Do(w.Token(), "GET", path, "").Body); !strings.Contains(got, want) {
						t.Errorf("got %s, want %s", got, want)
					}
					if got := w.call(t, callID(1)); got.Status != apitype.CallCompleted {
						t.Errorf("call: got %s, want it completed; %q, errors %v\n%s",
							got.Status, w.entries(t), d.app.Messages.Errors, d.text())
					}
				})
			}
		}
	}
}

// The first key after the computer slept does nothing to a call before that was read again.
func TestFirstKeyAfterSleep(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a", "i", "c"} {
		w := newQueueWorld(t)
		d := newDriver(t, w.options)
		d.enter("n")
		d.send(ticked{})
		call := d.app.Day.Call.UUID
		w.Clock.Advance(time.Hour)
		d.press(key)
		text := d.text()
		if len(w.entries(t)) != 0 || d.app.Dialog != nil || d.app.desk.Typing() || !d.app.Day.IsOn(call) ||
			!strings.Contains(text, "press it again") {
			t.Errorf("%s: got %q and\n%s\nwant nothing done, and that said", key, w.entries(t), text)
		}
		w.Clock.Advance(2 * time.Second)
		d.press(key)
		if len(w.entries(t)) == 0 && d.app.Dialog == nil && !d.app.desk.Typing() {
			t.Errorf("%s, pressed again: got nothing done\n%s", key, d.text())
		}
	}
}

// typing types a text key by key.
func (d *driver) typing(text string) {
	d.t.Helper()
	for _, r := range text {
		d.press(string(r))
	}
}

// laterLine returns a desk of a floor on Friday, 20 November 2026, 10:15 in the Netherlands, with the
// line of a callback open for Anna Jansen.
func laterLine(t *testing.T) (*world, *driver) {
	t.Helper()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.enter("n")
	w.seen()
	d.press("b")
	return w, d
}

// A callback has the typed time: the line below shows its reading, and Enter saves that. A text with two meanings, or
// without a time, is not saved.
func TestCallbackIsWhatWasTyped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, typed string
		echo        string   // Below the line, while it is typed.
		keys        []string // After it.
		said        string   // Empty if nothing is saved.
		stays       string   // The question of the screen if nothing is.
	}{
		{
			name:  "as the agent's page teaches",
			typed: "18:00",
			echo:  "Fri 20 Nov 18:00 there (17:00 here), for you · tab: for any agent",
			keys:  []string{"enter"},
			said:  "Fri 20 Nov 18:00 there (17:00 here), for you",
		},
		{
			name:  "tomorrow",
			typed: "tomorrow 14:00",
			echo:  "Sat 21 Nov 14:00 there",
			keys:  []string{"enter"},
			said:  "Sat 21 Nov 14:00 there (13:00 here), for you",
		},
		{"a weekday", "mon 10:30", "Mon 23 Nov 10:30 there", []string{"enter"}, "Mon 23 Nov 10:30", ""},
		{"a length", "in 3 hours", "Fri 20 Nov 13:15 there", []string{"enter"}, "Fri 20 Nov 13:15", ""},
		{
			name:  "a date far ahead",
			typed: "10 may",
			echo:  "Mon 10 May 2027 10:00 there",
			keys:  []string{"enter", "y"},
			said:  "Mon 10 May 2027 10:00",
		},
		{"a date far ahead, no", "10 may", "Mon 10 May 2027", []string{"enter", "n"}, "", "when: 10 may"},
		{
			name:  "a date far ahead, outside calling hours",
			typed: "10 may 22:00",
			echo:  "outside calling hours",
			keys:  []string{"enter"},
			stays: "is 171 days ahead.",
		},
		{
			name:  "outside calling hours, far ahead",
			typed: "10 may 22:00",
			echo:  "outside calling hours",
			keys:  []string{"enter"},
			stays: "is outside calling hours: calls",
		},
		{"a date without Enter", "10 may", "Mon 10 May 2027 10:00 there", nil, "", "Mon 10 May 2027"},
		{"for any agent", "18:00", "for you", []string{"tab", "enter"}, "for any agent", ""},
		{"for any agent, and back", "18:00", "for you", []string{"tab", "tab", "enter"}, "for you", ""},
		{"nothing typed", "", "for you · tab: for any agent", []string{"enter"}, "Fri 20 Nov 12:15", ""},
		{"the second offer", "", "in 2 hours", []string{"down", "enter"}, "Sat 21 Nov 10:15", ""},
		{"the third offer", "", "in 2 hours", []string{"down", "down", "down", "enter"}, "Mon 23 Nov 10:00", ""},
		{"the offer above", "", "in 2 hours", []string{"down", "down", "up", "enter"}, "Sat 21 Nov 10:15", ""},
		{"two meanings", "9.10", "the time, Sat 21 Nov 09:10", []string{"enter"}, "", "Which time do you mean?"},
		{
			name:  "two meanings, the date",
			typed: "9.10",
			echo:  "the date, Sat 9 Oct 2027",
			keys:  []string{"enter", "enter", "d", "y"},
			said:  "Sat 9 Oct 2027 10:00",
		},
		{
			name:  "two meanings, the time",
			typed: "11.10",
			echo:  "the time, Fri 20 Nov 11:10",
			keys:  []string{"enter", "t"},
			said:  "Fri 20 Nov 11:10",
		},
		{
			name:  "two meanings, back and better",
			typed: "11.10",
			echo:  "the time",
			keys:  []string{"enter", "esc", " ", "u", "h", "r", "enter"},
			said:  "Fri 20 Nov 11:10",
		},
		{"no night", "1 uur", "Fri 20 Nov 13:00", []string{"enter", "enter"}, "", "Which time do you mean?"},
		{"no time", "someday", "is not a time", []string{"enter"}, "", "is not a time"},
		{"over", "yesterday", "is in the past", []string{"enter"}, "", "is in the past"},
		{"outside calling hours", "22:00", "outside calling hours", []string{"enter", "enter"}, "", "Save it anyway?"},
		{
			name:  "outside calling hours, anyway",
			typed: "22:00",
			echo:  "outside calling hours",
			keys:  []string{"enter", "y"},
			said:  "Fri 20 Nov 22:00",
		},
		{"outside calling hours, no", "22:00", "outside calling hours", []string{"enter", "n"}, "", "when: 22:00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, d := laterLine(t)
			call := d.app.Day.Call.UUID
			d.typing(test.typed)
			d.sees(test.echo)
			d.enter(test.keys...)
			text := d.text()
			if test.said == "" {
				if !d.app.Day.IsOn(call) || !strings.Contains(text, test.stays) {
					t.Errorf("got:\n%s\nwant the call on the desk, and %q", text, test.stays)
				}
				return
			}
			if d.app.Day.IsOn(call) || !strings.Contains(text, "Anna Jansen, ") || !strings.Contains(text, test.said) {
				t.Errorf("got:\n%s\nwant Anna Jansen and %q", text, test.said)
			}
			if got := w.entries(t); !slices.Equal(got, []string{"call.later c0010000"}) || d.app.Dialog != nil {
				t.Errorf("got %q and %T, want the callback alone and no question", w.entries(t), d.app.Dialog)
			}
		})
	}
}

// What is pasted goes to the line; esc leaves the call as it was.
func TestCallbackLineTakesTextAlone(t *testing.T) {
	t.Parallel()
	_, d := laterLine(t)
	call := d.app.Day.Call.UUID
	d.send(tea.PasteMsg{Content: "tomorrow 18:00\na"})
	d.sees("when: tomorrow 18:00 a")
	d.enter("backspace", "backspace")
	d.sees("Sat 21 Nov 18:00 there (17:00 here)")
	d.press("esc")
	if !d.app.Day.IsOn(call) || d.app.Dialog != nil {
		t.Errorf("got %+v, want the call as it was", d.app.Day.Call)
	}
}

// refusedMobile returns a desk with a refused correction of the mobile number, which a colleague has changed, too.
func refusedMobile(t *testing.T) (*world, *driver) {
	t.Helper()
	w, d := fixer(t)
	d.enter("f", "1")
	d.typing("0611111111")
	d.enter("enter", "esc", "c", "2")
	theirs := `{"mobilePhoneNumber":"+31622222222"}`
	if a := w.Do(w.Token(), "PUT", "/api/v1/persons/"+personID(1).String()+"/actions/update", theirs); a.Status != 200 {
		t.Fatalf("colleague: got %d %s", a.Status, a.Body)
	}
	d.press("ctrl+s")
	w.Clock.Advance(6 * time.Second)
	d.deliverOutbox(w)
	w.Clock.Advance(time.Second)
	return w, d
}

// A key that is held down answers no question that opens by itself, however long it is held.
func TestHeldKeyKeepsNoValue(t *testing.T) {
	t.Parallel()
	w, d := refusedMobile(t)
	d.enter("enter")
	d.sees("Changed elsewhere: ")
	for range 50 {
		w.Clock.Advance(40 * time.Millisecond)
		d.send(keyPress("k"))
	}
	d.sees("Changed elsewhere: ")
	if got := w.entries(t); len(got) != 2 {
		t.Errorf("outbox: got %q, want the correction and the result", got)
	}
	w.Clock.Advance(time.Second)
	d.press("k")
	d.lacks("Changed elsewhere: ")
}

// A question that opens by itself takes no letter of a text that waits for its call.
func TestQuestionTakesNothingTypedAhead(t *testing.T) {
	t.Parallel()
	w, d := refusedMobile(t)
	_, question := d.app.Update(keyPress("enter"))
	call := d.app.Perform(d.app.Day.Take(callID(4)))
	d.send(keyPress("i"))
	d.send(keyPress("o"))
	d.run(question, 0)
	d.send(keyPress("k"))
	d.run(call, 0)
	d.send(keyPress("!"))
	if got := d.app.Day.Form().Notes; got != "ok!" {
		t.Errorf("notes: got %q, want what was typed\n%s", got, d.text())
	}
	d.send(keyPress("esc"))
	d.send(ticked{})
	d.sees("Changed elsewhere: ")
	if got := w.entries(t); len(got) != 2 {
		t.Errorf("outbox: got %q, want the correction and the result", got)
	}
}

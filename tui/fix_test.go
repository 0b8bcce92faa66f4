package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// fixer returns a desk with results for corrections in its verifications.
func fixer(t *testing.T) (*world, *driver) {
	t.Helper()
	w := newWorld(t)
	return w, fixerOf(t, w)
}

func fixerOf(t *testing.T, w *world) *driver {
	t.Helper()
	w.options.Results = map[apitype.CallType][]apitype.ResultChoice{apitype.CallVerification: {
		{Code: "confirmed"},
		{Code: "corrected", Effect: new(apitype.EffectCorrected)},
		{Code: "wants_to_stop", Effect: new(apitype.EffectOptOut)},
	}}
	d := newDriver(t, w.options)
	d.enter("n")
	w.seen()
	return d
}

func (w *world) send(t *testing.T) outbox.Report {
	t.Helper()
	w.Clock.Advance(6 * time.Second)
	report, err := w.box.Sender(w.options.Client, outbox.SenderOptions{}).SendDue(t.Context())
	servicetest.Check(t, err)
	return report
}

func (w *world) person(t *testing.T, n int) apitype.Person {
	t.Helper()
	person, err := apiclient.Decoded(w.client.Persons.Get(t.Context(), personID(n)))
	servicetest.Check(t, err)
	return person
}

// The line of ctrl+s shows all values. It takes more lines if one is too narrow.
func TestWhatIsSentFitsItsLine(t *testing.T) {
	t.Parallel()
	_, d := fixer(t)
	d.enter("f", "1")
	for _, r := range "06 27 08 40 34" {
		d.press(string(r))
	}
	d.enter("enter", "esc", "r", "8")
	for _, line := range []struct {
		width int
		want  string
	}{
		{80, "sends corrected, mobile +31 6 27 08 40 34, rating 8"},
		{60, "^s sends corrected, mobile +31 6 27 08 40 34, rating 8"},
	} {
		d.size(line.width, 40)
		d.sees(line.want)
	}
}

// A correction is sent with its result in few keys: a wrong number in four and its digits, an
// opt-out in four, another amount in four and its digits.
func TestCorrectionsAreFewKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, keys, typed, after, code string
		holds                          func(t *testing.T, w *world) bool
	}{
		{"a wrong number", "f 1", "06 27 08 40 34", "enter ctrl+s", "corrected", func(t *testing.T, w *world) bool {
			return deref(w.person(t, 1).MobilePhoneNumber) == "+31627084034"
		}},
		{"an opt-out", "f 9 n", "", "ctrl+s", "wants_to_stop", func(t *testing.T, w *world) bool {
			return !*w.person(t, 1).OptInPhone
		}},
		{"another amount", "f 0", "25,5", "ctrl+s", "corrected", func(t *testing.T, w *world) bool {
			pledge, err := apiclient.Decoded(w.client.Pledges.Get(t.Context(), pledgeID(1)))
			return err == nil && pledge.DonationAmount == apitype.Cents(2550)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, d := fixer(t)
			d.enter(strings.Fields(test.keys)...)
			for _, r := range test.typed {
				d.press(string(r))
			}
			d.enter(strings.Fields(test.after)...)
			if got := w.entries(t); len(got) != 2 || !strings.HasPrefix(got[1], "call.complete") {
				t.Fatalf("outbox: got %q, want the correction and the completion after it:\n%s", got, d.text())
			}
			if report := w.send(t); report.Accepted != 2 {
				t.Fatalf("sent: got %+v, want two accepted", report)
			}
			if code := deref(w.call(t, callID(1)).Result.Value().ResultCode); code != test.code || !test.holds(t, w) {
				t.Errorf("got the result %q and %+v, want %q and what was corrected", code, w.person(t, 1), test.code)
			}
		})
	}
}

// A mistake is shown while the agent types, and no part of it is taken.
func TestWrongCorrectionIsNotTaken(t *testing.T) {
	t.Parallel()
	w, d := fixer(t)
	d.enter("f", "3", "x", "enter")
	d.sees("e-mail must be")
	servicetest.Same(t, "corrections", 0, len(d.app.Day.Form().Corrections))
	d.enter("@", "y", ".", "e", "u", "enter")
	d.sees("→ x@y.eu")
	servicetest.Same(t, "result", "corrected", d.app.Day.Form().ResultCode)
	// The result goes with the last correction, unless the agent chose it.
	d.enter("3", "ctrl+r", "esc")
	if d.app.Day.Form().ResultCode != "" || len(w.entries(t)) != 0 {
		t.Errorf("got %q and %q, want neither a result nor a change", d.app.Day.Form().ResultCode, w.entries(t))
	}
}

// One u takes the whole group back, and what was corrected is there to be sent again; a part
// that is refused holds back the rest.
func TestCorrectionsAreOneGroup(t *testing.T) {
	t.Parallel()
	w, d := fixer(t)
	d.enter("f", "w", "2", "-", "1", "-", "2", "0", "3", "0", "enter", "9", "n", "esc", "i", "h", "i", "esc", "ctrl+s")
	if got := w.entries(t); len(got) != 3 {
		t.Fatalf("outbox: got %q, want person, pledge and call", got)
	}
	d.press("u")
	got := w.entries(t)
	if len(got) != 0 ||
		!d.app.Day.IsOn(callID(1)) ||
		len(d.app.Day.Form().Corrections) != 2 ||
		d.app.Day.Form().Notes != "hi" {
		t.Fatalf("after u: got %q and %+v, want all of it on the desk again", got, d.app.Day.Form())
	}
	draft, found, err := w.box.Draft(callID(1))
	if err != nil || !found || len(draft.Corrections) != 2 {
		t.Errorf("draft: got %+v %v %v, want the corrections", draft, found, err)
	}
	w.seen()
	d.press("ctrl+s")
	// The pledge changes in between so that the correction no longer fits.
	change, err := apiclient.UpdatePledgeChange(pledgeID(1), apitype.UpdatePledgeRequest{
		StartsAt: apitype.Set(w.ago(-10 * 365 * 24 * time.Hour)),
	})
	if err == nil {
		_, err = w.client.Send(t.Context(), change)
	}
	servicetest.Check(t, err)
	if report := w.send(t); report.Accepted != 1 || report.Rejected != 1 || report.Waiting != 1 {
		t.Errorf("sent: got %+v, want the person accepted, the pledge refused, the completion waiting", report)
	}
	if got := w.call(t, callID(1)); got.Status != apitype.CallRequested {
		t.Errorf("call: got %s, want it open while its correction is refused", got.Status)
	}
	entries, _, err := w.box.List()
	if err != nil || !slices.ContainsFunc(entries, func(e outbox.Entry) bool {
		return strings.Contains(string(e.Body), `"hi"`)
	}) {
		t.Errorf("outbox: got %+v %v, want the notes kept", entries, err)
	}
}

// For a donor who wants to stop, the opt-in goes with the result. It is shown before it is sent, and returns with
// another result.
func TestResultThatOptsOut(t *testing.T) {
	t.Parallel()
	w, d := fixer(t)
	d.enter("c", "3", "esc")
	text := d.text()
	if !strings.Contains(text, "may not be phoned any more") ||
		!strings.Contains(text, "phone ✓ → ✗ ✎") && !strings.Contains(text, "more, j scrolls") {
		t.Fatalf("got:\n%s\nwant the opt-out among what is sent", text)
	}
	d.enter("c", "1", "esc")
	if got := d.app.Day.Form().Corrected(); len(got) != 0 {
		t.Fatalf("after another result: got %+v, want nothing corrected", got)
	}
	d.enter("c", "3", "esc", "ctrl+s")
	if report := w.send(t); report.Accepted != 2 || *w.person(t, 1).OptInPhone {
		t.Errorf("sent: got %+v and %v, want the opt-out and the completion", report, *w.person(t, 1).OptInPhone)
	}
}

// After the first refusal the Desk asks before it sends an opt-out that the account may not record, and the agent may
// send the result alone.
func TestOptOutThatTheAccountMayNotRecord(t *testing.T) {
	t.Parallel()
	for name, newOf := range map[string]func(*testing.T) *world{
		"with extensions":     newQueueWorld,
		"the interface alone": newWorld,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOf(t)
			w.connect(t, t.TempDir(), servicetest.MayNot(service.PersonsUpdate))
			d := fixerOf(t, w)
			d.enter("f", "9", "n", "ctrl+s")
			d.sendHeld(w)
			d.press("n")
			w.seen()
			call := d.app.Day.Call.UUID
			before := len(w.entries(t))
			d.enter("c", "3", "8", "ctrl+s")
			text := d.text()
			if !strings.Contains(text, "may not correct") ||
				!strings.Contains(text, "may be phoned yes → no ✎") ||
				len(w.entries(t)) != before {
				t.Fatalf("got:\n%s\nwant to be asked before anything is sent", text)
			}
			d.press("n")
			if !d.app.Day.IsOn(call) || len(d.app.Day.Form().Corrected()) != 1 {
				t.Fatalf("after no: got %+v, want all as it was", d.app.Day.Form())
			}
			d.enter("ctrl+s", "y")
			d.sendHeld(w)
			got := w.call(t, call)
			if got.Status != apitype.CallCompleted || *got.Result.Value().ResultCode != "wants_to_stop" {
				t.Errorf("got %s with %+v, want the result sent", got.Status, got.Result.Value())
			}
		})
	}
}

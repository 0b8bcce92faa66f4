package tui

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service"
	"fundesk/tui/desk"
	"fundesk/tui/page"
)

// deliver sends what waits, and tells the desk what became of it.
func (d *driver) deliverOutbox(w *world) {
	d.t.Helper()
	var told []outbox.Event
	sender := w.box.Sender(w.options.Client, outbox.SenderOptions{Notify: func(e outbox.Event) { told = append(told, e) }})
	if _, err := sender.SendDue(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	for _, e := range told {
		d.send(d.app.Day.Told(e))
	}
}

// A donor rings back: the number that the phone shows, and Enter is on the open call.
func TestDonorRingsBack(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.press("/")
	for _, key := range "0612345675" { // Of person 5.
		d.press(string(key))
	}
	d.press("enter")
	if !d.app.Day.IsOn(callID(5)) {
		t.Fatalf("got %+v, want the open call of person 5:\n%s", d.app.Day.Call, d.text())
	}
	// Nobody waits for person 6: a new call is asked for, and comes as soon as it is there.
	d.enter("/", "k", "l", "a", "a", "r", "enter")
	if text := d.text(); !strings.Contains(text, "Fia Klaar has no open call") {
		t.Fatalf("got:\n%s\nwant to be asked for a new call", text)
	}
	d.press("2") // Too soon: the question was not seen yet.
	w.seen()
	d.press("2")
	d.deliverOutbox(w)
	if call := d.app.Day.Call; call == nil || call.PersonUUID != personID(6) || call.Type != apitype.CallHappy || *call.RelatedCaseUUID != pledgeID(6) {
		t.Errorf("got %+v, want a new call for person 6:\n%s", call, d.text())
	}
	d.enter("/", "k", "l", "a", "a", "r", "ctrl+o")
	if d.app.current != page.PersonsPage {
		t.Errorf("ctrl+o: got page %d, want the person", d.app.current)
	}
}

// An open call that is about no pledge is found, too.
func TestOpenCallWithoutAPledgeIsFound(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	id := apitype.NewUUID()
	body := `{"uuid":"` + id.String() + `","personUuid":"` + personID(6).String() + `","requestedAt":"2026-11-20T09:00:00Z","type":"winback"}`
	if a := w.Do(w.Token(), http.MethodPost, "/api/v1/calls", body); a.Status != http.StatusCreated {
		t.Fatalf("got %d %s", a.Status, a.Body)
	}
	d := newDriver(t, w.options)
	d.enter("/", "k", "l", "a", "a", "r", "enter")
	if !d.app.Day.IsOn(id) {
		t.Errorf("got %+v, want the call of person 6:\n%s", d.app.Day.Call, d.text())
	}
}

// The last calls are shown with what became of them, and opened again by Enter.
func TestLastCalls(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	w.options.Agent = new(ids(0xe0, 1))
	d := newDriver(t, w.options)
	d.press("n")
	first := d.app.Day.Call.UUID
	name := d.app.Day.Name()
	w.seen()
	d.press("a")
	fate := func(want desk.Fate) {
		t.Helper()
		if r := d.app.Day.Recent; len(r) == 0 || r[len(r)-1].Call != first || r[len(r)-1].Name != name || r[len(r)-1].Fate != want {
			t.Errorf("got %+v, want %s with fate %d", r, name, want)
		}
	}
	fate(desk.FateHeld)
	d.press("enter")
	d.sees("not reached ▰▰▰▰▰ 5 s", "u takes it back")
	d.enter("esc", "u")
	if len(d.app.Day.Recent) != 0 || !d.app.Day.IsOn(first) {
		t.Fatalf("taken back: got %+v, want none and the call on the desk", d.app.Day.Recent)
	}
	w.seen()
	d.press("a")
	w.Clock.Advance(6 * time.Second)
	d.deliverOutbox(w)
	fate(desk.FateSent)
	d.enter("enter", "enter")
	if !d.app.Day.IsOn(first) {
		t.Errorf("enter: got %+v, want the call again", d.app.Day.Call)
	}
	// What the service refuses says so.
	w.change(t, "/api/v1/calls/"+first.String()+"/actions/cancel")
	w.seen()
	d.app.Day.Call.Status = apitype.CallRequested
	d.press("a")
	w.Clock.Advance(6 * time.Second)
	d.deliverOutbox(w)
	if r := d.app.Day.Recent; r[0].Fate != desk.FateRefused {
		t.Errorf("refused: got %+v, want it said", r)
	}
}

// The list of donors found is walked within its bounds, and begins anew with what is typed.
func TestWalkingTheDonorsFound(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]apitype.UUID{ // Of a, which finds the persons 1, 5, 6 and 3; 1 and 5 have an open call.
		"/ a enter":             callID(1),
		"/ a up enter":          callID(1),
		"/ a down enter":        callID(5),
		"/ a ctrl+n enter":      callID(5),
		"/ a down ctrl+p enter": callID(1),
		"/ a down down down down down up up enter":                  callID(5),
		"/ a down down n enter":                                     callID(1),
		"/ q q enter ctrl+o down enter":                             {},
		"/ a esc enter":                                             callID(1),
		"/ a down ctrl+c / a enter":                                 callID(1),
		"/ q q up backspace backspace a ctrl+n ctrl+n ctrl+p enter": callID(5),
	} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t, newQueueWorld(t).options)
			d.enter(strings.Fields(keys)...)
			if got := d.app.Day.Call; (got == nil) != (want == apitype.UUID{}) || got != nil && got.UUID != want {
				t.Errorf("got %+v, want the call %s:\n%s", got, want, d.text())
			}
			if isOpen := strings.Contains(d.text(), "Find a donor"); isOpen != strings.Contains(keys, "ctrl+o") {
				t.Errorf("got the search open %v:\n%s", isOpen, d.text())
			}
		})
	}
}

// Of very many donors the newest 5,000 are read; ctrl+r reads the others.
func TestSearchingOnForADonor(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	var donors []service.LoadRecord
	for n := range 5000 {
		donor := service.LoadedPerson{OwningOrganizationUUID: organizationID, RecruitingOrganizationUUID: organizationID}
		donor.UUID, donor.CreatedAt, donor.LastName = apitype.NewUUID(), w.ago(time.Duration(n)*time.Second), new("Nieuw")
		donors = append(donors, service.LoadRecord{Kind: service.LoadPerson, Data: donor})
	}
	w.Load(donors...)
	d := newDriver(t, w.options)
	d.enter("/", "k", "l", "a", "a", "r")
	if text := d.text(); strings.Contains(text, "Fia Klaar") || !strings.Contains(text, "^r read more donors") {
		t.Fatalf("got:\n%s\nwant nobody yet, and that there are more", text)
	}
	d.press("ctrl+r")
	d.sees("Fia Klaar")
	d.lacks("^r read more donors")
}

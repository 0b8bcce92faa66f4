package tui

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/changes"
	"fundesk/tui/page"
)

// names returns the persons of the calls on screen, from the top.
func (d *driver) names(all ...string) []string {
	var found []string
	for line := range strings.SplitSeq(d.text(), "\n") {
		for _, name := range all {
			if strings.Contains(line, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// Rows are sorted by any column, the other way round with the same key, and the cursor stays
// on its record.
func TestSortByAColumn(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newWorld(t).options)
	d.enter("2", "j")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	before, _ := calls.Chosen()
	for _, test := range []struct{ keys, first, last, says string }{
		{"o 1", "Anna", "Zoë", "sorted by Person"},
		{"o 1", "Zoë", "Anna", "sorted by Person"},
		{"o 4", "Fia", "Anna", "sorted by Since"},
		{"o 5", "Fia", "Carla", "sorted by Tries"},
		{"o 0", "Fia", "Anna", "6 calls"},
	} {
		d.enter(strings.Fields(test.keys)...)
		got := d.names("Anna", "Bert", "Carla", "Dmitri", "Fia", "Zoë")
		d.sees(test.says)
		if len(got) != 6 || got[0] != test.first || got[5] != test.last {
			t.Errorf("%s: got %v, want %s first and %s last", test.keys, got, test.first, test.last)
		}
		if now, _ := calls.Chosen(); now.ID != before.ID {
			t.Errorf("%s: the cursor went to %s, want it on %s", test.keys, now.ID, before.ID)
		}
	}
}

// The width of the panes is as it was at the next start.
func TestScreenIsArrangedAndKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.StateFile = t.TempDir() + "/desk/test.json"
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.enter("2", "<", ">", ">")
	width := strings.Index(strings.Split(d.text(), "\n")[2], "││")
	d = newDriver(t, w.options)
	d.size(120, 36)
	d.press("2")
	if text := d.text(); strings.Index(strings.Split(text, "\n")[2], "││") != width {
		t.Errorf("next start: got:\n%s\nwant it as before", text)
	}
	content, err := os.ReadFile(strings.TrimSuffix(w.options.StateFile, ".json") + "-screen.json")
	if want := `{"panes":4}`; err != nil || string(content) != want {
		t.Errorf("kept: got %s %v, want %s", content, err, want)
	}
	d.size(80, 24)
	d.press(">")
	d.sees("there is only one pane")
}

// A filter narrows what is read while it is typed, offers its fields and values, refuses a
// wrong value at once, and comes back from the history.
func TestFilterWhileTyped(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newWorld(t).options)
	d.press("2")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	prompt := func() *page.Prompt { return d.app.Dialog.(*page.Prompt) }
	d.enter("G", "/", "j", "a", "n", "s", "s", "e", "n") // Jansen, with a slip.
	if row, chosen := calls.Chosen(); !chosen || row.ID != callID(1) {
		t.Errorf("typed: got %+v as the row that Enter is for, want the one that is left", row)
	}
	servicetest.Same(t, "typed", []string{"Anna Jansen"}, d.names("Anna Jansen", "Fia Klaar"))
	d.press("esc")
	if got := d.names("Anna Jansen", "Fia Klaar"); len(got) != 2 {
		t.Errorf("after esc: got %v, want all again", got)
	}
	d.enter("/", "s", "t", "tab", "r", "tab")
	servicetest.Same(t, "completed", "status=requested", prompt().Editor.Value())
	d.enter("x")
	if got := prompt().Wrong; !strings.Contains(got, "status must be one of requested") {
		t.Errorf("wrong value: got %q, want it refused at once", got)
	}
	d.enter("backspace", "enter")
	servicetest.Same(t, "rows", 5, len(calls.Rows))
	d.enter("esc", "/", "up")
	servicetest.Same(t, "history", "status=requested", prompt().Editor.Value())
}

// A filter reads on during typing, shows how far it has read, and shows nothing beside an empty list.
func TestFilterReadsOnWhileTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.loadResults(10*time.Hour, slices.Repeat([]string{"reached"}, 250)...)
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.enter("2", "/")
	d.typing("jansen")
	d.sees("1 call of 256 read", "Anna Jansen")
	d.enter("esc", "/")
	d.typing("qqqqqqqq")
	d.sees("0 calls of 256 read")
	d.lacks("Jansen", "Klaar")
}

// Pledges show their donors, and are found by them.
func TestPledgesHaveTheirDonors(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newWorld(t).options)
	d.press("4")
	if got := d.names("Anna Jansen", "Bert Opgegeven", "Zoë van der Stra"); len(got) != 3 {
		t.Errorf("got:\n%s\nwant the donors", d.text())
	}
	d.filter("zoe straten status=lead")
	servicetest.Same(t, "filtered", []string{"Zoë van der Stra"}, d.names("Anna Jansen", "Zoë van der Stra"))
	d.enter("esc", "o", "1")
	servicetest.Same(
		t,
		"sorted",
		[]string{"Anna Jansen", "Bert Opge", "Zoë van der Stra"},
		d.names("Anna Jansen", "Zoë van der Stra", "Bert Opge"),
	)
}

// TestPledgesWithoutDonors lists the pledges of a service that hides their donors, and of an account without the right
// to read persons. No pledge is read for a name, and the screen explains the gap.
func TestPledgesWithoutDonors(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	w.InterfaceOnly()
	d := newDriver(t, w.options)
	d.press("4")
	d.sees("6 pledges", "this service lists no donors here")
	d.lacks("Anna Jansen")
}

// deliver sends waiting changes, and passes the outcomes to the desk.
func (d *driver) deliverOutbox(w *world) {
	d.t.Helper()
	var told []outbox.Event
	sender := w.box.Sender(w.options.Client, outbox.SenderOptions{
		Notify: func(e outbox.Event) { told = append(told, e) },
	})
	if _, err := sender.SendDue(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	for _, e := range told {
		d.send(d.app.Day.Told(e))
	}
}

// sendHeld lets the time for u go by, and sends what was held.
func (d *driver) sendHeld(w *world) {
	d.t.Helper()
	w.Clock.Advance(6 * time.Second)
	d.deliverOutbox(w)
}

// A donor calls back: the agent types the number on the phone, and Enter opens the call.
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
	// Person 6 has no waiting call: a new one is requested, and comes as soon as it is there.
	d.enter("/", "k", "l", "a", "a", "r", "enter")
	if text := d.text(); !strings.Contains(text, "Fia Klaar has no open call") {
		t.Fatalf("got:\n%s\nwant to be asked for a new call", text)
	}
	d.press("2") // Too soon: the question was not seen yet.
	w.seen()
	d.press("2")
	d.deliverOutbox(w)
	call := d.app.Day.Call
	if call == nil ||
		call.PersonUUID != personID(6) ||
		call.Type != apitype.CallHappy ||
		*call.RelatedCaseUUID != pledgeID(6) {
		t.Errorf("got %+v, want a new call for person 6:\n%s", call, d.text())
	}
	d.enter("/", "k", "l", "a", "a", "r", "ctrl+o")
	servicetest.Same(t, "ctrl+o", page.PersonsPage, d.app.current)
}

// An open call that is about no pledge is found, too.
func TestOpenCallWithoutAPledgeIsFound(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	id := apitype.NewUUID()
	body := `{"uuid":"` + id.String() + `","personUuid":"` + personID(6).String() +
		`","requestedAt":"2026-11-20T09:00:00Z","type":"winback"}`
	if a := w.Do(w.Token(), http.MethodPost, "/api/v1/calls", body); a.Status != http.StatusCreated {
		t.Fatalf("got %d %s", a.Status, a.Body)
	}
	d := newDriver(t, w.options)
	d.enter("/", "k", "l", "a", "a", "r", "enter")
	if !d.app.Day.IsOn(id) {
		t.Errorf("got %+v, want the call of person 6:\n%s", d.app.Day.Call, d.text())
	}
}

// The last calls are shown with their outcomes, and Enter opens them again.
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
	fate := func(want changes.Fate) {
		t.Helper()
		r := d.app.Day.Changes.Recent
		if len(r) == 0 || r[len(r)-1].Call != first || r[len(r)-1].Name != name || r[len(r)-1].Fate != want {
			t.Errorf("got %+v, want %s with fate %d", r, name, want)
		}
	}
	fate(changes.FateHeld)
	d.press("enter")
	d.sees("not reached ▰▰▰▰▰ 5 s", "u undoes it")
	d.enter("esc", "u")
	if len(d.app.Day.Changes.Recent) != 0 || !d.app.Day.IsOn(first) {
		t.Fatalf("undone: got %+v, want none and the call on the desk", d.app.Day.Changes.Recent)
	}
	w.seen()
	d.press("a")
	d.sendHeld(w)
	fate(changes.FateSent)
	d.enter("enter", "enter")
	if !d.app.Day.IsOn(first) {
		t.Errorf("enter: got %+v, want the call again", d.app.Day.Call)
	}
	// Refusals of the service are shown.
	w.change(t, "/api/v1/calls/"+first.String()+"/actions/cancel")
	w.seen()
	d.app.Day.Call.Status = apitype.CallRequested
	d.press("a")
	d.sendHeld(w)
	if r := d.app.Day.Changes.Recent; r[0].Fate != changes.FateRefused {
		t.Errorf("refused: got %+v, want it said", r)
	}
}

// The list of found donors keeps its bounds, and begins again with each letter.
func TestWalkingTheDonorsFound(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]apitype.UUID{ // Of a, which finds the persons 1 and 5 with an open call.
		"/ a enter":                     callID(1),
		"/ a up enter":                  callID(1),
		"/ a down enter":                callID(5),
		"/ a ctrl+n enter":              callID(5),
		"/ a down ctrl+p enter":         callID(1),
		"/ a down down down up enter":   callID(1),
		"/ a down down n enter":         callID(1),
		"/ q q enter ctrl+o down enter": {},
		"/ a esc enter":                 callID(1),
		"/ a down ctrl+c / a enter":     callID(1),
		"/ q q up backspace backspace a ctrl+n ctrl+n ctrl+p ctrl+n enter": callID(5),
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

// TestSearchingADonor finds an old donor at a service that searches. Elsewhere it finds the donors of the newest calls,
// and the screen explains this.
func TestSearchingADonor(t *testing.T) {
	t.Parallel()
	for _, isInterface := range []bool{false, true} {
		w := newQueueWorld(t)
		var donors []service.LoadRecord
		for n := range 600 {
			donor := service.LoadedPerson{
				OwningOrganizationUUID:     organizationID,
				RecruitingOrganizationUUID: organizationID,
			}
			donor.UUID = apitype.NewUUID()
			donor.CreatedAt = w.ago(time.Duration(n) * time.Second)
			donor.LastName = new("Nieuw")
			if n == 599 {
				donor.LastName, donor.Email = new("Verborgen"), new("v@example.org")
			}
			donors = append(donors, service.LoadRecord{Kind: service.LoadPerson, Data: donor})
		}
		w.Load(donors...)
		if isInterface {
			w.InterfaceOnly()
		}
		d := newDriver(t, w.options)
		d.enter("/", "k", "l", "a", "a", "r")
		d.sees("Fia Klaar")
		d.enter("esc", "/", "v", "@")
		const lacks = "this service cannot search"
		if isInterface {
			d.sees(lacks)
			d.lacks("Verborgen")
			continue
		}
		d.sees("Verborgen")
		d.lacks(lacks)
		d.enter("esc", "3", "/", "v", "@", "e", "x", "a", "m", "p", "enter")
		d.sees("Verborgen")
		d.sees("service: words")
	}
}

// What the service finds by words is listed, also where the words are written otherwise than in the record.
func TestDonorFoundByTheServiceStays(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newQueueWorld(t).options)
	d.enter("3", "/")
	d.typing("1234ab jansen")
	d.sees("not among those read: enter asks the service")
	d.press("enter")
	d.sees("Anna Jansen")
	d.lacks("Bert Opgegeven")
}

// An account that may not read persons sees its pledges without their donors.
func TestPledgesWithoutTheirDonors(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	w.connect(t, t.TempDir(), servicetest.MayNot(service.PersonsRead))
	d := newDriver(t, w.options)
	d.enter("4")
	d.sees("lead", "€ 12.50")
}

// The cursor stays on its donor when the service's answer comes, so Enter opens the donor that the agent has seen
// there.
func TestTheDonorUnderTheCursorStays(t *testing.T) {
	t.Parallel()
	for at, keys := range []string{"", "down", "down down"} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			w := newQueueWorld(t)
			w.Clock.Advance(time.Hour)
			w.loadPerson(7, "Aafke", "Nieuw") // The service lists the newest person first.
			w.loadPledge(7)
			w.loadCall(7)
			d := newDriver(t, w.options)
			d.enter("/")
			_, answer := d.app.Update(keyPress("a"))
			d.enter(strings.Fields(keys)...)
			before := d.app.Day.FindDonors(9)
			d.run(answer, 0)
			if after := d.app.Day.FindDonors(9); after[0].ID == before[0].ID {
				t.Fatalf("got %v before the answer and %v after it, want another order", before, after)
			}
			d.press("enter")
			if call := d.app.Day.Call; call == nil || call.PersonUUID != before[at].ID {
				t.Errorf("got the call %+v, want the one of %s", call, before[at].Name)
			}
		})
	}
}

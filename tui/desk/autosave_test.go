package desk

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/desk/event"
)

// Two terminals write notes for one call. The text of neither is lost, on the disk or on the last writer's screen, and
// sending one leaves the other's.
func TestTwoTerminalsWriteForOneCall(t *testing.T) {
	t.Parallel()
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent"})
	servicetest.Check(t, err)
	a, b, screen := drafts.New(box), drafts.New(box), newDay()
	screen.Call, screen.Form().Notes = &apitype.Call{UUID: callID(1)}, "from B, still typing"
	screen.Changes.Drafts.Autosave, b.OnJoined = b, screen.onJoined
	steps := []struct {
		name  string
		by    *drafts.Autosave
		types string
		want  string
	}{
		{"one alone", a, "from A", "from A"},
		{"one goes on", a, "from A,", "from A,"},
		{"the other", b, "from B", "from B\nfrom A,"},
		{"the first goes on", a, "from A, more", "from B\nfrom A, more"},
	}
	for _, step := range steps {
		servicetest.Check(t, step.by.Save(outbox.Draft{Call: callID(1), Notes: step.types}))
		if draft, _, _ := box.Draft(callID(1)); draft.Notes != step.want {
			t.Fatalf("%s: got %q, want %q", step.name, draft.Notes, step.want)
		}
	}
	if want := "from B, still typing\nfrom A,"; screen.Form().Notes != want {
		t.Errorf("on the screen: got %q, want %q", screen.Form().Notes, want)
	}
	servicetest.Check(t, b.Delete(b.From(callID(1)), outbox.Draft{}))
	both, found, _ := box.Draft(callID(1))
	if !found {
		t.Errorf("what the other sent and did not know: got %+v, want it kept", both)
	}
	a.Loaded(both) // On the first one's screen.
	servicetest.Check(t, a.Delete(both, a.From(callID(1))))
	if draft, found, _ := box.Draft(callID(1)); found {
		t.Errorf("what was sent: got %+v, want none", draft)
	}
}

// callID returns an identifier that readers can tell apart.
func callID(n int) apitype.UUID {
	id := apitype.MustParseUUID("c0000000-0000-4000-8000-000000000000")
	id[1], id[15] = byte(n), byte(n)
	return id
}

// What another terminal has saved for the call on the desk is shown there, with what was typed
// since; of another call nothing is, and its draft is the one of both.
func TestNotesOfAnotherTerminalAreShown(t *testing.T) {
	t.Parallel()
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent"})
	servicetest.Check(t, err)
	d, b := newDay(), drafts.New(box)
	d.Changes.Drafts.Autosave = drafts.New(box)
	// saved has this terminal write a draft after another one.
	saved := func(call apitype.UUID, from ...string) {
		servicetest.Check(t, b.Save(outbox.Draft{Call: call, Notes: "from B"}))
		for _, notes := range from {
			servicetest.Check(t, d.Changes.Drafts.Save(outbox.Draft{Call: call, Notes: notes}))
		}
		d.onJoined(call)
	}
	d.Call = &apitype.Call{UUID: callID(1), Status: apitype.CallRequested}
	d.Form().SetNotes("from A, more")
	d.Changes.Drafts.All = []outbox.Draft{{Call: callID(3), Notes: "of a third"}, {Call: callID(2), Notes: "from A"}}
	d.Drain()
	saved(callID(2), "from A")
	if events := d.Drain(); d.Form().Notes != "from A, more" || len(events) != 0 {
		t.Errorf("of another call: got %q and %v, want what was typed", d.Form().Notes, events)
	}
	want := []outbox.Draft{{Call: callID(2), Notes: "from A\nfrom B"}, {Call: callID(3), Notes: "of a third"}}
	if !cmp.Equal(want, d.Changes.Drafts.All) {
		t.Errorf("drafts (-want +got):\n%s", cmp.Diff(want, d.Changes.Drafts.All))
	}
	saved(callID(1), "from A", "from A,") // Two writes before the form shows the first.
	if d.Form().Notes != "from B\nfrom A, more" {
		t.Errorf("got %q, want the notes of both", d.Form().Notes)
	}
	if events := d.Drain(); !slices.ContainsFunc(events, func(e event.Event) bool {
		told, ok := e.(event.Notice)
		return ok &&
			strings.HasPrefix(told.Text, "another terminal has notes for") &&
			strings.HasSuffix(told.Text, "both are here")
	}) {
		t.Errorf("got %+v, want it said", events)
	}
	d.onJoined(callID(1)) // Of the second write.
	servicetest.Check(t, d.Changes.Drafts.Flush())
	draft, _, err := box.Draft(callID(1))
	if err != nil || d.Form().Notes != "from B\nfrom A, more" || draft.Notes != d.Form().Notes {
		t.Errorf("got %q and %q on disk, want the notes of both, once", d.Form().Notes, draft.Notes)
	}
}

// A result that was chosen on another terminal is not this one's, and neither is the opt-out that goes with it: no
// donor is opted out by an agent who chose another result.
func TestOptOutOfAResultOfAnotherTerminal(t *testing.T) {
	t.Parallel()
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent"})
	servicetest.Check(t, err)
	terminals := make([]*Day, 2)
	for i := range terminals {
		d := dayAt(t, nil)
		donor(d)
		d.Changes.Drafts.Autosave = drafts.New(box)
		d.Changes.Drafts.OnJoined = func(call apitype.UUID) { d.onJoined(call) }
		terminals[i] = d
	}
	here, other := terminals[0], terminals[1]
	other.Form().SetResult("never")
	servicetest.Check(t, other.Changes.Drafts.Flush())
	if len(other.Form().Corrected()) != 1 {
		t.Fatalf("got the corrections %v on the other terminal, want the opt-out", other.Form().Corrected())
	}
	here.Form().SetNotes("was glad")
	servicetest.Check(t, here.Changes.Drafts.Flush())
	here.Form().SetResult("glad")
	servicetest.Check(t, here.Changes.Drafts.Flush())
	if got := here.Form().Corrected(); len(got) > 0 {
		t.Errorf("got the corrections %v with the result glad, want none", got)
	}
}

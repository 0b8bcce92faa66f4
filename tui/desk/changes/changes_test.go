package changes_test

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/debounce"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
)

// desk is a session with an outbox on disk, a clock, and what the agent was told.
type desk struct {
	*changes.Session
	t        *testing.T
	now      time.Time
	told     []string
	restored []string // The texts of the calls that came back.
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, now: time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)}
	clock := func() time.Time { return d.now }
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent", Now: clock})
	servicetest.Check(t, err)
	events := event.New(say.Texts{})
	d.Session = changes.NewSession(changes.Author{Now: clock}, &changes.Unsent{
		Events:     events,
		Connection: connection.New(events, func() {}),
		Outbox:     box,
		Drafts:     drafts.NewList(box),
		OnRead:     func(bool) {},
	}, new(debounce.Keys))
	d.OnSaved = func(apitype.UUID) {}
	d.OnReturn = func(r changes.Return) {
		d.restored = append(d.restored, r.Text)
		r.Restore()
	}
	return d
}

// work does the requested jobs and notes the messages.
func (d *desk) work(events []event.Event) {
	d.t.Helper()
	for len(events) > 0 {
		switch e := events[0].(type) {
		case event.Job:
			e(d.t.Context()).TakeIn()
			events = append(events, d.Events.Drain()...)
		case event.Notice:
			if e.Text != "" {
				d.told = append(d.told, e.Text)
			}
		}
		events = events[1:]
	}
}

// inOutbox returns the calls of the entries on disk.
func (d *desk) inOutbox() []apitype.UUID {
	d.t.Helper()
	d.Written()
	entries, _, err := d.Outbox.List()
	servicetest.Check(d.t, err)
	var calls []apitype.UUID
	for _, e := range entries {
		calls = append(calls, e.UUID)
	}
	return calls
}

func (d *desk) wants(calls ...apitype.UUID) {
	d.t.Helper()
	if got := d.inOutbox(); !slices.Equal(got, calls) {
		d.t.Errorf("got %v in the outbox, want %v", got, calls)
	}
}

// callID returns an identifier that readers can tell apart.
func callID(n int) apitype.UUID {
	id := apitype.MustParseUUID("c0000000-0000-4000-8000-000000000000")
	id[1], id[15] = byte(n), byte(n)
	return id
}

// A change waits 5 seconds for an undo. It is on disk before anything has heard of it.
func TestAChangeIsHeld(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	saving := d.Submit(d.Attempt(callID(1), "attempt: Anna Jansen"))
	d.wants(callID(1))
	entries, _, err := d.Outbox.List()
	servicetest.Check(t, err)
	if want := d.now.Add(5 * time.Second); !entries[0].NotBefore.Equal(want) {
		t.Errorf("got it held until %v, want %v", entries[0].NotBefore, want)
	}
	d.work(saving)
	if got, want := d.HeldText("u"), "attempt: Anna Jansen, sent in 5 s, u undoes it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	d.now = d.now.Add(5 * time.Second)
	if d.Release(); d.CanUndo() {
		t.Error("it can still be undone when it is being sent")
	}
}

// Undo takes back the last change of the agent, even while it is being saved. If that change was not saved, undo takes
// back no earlier one.
func TestUndoOfWhatIsBeingSaved(t *testing.T) {
	t.Parallel()
	for _, isSaved := range []bool{true, false} {
		d := newDesk(t)
		d.work(d.Submit(d.Attempt(callID(1), "attempt: Anna Jansen")))
		d.now = d.now.Add(3 * time.Second) // No burst.
		second := d.Attempt(callID(2), "attempt: Ben Smit")
		if !isSaved {
			second.Err = errors.New("the disk is full")
		}
		saving := d.Submit(second)
		if !d.CanUndo() {
			t.Error("nothing can be taken back, want the change that is being saved")
		}
		d.work(append(saving, d.Undo()...))
		if d.wants(callID(1)); len(d.Held) != 1 {
			t.Errorf("saved %t: got %d held, want the first attempt alone", isSaved, len(d.Held))
		}
	}
}

// Undo takes back the last key, though the change of an earlier one reached the disk after it.
func TestUndoFollowsTheKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	saving := d.Submit(d.Attempt(callID(1), "attempt: Anna Jansen"))
	d.Written()                        // The Desk has not heard so yet.
	d.now = d.now.Add(3 * time.Second) // No burst.
	d.HoldStep("skipped: Ben Smit", apitype.UUID{}, func() {})
	d.work(saving)
	d.work(d.Undo())
	if d.wants(callID(1)); !slices.Equal(d.restored, []string{"undone: skipped: Ben Smit"}) {
		t.Errorf("got %q back, want the skipped call", d.restored)
	}
	d.work(d.Undo())
	d.wants()
}

// One undo takes back a burst of changes. It never splits a key: of an attempt a moment before the burst, it does not
// take the reason alone.
func TestUndoTakesBackABurst(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for n := range 2 {
		attempt := d.Attempt(callID(n+1), "not reached, busy: Anna Jansen")
		attempt.Group = new(changes.Group)
		reason := attempt
		reason.Label, reason.IsExtra = "reason of the attempt: Anna Jansen", true
		d.work(d.Submit(attempt))
		d.now = d.now.Add(2 * time.Millisecond)
		d.work(d.Submit(reason))
		d.now = d.now.Add(497 * time.Millisecond) // The first attempt is 501 ms before the second reason.
	}
	d.work(d.Undo())
	d.wants(callID(1), callID(1))
	d.work(d.Submit(d.Attempt(callID(3), "a"), d.Attempt(callID(4), "b")))
	d.told = nil
	d.work(d.Undo())
	d.wants(callID(1), callID(1))
	if !slices.Equal(d.told, []string{"undone: 2 changes"}) {
		t.Errorf("got %q, want one message", d.told)
	}
}

// A change that could not be saved is not sent, nor is the rest of its key. Its call comes back with the typed text,
// which stays on disk.
func TestARefusingDiskKeepsTheWords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	typed := outbox.Draft{Call: callID(1), Notes: "typed with care"}
	servicetest.Check(t, d.Drafts.Save(typed))
	group := new(changes.Group)
	correction, result := d.Attempt(callID(2), "correct"), d.Attempt(callID(1), "glad: Anna Jansen")
	correction.Group, result.Group = group, group
	result.Err, result.Typed, result.Restore = io.ErrShortWrite, &changes.Typed{Draft: typed, Disk: typed}, func() {}
	d.Recent.Add(changes.Recent{Call: callID(1)})
	d.work(d.Submit(correction, result))
	d.wants()
	if draft, _, err := d.Outbox.Draft(callID(1)); err != nil || draft.Notes != typed.Notes {
		t.Errorf("got the draft %q, %v, want what was typed", draft.Notes, err)
	}
	if !slices.Equal(d.restored, []string{"glad: Anna Jansen was not saved"}) || len(d.Recent) != 0 || d.CanUndo() {
		t.Errorf("got %q back, %v and %v held", d.restored, d.Recent, d.Held)
	}
	want := "not saved: short write; nothing was sent, the text is kept on screen"
	if !slices.Contains(d.told, want) {
		t.Errorf("got %q, want %q", d.told, want)
	}
}

// The draft of a result leaves the disk with it, and is there again after an undo.
func TestAnUndoBringsTheDraftBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	typed := outbox.Draft{Call: callID(1), Notes: "typed with care"}
	servicetest.Check(t, d.Drafts.Save(typed))
	result := d.Attempt(callID(1), "glad: Anna Jansen")
	result.Typed, result.Restore = &changes.Typed{Draft: typed, Disk: typed}, func() {}
	d.work(d.Submit(result))
	if _, found, _ := d.Outbox.Draft(callID(1)); found {
		t.Error("the draft is still there beside its result")
	}
	d.work(d.Undo())
	if draft, _, _ := d.Outbox.Draft(callID(1)); draft.Notes != typed.Notes {
		t.Errorf("got the draft %q, want %q", draft.Notes, typed.Notes)
	}
}

// The work of a key is back when all of it was undone. Before anything is on disk, it is not.
func TestAGroupIsBackAfterItsUndo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	attempt := d.Attempt(callID(1), "attempt: Anna Jansen")
	attempt.Group = new(changes.Group)
	wantBack := func(want bool, when string) {
		t.Helper()
		if got := attempt.Group.IsBack(); got != want {
			t.Errorf("%s: back is %t, want %t", when, got, want)
		}
	}
	wantBack(false, "before the key")
	d.work(d.Submit(attempt))
	wantBack(false, "while it is held")
	d.work(d.Undo())
	wantBack(true, "after the undo")
}

// If the outcome of a lost answer stays unknown, the Desk reports it and says where the change is. It does not mention
// a change that will be looked up again. A refusal says that the text is kept.
func TestWhatTheServiceAnsweredIsSaid(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	entry := outbox.Entry{ID: "1-a"}
	d.Labels["1-a"] = "attempt: Anna Jansen"
	heard := func(outcome outbox.Outcome, err error) (said []event.Notice) {
		d.Hear(outbox.Event{Entry: entry, Outcome: outcome, Err: err})
		for _, e := range d.Events.Drain() {
			if notice, ok := e.(event.Notice); ok {
				said = append(said, notice)
			}
		}
		return said
	}
	down := &apiclient.Error{Kind: apiclient.KindUnavailable, Message: "down"}
	if said := heard(outbox.OutcomeUnsure, down); len(said) != 0 {
		t.Errorf("got %v of a change that is looked up again, want nothing", said)
	}
	for text, said := range map[string][]event.Notice{
		"the outcome is unknown":                             heard(outbox.OutcomeUnsure, outbox.ErrCannotTell),
		"attempt: Anna Jansen was refused, its text is kept": heard(outbox.OutcomeRejected, io.ErrNoProgress),
	} {
		isSaid := len(said) == 1 && strings.Contains(said[0].Text, text)
		if !isSaid || said[0].Level != event.Failed || said[0].See != event.SeeOutbox {
			t.Errorf("got %v, want %q, with the way to the outbox", said, text)
		}
	}
}

// Each record of an action on several shows its outcome, also if it was not saved or was undone.
func TestBatchTellsOfEachRecord(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	all := []changes.Change{
		d.Cancel(callID(1), "a"),
		d.Cancel(callID(2), "b"),
		d.Cancel(callID(3), "c"),
		{Err: io.ErrShortWrite},
	}
	d.work(d.SubmitEach("cancel 4 calls", []string{"a", "b", "c", "d"}, all))
	entries, _, err := d.Outbox.List()
	servicetest.Check(t, err)
	d.Hear(outbox.Event{Entry: entries[0], Outcome: outbox.OutcomeAccepted})
	d.Hear(outbox.Event{Entry: entries[1], Outcome: outbox.OutcomeUnsure, Err: errors.New("down")})
	d.work(d.Undo())
	var got []string
	for _, r := range d.Batch.Records {
		got = append(got, r.State)
	}
	if want := []string{"done", "waits: down", "undone", "not saved: short write"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := d.Batch.Summary(say.Texts{}.Say), "cancel 4 calls: 1 of 4 done, 2 not"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A change during a failing reading of the outbox is shown, because the outbox is read once more.
func TestAFailedReadingHidesNoChange(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	box, folder := d.Outbox, t.TempDir()
	broken, err := outbox.Open(folder, outbox.Options{BaseURL: "https://a.example", Account: "agent"})
	servicetest.Check(t, err)
	servicetest.Check(t, os.RemoveAll(folder))
	servicetest.Check(t, os.WriteFile(folder, nil, 0o600))
	d.Outbox = broken
	reading := d.Refresh()
	result := reading[0].(event.Job)(t.Context())
	d.Outbox = box
	_, err = box.Add(outbox.Entry{Change: d.Cancel(callID(1), "").Change})
	servicetest.Check(t, err)
	d.Read()
	result.TakeIn()
	d.work(d.Events.Drain())
	if len(d.Entries) != 1 || !slices.ContainsFunc(d.told, isOutboxFailure) {
		t.Errorf("got %v and %q, want the change that came during the reading", d.Entries, d.told)
	}
}

func isOutboxFailure(text string) bool { return strings.HasPrefix(text, "cannot read the outbox: ") }

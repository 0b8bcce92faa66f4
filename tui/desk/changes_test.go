package desk

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/event"
)

// boxAt opens an outbox with a clock.
func boxAt(t *testing.T, clock func() time.Time) *outbox.Outbox {
	t.Helper()
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent", Now: clock})
	servicetest.Check(t, err)
	return box
}

// A change waits 5 seconds for an undo.
func TestAChangeIsHeld(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	box := boxAt(t, clock)
	c := &Changes{base: newBase(Options{Outbox: box, Now: clock}, nil)}
	c.Submit(c.Attempt(callID(1), "attempt: Anna Jansen"))
	c.Written()
	entries, _, err := box.List()
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %d entries, %v, want the attempt", len(entries), err)
	}
	if want := now.Add(5 * time.Second); !entries[0].NotBefore.Equal(want) {
		t.Errorf("got it held until %v, want %v", entries[0].NotBefore, want)
	}
}

// Undo takes back the last change of the agent, even while it is being saved. If that change was not saved, undo takes
// back no earlier one.
func TestUndoOfWhatIsBeingSaved(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	for _, isSaved := range []bool{true, false} {
		box := boxAt(t, clock)
		d := New(Options{Client: new(apiclient.Client), Outbox: box, Now: clock})
		settle := func(events []event.Event) {
			for len(events) > 0 {
				if job, isJob := events[0].(event.Job); isJob {
					events = append(events, d.Receive(job(t.Context()))...)
				}
				events = events[1:]
			}
		}
		settle(d.Changes.Submit(d.Changes.Attempt(callID(1), "attempt: Anna Jansen")))
		now = now.Add(3 * time.Second) // No burst.
		second := d.Changes.Attempt(callID(2), "attempt: Ben Smit")
		if !isSaved {
			second.err = errors.New("the disk is full")
		}
		saving := d.Changes.Submit(second)
		if !d.Changes.CanUndo() {
			t.Error("nothing can be taken back, want the change that is being saved")
		}
		settle(append(saving, d.Undo()...))
		entries, _, err := box.List()
		if err != nil || len(entries) != 1 || entries[0].UUID != callID(1) || len(d.Changes.Held) != 1 {
			t.Errorf("saved %t: got %d entries and %d held, %v, want the first attempt alone", isSaved, len(entries), len(d.Changes.Held), err)
		}
	}
}

// Undo takes back the last key, though the change of an earlier one reached the disk after it.
func TestUndoFollowsTheKeys(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	box := boxAt(t, clock)
	d := New(Options{Client: new(apiclient.Client), Outbox: box, Now: clock})
	events := d.Changes.Submit(d.Changes.Attempt(callID(1), "attempt: Anna Jansen"))
	d.Changes.Written()            // The Desk has not heard so yet.
	now = now.Add(3 * time.Second) // No burst.
	d.holdReturn("skipped: Ben Smit", apitype.UUID{})
	undo := func() {
		for len(events) > 0 {
			if job, isJob := events[0].(event.Job); isJob {
				events = append(events, d.Receive(job(t.Context()))...)
			}
			events = events[1:]
		}
		events = d.Undo()
	}
	undo()
	entries, _, err := box.List()
	if err != nil || len(entries) != 1 || len(d.Changes.Held) != 1 || d.Changes.Held[0].id != entries[0].ID {
		t.Fatalf("got %d entries and %v held, %v, want the attempt alone", len(entries), d.Changes.Held, err)
	}
	undo()
	d.Changes.Written()
	if entries, _, err = box.List(); err != nil || len(entries) != 0 {
		t.Errorf("got %d entries, %v, want none after the second undo", len(entries), err)
	}
}

// An undo never splits a key: of an attempt a moment before the burst, it does not take the reason alone.
func TestUndoKeepsAnAttemptAndItsReasonTogether(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	box := boxAt(t, time.Now)
	d := New(Options{Client: new(apiclient.Client), Outbox: box, Now: func() time.Time { return now }})
	var events []event.Event
	for _, call := range []apitype.UUID{callID(1), callID(2)} {
		attempt := d.Changes.Attempt(call, "not reached, busy: Anna Jansen")
		attempt.group = new(changeGroup)
		events = append(events, d.Changes.Submit(attempt)...)
		now = now.Add(2 * time.Millisecond)
		reason := d.Changes.Attempt(call, "reason of the attempt: Anna Jansen")
		reason.isExtra, reason.group = true, attempt.group
		events = append(events, d.Changes.Submit(reason)...)
		now = now.Add(burstTime - 3*time.Millisecond) // The first attempt is no burst with the second reason.
	}
	for len(events) > 0 {
		if job, isJob := events[0].(event.Job); isJob {
			events = append(events, d.Receive(job(t.Context()))...)
		}
		events = events[1:]
	}
	d.Undo()
	d.Changes.Written()
	entries, _, err := box.List()
	if err != nil || len(entries) != 2 || entries[0].UUID != callID(1) || entries[1].UUID != callID(1) {
		t.Errorf("got %v, %v, want the first attempt with its reason", entries, err)
	}
}

// If the outcome of a lost answer stays unknown, the Desk reports it and says where the change is. It does not mention
// a change that will be looked up again.
func TestWhatCannotBeToldIsSaid(t *testing.T) {
	t.Parallel()
	entry := outbox.Entry{ID: "1-a"}
	entry.UUID = callID(1)
	c := &Changes{base: newBase(Options{Now: time.Now}, nil), Labels: map[string]string{"1-a": "attempt: Anna Jansen"}}
	heard := func(err error) (said []event.Notice) {
		c.onSender(outbox.Event{Entry: entry, Outcome: outbox.OutcomeUnsure, Err: err})
		for _, e := range c.Drain() {
			if notice, ok := e.(event.Notice); ok {
				said = append(said, notice)
			}
		}
		return said
	}
	if said := heard(&apiclient.Error{Kind: apiclient.KindUnavailable, Message: "down"}); len(said) != 0 {
		t.Errorf("got %v of a change that is looked up again, want nothing", said)
	}
	said := heard(outbox.ErrCannotTell)
	if len(said) != 1 || said[0].Level != event.Failed || said[0].See != event.SeeOutbox || !strings.Contains(said[0].Text, "the outcome is unknown") {
		t.Errorf("got %v, want it said, with the way to the outbox", said)
	}
}

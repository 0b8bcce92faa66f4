package desk

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/outbox"
)

// A change waits 5 seconds for whoever takes it back.
func TestAChangeIsHeld(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent", Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	c := &Changes{base: &base{Options: Options{Outbox: box, Now: clock}}}
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

// What is taken back is the change that the agent made last, also while it is being saved; where
// it was not saved, none before it goes in its place.
func TestUndoOfWhatIsBeingSaved(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	for _, isSaved := range []bool{true, false} {
		box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent", Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		d := New(Options{Client: new(apiclient.Client), Outbox: box, Now: clock})
		settle := func(events []Event) {
			for len(events) > 0 {
				if job, isJob := events[0].(Job); isJob {
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

// Of a change whose answer was lost the agent is told when nobody can say what became of it,
// and where it is; one that will be looked up again is not spoken of.
func TestWhatCannotBeToldIsSaid(t *testing.T) {
	t.Parallel()
	entry := outbox.Entry{ID: "1-a"}
	entry.UUID = callID(1)
	c := &Changes{base: &base{Options: Options{Now: time.Now}}, Labels: map[string]string{"1-a": "attempt: Anna Jansen"}}
	heard := func(err error) (said []Notice) {
		c.onSender(outbox.Event{Entry: entry, Outcome: outbox.OutcomeUnsure, Err: err})
		for _, event := range c.drain() {
			if notice, ok := event.(Notice); ok {
				said = append(said, notice)
			}
		}
		return said
	}
	if said := heard(&apiclient.Error{Kind: apiclient.KindUnavailable, Message: "down"}); len(said) != 0 {
		t.Errorf("got %v of a change that is looked up again, want nothing", said)
	}
	said := heard(outbox.ErrCannotTell)
	if len(said) != 1 || said[0].Level != Failed || said[0].See != SeeOutbox || !strings.Contains(said[0].Text, "the outcome is unknown") {
		t.Errorf("got %v, want it said, with the way to the outbox", said)
	}
}

// A donor is left alone for 4 hours after an attempt.
func TestADonorRests(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 17, 15, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		4*time.Hour - time.Second: "an attempt 3 h 59 min ago, less than 4 hours",
		4 * time.Hour:             "",
	} {
		if got := at(now).attemptsReason(now, 1, now.Add(-ago), 0); got != want {
			t.Errorf("%v after an attempt: got %q, want %q", ago, got, want)
		}
	}
}

// A call with as many attempts as the profile allows is passed over, however many they are.
func TestTheMostAttempts(t *testing.T) {
	t.Parallel()
	d := at(morning)
	d.MaxAttempts = 3
	call := requested(1)
	call.AttemptsCount = 4
	d.queue.learn(call)
	want := []PassedOver{{ID: callID(1), Reason: "4 attempts, the maximum is 3"}}
	if diff := cmp.Diff(want, d.PassedOver()); diff != "" || len(d.Offers(1)) != 0 {
		t.Errorf("got %v offered; passed over (-want +got):\n%s", d.Offers(1), diff)
	}
}

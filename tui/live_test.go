package tui

import (
	"slices"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// loadRequested adds calls for person 1, all changed now, the first requested at that
// time and each a second after the one before. It returns their identifiers.
func (w *world) loadRequested(count int, first time.Time) []apitype.UUID {
	calls := make([]apitype.UUID, count)
	records := make([]service.LoadRecord, count)
	for i := range records {
		calls[i] = apitype.NewUUID()
		records[i] = service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
			UUID: calls[i], Status: apitype.CallRequested, RequestedAt: apitype.NewTime(first.Add(time.Duration(i) * time.Second)),
			LastUpdatedAt: apitype.NewTime(w.Clock.Now()), PersonUUID: personID(1), Type: apitype.CallHappy,
		}}}
	}
	w.Load(records...)
	return calls
}

// untilPoll lets the time go by until the interface asks for what has changed.
func (d *driver) untilPoll(w *world) {
	w.Clock.Advance(pollFocused * time.Second)
	for range pollFocused {
		d.send(ticked{})
	}
}

// The newest changes come first: the oldest of many must not stay out for ever.
func TestMoreChangesThanAreTakenAtOnce(t *testing.T) {
	t.Parallel()
	const many = maxNews + 100
	t.Run("the list", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		d := newDriver(t, w.options)
		d.press("2")
		calls := d.app.pages[callsPage].(*list[callRow])
		w.loadRequested(many, w.Clock.Now().Add(-time.Hour))
		d.untilPoll(w)
		for calls.more {
			d.press("G")
		}
		seen := map[apitype.UUID]bool{}
		for _, row := range calls.rows {
			seen[row.id] = true
		}
		if got, want := len(seen), many+6; got != want || len(calls.rows) != want {
			t.Errorf("calls: got %d of %d rows, want %d, each once", got, len(calls.rows), want)
		}
	})
	t.Run("the queue of the desk", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		d := newDriver(t, w.options)
		if !d.app.desk.queue.ended {
			t.Fatal("the queue was not read to its end")
		}
		added := w.loadRequested(many, w.Clock.Now().Add(-time.Hour))
		d.untilPoll(w)
		if !d.app.desk.queue.known[added[0]] {
			t.Error("the oldest of the new calls: got no candidate, want one")
		}
	})
}

// A record may come in below others, as a pledge does that is released long after it
// was made.
func TestChangesComeInWhereTheyBelong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := newDriver(t, w.options)
	d.press("2")
	calls := d.app.pages[callsPage].(*list[callRow])
	d.press("G")
	chosen, _ := calls.chosen()
	between := w.loadRequested(1, w.Clock.Now().Add(-97*time.Hour-time.Minute))[0] // Calls 3 and 2 were requested 97 and 98 hours ago.
	last := w.loadRequested(1, w.Clock.Now().Add(-200*time.Hour))[0]
	d.untilPoll(w)
	var got []apitype.UUID
	for _, row := range calls.rows {
		got = append(got, row.id)
	}
	want := []apitype.UUID{callID(6), callID(5), callID(4), callID(3), between, callID(2), callID(1), last}
	if !slices.Equal(got, want) {
		t.Errorf("calls: got %v, want %v", got, want)
	}
	if now, _ := calls.chosen(); now.id != chosen.id {
		t.Errorf("cursor: got %s, want %s as before", now.id, chosen.id)
	}
}

// What lies beyond the pages read so far comes with its page, and once.
func TestChangesBeyondWhatIsReadComeWithTheirPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.loadRequested(2*listPage, w.Clock.Now().Add(-time.Hour))
	d := newDriver(t, w.options)
	d.press("2")
	calls := d.app.pages[callsPage].(*list[callRow])
	if !calls.more {
		t.Fatal("the list was read to its end")
	}
	late := w.loadRequested(1, w.Clock.Now().Add(-200*time.Hour))[0]
	d.untilPoll(w)
	for calls.more {
		d.press("G")
	}
	if n := len(calls.rows); n != 2*listPage+7 || calls.rows[n-1].id != late {
		t.Errorf("calls: got %d with %s last, want %d with %s", n, calls.rows[n-1].id, 2*listPage+7, late)
	}
}

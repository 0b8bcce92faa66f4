package tui

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/queue"
	"fundesk/tui/page"
)

// loadRequested adds calls for person 1, all changed now, the first requested at that
// time and each a second after the one before. It returns their identifiers.
func (w *world) loadRequested(count int, first time.Time) []apitype.UUID {
	calls := make([]apitype.UUID, count)
	records := make([]service.LoadRecord, count)
	for i := range records {
		calls[i] = apitype.NewUUID()
		records[i] = service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
			UUID:          calls[i],
			Status:        apitype.CallRequested,
			RequestedAt:   apitype.NewTime(first.Add(time.Duration(i) * time.Second)),
			LastUpdatedAt: apitype.NewTime(w.Clock.Now()),
			PersonUUID:    personID(1),
			Type:          apitype.CallHappy,
		}}}
	}
	w.Load(records...)
	return calls
}

// clientOf returns a client with requests through a transport, and a clock of its own.
func (w *world) clientOf(t *testing.T, transport http.RoundTripper, now func() time.Time) *apiclient.Client {
	t.Helper()
	client, err := apiclient.New(apiclient.Options{
		BaseURL: w.URL, Token: staticToken(w.token), Transport: transport, Now: now,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	return client
}

// offers reports whether the desk offers a call.
func (d *driver) offers(id apitype.UUID) bool {
	return slices.ContainsFunc(d.app.Day.Offers(10_000), func(c queue.Candidate) bool { return c.ID == id })
}

// untilPoll lets the time go by until the interface asks for what has changed.
func (d *driver) untilPoll(w *world) {
	w.Clock.Advance(15 * time.Second)
	for range 15 {
		d.send(ticked{})
	}
}

// Each change is listed once, wherever it lies to what was read: more than are taken at once, beyond the pages read so
// far, which comes with its page, or of one time around the end of those.
func TestEveryChangeIsListedOnce(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for _, test := range []struct {
		name          string
		before, after int
		requested     time.Duration // Ago, after the list was read.
		atOnce        bool          // All of them at one time.
	}{
		{"more than are taken at once", 0, queue.MostChanges + 100, time.Hour, false},
		{"beyond what is read", 2 * page.ListPage, 1, 200 * time.Hour, false},
		{"of one time", page.ListPage + 20, 40, time.Hour, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			load := func(count int, ago time.Duration) (added []apitype.UUID) {
				if !test.atOnce {
					return w.loadRequested(count, w.Clock.Now().Add(-ago))
				}
				at := w.Clock.Now().Add(-ago)
				for range count {
					added = append(added, w.loadRequested(1, at)...)
				}
				return added
			}
			load(test.before, time.Hour)
			d := newDriver(t, w.options)
			d.press("2")
			calls := d.app.pages[page.CallsPage].(*page.Calls)
			if calls.More != (test.before > 0) {
				t.Fatalf("got %d rows read, and more %t", len(calls.Rows), calls.More)
			}
			added := load(test.after, test.requested)
			d.untilPoll(w)
			for calls.More {
				d.press("G")
			}
			seen := map[apitype.UUID]bool{}
			for _, id := range rowIDs(calls.Rows) {
				seen[id] = true
			}
			if got, want := len(calls.Rows), test.before+test.after+6; got != want || len(seen) != want {
				t.Errorf("got %d rows of %d calls, want %d, each once", got, len(seen), want)
			}
			if last := calls.Rows[len(calls.Rows)-1].ID; test.after == 1 && last != added[0] {
				t.Errorf("got %s last, want %s, the oldest", last, added[0])
			}
		})
	}
}

// The newest changes come first. After more than are read at once, the Desk does not claim to know all waiting calls.
func TestMoreChangesThanTheQueueTakesAtOnce(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	if _, all := d.app.Day.Waiting(); !all {
		t.Fatal("the queue was not read to its end")
	}
	added := w.loadRequested(queue.MostChanges+100, w.Clock.Now().Add(-time.Hour))
	d.untilPoll(w)
	if _, all := d.app.Day.Waiting(); all || len(d.app.Day.Offers(1)) == 0 {
		t.Errorf("got no next call, or that no others are known, after %d new ones", len(added))
	}
}

// A record may come in below others, as a pledge does that is released long after it
// was made.
func TestChangesComeInWhereTheyBelong(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.press("2")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	d.press("G")
	chosen, _ := calls.Chosen()
	cancelled := strings.Count(d.text(), "✗ cancelled")
	// Calls 3 and 2 were requested 97 and 98 hours ago.
	between := w.loadRequested(1, w.Clock.Now().Add(-97*time.Hour-time.Minute))[0]
	last := w.loadRequested(1, w.Clock.Now().Add(-200*time.Hour))[0]
	w.change(t, "/api/v1/calls/"+callID(2).String()+"/actions/cancel")
	d.untilPoll(w)
	got := rowIDs(calls.Rows)
	want := []apitype.UUID{callID(6), callID(5), callID(4), callID(3), between, callID(2), callID(1), last}
	servicetest.Same(t, "calls", want, got)
	if now, _ := calls.Chosen(); now.ID != chosen.ID {
		t.Errorf("cursor: got %s, want %s as before", now.ID, chosen.ID)
	}
	if text := d.text(); strings.Count(text, "✗ cancelled") != cancelled+1 {
		t.Errorf("got:\n%s\nwant call 2 cancelled", text)
	}
}

// A record that the service lists on two pages is changed once.
func TestBulkChangesARecordOnce(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.press("2")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	calls.Rows = append(calls.Rows, calls.Rows...)
	d.enter("j", "space", "space", "A", "1", "y")
	entries, _, err := w.box.List()
	if err != nil || len(entries) != 2 || entries[0].UUID == entries[1].UUID {
		t.Errorf("outbox: got %v, %v, want two changes of two calls", entries, err)
	}
}

// dated are answers with the service's own time.
type dated struct {
	http.RoundTripper
	now func() time.Time
}

func (d dated) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := d.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Header.Set("Date", d.now().UTC().Format(http.TimeFormat))
	}
	return answer, err
}

// A clock of this machine that is wrong hides no changes.
func TestChangesComeInWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		ahead, later time.Duration // Of our clock, when the list is read and after that.
	}{
		{"ahead of the service's", time.Hour, time.Hour},
		{"behind the service's", -time.Hour, -time.Hour},
		{"set back meanwhile", time.Hour, 0},
		{"set forward meanwhile", 0, time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ahead := test.ahead
			w.options.Now = func() time.Time { return w.Clock.Now().Add(ahead) }
			w.options.Client = w.clientOf(t, dated{w.Transport(), w.Clock.Now}, w.options.Now)
			d := newDriver(t, w.options)
			d.press("2")
			ahead = test.later
			calls := d.app.pages[page.CallsPage].(*page.Calls)
			for range 3 {
				w.Clock.Advance(time.Minute)
				added := w.loadRequested(1, w.Clock.Now())[0]
				d.untilPoll(w)
				servicetest.Same(t, "first of the list", added, calls.Rows[0].ID)
				if d.press("1"); !d.offers(added) {
					t.Error("the queue: got nothing of the new call, want it")
				}
				d.untilPoll(w)
				d.press("2")
			}
		})
	}
}

// What a change has put outside the filter leaves the list, wherever the filter works.
func TestChangedRecordsLeaveTheFilter(t *testing.T) {
	t.Parallel()
	t.Run("calls, locally", func(t *testing.T) {
		t.Parallel()
		w, d := opened(t)
		d.press("2")
		calls := d.app.pages[page.CallsPage].(*page.Calls)
		d.filter("status=requested")
		d.press("space") // Call 5.
		d.press("space") // Call 4.
		chosen, _ := calls.Chosen()
		w.change(t, "/api/v1/calls/"+callID(4).String()+"/actions/cancel")
		d.untilPoll(w)
		want := []apitype.UUID{callID(5), callID(3), callID(2), callID(1)}
		servicetest.Same(t, "calls", want, rowIDs(calls.Rows))
		if now, _ := calls.Chosen(); now.ID != chosen.ID || chosen.ID != callID(3) {
			t.Errorf("cursor: got %s, want call 3 as before", now.ID)
		}
		if len(calls.Marks) != 1 || !calls.Marks[callID(5)] {
			t.Errorf("marks: got %v, want call 5 alone", calls.Marks)
		}
	})
	t.Run("not while a key may be meant for it", func(t *testing.T) {
		t.Parallel()
		w, d := opened(t)
		d.press("2")
		calls := d.app.pages[page.CallsPage].(*page.Calls)
		d.filter("status=requested")
		poll := func(want apitype.UUID) {
			t.Helper()
			for range 15 {
				d.send(ticked{})
			}
			if now, _ := calls.Chosen(); now.ID != want {
				t.Errorf("cursor: got %s, want %s", now.ID, want)
			}
		}
		w.change(t, "/api/v1/calls/"+callID(4).String()+"/actions/cancel")
		d.press("j") // To call 4, within the last second.
		poll(callID(4))
		w.Clock.Advance(15 * time.Second)
		poll(callID(3))
		w.change(t, "/api/v1/calls/"+callID(3).String()+"/actions/cancel")
		d.press("o")
		w.Clock.Advance(15 * time.Second)
		poll(callID(3)) // A dialog is open.
		d.press("esc")
		w.Clock.Advance(15 * time.Second)
		poll(callID(2))
	})
	t.Run("pledges, by the service", func(t *testing.T) {
		t.Parallel()
		w, d := opened(t)
		d.press("4")
		pledges := d.app.pages[page.PledgesPage].(*page.Pledges)
		d.filter("status=lead")
		first := rowIDs(pledges.Rows)
		w.change(t, "/api/v1/pledges/"+first[0].String()+"/actions/cancel")
		d.untilPoll(w)
		servicetest.Same(t, "pledges", first[1:], rowIDs(pledges.Rows))
	})
}

// A change with a commit that waits for minutes is dated before it is visible, and arrives when it is visible.
func TestListShowsWhatIsSettledLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	waiting := &servicetest.WaitingCommit{RoundTripper: w.Transport(), Call: callID(2)}
	w.options.Client = w.clientOf(t, waiting, w.Clock.Now)
	d := newDriver(t, w.options)
	d.press("2")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	cancelled := func() bool { return strings.Contains(d.text(), "✗ cancelled") }
	before := cancelled()
	waiting.Settled = w.Clock.Now()
	w.Clock.Advance(time.Second)
	w.change(t, "/api/v1/calls/"+callID(2).String()+"/actions/cancel")
	for range 8 {
		w.Clock.Advance(time.Minute)
		d.untilPoll(w)
	}
	if len(calls.Rows) == 0 || before || cancelled() {
		t.Fatalf("got:\n%s\nwant no cancelled call before it is seen", d.text())
	}
	waiting.Settled = time.Time{}
	d.untilPoll(w)
	if !cancelled() {
		t.Errorf("got:\n%s\nwant the call cancelled", d.text())
	}
}

// A pledge that is released in between was not updated, and arrives anyway.
func TestReleasedPledgesComeIn(t *testing.T) {
	t.Parallel()
	const coolingOff = 336 * time.Hour
	w := newWorld(t)
	now := w.Clock.Now()
	made := w.Do(w.Token(), http.MethodPost, "/api/v1/pledges", `{"personUuid":"`+personID(1).String()+
		`","createdAt":"`+apitype.NewTime(now).String()+`","startsAt":"`+apitype.NewTime(now).String()+
		`","owningOrganizationUuid":"`+organizationID.String()+`","recruitingOrganizationUuid":"`+
		organizationID.String()+`","initialDonationInterval":"monthly","initialDonationAmount":5,"recruiterUserUuid":"`+ids(0xe0, 2).String()+`"}`)
	if made.Status != http.StatusCreated {
		t.Fatalf("create: got %d %s", made.Status, made.Body)
	}
	id, _ := made.Object()["uuid"].(string)
	w.Clock.Advance(coolingOff - 5*time.Minute)
	w.connect(t, t.TempDir())
	d := newDriver(t, w.options)
	d.press("4")
	pledges := d.app.pages[page.PledgesPage].(*page.Pledges)
	d.filter("releasedAfter=" + apitype.NewTime(now).String())
	if got := rowIDs(pledges.Rows); len(got) != 0 {
		t.Fatalf("pledges: got %v, want none that is released", got)
	}
	w.Clock.Advance(10 * time.Minute)
	d.untilPoll(w)
	if got := rowIDs(pledges.Rows); len(got) != 1 || got[0].String() != id {
		t.Errorf("pledges: got %v, want %s, which was released", got, id)
	}
}

// filter sets the filter of the list in front.
func (d *driver) filter(text string) {
	d.press("/")
	d.send(tea.PasteMsg{Content: text})
	d.press("enter")
}

// change makes a change without this program's knowledge.
func (w *world) change(t *testing.T, path string) {
	t.Helper()
	if a := w.Do(w.Token(), http.MethodPut, path, `{}`); a.Status != http.StatusOK {
		t.Fatalf("%s: got %d %s", path, a.Status, a.Body)
	}
}

func rowIDs(rows []page.Row) []apitype.UUID {
	ids := make([]apitype.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	return ids
}

package outbox

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// Every process learns what another one sent, refused or dropped.
func TestEndingsReachEveryProcess(t *testing.T) {
	t.Parallel()
	service := newService(t, "", faultRefused)
	dir := t.TempDir()
	one, other := open(t, dir, service.URL), open(t, dir, service.URL)
	sent := add(t, one, attempt(t, apitype.NewUUID()))
	refused := add(t, one, attempt(t, apitype.NewUUID()))
	dropped := add(t, one, attempt(t, apitype.NewUUID()))
	servicetest.Check(t, one.Drop(dropped.ID))
	if _, err := one.Sender(service.client(t), SenderOptions{InFlight: 1}).SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]Outcome{
		sent.ID:    OutcomeAccepted,
		refused.ID: OutcomeRejected,
		dropped.ID: OutcomeDropped,
	} {
		event, isOver := other.End(id)
		if event.Outcome != want || !isOver || event.Entry.ID != id || !event.IsForeign {
			t.Errorf("%s: got %+v, want %s", id, event, want)
		}
		if want == OutcomeRejected &&
			(apiclient.KindOf(event.Err) != apiclient.KindConflict ||
				!strings.Contains(event.Err.Error(), "the call is cancelled")) {
			t.Errorf("got %v, want why it was refused", event.Err)
		}
		if want == OutcomeDropped && !event.Entry.SentAt.IsZero() {
			t.Errorf("got %s as the time when it was sent, want that it never was", event.Entry.SentAt)
		}
	}
	event, isOver := other.End("1-unknown")
	if !errors.Is(event.Err, ErrNotFound) || event.Outcome != OutcomeUnsure || !isOver {
		t.Errorf("got %+v of an entry without a trace, want that it is not known", event)
	}
}

// A running sender reports what others did while it ran, and nothing from before.
func TestSendersTellWhatOthersDid(t *testing.T) {
	t.Parallel()
	service := newService(t)
	dir := t.TempDir()
	one, other := open(t, dir, service.URL), open(t, dir, service.URL)
	before := add(t, other, attempt(t, apitype.NewUUID()))
	servicetest.Check(t, other.Drop(before.ID))
	events := make(chan Event, 9)
	sender := one.Sender(service.client(t), SenderOptions{
		Poll:   time.Millisecond,
		Notify: func(e Event) { events <- e },
	})
	var running sync.WaitGroup
	running.Go(func() { sender.Run(t.Context()) })
	t.Cleanup(running.Wait) // Before its folder is removed.
	mine := add(t, one, attempt(t, apitype.NewUUID()))
	if e := <-events; e.Entry.ID != mine.ID || e.IsForeign {
		t.Fatalf("got %+v, want what this process sent", e)
	}
	held := attempt(t, apitype.NewUUID())
	held.NotBefore = time.Now().Add(time.Hour)
	held = add(t, other, held)
	servicetest.Check(t, other.Drop(held.ID))
	if e := <-events; e.Entry.ID != held.ID || e.Outcome != OutcomeDropped || !e.IsForeign {
		t.Errorf("got %+v, want what the other process dropped", e)
	}
}

// Endings stay for a day.
func TestEndingsAreForgotten(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	box, err := Open(dir, Options{
		BaseURL: "https://a.example",
		Account: "embedded",
		Now:     func() time.Time { return now },
	})
	servicetest.Check(t, err)
	e := add(t, box, attempt(t, apitype.NewUUID()))
	servicetest.Check(t, box.Drop(e.ID))
	for _, step := range []struct {
		after time.Duration
		want  bool
		files int
	}{{23 * time.Hour, true, 1}, {2 * time.Hour, false, 1}, {24 * time.Hour, false, 0}} {
		now = now.Add(step.after)
		box.sweep()
		files, err := os.ReadDir(filepath.Join(dir, dirEndings))
		if _, found, _ := box.Ending(e.ID); found != step.want || len(files) != step.files || err != nil {
			t.Errorf("%s later: got it known %t, in %d files, %v, want %t and %d",
				step.after, found, len(files), err, step.want, step.files)
		}
	}
}

// A hold is its maker's: no other process ends it.
func TestReleaseIsOfOwnHolds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := open(t, dir, "https://a.example"), open(t, dir, "https://a.example")
	held := attempt(t, apitype.NewUUID())
	held.NotBefore = time.Now().Add(time.Minute)
	held = add(t, one, held)
	for _, step := range []struct {
		box  *Outbox
		want State
	}{{other, StateHeld}, {one, StateQueued}} {
		servicetest.Check(t, step.box.Release())
		if e, err := one.Show(held.ID); err != nil || e.State != step.want {
			t.Errorf("got %s, %v, want %s", e.State, err, step.want)
		}
	}
}

// What a later version of the program has made is left alone.
func TestLaterFormatsAreLeftAlone(t *testing.T) {
	t.Parallel()
	service := newService(t)
	dir := t.TempDir()
	box := open(t, dir, service.URL)
	e := add(t, box, attempt(t, apitype.NewUUID()))
	e.Version = formatVersion + 1
	path := box.path(dirQueued, e.ID)
	servicetest.Check(t, writeSealed(path, e))
	lease := Lease{
		Version:   formatVersion + 1,
		BaseURL:   service.URL,
		Account:   "embedded",
		LeaseUUID: apitype.NewUUID(),
		CallUUID:  apitype.NewUUID(),
	}
	servicetest.Check(t, writeSealed(box.path(dirLeases, lease.LeaseUUID.String()), lease))
	settleAll(t, box, service.client(t))
	if got := len(service.applied); got != 0 {
		t.Errorf("got %d changes sent, want none", got)
	}
	entries, damaged, err := box.List()
	if err != nil || len(entries) != 0 || len(damaged) != 1 || !damaged[0].IsNewer || damaged[0].Path != path {
		t.Errorf("got %v, %v, %v, want the file told of and where it was", entries, damaged, err)
	}
	if err := box.Drop(e.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v for dropping it, want %v", err, ErrNotFound)
	}
	if adopted, err := box.AdoptLeases(); err != nil || len(adopted) != 0 {
		t.Errorf("got %v, %v, want no lease taken over", adopted, err)
	}
	if _, err := os.Stat(box.path(dirLeases, lease.LeaseUUID.String())); err != nil {
		t.Errorf("got %v, want the lease where it was", err)
	}
}

// A lease belongs to a service and an account: a Desk at another one neither ends it nor takes it over.
func TestLeasesOfOtherServices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := open(t, dir, "https://a.example"), open(t, dir, "https://b.example")
	l := Lease{LeaseUUID: apitype.NewUUID(), CallUUID: apitype.NewUUID(), ExpiresAt: time.Now().Add(time.Minute)}
	held, err := one.HoldLease(l)
	servicetest.Check(t, err)
	copied, err := other.HoldLease(Lease{LeaseUUID: apitype.NewUUID(), CallUUID: l.CallUUID, ExpiresAt: l.ExpiresAt})
	if err != nil {
		t.Fatalf("got %v for the same call at a copy of the service", err)
	}
	_, _ = held.lock.Close(), copied.lock.Close() // Both programs die.
	adopted, err := other.AdoptLeases()
	if err != nil || len(adopted) != 1 || adopted[0].LeaseUUID != copied.LeaseUUID {
		t.Errorf("got %v, %v, want its own lease alone", adopted, err)
	}
	if adopted, err := one.AdoptLeases(); err != nil || len(adopted) != 1 || adopted[0].LeaseUUID != l.LeaseUUID {
		t.Errorf("got %v, %v, want the first one's lease", adopted, err)
	}
}

// An attempt that belongs to another entry does not count for a lost one. A time without fractions counts only if the
// service shows none.
func TestAttemptsOfTheSameSecond(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		at     []string // Of the attempts, in order; the request of the last one is lost.
		shown  []string // By the service, after that.
		landed bool
	}{
		{
			name:  "another one, to the second, where fractions are shown",
			at:    []string{"10:00:00Z", "10:00:00.133Z"},
			shown: []string{"10:00:00Z", "10:00:01.5Z"},
		},
		{
			name:  "one of the same time, which is another entry's",
			at:    []string{"10:00:00Z", "10:00:00Z"},
			shown: []string{"10:00:00Z"},
		},
		{"two of the same time", []string{"10:00:00Z", "10:00:00Z"}, []string{"10:00:00Z", "10:00:00Z"}, true},
		{"cut, and another entry's", []string{"10:00:00.087Z", "10:00:00.133Z"}, []string{"10:00:00Z"}, false},
		{"both cut", []string{"10:00:00.087Z", "10:00:00.133Z"}, []string{"10:00:00Z", "10:00:00Z"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			call := apitype.NewUUID()
			box := open(t, t.TempDir(), "https://a.example")
			var last Entry
			for i, at := range test.at {
				last = add(t, box, Entry{
					Change: apiclient.Change{
						Op:     apiclient.OpAddAttempt,
						UUID:   call,
						Method: http.MethodPut,
						Path:   "/x",
						Body:   []byte(`{"attemptAt":"2026-11-20T` + at + `"}`),
					},
				})
				if i < len(test.at)-1 {
					servicetest.Check(t, box.note(last, OutcomeAccepted, nil))
				}
			}
			var shown []string
			for _, at := range test.shown {
				shown = append(shown, `{"attemptAt":"2026-11-20T`+at+`"}`)
			}
			transport := inProcess{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"uuid":"` + call.String() + `","attempts":[` + strings.Join(shown, ",") + `]}`))
			})}
			client, err := apiclient.New(apiclient.Options{BaseURL: "https://a.example", Transport: transport})
			servicetest.Check(t, err)
			change := last.Change
			change.Claimed = box.claimed(last)
			got := client.Deliver(t.Context(), apiclient.NewDelivery(change, apiclient.Lost))
			want := map[bool]apiclient.Outcome{true: apiclient.Landed, false: apiclient.NotLanded}[test.landed]
			if got.Outcome != want {
				t.Errorf("got %s, want %s", got.Outcome, want)
			}
		})
	}
}

// A change that waits for a refused one is counted as stuck, by however many others it waits.
func TestStuckBehindARefusal(t *testing.T) {
	t.Parallel()
	service := newService(t, faultRefused)
	box := open(t, t.TempDir(), service.URL)
	first := add(t, box, attempt(t, apitype.NewUUID()))
	behind := completion(t, apitype.NewUUID())
	behind.After = first.ID
	second := add(t, box, behind)
	add(t, box, attempt(t, second.UUID))
	sender := box.Sender(service.client(t), SenderOptions{})
	for range 2 {
		report, err := sender.SendDue(t.Context())
		if err != nil || report.Stuck != 2 || report.Waiting != 2 {
			t.Errorf("got %+v, %v, want both told as stuck, each time", report, err)
		}
	}
	entries := list(t, box)
	if i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == second.ID }); i < 0 {
		t.Error("the completion is gone")
	} else if before, found := Behind(entries[i], entries); !found || before.ID != first.ID {
		t.Errorf("got %v, want it behind the refused one", before.ID)
	}
}

package outbox

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// A clock that was set back keeps nothing waiting longer than it would have waited.
func TestAClockSetBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	refused := &apiclient.Error{Kind: apiclient.KindUnavailable, RetryAfter: 10 * time.Minute}
	tests := []struct {
		name  string
		wait  func(s *Sender, c *claim)
		moved time.Duration // Of the clock, since the wait began.
		want  bool          // It still waits.
	}{
		{"a hold", func(*Sender, *claim) {}, 0, true},
		{"a hold that is over", func(*Sender, *claim) {}, 6 * time.Second, false},
		{"a hold, set right by a little", func(*Sender, *claim) {}, -100 * time.Millisecond, true},
		{"a hold, set back", func(*Sender, *claim) {}, -time.Hour, false},
		{"after a failure", func(s *Sender, c *claim) { s.delay(c, nil) }, 0, true},
		{"after a failure, set back", func(s *Sender, c *claim) { s.delay(c, nil) }, -time.Hour, false},
		{"as long as the service asked for", func(s *Sender, c *claim) { s.delay(c, refused) }, 9 * time.Minute, true},
		{
			name:  "as long as the service asked for, set back",
			wait:  func(s *Sender, c *claim) { s.delay(c, refused) },
			moved: -time.Minute,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			clock := now
			box, err := Open(t.TempDir(), Options{
				BaseURL: "https://a.example",
				Account: "a",
				Now:     func() time.Time { return clock },
			})
			servicetest.Check(t, err)
			e := attempt(t, apitype.NewUUID())
			e.NotBefore = now.Add(5 * time.Second)
			c := &claim{Entry: add(t, box, e)}
			test.wait(box.Sender(nil, SenderOptions{Jitter: func() float64 { return 1 }}), c)
			clock = now.Add(test.moved)
			if got := c.waits(clock); got != test.want {
				t.Errorf("got that it waits: %v, want %v", got, test.want)
			}
		})
	}
}

// After the clock was set back, the outbox checks again whether a lost attempt may still arrive.
func TestALostAttemptWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && sent.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"uuid":"` + id.String() + `","status":"requested","attemptsCount":0,"attempts":[]}`))
	}))
	t.Cleanup(server.Close)
	clock := time.Now()
	box, err := Open(t.TempDir(), Options{
		BaseURL: server.URL,
		Account: "embedded",
		Now:     func() time.Time { return clock },
	})
	servicetest.Check(t, err)
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL})
	servicetest.Check(t, err)
	add(t, box, attempt(t, id))
	sender := box.Sender(client, SenderOptions{})
	send := func(want int64) {
		t.Helper()
		if _, err := sender.SendDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := sent.Load(); got != want {
			t.Fatalf("got %d requests, want %d", got, want)
		}
	}
	send(1)
	clock = clock.Add(-time.Hour)
	send(1)
	clock = clock.Add(29 * time.Second)
	send(1)
	clock = clock.Add(time.Second)
	send(2)
	if left := list(t, box); len(left) != 0 {
		t.Errorf("got %v, want nothing left", left)
	}
}

// A program may die while it repeats an attempt: what it sent last can still arrive, however
// long ago the try before it was lost or answered.
func TestADeathWhileALostAttemptIsRepeated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		before func(e *Entry, now time.Time)
	}{
		{
			name:   "the service answered the try before with a failure",
			before: func(e *Entry, now time.Time) { e.SentAt, e.Answered = now.Add(-time.Second), true },
		},
		{"the try before was lost long ago", func(e *Entry, now time.Time) { e.SentAt = now.Add(-time.Hour) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			service := newService(t)
			clock := time.Now().UTC()
			box, err := Open(t.TempDir(), Options{
				BaseURL: service.URL,
				Account: "embedded",
				Now:     func() time.Time { return clock },
			})
			servicetest.Check(t, err)
			e := add(t, box, attempt(t, apitype.NewUUID()))
			test.before(&e, clock)
			if err := box.move(dirQueued, e); err != nil { // It was looked up, and is not there.
				t.Fatal(err)
			}
			claims, err := (&turns{box: box}).take(1)
			if err != nil || len(claims) != 1 {
				t.Fatalf("got %d claims and %v, want the attempt", len(claims), err)
			}
			claims[0].release() // It dies, its request on the way.

			sender := box.Sender(service.client(t), SenderOptions{})
			for _, step := range []struct {
				after time.Duration
				want  int
			}{{0, 0}, {29 * time.Second, 0}, {time.Second, 1}} {
				clock = clock.Add(step.after)
				if _, err := sender.SendDue(t.Context()); err != nil {
					t.Fatal(err)
				}
				service.mu.Lock()
				got := len(service.applied)
				service.mu.Unlock()
				if got != step.want {
					t.Fatalf("%s later: got %d attempts sent, want %d", step.after, got, step.want)
				}
			}
		})
	}
}

// A program that dies while it looks a lost attempt up has sent nothing: however often that
// happens, the attempt is repeated when its patience is over.
func TestDeathsWhileALostAttemptIsLookedUp(t *testing.T) {
	t.Parallel()
	service := newService(t)
	clock := time.Now().UTC()
	box, err := Open(t.TempDir(), Options{
		BaseURL: service.URL,
		Account: "embedded",
		Now:     func() time.Time { return clock },
	})
	servicetest.Check(t, err)
	e := add(t, box, attempt(t, apitype.NewUUID()))
	e.SentAt = clock
	servicetest.Check(t, box.move(dirUnsure, e))
	for range 6 {
		clock = clock.Add(5 * time.Second)
		claims, err := (&turns{box: box}).take(1)
		if err != nil || len(claims) != 1 {
			t.Fatalf("got %d claims and %v, want the attempt", len(claims), err)
		}
		claims[0].release()
	}
	if _, err := box.Sender(service.client(t), SenderOptions{}).SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := service.count(e.UUID, "add-attempt"); got != 1 {
		t.Errorf("got %d attempts sent 30 s after the first, want 1", got)
	}
}

// Sending four times as many entries is four times the work, and not sixteen times. Each
// look at a queued entry asks for the time once.
func TestSendingIsLinear(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"uuid": strings.Split(r.URL.Path, "/")[4], "status": "requested"})
	}))
	defer service.Close()
	client, err := apiclient.New(apiclient.Options{BaseURL: service.URL})
	servicetest.Check(t, err)
	looks := func(n, records int) int64 {
		var looked atomic.Int64
		box, err := Open(t.TempDir(), Options{BaseURL: service.URL, Account: "embedded", Now: func() time.Time {
			looked.Add(1)
			return time.Now()
		}})
		servicetest.Check(t, err)
		ids := make([]apitype.UUID, records)
		for i := range ids {
			ids[i] = apitype.NewUUID()
		}
		for i := range n {
			add(t, box, attempt(t, ids[i%records]))
		}
		looked.Store(0)
		report, err := box.Sender(client, SenderOptions{}).SendDue(t.Context())
		if err != nil || report.Accepted != n {
			t.Fatalf("got %+v and %v, want %d accepted", report, err, n)
		}
		return looked.Load()
	}
	for _, records := range []int{1, 40} {
		if few, many := looks(40, records), looks(160, records); many > 5*few {
			t.Errorf("%d records: got %d looks at 40 entries and %d at 160, want at most 5 times as many",
				records, few, many)
		}
	}
}

// An entry costs the same with many entries as with few. (Parallel tests do not count allocations.)
func TestAddingIsLinear(t *testing.T) {
	box := open(t, t.TempDir(), "https://api.example.org")
	id := apitype.NewUUID()
	entry := attempt(t, id)
	work := func() float64 { return testing.AllocsPerRun(20, func() { add(t, box, entry) }) }
	add(t, box, entry)
	few := work()
	for range 100 {
		add(t, box, entry)
	}
	if many := work(); many > 2*few {
		t.Errorf("got %.0f allocations beside 20 entries and %.0f beside 120, want about as many", few, many)
	}
}

package lease

import (
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/callbacks"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/debounce"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/pending"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/say"
)

var errNotTaken = &apiclient.Error{Kind: apiclient.KindRejected, Status: 422, Message: "no"}

var morning = time.Date(2026, 11, 20, 9, 15, 0, 0, time.Local) // A Friday.

// callID returns an identifier that readers can tell apart.
func callID(n int) apitype.UUID {
	id := apitype.MustParseUUID("c0000000-0000-4000-8000-000000000000")
	id[1], id[15] = byte(n), byte(n)
	return id
}

// newLeases returns the leases of an empty Desk.
func newLeases(texts say.Texts, now time.Time) *Leases {
	events := event.New(texts)
	codes, _ := floor.OpenCodes(nil, nil, nil, "")
	return New(Leases{
		Texts:      texts,
		Events:     events,
		Connection: connection.New(events, func() {}),
		Client:     new(apiclient.Client),
		Now:        func() time.Time { return now },
		Keys:       new(debounce.Keys),
		Callbacks:  new(callbacks.List),
		Messages:   &floor.Messages{Texts: texts, Events: events},
		Codes:      codes,
		Desk: Desk{
			Call:      func() *apitype.Call { return nil },
			Filter:    func() apitype.QueueFilter { return apitype.QueueFilter{} },
			IsChanged: func(apitype.UUID) bool { return false },
			Serve:     func() {},
		},
	})
}

// work returns the messages since the last look, and how many requests came with them.
func work(s *Leases) ([]string, int) {
	var texts []string
	var requests int
	for _, e := range s.Events.Drain() {
		switch e := e.(type) {
		case event.Job:
			requests++
		case event.Notice:
			texts = append(texts, strings.Repeat("!", int(e.Level))+e.Text)
		}
	}
	return texts, requests
}

// A due callback is announced, and comes before the call that was taken ahead.
func TestCallbackThatComesDue(t *testing.T) {
	t.Parallel()
	const due = "a callback is due: it comes next"
	for _, test := range []struct {
		name        string
		before, now int // The number of due calls. -1 if not counted yet.
		ahead, isIt bool
		want        []string
		held        int
	}{
		{"none", 0, 0, false, false, nil, 0},
		{"the first", 0, 1, false, false, []string{due}, 0},
		{"at the first count", -1, 1, false, false, []string{due}, 0},
		{"none at the first count", -1, 0, false, false, nil, 0},
		{"as many as before", 1, 1, false, false, nil, 0},
		{"one more", 1, 2, true, false, []string{due}, 0},
		{"it was taken already", 0, 1, true, true, nil, 1},
	} {
		s := newLeases(say.Texts{}, morning)
		s.isNone = true
		if test.before >= 0 {
			s.State = &apitype.QueueState{Due: test.before}
		}
		if test.ahead {
			s.held = []Lease{{Lease: apitype.Lease{CallUUID: callID(1)}, Call: apitype.Call{UUID: callID(1)}}}
		}
		if test.isIt {
			s.held[0].DueAt = new(apitype.NewTime(morning))
		}
		s.onState(apitype.QueueState{Due: test.now}, nil)
		texts, _ := work(s)
		servicetest.Same(t, test.name, test.want, texts)
		servicetest.Same(t, test.name+": calls that are held", test.held, len(s.held))
		servicetest.Same(t, test.name+": asks for no call", test.now <= max(test.before, 0), s.isNone)
		s.onState(apitype.QueueState{}, errNotTaken)
		s.onUpcoming(nil, errNotTaken)
		texts, _ = work(s)
		wrong := "!!cannot read the queue: 422 no"
		servicetest.Same(t, test.name+": unreadable", []string{wrong, wrong}, texts)
		servicetest.Same(t, test.name+": due", test.now, s.State.Due)
	}
}

// An empty queue is not asked for a call again before it has one.
func TestQueueThatIsEmpty(t *testing.T) {
	t.Parallel()
	s := newLeases(say.Texts{}, morning)
	s.isNone = true
	if s.onUpcoming(nil, nil); !s.isNone {
		t.Error("an empty queue was taken for one with calls")
	}
	if s.onUpcoming([]queue.Candidate{{}}, nil); s.isNone {
		t.Error("a queue with a call was taken for an empty one")
	}
}

// The queue is counted again once the next callback is due.
func TestNextCallbackIsDue(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dueIn    time.Duration
		requests int
	}{{time.Millisecond, 0}, {0, 1}} {
		s := newLeases(say.Texts{}, morning)
		s.nextDueAt = new(apitype.NewTime(morning.Add(test.dueIn)))
		s.Tick()
		s.Tick()
		if _, requests := work(s); requests != test.requests {
			t.Errorf("due in %v: got %d requests, want %d", test.dueIn, requests, test.requests)
		}
	}
}

// An agent who takes other calls from now on gives the prefetched call back. Earlier answers do not count any more.
func TestOtherCallsFromNowOn(t *testing.T) {
	t.Parallel()
	s := newLeases(say.Texts{}, morning)
	s.held = []Lease{{Lease: apitype.Lease{CallUUID: callID(1)}}}
	s.isNone, s.upcoming = true, []queue.Candidate{{}}
	s.ReleaseAhead()
	if _, requests := work(s); requests != 1 || !s.IsEmpty() || s.isNone || len(s.Offers(1)) != 0 {
		t.Errorf("got %d requests and %+v, want the next call given back", requests, s.held)
	}
}

// After a sleep, leases that have run out are forgotten, and others are extended.
func TestLeasesAfterASleep(t *testing.T) {
	t.Parallel()
	for slept, want := range map[time.Duration]bool{
		pending.LeaseTime - time.Second: true,
		pending.LeaseTime:               false,
	} {
		s := newLeases(say.Texts{}, morning.Add(slept))
		var freed int
		s.Desk.Call = func() *apitype.Call { return &apitype.Call{UUID: callID(1)} }
		s.Desk.OnFreed = func() { freed++ }
		for n := 1; n <= 2; n++ {
			s.held = append(s.held, Lease{
				Lease:      apitype.Lease{CallUUID: callID(n), LeaseUUID: callID(n)},
				extendedAt: morning,
			})
		}
		s.Wake(s.Now())
		_, requests := work(s)
		if kept := s.Of(callID(1)) != nil; kept != want || kept != (requests == 2) || kept != (freed == 0) {
			t.Errorf("after %v: kept %t, %d requests, freed %d times, want kept %t", slept, kept, requests, freed, want)
		}
	}
}

// A queue of calls that wait for their hours is not empty.
func TestClosedCallsAreNamed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 22, 0, 0, 0, time.UTC) // A Friday.
	for _, test := range []struct {
		state *apitype.QueueState
		want  string
		dutch string
	}{
		{nil, "", ""},
		{&apitype.QueueState{Waiting: 3}, "", ""},
		{&apitype.QueueState{Closed: 1}, "1 wait outside calling hours", "1 wachten buiten de beltijden"},
		{
			state: &apitype.QueueState{Closed: 23, OpensAt: new(apitype.NewTime(now.Add(90 * time.Minute)))},
			want:  "23 wait until 23:30",
			dutch: "23 wachten tot 23:30",
		},
		{
			state: &apitype.QueueState{Closed: 23, OpensAt: new(apitype.NewTime(now.Add(11 * time.Hour)))},
			want:  "23 wait until Sat 09:00",
			dutch: "23 wachten tot za 09:00",
		},
		{
			state: &apitype.QueueState{Closed: 1_200, OpensAt: new(apitype.NewTime(now.Add(12 * 24 * time.Hour)))},
			want:  "1,200 wait until Wed 9 Dec 22:00",
			dutch: "1,200 wachten tot wo 9 dec 22:00",
		},
	} {
		for language, want := range map[string]string{"": test.want, "nl": test.dutch} {
			s := newLeases(say.Texts{Language: language}, now)
			s.State = test.state
			if got := s.ClosedText(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
}

// A count that is lower than the list asks for the list again: other agents took some of its calls.
func TestListIsOld(t *testing.T) {
	t.Parallel()
	for waiting, want := range map[int]bool{3: false, 2: true, 0: true} {
		s := newLeases(say.Texts{}, morning)
		s.onUpcoming([]queue.Candidate{{ID: callID(1)}, {ID: callID(2)}, {ID: callID(3)}}, nil)
		s.onState(apitype.QueueState{Waiting: waiting}, nil)
		if got := s.IsListOld(); got != want {
			t.Errorf("%d wait: the list is old: got %t, want %t", waiting, got, want)
		}
		if s.ReadUpcoming(); s.IsListOld() {
			t.Errorf("%d wait: the list is old while it is asked for", waiting)
		}
	}
}

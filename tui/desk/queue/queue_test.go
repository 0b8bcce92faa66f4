package queue_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/say"
)

var morning = time.Date(2026, 11, 20, 9, 15, 0, 0, time.Local) // A Friday.

// callID returns an identifier that readers can tell apart.
func callID(n int) apitype.UUID {
	id := apitype.MustParseUUID("c0000000-0000-4000-8000-000000000000")
	id[1], id[15] = byte(n), byte(n)
	return id
}

// requested returns an open call of a person of its own, n hours ago.
func requested(n int) apitype.Call {
	return apitype.Call{
		UUID:        callID(n),
		PersonUUID:  callID(100 + n),
		Status:      apitype.CallRequested,
		Type:        apitype.CallHappy,
		RequestedAt: apitype.NewTime(morning.Add(-time.Duration(n) * time.Hour)),
	}
}

// newWalk returns a walk of an agent who takes all calls.
func newWalk(now time.Time) *queue.Walk {
	events := event.New(say.Texts{})
	return queue.New(queue.Walk{
		Events:     events,
		Connection: connection.New(events, func() {}),
		Client:     new(apiclient.Client),
		Now:        func() time.Time { return now },
		Desk: queue.Desk{
			Agent:     func() apitype.UUID { return callID(99) },
			Filter:    func() apitype.QueueFilter { return apitype.QueueFilter{} },
			KeepsBack: func(apitype.UUID) bool { return false },
			See:       func(apitype.CallType, string) {},
		},
	})
}

// isOffered reports whether a call is among the next ones.
func isOffered(q *queue.Walk, call apitype.UUID) bool {
	return slices.ContainsFunc(q.Offers(10), func(c queue.Candidate) bool { return c.ID == call })
}

// A list is mostly calls that ended: the queue learns their results and keeps nothing
// else of them, also when they end while they wait.
func TestQueueKeepsNothingOfEndedCalls(t *testing.T) {
	t.Parallel()
	code := "confirmed"
	ended := func(n int) apitype.Call {
		c := apitype.Call{UUID: callID(n), Status: apitype.CallCompleted, Type: apitype.CallHappy}
		c.Result = apitype.Embed(apitype.CallResult{ResultCode: &code})
		return c
	}
	var codes []string
	q := newWalk(morning)
	q.Desk.See = func(_ apitype.CallType, code string) {
		if code != "" && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	for n := range 100 {
		q.Learn(ended(n))
	}
	q.Learn(apitype.Call{UUID: callID(100), Status: apitype.CallRequested})
	if known, _ := q.Known(); len(known) != 1 || !slices.Equal(codes, []string{code}) {
		t.Errorf("got %v and the results %v, want one call and one result", known, codes)
	}
	q.Learn(ended(100))
	if known, _ := q.Known(); len(known) != 0 {
		t.Errorf("got %v, want none", known)
	}
}

// The walk learns every waiting call again, the next one too. Known details of a person stay if the list does not show
// them.
func TestQueueLearnsWhatChanged(t *testing.T) {
	t.Parallel()
	q := newWalk(morning)
	call := func(n, attempts int) apitype.Call {
		return apitype.Call{
			UUID:          callID(n),
			Status:        apitype.CallRequested,
			RequestedAt:   apitype.NewTime(time.Unix(-int64(n), 0)),
			AttemptsCount: attempts,
		}
	}
	const calls = 3
	for n := range calls {
		known := call(n, 0)
		known.Person = apitype.Embed(apitype.Person{LastName: new("Jansen " + strconv.Itoa(n)), OptInPhone: new(false)})
		q.Learn(known)
	}
	for n := range calls {
		q.Learn(call(n, n+1))
	}
	known, _ := q.Known()
	for n, c := range known {
		if c.ID != callID(n) || c.Attempts != n+1 || c.Name != "Jansen "+strconv.Itoa(n) {
			t.Errorf("place %d: got %+v, want call %d with %d attempts, and its person as before", n, c, n, n+1)
		}
	}
	if over := q.PassedOver(); len(known) != calls || len(over) != calls || over[0].Reason != card.ReasonOptedOut {
		t.Errorf("got %d calls, and %+v passed over, want %d, all opted out", len(known), over, calls)
	}
}

// An agent who narrows the calls is offered those of the types and languages. A donor without a known language is
// offered, too. A call with a waiting change is not.
func TestOffersAreNarrowed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind     apitype.CallType
		language string
		isKept   bool
		want     bool
	}{
		{apitype.CallHappy, "de", false, true},
		{apitype.CallHappy, "", false, true},
		{apitype.CallHappy, "fr", false, false},
		{apitype.CallWinback, "de", false, false},
		{apitype.CallHappy, "de", true, false},
	} {
		q := newWalk(morning)
		q.Desk.KeepsBack = func(apitype.UUID) bool { return test.isKept }
		q.Desk.Filter = func() apitype.QueueFilter {
			return apitype.QueueFilter{Types: []apitype.CallType{apitype.CallHappy}, Languages: []string{"de", "nl"}}
		}
		call := requested(1)
		call.Type = test.kind
		if test.language != "" {
			call.Person = apitype.Embed(apitype.Person{Language: &test.language})
		}
		q.Learn(call)
		if got := isOffered(q, call.UUID); got != test.want {
			t.Errorf("%s %q: got it offered %t, want %t", test.kind, test.language, got, test.want)
		}
	}
}

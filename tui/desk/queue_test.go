package desk

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/queue"
)

var errNotTaken = &apiclient.Error{Kind: apiclient.KindRejected, Status: 422, Message: "no"}

// requested returns an open call of a person of its own, n hours ago.
func requested(n int) apitype.Call {
	return apitype.Call{UUID: callID(n), PersonUUID: callID(100 + n), Status: apitype.CallRequested, Type: apitype.CallHappy, RequestedAt: apitype.NewTime(morning.Add(-time.Duration(n) * time.Hour))}
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
		d := at(morning)
		d.leases.none = true
		if test.before >= 0 {
			d.leases.state = &apitype.QueueState{Due: test.before}
		}
		if test.ahead {
			d.leases.held = []lease{{Lease: apitype.Lease{CallUUID: callID(1)}, call: requested(1)}}
		}
		if test.isIt {
			d.leases.held[0].DueAt = new(apitype.NewTime(morning))
		}
		d.leases.onState(apitype.QueueState{Due: test.now}, nil)
		texts, _ := said(d)
		if diff := cmp.Diff(test.want, texts); diff != "" || len(d.leases.held) != test.held || d.QueueState().Due != test.now || d.leases.none != (test.now <= max(test.before, 0)) {
			t.Errorf("%s: %d held, none %t (-want +got):\n%s", test.name, len(d.leases.held), d.leases.none, diff)
		}
		d.leases.onState(apitype.QueueState{}, errNotTaken)
		d.leases.onUpcoming(nil, errNotTaken)
		if texts, _ := said(d); !slices.Equal(texts, []string{"!!cannot read the queue: 422 no", "!!cannot read the queue: 422 no"}) || d.QueueState().Due != test.now {
			t.Errorf("%s: got %q, want it said, and the count as it was", test.name, texts)
		}
	}
	d := at(morning)
	d.leases.none = true
	if d.leases.onUpcoming(nil, nil); !d.leases.none {
		t.Error("an empty queue was taken for one with calls")
	}
	if d.leases.onUpcoming([]queue.Candidate{{}}, nil); d.leases.none {
		t.Error("a queue with a call was taken for an empty one")
	}
	d.leases.nextDueAt = new(apitype.NewTime(morning.Add(time.Millisecond)))
	if events := d.Tick(); len(events) != 0 {
		t.Errorf("before it is due: got %d requests, want none", len(events))
	}
	d.leases.nextDueAt = new(apitype.NewTime(morning))
	if events := d.Tick(); len(events) != 1 || d.leases.nextDueAt != nil {
		t.Errorf("when it is due: got %d requests, want one", len(events))
	}
}

func TestStaleResultsAreDropped(t *testing.T) {
	t.Parallel()
	d := newDay()
	d.Take(callID(1))
	first := d.visit
	d.Take(callID(2))
	d.onReread(callRead{visit: first, number: first.number, id: callID(1), call: apitype.Call{UUID: callID(1)}}, nil)
	if d.Call != nil {
		t.Errorf("got call %s, want none yet", d.Call.UUID)
	}
	d.onReread(callRead{visit: d.visit, number: d.number, id: callID(2), call: apitype.Call{UUID: callID(2)}}, nil)
	if !d.IsOn(callID(2)) {
		t.Errorf("got %+v, want the second call", d.Call)
	}
}

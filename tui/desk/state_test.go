package desk

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

var (
	errDown     = &apiclient.Error{Kind: apiclient.KindUnavailable, Retryable: true, Message: "down"}
	errGone     = &apiclient.Error{Kind: apiclient.KindNotFound, Status: 404, Message: "not found"}
	errNotTaken = &apiclient.Error{Kind: apiclient.KindRejected, Status: 422, Message: "no"}
)

// requested is an open call of a person of its own, n hours ago.
func requested(n int) apitype.Call {
	return apitype.Call{UUID: callID(n), PersonUUID: callID(100 + n), Status: apitype.CallRequested, Type: apitype.CallHappy, RequestedAt: apitype.NewTime(morning.Add(-time.Duration(n) * time.Hour))}
}

// pending is an entry of the outbox for a call.
func pending(call apitype.UUID, state outbox.State) outbox.Entry {
	e := outbox.Entry{State: state}
	e.UUID = call
	return e
}

// A lease that cannot be kept is said, and that it has ended where its call is on the desk.
func TestLeasesThatAreExtended(t *testing.T) {
	t.Parallel()
	until := apitype.NewTime(morning.Add(15 * time.Minute))
	for _, test := range []struct {
		name  string
		lease int
		err   error
		want  []string
		held  int
	}{
		{"kept", 11, nil, nil, 2},
		{"of the call on the desk, ended", 11, errGone, []string{"!!the lease of call c0010000 has ended: another agent may call, too"}, 1},
		{"of another one, ended", 12, errGone, nil, 1},
		{"refused", 11, errNotTaken, []string{"!!cannot keep the lease: 422 no"}, 2},
		{"offline", 11, errDown, nil, 2},
		{"given back meanwhile", 13, errGone, nil, 2},
	} {
		d := at(morning)
		on := requested(1)
		d.Call = &on
		d.leases.held = []lease{
			{Lease: apitype.Lease{LeaseUUID: callID(11), CallUUID: callID(1)}, call: on}, {Lease: apitype.Lease{LeaseUUID: callID(12), CallUUID: callID(2)}, call: requested(2)},
		}
		d.leases.onExtended(callID(test.lease), apitype.Lease{ExpiresAt: until}, test.err)
		texts, _ := said(d)
		if diff := cmp.Diff(test.want, texts); diff != "" || len(d.leases.held) != test.held {
			t.Errorf("%s: %d held, want %d (-want +got):\n%s", test.name, len(d.leases.held), test.held, diff)
		}
		if kept := d.leases.held[0]; test.err == nil && (!kept.extended.Equal(morning) || !kept.ExpiresAt.Equal(until) || !d.leases.held[1].extended.IsZero()) {
			t.Errorf("%s: got %+v, want it kept from now on", test.name, kept)
		}
	}
}

// A lease is extended when less than ten of its fifteen minutes are left and a key came since; who
// touches nothing for fifteen minutes gives it back.
func TestLeasesThatAreTended(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		ago       time.Duration // Since it was extended,
		key       time.Duration // since the last key.
		done      bool
		isHeld    bool
		isPending bool
		keeps     bool // Whether somebody enters something that no key tells of.
		jobs      int
		held      int
	}{
		{"ten minutes left", 5 * time.Minute, time.Second, false, false, false, true, 0, 1},
		{"less", 5*time.Minute + 1, time.Second, false, false, false, true, 1, 1},
		{"less, and no key since", 5*time.Minute + 1, 5*time.Minute + 1, false, false, false, true, 0, 1},
		{"no key for long", 16 * time.Minute, 15 * time.Minute, false, false, false, true, 1, 0},
		{"no key for nearly as long", 16 * time.Minute, 15*time.Minute - 1, false, false, false, true, 1, 1},
		{"its change is on its way", 16 * time.Minute, 15 * time.Minute, false, false, true, false, 0, 1},
		{"its change can be taken back", 6 * time.Minute, time.Second, true, true, false, false, 0, 1},
		{"its change was sent", 6 * time.Minute, time.Second, true, false, false, false, 0, 0},
	} {
		desk := func() *Day {
			d := at(morning)
			d.leases.held = []lease{{Lease: apitype.Lease{LeaseUUID: callID(11), CallUUID: callID(1)}, extended: morning.Add(-test.ago), done: test.done}}
			d.Guard.at = morning.Add(-test.key)
			if test.isHeld {
				h := Held{}
				h.UUID = callID(1)
				d.Changes.Held = []Held{h}
			}
			if test.isPending {
				d.Changes.Entries = []outbox.Entry{pending(callID(1), outbox.StateQueued)}
			}
			return d
		}
		d := desk()
		d.leases.tend()
		if _, jobs := said(d); jobs != test.jobs || len(d.leases.held) != test.held {
			t.Errorf("%s: got %d requests and %d held, want %d and %d", test.name, jobs, len(d.leases.held), test.jobs, test.held)
		}
		d = desk()
		want := 0
		if test.keeps {
			want = test.jobs
		}
		if jobs := len(d.KeepLeases()); jobs != want || len(d.leases.held) != 1 {
			t.Errorf("%s, while something is entered: got %d requests and %d held, want %d and 1", test.name, jobs, len(d.leases.held), want)
		}
	}
	d := at(morning)
	d.Changes.Entries = []outbox.Entry{pending(callID(1), outbox.StateRejected)}
	if d.Changes.isPending(callID(1)) || d.Changes.Unsent() != 0 {
		t.Error("a change that was refused was taken for one that waits")
	}
}

// What a take brings is next; one that brings nothing ends the wait.
func TestWhatATakeBrings(t *testing.T) {
	t.Parallel()
	d := at(morning)
	d.leases.asked, d.leases.usable, d.Wanted = true, true, true
	d.serve()
	request := d.leases.request
	if _, jobs := said(d); jobs != 1 || request.IsZero() {
		t.Fatalf("got %d requests under %s, want a take", jobs, request)
	}
	d.serve()
	if _, jobs := said(d); jobs != 0 {
		t.Errorf("got %d requests while one is under way, want none", jobs)
	}
	d.leases.onTaken(taken{}, errNotTaken)
	if texts, _ := said(d); !slices.Equal(texts, []string{"!!cannot take the next call: 422 no"}) || d.leases.request != request {
		t.Errorf("got %q and another request, want it said, and asked for under the same uuid", texts)
	}
	d.leases.state = &apitype.QueueState{Waiting: 9}
	d.leases.onTaken(taken{waiting: 1000}, nil)
	if !d.NoneLeft || !d.Wanted || d.IsReading() || d.leases.state.Waiting != 9 || !d.leases.request.IsZero() {
		t.Errorf("got %+v, want that none is left", d.leases)
	}
	due := apitype.NewTime(morning)
	d.leases.onTaken(taken{waiting: 999, nextDueAt: &due, leases: []lease{{Lease: apitype.Lease{LeaseUUID: callID(11), CallUUID: callID(1)}, call: requested(1)}, {Lease: apitype.Lease{LeaseUUID: callID(12), CallUUID: callID(1)}}}}, nil)
	if len(d.leases.held) != 1 || d.leases.held[0].LeaseUUID != callID(11) || d.leases.state.Waiting != 999 || d.leases.nextDueAt != &due {
		t.Errorf("got %+v, want the call once, and what waits", d.leases)
	}
	if n, all := d.Waiting(); n != 999 || !all {
		t.Errorf("got %d waiting, all %t, want 999", n, all)
	}
	said(d)
	d.onDiscovered(discovered{}, errNotTaken)
	if texts, _ := said(d); !slices.Equal(texts, []string{"!!cannot ask whether the service has a queue: 422 no"}) {
		t.Errorf("got %q, want it said", texts)
	}
}

// The calls that come next are what was taken, and then the queue: those that are due before others.
func TestUpcomingCalls(t *testing.T) {
	t.Parallel()
	d := at(morning)
	d.leases.usable = true
	on := requested(9)
	d.Call = &on
	d.leases.held = []lease{{Lease: apitype.Lease{CallUUID: callID(1), DueAt: new(apitype.NewTime(morning))}, call: requested(1)}}
	d.leases.state = &apitype.QueueState{Due: 2}
	for _, n := range []int{1, 9, 2, 3, 4} {
		d.leases.upcoming = append(d.leases.upcoming, Candidate{ID: callID(n)})
	}
	d.Changes.Entries = []outbox.Entry{pending(callID(3), outbox.StateQueued)}
	for limit, want := range map[int]string{0: "", 1: "1!", 2: "1! 2", 3: "1! 2 4", 4: "1! 2 4"} {
		var got []string
		for _, c := range d.Offers(limit) {
			got = append(got, fmt.Sprint(c.ID[1])+map[bool]string{true: "!"}[c.Due])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d: got %v, want %s", limit, got, want)
		}
	}
	d.leases.state.Due = 3
	if c := d.Offers(2)[1]; !c.Due {
		t.Errorf("got %+v, want the third of those that wait due", c)
	}
}

// A callback that comes due is said, and comes before the call that was taken for after this one.
func TestCallbackThatComesDue(t *testing.T) {
	t.Parallel()
	const due = "a callback is due: it comes next"
	for _, test := range []struct {
		name        string
		before, now int // So many are due; -1: not counted yet.
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
	if d.leases.onUpcoming([]Candidate{{}}, nil); d.leases.none {
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

// A call that is read shows what has become of it since it was listed.
func TestCallsThatAreRead(t *testing.T) {
	t.Parallel()
	ended := func(c apitype.Call) apitype.Call { c.Status = apitype.CallCompleted; return c }
	rung := func(c apitype.Call) apitype.Call { c.AttemptsCount = 1; return c }
	for _, test := range []struct {
		name      string
		isOn      bool // The call is on the desk already.
		typed     bool
		isPending bool
		read      callRead
		err       error
		want      []string
		on        bool // It is on the desk afterwards.
		wanted    bool // Another one is.
	}{
		{"anew", false, false, false, callRead{call: requested(1)}, nil, nil, true, false},
		{"again", true, false, false, callRead{call: requested(1)}, nil, nil, true, false},
		{"not there any more", true, false, false, callRead{}, errGone, []string{"call c0010000 is no longer there; here is the next one"}, false, true},
		{"not there any more, with a text", true, true, false, callRead{asked: unasked}, errGone, []string{"call c0010000 is no longer there^^^"}, true, false},
		{"not there", false, false, false, callRead{}, errGone, []string{"!!call c0010000 is no longer there"}, false, false},
		{"not read", true, false, false, callRead{}, errNotTaken, []string{"!!cannot read call c0010000: 422 no"}, true, false},
		{"offline", true, false, false, callRead{}, errDown, nil, true, false},
		{"its draft is torn", true, false, false, callRead{call: requested(1), torn: io.ErrUnexpectedEOF}, nil, []string{"!!cannot read what was typed for call c0010000: unexpected EOF"}, true, false},
		{"another agent was faster", true, false, false, callRead{call: ended(requested(1))}, nil, []string{"call c0010000 is completed: another agent was faster; here is the next one"}, false, true},
		{"another agent was faster, after a key", true, false, false, callRead{call: ended(requested(1)), asked: unasked}, nil, []string{"call c0010000 is completed: another agent was faster^^^"}, true, false},
		{"another agent was faster, with a text", true, true, false, callRead{call: ended(requested(1))}, nil, []string{"!!call c0010000 is completed: another agent was faster; what you typed stays here"}, true, false},
		{"one of our own changes is on its way", true, false, true, callRead{call: ended(requested(1))}, nil, nil, true, false},
		{"it had ended", false, false, false, callRead{call: ended(requested(1))}, nil, nil, true, false},
		{"another agent has called", true, false, false, callRead{call: rung(requested(1))}, nil, []string{"another agent has called call c0010000 since the call was listed"}, true, false},
		{"with its draft", true, false, false, callRead{call: requested(1), draft: &outbox.Draft{Call: callID(1), Notes: "from the disk"}}, nil, nil, true, false},
		{"with a draft that is older", true, true, false, callRead{call: requested(1), draft: &outbox.Draft{Call: callID(1), Notes: "from the disk"}}, nil, nil, true, false},
	} {
		d := at(morning)
		d.leases.asked, d.queue.ended = true, true
		notes := ""
		if test.isOn {
			before := requested(1)
			d.Call = &before
		}
		if test.typed {
			notes = "typed"
			d.Form.Notes = notes
		} else if test.read.draft != nil {
			notes = "from the disk"
		}
		if test.isPending {
			d.Changes.Entries = []outbox.Entry{pending(callID(1), outbox.StateQueued)}
		}
		test.read.id = callID(1)
		d.Taking = true
		d.Guard.Show(morning)
		d.onRead(test.read, test.err)
		texts, _ := said(d)
		servicetest.Same(t, test.name, test.want, texts)
		if d.IsOn(callID(1)) != test.on || d.Wanted != test.wanted && !d.NoneLeft || d.Taking || test.on && d.Form.Notes != notes {
			t.Errorf("%s: got on the desk %t, another one wanted %t, notes %q, want %t, %t, %q", test.name, d.IsOn(callID(1)), d.Wanted, d.Form.Notes, test.on, test.wanted, notes)
		}
		if ended := len(d.Recent) == 1 && d.Recent[0].What == "ended by another agent" && d.Recent[0].Fate.String() == "ended"; ended != (len(test.want) == 1 && strings.Contains(test.want[0], "faster") && !test.typed) {
			t.Errorf("%s: got %+v of the last calls", test.name, d.Recent)
		}
	}
}

// Calls that are read before they are asked for: one that cannot be does not stand in the way.
func TestCallsThatAreReadAhead(t *testing.T) {
	t.Parallel()
	unread := &apiclient.Error{Kind: apiclient.KindUnavailable, Message: "too large", Err: apiclient.ErrUnreadable}
	expired := requested(1)
	expired.Status = apitype.CallExpired
	for _, test := range []struct {
		name   string
		call   apitype.Call
		err    error
		want   []string
		passed []PassedOver
		known  int
		have   bool
	}{
		{"read", requested(1), nil, nil, nil, 1, true},
		{"ended", expired, nil, nil, []PassedOver{{ID: callID(1), Reason: "is expired"}}, 0, false},
		{"not readable", apitype.Call{}, unread, nil, []PassedOver{{ID: callID(1), Reason: "it cannot be read: too large"}}, 1, false},
		{"not there", apitype.Call{}, errGone, []string{"!!cannot read call c0010000: 404 not found"}, nil, 0, false},
		{"refused", apitype.Call{}, errNotTaken, []string{"!!cannot read call c0010000: 422 no"}, nil, 1, false},
		{"offline", apitype.Call{}, errDown, nil, nil, 1, false},
	} {
		d := at(morning)
		d.queue.learn(requested(1))
		d.queue.fetching[callID(1)] = true
		d.queue.onPrefetched(callID(1), test.call, test.err)
		texts, _ := said(d)
		servicetest.Same(t, test.name, test.want, texts)
		_, have := d.queue.prefetched[callID(1)]
		if diff := cmp.Diff(test.passed, d.PassedOver()); diff != "" || len(d.queue.candidates) != test.known || have != test.have || d.queue.fetching[callID(1)] {
			t.Errorf("%s: %d known, read ahead %t, want %d, %t; passed over (-want +got):\n%s", test.name, len(d.queue.candidates), have, test.known, test.have, diff)
		}
		// What was read ahead is not kept of a call that ends, or is passed over.
		if d.queue.drop(callID(1)); len(d.queue.prefetched) != 0 || len(d.queue.candidates) != 0 {
			t.Errorf("%s: got %d read ahead of a call that ended", test.name, len(d.queue.prefetched))
		}
	}
	d := at(morning)
	for n := range 6 {
		d.queue.learn(requested(n))
	}
	d.queue.prefetched[callID(5)] = requested(5)
	d.queue.ended = true
	d.source().prefetch()
	if _, jobs := said(d); jobs != 3 || len(d.queue.fetching) != 3 {
		t.Errorf("got %d requests, want three calls read ahead", jobs)
	}
	d.source().prefetch()
	if _, jobs := said(d); jobs != 0 {
		t.Errorf("got %d requests more, want none", jobs)
	}
}

// What others have changed is taken in, and said of the call on the desk.
func TestChangesOfOthers(t *testing.T) {
	t.Parallel()
	later := apitype.NewTime(morning)
	changed := requested(1)
	changed.LastUpdatedAt, changed.AttemptsCount = later, 2
	tried := changed
	tried.Attempts, tried.AttemptsCount = apitype.Embed([]apitype.CallAttempt{{AttemptAt: later}}), 1
	for _, test := range []struct {
		name     string
		change   apitype.Call
		checked  bool
		pending  bool
		want     []string
		attempts int
	}{
		{"of the call on the desk", changed, true, false, []string{"call c0010000 was changed by another agent: requested, 2 attempts"}, 2},
		{"with the attempts", tried, true, false, []string{"call c0010000 was changed by another agent: requested, 1 attempt"}, 1},
		{"which was not read yet", changed, false, false, nil, 0},
		{"by ourselves", changed, true, true, nil, 0},
		{"which is known", requested(1), true, false, nil, 0},
		{"of another call", requested(2), true, false, nil, 0},
	} {
		d := at(morning)
		on := requested(1)
		d.Call, d.Checked = &on, test.checked
		d.queue.ended, d.leases.asked = true, true
		if test.pending {
			d.Changes.Entries = []outbox.Entry{pending(callID(1), outbox.StateSending)}
		}
		d.queue.prefetched[callID(1)], d.queue.prefetched[callID(2)] = requested(1), requested(2)
		d.queue.changesMissed = true
		d.queue.onChanges(apiclient.News[apitype.Call]{Found: []apitype.Call{test.change}, Next: later})
		texts, _ := said(d)
		if diff := cmp.Diff(test.want, texts); diff != "" || d.Call.AttemptsCount != test.attempts || d.queue.changesMissed || d.queue.changesFrom != later {
			t.Errorf("%s: %d attempts, want %d (-want +got):\n%s", test.name, d.Call.AttemptsCount, test.attempts, diff)
		}
		if _, have := d.queue.prefetched[callID(1)]; have == test.change.LastUpdatedAt.Equal(later) {
			t.Errorf("%s: got what was read ahead kept %t", test.name, have)
		}
		if got := len(d.Call.Attempts.Value()); (got == 1) != (test.attempts == 1) {
			t.Errorf("%s: got %d attempts that are known", test.name, got)
		}
	}
	for _, again := range []bool{false, true} {
		d := at(morning)
		d.queue.ended, d.leases.asked = true, true
		if d.queue.onChanges(apiclient.News[apitype.Call]{IsCut: again}); d.queue.walking != again {
			t.Errorf("got all calls read anew %t, want %t: more had changed than was taken in", d.queue.walking, again)
		}
	}
}

// What the service has accepted is counted, and a call that was asked for comes on the desk then.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	event := func(n int, outcome outbox.Outcome) outbox.Event {
		e := outbox.Event{Outcome: outcome}
		e.Entry.UUID, e.Entry.Op = callID(n), apiclient.OpCreateCall
		return e
	}
	for _, test := range []struct {
		name     string
		event    outbox.Event
		accepted int
		taking   bool
		jobs     int
	}{
		{"the call that was asked for", event(5, outbox.OutcomeAccepted), 1, true, 1},
		{"it was refused", event(5, outbox.OutcomeRejected), 0, false, 0},
		{"another call", event(6, outbox.OutcomeAccepted), 1, false, 0},
		{"the call on the desk", event(1, outbox.OutcomeAccepted), 1, false, 1},
	} {
		d := at(morning)
		on := requested(1)
		d.Call, d.opening = &on, callID(5)
		d.onOutcome(test.event)
		if _, jobs := said(d); jobs != test.jobs || d.Accepted[apiclient.OpCreateCall] != test.accepted || d.Taking != test.taking || d.opening.IsZero() != test.taking {
			t.Errorf("%s: got %d requests, %d accepted, a call read %t, want %d, %d, %t", test.name, jobs, d.Accepted[apiclient.OpCreateCall], d.Taking, test.jobs, test.accepted, test.taking)
		}
	}
	d := at(morning)
	d.leases.asked, d.leases.usable, d.Wanted = true, true, true
	if d.onOutcome(event(6, outbox.OutcomeAccepted)); !d.leases.taking {
		t.Error("the service can be reached: got no call asked for")
	}
	d = at(morning)
	d.leases.asked, d.leases.usable, d.Wanted, d.Offline = true, true, true, "offline"
	if d.onOutcome(event(6, outbox.OutcomeAccepted)); d.leases.taking {
		t.Error("nothing reaches the service: got a call asked for")
	}
}

// The agent's last calls: ten of them, each with what became of it.
func TestRecentCalls(t *testing.T) {
	t.Parallel()
	d := at(morning)
	for n := range 11 {
		d.Recent.remember(Recent{Call: callID(n), Name: fmt.Sprint(n), At: d.Now(), What: "cancelled", Fate: FateHeld})
	}
	if len(d.Recent) != 10 || d.Recent[0].Name != "10" || d.Recent[9].Name != "1" || !d.Recent[0].At.Equal(morning) {
		t.Fatalf("got %+v, want the last ten", d.Recent)
	}
	saved := func(n int, id string, err error) queued {
		q := queued{change: Change{from: &worked{}}, entry: outbox.Entry{ID: id}, err: err}
		q.change.UUID = callID(n)
		return q
	}
	d.Recent.entered(queued{entry: outbox.Entry{ID: "other"}})
	d.Recent.entered(saved(99, "unknown", nil))
	d.Recent.entered(saved(10, "e10", nil))
	d.Recent.entered(saved(9, "", errors.New("full")))
	d.Recent.entered(saved(8, "e8", nil))
	if len(d.Recent) != 9 || d.Recent[0].entry != "e10" || d.Recent[1].entry != "e8" || d.Recent[2].entry != "" {
		t.Fatalf("got %+v, want what was saved, and not what was not", d.Recent)
	}
	d.Changes.Held = []Held{{id: "e8", Until: morning.Add(3 * time.Second)}}
	if got := d.Changes.HeldFor(d.Recent[1]); got != 3*time.Second || d.Changes.HeldFor(d.Recent[0]) != 0 {
		t.Errorf("got %v, want the time that it can be taken back", got)
	}
	for outcome, want := range map[outbox.Outcome]string{
		outbox.OutcomeAccepted: "sent", outbox.OutcomeRejected: "refused", outbox.OutcomeUnsure: "waiting", outbox.OutcomeWaiting: "waiting",
	} {
		d.Recent.hear(outbox.Event{Entry: outbox.Entry{ID: "e10"}, Outcome: outcome})
		if got := d.Recent[0].Fate.String(); got != want || d.Recent[1].Fate != FateHeld {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if d.Recent.hear(outbox.Event{}); d.Recent[2].Fate != FateHeld || FateLater.String() != "deferred" || FateHeld.String() != "held" {
		t.Error("an event of no entry was taken for one of a call")
	}
	if d.Recent.forget("e10"); len(d.Recent) != 8 || d.Recent[0].entry != "e8" {
		t.Errorf("got %+v, want it without what was taken back", d.Recent)
	}
}

// The queue of a service without one keeps the calls in the order of their requests.
func TestQueueOfCalls(t *testing.T) {
	t.Parallel()
	q := newQueue(at(morning))
	named := func(n int, name string) apitype.Call {
		c := requested(n)
		c.Person = apitype.Embed(apitype.Person{LastName: &name, MobilePhoneNumber: new("+31 6 1234567" + fmt.Sprint(n)), PhoneNumber: new("020-1234567"), Language: new("NL"), OptInPhone: new(name != "Out")})
		return c
	}
	for _, c := range []apitype.Call{named(2, "Bos"), named(4, "Vis"), named(3, "Out"), requested(1)} {
		q.learn(c)
	}
	same := named(5, "Same")
	same.RequestedAt = requested(3).RequestedAt
	q.learn(same)
	order := func() string {
		var names []string
		for _, c := range q.candidates {
			names = append(names, c.Name)
		}
		return strings.Join(names, " ")
	}
	if got := order(); got != "Vis Out Same Bos " {
		t.Errorf("got %q, want the oldest first", got)
	}
	again := requested(2)
	again.AttemptsCount = 1
	if q.learn(again); order() != "Vis Out Same Bos " || q.candidates[3].Attempts != 1 || q.candidates[3].language != "nl" || q.candidates[3].numbers[1] != "0201234567" {
		t.Errorf("got %+v, want it as it is now, with the person as it was", q.candidates[3])
	}
	offered := func(limit, most int, pending ...outbox.Entry) (ids string) {
		q.MaxAttempts, q.day.Changes.Entries = most, pending
		for _, c := range q.allowed(limit) {
			ids += fmt.Sprint(c.ID[1])
		}
		return ids
	}
	if got := offered(10, 0) + " " + offered(2, 0) + " " + offered(10, 1) + " " + offered(10, 0, outbox.Entry{Change: apiclient.Change{UUID: callID(5)}}); got != "4521 45 451 421" {
		t.Errorf("got %s, want those that may be rung", got)
	}
	q.pass(callID(4), "skipped by you")
	q.pass(callID(5), "")
	q.pass(callID(77), "not there")
	if got := offered(10, 0); got != "21" {
		t.Errorf("got %s, want those that were not passed over", got)
	}
	want := []PassedOver{{callID(4), "Vis", "skipped by you"}, {callID(77), "", "not there"}, {callID(3), "Out", "opted out of phone calls"}, {callID(2), "Bos", "1 attempt, the maximum is 1"}}
	q.MaxAttempts = 1
	servicetest.Same(t, "passed over", want, q.reasons())
	other := named(6, "Other")
	if ofPerson, ofNumber := q.others(other); ofPerson != 0 || ofNumber != 4 {
		t.Errorf("got %d of the person and %d of the number, want 0 and 4", ofPerson, ofNumber)
	}
	other.PersonUUID = callID(102)
	if ofPerson, ofNumber := q.others(other); ofPerson != 1 || ofNumber != 3 {
		t.Errorf("got %d of the person and %d of the number, want 1 and 3", ofPerson, ofNumber)
	}
	if ofPerson, ofNumber := q.others(requested(2)); ofPerson != 0 || ofNumber != 0 {
		t.Errorf("got %d of the person and %d of the number, want none of one without a number", ofPerson, ofNumber)
	}
	if q.drop(callID(3)); order() != "Vis Same Bos " || q.known[callID(3)] {
		t.Errorf("got %q, want it without the call that ended", order())
	}
	tried := apitype.Call{Attempts: apitype.Embed([]apitype.CallAttempt{{AttemptAt: apitype.NewTime(morning)}, {AttemptAt: apitype.NewTime(morning.Add(-time.Hour))}})}
	if got := lastAttempt(tried); !got.Equal(morning) {
		t.Errorf("got %v, want the last attempt", got)
	}
}

// An account whose service refuses large pages is read by smaller ones.
func TestOrFewer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		size     int
		fewer    int
		err      error
		want     []int
		size2    int
		isFailed bool
	}{
		{"as many", 500, 0, nil, []int{500}, 500, false},
		{"fewer that fit", 500, 250, nil, []int{500}, 250, false},
		{"refused", 500, 0, errNotTaken, []int{500, 100}, 100, true},
		{"small pages refused", 100, 0, errNotTaken, []int{100}, 100, true},
		{"just more than small", 101, 0, errNotTaken, []int{101, 100}, 100, true},
		{"offline", 500, 0, errDown, []int{500}, 500, true},
	} {
		var asked []int
		size := test.size
		_, err := OrFewer(&size, func(n int) (apiclient.Page[apitype.Call], error) {
			asked = append(asked, n)
			return apiclient.Page[apitype.Call]{Fewer: test.fewer}, test.err
		})
		if !slices.Equal(asked, test.want) || size != test.size2 || (err != nil) != test.isFailed {
			t.Errorf("%s: got %v and %d from then on, %v, want %v and %d", test.name, asked, size, err, test.want, test.size2)
		}
	}
}

// A start goes on where the first call could be offered, and reads what lies before it later.
func TestHistoryParts(t *testing.T) {
	t.Parallel()
	hour := func(n int) apitype.Time { return apitype.NewTime(morning.Add(time.Duration(n) * time.Hour)) }
	whole, before := span{from: hour(0).Time}, span{hour(0).Time, hour(4).Time}
	for _, test := range []struct {
		name    string
		offered *apitype.Time
		span    span
		older   *span
	}{
		{"none could be offered", nil, whole, nil},
		{"the oldest open one", new(hour(0)), whole, nil},
		{"a later one", new(hour(4)), span{from: hour(4).Time}, &before},
	} {
		q := newQueue(at(morning))
		q.remember(history{OpenSince: hour(0), KnownAt: hour(9), OfferedAt: test.offered})
		if diff := cmp.Diff(test.older, q.older, cmp.AllowUnexported(span{})); diff != "" || q.span != test.span || q.since != hour(9) || !q.changesMissed {
			t.Errorf("%s: got %v, known at %v, before it (-want +got):\n%s", test.name, q.span, q.since, diff)
		}
	}
	s := span{from: hour(0).Time, until: hour(1).Time}
	for at, want := range map[time.Duration]bool{-time.Minute - 1: false, -time.Minute: true, time.Hour + time.Minute: true, time.Hour + time.Minute + 1: false} {
		if got := s.mayHold(morning.Add(at)); got != want {
			t.Errorf("%v: got it held %t, want %t", at, got, want)
		}
	}
	if !(span{}).mayHold(morning) {
		t.Error("everything: got a bound")
	}
	from, until := s.bounds(morning)
	if !from.Equal(apitype.NewTime(morning.Add(-time.Second))) || !until.Equal(apitype.NewTime(morning.Add(time.Hour+time.Second))) {
		t.Errorf("got %v to %v, want a second more at both ends", from, until)
	}
	if _, until := (span{from: morning}).bounds(morning); !until.Equal(apitype.NewTime(morning.AddDate(10, 0, 0).Add(time.Second))) {
		t.Errorf("got until %v, want ten years ahead", until)
	}
}

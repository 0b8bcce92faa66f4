package pending

import (
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// queue is a service with a queue. It answers 200, unless another status is set for the last part of a path.
type queue struct {
	older  bool // It does not know pending leases.
	status map[string]int
	bodies map[string]string
	sent   []string // The requests that change something: the last part of the path, and the body.
}

func (q *queue) RoundTrip(r *http.Request) (*http.Response, error) {
	last := path.Base(r.URL.Path)
	status, body := 200, q.bodies[last]
	switch {
	case r.Method != http.MethodGet:
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		q.sent = append(q.sent, last+" "+string(sent))
		if q.status[last] != 0 {
			status = q.status[last]
		}
	case q.older:
		body = `{"extensions":["queue"]}`
	default:
		body = `{"extensions":["queue","pending"]}`
	}
	if body == "" {
		body = "{}"
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// took returns the requests since the last time, by the last part of their path.
func (q *queue) took() []string {
	var names []string
	for _, request := range q.sent {
		name, _, _ := strings.Cut(request, " ")
		names = append(names, name)
	}
	q.sent = nil
	return names
}

var (
	call  = apitype.MustParseUUID("c0000000-0000-4000-8000-000000000001")
	user  = apitype.MustParseUUID("a0000000-0000-4000-8000-000000000002")
	lease = apitype.MustParseUUID("b0000000-0000-4000-8000-000000000003")
)

// leasesAt returns the leases of a Desk at a service. The clock is moved by the test.
func leasesAt(t *testing.T, service *queue) (*Leases, *time.Time) {
	t.Helper()
	client, err := apiclient.New(apiclient.Options{BaseURL: "https://a.example", Transport: service, Tries: 1})
	servicetest.Check(t, err)
	now := new(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	return &Leases{Client: client, Now: func() time.Time { return *now }}, now
}

// change returns the entry of a change of the call.
func change(op, body string) outbox.Entry {
	return outbox.Entry{Change: apiclient.Change{Op: op, UUID: call, Body: []byte(body)}}
}

// A wanted lease is made pending once, extended before it ends, and leased anew if it had ended before it was
// pending. A lease that another user released while it was pending stays free.
func TestSettleMakesALeasePending(t *testing.T) {
	t.Parallel()
	granted := map[string]string{"lease": `{"leaseUuid":"` + lease.String() + `"}`}
	for _, test := range []struct {
		name  string
		has   apitype.UUID // The live lease.
		gone  bool         // It has ended.
		after time.Duration
		older bool
		again bool // The second time is after it was pending.
		want  []string
	}{
		{"a live lease", lease, false, 0, false, false, []string{"extend"}},
		{"no lease", apitype.UUID{}, false, 0, false, false, []string{"lease"}},
		{"an ended lease", lease, true, 0, false, false, []string{"extend", "lease"}},
		{"again soon", lease, false, time.Minute, false, true, nil},
		{"again before its end", lease, false, apitype.PendingLease - renewTime, false, true, []string{"extend"}},
		{"released by another user", lease, true, apitype.PendingLease, false, true, []string{"extend"}},
		{"at an older service", lease, false, LeaseTime - ExtendTime, true, true, []string{"extend"}},
	} {
		service := &queue{older: test.older, bodies: granted, status: map[string]int{}}
		all, now := leasesAt(t, service)
		l := all.Want(call, user, test.has)
		if test.again {
			servicetest.Check(t, all.Settle(t.Context(), l))
			service.took()
		}
		if test.gone {
			service.status["extend"] = 404
		}
		*now = now.Add(test.after)
		servicetest.Check(t, all.Settle(t.Context(), l))
		servicetest.Same(t, test.name, test.want, service.took())
		servicetest.Check(t, all.Settle(t.Context(), l))
		if again := service.took(); len(again) != 0 {
			t.Errorf("%s: got %q for a lease that is settled", test.name, again)
		}
	}
}

// A lease that is not wanted any more is given back and forgotten. One that an accepted change has ended is left alone.
func TestSettleGivesALeaseBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                string
		isEnded, isOpening  bool
		status              int
		want                []string
		isForgotten, hasErr bool
	}{
		{"undone", false, false, 200, []string{"release"}, true, false},
		{"undone, and opened again", false, true, 200, nil, false, false},
		{"accepted", true, false, 200, nil, false, false},
		{"not given back", false, false, 503, []string{"release"}, false, true},
	} {
		service := &queue{status: map[string]int{"release": test.status}}
		all, _ := leasesAt(t, service)
		l := all.Want(call, user, lease)
		l.IsWanted.Store(false)
		l.IsEnded.Store(test.isEnded)
		l.IsOpening.Store(test.isOpening)
		if err := all.Settle(t.Context(), l); (err != nil) != test.hasErr {
			t.Errorf("%s: got %v", test.name, err)
		}
		servicetest.Same(t, test.name, test.want, service.took())
		if isForgotten := all.Of(call) == nil; isForgotten != test.isForgotten {
			t.Errorf("%s: got forgotten %t", test.name, isForgotten)
		}
	}
}

// The opened call takes the lease of an undone change over as a plain one. It does not if a change waits again, or if
// the service keeps the lease pending.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		isWanted bool
		answer   string
		status   int
		want     []string
		isTaken  bool
	}{
		{"plain", false, `{"leaseUuid":"` + lease.String() + `"}`, 200, []string{"extend"}, true},
		{"a change waits again", true, "{}", 200, nil, false},
		{"kept pending", false, `{"pending":true}`, 200, []string{"extend", "release"}, false},
		{"ended", false, "{}", 404, []string{"extend"}, false},
	} {
		service := &queue{
			status: map[string]int{"extend": test.status},
			bodies: map[string]string{"extend": test.answer},
		}
		all, _ := leasesAt(t, service)
		l := all.Want(call, user, lease)
		l.IsWanted.Store(test.isWanted)
		kept, err := all.TakeOver(t.Context(), l)
		servicetest.Check(t, err)
		servicetest.Same(t, test.name, test.want, service.took())
		if (kept != nil) != test.isTaken || kept != nil && kept.LeaseUUID != lease {
			t.Errorf("%s: got %+v", test.name, kept)
		}
		if isLeft := all.Of(call) != nil; isLeft != test.isWanted {
			t.Errorf("%s: got the lease pending %t, want %t", test.name, isLeft, test.isWanted)
		}
	}
}

// The lease is made pending before its change is sent. A deferral names it. If the service cannot be reached, the
// change is not sent.
func TestPrepare(t *testing.T) {
	t.Parallel()
	service := &queue{status: map[string]int{}}
	all, _ := leasesAt(t, service)
	all.Want(call, user, lease)
	service.status["extend"] = 503
	if _, err := all.Prepare(t.Context(), change(apiclient.OpAddAttempt, "{}")); apiclient.KindOf(err) != apiclient.KindUnavailable {
		t.Errorf("got %v, want the change delayed", err)
	}
	service.status["extend"] = 0
	service.took()
	deferral, err := all.Prepare(t.Context(), change(apiclient.OpDeferCall, `{"reason":"later"}`))
	if err != nil || !strings.Contains(string(deferral.Body), lease.String()) {
		t.Errorf("got %s, %v, want the deferral to name its lease", deferral.Body, err)
	}
	servicetest.Same(t, "requests before the change", []string{"extend"}, service.took())
	other := apitype.MustParseUUID("c0000000-0000-4000-8000-000000000009")
	all.Open(other, user)
	for id, want := range map[apitype.UUID]apitype.UUID{other: user, call: {}} {
		creation := change(apiclient.OpCreateCall, "{}")
		creation.UUID = id
		got, err := all.Prepare(t.Context(), creation)
		if err != nil || got.LeaseFor != want {
			t.Errorf("got a new call leased for %s, %v, want %s", got.LeaseFor, err, want)
		}
	}
}

// While a change is on its way, its lease is left alone: the change may end it. Its end is heard, whatever it was.
func TestLeaseOfAChangeOnItsWay(t *testing.T) {
	t.Parallel()
	for outcome, isWanted := range map[outbox.Outcome]bool{
		outbox.OutcomeAccepted: false,
		outbox.OutcomeRejected: true,
		outbox.OutcomeWaiting:  true,
	} {
		service := &queue{}
		all, now := leasesAt(t, service)
		l := all.Want(call, user, lease)
		sent := change(apiclient.OpAddAttempt, "{}")
		_, err := all.Prepare(t.Context(), sent)
		servicetest.Check(t, err)
		service.took()
		*now = now.Add(apitype.PendingLease)
		servicetest.Check(t, all.Settle(t.Context(), l))
		if got := service.took(); len(got) != 0 {
			t.Errorf("got %q during the change", got)
		}
		all.Hear(outbox.Event{Entry: sent, Outcome: outcome, IsForeign: true})
		if !all.IsWanted(call) {
			t.Errorf("got the change of another terminal taken for ours")
		}
		all.Hear(outbox.Event{Entry: sent, Outcome: outcome})
		servicetest.Check(t, all.Settle(t.Context(), l))
		if got := service.took(); all.IsWanted(call) != isWanted || slices.Contains(got, "extend") != isWanted {
			t.Errorf("%v: got it wanted %t and %q, want %t", outcome, all.IsWanted(call), got, isWanted)
		}
	}
}

// A lease is forgotten only if no change waits. What could not be given back is left for the next start.
func TestWhatIsForgottenAndLeft(t *testing.T) {
	t.Parallel()
	all, _ := leasesAt(t, &queue{})
	l := all.Want(call, user, lease)
	if _, isLeft := l.Left(); isLeft || all.Forget(l) {
		t.Error("got a wanted lease forgotten or left")
	}
	l.IsWanted.Store(false)
	if id, isLeft := l.Left(); !isLeft || id != lease {
		t.Errorf("got %s left %t, want the lease", id, isLeft)
	}
	if again := all.Want(call, user, apitype.UUID{}); again != l || len(all.List()) != 1 {
		t.Errorf("got %v, want the lease that is there", all.List())
	}
	l.IsWanted.Store(false)
	if !all.Forget(l) || all.Of(call) != nil {
		t.Error("the lease is still there")
	}
}

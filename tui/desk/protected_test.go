package desk_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/queue"
)

// faultyLine is a line to the service that a test cuts, or lets answer otherwise.
type faultyLine struct {
	http.RoundTripper
	mu     sync.Mutex // Held while the fields are used: the outbox sends several at once.
	isCut  bool
	sent   []string                       // What was sent while it was not cut: method and path.
	status func(*http.Request) int        // Answers instead of the service. 0 lets the request pass. Nil lets all pass.
	loses  func(method, path string) bool // The answer. Nil if none is lost.
	// cuts is the end of a path: the line is cut before it is asked for; with losesCut it is asked for, and its answer
	// is lost.
	cuts     string
	losesCut bool
}

func (l *faultyLine) RoundTrip(r *http.Request) (*http.Response, error) {
	if answer, isDone, err := l.fault(r); isDone {
		return answer, err
	}
	answer, err := l.RoundTripper.RoundTrip(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && l.loses != nil && l.loses(r.Method, r.URL.Path) {
		_ = answer.Body.Close()
		return nil, &apiclient.Error{Kind: apiclient.KindUnavailable, Retryable: true, Sent: true, Message: "it broke"}
	}
	return answer, err
}

// fault answers instead of the service, if the test wants it.
func (l *faultyLine) fault(r *http.Request) (answer *http.Response, isDone bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	isCut := l.isCut
	if l.cuts != "" && strings.HasSuffix(r.URL.Path, l.cuts) {
		l.isCut, isCut = true, !l.losesCut
		if l.losesCut && !slices.Contains(l.sent, "lost") {
			l.sent = append(l.sent, "lost")
			_, _ = l.RoundTripper.RoundTrip(r)
			lost := &apiclient.Error{Kind: apiclient.KindUnavailable, Retryable: true, Sent: true, Message: "it broke"}
			return nil, true, lost
		}
	}
	if isCut {
		cut := &apiclient.Error{
			Kind:      apiclient.KindUnavailable,
			Retryable: true,
			Message:   "cannot reach it",
			Err:       &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH},
		}
		return nil, true, cut
	}
	if l.status != nil {
		if status := l.status(r); status != 0 {
			header := http.Header{"Content-Type": {"application/json"}}
			body := io.NopCloser(strings.NewReader("{}"))
			return &http.Response{StatusCode: status, Header: header, Body: body, ContentLength: 2}, true, nil
		}
	}
	l.sent = append(l.sent, r.Method+" "+r.URL.Path)
	return nil, false, nil
}

// agentOn returns an agent with a line of its own.
func (f *floor) agentOn(dir string) (*agent, *faultyLine) {
	line := &faultyLine{}
	f.line = func(r http.RoundTripper) http.RoundTripper {
		line.RoundTripper = r
		return line
	}
	defer func() { f.line = nil }()
	a := f.agent(dir)
	a.line = line
	return a, line
}

// pollFor lets time pass in which the desk polls.
func (a *agent) pollFor(d time.Duration) {
	for ; d > 0; d -= 15 * time.Second {
		a.f.Clock.Advance(15 * time.Second)
		a.perform(a.Poll())
	}
}

// press is a key of the agent, a second after what was before.
func (a *agent) press(key string) {
	a.f.Clock.Advance(time.Second)
	a.Keys.Press(key, false, false, a.f.Clock.Now())
}

// leases returns the live leases of the service.
func (f *floor) leases() []apitype.Lease {
	f.t.Helper()
	var all apitype.Leases
	f.Do(f.token, http.MethodGet, "/fundesk/v1/queue/leases", "").Decode(&all)
	return all.Leases
}

// pending returns the calls with a pending lease.
func (f *floor) pending() []apitype.UUID {
	var calls []apitype.UUID
	for _, l := range f.leases() {
		if l.Pending {
			calls = append(calls, l.CallUUID)
		}
	}
	return calls
}

// freeAll releases what users hold, as a supervisor does.
func (f *floor) freeAll() {
	for _, l := range f.leases() {
		f.Do(f.token, http.MethodPost, "/fundesk/v1/queue/release", fmt.Sprintf(`{"userUuid":%q}`, l.UserUUID))
	}
}

// correctMobile corrects the number of the donor on the desk.
func (a *agent) correctMobile(number string) {
	a.f.t.Helper()
	for _, fix := range a.Form().Fixes() {
		if fix.Key != "mobilePhoneNumber" {
			continue
		}
		if wrong := a.Form().Correct(fix, number); wrong != "" {
			a.f.t.Fatal(wrong)
		}
	}
}

// officeWrites changes the number of a person at the service.
func (f *floor) officeWrites(person apitype.UUID, number string) {
	path := "/api/v1/persons/" + person.String() + "/actions/update"
	f.Do(f.token, http.MethodPut, path, fmt.Sprintf(`{"mobilePhoneNumber":%q}`, number))
}

// endings are the keys that end a call with a change.
var endings = map[string]func(a *agent){
	"a": func(a *agent) { a.perform(a.Finish(disposition.NotReached(""))) },
	"a with a note": func(a *agent) {
		a.Form().SetNotes("rings after six")
		a.perform(a.Finish(disposition.NotReachedWithNote("")))
	},
	"ctrl+s": func(a *agent) {
		a.speak("well")
		a.perform(a.Finish(disposition.Complete))
	},
	"ctrl+s with a correction": func(a *agent) {
		a.correctMobile("+31611111111")
		a.speak("well")
		a.perform(a.Finish(disposition.Complete))
	},
	"b": func(a *agent) {
		a.perform(a.Finish(disposition.Later(card.At(a.f.Clock.Now().Add(26*time.Hour)), false)))
	},
	"X": func(a *agent) { a.perform(a.Finish(disposition.Cancel)) },
	"e": func(a *agent) { a.perform(a.Finish(disposition.Expire)) },
}

// notFound lets the service know no lease any more, as after it was moved.
func notFound(r *http.Request) int {
	if strings.HasSuffix(r.URL.Path, "/extend") {
		return http.StatusNotFound
	}
	return 0
}

// losses are the ways in which the lease of the call on the desk ends, while the card stays.
var losses = map[string]func(a *agent){
	"it did not end":   func(*agent) {},
	"no key came":      func(a *agent) { a.pollFor(16 * time.Minute) },
	"no poll came":     func(a *agent) { a.f.Clock.Advance(16 * time.Minute) },
	"it was freed":     func(a *agent) { a.f.freeAll() },
	"freed and polled": func(a *agent) { a.f.freeAll(); a.pollFor(30 * time.Second) },
	"no lease is found": func(a *agent) {
		a.line.status = notFound
		a.f.Clock.Advance(6 * time.Minute)
		a.perform(a.KeepLease())
		a.f.freeAll()
		a.line.status = nil
	},
	"none is found at the key": func(a *agent) {
		a.f.freeAll()
		a.line.status = notFound
	},
	"the computer slept": func(a *agent) {
		a.perform(a.Wake())
		a.f.Clock.Advance(2 * time.Hour)
		a.perform(a.Wake())
	},
}

// isOffered reports whether a user who takes all calls gets this one.
func (f *floor) isOffered(call apitype.UUID) bool {
	f.t.Helper()
	answer := f.Do(f.token, http.MethodGet, "/fundesk/v1/queue/calls?first=100", "")
	return strings.Contains(string(answer.Body), call.String())
}

// From the key that ends a call to the accepted change its donor is offered to no agent, whatever became of the lease.
// Then no lease is left.
func TestDonorIsProtectedFromTheKeyOn(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	for _, key := range slices.Sorted(maps.Keys(endings)) {
		for _, loss := range slices.Sorted(maps.Keys(losses)) {
			f := newFloor(t, 2)
			a, _ := f.agentOn(t.TempDir())
			a.press("n")
			a.perform(a.Next())
			call := a.Call.UUID
			losses[loss](a)
			a.press(key)
			endings[key](a)
			if a.Call != nil && a.Call.UUID == call {
				t.Errorf("%s, %s: got the donor on the desk again", key, loss)
			}
			if !slices.Equal(f.pending(), []apitype.UUID{call}) || f.isOffered(call) {
				t.Errorf("%s, %s: got pending %v, offered %t, want %v protected",
					key, loss, f.pending(), f.isOffered(call), call)
			}
			for range 3 {
				a.perform(a.Poll())
			}
			offers := a.Offers(10)
			if slices.ContainsFunc(offers, func(c queue.Candidate) bool { return c.ID == call }) {
				t.Errorf("%s, %s: got the donor among the next ones", key, loss)
			}
			a.sendHeld()
			entries, _, _ := a.Outbox.List()
			if len(entries) != 0 || len(f.pending()) != 0 {
				t.Errorf("%s, %s: got %+v waiting and pending %v, want it sent (%q)",
					key, loss, entries, f.pending(), a.told)
			}
		}
	}
}

// While a change waits, for whatever reason, neither a colleague nor its own agent is given the donor, a quarter of an
// hour and five hours later; also after the desk was closed and opened again.
func TestDonorIsProtectedWhileAChangeWaits(t *testing.T) {
	t.Parallel()
	isEnding := func(method, path string) bool {
		ends := func(end string) bool { return strings.HasSuffix(path, "/"+end) }
		return method != http.MethodGet &&
			slices.ContainsFunc([]string{"complete", "cancel", "expire", "add-attempt", "later"}, ends)
	}
	refuses := func(status int) func(*agent, *faultyLine) {
		return func(_ *agent, line *faultyLine) {
			line.status = func(r *http.Request) int {
				if isEnding(r.Method, r.URL.Path) {
					return status
				}
				return 0
			}
		}
	}
	reasons := map[string]func(a *agent, line *faultyLine){
		"the service fails": refuses(http.StatusServiceUnavailable),
		"refused":           refuses(http.StatusForbidden),
		"the answer is lost": func(_ *agent, line *faultyLine) {
			line.status = func(r *http.Request) int {
				if strings.HasPrefix(r.URL.Path, "/api/v1/calls/") && r.Method == http.MethodGet {
					return http.StatusServiceUnavailable
				}
				return 0
			}
			line.loses = isEnding
		},
		"a correction was refused": func(a *agent, _ *faultyLine) {
			a.f.officeWrites(a.Call.PersonUUID,
				"+31622222222")
		},
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		for _, key := range slices.Sorted(maps.Keys(endings)) {
			if reason != "a correction was refused" {
				whileItWaits(t, key, reason, reasons, false)
				whileItWaits(t, key, reason, reasons, true)
			}
		}
	}
	for _, closes := range []bool{false, true} { // Such a result waits for the answer.
		whileItWaits(t, "ctrl+s with a correction", "a correction was refused", reasons, closes)
	}
}

func whileItWaits(t *testing.T, key, reason string, reasons map[string]func(a *agent, line *faultyLine), closes bool) {
	t.Helper()
	f := newFloor(t, 2)
	dir := t.TempDir()
	a, line := f.agentOn(dir)
	a.press("n")
	a.perform(a.Next())
	call := a.Call.UUID
	reasons[reason](a, line)
	a.press(key)
	endings[key](a)
	a.sendHeld()
	isWaiting := f.call(call).Status == apitype.CallRequested
	if closes {
		a.End()
		f.Clock.Advance(time.Minute)
		a, line = f.agentOn(dir)
		reasons["the service fails"](a, line)
	}
	for _, later := range []time.Duration{9 * time.Minute, 5 * time.Hour} {
		f.Clock.Advance(later)
		a.perform(a.Poll())
		if f.isOffered(call) {
			t.Errorf("%s, %s, closed %t, %v later: got the donor offered, want it protected (%q)",
				key, reason, closes, later, a.told)
		}
		a.press("n")
		if a.perform(a.Next()); a.IsOn(call) {
			t.Errorf("%s, %s, closed %t, %v later: got the agent's own donor again", key, reason, closes, later)
		}
		switch {
		case reason == "a correction was refused" && !closes:
			return // Later the result is sent alone.
		case reason == "the answer is lost" && strings.HasPrefix(key, "a"):
			return // The service has the attempt: the donor rests for four hours.
		}
	}
	if reason != "the answer is lost" && !isWaiting {
		t.Errorf("%s, %s: got the call completed, want the change waiting", key, reason)
	}
}

// Dropped changes give the pending lease back. That of an undone change becomes the lease of the returning card: no
// other agent gets the donor in between.
func TestUndoneChangeReleasesTheDonor(t *testing.T) {
	t.Parallel()
	for _, key := range slices.Sorted(maps.Keys(endings)) {
		f := newFloor(t, 3)
		a, line := f.agentOn(t.TempDir())
		a.press("n")
		a.perform(a.Next())
		call := a.Call.UUID
		a.pollFor(16 * time.Minute)
		a.press(key)
		endings[key](a)
		isLeased := func() bool {
			return slices.ContainsFunc(f.leases(), func(l apitype.Lease) bool { return l.CallUUID == call })
		}
		if !isLeased() {
			t.Fatalf("%s: the call is not leased while its change is held", key)
		}
		line.status = func(r *http.Request) int {
			if !isLeased() {
				t.Errorf("%s: the donor is free at %s %s", key, r.Method, r.URL.Path)
			}
			return 0
		}
		a.press("u")
		a.perform(a.Changes.Undo())
		holds := slices.ContainsFunc(f.leases(), func(l apitype.Lease) bool { return l.CallUUID == call && !l.Pending })
		if !a.IsOn(call) || len(f.pending()) != 0 || !holds {
			t.Errorf("%s: got %+v on the desk, pending %v, leased %t, want the card leased anew",
				key, a.Call, f.pending(), holds)
		}
		f = newFloor(t, 3)
		a = f.agent(t.TempDir())
		a.press("n")
		a.perform(a.Next())
		endings[key](a)
		entries, _, _ := a.Outbox.List()
		for _, e := range entries {
			a.perform(a.Changes.Drop(e))
		}
		if len(f.pending()) != 0 {
			t.Errorf("%s: got pending %v after the change was dropped, want none", key, f.pending())
		}
	}
}

// The lease of a change that was undone offline, before the agent quit, is not kept pending: the next start goes on
// with the call.
func TestUndoneOfflineBeforeTheEnd(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	dir := t.TempDir()
	a, line := f.agentOn(dir)
	a.press("n")
	a.perform(a.Next())
	call := a.Call.UUID
	a.press("a")
	a.perform(a.Finish(disposition.NotReached("")))
	if got := f.pending(); !slices.Equal(got, []apitype.UUID{call}) {
		t.Fatalf("got pending %v, want the call", got)
	}
	line.isCut = true
	a.press("u")
	a.perform(a.Changes.Undo())
	a.Changes.Written()
	a.End()
	b := f.agent(dir)
	if got := f.pending(); len(got) != 0 {
		t.Errorf("got pending %v after the next start, want none", got)
	}
	b.press("n")
	if b.perform(b.Next()); !b.IsOn(call) {
		t.Errorf("got %+v on the desk, want the call of the undone change", b.Call)
	}
}

// A mark that failed is repeated. It is the first thing that is sent once the service can be reached.
func TestMarkIsRepeatedAndSentFirst(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 2)
	a, line := f.agentOn(t.TempDir())
	a.press("n")
	a.perform(a.Next())
	line.isCut = true
	a.press("a")
	a.perform(a.Finish(disposition.NotReached("")))
	a.sendHeld()
	line.isCut, line.sent = false, nil
	f.Clock.Advance(time.Minute)
	if _, err := a.Changes.Sender.SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	changes := slices.DeleteFunc(slices.Clone(line.sent), func(request string) bool {
		return strings.HasPrefix(request, http.MethodGet)
	})
	if len(changes) != 2 ||
		!strings.HasSuffix(changes[0], "/extend") ||
		!strings.HasSuffix(changes[1], "/add-attempt") {
		t.Errorf("got %q, want the mark, then the attempt", changes)
	}
	f = newFloor(t, 2)
	a, line = f.agentOn(t.TempDir())
	a.press("n")
	a.perform(a.Next())
	call := a.Call.UUID
	line.status = func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/extend") {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	a.press("a")
	a.perform(a.Finish(disposition.NotReached("")))
	if len(f.pending()) != 0 {
		t.Fatalf("got pending %v while marks fail", f.pending())
	}
	line.status = nil
	a.perform(a.Poll())
	if !slices.Contains(f.pending(), call) {
		t.Errorf("got pending %v after a poll, want the mark repeated", f.pending())
	}
}

// A take that overtakes the mark brings a donor again after the lease ended. The mark stays, and no agent is offered
// the donor within the hold.
func TestTakeThatOvertakesTheMark(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	a := f.agent(t.TempDir())
	a.press("n")
	a.perform(a.Next())
	call := a.Call.UUID
	f.Clock.Advance(16 * time.Minute)
	a.press("a")
	events := a.Finish(disposition.NotReached(""))
	slices.Reverse(events)
	a.perform(events)
	if !slices.Contains(f.pending(), call) {
		t.Errorf("got pending %v, want %s", f.pending(), call)
	}
	b := f.agent(t.TempDir())
	b.press("n")
	b.perform(b.Next())
	if b.Call != nil && b.Call.UUID == call {
		t.Error("a colleague is offered the donor of a held attempt")
	}
}

// Another terminal of the same agent takes the donor on this screen after the lease ended, and gives her up. Her
// attempt is recorded in between. Its mark stays, no agent is offered the donor, and that terminal has another one.
func TestTakeOfAnotherTerminalLeavesTheDonor(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 4)
	f.user = new(apitype.NewUUID())
	dir := t.TempDir()
	a := f.agent(dir)
	b, line := f.agentOn(dir)
	a.press("n")
	a.perform(a.Next())
	call := a.Call.UUID
	f.Clock.Advance(16 * time.Minute)
	press := sync.OnceFunc(func() {
		a.press("a")
		a.perform(a.Finish(disposition.NotReached("")))
	})
	line.status = func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/release") {
			press()
		}
		return 0
	}
	b.press("n")
	b.perform(b.Next())
	press()
	if !slices.Contains(f.pending(), call) {
		t.Errorf("got pending %v, want %s", f.pending(), call)
	}
	if b.Call == nil || b.IsOn(call) {
		t.Errorf("got %+v on the other terminal, want another donor", b.Call)
	}
	f.user = new(apitype.NewUUID())
	c := f.agent(t.TempDir())
	c.press("n")
	c.perform(c.Next())
	if c.IsOn(call) {
		t.Error("a colleague is offered the donor of a held attempt")
	}
}

// Another terminal of the same agent takes after the key that records an attempt, and before its mark: it has another
// donor.
func TestTakeOfAnotherTerminalBeforeTheMark(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 4)
	f.user = new(apitype.NewUUID())
	dir := t.TempDir()
	a := f.agent(dir)
	b, _ := f.agentOn(dir)
	a.press("n")
	a.perform(a.Next())
	call := a.Call.UUID
	f.Clock.Advance(16 * time.Minute)
	a.press("a")
	marks := a.Finish(disposition.NotReached(""))
	for deadline := time.Now().Add(servicetest.Patience(t, 10*time.Second)); ; { // Another goroutine saves it.
		entries, _, err := a.Outbox.List()
		servicetest.Check(t, err)
		if len(entries) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the attempt is not in the outbox")
		}
	}
	b.press("n")
	b.perform(b.Next())
	if b.Call == nil || b.IsOn(call) {
		t.Errorf("got %+v on the other terminal, want another donor", b.Call)
	}
	a.perform(marks)
	if !slices.Contains(f.pending(), call) {
		t.Errorf("got pending %v, want %s", f.pending(), call)
	}
}

// A freed donor is not leased again by the desk itself. A key of the agent leases the donor.
func TestFreedDonorIsLeasedByAKeyAlone(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 1)
	a := f.agent(t.TempDir())
	a.press("n")
	a.perform(a.Next())
	call := a.Call.UUID
	f.freeAll()
	a.pollFor(2 * time.Minute)
	a.press("R")
	a.perform(a.Refresh())
	if got := f.leases(); len(got) != 0 {
		t.Errorf("got %+v, want no lease without a key", got)
	}
	a.perform(a.KeepLease())
	if got := f.leases(); len(got) != 1 || got[0].CallUUID != call || a.Card().LeaseText() != "" {
		t.Errorf("got %+v and %q, want the donor leased by the key", got, a.Card().LeaseText())
	}
}

// Each key that ends a call, and d, c and i, ask once while the donor is freed or a colleague's, within one poll.
func TestKeysAskOnceForALostDonor(t *testing.T) {
	t.Parallel()
	asking := map[string]func(q *ask.Questions) ask.Answer{
		"a": (*ask.Questions).NotReached,
		"s": (*ask.Questions).Skip,
		"b": (*ask.Questions).AskLater,
		"X": (*ask.Questions).Cancel,
		"e": (*ask.Questions).Expire,
		"ctrl+s": func(q *ask.Questions) ask.Answer {
			return q.Complete()
		},
	}
	for key, does := range asking {
		for _, isTaken := range []bool{false, true} {
			f := newFloor(t, 1)
			a, b := f.agent(t.TempDir()), f.agent(t.TempDir())
			a.press("n")
			a.perform(a.Next())
			a.speak("well")
			f.freeAll()
			if isTaken {
				b.press("n")
				b.perform(b.Next())
			}
			a.pollFor(15 * time.Second)
			first := does(a.Ask)
			if first.Next == nil ||
				!strings.Contains(first.Next.Title, "have this donor") &&
					!strings.Contains(first.Next.Title, "has this donor") {
				t.Errorf("%s, taken %t: got %+v, want a question (%q)", key, isTaken, first, a.Warnings())
				continue
			}
			a.perform(first.Events)
			b.press("n")
			b.perform(b.Next())
			if isGiven := b.Call != nil; isGiven && !isTaken {
				t.Errorf("%s: a colleague is given the donor while the agent is asked", key)
			}
			then := first.Next.Choices[0].Pick()
			isAgain := then.Next != nil && then.Next.Title == first.Next.Title
			if isAgain || a.IsOn(f.calls[0]) && a.Ask.Warned(func() ask.Answer { return ask.Answer{} }) != nil {
				t.Errorf("%s, taken %t: asked twice", key, isTaken)
			}
		}
	}
}

// A skipped donor does not come again before the others, whatever happens to the lease.
func TestSkippedDonorComesAfterTheOthers(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for _, loss := range slices.Sorted(maps.Keys(losses)) {
		f := newFloor(t, 3)
		a, _ := f.agentOn(t.TempDir())
		a.press("n")
		a.perform(a.Next())
		call := a.Call.UUID
		losses[loss](a)
		a.press("s")
		a.perform(a.Skip())
		a.line.status = nil
		a.pollFor(30 * time.Second)
		if a.Call == nil || a.Call.UUID == call {
			t.Errorf("%s: got %+v, want another donor", loss, a.Call)
		}
	}
}

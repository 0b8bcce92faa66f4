package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// enoughTime is how long an action may take if its length is not the subject.
const enoughTime = 5 * time.Minute

// ledger holds the answers to the clients of a service that fails now and then: confirmed changes, and possible ones.
type ledger struct {
	t                   testing.TB
	organization, token string
	unfailing           bool // The service may not even answer with 503.

	moving sync.RWMutex // Held by requests for reading.
	urls   []string     // Of the processes.

	mu     sync.Mutex
	calls  map[string]*ledgerCall
	kept   []int           // Changes that were acknowledged, by process.
	last   []time.Time     // When the latest of them was.
	gap    []time.Duration // The longest time without any.
	moved  *sync.Cond      // Something was acknowledged.
	ending bool
}

// ledgerCall holds what is known about a call.
type ledgerCall struct {
	attempts  map[string]bool // By their times; true: acknowledged.
	completed bool
}

func newLedger(t testing.TB, organization, token string, urls ...string) *ledger {
	l := &ledger{t: t, urls: urls, organization: organization, token: token, calls: map[string]*ledgerCall{}}
	l.kept, l.last, l.gap = make([]int, len(urls)), make([]time.Time, len(urls)), make([]time.Duration, len(urls))
	l.moved = sync.NewCond(&l.mu)
	return l
}

// write lets writers work at each process until the function that is returned ends them.
func (l *ledger) write(writers int) func() {
	var group sync.WaitGroup
	for process := range l.urls {
		for range writers {
			group.Go(func() {
				for l.work(process) {
				}
			})
		}
	}
	return func() {
		l.mu.Lock()
		l.ending = true
		l.mu.Unlock()
		group.Wait()
	}
}

// more waits until each process has acknowledged some more changes.
func (l *ledger) more(changes int) {
	l.t.Helper()
	late := time.AfterFunc(enoughTime, func() {
		l.t.Errorf("after %v not every process has kept %d more changes", enoughTime, changes)
		l.moved.Broadcast()
	})
	defer late.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	before := append([]int(nil), l.kept...)
	for process := range l.kept {
		for l.kept[process] < before[process]+changes && !l.t.Failed() {
			l.moved.Wait()
		}
	}
}

// gaps returns the longest times without an acknowledged change, by process, since it was asked last.
func (l *ledger) gaps() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var gaps []time.Duration
	for process := range l.gap {
		gaps = append(gaps, l.gap[process].Round(10*time.Millisecond))
		l.gap[process] = 0
	}
	return gaps
}

// work makes a person and a call, tries it twice and completes it, at one process.
func (l *ledger) work(process int) bool {
	person, call := apitype.NewUUID().String(), apitype.NewUUID().String()
	path := "/api/v1/calls/" + call + "/actions/"
	known := &ledgerCall{attempts: map[string]bool{}}
	return l.until(
		process,
		"POST",
		"/api/v1/persons",
		fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`,
			person, l.organization, l.organization),
	) &&
		l.until(process, "POST", "/api/v1/calls",
			fmt.Sprintf(`{"uuid":%q,"personUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, call, person)) &&
		l.know(call, known) &&
		l.attempt(process, path, known, "2026-11-20T10:00:00.000Z") &&
		l.attempt(process, path, known, "2026-11-20T11:00:00.000Z") &&
		l.until(process, "PUT", path+"complete", `{"result":{"resultCode":"1"}}`) &&
		l.complete(known)
}

func (l *ledger) know(call string, known *ledgerCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[call] = known
	return true
}

func (l *ledger) complete(known *ledgerCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known.completed = true
	return true
}

// until sends a change that may be repeated until it is kept. The first answer to a creation may
// have been lost: then it is there.
func (l *ledger) until(process int, method, path, body string) bool {
	for first := true; ; first = false {
		status, more := l.send(process, method, path, body)
		switch {
		case status == http.StatusOK, status == http.StatusCreated, status == http.StatusConflict &&
			!first &&
			method == "POST":
			l.keep(process)
			return more
		case !more:
			return false
		}
	}
}

// attempt sends an attempt once, and it may count once.
func (l *ledger) attempt(process int, path string, known *ledgerCall, at string) bool {
	l.mu.Lock()
	known.attempts[at] = false
	l.mu.Unlock()
	status, more := l.send(process, "PUT", path+"add-attempt", fmt.Sprintf(`{"attemptAt":%q}`, at))
	if status == http.StatusOK {
		l.mu.Lock()
		known.attempts[at] = true
		l.mu.Unlock()
		l.keep(process)
	}
	return more
}

// send is one request. Nothing but 503 may keep a change from being made.
func (l *ledger) send(process int, method, path, body string) (int, bool) {
	l.moving.RLock()
	status, answer := send(l.t, method, l.urls[process]+path, l.token, body)
	l.moving.RUnlock()
	switch status {
	case http.StatusOK, http.StatusCreated:
	case http.StatusConflict, http.StatusServiceUnavailable:
		if !l.unfailing {
			break
		}
		fallthrough
	default:
		l.t.Errorf("%s %s at process %d: got %d %s, want it done, or 503 where it may fail",
			method, path, process, status, answer)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return status, !l.ending && !l.t.Failed()
}

// move sends what a process was sent to another one from now on.
func (l *ledger) move(process int, url string) {
	l.moving.Lock()
	defer l.moving.Unlock()
	l.urls[process] = url
}

// keep notes that a change was acknowledged.
func (l *ledger) keep(process int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !l.last[process].IsZero() {
		l.gap[process] = max(l.gap[process], now.Sub(l.last[process]))
	}
	l.last[process] = now
	l.kept[process]++
	l.moved.Broadcast()
}

// verify compares what was acknowledged with what a process shows.
func (l *ledger) verify(url string) {
	l.t.Helper()
	lost, changes := 0, 0
	for call, known := range l.calls {
		status, answer := send(l.t, "GET", url+"/api/v1/calls/"+call, l.token, "")
		var shown apitype.Call
		if err := json.Unmarshal([]byte(answer), &shown); err != nil || status != http.StatusOK {
			l.t.Errorf("call %s, which was acknowledged: got %d %s", call, status, answer)
			continue
		}
		count := map[string]int{}
		for _, attempt := range shown.Attempts.Value() {
			count[attempt.AttemptAt.String()]++
		}
		for at, acknowledged := range known.attempts {
			if n := count[at]; n > 1 || acknowledged && n == 0 {
				l.t.Errorf("call %s, attempt of %s, acknowledged %v: it is there %d times", call, at, acknowledged, n)
				lost++
			}
			delete(count, at)
			changes++
		}
		if len(count) > 0 || known.completed && shown.Status != apitype.CallCompleted {
			l.t.Errorf("call %s, completed %v: it is %s and has the attempts %v, which nobody made",
				call, known.completed, shown.Status, count)
		}
	}
	if len(l.calls) == 0 || changes == 0 {
		l.t.Error("nothing was acknowledged")
	}
	l.t.Logf("%d calls, %d attempts, %d of them lost or counted twice", len(l.calls), changes, lost)
}

package httpapi

import (
	"net/http"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// flight weighs what is held in memory for requests at once, so that many large ones do not
// take the memory of everybody: all of it together, and that of each account. One weighs the
// bodies that are being read and worked on, another the answers that are being sent.
// Spec gap: S32.
type flight struct {
	mu         sync.Mutex
	all        int64
	ofAccounts map[apitype.UUID]int64
}

func newFlight() *flight { return &flight{ofAccounts: map[apitype.UUID]int64{}} }

// errFlight is the refusal of what does not fit; the caller may come again.
var errFlight = &service.Error{Kind: service.Unavailable, Detail: "too much is being read from or sent to the account, or to all accounts"}

// enter weighs something of an account until leave is called. What does not fit is refused,
// unless it must enter; the first of an account always fits into its share.
func (f *flight) enter(account apitype.UUID, weight int64, must bool) (leave func(), err error) {
	if weight == 0 {
		return func() {}, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	own := f.ofAccounts[account]
	if !must && (f.all+weight > apitype.MaxInFlight || own > 0 && own+weight > apitype.MaxInFlightOfOne) {
		return nil, errFlight
	}
	f.all += weight
	f.ofAccounts[account] += weight
	return func() { f.leave(account, weight) }, nil
}

// isFull reports whether an account has all that it may have in flight.
func (f *flight) isFull(account apitype.UUID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ofAccounts[account] >= apitype.MaxInFlightOfOne
}

func (f *flight) leave(account apitype.UUID, weight int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all -= weight
	if f.ofAccounts[account] -= weight; f.ofAccounts[account] == 0 {
		delete(f.ofAccounts, account)
	}
}

// bodyWeight is how much of a body is read at most: one that is too large is refused and
// not kept.
func bodyWeight(r *http.Request) int64 {
	switch {
	case r.Body == nil || r.Body == http.NoBody || r.ContentLength > apitype.MaxBody:
		return 0
	case r.ContentLength < 0:
		return apitype.MaxBody
	default:
		return r.ContentLength
	}
}

package httpapi

import (
	"net/http"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// flight weighs the bodies that are being read and worked on, so that many large ones at
// once do not take the memory of everybody: all of them together, and those of each account.
// Spec gap: S32.
type flight struct {
	mu         sync.Mutex
	all        int64
	ofAccounts map[apitype.UUID]int64
}

func newFlight() *flight { return &flight{ofAccounts: map[apitype.UUID]int64{}} }

// enter weighs the body of a request until leave is called. What does not fit is refused;
// the caller may come again.
func (f *flight) enter(account apitype.UUID, r *http.Request) (leave func(), err error) {
	weight := bodyWeight(r)
	if weight == 0 {
		return func() {}, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all+weight > apitype.MaxBodiesInFlight || f.ofAccounts[account]+weight > apitype.MaxBodiesOfOneCaller {
		return nil, &service.Error{Kind: service.Unavailable, Detail: "too many large requests are being worked on"}
	}
	f.all += weight
	f.ofAccounts[account] += weight
	return func() { f.leave(account, weight) }, nil
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

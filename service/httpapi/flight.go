package httpapi

import (
	"net/http"
	"sync"
	"time"

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

// refusalPause is how long a refusal takes. Whoever sends a mebibyte as soon as the last one was
// refused would keep a processor busy with receiving them.
const refusalPause = 250 * time.Millisecond

// enter weighs something of an account until leave is called. What does not fit is refused,
// unless it must enter; the first of an account always fits into its share.
func (f *flight) enter(account apitype.UUID, weight int64, must bool) (leave func(), err error) {
	if weight == 0 {
		return func() {}, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !must && !f.fits(account, weight) {
		return nil, errFlight
	}
	f.all += weight
	f.ofAccounts[account] += weight
	return func() { f.leave(account, weight) }, nil
}

func (f *flight) fits(account apitype.UUID, weight int64) bool {
	own := f.ofAccounts[account]
	return f.all+weight <= apitype.MaxInFlight && (own == 0 || own+weight <= apitype.MaxInFlightOfOne)
}

// hasRoom reports whether so much of an account would be let in.
func (f *flight) hasRoom(account apitype.UUID, weight int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fits(account, weight)
}

func (f *flight) leave(account apitype.UUID, weight int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all -= weight
	if f.ofAccounts[account] -= weight; f.ofAccounts[account] == 0 {
		delete(f.ofAccounts, account)
	}
}

// admit lets a request in that there is room for, when its time has come.
func (a *api) admit(w http.ResponseWriter, r *http.Request, account apitype.UUID) (leave func(), err error) {
	leave, err = a.bodies.enter(account, bodyWeight(r), false)
	if err == nil && !a.answers.hasRoom(account, 1) {
		leave()
		err = errFlight
	}
	if err != nil {
		_ = service.Pause(r.Context(), refusalPause) // Who left is not told anyway.
	} else if recorded, ok := w.(*recorder); ok {
		if err = recorded.pace(r.Context(), bodyWeight(r)); err != nil {
			leave()
		}
	}
	if err != nil {
		drain(w, r)
	}
	return leave, err
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

package httpapi

import (
	"cmp"
	"context"
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

// errFlight is the refusal of what does not fit.
var errFlight = service.ErrNoRoom

// refusalPause is how long a refusal takes. A client that sends a mebibyte as soon as the last one was
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
	f.ofAccounts[account] += share(weight)
	return func() { f.leave(account, weight) }, nil
}

// share is what something takes of the share of its account. One that is larger leaves a little: what
// weighs nothing passes beside it.
func share(weight int64) int64 {
	if weight > apitype.MaxInFlightOfOne {
		return apitype.MaxInFlightOfOne - 1<<20
	}
	return weight
}

// isFull reports whether an account has taken its share.
func (f *flight) isFull(account apitype.UUID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ofAccounts[account] >= apitype.MaxInFlightOfOne
}

func (f *flight) fits(account apitype.UUID, weight int64) bool {
	own := f.ofAccounts[account]
	return f.all+weight <= apitype.MaxInFlight && (own == 0 || own+share(weight) <= apitype.MaxInFlightOfOne)
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
	if f.ofAccounts[account] -= share(weight); f.ofAccounts[account] == 0 {
		delete(f.ofAccounts, account)
	}
}

// admit lets a request in that there is room for, when its body may be read.
func (a *api) admit(w http.ResponseWriter, r *http.Request, account apitype.UUID) (leave func(), err error) {
	weight := bodyWeight(r)
	leave, err = a.bodies.enter(account, weight, false)
	if err == nil && a.answers.isFull(account) {
		leave()
		err = errFlight
	}
	if err != nil {
		_ = service.Pause(r.Context(), refusalPause) // A caller that left is not told anyway.
	} else if err = a.pacer.pay(r.Context(), account, weight, false); err != nil {
		leave()
	}
	if err != nil {
		drain(w, r)
	}
	return leave, err
}

// room waits for the turn of a heavy answer, and until it fits: the answer to a change waits a while for
// that, since it is about to be given.
func (a *api) room(ctx context.Context, w *recorder, must bool) error {
	if err := a.heavy.Take(ctx); err != nil {
		return err
	}
	w.endHeavy = func() { a.heavy.End(ctx) }
	for tries := longestPause / refusalPause; !a.answers.hasRoom(w.account, apitype.MaxPageBytes); tries-- {
		if !must {
			w.leaveHeavy()
		}
		if err := service.Pause(ctx, refusalPause); err != nil || !must || tries == 0 {
			return cmp.Or(err, error(errFlight))
		}
	}
	return nil
}

// send weighs an answer of an account until leave is called, and waits until it is paid for. An
// answer that must be sent is never refused: a change was made.
func (a *api) send(ctx context.Context, account apitype.UUID, sent, weight int64, must bool) (leave func(), err error) {
	if sent < heavyFrom {
		sent = 0
	}
	if leave, err = a.answers.enter(account, sent, must); err != nil {
		_ = service.Pause(ctx, refusalPause)
		return leave, err
	}
	if err = a.pacer.pay(ctx, account, weight, must); err != nil {
		leave()
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

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

// flight limits the memory of concurrent requests, in total and for each account, so that large ones leave some for
// others. One flight weighs bodies that are read and processed, another one answers that are sent. Spec gap: S32.
type flight struct {
	mu         sync.Mutex
	all        int64
	ofAccounts map[apitype.UUID]int64
}

func newFlight() *flight { return &flight{ofAccounts: map[apitype.UUID]int64{}} }

// refusalPause is how long a refusal takes. A client that sends a mebibyte after each refusal would keep a processor
// busy with receiving them.
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
		return nil, service.ErrNoRoom
	}
	f.all += weight
	f.ofAccounts[account] += share(weight)
	return func() { f.leave(account, weight) }, nil
}

// share returns the part of an account's share that a weight takes. A larger weight leaves a little, so that requests
// without weight pass.
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
		err = service.ErrNoRoom
	}
	if err != nil {
		_ = service.Pause(r.Context(), refusalPause) // The caller has left.
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
	if err := w.heavy.take(ctx, a.heavy); err != nil {
		return err
	}
	for tries := longestPause / refusalPause; !a.answers.hasRoom(w.account, apitype.MaxPageBytes); tries-- {
		if !must {
			w.heavy.leave()
		}
		if err := service.Pause(ctx, refusalPause); err != nil || !must || tries == 0 {
			return cmp.Or(err, error(service.ErrNoRoom))
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

// bodyWeight returns how much of a body is read at most: a larger one is refused.
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

// heavyFrom is the length from which a body or an answer is heavy, in bytes. A heavy one is processed in turn, counts
// against the rate, and is weighed while it is sent. The system takes a shorter answer at once, however slowly the
// client reads it.
const heavyFrom = 64 << 10

const (
	atWorkFor    = 5 * time.Second // After an answer that is not heavy an account is at work.
	longestPause = 2 * time.Second // What had to wait longer is refused.
)

// pacer spreads the heavy bodies and answers of an account over time while other accounts are at
// work. One account that sends and asks for as much as it can would keep the processors busy with
// bytes, and the collector, and everybody would wait. An account alone waits for nothing. Each is
// paid for when it is sent, by its weight, so that the light requests of an account never wait for
// its heavy ones. Spec gap: S32.
type pacer struct {
	mu       sync.Mutex
	free     map[apitype.UUID]time.Time // When what an account had is paid for.
	latest   apitype.UUID               // The account that was at work last,
	latestAt time.Time
	othersAt time.Time // and when any other one was.
}

func newPacer() *pacer { return &pacer{free: map[apitype.UUID]time.Time{}} }

// paced returns how long so many bytes of an account take.
func paced(weight int64) time.Duration {
	return time.Duration(weight) * time.Second / apitype.MaxPaced
}

// pay charges an account for a body or an answer, if it is heavy, and waits until what the account
// had before is paid for. What would wait too long is refused after a pause, unless it must be sent.
func (p *pacer) pay(ctx context.Context, account apitype.UUID, weight int64, must bool) (err error) {
	if weight < heavyFrom {
		return nil
	}
	pause := p.charge(account, weight, time.Now())
	if pause <= 0 {
		return nil
	}
	if pause > longestPause {
		if pause = longestPause; !must {
			pause, err = refusalPause, service.ErrNoRoom
		}
	}
	if err = cmp.Or(service.Pause(ctx, pause), err); err == nil || must {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free[account] = p.free[account].Add(-paced(weight))
	return err
}

// charge returns how long the account has to wait, and moves the time at which it is free again.
func (p *pacer) charge(account apitype.UUID, weight int64, now time.Time) (pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.latestAt
	if account == p.latest {
		at = p.othersAt
	}
	if now.Sub(at) >= atWorkFor { // No other account is at work.
		return 0
	}
	free := p.free[account]
	pause = free.Sub(now)
	if pause < 0 {
		free = now
	}
	p.free[account] = free.Add(paced(weight))
	return pause
}

// atWork notes a request of an account that was not heavy.
func (p *pacer) atWork(account apitype.UUID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if account != p.latest {
		p.othersAt, p.latest = p.latestAt, account
	}
	p.latestAt = time.Now()
}

package httpapi

import (
	"cmp"
	"context"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// heavyFrom is how long a body or an answer is that is heavy, in bytes: it is worked on in turn,
// paced, and weighed while it is sent. A shorter answer is with the system at once, however slowly
// it is read.
const heavyFrom = 64 << 10

const (
	atWorkFor    = 5 * time.Second  // After an answer that is not heavy an account is at work.
	heavyFor     = 10 * time.Second // After a heavy answer the next of the route is expected to be heavy.
	longestPause = 2 * time.Second  // What had to wait longer is refused.

	expectedPage = 512 << 10 // Bytes of a large page, before one was made.
	callWeight   = 2 << 10   // Bytes that a call weighs about which a change decided anew when it may be given.
)

// pacer spreads the heavy requests of an account over time while other accounts are at work. One
// account that sends and asks for as much as it can would keep the processors busy with bytes, and
// the collector, and everybody would wait. An account alone waits for nothing. Spec gap: S32.
type pacer struct {
	mu       sync.Mutex
	accounts map[apitype.UUID]*pace // Of those that had a heavy request.
	latest   apitype.UUID           // Who was at work last,
	latestAt time.Time
	othersAt time.Time // and when anybody else was.
}

// pace is that of an account.
type pace struct {
	free    time.Time              // When the next heavy request may begin.
	answers map[string]heavyAnswer // The last one of each route.
}

type heavyAnswer struct {
	weight int64
	at     time.Time
}

func newPacer() *pacer { return &pacer{accounts: map[apitype.UUID]*pace{}} }

// paced is how long so many bytes of an account take.
func paced(weight int64) time.Duration {
	return time.Duration(weight) * time.Second / apitype.MaxPaced
}

// wait lets a request wait that has a heavy body, or has the route of a heavy answer of the
// account. It is the weight that was reckoned with, for answered.
func (p *pacer) wait(ctx context.Context, account apitype.UUID, route string, body int64) (reserved int64, err error) {
	now := time.Now()
	reserved, pause := p.reserve(account, route, body, now)
	if pause <= 0 {
		return reserved, nil
	}
	if pause > longestPause {
		pause, err = refusalPause, errFlight
	}
	if err = cmp.Or(service.Pause(ctx, pause), err); err == nil {
		return reserved, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts[account].free = p.accounts[account].free.Add(-paced(reserved))
	return 0, err
}

// pace lets a request wait that is heavy, or expected to be.
func (w *recorder) pace(ctx context.Context, body int64) (err error) {
	if w.reserved, err = w.api.pacer.wait(ctx, w.account, w.route, body); err == nil {
		w.body = body
	}
	return err
}

// answered tells the pacer of an answer.
func (w *recorder) answered(weight int) {
	if w.api != nil {
		w.api.pacer.answered(w.account, w.route, w.reserved, w.body, int64(weight)+callWeight*w.decided.Load())
		w.reserved, w.body = 0, 0 // An answer that is refused is followed by the refusal.
	}
}

// reserve finds the next time at which a request may begin.
func (p *pacer) reserve(account apitype.UUID, route string, body int64, now time.Time) (reserved int64, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.othersAtWork(account, now) {
		return 0, 0
	}
	a := p.of(account)
	if last := a.answers[route]; now.Sub(last.at) < heavyFor {
		reserved = last.weight
	}
	if body >= heavyFrom {
		reserved += body
	}
	if reserved == 0 {
		return 0, 0
	}
	pause = a.free.Sub(now)
	a.spend(reserved, now)
	return reserved, pause
}

// answered notes what the answer to a request weighs.
func (p *pacer) answered(account apitype.UUID, route string, reserved, body, answer int64) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var weight int64
	if body >= heavyFrom {
		weight = body
	}
	if answer >= heavyFrom {
		weight += answer
		p.of(account).answers[route] = heavyAnswer{answer, now}
	}
	if weight == 0 {
		p.atWork(account, now)
	}
	if reserved > 0 || weight > 0 && p.othersAtWork(account, now) {
		p.of(account).spend(weight-reserved, now)
	}
}

// spend moves the time at which the account is free again.
func (a *pace) spend(weight int64, now time.Time) {
	if a.free.Before(now) {
		a.free = now
	}
	a.free = a.free.Add(paced(weight))
}

func (p *pacer) of(account apitype.UUID) *pace {
	a, ok := p.accounts[account]
	if !ok {
		a = &pace{answers: map[string]heavyAnswer{}}
		p.accounts[account] = a
	}
	return a
}

func (p *pacer) atWork(account apitype.UUID, now time.Time) {
	if account != p.latest {
		p.othersAt, p.latest = p.latestAt, account
	}
	p.latestAt = now
}

func (p *pacer) othersAtWork(account apitype.UUID, now time.Time) bool {
	at := p.latestAt
	if account == p.latest {
		at = p.othersAt
	}
	return now.Sub(at) < atWorkFor
}

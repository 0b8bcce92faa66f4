package service

import (
	"context"
	"slices"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// Turns limits how many requests use a scarce resource at a time, such as a connection or a processor. After each
// turn, the next one goes to the account with the fewest turns, and among those to the account that has waited
// longest. So an account with many requests waits for itself. Use NewTurns. Turns is safe for concurrent use.
type Turns struct {
	mu       sync.Mutex
	size     int
	held     int
	given    uint64 // Turns so far.
	accounts map[apitype.UUID]*accountTurns
	waiting  []*waiter // In the order in which they came.
}

// accountTurns has the turns of an account that has some, or waits.
type accountTurns struct {
	held, waiting int
	last          uint64 // The number of turns given when it got its last one.
}

type waiter struct {
	account apitype.UUID
	granted chan struct{}
}

// NewTurns returns Turns that admit size requests at a time.
func NewTurns(size int) *Turns {
	return &Turns{size: size, accounts: map[apitype.UUID]*accountTurns{}}
}

// Size returns how many turns there are.
func (t *Turns) Size() int { return t.size }

// Held returns how many turns are in use.
func (t *Turns) Held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held
}

// TryTake takes a turn for the account of a context if one is free; End gives it back.
func (t *Turns) TryTake(ctx context.Context) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == t.size { // With one free no request waits.
		return false
	}
	t.grant(RequestOf(ctx).Account)
	return true
}

// Take waits for a turn until the context ends; End gives it back.
func (t *Turns) Take(ctx context.Context) error {
	w := &waiter{RequestOf(ctx).Account, make(chan struct{})}
	t.mu.Lock()
	if t.held < t.size {
		t.grant(w.account)
		t.mu.Unlock()
		return nil
	}
	t.of(w.account).waiting++
	t.waiting = append(t.waiting, w)
	t.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting, w); i >= 0 {
		t.leave(i)
		t.forget(w.account)
	} else { // It got a turn in between.
		t.end(w.account)
	}
	return ctx.Err()
}

// End ends a turn of the account of a context.
func (t *Turns) End(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end(RequestOf(ctx).Account)
}

func (t *Turns) of(account apitype.UUID) *accountTurns {
	a, ok := t.accounts[account]
	if !ok {
		a = &accountTurns{}
		t.accounts[account] = a
	}
	return a
}

func (t *Turns) grant(account apitype.UUID) {
	a := t.of(account)
	t.held++
	t.given++
	a.held++
	a.last = t.given
}

func (t *Turns) leave(i int) {
	t.of(t.waiting[i].account).waiting--
	t.waiting = slices.Delete(t.waiting, i, i+1)
}

func (t *Turns) forget(account apitype.UUID) {
	if a := t.of(account); a.held == 0 && a.waiting == 0 {
		delete(t.accounts, account)
	}
}

// isBefore reports whether an account gets a turn before another one: it holds fewer, or got its last one earlier.
func (a *accountTurns) isBefore(b *accountTurns) bool {
	if a.held != b.held {
		return a.held < b.held
	}
	return a.last < b.last
}

func (t *Turns) end(account apitype.UUID) {
	t.held--
	t.of(account).held--
	next, least := -1, (*accountTurns)(nil)
	for i, w := range t.waiting {
		if a := t.of(w.account); next < 0 || a.isBefore(least) {
			next, least = i, a
		}
	}
	if next >= 0 {
		w := t.waiting[next]
		t.leave(next)
		t.grant(w.account)
		close(w.granted)
	}
	t.forget(account)
}

// Pause lets time pass, unless the context ends before.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

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
// paid for, and weighed while it is sent. A shorter answer is with the system at once, however slowly
// it is read.
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

// paced is how long so many bytes of an account take.
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
			pause, err = refusalPause, errFlight
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

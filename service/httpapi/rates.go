package httpapi

import (
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"fundesk/apiclient/apitype"
)

// rates limits the requests of each account. An account may make the requests of one second at once, and one request at
// least. Nil means unlimited. Spec gap: R2.
type rates struct {
	perSecond rate.Limit
	burst     int
	header    []string // Of X-RateLimit-Limit, in whole requests.
	now       func() time.Time

	mu       sync.Mutex
	accounts map[apitype.UUID]*rate.Limiter
}

func newRates(perSecond float64, now func() time.Time) *rates {
	if now == nil {
		now = time.Now
	}
	burst := max(1, int(perSecond))
	return &rates{
		perSecond: rate.Limit(perSecond),
		burst:     burst,
		header:    []string{strconv.Itoa(burst)},
		now:       now,
		accounts:  map[apitype.UUID]*rate.Limiter{},
	}
}

// take counts one request of an account. If the account must wait, the request does not count, and take returns for how
// long.
func (r *rates) take(account apitype.UUID) (wait time.Duration) {
	if r == nil {
		return 0
	}
	now := r.now()
	request := r.limiter(account).ReserveN(now, 1)
	wait = request.DelayFrom(now)
	if wait > 0 {
		request.CancelAt(now)
	}
	return wait
}

func (r *rates) limiter(account apitype.UUID) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	limiter, ok := r.accounts[account]
	if !ok {
		limiter = rate.NewLimiter(r.perSecond, r.burst)
		r.accounts[account] = limiter
	}
	return limiter
}

package httpapi

import (
	"math"
	"strconv"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// rates limits the requests of each account: a bucket that fills at the rate, and holds
// one second's worth. Nil takes everything. Spec gap: R2.
type rates struct {
	perSecond float64
	limit     []string // The header that tells it, in whole requests, 1 at least.
	now       func() time.Time
	mu        sync.Mutex
	buckets   map[apitype.UUID]*bucket
}

type bucket struct {
	tokens float64
	filled time.Time
}

func newRates(perSecond float64, now func() time.Time) *rates {
	if now == nil {
		now = time.Now
	}
	limit := strconv.FormatFloat(math.Max(1, math.Floor(perSecond)), 'f', 0, 64)
	return &rates{perSecond: perSecond, limit: []string{limit}, now: now, buckets: map[apitype.UUID]*bucket{}}
}

// take counts a request of an account; wait is how long until one is free, 0 when this
// one was.
func (r *rates) take(account apitype.UUID) (wait time.Duration) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, size := r.now(), math.Max(1, r.perSecond)
	b, ok := r.buckets[account]
	if !ok {
		b = &bucket{tokens: size, filled: now}
		r.buckets[account] = b
	}
	b.tokens = math.Min(size, b.tokens+now.Sub(b.filled).Seconds()*r.perSecond)
	b.filled = now
	if b.tokens < 1 {
		return time.Duration((1 - b.tokens) / r.perSecond * float64(time.Second))
	}
	b.tokens--
	return 0
}

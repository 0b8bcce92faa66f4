package sqlstore

import (
	"sync"
	"time"

	"fundesk/service"
)

// ProbePause is the time for which the answer of a probe is valid: all probes in that time make one write. Tests with a
// failing disk shorten it.
var ProbePause = 5 * time.Second

// probe lets the database make a small change durable, to see whether it takes changes. It is safe for concurrent use.
type probe struct {
	mu  sync.Mutex
	at  time.Time // The time of the last write. Zero if there was none.
	err error     // How it ended.
}

// ask returns whether a change works. hasFailed means that a change has failed since the last success.
func (p *probe) ask(hasFailed func() bool, write func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	isFresh := !p.at.IsZero() && time.Since(p.at) < ProbePause
	if isFresh && p.err == nil && hasFailed() {
		return &service.Error{Kind: service.Unavailable, Detail: "the database has just refused a change"}
	}
	if isFresh && (p.err == nil || hasFailed()) {
		return p.err
	}
	p.err = write()
	p.at = time.Now()
	return p.err
}

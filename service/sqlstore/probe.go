package sqlstore

import (
	"sync"
	"time"

	"fundesk/service"
)

// ProbePause is how long the answer of a probe holds: probes of any number of callers make one write in that time.
// Tests that let a disk fail shorten it.
var ProbePause = 5 * time.Second

// probe lets the database make a small change durable, to see whether it takes changes. It is safe for concurrent use.
type probe struct {
	mu  sync.Mutex
	at  time.Time // Of the last write. Zero: none.
	err error     // How it ended.
}

// ask returns whether a change works. hasFailed says that a change has failed since one worked.
func (p *probe) ask(hasFailed func() bool, write func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	isFresh := !p.at.IsZero() && time.Since(p.at) < ProbePause
	switch {
	case isFresh && p.err == nil && hasFailed():
		return &service.Error{Kind: service.Unavailable, Detail: "the database has just refused a change"}
	case isFresh && (p.err == nil || hasFailed()):
		return p.err
	}
	p.err = write()
	p.at = time.Now()
	return p.err
}

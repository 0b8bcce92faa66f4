package servicetest

import (
	"sync"
	"testing"
)

// Cases run those cases of a test that mostly wait. Some run at a time, whatever the number of processors: -parallel
// counts them, and delays cases that need none.
type Cases struct {
	t       *testing.T
	seats   chan struct{}
	running sync.WaitGroup
}

// NewCases lets n cases of a test run at a time.
func NewCases(t *testing.T, n int) *Cases {
	t.Helper()
	return &Cases{t: t, seats: make(chan struct{}, n)}
}

// Run runs a subtest as soon as there is room.
func (c *Cases) Run(name string, test func(t *testing.T)) {
	c.running.Go(func() {
		c.seats <- struct{}{}
		defer func() { <-c.seats }()
		c.t.Run(name, test)
	})
}

// Wait waits for all of them, which the test must do before it ends.
func (c *Cases) Wait() { c.running.Wait() }

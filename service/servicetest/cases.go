package servicetest

import (
	"sync"
	"testing"
)

// Cases are those of a test that mostly wait. Some run at a time, however many processors there
// are: -parallel, which counts them, holds up what needs none.
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

// Run is testing.T's, as soon as there is a seat.
func (c *Cases) Run(name string, test func(t *testing.T)) {
	c.running.Go(func() {
		c.seats <- struct{}{}
		defer func() { <-c.seats }()
		c.t.Run(name, test)
	})
}

// Wait waits for all of them, which the test must do before it ends.
func (c *Cases) Wait() { c.running.Wait() }

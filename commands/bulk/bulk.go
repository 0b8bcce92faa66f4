// Package bulk is what commands on many records share: the identifiers and lines that they
// read, how many requests run at a time, when it makes no sense to go on, and the results
// that let a later run go on where this one ended.
//
// It must not know the command line, how anything is shown, nor which noun is changed.
//
//	ids, err := bulk.ReadTargets(os.Stdin)
//	for outcome := range bulk.InOrder(ctx, bulk.DefaultConcurrency, slices.Values(ids), client.Calls.Get) {
//		fmt.Println(outcome.Item, outcome.Err)
//	}
package bulk

import (
	"context"
	"iter"
	"sync/atomic"

	"fundesk/apiclient"
)

// DefaultConcurrency is the number of requests of a bulk operation at a time. MaxConcurrency keeps one user from
// overloading a service.
const (
	DefaultConcurrency = 4
	MaxConcurrency     = 64
)

// Fault is input that was refused before any request, with a hint if there is one.
type Fault struct{ Message, Hint string }

// Error returns the message.
func (f *Fault) Error() string { return f.Message }

// Outcome is the result for one item.
type Outcome[I, V any] struct {
	Item  I
	Value V
	Err   error
}

// window is the number of outcomes that may wait for a slower one before them.
const window = 256

// InOrder runs do for each item, several at a time, and yields the results in the order of the items. It takes no more
// items than it works on. When the caller stops, or the context ends, it starts no further one and waits for the
// running ones.
func InOrder[I, V any](
	ctx context.Context,
	concurrency int,
	items iter.Seq[I],
	do func(context.Context, I) (V, error),
) iter.Seq[Outcome[I, V]] {
	return func(yield func(Outcome[I, V]) bool) {
		type job struct {
			item   I
			answer chan Outcome[I, V]
		}
		jobs := make(chan job)
		pending := make(chan chan Outcome[I, V], window)
		stop := make(chan struct{})
		work := func() { // Many items share one goroutine, because a new goroutine grows its stack again.
			for j := range jobs {
				value, err := do(ctx, j.item)
				j.answer <- Outcome[I, V]{Item: j.item, Value: value, Err: err}
			}
		}
		go func() {
			defer close(pending)
			defer close(jobs)
			workers := 0
			for item := range items {
				if workers < max(1, concurrency) {
					workers++
					go work()
				}
				j := job{item: item, answer: make(chan Outcome[I, V], 1)}
				select {
				case jobs <- j:
					pending <- j.answer
				case <-stop:
					return
				}
			}
		}()
		stopped := false
		for answer := range pending {
			outcome := <-answer
			if !stopped && !yield(outcome) {
				stopped = true
				close(stop)
			}
		}
	}
}

// maxUnavailable is the number of consecutive items without a service after which the operation stops. Each was tried
// several times already.
const maxUnavailable = 20

// outages counts the items in a row that found no service. Several goroutines use it.
type outages struct{ atomic.Int32 }

// isHopeless looks at the result of one item, and reports whether the operation is to stop: the
// service takes nothing from this account, or is not there.
func (o *outages) isHopeless(err error) bool {
	switch apiclient.KindOf(err) {
	case apiclient.KindUnauthenticated, apiclient.KindForbidden:
		return true
	case apiclient.KindUnavailable, apiclient.KindUnknownOutcome:
		return o.Add(1) >= maxUnavailable
	default:
		o.Store(0)
		return false
	}
}

// Each returns what of makes of each of some values.
func Each[T, R any](values iter.Seq[T], of func(T) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		for value := range values {
			if !yield(of(value)) {
				return
			}
		}
	}
}

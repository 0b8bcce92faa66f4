package service

import (
	"context"
	"sync/atomic"

	"fundesk/apiclient/apitype"
)

// Request is what a context says of the request that is worked on. The zero value is the program's
// own work.
type Request struct {
	// Trace is that which the request is a part of (W3C Trace Context, 32 hexadecimal digits), for the
	// store to name to its server; empty: unknown.
	Trace string
	// Account is that of the request, for Turns; zero: it is not known yet.
	Account apitype.UUID
	// Room waits until there is room for a heavy answer; ErrNoRoom: there is none. Nil: there always is.
	Room func(context.Context) error
	// Erasing: the calls of some persons are still being blanked, and not to be shown as they are.
	Erasing bool
	// Spent is how long the request waited for the store so far, in nanoseconds: there is one deadline
	// for all that it asks; nil: each question has its own.
	Spent *atomic.Int64
}

// ErrNoRoom refuses what does not fit into the memory that answers may take; the caller may come again.
var ErrNoRoom = &Error{Kind: Unavailable, Detail: "too much is being read from or sent to the account, or to all accounts"}

type requestKey struct{}

// WithRequest is a context that says it.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// withoutDeadline is a context for many questions, each with a deadline of its own.
func withoutDeadline(ctx context.Context) context.Context {
	r := RequestOf(ctx)
	r.Spent = nil
	return WithRequest(ctx, r)
}

// RequestOf is what a context says.
func RequestOf(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}

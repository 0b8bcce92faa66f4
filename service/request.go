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
	// store to name to its server; empty: nobody says.
	Trace string
	// Account is for whom it is worked on, for Turns; zero: it is not known yet.
	Account apitype.UUID
	// Spent is how long the request waited for the store so far, in nanoseconds: there is one deadline
	// for all that it asks; nil: each question has its own.
	Spent *atomic.Int64
	// Decided counts the calls about which its changes decide anew when they may be given: all that wait
	// of a person, while no other change is made on SQLite; nil: nobody wants to know.
	Decided *atomic.Int64
}

type requestKey struct{}

// WithRequest is a context that says it.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf is what a context says.
func RequestOf(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}

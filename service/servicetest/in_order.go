package servicetest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// InOrder makes a server delay each read until every older connection has nothing left to send. So a client that gives
// up on a change and looks for it finds it, even if the machine pauses with the change in a buffer. It works for
// clients that use a connection once.
func InOrder(server *http.Server) {
	o := &arrivals{inner: server.Handler, busy: map[net.Conn]int{}}
	o.ended.L = &o.mu
	server.Handler, server.ConnContext, server.ConnState = o, o.accept, o.note
}

// arrivals knows the connections that may still bring something, by their number.
type arrivals struct {
	inner http.Handler

	mu    sync.Mutex
	ended sync.Cond // A connection has brought all.
	last  int
	busy  map[net.Conn]int
}

// arrival is the key of a connection's number.
type arrival struct{}

// accept runs in the order of the connections.
func (o *arrivals) accept(ctx context.Context, c net.Conn) context.Context {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	o.busy[c] = o.last
	return context.WithValue(ctx, arrival{}, o.last)
}

func (o *arrivals) note(c net.Conn, state http.ConnState) {
	if state == http.StateNew || state == http.StateActive {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.busy, c)
	o.ended.Broadcast()
}

func (o *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if number, known := r.Context().Value(arrival{}).(int); known && r.Method == http.MethodGet {
		o.wait(number)
	}
	o.inner.ServeHTTP(w, r)
}

// wait returns when no connection before that one may bring anything.
func (o *arrivals) wait(number int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.isExpected(number) {
		o.ended.Wait()
	}
}

func (o *arrivals) isExpected(number int) bool {
	for _, other := range o.busy {
		if other < number {
			return true
		}
	}
	return false
}

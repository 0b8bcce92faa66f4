package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/service/embedded"
	"fundesk/service/httpapi"
)

// front is the handler of all requests. It serves the probes /metrics, /healthz and /readyz, and hands everything else
// to the interface as soon as the database is open.
type front struct {
	metrics    *metrics
	isApart    bool // The probes have a listener of their own.
	isOpen     bool // The listener is off loopback without TLS, so only this machine sees /metrics.
	now        func() time.Time
	api        atomic.Pointer[http.Handler] // Nil until the database is open.
	isDraining atomic.Bool                  // Requests are still served, and /readyz is 503.

	// closing ends when the server stops waiting for bodies. Nil means never.
	closing context.Context //nolint:containedctx // It ends with the server, not with a request.
	close   context.CancelFunc

	mu       sync.Mutex
	probedAt time.Time // When ready last probed.
	wasReady bool
}

// state decides how the front answers requests.
type state int

const (
	stateWaiting  state = iota // The database is not open yet: every request but /healthz is 503.
	stateServing               // Requests are answered.
	stateDraining              // Requests are answered, and /readyz is 503 so that a load balancer sends no more.
)

func (f *front) state() state {
	if f.api.Load() == nil {
		return stateWaiting
	}
	if f.isDraining.Load() {
		return stateDraining
	}
	return stateServing
}

// serve hands requests to api from now on.
func (f *front) serve(api http.Handler) { f.api.Store(&api) }

// ServeHTTP answers one request of the main listener.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isProbe(r) {
		f.answer(w, r)
		return
	}
	isHidden := f.isOpen && r.URL.Path == "/metrics" && !isLoopback(r.RemoteAddr)
	if f.isApart || isHidden {
		notFound(w)
		return
	}
	f.probe(w, r)
}

// probe answers one request of a listener that only serves the probes.
func (f *front) probe(w http.ResponseWriter, r *http.Request) {
	if !isProbe(r) {
		notFound(w)
		return
	}
	switch r.URL.Path {
	case "/metrics":
		f.metrics.page.ServeHTTP(w, r)
		return
	case "/readyz":
		if f.isDraining.Load() {
			unavailable(w, "the service is shutting down")
			return
		}
	}
	f.answer(w, r)
}

// isProbe reports whether a request is for one of the paths of an operator.
func isProbe(r *http.Request) bool {
	switch r.URL.Path {
	case "/metrics":
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	case "/healthz", "/readyz":
		return true
	default:
		return false
	}
}

func (f *front) answer(w http.ResponseWriter, r *http.Request) {
	f.metrics.inFlight.Inc()
	defer f.metrics.inFlight.Dec()
	api := f.api.Load()
	if api != nil {
		r, done := f.limitBody(w, r)
		defer done()
		(*api).ServeHTTP(w, r)
		return
	}
	if r.URL.Path == "/healthz" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // The caller may have gone away.
		return
	}
	unavailable(w, "the database is not available yet")
}

// lastBodies is the time that a body may take to arrive when the server closes.
const lastBodies = time.Second

// limitBody gives the body of a request little time once the server closes, because a slow client would delay the end.
// The returned request has its own body: the library's request must keep its body, which shows it that a client that
// waits for 100 Continue was refused.
func (f *front) limitBody(w http.ResponseWriter, r *http.Request) (*http.Request, func()) {
	if r.ContentLength == 0 || f.closing == nil {
		return r, func() {}
	}
	control := http.NewResponseController(w)
	stop := context.AfterFunc(f.closing, func() {
		_ = control.SetReadDeadline(time.Now().Add(lastBodies))
	})
	onEnd := func() {
		hasDeadline := !stop()
		if hasDeadline { // A deadline that passes during the answer would cancel the request.
			_ = control.SetReadDeadline(time.Time{})
		}
	}
	limited := r.WithContext(r.Context())
	limited.Body = &notifyingBody{r.Body, onEnd}
	return limited, func() { stop() }
}

// notifyingBody calls a function when all of the body was read.
type notifyingBody struct {
	io.ReadCloser
	onEnd func()
}

// Read reads from the body.
func (b *notifyingBody) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	if errors.Is(err, io.EOF) {
		b.onEnd()
	}
	return n, err
}

// A probe of /readyz changes the database, so its result is kept for this long.
const readyAge = 5 * time.Second

// ready reports whether /readyz was 200 in the last readyAge.
func (f *front) ready(ctx context.Context) bool {
	if f.state() != stateServing {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if now.Sub(f.probedAt) >= readyAge {
		f.probedAt = now
		f.wasReady = answersOK(ctx, *f.api.Load(), "/readyz")
	}
	return f.wasReady
}

// answersOK reports whether a handler answers 200 to a path.
func answersOK(ctx context.Context, handler http.Handler, path string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	if err != nil {
		return false
	}
	answer, err := embedded.Transport(handler).RoundTrip(request)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// isLoopback reports whether an address is of this machine alone.
func isLoopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

func notFound(w http.ResponseWriter) {
	httpapi.WriteProblem(w, http.StatusNotFound, "there is no such path")
}

func unavailable(w http.ResponseWriter, detail string) {
	w.Header().Set("Retry-After", "1")
	httpapi.WriteProblem(w, http.StatusServiceUnavailable, detail)
}

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/apiclient/durable"
	"fundesk/service/embedded"
	"fundesk/service/httpapi"
)

// front answers for the interface while that is not there yet, and serves the probes: /metrics,
// /healthz and /readyz.
type front struct {
	api        atomic.Pointer[http.Handler] // Nil until the database is open.
	metrics    *metrics
	isApart    bool            // The probes have a listener of their own.
	isOpen     bool            // The listener is off loopback without TLS: others see no metrics.
	isDraining atomic.Bool     // The program is about to end.
	ending     context.Context //nolint:containedctx // It ends when nothing new is waited for; nil: never.
	end        context.CancelFunc
	now        func() time.Time

	mu      sync.Mutex
	asked   time.Time // When ready last asked.
	isReady bool      // And what it was told.
}

// readyAge is how old an answer of [front.ready] may be: it costs a change of the database.
const readyAge = 5 * time.Second

// serve lets a handler answer from now on.
func (f *front) serve(api http.Handler) { f.api.Store(&api) }

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !isProbe(r):
		f.answer(w, r)
	case f.isApart, f.isOpen && r.URL.Path == "/metrics" && !isLoopback(r.RemoteAddr):
		httpapi.WriteProblem(w, http.StatusNotFound, "there is no such path")
	default:
		f.probe(w, r)
	}
}

// isLoopback reports whether an address is of this machine alone.
func isLoopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// isProbe reports whether a request is an operator's.
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

func (f *front) probe(w http.ResponseWriter, r *http.Request) {
	switch {
	case !isProbe(r):
		httpapi.WriteProblem(w, http.StatusNotFound, "there is no such path")
	case r.URL.Path == "/metrics":
		f.metrics.page.ServeHTTP(w, r)
	case r.URL.Path == "/readyz" && f.isDraining.Load():
		unavailable(w, "the service is shutting down")
	default:
		f.answer(w, r)
	}
}

func (f *front) answer(w http.ResponseWriter, r *http.Request) {
	f.metrics.inFlight.Inc()
	defer f.metrics.inFlight.Dec()
	switch api := f.api.Load(); {
	case api != nil:
		r, done := f.awaitBody(w, r)
		defer done()
		(*api).ServeHTTP(w, r)
	case r.URL.Path == "/healthz":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // A caller that went away cannot be told.
	default:
		unavailable(w, "the database is not available yet")
	}
}

// lastBodies is how long a body may still take to arrive when the program ends.
const lastBodies = time.Second

// awaitBody gives the body of a request little time when the program ends: a client that sends slowly
// would decide how long that takes. The library's own request keeps its body: by that it sees that a client which
// waits for 100 Continue was refused, and sends the refusal at once.
func (f *front) awaitBody(w http.ResponseWriter, r *http.Request) (own *http.Request, done func()) {
	if r.ContentLength == 0 || f.ending == nil {
		return r, func() {}
	}
	control := http.NewResponseController(w)
	stop := context.AfterFunc(f.ending, func() { _ = control.SetReadDeadline(time.Now().Add(lastBodies)) })
	own = r.WithContext(r.Context())
	own.Body = &awaitedBody{r.Body, func() {
		if !stop() { // The answer has its time: a deadline that passes would give the request up.
			_ = control.SetReadDeadline(time.Time{})
		}
	}}
	return own, func() { stop() }
}

// awaitedBody tells when all of a body was read.
type awaitedBody struct {
	io.ReadCloser
	arrived func()
}

func (b *awaitedBody) Read(data []byte) (n int, err error) {
	if n, err = b.ReadCloser.Read(data); errors.Is(err, io.EOF) {
		b.arrived()
	}
	return n, err
}

// ready reports whether /readyz was 200 not long ago.
func (f *front) ready(ctx context.Context) bool {
	api := f.api.Load()
	if api == nil || f.isDraining.Load() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); now.Sub(f.asked) >= readyAge {
		f.asked, f.isReady = now, isWell(ctx, *api, "/readyz")
	}
	return f.isReady
}

func isWell(ctx context.Context, handler http.Handler, path string) bool {
	probe, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	if err != nil {
		return false
	}
	answer, err := embedded.Transport(handler).RoundTrip(probe)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

func unavailable(w http.ResponseWriter, detail string) {
	w.Header().Set("Retry-After", "1")
	httpapi.WriteProblem(w, http.StatusServiceUnavailable, detail)
}

// certificate is that of the flags, which may be read again.
type certificate struct {
	file, key string
	pair      atomic.Pointer[tls.Certificate]
}

// newCertificate reads the files of the flags; nil when there are none.
func newCertificate(file, key string) (*certificate, error) {
	if file == "" {
		return nil, nil
	}
	c := &certificate{file: file, key: key}
	return c, c.read()
}

func (c *certificate) read() error {
	if err := durable.CheckClosed(c.key); err != nil {
		return fmt.Errorf("read the key of the certificate: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(c.file, c.key)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	c.pair.Store(&pair)
	return nil
}

// config is that of a listener; connections made from now on get the certificate read last.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil },
		MinVersion:     tls.VersionTLS12,
	}
}

// Package sandbox lets integrators test failures and other times. It wraps the interface,
// sets the service's clock and spoils answers on demand. It must not know the rules of the service. It is never part of
// a service with real records, because every client may use it.
//
//	box := sandbox.New(time.Now, time.Now())
//	rules, err := service.New(ctx, service.Options{Store: store, Now: box.Now})
//	handler := box.Wrap(sandbox.Service{Handler: httpapi.New(httpapi.Options{Service: rules})})
//
//	curl -X PUT localhost:8080/sandbox/clock -d '{"move":"36h"}'
//	curl -X PUT localhost:8080/sandbox/fault -d '{"fault":"503","times":2}'
package sandbox

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
)

// Sandbox is the clock and the faults of one service. It may be used by several
// goroutines.
type Sandbox struct {
	system func() time.Time
	start  time.Time

	mu      sync.Mutex
	set     time.Time  // What the clock was set to, and by the system's clock when.
	since   time.Time  // Without its monotonic part, which stops while a machine sleeps.
	stopped *time.Time // The time of a stopped clock. Nil while it runs.
	pending []Fault    // Times counts how often each fault will still occur.

	serving sync.RWMutex // Held by a reset alone, and by requests together.
	service Service
}

// New returns a sandbox whose clock runs from a time.
func New(system func() time.Time, start time.Time) *Sandbox {
	s := &Sandbox{system: system, start: start.Round(0)}
	s.rewind()
	return s
}

// Service is the service behind a sandbox.
type Service struct {
	Handler http.Handler // The interface.
	// Reset is the interface with the records of the start.
	Reset func(context.Context) (http.Handler, error)
	// Token is a token of a new account.
	Token func(context.Context, TokenOrder) (Token, error)
}

// maxBody is more than any order to a sandbox needs, in bytes.
const maxBody = 4 << 10

// Wrap returns a handler that serves paths below /sandbox here, without a token, and all other paths by the service. A
// browser's page of another origin may give no order. A page of this machine may call the service.
func (s *Sandbox) Wrap(served Service) http.Handler {
	s.service = served
	orders, origins := s.orders(), http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/sandbox/") && origins.Check(r) != nil {
			httpapi.WriteProblem(w, http.StatusForbidden, "a page of another origin may not change the sandbox")
			return
		}
		if !shared(w, r) {
			orders.ServeHTTP(w, r)
		}
	})
}

func (s *Sandbox) orders() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sandbox/clock", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.clock()) })
	mux.HandleFunc("PUT /sandbox/clock", func(w http.ResponseWriter, r *http.Request) {
		var o clockOrder
		if read(w, r, &o) {
			reply(w, s.clock, s.setClock(o))
		}
	})
	mux.HandleFunc("GET /sandbox/fault", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.faults()) })
	for _, method := range []string{http.MethodPut, http.MethodPost} {
		mux.HandleFunc(method+" /sandbox/fault", func(w http.ResponseWriter, r *http.Request) {
			f := Fault{Times: 1}
			if read(w, r, &f) {
				reply(w, s.faults, s.addFault(f, method == http.MethodPut))
			}
		})
	}
	mux.HandleFunc("DELETE /sandbox/fault", func(w http.ResponseWriter, _ *http.Request) {
		s.clearFaults()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /sandbox/token", func(w http.ResponseWriter, r *http.Request) {
		var o TokenOrder
		if read(w, r, &o) {
			token, err := s.token(r.Context(), o)
			reply(w, func() Token { return token }, err)
		}
	})
	mux.HandleFunc("POST /sandbox/reset", func(w http.ResponseWriter, r *http.Request) {
		reply(w, s.clock, s.reset(r.Context()))
	})
	mux.HandleFunc(
		"GET /{$}",
		func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]string{"openapi": "/openapi.json"}) },
	)
	mux.HandleFunc("/", s.spoiled)
	return mux
}

func (s *Sandbox) serve(w http.ResponseWriter, r *http.Request) {
	s.serving.RLock()
	defer s.serving.RUnlock()
	s.service.Handler.ServeHTTP(w, r)
}

// reset puts the records, the clock and the faults back to their start, between two requests. It goes on if the caller
// leaves.
func (s *Sandbox) reset(ctx context.Context) error {
	s.serving.Lock()
	defer s.serving.Unlock()
	handler, err := s.service.Reset(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	s.service.Handler = handler
	s.rewind()
	s.clearFaults()
	return nil
}

func (s *Sandbox) token(ctx context.Context, o TokenOrder) (Token, error) {
	s.serving.RLock()
	defer s.serving.RUnlock()
	return s.service.Token(ctx, o)
}

func read(w http.ResponseWriter, r *http.Request, order any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		httpapi.WriteProblem(w, http.StatusBadRequest, "the body could not be read")
		return false
	}
	if violations := service.DecodeStrict(body, order); len(violations) > 0 {
		httpapi.WriteProblem(w, http.StatusBadRequest, "the body: "+violations.Error())
		return false
	}
	return true
}

// reply answers with the present state, or with the reason why nothing changed.
func reply[T any](w http.ResponseWriter, now func() T, refused error) {
	if refused != nil {
		_ = httpapi.WriteError(w, refused) // Nothing is logged.
		return
	}
	answer(w, now())
}

func invalid(format string, args ...any) error {
	return &service.Error{Kind: service.Invalid, Detail: fmt.Sprintf(format, args...)}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.MarshalWrite(w, value) // The caller has gone away.
}

type clockOrder struct {
	Time    *apitype.Time `json:"time"`
	Move    string        `json:"move"`    // A duration such as 36h or -10m.
	Stopped *bool         `json:"stopped"` // Stops or starts the clock. Without it, nothing changes.
}

// TokenOrder asks for a token of a new account.
type TokenOrder struct {
	Permissions     []service.Permission `json:"permissions"`     // Without it, all.
	Organizations   []apitype.UUID       `json:"organizations"`   // Without it, all.
	ExternalSources []string             `json:"externalSources"` // That its processed entries may carry.
	// A duration such as 1h, or -1h for a token that ended then; without it, 24h.
	TTL string `json:"ttl"`
}

// Token is a token of an account.
type Token struct {
	Token     string       `json:"token"`
	Account   apitype.UUID `json:"account"`
	ExpiresAt apitype.Time `json:"expiresAt"`
}

// Clock is the state of the clock.
type Clock struct {
	Time    apitype.Time `json:"time"`
	Stopped bool         `json:"stopped"`
}

// fromHere reports whether an origin is a page of this machine, such as a program in development.
func fromHere(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme+"://"+u.Host != origin {
		return false
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	switch u.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return true
	default:
		return false
	}
}

// shared lets pages of this machine call the interface, which no service with real records does. Only the sandbox's
// own pages may use paths below /sandbox. It reports whether it answered a browser's preflight request. Caches store
// no answer, so none has a Vary header.
func shared(w http.ResponseWriter, r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/sandbox/") {
		return false
	}
	header, origin := w.Header(), r.Header.Get("Origin")
	if !fromHere(origin) {
		return false
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set(
		"Access-Control-Expose-Headers",
		"ETag, Retry-After, X-Request-Id, X-RateLimit-Limit, Fundesk-Extensions",
	)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", "GET, POST, PUT")
	header.Set(
		"Access-Control-Allow-Headers",
		"Authorization, Content-Type, If-Match, If-None-Match, Traceparent, X-Request-Id",
	)
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// Now returns the service's time.
func (s *Sandbox) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

func (s *Sandbox) now() time.Time {
	if s.stopped != nil {
		return *s.stopped
	}
	return s.set.Add(s.system().Sub(s.since))
}

func (s *Sandbox) clock() Clock {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Clock{Time: apitype.NewTime(s.now()), Stopped: s.stopped != nil}
}

// rewind sets the clock back to its start.
func (s *Sandbox) rewind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set, s.since, s.stopped = s.start, s.system().Round(0), nil
}

// setClock changes all that an order names, or nothing.
func (s *Sandbox) setClock(o clockOrder) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.now()
	switch {
	case o.Time != nil && o.Move != "":
		return invalid("time and move cannot be combined: a clock is set or moved")
	case o.Time != nil:
		to = o.Time.Time
	case o.Move != "":
		by, err := time.ParseDuration(o.Move)
		if err != nil {
			return invalid("move %q is not a duration such as 36h or -10m", o.Move)
		}
		to = to.Add(by)
		if _, err := apitype.ParseTime(apitype.NewTime(to).String()); err != nil {
			return invalid("move %q leads out of the years that the service knows, 1900 to 9999", o.Move)
		}
	case o.Stopped == nil:
		return invalid("name a time, a duration to move by, or whether the clock is stopped")
	}
	stopped := s.stopped != nil
	if o.Stopped != nil {
		stopped = *o.Stopped
	}
	s.set, s.since, s.stopped = to, s.system().Round(0), nil
	if stopped {
		s.stopped = &to
	}
	return nil
}

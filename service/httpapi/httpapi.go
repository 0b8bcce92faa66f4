// Package httpapi is the interface of the service over HTTP: routes, bearer
// authentication, strict decoding and problem+json. It must not know SQL, and holds no
// rule: a handler reads the path, decodes, calls the service and writes what it answers.
//
//	handler := httpapi.New(httpapi.Options{Service: s, Logger: logger})
//	err := http.ListenAndServe("127.0.0.1:8080", handler)
package httpapi

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/privacy"
	"fundesk/service/queue"
)

// OpenAPI is the description of the interface, OpenAPI 3.1 in JSON.
//
//go:embed openapi.json
var OpenAPI []byte

// Options configure the handler. Only Service is needed.
type Options struct {
	Service *service.Service
	Logger  *slog.Logger // Nil means no log.
	// BaseURL is the address of the service for callers, in signed links. If it is empty, links have the scheme and
	// host of each request.
	BaseURL string
	// Rate limits the requests per second of one account. Zero sets no limit.
	Rate float64
	// Version is the program's version, for GET /fundesk/v1. Empty means "devel".
	Version string
	Now     func() time.Time // Nil means the system's clock. Only the rate depends on it.
	// SignIn holds the facts that clients need to let a person sign in. Nil offers no sign-in.
	SignIn *SignIn
	// Privacy erases and exports persons. Nil means one that records erasures nowhere else.
	Privacy *privacy.Service
	// CountQueue is called for each event of the queue. It may be nil.
	CountQueue func(event queue.Event, n int)
	// Observe is called after each answered request. It may be nil.
	Observe func(Observation)
}

// Observation has the figures of one request for metrics.
type Observation struct {
	Route    string // The template, such as "GET /api/v1/calls/{uuid}"; empty when none fits.
	Status   int
	Duration time.Duration
	Bytes    int // Of the answer's body, as it was sent.
}

type api struct {
	service *service.Service
	privacy *privacy.Service
	queue   *queue.Queue
	logger  *slog.Logger
	baseURL string
	version string
	gate    *gate
	observe func(Observation)
	signIn  *SignIn // Nil without sign-in.
	mux     *http.ServeMux
}

// New returns the handler of the whole interface, of the links to signature files, and of /healthz, /readyz and
// /openapi.json.
func New(o Options) http.Handler {
	a := &api{
		service: o.Service,
		privacy: cmp.Or(o.Privacy, privacy.New(o.Service, nil)),
		queue:   queue.New(o.Service, o.CountQueue),
		logger:  o.Logger,
		baseURL: strings.TrimSuffix(o.BaseURL, "/"),
		version: cmp.Or(o.Version, "devel"),
		observe: o.Observe,
		signIn:  o.SignIn,
		gate:    newGate(o.Rate, o.Now),
		mux:     http.NewServeMux(),
	}
	if a.logger == nil {
		a.logger = slog.New(slog.DiscardHandler)
	}
	a.routes()
	return a
}

func (a *api) routes() {
	for _, r := range a.operations() {
		a.mux.Handle(r.method+" "+r.path, a.authenticated(r))
	}
	// What lies outside the interface needs no account.
	a.mux.HandleFunc(
		"GET /healthz",
		func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, textType, []byte("ok\n")) },
	)
	a.mux.HandleFunc("GET /readyz", a.ready)
	a.mux.HandleFunc(
		"GET /openapi.json",
		func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, jsonType, OpenAPI) },
	)
	a.mux.HandleFunc("GET /signatures/{uuid}", a.signature)
	if a.signIn != nil {
		a.mux.HandleFunc("GET "+resourcePath, a.protectedResource)
	}
	a.mux.HandleFunc(elsewhere, a.elsewhere)
}

// elsewhere is the pattern of whatever no route takes.
const elsewhere = "/"

// elsewhere answers requests to unknown paths, and to paths with other methods.
func (a *api) elsewhere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := a.mux.Handler(other); pattern != elsewhere {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		WriteProblem(w, http.StatusNotFound, "there is no such path")
		return
	}
	methods := strings.Join(allowed, ", ")
	w.Header().Set("Allow", methods)
	WriteProblem(w, http.StatusMethodNotAllowed, "the path has other methods: "+methods)
}

type route struct {
	method, path string
	permission   service.Permission // Empty allows any account.
	handler      handler
}

// ServeHTTP answers one request, and writes one line about it that holds no value of
// it. Spec gap: R11.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := begin(w.Header(), r)
	recorded := &recorder{ResponseWriter: w, status: http.StatusOK, gzip: acceptsGzip(r.Header)}
	note := &recorded.note
	note.trace = traceOf(r.Header.Get("Traceparent"))
	defer func() {
		if p := recover(); p != nil {
			a.panicked(recorded, r, id, note, p)
		}
		duration := time.Since(start)
		if a.observe != nil {
			a.observe(
				Observation{
					Route:    note.route,
					Status:   recorded.status,
					Duration: duration,
					Bytes:    recorded.bytes,
				},
			)
		}
		a.log(r.Context(), id, note, recorded.status, duration)
	}()
	r = r.WithContext(service.WithRequest(r.Context(), service.Request{Trace: note.trace, Spent: new(atomic.Int64)}))
	if r.URL.Path != cleanPath(r.URL.Path) {
		// The mux would redirect, and a redirected change becomes a GET.
		WriteProblem(recorded, http.StatusNotFound, "there is no such path")
		return
	}
	a.mux.ServeHTTP(recorded, r)
	note.route = template(r)
}

// begin sets the header that every answer has, and is the id of the request.
func begin(header http.Header, r *http.Request) string {
	id := requestID(r)
	header["X-Request-Id"] = []string{id}
	header["Cache-Control"] = noStore
	header["X-Content-Type-Options"] = noSniff
	announce(header, r.URL.Path)
	return id
}

// template returns the pattern of a request's route, or an empty text.
func template(r *http.Request) string {
	if r.Pattern == elsewhere {
		return ""
	}
	return r.Pattern
}

var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

func cleanPath(p string) string {
	clean := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// requestNote has the log's fields of a request that its answer does not show.
type requestNote struct {
	trace   string // The trace of the request. Empty if unknown.
	route   string
	account string
	err     error // Not the caller's doing.
}

// log writes the one line of a request. It has the route instead of the path, because paths have identifiers and
// queries have filters.
func (a *api) log(ctx context.Context, id string, note *requestNote, status int, duration time.Duration) {
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	isProbe := note.route == "GET /healthz" || note.route == "GET /readyz"
	if !a.logger.Enabled(ctx, level) || isProbe && level == slog.LevelInfo {
		return // Probes come every second, so only their failures are logged.
	}
	attributes := []slog.Attr{
		slog.String("id", id),
		slog.String("route", note.route),
		slog.String("account", note.account),
		slog.Int("status", status),
		slog.Float64("duration_ms", float64(duration.Microseconds())/1000),
	}
	if note.trace != "" {
		attributes = append(attributes, slog.String("trace", note.trace))
	}
	if note.err != nil {
		attributes = append(attributes, slog.String("error", note.err.Error()))
	}
	a.logger.LogAttrs(ctx, level, "request", attributes...)
}

// panicked answers a request whose handler panicked before it sent anything. The log gets only the type and place of
// the panic, because its value may contain values of the request.
func (a *api) panicked(w *recorder, r *http.Request, id string, note *requestNote, p any) {
	if p == http.ErrAbortHandler { //nolint:errorlint // The value of a panic need not be an error.
		panic(p)
	}
	note.route = template(r)
	a.logger.LogAttrs(r.Context(), slog.LevelError, "panic",
		slog.String("id", id), slog.String("type", fmt.Sprintf("%T", p)), slog.String("stack", string(debug.Stack())))
	if w.wrote {
		panic(http.ErrAbortHandler) // Cut the connection: half an answer must not look whole.
	}
	WriteProblem(
		w,
		http.StatusInternalServerError,
		"the service could not answer; nothing is known to be wrong with the request",
	)
}

type recorder struct {
	http.ResponseWriter
	note   requestNote
	status int
	bytes  int // Of the body, as they were sent.
	wrote  bool
	gzip   bool  // The caller takes answers compressed.
	pass   *pass // Nil before the account is known.
}

func (w *recorder) WriteHeader(status int) {
	w.status, w.wrote = status, true
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(data []byte) (int, error) {
	w.wrote = true
	n, err := w.ResponseWriter.Write(data)
	w.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// authenticated answers the requests of a route, and writes an error as a problem.
func (a *api) authenticated(route route) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		w := answer.(*recorder)
		defer func() { w.pass.leave() }()
		err := a.answer(w, r, route)
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
			w.WriteHeader(statusGone)
		default:
			a.challenge(w.Header(), r, err)
			w.note.err = WriteError(w, err)
		}
	})
}

// answer asks for a bearer token, then for the permission, before it looks at anything of the request. Spec gap: R3.
func (a *api) answer(w *recorder, r *http.Request, route route) error {
	token, ok := bearer(r)
	if !ok {
		return &service.Error{Kind: service.Unauthenticated, Detail: "the bearer token is missing or not valid"}
	}
	account, err := a.service.Authenticate(r.Context(), token)
	if err != nil {
		return err
	}
	w.note.account = account.UUID.String()
	announceTo(w.Header(), account)
	if a.gate.limit != nil {
		w.Header()["X-Ratelimit-Limit"] = a.gate.limit
	}
	if wait := a.gate.count(account.UUID); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
		WriteProblem(w, http.StatusTooManyRequests, "the account makes more requests than it may")
		return nil
	}
	caller := service.Caller{Account: account, BaseURL: a.base(r), RequestID: w.Header().Get("X-Request-Id")}
	if route.permission != "" {
		if err := caller.Require(route.permission); err != nil {
			return err
		}
	}
	err = route.refuseMatch(r)
	if err != nil {
		return err
	}
	r = a.enter(w, r, account, route.method != http.MethodGet)
	if err := w.pass.admit(bodyWeight(r)); err != nil {
		drain(w, r)
		return err
	}
	return route.handler.serve(w, r, caller)
}

// refuseMatch refuses a condition that a change of an extension cannot keep, because what it changes has no revision.
// The interface itself has no such refusal.
func (r route) refuseMatch(request *http.Request) error {
	isExtension := strings.HasPrefix(r.path, "/fundesk/v1")
	if !isExtension || r.method == http.MethodGet || r.handler.readsIfMatch || match(request) == nil {
		return nil
	}
	return service.NotValid(apitype.Violations{{
		Parameter: "If-Match",
		Message:   "names a revision, and this change has none to compare; leave the header out",
	}})
}

// statusGone is logged and counted if the caller left before the answer. It is not a failure.
const statusGone = 499

// enter gives a request its pass, and returns it with the account in its context.
func (a *api) enter(w *recorder, r *http.Request, account service.Account, isChange bool) *http.Request {
	request := service.RequestOf(r.Context())
	request.Account = account.UUID
	request.Room = func() error { return w.pass.record() }
	r = r.WithContext(service.WithRequest(r.Context(), request))
	w.pass = a.gate.pass(r.Context(), account.UUID, isChange)
	return r
}

// bearer returns the token of a request with exactly one.
func bearer(r *http.Request) (string, bool) {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.Trim(token, " ")
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}

// base returns the address of the service for the caller.
func (a *api) base(r *http.Request) string {
	if a.baseURL != "" {
		return a.baseURL
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// requestID returns the caller's identifier if it fits into a header and a log, or else a new one. Spec gap: R11.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 128 || strings.ContainsFunc(id, func(c rune) bool { return c < ' ' || c > '~' }) {
		return apitype.NewUUID().String()
	}
	return id
}

var traceForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$`)
})

// traceOf returns the trace of a header traceparent (W3C Trace Context). It is empty if the header is not well formed,
// so that the log has no text of callers.
func traceOf(parent string) string {
	if found := traceForm().FindStringSubmatch(parent); found != nil {
		return found[1]
	}
	return ""
}

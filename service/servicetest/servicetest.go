// Package servicetest gives tests the real service: SQLite in a temporary folder, or
// PostgreSQL if FUNDESK_TEST_POSTGRES is set, the
// HTTP interface behind a server and behind a RoundTripper, accounts with chosen rights,
// and a clock that is set by hand. Every request of a test and its answer are held
// against openapi.json. Only tests import it.
//
//	h := servicetest.New(t)
//	owner := h.Organization("Sea Rescue")
//	token := h.Token(servicetest.For(owner), servicetest.May(service.CallsRead))
//	answer := h.Do(token, "GET", "/api/v1/calls", "")
package servicetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/httpapi"
	"fundesk/service/privacy"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// Start is the first time of a harness's clock.
var Start = time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)

// Report fails a test for an error, and lets it go on.
func Report(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Same fails a test where two values differ.
func Same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Check ends a test at an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Harness is the real service for one test.
type Harness struct {
	Service  *service.Service
	Privacy  *privacy.Service
	Store    *sqlstore.Store
	Handler  http.Handler
	Database string // As sqlstore.Open takes it.
	Clock    *Clock
	URL      string // Of a server on this machine, without a slash at the end.

	t             testing.TB
	interfaceOnly *atomic.Pointer[[]string]
}

// Clock is a clock that only tests move. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time that was set.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the time.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Advance moves the time on.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Option changes how a harness is made.
type Option func(*httpapi.Options)

// WithLog sends the log of the service to w.
func WithLog(w io.Writer) Option {
	return func(o *httpapi.Options) { o.Logger = slog.New(slog.NewTextHandler(w, nil)) }
}

// WithRate limits the requests a second of each account.
func WithRate(perSecond float64) Option {
	return func(o *httpapi.Options) { o.Rate = perSecond }
}

// WithBaseURL sets the address of signed links.
func WithBaseURL(url string) Option {
	return func(o *httpapi.Options) { o.BaseURL = url }
}

// DatabaseVariable names a database that benchmarks use as it is, as sqlstore.Open takes
// it: filling a large one takes longer than reading it.
const DatabaseVariable = "FUNDESK_TEST_DATABASE"

// migrated is the file of a database with its tables and nothing in them: the migrations,
// one after the other, cost a test more than all that most ask afterwards.
var migrated = sync.OnceValues(func() (content []byte, err error) {
	folder, err := os.MkdirTemp("", "fundesk-migrated-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "fundeskd.db")
	store, err := sqlstore.Open(context.Background(), sqlstore.Options{Database: "sqlite:" + path})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// NewFile returns an empty SQLite database of the test's own.
func NewFile(t testing.TB) string {
	t.Helper()
	content, err := migrated()
	path := filepath.Join(t.TempDir(), "fundeskd.db")
	err = errors.Join(err, os.WriteFile(path, content, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

// New starts the service for a test, which also ends it.
func New(t testing.TB, options ...Option) *Harness {
	t.Helper()
	var database string
	if OnPostgres() {
		database = PostgresDatabase(t)
	} else {
		database = NewFile(t)
	}
	if named := os.Getenv(DatabaseVariable); named != "" {
		if _, bench := t.(*testing.B); bench {
			database = named
		}
	}
	return NewOn(t, database, options...)
}

// NewOn starts a service on a database of the test's choice.
func NewOn(t testing.TB, database string, options ...Option) *Harness {
	t.Helper()
	return NewWithSignIn(t, database, nil, options...)
}

// NewWithSignIn starts a service at which persons sign in.
func NewWithSignIn(t testing.TB, database string, signIn service.SignIn, options ...Option) *Harness {
	t.Helper()
	h := &Harness{
		t:             t,
		Clock:         &Clock{now: Start},
		Database:      database,
		interfaceOnly: new(atomic.Pointer[[]string]),
	}
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: h.Database, Postgres: pgdriver.Driver{}})
	h.Store = store
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Store.Close(); err != nil {
			t.Error(err)
		}
	})
	rules := service.Options{Store: h.Store, Now: h.Clock.Now, SignIn: signIn}
	h.Service, err = service.New(t.Context(), rules)
	if err != nil {
		t.Fatal(err)
	}
	h.Privacy = privacy.New(h.Service, nil)
	o := httpapi.Options{Service: h.Service, Now: h.Clock.Now}
	for _, option := range options {
		option(&o)
	}
	h.Handler = httpapi.New(o)
	if _, test := t.(*testing.T); test { // Benchmarks and fuzzing have no time for it.
		h.Handler = checked(t, h.Handler)
	}
	h.Handler = withoutExtensions(h.Handler, h.interfaceOnly)
	server := httptest.NewServer(h.Handler)
	t.Cleanup(server.Close)
	h.URL = server.URL
	return h
}

// On returns the service of another process, on a store of the test's choice.
func (h *Harness) On(store service.Store) *service.Service {
	h.t.Helper()
	s, err := service.New(h.t.Context(), service.Options{Store: store, Now: h.Clock.Now})
	Check(h.t, err)
	return s
}

// Serve lets a service answer from now on. Its answers are not held against openapi.json.
func (h *Harness) Serve(s *service.Service) {
	h.Handler = httpapi.New(httpapi.Options{Service: s, Now: h.Clock.Now})
}

// Now returns the time of the harness's clock.
func (h *Harness) Now() apitype.Time { return h.In(0) }

// In returns the time of the harness's clock in a while.
func (h *Harness) In(d time.Duration) apitype.Time { return apitype.NewTime(h.Clock.Now().Add(d)) }

// Transport answers requests without a socket.
func (h *Harness) Transport() http.RoundTripper { return embedded.Transport(h.Handler) }

// Right is a part of what an account may do and see.
type Right func(*service.Account)

// For limits an account to organizations.
func For(organizations ...apitype.UUID) Right {
	return func(a *service.Account) {
		a.Scope = service.Scope{Organizations: organizations}
	}
}

// May gives an account these permissions and no others.
func May(permissions ...service.Permission) Right {
	return func(a *service.Account) { a.Permissions = permissions }
}

// MayNot takes permissions from an account.
func MayNot(permissions ...service.Permission) Right {
	return func(a *service.Account) {
		a.Permissions = slices.DeleteFunc(
			slices.Clone(a.Permissions),
			func(p service.Permission) bool { return slices.Contains(permissions, p) },
		)
	}
}

// Sources sets the names that processed entries of the account may carry.
func Sources(names ...string) Right {
	return func(a *service.Account) { a.ExternalSources = names }
}

// Account makes an account that may do everything for all organizations, but for its
// rights.
func (h *Harness) Account(rights ...Right) service.Account {
	h.t.Helper()
	a := service.Account{Name: "test", Permissions: service.Permissions, Scope: service.Scope{All: true}}
	for _, right := range rights {
		right(&a)
	}
	a, err := h.Service.AddAccount(h.t.Context(), a)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// Token makes an account, and is a token of it as [Harness.TokenOf].
func (h *Harness) Token(rights ...Right) string {
	h.t.Helper()
	return h.TokenOf(h.Account(rights...))
}

// TokenOf returns a token of an account that does not expire: programs check it with a clock of their own.
func (h *Harness) TokenOf(a service.Account) string {
	h.t.Helper()
	token, _, err := h.Service.IssueToken(h.t.Context(), a.UUID, 100*365*24*time.Hour)
	if err != nil {
		h.t.Fatal(err)
	}
	return token
}

// Organization makes an organization with the default settings.
func (h *Harness) Organization(name string) apitype.UUID {
	h.t.Helper()
	return h.OrganizationWith(service.Organization{
		OrganizationReference: apitype.OrganizationReference{Name: name, Abbreviation: name},
		CoolingOff:            service.DefaultCoolingOff,
	})
}

// OrganizationWith makes an organization.
func (h *Harness) OrganizationWith(o service.Organization) apitype.UUID {
	h.t.Helper()
	o, err := h.Service.AddOrganization(h.t.Context(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	return o.UUID
}

// Load saves records as fundeskd load does.
func (h *Harness) Load(records ...service.LoadRecord) {
	h.t.Helper()
	err := Load(h.t.Context(), h.Service, func(add func(service.LoadRecord) error) error {
		for _, record := range records {
			if err := add(record); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// LoadForChanges loads a person with an active pledge and a call that waits: something for
// every changing operation.
func (h *Harness) LoadForChanges(owner apitype.UUID) (person, call, pledge apitype.UUID) {
	h.t.Helper()
	at := apitype.NewTime(Start.Add(-24 * time.Hour))
	donor := NewPerson(owner, at)
	donor.Email = new("old@example.org")
	promised := NewPledge(donor.UUID, owner, at)
	promised.InitialDonationAmount, promised.DonationAmount = apitype.Cents(1250), apitype.Cents(1250)
	waiting := NewCall(donor.UUID, at)
	waiting.Type = apitype.CallVerification
	h.LoadAll(donor, promised, waiting)
	return donor.UUID, waiting.UUID, promised.UUID
}

// Sample fills the database with that many persons and all that hangs on them.
func (h *Harness) Sample(persons int) {
	h.t.Helper()
	err := Load(h.t.Context(), h.Service, func(add func(service.LoadRecord) error) error {
		return embedded.Sample(embedded.SampleOptions{Persons: persons, Now: h.Clock.Now()}, add)
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// Answer is an answer of the service.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	t testing.TB
}

// Do sends one request without a socket. A body is JSON; none is sent when it is "".
func (h *Harness) Do(token, method, path, body string) Answer {
	h.t.Helper()
	request := httptest.NewRequestWithContext(h.t.Context(), method, path, bytes.NewReader([]byte(body)))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return h.Send(request)
}

// Want sends a request, and reports an answer with another status.
func (h *Harness) Want(status int, token, method, path, body string) Answer {
	h.t.Helper()
	answer := h.Do(token, method, path, body)
	if answer.Status != status {
		const format = "%s %.200s %.200s: got %d %.400s, want %d"
		h.t.Errorf(format, method, path, body, answer.Status, answer.Body, status)
	}
	return answer
}

// Send sends a request as it is, without a socket.
func (h *Harness) Send(request *http.Request) Answer {
	h.t.Helper()
	w := httptest.NewRecorder()
	h.Handler.ServeHTTP(w, request)
	return Answer{
		Status: w.Code,
		Header: w.Header(),
		Body:   w.Body.Bytes(),
		t:      h.t,
	}
}

// Decode reads the body.
func (a Answer) Decode(value any) {
	a.t.Helper()
	if err := json.Unmarshal(a.Body, value); err != nil {
		a.t.Fatalf("decode the answer of status %d: %v", a.Status, err)
	}
}

// Object returns the body as an object.
func (a Answer) Object() map[string]any {
	a.t.Helper()
	var object map[string]any
	a.Decode(&object)
	return object
}

// Slow skips a test that takes more than two seconds if -short is given.
func Slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes more than two seconds")
	}
}

// SlowUnlessRaced does the work of Slow for a test of concurrency, which runs with the race detector even if -short is
// given.
func SlowUnlessRaced(t testing.TB) {
	t.Helper()
	if !IsRaced {
		Slow(t)
	}
}

// Times returns how often a test repeats something: fewer times with -short, and under the race detector of .ci/run.
func Times[N int | uint64](short, usual N) N {
	if testing.Short() {
		return short
	}
	return usual
}

// Patience returns how long a test waits for an expected event: most, but not so long that go test ends the program
// before the test reports the missing event.
func Patience(t testing.TB, most time.Duration) time.Duration {
	if test, is := t.(*testing.T); is { // Benchmarks have no end.
		if end, has := test.Deadline(); has {
			most = min(most, time.Until(end)*3/4)
		}
	}
	return most
}

// Load saves records of which none is there.
func Load(ctx context.Context, s *service.Service, feed func(add func(service.LoadRecord) error) error) error {
	_, err := s.LoadRecords(ctx, false, feed)
	return err
}

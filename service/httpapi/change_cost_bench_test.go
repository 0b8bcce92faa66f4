//go:build unix

package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// BenchmarkAuditCost prints the processor time of changes with their lines of the audit and
// without. The goal: 1.10.
//
//	go test ./service/httpapi -run '^$' -bench BenchmarkAuditCost -benchtime 1x -persons 66000
func BenchmarkAuditCost(b *testing.B) {
	h := servicetest.New(b)
	h.Sample(*persons)
	servicetest.Check(b, h.Store.Analyze(b.Context()))
	bare, err := service.New(b.Context(), service.Options{Store: withoutAudit{h.Store}, Now: h.Clock.Now})
	servicetest.Check(b, err)
	handlers := []http.Handler{
		httpapi.New(httpapi.Options{Service: h.Service, Now: h.Clock.Now}),
		httpapi.New(httpapi.Options{Service: bare, Now: h.Clock.Now}),
	}
	c := &costs{b: b, token: h.Token(), calls: waitingOfMany(h, b.N*2*inTurnAsked)}
	c.person = (&world{Harness: h}).personBody(owned{organization: h.Organization("B")})
	for b.Loop() {
		fmt.Printf("| what | with the audit | without | ratio |\n|---|---|---|---|\n")
		for _, change := range []struct {
			what string
			ask  func(http.Handler)
		}{
			{"creation of a person", c.createPerson},
			{"creation of a call", c.create},
			{"attempt", c.attempt},
			{"completion", c.complete},
		} {
			c.next.Store(0)
			by := func(handler http.Handler) func() func() {
				return func() func() { return func() { change.ask(handler) } }
			}
			a, f := inTurn(func() time.Duration { return processorTime(b) }, by(handlers[0]), by(handlers[1]))
			fmt.Printf("| %s | %d µs | %d µs | %.2f |\n",
				change.what, a.Microseconds(), f.Microseconds(), a.Seconds()/f.Seconds())
		}
	}
}

// waitingOfMany loads calls that wait, each of a person of its own.
func waitingOfMany(h *servicetest.Harness, n int) []service.LoadedCall {
	owner, at := h.Organization("A"), apitype.NewTime(h.Clock.Now())
	calls := make([]service.LoadedCall, n)
	var all []any
	for i := range calls {
		person := servicetest.NewPerson(owner, at)
		calls[i] = servicetest.NewCall(person.UUID, at)
		all = append(all, person, calls[i])
	}
	h.LoadAll(all...)
	return calls
}

// costs changes calls, each once.
type costs struct {
	b     *testing.B
	token string
	calls []service.LoadedCall
	next  atomic.Int64

	person string // The body of a creation.
}

func (c *costs) createPerson(handler http.Handler) {
	c.ask(handler, http.MethodPost, "/api/v1/persons", c.person)
}

func (c *costs) create(handler http.Handler) {
	person := c.calls[c.next.Add(1)-1].PersonUUID
	c.ask(handler, http.MethodPost, "/api/v1/calls",
		fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-01-01","type":"winback"}`, person))
}

func (c *costs) attempt(handler http.Handler) {
	c.ask(handler, http.MethodPut, "/api/v1/calls/"+c.calls[c.next.Add(1)-1].UUID.String()+"/actions/add-attempt", `{}`)
}

func (c *costs) complete(handler http.Handler) {
	c.ask(handler, http.MethodPut, "/api/v1/calls/"+c.calls[c.next.Add(1)-1].UUID.String()+"/actions/complete", `{}`)
}

func (c *costs) ask(handler http.Handler, method, path, body string) {
	request := httptest.NewRequestWithContext(c.b.Context(), method, path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	w := &discard{header: http.Header{}}
	handler.ServeHTTP(w, request)
	if w.status >= http.StatusBadRequest {
		c.b.Error(path, w.status)
	}
}

// withoutAudit is a store that keeps no audit.
type withoutAudit struct{ *sqlstore.Store }

func (s withoutAudit) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	return s.Store.Write(ctx, mode, func(tx service.Tx) error { return change(noAudit{tx}) })
}

type noAudit struct{ service.Tx }

func (noAudit) Audit(service.AuditLine) error { return nil }
func (n noAudit) InsertPerson(p service.PersonRow, _ *service.AuditLine) error {
	return n.Tx.InsertPerson(p, nil)
}

//go:build unix

package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// BenchmarkAuditReadsCost prints the processor time of lists whose lines have the persons that they showed, of lists
// whose lines do not, and of lists without a line. It also prints the bytes of a line with persons. The goal is at most
// 1.10 times a line without persons.
//
//	go test ./service/httpapi -run '^$' -bench BenchmarkAuditReadsCost -benchtime 1x -persons 66000
func BenchmarkAuditReadsCost(b *testing.B) {
	h := servicetest.New(b)
	h.Sample(*persons)
	servicetest.Check(b, h.Store.Analyze(b.Context()))
	handler := func(store service.Store, isAudited bool) http.Handler {
		rules, err := service.New(b.Context(), service.Options{Store: store, Now: h.Clock.Now, AuditReads: isAudited})
		servicetest.Check(b, err)
		return httpapi.New(httpapi.Options{Service: rules, Now: h.Clock.Now})
	}
	whole, short := handler(h.Store, true), handler(withoutShown{h.Store}, true)
	bare := handler(h.Store, false)
	c := &costs{b: b, token: h.Token()}
	used := func() time.Duration { return processorTime(b) }
	for b.Loop() {
		fmt.Printf("| list | persons | line without | no line | to a line without | to no line |\n|---|---|---|---|---|---|\n")
		for _, path := range []string{
			"/api/v1/persons?first=100",
			"/api/v1/calls?first=100&include=person",
			"/api/v1/calls?first=100&include=person,pledge,transactions",
			"/api/v1/persons?first=5&search=jan",
		} {
			by := func(handler http.Handler) func() func() {
				return func() func() { return func() { c.ask(handler, http.MethodGet, path, "") } }
			}
			with, without := inTurn(used, by(whole), by(short))
			again, none := inTurn(used, by(whole), by(bare))
			fmt.Printf("| %s | %d µs | %d µs | %d µs | %.2f | %.2f |\n", path, with.Microseconds(),
				without.Microseconds(),
				none.Microseconds(), with.Seconds()/without.Seconds(), again.Seconds()/none.Seconds())
		}
	}
	lineBytes(b, h)
}

// lineBytes prints the bytes that one line of a list adds to the database.
func lineBytes(b *testing.B, h *servicetest.Harness) {
	b.Helper()
	db, query := newBare(b, h.Database).db, `SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`
	if !strings.HasPrefix(h.Database, "sqlite:") {
		query = `SELECT pg_database_size(current_database())`
	}
	for _, shown := range []int{0, 5, 100} {
		const lines = 20_000
		size := func() (bytes int64) {
			servicetest.Check(b, db.QueryRowContext(b.Context(), query).Scan(&bytes))
			return bytes
		}
		before := size()
		for range lines / 1000 {
			servicetest.Check(b, h.Store.Write(b.Context(), service.WriteIsolated, func(tx service.Tx) error {
				for range 1000 {
					records, account := shown, apitype.NewUUID()
					line := service.AuditLine{
						At:        apitype.NewTime(h.Clock.Now()),
						Account:   &account,
						RequestID: account.String(),
						Operation: service.AuditCallList,
						Fields:    "first,include",
						Records:   &records,
						Shown:     make([]apitype.UUID, shown),
					}
					for i := range line.Shown {
						line.Shown[i] = apitype.NewUUID()
					}
					err := tx.Audit(line)
					if err != nil {
						return err
					}
				}
				return nil
			}))
			h.Clock.Advance(time.Second)
		}
		fmt.Printf("a line of a list that showed %d persons: %d bytes\n", shown, (size()-before)/lines)
	}
}

// withoutShown is a store whose lists have lines without persons.
type withoutShown struct{ *sqlstore.Store }

func (s withoutShown) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	return s.Store.Write(ctx, mode, func(tx service.Tx) error { return change(noShown{tx}) })
}

type noShown struct{ service.Tx }

func (n noShown) Audit(line service.AuditLine) error {
	line.Shown = nil
	return n.Tx.Audit(line)
}

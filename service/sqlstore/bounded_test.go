package sqlstore_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// boundedRecords is how many calls and pledges TestBoundedPages reads. With a million, a page may read 12,000 blocks
// under any filter. That takes minutes:
//
//	go test ./service/sqlstore -run TestBoundedPages -timeout 30m -bounded-records 1000000
var boundedRecords = flag.Int("bounded-records", 24_000, "calls and pledges of TestBoundedPages")

// TestBoundedPages asks for pages by filters that hardly anything passes, or what passes lies where
// a walk of the list comes last: an organization of a thousand, one without records, two values
// that never meet, one reference of a quarter of all calls, and the oldest records changed last. Blocks
// are counted, not time.
// Promise S15: a filter by another time is bounded.
func TestBoundedPages(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	n := *boundedRecords
	for _, changed := range []int{3001, n / 100, n / 10} {
		if changed < 3001 { // So few are sorted, as any are.
			continue
		}
		t.Run(fmt.Sprintf("SQLite, %d changed last", changed), func(t *testing.T) {
			t.Parallel()
			few := n
			if n < 100_000 { // Its pages are counted one by one, those of PostgreSQL by table.
				few = n / 4
			}
			boundedPages(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"), few, changed)
		})
		t.Run(fmt.Sprintf("PostgreSQL, %d changed last", changed), func(t *testing.T) {
			t.Parallel()
			servicetest.NeedPostgres(t)
			boundedPages(t, servicetest.EmptyDatabase(t), n, changed)
		})
	}
}

// Organizations of the skewed records: even ones have all of one kind, odd ones of the other, one
// has one of a thousand, and one nothing.
var (
	evenOnes    = apitype.UUID{1}
	oddOnes     = apitype.UUID{2}
	thousandths = apitype.UUID{3}
	newcomer    = apitype.UUID{4}
)

// changedLast is a time before which nothing was changed last.
const changedLast = 1_000_000_000

// skewed fills a database. Record i was requested, created and updated at i; the oldest were
// changed last. What even records have, odd ones do not.
func skewed(t *testing.T, database string, n, changed int) *sqlstore.Store {
	t.Helper()
	// As served.
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{
		Database:      database,
		Postgres:      pgdriver.Driver{},
		AnswerTimeout: time.Hour,
	})
	servicetest.Check(t, err)
	t.Cleanup(func() {
		servicetest.Report(t, store.Close())
	})
	person := personRow(evenOnes, evenOnes)
	update(t, store, func(tx service.Tx) error { return tx.InsertPerson(person, nil) })
	blob := func(id apitype.UUID) string { return fmt.Sprintf(`X'%x'`, id[:]) }
	random := `randomblob(16)`
	document := `zeroblob(900)`
	series := fmt.Sprintf(`(WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i FROM s)`, n)
	if strings.HasPrefix(database, "postgres") {
		blob = func(id apitype.UUID) string { return fmt.Sprintf(`UUID '%s'`, id) }
		random, document, series = `gen_random_uuid()`, `convert_to(repeat('x', 900), 'UTF8')`, fmt.Sprintf(`(SELECT generate_series(1, %d) AS i)`, n)
	}
	owner := fmt.Sprintf(`CASE WHEN i %% 1000 IN (0, 501) THEN %s WHEN i %% 2 = 0 THEN %s ELSE %s END`,
		blob(thousandths), blob(evenOnes), blob(oddOnes))
	updated := fmt.Sprintf(`CASE WHEN i <= %d THEN %d + i ELSE i END`, changed, changedLast)
	even := func(yes, no string) string { return `CASE WHEN i % 2 = 0 THEN ` + yes + ` ELSE ` + no + ` END` }
	for _, text := range []string{
		`INSERT INTO calls (uuid, owner, person_number, requested_at, updated_at, external, external_application, external_reference, external_status, private, rev, doc, status, completed_by)
			SELECT ` + random + `, ` + owner + `, 1, i, ` + updated + `, ` + even(`1`, `0`) + `, ` +
			even(`'dialler'`, `NULL`) + `, CASE WHEN i % 4 = 0 THEN 'shared' WHEN i % 2 = 0 THEN CAST(i AS VARCHAR) END,
			` + even(`'S1'`, `NULL`) + `, '', 1, ` + document + `, ` + even(`'completed'`,
			`'requested'`) + `, ` + even(blob(evenOnes), `NULL`) + ` FROM ` + series + ` n`,
		`INSERT INTO pledges (uuid, owner, recruiting, person_number, recruiter, status, created_at, updated_at, released_at, external, payment_qr, has_signature, private, rev, doc)
			SELECT ` + random + `, ` + owner + `, ` + owner + `, 1, ` + blob(newcomer) + `, ` +
			even(`'active'`, `'lead'`) + `, i, ` + updated + `, ` + updated + `, 0, ` + even(`1`, `0`) +
			`, 0, '', 1, ` + document + ` FROM ` + series + ` n WHERE i % 8 < 2`,
	} {
		servicetest.Check(t, store.Execute(t.Context(), text))
	}
	if strings.HasPrefix(database, "postgres") {
		execute(t, database, `VACUUM ANALYZE calls, pledges`)
	} else {
		servicetest.Check(t, store.Analyze(t.Context()))
	}
	return store
}

// callFilters returns filters of n calls, alone and together.
func callFilters(n int) map[string]service.CallFilter {
	after, ever, half := apitype.TimeFromMilli(changedLast), apitype.TimeFromMilli(0), apitype.TimeFromMilli(int64(n/2))
	requested, expired := []apitype.CallStatus{apitype.CallRequested}, []apitype.CallStatus{apitype.CallExpired}
	from, until := apitype.TimeFromMilli(1), apitype.TimeFromMilli(int64(n))
	return map[string]service.CallFilter{
		"":                          {},
		"status code":               {ExternalStatus: "S1"},
		"no reference":              {NoExternalReference: true},
		"status code, no reference": {ExternalStatus: "S1", NoExternalReference: true},
		"requested":                 {Statuses: requested},
		"completed":                 {Statuses: []apitype.CallStatus{apitype.CallCompleted}},
		"expired":                   {Statuses: expired},
		"one reference":             {ExternalApplication: "dialler", ExternalReference: "shared"},
		"one reference, other code": {
			ExternalApplication: "dialler",
			ExternalReference:   "shared",
			ExternalStatus:      "S2",
		},
		"one reference, requested": {
			ExternalApplication: "dialler",
			ExternalReference:   "shared",
			Statuses:            requested,
		},
		"one reference, updated": {
			ExternalApplication: "dialler",
			ExternalReference:   "shared",
			UpdatedAfter:        &after,
		},
		"updated":                            {UpdatedAfter: &after},
		"updated ever":                       {UpdatedAfter: &ever},
		"updated, requested between":         {UpdatedAfter: &after, RequestedFrom: &from, RequestedUntil: &until},
		"updated, requested between late":    {UpdatedAfter: &after, RequestedFrom: &half, RequestedUntil: &until},
		"updated, status code":               {UpdatedAfter: &after, ExternalStatus: "S1"},
		"updated, no reference":              {UpdatedAfter: &after, NoExternalReference: true},
		"updated, status code, no reference": {UpdatedAfter: &after, ExternalStatus: "S1", NoExternalReference: true},
		"updated, expired":                   {UpdatedAfter: &after, Statuses: expired},
		"completed by":                       {CompletedBy: &evenOnes},
		"completed by, updated, other code":  {CompletedBy: &evenOnes, UpdatedAfter: &ever, ExternalStatus: "S2"},
		"updated ever, expired":              {UpdatedAfter: &ever, Statuses: expired},
	}
}

// pledgeFilters returns filters of pledges, alone and together.
func pledgeFilters() map[string]service.PledgeFilter {
	after := apitype.TimeFromMilli(changedLast)
	ever := apitype.TimeFromMilli(0)
	late := apitype.TimeFromMilli(2 * changedLast)
	return map[string]service.PledgeFilter{
		"":                       {},
		"active":                 {Status: apitype.PledgeActive},
		"dropped":                {Status: apitype.PledgeDropped},
		"QR":                     {PaymentQR: new(true)},
		"active, no QR":          {Status: apitype.PledgeActive, PaymentQR: new(false)},
		"updated":                {UpdatedAfter: &after},
		"updated, active":        {UpdatedAfter: &after, Status: apitype.PledgeActive},
		"updated, dropped":       {UpdatedAfter: &after, Status: apitype.PledgeDropped},
		"updated ever, dropped":  {UpdatedAfter: &ever, Status: apitype.PledgeDropped},
		"released":               {ReleasedAfter: &after, ReleasedBy: late},
		"released ever":          {ReleasedAfter: &ever, ReleasedBy: late},
		"released, active":       {ReleasedAfter: &after, ReleasedBy: late, Status: apitype.PledgeActive},
		"released, dropped":      {ReleasedAfter: &after, ReleasedBy: late, Status: apitype.PledgeDropped},
		"released ever, dropped": {ReleasedAfter: &ever, ReleasedBy: late, Status: apitype.PledgeDropped},
		"released ever, updated": {ReleasedAfter: &ever, ReleasedBy: late, UpdatedAfter: &after},
		"released ever, updated, dropped": {
			ReleasedAfter: &ever,
			ReleasedBy:    late,
			UpdatedAfter:  &after,
			Status:        apitype.PledgeDropped,
		},
		"released ever, no QR": {ReleasedAfter: &ever, ReleasedBy: late, PaymentQR: new(false)},
	}
}

// boundedPages asks for the first and the last page by each filter.
func boundedPages(t *testing.T, database string, n, changed int) {
	store := skewed(t, database, n, changed)
	of := func(ids ...apitype.UUID) service.Scope { return service.Scope{Organizations: ids} }
	scopes := []struct {
		name  string
		scope service.Scope
	}{
		{"all", all},
		{"even", of(evenOnes)},
		{"odd", of(oddOnes)},
		{"thousandth", of(thousandths)},
		{"newcomer", of(newcomer)},
		{"two", of(oddOnes, thousandths)},
	}
	growing := int64(n) * 12 / 1000
	if strings.HasPrefix(database, "sqlite") { // Their pages are half as large.
		growing *= 2
	}
	ask := func(what string, byTime bool, page func(r service.Reader, part service.Range) error) {
		bound := max(1000, growing)
		if byTime { // By another time than the list's: some thousand rows are sorted.
			bound = max(4000, growing)
		}
		for _, part := range []service.Range{{Limit: 101}, {Limit: 101, Backward: true}} {
			view(t, store, func(r service.Reader) error {
				before, err := sqlstore.Blocks(r)
				if err != nil {
					return err
				}
				if err := page(r, part); err != nil {
					return err
				}
				blocks, err := sqlstore.Blocks(r)
				blocks -= before
				if blocks > bound {
					t.Errorf("%s, backward %v: %d blocks, want %d at most", what, part.Backward, blocks, bound)
				}
				return err
			})
		}
	}
	for _, scope := range scopes {
		for name, f := range callFilters(n) {
			f.Scope = scope.scope
			ask("calls of "+scope.name+": "+name, f.UpdatedAfter != nil, func(
				r service.Reader,
				part service.Range,
			) error {
				_, err := r.Calls(f, part)
				return err
			})
		}
		for name, f := range pledgeFilters() {
			f.Scope = scope.scope
			ask("pledges of "+scope.name+": "+name, f.UpdatedAfter != nil ||
				f.ReleasedAfter != nil, func(r service.Reader, part service.Range) error {
				_, err := r.Pledges(f, part)
				return err
			})
		}
	}
}

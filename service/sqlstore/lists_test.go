package sqlstore

import (
	"database/sql"
	"errors"
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var update = flag.Bool("update", false, "rewrite the questions of lists")

// TestQuestionsOfLists compares how lists ask: which rows a page has is seen elsewhere, and how they are
// looked for only in how many others are read. Of a few records all are sorted that were changed after a time.
//
//	go test ./service/sqlstore -run TestQuestionsOfLists -update
func TestQuestionsOfLists(t *testing.T) {
	t.Parallel()
	compareQuestions(t, "testdata/lists.sql", writeQuestions)
}

// TestQuestionsOfTheQueue compares how a user's queue is asked for: all of it, and the calls of a take.
//
//	go test ./service/sqlstore -run TestQuestionsOfTheQueue -update
func TestQuestionsOfTheQueue(t *testing.T) {
	t.Parallel()
	compareQuestions(t, "testdata/queue.sql", func(out *strings.Builder, r *reader) error {
		query := service.QueueQuery{
			Scope:    service.Scope{All: true},
			User:     &apitype.UUID{1},
			Due:      true,
			GaveBack: true,
			Limit:    3,
		}
		_, list := r.QueuePositions(query)
		_, take := (&tx{reader: *r}).NextInQueue(query)
		for _, text := range slices.Sorted(maps.Keys(r.statements)) {
			if strings.Contains(text, "queue_calls") {
				out.WriteString(text + "\n\n")
			}
		}
		return errors.Join(list, take)
	})
}

// compareQuestions compares the written questions with those of a file.
func compareQuestions(t *testing.T, golden string, write func(*strings.Builder, *reader) error) {
	t.Helper()
	var out strings.Builder
	err := openFile(t).engine.read(t.Context(), service.ReadSnapshot, func(c *conn) error {
		return write(&out, &reader{conn: c})
	})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r", ""), out.String()); diff != "" {
		t.Errorf("%s (-want +got); -update rewrites it:\n%s", golden, diff)
	}
}

// writeQuestions writes for each filter the question for a page.
func writeQuestions(out *strings.Builder, r *reader) error {
	id, at := apitype.UUID{1}, apitype.NewTime(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	place := &service.Bound{Position: service.Position{At: at, UUID: id}}
	of := func(n int) service.Scope { return service.Scope{Organizations: make([]apitype.UUID, n)} }
	all, first, long := service.Scope{All: true}, service.Range{Limit: 5}, strings.Repeat("x", 501)
	write := func(name string, part service.Range, query func() (*listQuery, error)) error {
		q, err := query()
		if err != nil {
			return err
		}
		text := q.page(`*`, ``, part)
		out.WriteString("-- " + name + ", " + strconv.Itoa(len(q.args)) + " values\n" + text + "\n\n")
		return nil
	}
	for _, test := range []struct {
		name string
		part service.Range
		f    service.CallFilter
	}{
		{"calls", first, service.CallFilter{Scope: all}},
		{"calls of nobody", first, service.CallFilter{}},
		{"calls of one", first, service.CallFilter{Scope: of(1)}},
		{"calls of two, below", service.Range{Below: place, Limit: 5}, service.CallFilter{Scope: of(2)}},
		{
			name: "calls of 16, above and backward",
			part: service.Range{Above: place, Backward: true, Limit: 5},
			f:    service.CallFilter{Scope: of(16)},
		},
		{
			name: "calls of 17, between",
			part: service.Range{
				Above: place,
				Below: &service.Bound{Position: place.Position, Inclusive: true},
				Limit: 5,
			},
			f: service.CallFilter{Scope: of(17)},
		},
		{"by reference", first, service.CallFilter{Scope: of(1), ExternalApplication: "a", ExternalReference: "r"}},
		{
			name: "by a long reference and status",
			part: first,
			f: service.CallFilter{
				Scope:               all,
				ExternalApplication: "a",
				ExternalReference:   long,
				ExternalStatus:      "s",
			},
		},
		{
			name: "without reference, by two statuses",
			part: first,
			f:    service.CallFilter{Scope: all, NoExternalReference: true, Statuses: apitype.CallStatuses[:2]},
		},
		{"by a status of theirs", first, service.CallFilter{Scope: of(1), ExternalStatus: "s"}},
		{"by status", first, service.CallFilter{Scope: of(1), Statuses: apitype.CallStatuses[:1]}},
		{
			name: "by both statuses",
			part: first,
			f:    service.CallFilter{Scope: all, ExternalStatus: "s", Statuses: apitype.CallStatuses[:1]},
		},
		{
			name: "by when they were requested",
			part: first,
			f:    service.CallFilter{Scope: all, RequestedFrom: &at, RequestedUntil: &at, RequestedAfter: &at},
		},
		{"updated", first, service.CallFilter{Scope: of(1), UpdatedAfter: &at}},
		{
			name: "updated, by reference",
			part: service.Range{Limit: 5, Backward: true},
			f:    service.CallFilter{Scope: all, UpdatedAfter: &at, ExternalApplication: "a", ExternalReference: "r"},
		},
		{
			name: "of a person, updated, by status",
			part: first,
			f:    service.CallFilter{Scope: of(1), Person: &id, UpdatedAfter: &at, Statuses: apitype.CallStatuses[:2]},
		},
		{
			name: "of a user, requested, by reference",
			part: first,
			f: service.CallFilter{
				Scope:               of(1),
				CompletedBy:         &id,
				RequestedAfter:      &at,
				ExternalApplication: "a",
				ExternalReference:   "r",
			},
		},
		{
			name: "of a user, updated, by status",
			part: first,
			f: service.CallFilter{
				Scope:        of(1),
				CompletedBy:  &id,
				UpdatedAfter: &at,
				Statuses:     apitype.CallStatuses[:1],
			},
		},
		{"of a person and a user", first, service.CallFilter{Scope: all, CompletedBy: &id, Person: &id}},
		{
			name: "updated, without reference",
			part: first,
			f:    service.CallFilter{Scope: all, UpdatedAfter: &at, NoExternalReference: true},
		},
	} {
		if err := write(test.name, test.part, func() (*listQuery, error) {
			return r.callQuery(test.f, test.part)
		}); err != nil {
			return err
		}
	}
	for _, test := range []struct {
		name string
		f    service.PledgeFilter
	}{
		{"pledges", service.PledgeFilter{Scope: all}},
		{"pledges of two", service.PledgeFilter{Scope: of(2)}},
		{"pledges of 17", service.PledgeFilter{Scope: of(17)}},
		{
			name: "pledges of a person, by status",
			f:    service.PledgeFilter{Scope: of(1), Person: &id, Status: apitype.PledgeActive},
		},
		{"pledges by status", service.PledgeFilter{Scope: all, Status: apitype.PledgeActive}},
		{"pledges of one, by status", service.PledgeFilter{Scope: of(1), Status: apitype.PledgeActive}},
		{"pledges with a code", service.PledgeFilter{Scope: all, PaymentQR: new(true)}},
		{
			name: "pledges without a code, by status",
			f:    service.PledgeFilter{Scope: all, PaymentQR: new(false), Status: apitype.PledgeActive},
		},
		{"pledges updated", service.PledgeFilter{Scope: all, UpdatedAfter: &at}},
		{"pledges released", service.PledgeFilter{Scope: all, ReleasedAfter: &at, ReleasedBy: at}},
		{
			name: "pledges released and updated",
			f:    service.PledgeFilter{Scope: of(1), ReleasedAfter: &at, ReleasedBy: at, UpdatedAfter: &at},
		},
	} {
		if err := write(test.name, first, func() (*listQuery, error) {
			return r.pledgeQuery(test.f, first)
		}); err != nil {
			return err
		}
	}
	for _, test := range []struct {
		name string
		f    service.PersonFilter
	}{
		{"persons", service.PersonFilter{Scope: all}},
		{"persons of two", service.PersonFilter{Scope: of(2)}},
		{"persons by IBAN, made after", service.PersonFilter{Scope: of(1), IBAN: "x", CreatedAfter: &at}},
		{"persons changed after", service.PersonFilter{Scope: of(2), UpdatedAfter: &at}},
	} {
		if err := write(test.name, first, func() (*listQuery, error) {
			return r.personQuery(test.f, first)
		}); err != nil {
			return err
		}
	}
	return nil
}

// TestPlans looks how SQLite answers what is asked of many records: nothing may read a whole
// table, and what a page includes is found by number.
func TestPlans(t *testing.T) {
	t.Parallel()
	store := openFile(t)
	err := store.engine.read(t.Context(), service.ReadSnapshot, func(c *conn) error {
		if err := askAll(&reader{conn: c}); err != nil {
			return err
		}
		for _, text := range slices.Sorted(maps.Keys(c.statements)) {
			if !strings.HasPrefix(text, `SELECT`) {
				continue
			}
			plan, err := c.plan(text)
			if err != nil {
				return err
			}
			for _, step := range plan {
				if wholeTable.MatchString(step) || byOther.MatchString(step) {
					t.Errorf("got %s in %s", step, text)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a plan must not have. Parts of a query that are merged have names with a number, or
// k and s.
var (
	wholeTable = regexp.MustCompile(`^SCAN (t|p|l|u|x|persons|calls|pledges|transactions)$`)
	byOther    = regexp.MustCompile(`^SEARCH (p|l) USING (COVERING )?INDEX`)
)

// plan returns SQLite's plan of a query, step by step.
func (c *conn) plan(text string) ([]string, error) {
	var steps []string
	err := c.each(`EXPLAIN QUERY PLAN `+text, make([]any, strings.Count(text, "$")), func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	})
	return steps, err
}

// askAll asks everything that hangs on the number of records.
func askAll(r *reader) error {
	id, at := apitype.NewUUID(), apitype.NewTime(time.Now())
	place := &service.Bound{Position: service.Position{At: at, UUID: id}}
	one := service.Scope{Organizations: []apitype.UUID{id}}
	two := service.Scope{Organizations: []apitype.UUID{id, apitype.NewUUID()}}
	var errs []error
	for _, scope := range []service.Scope{{All: true}, one, two} {
		for _, part := range []service.Range{
			{Limit: 5},
			{Below: place, Limit: 5},
			{Above: place, Backward: true, Limit: 5},
		} {
			for _, f := range []service.CallFilter{
				{},
				{WithPerson: true, WithQuality: true},
				{WithPledge: true},
				{WithPledgeNumber: true},
				{ExternalStatus: "S1"},
				{ExternalApplication: "a", ExternalReference: "b"},
				{NoExternalReference: true},
				{RequestedAfter: &at},
				{UpdatedAfter: &at},
				{CompletedBy: &id, UpdatedAfter: &at},
			} {
				f.Scope, f.Viewer = scope, scope
				_, err := r.Calls(f, part)
				errs = append(errs, err)
			}
			for _, f := range []service.PersonFilter{{}, {IBAN: "x"}, {CreatedAfter: &at}} {
				f.Scope = scope
				_, err := r.Persons(f, part)
				errs = append(errs, err)
			}
			for _, f := range []service.PledgeFilter{
				{},
				{Person: &id},
				{PaymentQR: new(true)},
				{Status: apitype.PledgeActive},
				{UpdatedAfter: &at},
				{ReleasedAfter: &at, ReleasedBy: at},
			} {
				f.Scope = scope
				_, err := r.Pledges(f, part)
				errs = append(errs, err)
			}
		}
		_, call := r.WholeCall(id, scope, service.AnyWeight)
		_, pledge := r.WholePledge(id, scope, service.AnyWeight)
		_, transaction := r.Transaction(id, scope)
		for _, err := range []error{call, pledge, transaction} {
			if !errors.Is(err, service.ErrNoRow) {
				errs = append(errs, err)
			}
		}
	}
	_, err := r.Transactions([]int64{1, 2})
	return errors.Join(append(errs, err)...)
}

package sqlstore

import (
	"database/sql"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// TestPlans looks how SQLite answers what is asked of many records: nothing may read a whole
// table, and what a page includes is found by number.
func TestPlans(t *testing.T) {
	t.Parallel()
	store := openFile(t)
	err := store.engine.read(t.Context(), service.ReadSnapshot, func(c *conn) error {
		if err := askAll(&reader{c}); err != nil {
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

// plan is how SQLite answers a query, step by step.
func (c *conn) plan(text string) (steps []string, err error) {
	err = c.each(`EXPLAIN QUERY PLAN `+text, make([]any, strings.Count(text, "$")), func(rows *sql.Rows) error {
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
	one, two := service.Scope{Organizations: []apitype.UUID{id}}, service.Scope{Organizations: []apitype.UUID{id, apitype.NewUUID()}}
	var errs []error
	for _, scope := range []service.Scope{{All: true}, one, two} {
		for _, part := range []service.Range{{Limit: 5}, {Below: place, Limit: 5}, {Above: place, Backward: true, Limit: 5}} {
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
				{}, {Person: &id}, {PaymentQR: new(true)}, {Status: apitype.PledgeActive}, {UpdatedAfter: &at}, {ReleasedAfter: &at, ReleasedBy: at},
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

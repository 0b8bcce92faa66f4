package sqlstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestDeepPagesReadNoTable shows that PostgreSQL answers pages in the middle of a list from
// indexes alone, whether there is a row before them included: it counts the rows that it came
// by when it read a table from its beginning.
func TestDeepPagesReadNoTable(t *testing.T) {
	t.Parallel()
	if server == "" {
		t.Skip("no PostgreSQL")
	}
	database, owner := servicetest.PostgresDatabase(t, server), apitype.NewUUID()
	rows := calls(3000, []apitype.UUID{owner})
	persons := make([]service.PersonRow, len(rows))
	for i := range rows {
		rows[i].RequestedAt = apitype.NewTime(now.Add(time.Duration(i) * time.Minute))
		persons[i] = personOf(rows[i])
		persons[i].CreatedAt = rows[i].RequestedAt
	}
	store := reopen(t, database)
	update(t, store, func(tx service.Tx) error {
		_, err := tx.InsertRows(service.Rows{Persons: persons, Calls: rows})
		return err
	})
	servicetest.Check(t, store.Analyze(t.Context()))
	servicetest.Check(t, store.Close())
	before := readFromBeginning(t, database)
	store = reopen(t, database)
	err := store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		for i := 100; i < len(rows); i += 100 {
			place := &service.Bound{Position: service.Position{At: rows[i].RequestedAt, UUID: rows[i].UUID}}
			for _, part := range []service.Range{{Below: place, Limit: 10}, {Above: place, Backward: true, Limit: 10}} {
				for _, scope := range []service.Scope{all, {Organizations: []apitype.UUID{owner}}} {
					_, calls := r.Calls(service.CallFilter{Scope: scope}, part)
					_, persons := r.Persons(service.PersonFilter{Scope: scope}, part)
					if err := errors.Join(calls, persons); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	servicetest.Check(t, err)
	servicetest.Check(t, store.Close())
	if after := readFromBeginning(t, database); after != before {
		t.Errorf("got %d rows that were read from the beginning of a table, want none", after-before)
	}
}

// readFromBeginning is how many rows of calls and persons a database came by from the
// beginning of their table, when all that others did is counted.
func readFromBeginning(t *testing.T, database string) (rows int) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	defer func() {
		servicetest.Report(t, db.Close(t.Context()))
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for others := 1; others > 0; <-tick.C { // What a connection did is counted when it ends.
		err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&others)
		servicetest.Check(t, err)
	}
	err = db.QueryRow(t.Context(), `SELECT SUM(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN ('calls', 'persons')`).Scan(&rows)
	servicetest.Check(t, err)
	return rows
}

package sqlstore_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// TestMaintain keeps every line of the audit when its months get partitions, and drops a partition when it is empty.
// Other engines than PostgreSQL have no partitions.
func TestMaintain(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	store := reopen(t, servicetest.PostgresDatabase(t))
	today := time.Now()
	days := []int{900, 400, 399, 40, 1, 0}
	err := try(t, store, func(tx service.Tx) error {
		for _, n := range days {
			err := tx.Audit(service.AuditLine{
				At:        apitype.NewTime(today.AddDate(0, 0, -n)),
				Operation: "test",
				RequestID: "r",
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	servicetest.Check(t, err)
	lines := func() (found []apitype.Time) {
		t.Helper()
		err := store.Read(t.Context(), service.ReadList, func(r service.Reader) error {
			all, err := r.AuditLines(service.AuditFilter{Limit: 1000})
			for _, line := range all {
				if line.Operation == "test" {
					found = append(found, line.At)
				}
			}
			return err
		})
		servicetest.Check(t, err)
		return found
	}
	before := lines()
	done, err := store.Maintain(t.Context(), today)
	servicetest.Check(t, err)
	month := func(days int) string { return today.UTC().AddDate(0, 0, -days).Format("audit_2006_01") }
	for _, table := range []string{month(900), month(400)} {
		if !slices.Contains(done.Made, table) {
			t.Errorf("got %v made, want %s", done.Made, table)
		}
	}
	if !slices.Contains(done.Rebuilt, "calls") || !slices.Contains(done.Rebuilt, month(900)) || len(done.Dropped) > 0 {
		t.Errorf("got %+v, want the indexes of all tables rebuilt", done)
	}
	servicetest.Same(t, "the lines", before, lines())

	err = try(t, store, func(tx service.Tx) error {
		deleted, err := tx.PruneAudit(apitype.NewTime(today.AddDate(0, 0, -500)), 10)
		if deleted != 1 {
			t.Errorf("got %d deleted, want 1", deleted)
		}
		return err
	})
	servicetest.Check(t, err)
	done, err = store.Maintain(t.Context(), today)
	servicetest.Check(t, err)
	servicetest.Same(t, "dropped", []string{month(900)}, done.Dropped)
	servicetest.Same(t, "made again", []string{}, done.Made)
	servicetest.Same(t, "the lines", before[1:], lines())
}

// TestMaintainTwice maintains a database from several machines at one time, as their timers do. Each succeeds, and
// one at a time rebuilds the indexes: two of them would wait for each other.
func TestMaintainTwice(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	store := reopen(t, servicetest.PostgresDatabase(t))
	var machines sync.WaitGroup
	results := make([]sqlstore.Maintained, 4)
	for i := range results {
		machines.Go(func() {
			var err error
			results[i], err = store.Maintain(t.Context(), time.Now())
			if err != nil {
				t.Error(err)
			}
		})
	}
	machines.Wait()
	isRebuilt := func(done sqlstore.Maintained) bool { return slices.Contains(done.Rebuilt, "calls") }
	if !slices.ContainsFunc(results, isRebuilt) {
		t.Errorf("got %+v, want one that rebuilt the indexes", results)
	}
	for _, done := range results {
		if isRebuilt(done) == done.Elsewhere {
			t.Errorf("got %+v, want rebuilt indexes, or another program that does it", done)
		}
	}
}

// TestMaintainBesideTheFeed moves lines of the audit to their own partition while the feed of changes waits to read
// them. The feed has each line.
func TestMaintainBesideTheFeed(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	database := servicetest.PostgresDatabase(t)
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{
		// As after some pages on each connection, when the server keeps its plan.
		Database: database + "&plan_cache_mode=force_generic_plan", Postgres: pgdriver.Driver{}, Connections: 1,
	})
	servicetest.Check(t, err)
	t.Cleanup(func() { servicetest.Report(t, store.Close()) })
	today, begin := time.Date(2031, 3, 10, 9, 0, 0, 0, time.UTC), time.Date(2031, 2, 1, 0, 0, 0, 0, time.UTC)
	_, err = store.Maintain(t.Context(), today)
	servicetest.Check(t, err)
	record := apitype.NewUUID()
	err = try(t, store, func(tx service.Tx) error {
		at := apitype.NewTime(begin.AddDate(0, 0, 20))
		return tx.Audit(service.AuditLine{At: at, Operation: service.AuditPersonUpdate, Record: &record})
	})
	servicetest.Check(t, err)
	s, err := service.New(t.Context(), service.Options{Store: store, Now: func() time.Time { return today }})
	servicetest.Check(t, err)
	reader := service.Caller{Account: service.Account{
		Permissions: []service.Permission{service.ChangesRead, service.PersonsRead}, Scope: service.Scope{All: true},
	}}
	lines := func() (n int, err error) {
		answer, err := s.ListChanges(t.Context(), reader, apitype.ChangeListOptions{})
		return strings.Count(string(answer.JSON), record.String()), err
	}
	n, err := lines()
	for service.KindOf(err) == service.Unavailable { // Which changes are complete is known after a moment.
		n, err = lines()
	}
	if err != nil || n != 1 {
		t.Fatalf("got %d, %v before, want one line", n, err)
	}
	db, err := sql.Open("pgx", database)
	servicetest.Check(t, err)
	t.Cleanup(func() { _ = db.Close() })
	move, err := db.BeginTx(t.Context(), nil)
	servicetest.Check(t, err)
	for _, text := range []string{ // As maintain does.
		`CREATE TABLE audit_2031_02 (LIKE audit INCLUDING ALL)`,
		`WITH moved AS (DELETE FROM audit_other RETURNING *) INSERT INTO audit_2031_02 SELECT * FROM moved`,
		fmt.Sprintf(
			`ALTER TABLE audit ATTACH PARTITION audit_2031_02 FOR VALUES FROM (%d) TO (%d)`,
			begin.UnixMilli(),
			begin.AddDate(0, 1, 0).UnixMilli(),
		),
	} {
		_, err := move.ExecContext(t.Context(), text)
		servicetest.Check(t, err)
	}
	var read sync.WaitGroup
	read.Go(func() { n, err = lines() })
	for waits := false; !waits; {
		const waiting = `SELECT COUNT(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'audit_other'::regclass`
		servicetest.Check(t, move.QueryRowContext(t.Context(), waiting).Scan(&waits))
	}
	servicetest.Check(t, move.Commit())
	read.Wait()
	if err != nil || n != 1 {
		t.Errorf("got %d, %v beside the maintenance, want the line", n, err)
	}
}

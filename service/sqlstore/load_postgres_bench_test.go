//go:build unix

package sqlstore_test

import (
	"errors"
	"runtime/debug"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// BenchmarkLoadPostgres loads sample records into PostgreSQL, beside the floor: bare COPY
// of the same rows in one transaction. It prints records a second of both and their ratio,
// by the clock, since most of it is the server's work, and the processor time of ours.
func BenchmarkLoadPostgres(b *testing.B) {
	if server == "" {
		b.Skip("no PostgreSQL")
	}
	var records []service.LoadRecord
	err := embedded.Sample(embedded.SampleOptions{Persons: 20_000, Now: now.Time}, func(r service.LoadRecord) error {
		records = append(records, r)
		return nil
	})
	servicetest.Check(b, err)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // As the command does.
	var ours, floor, processor time.Duration
	for b.Loop() {
		store := openBench(b, servicetest.PostgresDatabase(b, server))
		s, err := service.New(b.Context(), service.Options{Store: store})
		servicetest.Check(b, err)
		start, used := time.Now(), processorTime(b)
		err = s.Load(b.Context(), func(add func(service.LoadRecord) error) error {
			for _, record := range records {
				if err := add(record); err != nil {
					return err
				}
			}
			return nil
		})
		ours += time.Since(start)
		processor += processorTime(b) - used
		servicetest.Check(b, err)
		rows, err := store.Rows(b.Context())
		servicetest.Check(b, err)
		took, err := bareCopy(b, rows)
		servicetest.Check(b, err)
		floor += took
	}
	perSecond := func(took time.Duration) float64 { return float64(len(records)*b.N) / took.Seconds() }
	b.ReportMetric(perSecond(ours), "records/s")
	b.ReportMetric(perSecond(processor), "records/cpu-s")
	b.ReportMetric(perSecond(floor), "floor-records/s")
	b.ReportMetric(floor.Seconds()/ours.Seconds(), "of-floor")
}

func openBench(b *testing.B, database string) *sqlstore.Store {
	b.Helper()
	store, err := sqlstore.Open(b.Context(), sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}})
	servicetest.Check(b, err)
	b.Cleanup(func() {
		servicetest.Report(b, store.Close())
	})
	return store
}

// bareCopy writes rows into a new database by COPY, a table at a time.
func bareCopy(b *testing.B, tables []sqlstore.TableRows) (took time.Duration, err error) {
	b.Helper()
	database := servicetest.PostgresDatabase(b, server)
	openBench(b, database)
	db, err := pgx.Connect(b.Context(), database)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close(b.Context())) }()
	start := time.Now()
	tx, err := db.Begin(b.Context())
	if err != nil {
		return 0, err
	}
	for _, t := range tables {
		if _, err := tx.CopyFrom(b.Context(), pgx.Identifier{t.Table}, t.Columns, pgx.CopyFromRows(t.Rows)); err != nil {
			return 0, err
		}
	}
	err = tx.Commit(b.Context())
	return time.Since(start), err
}

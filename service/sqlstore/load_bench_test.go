//go:build unix

package sqlstore_test

import (
	"database/sql"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // The driver of the floor.

	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// BenchmarkLoad loads sample records into each engine, next to the floor: the same rows written in one transaction by
// bare statements, or by bare COPY. It prints records a second of both and their ratio: of SQLite by processor time,
// which other work on the machine does not change, of PostgreSQL by the clock.
func BenchmarkLoad(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		benchmarkLoad(b, func() string {
			return "sqlite:" + filepath.Join(b.TempDir(), "a.db")
		}, processorTime, bareInserts)
	})
	b.Run("postgres", func(b *testing.B) {
		benchmarkLoad(b, func() string { return servicetest.EmptyDatabase(b) }, clock, bareCopy)
	})
}

func benchmarkLoad(
	b *testing.B,
	database func() string,
	used func(*testing.B) time.Duration,
	bare func(b *testing.B, database string, tables []sqlstore.TableRows),
) {
	b.Helper()
	var records []service.LoadRecord
	servicetest.Check(b, embedded.Sample(embedded.SampleOptions{Persons: 10_000, Now: now.Time}, func(r service.LoadRecord) error {
		records = append(records, r)
		return nil
	}))
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // As the command does.
	open := func() (store *sqlstore.Store, name string) {
		name = database()
		store, err := sqlstore.Open(b.Context(), sqlstore.Options{
			Database: name,
			Postgres: pgdriver.Driver{},
			Bulk:     true,
		})
		servicetest.Check(b, err)
		return store, name
	}
	var ours, floor time.Duration
	for b.Loop() {
		store, _ := open()
		s, err := service.New(b.Context(), service.Options{Store: store})
		servicetest.Check(b, err)
		start := used(b)
		servicetest.Check(b, servicetest.Load(b.Context(), s, func(add func(service.LoadRecord) error) error {
			for _, record := range records {
				if err := add(record); err != nil {
					return err
				}
			}
			return nil
		}))
		ours += used(b) - start
		tables, err := store.Rows(b.Context())
		servicetest.Check(b, err)
		servicetest.Check(b, store.Close())
		empty, name := open()
		servicetest.Check(b, empty.Close())
		start = used(b)
		bare(b, name, tables)
		floor += used(b) - start
	}
	perSecond := func(took time.Duration) float64 { return float64(len(records)*b.N) / took.Seconds() }
	b.ReportMetric(perSecond(ours), "records/s")
	b.ReportMetric(perSecond(floor), "floor-records/s")
	b.ReportMetric(floor.Seconds()/ours.Seconds(), "of-floor")
}

// processorTime returns the time of this process so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	servicetest.Check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func clock(*testing.B) time.Duration { return time.Since(now.Time) }

func bareInserts(b *testing.B, database string, tables []sqlstore.TableRows) {
	b.Helper()
	db, err := sql.Open("sqlite",
		"file:"+database[len("sqlite:"):]+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	servicetest.Check(b, err)
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(b.Context(), nil)
	servicetest.Check(b, err)
	for _, table := range tables {
		text := table.Insert + ` ON CONFLICT DO NOTHING`
		insert, err := tx.PrepareContext(b.Context(), text) //nolint:sqlclosecheck // The end of the transaction closes it.
		servicetest.Check(b, err)
		for _, row := range table.Rows {
			_, err := insert.ExecContext(b.Context(), row...)
			servicetest.Check(b, err)
		}
	}
	servicetest.Check(b, tx.Commit())
}

func bareCopy(b *testing.B, database string, tables []sqlstore.TableRows) {
	b.Helper()
	db, err := pgx.Connect(b.Context(), database)
	servicetest.Check(b, err)
	defer func() { _ = db.Close(b.Context()) }()
	tx, err := db.Begin(b.Context())
	servicetest.Check(b, err)
	for _, t := range tables {
		_, err := tx.CopyFrom(b.Context(), pgx.Identifier{t.Table}, t.Columns, pgx.CopyFromRows(t.Rows))
		servicetest.Check(b, err)
	}
	servicetest.Check(b, tx.Commit(b.Context()))
}

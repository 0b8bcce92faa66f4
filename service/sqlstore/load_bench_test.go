//go:build unix

package sqlstore_test

import (
	"database/sql"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // The driver of the floor.

	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// BenchmarkLoad loads sample records into SQLite, beside the floor: the same rows
// inserted by bare statements in one transaction. It prints records a second of processor
// time of both and their ratio: other work on the machine does not change them.
func BenchmarkLoad(b *testing.B) {
	var records []service.LoadRecord
	err := embedded.Sample(embedded.SampleOptions{Persons: 5000, Now: now.Time}, func(r service.LoadRecord) error {
		records = append(records, r)
		return nil
	})
	servicetest.Check(b, err)
	var ours, floor time.Duration
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "a.db")
		store, err := sqlstore.Open(b.Context(), sqlstore.Options{Database: "sqlite:" + path})
		servicetest.Check(b, err)
		s, err := service.New(b.Context(), service.Options{Store: store})
		servicetest.Check(b, err)
		start := processorTime(b)
		err = s.Load(b.Context(), func(add func(service.LoadRecord) error) error {
			for _, record := range records {
				if err := add(record); err != nil {
					return err
				}
			}
			return nil
		})
		ours += processorTime(b) - start
		servicetest.Check(b, err)
		servicetest.Check(b, store.Close())
		took, err := bulk(b, path)
		servicetest.Check(b, err)
		floor += took
	}
	perSecond := func(took time.Duration) float64 { return float64(len(records)*b.N) / took.Seconds() }
	b.ReportMetric(perSecond(ours), "records/s")
	b.ReportMetric(perSecond(floor), "floor-records/s")
	b.ReportMetric(floor.Seconds()/ours.Seconds(), "of-floor")
}

// processorTime is what this process used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	servicetest.Check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// bulk inserts the rows of a database into a copy of its schema, one by one.
func bulk(b *testing.B, path string) (took time.Duration, err error) {
	b.Helper()
	other := filepath.Join(b.TempDir(), "floor.db")
	store, err := sqlstore.Open(b.Context(), sqlstore.Options{Database: "sqlite:" + other})
	if err != nil {
		return 0, err
	}
	if err := store.Close(); err != nil {
		return 0, err
	}
	source, err := sqlstore.Open(b.Context(), sqlstore.Options{Database: "sqlite:" + path})
	if err != nil {
		return 0, err
	}
	rows, err := source.Rows(b.Context())
	if err != nil {
		return 0, err
	}
	if err := source.Close(); err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite", "file:"+other+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	start := processorTime(b)
	tx, err := db.BeginTx(b.Context(), nil)
	if err != nil {
		return 0, err
	}
	for _, table := range rows {
		insert, err := tx.PrepareContext(b.Context(), table.Insert) //nolint:sqlclosecheck // The end of the transaction closes it.
		if err != nil {
			return 0, err
		}
		for _, row := range table.Rows {
			if _, err := insert.ExecContext(b.Context(), row...); err != nil {
				return 0, err
			}
		}
	}
	err = tx.Commit()
	return processorTime(b) - start, err
}

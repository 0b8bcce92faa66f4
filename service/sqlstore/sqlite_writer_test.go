package sqlstore_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// The log of a database that is written to without a pause begins anew, again and again: else it
// would grow as long as anybody writes.
func TestLogBeginsAnewBesideWriters(t *testing.T) {
	t.Parallel()
	const writers, changes, beginnings = 8, 12_000, 3
	path := filepath.Join(t.TempDir(), "a.db")
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: "sqlite:" + path})
	servicetest.Check(t, err)
	t.Cleanup(func() {
		servicetest.Report(t, store.Close())
	})
	owner, document := apitype.NewUUID(), make([]byte, 900)
	var made atomic.Int64
	var stop atomic.Bool
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for !stop.Load() && made.Add(1) <= changes {
				row := service.PersonRow{UUID: apitype.NewUUID(), Owner: owner, Recruiting: owner, CreatedAt: apitype.NewTime(time.Now()), Rev: 1, Doc: document}
				if err := store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error { return tx.InsertPerson(row, nil) }); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	seen, tick := 0, time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for last := salt(t, path); seen < beginnings && made.Load() <= changes && !t.Failed(); <-tick.C {
		if now := salt(t, path); !bytes.Equal(now, last) {
			seen, last = seen+1, now
		}
	}
	stop.Store(true)
	group.Wait()
	if seen < beginnings {
		t.Errorf("the log began anew %d times while %d changes were made, want %d", seen, changes, beginnings)
	}
}

// salt is what the header of a database's log has another of, each time that the log begins anew.
func salt(t *testing.T, path string) []byte {
	t.Helper()
	log, err := os.Open(path + "-wal")
	servicetest.Check(t, err)
	defer func() { _ = log.Close() }() // It was only read.
	header := make([]byte, 24)
	if _, err := io.ReadFull(log, header); err != nil {
		t.Fatal(err)
	}
	return header[16:]
}

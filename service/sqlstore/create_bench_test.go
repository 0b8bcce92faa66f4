package sqlstore_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/sqlstore"
)

// BenchmarkDurableCreate makes persons by 16 writers, each durable before it is
// answered, beside the floor: the same by one writer, so that each has a commit of its
// own. It prints creations a second of both, their ratio, and how long the slowest
// hundredth of the 16 took.
func BenchmarkDurableCreate(b *testing.B) {
	const each = 400
	var one, many time.Duration
	var waits []time.Duration
	for b.Loop() {
		took, _ := createDurably(b, 1, each)
		one += took
		took, waited := createDurably(b, 16, each)
		many += took
		waits = append(waits, waited...)
	}
	slices.Sort(waits)
	single := float64(each*b.N) / one.Seconds()
	shared := float64(16*each*b.N) / many.Seconds()
	b.ReportMetric(single, "one-commit-each/s")
	b.ReportMetric(shared, "creates/s")
	b.ReportMetric(shared/single, "ratio")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
}

// createDurably is how long it takes some writers to make a number of persons each, and
// how long each of them took.
func createDurably(b *testing.B, writers, each int) (took time.Duration, waits []time.Duration) {
	b.Helper()
	store, err := sqlstore.Open(b.Context(), sqlstore.Options{Database: "sqlite:" + filepath.Join(b.TempDir(), "a.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	}()
	owner, doc := apitype.NewUUID(), make([]byte, 900)
	var mu sync.Mutex
	var group sync.WaitGroup
	start := time.Now()
	for range writers {
		group.Go(func() {
			own := make([]time.Duration, 0, each)
			for range each {
				row := service.PersonRow{UUID: apitype.NewUUID(), Owner: owner, Recruiting: owner, CreatedAt: apitype.NewTime(time.Now()), Rev: 1, Doc: doc}
				begun := time.Now()
				if err := store.Write(b.Context(), service.WriteIsolated, func(tx service.Tx) error { return tx.InsertPerson(row, nil) }); err != nil {
					b.Error(err)
				}
				own = append(own, time.Since(begun))
			}
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, own...)
		})
	}
	group.Wait()
	return time.Since(start), waits
}

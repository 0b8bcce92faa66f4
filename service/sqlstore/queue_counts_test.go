package sqlstore_test

import (
	"fmt"
	"slices"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// lengthen adds calls that wait to the queue, without a person or a record.
func lengthen(t *testing.T, database string, kind service.QueueKind, from, to int) {
	t.Helper()
	execute(t, database, fmt.Sprintf(`INSERT INTO queue_calls (
			call_number, call_uuid, person_uuid, owner, type, language, kind, requested_at, attempts, external,
			opted_out, opted_in, country, eligible_at, ready
		) SELECT n, gen_random_uuid(), gen_random_uuid(), '%s', '%s', '', '%s', n, 0, 0, 0, 0, '', n, 1
		FROM generate_series(%d, %d) AS n`, kind.Owner, kind.Type, kind, from, to))
	servicetest.Check(t, reopen(t, database).Write(t.Context(), service.WriteShared, sumCounts))
	execute(t, database, `VACUUM ANALYZE queue_calls, queue_counts, donors`)
}

// A count of a queue that is thirty times as long reads no more. Spec gap: S37.
func TestCountOfALongQueueReadsNoMore(t *testing.T) {
	database := onPostgres(t)
	store := reopen(t, database)
	kind := service.QueueKind{Owner: apitype.NewUUID(), Type: apitype.CallWinback}
	query := service.QueueQuery{Scope: all, Now: now, KeptUntil: now, Returned: now}
	read := func(want int) (blocks int64) {
		t.Helper()
		view(t, store, func(r service.Reader) error {
			var found int
			var err error
			blocks, found, err = leastBlocks(r, func(r service.Reader) (int, error) {
				counts, _, err := r.QueueCounts(query)
				servicetest.Check(t, err)
				if len(counts) != 1 || counts[0].OldestWaiting.UnixMilli() != 1 {
					t.Errorf("got %+v, want one kind and the first call as its oldest", counts)
				}
				return counts[0].Waiting, err
			})
			if found != want {
				t.Errorf("got %d waiting, want %d", found, want)
			}
			return err
		})

		return blocks
	}
	lengthen(t, database, kind, 1, 1000)
	short := read(1000)
	lengthen(t, database, kind, 1001, 30_000)
	if long := read(30_000); long > short+10 {
		t.Errorf("got %d blocks for 30,000 calls, want about the %d for 1,000", long, short)
	}
}

// Check names a counter of the queue that differs from the calls. Each change of a call keeps it: a deferral, a claim,
// another kind, and the end.
func TestCheckComparesCounters(t *testing.T) { each(t, testCheckComparesCounters) }

func testCheckComparesCounters(t *testing.T, database string) {
	h := servicetest.NewOn(t, database)
	store := h.Store
	h.Sample(40)
	for _, change := range []string{
		`UPDATE queue_calls SET ready = 1, eligible_at = 1`,
		`UPDATE queue_calls SET due_at = 1 WHERE requested_at < (SELECT MAX(requested_at) FROM queue_calls)`,
		`UPDATE queue_calls SET ready = 0 WHERE due_at IS NULL`,
		`UPDATE queue_calls SET ready = 2`,
		`UPDATE queue_calls SET due_at = NULL, ready = 1`,
		`UPDATE queue_calls SET kind = 'another one'`,
		`UPDATE queue_calls SET note = 'x'`,
		`DELETE FROM queue_calls WHERE requested_at = (SELECT MIN(requested_at) FROM queue_calls)`,
	} {
		servicetest.Check(t, store.Execute(t.Context(), change))
		servicetest.Check(t, store.Write(t.Context(), service.WriteShared, sumCounts))
		found, err := store.Check(t.Context())
		servicetest.Check(t, err)
		if len(found) > 0 {
			t.Errorf("after %s: got %v, want nothing", change, found)
		}
	}
	servicetest.Check(t,
		store.Execute(t.Context(), `UPDATE queue_counts SET ready = ready + 1 WHERE kind = 'another one'`))
	found, err := store.Check(t.Context())
	servicetest.Check(t, err)
	if want := "kinds of calls that the queue counts otherwise: 1"; !slices.Contains(found, want) {
		t.Errorf("got %v, want %q", found, want)
	}
}

func sumCounts(tx service.Tx) error {
	_, err := tx.SumQueueCounts()
	return err
}

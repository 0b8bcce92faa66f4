package sqlstore_test

import (
	"fmt"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// partitions makes of the table of calls one that is partitioned by their time, a month each, of which
// those of [skewed] have six. With many more and so few rows the server would rather read all of them. Its
// indexes are those that there were; a unique one must have the time, too.
const partitions = `
	ALTER TABLE calls RENAME TO whole_calls;
	CREATE TABLE calls (LIKE whole_calls INCLUDING DEFAULTS) PARTITION BY RANGE (requested_at);
	DO $$
	DECLARE
		month BIGINT := %d / 6;
		kept RECORD;
	BEGIN
		FOR i IN 0..6 LOOP
			EXECUTE format('CREATE TABLE calls_m%%s PARTITION OF calls FOR VALUES FROM (%%s) TO (%%s)', i, i * month, (i + 1) * month);
		END LOOP;
		INSERT INTO calls SELECT * FROM whole_calls;
		FOR kept IN SELECT indexrelid::regclass AS name, replace(pg_get_indexdef(indexrelid), ' ON public.whole_calls ', ' ON public.calls ') AS text
				FROM pg_index WHERE indrelid = 'whole_calls'::regclass LOOP
			EXECUTE replace(replace(kept.text, 'INDEX ', 'INDEX p_'), 'UNIQUE INDEX', 'INDEX');
		END LOOP;
	END $$;
	CREATE UNIQUE INDEX ON calls (number, requested_at);
	CREATE UNIQUE INDEX ON calls (uuid, requested_at);
	DROP TABLE whole_calls`

// TestPartitions asks for pages of calls, and for calls of a pledge, in a table of PostgreSQL that is
// partitioned by month: they read about as much as of one that is not.
func TestPartitions(t *testing.T) {
	database := onPostgres(t)
	const n = 24_000
	store := skewed(t, database, n, 3001)
	execute(t, database, `UPDATE calls SET pledge_number = (SELECT MIN(number) FROM pledges) WHERE requested_at IN (10, 12000, 23000)`)
	execute(t, database, `VACUUM ANALYZE calls`)
	pledge := apitype.UUID{}
	err := store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		rows, err := r.Pledges(service.PledgeFilter{Scope: all}, service.Range{Limit: 1, Backward: true})
		if len(rows) == 1 {
			pledge = rows[0].UUID
		}
		return err
	})
	servicetest.Check(t, err)
	two := service.Scope{Organizations: []apitype.UUID{oddOnes, evenOnes}}
	from, until := apitype.TimeFromMilli(11_000), apitype.TimeFromMilli(13_000)
	tests := []struct {
		name string
		read func(r service.Reader) (int, error)
	}{
		{"all", pageOf(service.CallFilter{Scope: all})},
		{"two organizations", pageOf(service.CallFilter{Scope: two})},
		{"two organizations, in the middle", pageOf(service.CallFilter{Scope: two, RequestedFrom: &from, RequestedUntil: &until})},
		{"a pledge", func(r service.Reader) (int, error) {
			row, err := r.WholePledge(pledge, all, service.AnyWeight)
			return len(row.Calls), err
		}},
	}
	read := func() (blocks []int64, found []int) {
		for _, test := range tests {
			err := store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
				least, n, err := leastBlocks(r, test.read)
				blocks, found = append(blocks, least), append(found, n)
				return err
			})
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
		}
		return blocks, found
	}
	whole, there := read()
	execute(t, database, fmt.Sprintf(partitions, n))
	execute(t, database, `VACUUM ANALYZE calls`)
	parts, same := read()
	for i, test := range tests {
		if there[i] != same[i] || there[i] == 0 {
			t.Errorf("%s: got %d calls of partitions, want %d", test.name, same[i], there[i])
		}
		if parts[i] > whole[i]+whole[i]/10+60 {
			t.Errorf("%s: %d blocks of partitions, want about %d", test.name, parts[i], whole[i])
		}
		t.Logf("%s: %d blocks, %d of partitions", test.name, whole[i], parts[i])
	}
}

// leastBlocks reads several times and tells how many blocks the cheapest took, and how many calls it found.
// A connection looks at each index of each partition before it first uses it, and once more where others
// have changed so many tables meanwhile, in any database of the server, that it forgets what it knew.
func leastBlocks(r service.Reader, read func(service.Reader) (int, error)) (least int64, found int, err error) {
	before, err := sqlstore.Blocks(r)
	for i := 0; i < 6 && err == nil; i++ {
		if found, err = read(r); err != nil {
			break
		}
		var after int64
		after, err = sqlstore.Blocks(r)
		if i == 0 || after-before < least {
			least = after - before
		}
		before = after
	}
	return least, found, err
}

// pageOf is a page of calls by a filter, and how many there are on it.
func pageOf(f service.CallFilter) func(r service.Reader) (int, error) {
	return func(r service.Reader) (int, error) {
		rows, err := r.Calls(f, service.Range{Limit: 101})
		return len(rows), err
	}
}

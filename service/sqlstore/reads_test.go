package sqlstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// TestDeepPagesReadNoTable shows that PostgreSQL answers pages in the middle of a list from
// indexes alone, whether there is a row before them included: it counts the rows that it came
// by when it read a table from its beginning.
func TestDeepPagesReadNoTable(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	database, owner := servicetest.EmptyDatabase(t), apitype.NewUUID()
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
	view(t, store, func(r service.Reader) error {
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

	servicetest.Check(t, store.Close())
	if after := readFromBeginning(t, database); after != before {
		t.Errorf("got %d rows that were read from the beginning of a table, want none", after-before)
	}
}

// readFromBeginning returns how many rows of calls and persons a database read from the beginning of their tables,
// after all statistics have arrived.
func readFromBeginning(t *testing.T, database string) int {
	t.Helper()
	db, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	defer func() {
		servicetest.Report(t, db.Close(t.Context()))
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for others := 1; others > 0; <-tick.C { // What a connection did is counted when it ends.
		err := db.QueryRow(
			t.Context(),
			`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
		).Scan(&others)
		servicetest.Check(t, err)
	}
	var rows int
	err = db.QueryRow(t.Context(),
		`SELECT SUM(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN ('calls', 'persons')`).Scan(&rows)
	servicetest.Check(t, err)
	return rows
}

// partitions divides the table of calls by their time, a month each. Calls of [skewed] have six months. With many more
// and so few rows the server would rather read all of them. It keeps the indexes; a unique one must have the time, too.
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

// TestPartitions asks for pages of calls, and for calls of a pledge, in a table of PostgreSQL with a partition for each
// month. They read about as much as from a whole one.
func TestPartitions(t *testing.T) {
	servicetest.Slow(t)
	database := onPostgres(t)
	const n = 24_000
	store := skewed(t, database, n, 3001)
	execute(t, database,
		`UPDATE calls SET pledge_number = (SELECT MIN(number) FROM pledges) WHERE requested_at IN (10, 12000, 23000)`)
	execute(t, database, `VACUUM ANALYZE calls`)
	pledge := apitype.UUID{}
	view(t, store, func(r service.Reader) error {
		rows, err := r.Pledges(service.PledgeFilter{Scope: all}, service.Range{Limit: 1, Backward: true})
		if len(rows) == 1 {
			pledge = rows[0].UUID
		}
		return err
	})

	two := service.Scope{Organizations: []apitype.UUID{oddOnes, evenOnes}}
	from, until := apitype.TimeFromMilli(11_000), apitype.TimeFromMilli(13_000)
	tests := []struct {
		name string
		read func(r service.Reader) (int, error)
	}{
		{"all", pageOf(service.CallFilter{Scope: all})},
		{"two organizations", pageOf(service.CallFilter{Scope: two})},
		{
			name: "two organizations, in the middle",
			read: pageOf(service.CallFilter{Scope: two, RequestedFrom: &from, RequestedUntil: &until}),
		},
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

// leastBlocks reads several times and returns the blocks of the cheapest read, and its number of calls. A connection
// looks at each index of each partition before its first use, and once more after many changes of tables in any
// database of the server.
func leastBlocks(r service.Reader, read func(service.Reader) (int, error)) (least int64, found int, err error) {
	before, err := sqlstore.Blocks(r)
	for i := 0; i < 6 && err == nil; i++ {
		found, err = read(r)
		if err != nil {
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

// pageOf returns a page of calls by a filter, and how many there are on it.
func pageOf(f service.CallFilter) func(r service.Reader) (int, error) {
	return func(r service.Reader) (int, error) {
		rows, err := r.Calls(f, service.Range{Limit: 101})
		return len(rows), err
	}
}

// TestLightRecords reads a call and its pledge if no more than 64 KiB of documents belong to them. They are the same
// as of any weight. Spec gap: S32.
func TestLightRecords(t *testing.T) { each(t, testLightRecords) }

func testLightRecords(t *testing.T, database string) {
	store := reopen(t, database)
	for _, c := range []struct {
		name                   string
		person, pledge, call   int // How many bytes more their documents have.
		call2                  int // Of another call of the pledge.
		lightCall, lightPledge bool
	}{
		{name: "little", lightCall: true, lightPledge: true},
		{name: "a person who can just be read", person: 65536 - 3*2, lightCall: true, lightPledge: true},
		{name: "a heavy person", person: 65536 - 2*2 + 1},
		{name: "a call that is counted twice", call: 32768 - 3, lightCall: true, lightPledge: true},
		{name: "a heavy call", call: 65536},
		{name: "another call that can just be read", call2: 65536 - 3*2, lightCall: true, lightPledge: true},
		{name: "a heavy other call", call2: 65536 - 3*2 + 1},
		{name: "a heavy pledge", pledge: 65536},
	} {
		call, pledge := saveLight(t, store, c.person, c.pledge, c.call, c.call2)
		view(t, store, func(r service.Reader) error {
			light, err := r.WholeCall(call, all, service.LightOnly)
			servicetest.Check(t, err)
			whole, err := r.WholeCall(call, all, service.AnyWeight)
			servicetest.Check(t, err)
			checkLight(t, c.name+": the call", light, whole, c.lightCall)
			lightPledge, err := r.WholePledge(pledge, all, service.LightOnly)
			servicetest.Check(t, err)
			wholePledge, err := r.WholePledge(pledge, all, service.AnyWeight)
			servicetest.Check(t, err)
			checkLight(t, c.name+": the pledge", lightPledge, wholePledge, c.lightPledge)
			return nil
		})
	}
}

func checkLight[T any](t *testing.T, name string, light, whole *T, want bool) {
	t.Helper()
	switch {
	case (light != nil) != want:
		t.Errorf("%s: was read: %v, want %v", name, light != nil, want)
	case light != nil:
		servicetest.Same(t, name+", beside what is read afterwards", whole, light)
	}
}

// saveLight saves a person, a pledge and two of its calls, with some bytes more in each document.
func saveLight(t *testing.T, store *sqlstore.Store, person, pledge, call, call2 int) (saved, of apitype.UUID) {
	t.Helper()
	doc := func(more int) []byte { return []byte("{" + strings.Repeat(" ", more) + "}") }
	owner := apitype.NewUUID()
	donor := service.PersonRow{UUID: apitype.NewUUID(), Owner: owner, CreatedAt: now, Doc: doc(person), Rev: 1}
	l := service.PledgeRow{
		UUID: apitype.NewUUID(), Person: donor.UUID, Owner: owner, Recruiting: owner, Status: apitype.PledgeLead,
		CreatedAt: now, UpdatedAt: now, Private: []byte("{}"), Doc: doc(pledge), Rev: 1,
	}
	row := func(more int) service.CallRow {
		return service.CallRow{
			UUID:        apitype.NewUUID(),
			Owner:       owner,
			Person:      donor.UUID,
			Case:        &l.UUID,
			RequestedAt: now,
			Private:     []byte("{}"),
			Doc:         doc(more),
			Rev:         1,
		}
	}
	first, second := row(call), row(call2)
	err := try(t, store, func(tx service.Tx) error {
		return errors.Join(tx.InsertPerson(donor, nil), tx.InsertPledge(l), tx.InsertCall(first), tx.InsertCall(second))
	})
	servicetest.Check(t, err)
	return first.UUID, l.UUID
}

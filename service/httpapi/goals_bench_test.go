//go:build unix

package httpapi_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // The drivers of the floor.
	_ "modernc.org/sqlite"

	"fundesk/service/servicetest"
)

// BenchmarkGoals prints a row for each goal of the service, next to its yardstick: a handler that sends stored bytes
// from the same database, asked in turn with ours by 16 parallel callers, by processor time. A larger -persons makes a
// larger database. FUNDESK_TEST_DATABASE names an existing one, and FUNDESK_TEST_POSTGRES=1 chooses PostgreSQL.
//
//	go test ./service/httpapi -run '^$' -bench BenchmarkGoals -benchtime 1x -persons 66000
func BenchmarkGoals(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // As the command does.
	h := servicetest.New(b)
	if largest := h.Do(h.Token(), "GET", "/api/v1/calls?first=1", "").Object(); len(largest["edges"].([]any)) == 0 {
		h.Sample(*persons)
		if err := h.Store.Analyze(b.Context()); err != nil { // The same.
			b.Fatal(err)
		}
	}
	token := h.Token()
	bare := newBare(b, h.Database)
	for b.Loop() {
		one := bare.call()
		until := func(tenths int) string {
			return "/api/v1/calls?requestedFrom=1900-01-01&requestedUntil=" + bare.requested(tenths) + "&first="
		}
		middle := h.Do(token, "GET", until(5)+"1", "").Object()["pageInfo"].(map[string]any)["endCursor"].(string)
		first, deeper := "/api/v1/calls?first=100", "/api/v1/calls?first=100&after="+middle
		fmt.Println("| what | ours | yardstick | ratio | goal |\n|---|---|---|---|---|")
		ask := func(path string) func() func() {
			return func() func() { return asker(b, h, token, path) }
		}
		stored := func(read func()) func() func() {
			return func() func() { return read }
		}
		row := func(what, yardstick, goal string, ours, floor func() func()) {
			a, f := inTurn(func() time.Duration { return processorTime(b) }, ours, floor)
			fmt.Printf("| %s | %d µs | %s, %d µs | %.2f | %s |\n", what, a.Microseconds(), yardstick, f.Microseconds(),
				a.Seconds()/f.Seconds(), goal)
		}
		row("GET one call with person, pledge and transactions", "stored bytes", "≤ 110 µs",
			ask("/api/v1/calls/"+one.String()), stored(func() { bare.one(one) }))
		row("page of 100 calls", "stored bytes", "≤ 500 µs", ask(first), stored(func() { bare.page(bareCalls) }))
		row("page of 100 calls with person and pledge", "stored bytes", "≤ 1,600 µs",
			ask(first+"&include=person,pledge"), stored(func() { bare.page(bareEmbedded) }))
		// The newest calls of the sample have no result yet and are smaller: the first page without
		// them has documents like those in the middle.
		row("page of 100 calls in the middle of the list", "the first page of calls as large", "≤ 1.10", ask(deeper),
			ask(until(9)+"100"))
		creates(b)
	}
}

// asker asks for a path by our handler, for one caller.
func asker(b *testing.B, h *servicetest.Harness, token, path string) func() {
	request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, http.NoBody)
	request.Header.Set("Authorization", "Bearer "+token)
	return func() {
		w := &discard{header: http.Header{}}
		h.Handler.ServeHTTP(w, request)
		if w.status != http.StatusOK {
			b.Error(path, w.status)
		}
	}
}

// inTurnAsked is how many requests of each kind inTurn sends, in some rounds.
const (
	rounds      = 51
	inTurnAsked = rounds * 16 * 5
)

// inTurn returns the processor time of a request of two kinds, in turn, each by parallel callers that ours and floor
// make: the medians of many rounds.
func inTurn(used func() time.Duration, ours, floor func() func()) (a, f time.Duration) {
	const callers, each = 16, inTurnAsked / rounds / 16
	var took [2][]time.Duration
	for range rounds {
		for i, caller := range []func() func(){ours, floor} {
			var group sync.WaitGroup
			start := used()
			for range callers {
				do := caller()
				group.Go(func() {
					for range each {
						do()
					}
				})
			}
			group.Wait()
			took[i] = append(took[i], (used()-start)/(callers*each))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	return took[0][rounds/2], took[1][rounds/2]
}

// bare sends stored bytes: no account, no scope, no cursor, nothing embedded in place.
type bare struct {
	b  *testing.B
	db *sql.DB
}

func newBare(b *testing.B, database string) bare {
	b.Helper()
	driver, source := "pgx", database
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+path+"?_pragma=mmap_size(2147483648)&_pragma=cache_size(-2000)"
	}
	db, err := sql.Open(driver, source)
	servicetest.Check(b, err)
	db.SetMaxIdleConns(16)
	b.Cleanup(func() { _ = db.Close() })
	return bare{b, db}
}

const (
	bareCalls    = `SELECT doc FROM calls ORDER BY requested_at DESC, uuid DESC LIMIT 100`
	bareEmbedded = `SELECT c.doc, p.doc, COALESCE(l.doc, c.doc) FROM calls c JOIN persons p ON p.number = c.person_number LEFT JOIN pledges l ON l.number = c.pledge_number
		ORDER BY c.requested_at DESC, c.uuid DESC LIMIT 100`
)

// call returns a call with a pledge.
func (r bare) call() uuid.UUID {
	var id uuid.UUID
	r.must(
		r.db.QueryRowContext(r.b.Context(),
			`SELECT uuid FROM calls WHERE pledge_number IS NOT NULL ORDER BY requested_at DESC LIMIT 1`).Scan(&id),
	)
	return id
}

// requested returns the time before which some tenths of all calls were requested.
func (r bare) requested(tenths int) string {
	var at int64
	r.must(
		r.db.QueryRowContext(
			r.b.Context(),
			`SELECT requested_at FROM calls ORDER BY requested_at LIMIT 1 OFFSET (SELECT COUNT(*) * $1 / 10 FROM calls)`,
			tenths,
		).Scan(&at),
	)
	return time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z")
}

// one reads a call and what belongs to it, by their keys, and sends them.
func (r bare) one(id uuid.UUID) {
	w := &discard{header: http.Header{}}
	var call, person, pledge []byte
	r.must(
		r.db.QueryRowContext(
			r.b.Context(),
			`SELECT c.doc, p.doc, l.doc FROM calls c JOIN persons p ON p.number = c.person_number JOIN pledges l ON l.number = c.pledge_number WHERE c.uuid = $1`,
			id[:],
		).Scan(&call, &person, &pledge),
	)
	for _, doc := range [][]byte{call, person, pledge} {
		_, _ = w.Write(doc)
	}
}

// page reads 100 calls and sends them.
func (r bare) page(text string) {
	w := &discard{header: http.Header{}}
	rows, err := r.db.QueryContext(r.b.Context(), text)
	r.must(err)
	defer func() { r.must(rows.Close()) }()
	columns, err := rows.Columns()
	r.must(err)
	docs, dest := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range docs {
		dest[i] = &docs[i]
	}
	for rows.Next() {
		r.must(rows.Scan(dest...))
		for _, doc := range docs {
			_, _ = w.Write(doc)
		}
	}
	r.must(rows.Err())
}

func (r bare) must(err error) {
	if err != nil {
		panic(err) // Not only the benchmark's own goroutine reads.
	}
}

// creates prints how many durable creations 16 callers reach, and one caller alone.
func creates(b *testing.B) {
	b.Helper()
	h := servicetest.NewOn(b, "sqlite:"+b.TempDir()+"/a.db")
	token := h.Token()
	body := (&world{Harness: h}).personBody(owned{organization: h.Organization("A")})
	const each = 300
	run := func(callers int) (perSecond float64, p99 time.Duration) {
		var mu sync.Mutex
		var group sync.WaitGroup
		var took []time.Duration
		start := time.Now()
		for range callers {
			group.Go(func() {
				for range each {
					begun := time.Now()
					if got := h.Do(token, "POST", "/api/v1/persons", body); got.Status != http.StatusCreated {
						b.Error(got.Status)
					}
					mu.Lock()
					took = append(took, time.Since(begun))
					mu.Unlock()
				}
			})
		}
		group.Wait()
		slices.Sort(took)
		return float64(callers*each) / time.Since(start).Seconds(), took[len(took)*99/100]
	}
	alone, _ := run(1)
	together, p99 := run(16)
	fmt.Printf("| durable creations by 16 callers, SQLite | %.0f/s, slowest hundredth %d ms | one commit each, %.0f/s | %.2f | ≥ 2.5, 50 ms |\n",
		together, p99.Milliseconds(), alone, together/alone)
}

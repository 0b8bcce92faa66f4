package apiclient

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The bounds of the model, in bytes: those of the client would take its memory.
const (
	modelPage   = 4 << 10
	modelRecord = 8 << 10
)

// modelList is a list of some service: what it holds, and how it cuts and tells its pages.
type modelList struct {
	records    []string // JSON.
	tooLarge   []string // The uuids of those that no client reads.
	nulls      int      // Elements that are no records, and are named after those.
	most       int      // Records of a page; 0: as many as are asked for.
	refuses    int      // Page sizes from here on are refused; 0: none.
	tellsNext  bool
	infoIsLast bool
	hasLength  bool
	bare       bool     // An array, of the first records that fit, whatever is asked for after.
	cuts       bool     // Every page breaks off when it is asked for the first time.
	busy       bool     // Every page is 503 when it is asked for the first time.
	flag       nextFlag // What it says of a next page, where it tells.
	inclusive  bool     // A page begins with the record that it is to come after.
	grows      bool     // A record is added before the others with each page, and moves them.
	added      int
	mu         sync.Mutex
	random     *rand.Rand
	served     map[string]bool // Queries that were answered once.
}

// nextFlag is how a service fills in a flag.
type nextFlag int

const (
	exact nextFlag = iota
	alwaysTrue
)

var walkSeeds = flag.Uint64("seeds", 200, "how many services the walk over a list is tried with")

func newModelList(random *rand.Rand) *modelList {
	m := &modelList{
		most: []int{0, 0, 1, 3, 17}[random.IntN(5)], refuses: []int{0, 0, 20}[random.IntN(3)],
		tellsNext: random.IntN(3) > 0, infoIsLast: random.IntN(3) == 0, hasLength: random.IntN(2) == 0,
		bare: random.IntN(8) == 0, cuts: random.IntN(4) == 0,
		random: random, served: map[string]bool{},
	}
	switch random.IntN(6) {
	case 0:
		m.flag = alwaysTrue
	case 2:
		m.busy = true
	case 3:
		m.inclusive = random.IntN(2) == 0
		m.grows = !m.inclusive
		if m.most == 1 && !m.tellsNext { // One that ignores the cursor looks the same.
			m.most = 3
		}
	}
	heavy := random.IntN(3)
	for range random.IntN(60) {
		if random.IntN(40) == 0 {
			m.records = append(m.records, "null")
			m.nulls++
			continue
		}
		id, size := apitype.NewUUID().String(), random.IntN(200)
		switch dice := random.IntN(20); {
		case heavy > 0 && dice < 4:
			size = random.IntN(modelPage)
		case heavy > 1 && dice == 5:
			size = modelPage + random.IntN(modelRecord-modelPage-500)
		case heavy > 1 && dice == 6:
			size = modelRecord + random.IntN(modelRecord)
			m.tooLarge = append(m.tooLarge, id)
		}
		m.records = append(m.records, `{"uuid":"`+id+`","notes":"`+strings.Repeat("x", size)+`"}`)
	}
	return m
}

// isLoose reports whether the service answers so that records come twice, or that a walk must
// end with an error.
func (m *modelList) isLoose() bool {
	return m.flag == alwaysTrue || m.inclusive || m.grows
}

// ServeHTTP answers a page. Its cursors are the positions of its records.
func (m *modelList) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, _ := strconv.Atoi(r.URL.Query().Get("first"))
	if m.refuses > 0 && first >= m.refuses {
		http.Error(w, `{"detail":"too many"}`, http.StatusBadRequest)
		return
	}
	start := 0
	if after := r.URL.Query().Get("after"); after != "" {
		at, _ := strconv.Atoi(after)
		start = at + 1
		if m.inclusive {
			start = at
		}
	}
	if m.most > 0 {
		first = min(first, m.most)
	}
	end := min(start+first, len(m.records))
	var edges []string
	for i := start; i < end; i++ {
		edges = append(edges, fmt.Sprintf(`{"node":%s,"cursor":"%d"}`, m.records[i], i))
	}
	info := map[string]any{}
	if len(edges) > 0 {
		info["endCursor"] = strconv.Itoa(end - 1)
	}
	if m.tellsNext {
		info["hasNextPage"] = m.flag == alwaysTrue || end < len(m.records)
	}
	text, _ := json.Marshal(info)
	again := m.served[r.URL.RawQuery]
	m.served[r.URL.RawQuery] = true
	body := `{"pageInfo":` + string(text) + `,"edges":[` + strings.Join(edges, ",") + `]}`
	if m.infoIsLast {
		body = `{"edges":[` + strings.Join(edges, ",") + `],"pageInfo":` + string(text) + `}`
	}
	if m.bare {
		body = `[` + strings.Join(m.records[start:end], ",") + `]`
	}
	w.Header().Set("Content-Type", "application/json")
	if m.busy && !again {
		http.Error(w, `{}`, http.StatusServiceUnavailable)
		return
	}
	if m.grows && m.added < 30 {
		m.records = slices.Insert(m.records, 0, `{"uuid":"`+apitype.NewUUID().String()+`"}`)
		m.added++
	}
	if m.cuts && !again {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write([]byte(body[:m.random.IntN(len(body))]))
		panic(http.ErrAbortHandler)
	}
	if m.hasLength {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	_, _ = w.Write([]byte(body))
}

// A list is whole, or its end is an error that names what is missing.
// Promise P6: answers are bounded in size.
func TestAListIsWholeOrSaysSo(t *testing.T) {
	t.Parallel()
	for seed := range servicetest.Times(10, *walkSeeds) {
		m := newModelList(rand.New(rand.NewPCG(seed, 8)))
		server := httptest.NewServer(m)
		client, err := New(Options{BaseURL: server.URL, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
		if err != nil {
			t.Fatal(err)
		}
		client.maxPage, client.maxRecord = modelPage, modelRecord
		var got []string
		var failed error
		for record, err := range client.Walk(t.Context(), "/api/v1/calls", nil, AllOptions{PageSize: 50, Fallback: 10, Reuse: seed%2 == 0}) {
			if err != nil {
				failed = err
				break
			}
			got = append(got, string(record.Raw))
			if len(got) > 1000 {
				t.Fatalf("seed %d: no end: %s", seed, describeModel(m))
			}
		}
		server.Close()
		readable := slices.DeleteFunc(slices.Clone(m.records[m.added:]), func(record string) bool {
			return record == "null" || slices.ContainsFunc(m.tooLarge, func(id string) bool { return strings.Contains(record, id) })
		})
		switch {
		case m.bare: // Nothing tells whether it is whole, but what is longer than was asked for.
			if failed == nil && len(m.records) > m.added {
				t.Errorf("seed %d: got %d of %d records and no error, want one: %s", seed, len(got), len(m.records), describeModel(m))
			}
		case m.isLoose():
			missing := slices.ContainsFunc(readable, func(record string) bool { return !slices.Contains(got, record) })
			if failed == nil && (missing || len(m.tooLarge)+m.nulls > 0) {
				t.Errorf("seed %d: got %d records of %d, and no error: %s", seed, len(got), len(readable), describeModel(m))
			}
		case m.nulls > 0:
			if KindOf(failed) != KindUnavailable || !slices.Equal(got, readable) || !m.infoIsLast && len(asError(failed).Detail) != min(m.nulls+len(m.tooLarge), maxNamed) {
				t.Errorf("seed %d: got %d of %d records and %v, want the others and that %d are missing: %s", seed, len(got), len(readable), failed, m.nulls+len(m.tooLarge), describeModel(m))
			}
		case len(m.tooLarge) == 0 && (failed != nil || !slices.Equal(got, readable)):
			t.Errorf("seed %d: got %d of %d records and %v, want them all: %+v", seed, len(got), len(readable), failed, describeModel(m))
		case len(m.tooLarge) > 0 && KindOf(failed) != KindUnavailable:
			t.Errorf("seed %d: got %v without %d records, want an error of kind unavailable: %s", seed, failed, len(m.tooLarge), describeModel(m))
		case len(m.tooLarge) > 0:
			known := asError(failed)
			if !slices.Equal(got, readable) || !slices.Equal(known.Detail, m.tooLarge) || !strings.Contains(known.Message, m.tooLarge[0]) {
				t.Errorf("seed %d: got %d of %d records and %v, want the others and that %v are missing: %s", seed, len(got), len(readable), failed, m.tooLarge, describeModel(m))
			}
		}
	}
}

// describeModel tells a model without its records.
func describeModel(m *modelList) string {
	sizes := make([]int, len(m.records))
	for i, record := range m.records {
		sizes[i] = len(record)
	}
	return fmt.Sprintf("at most %d, refuses %d, tells of the next page %t, position at the end %t, an array %t, cuts %t, busy %t, flag %d, inclusive %t, grows %t, sizes %v",
		m.most, m.refuses, m.tellsNext, m.infoIsLast, m.bare, m.cuts, m.busy, m.flag, m.inclusive, m.grows, sizes)
}

package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The model's bounds in bytes. The client's own would take too much memory.
const (
	modelPage   = 4 << 10
	modelRecord = 8 << 10
)

// modelList is a list of a service, with its rules for cutting and describing pages.
type modelList struct {
	records    []string // JSON.
	tooLarge   []string // The uuids of records that no client reads.
	nulls      int      // Elements that are not records, and are named after those.
	most       int      // Records of a page. Zero means as many as the client asks for.
	refuses    int      // Larger page sizes are refused. Zero means none.
	tellsNext  bool
	infoIsLast bool
	hasLength  bool
	bare       bool     // An array, of the first records that fit, whatever is asked for after.
	cuts       bool     // Every page breaks off when it is asked for the first time.
	busy       bool     // Every page is 503 when it is asked for the first time.
	flag       nextFlag // What it sends about a next page, if it does.
	inclusive  bool     // A page begins with the record that it is to come after.
	grows      bool     // A record is added before the others with each page, and moves them.
	added      int
	mu         sync.Mutex
	random     *rand.Rand
	served     map[string]bool // Queries that were answered once.
}

// nextFlag is how a service fills in its flag for the next page.
type nextFlag int

const (
	exact nextFlag = iota
	alwaysTrue
)

var walkSeeds = flag.Uint64("seeds", 200, "how many services the walk over a list is tried with")

func newModelList(random *rand.Rand) *modelList {
	m := &modelList{
		most: []int{0, 0, 1, 3, 17}[random.IntN(5)], refuses: []int{0, 0, 120}[random.IntN(3)],
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
		if m.most == 1 && !m.tellsNext { // A service that ignores the cursor looks the same.
			m.most = 3
		}
	}
	heavy := random.IntN(3)
	for range random.IntN(200) {
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
		client, err := New(Options{
			BaseURL: server.URL,
			Sleep:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
		if err != nil {
			t.Fatal(err)
		}
		client.maxPage, client.maxRecord = modelPage, modelRecord
		var got []string
		var failed error
		for record, err := range client.Walk(t.Context(), "/api/v1/calls", nil, AllOptions{
			PageSize: 150,
			Reuse:    seed%2 == 0,
		}) {
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
			return record == "null" || slices.ContainsFunc(m.tooLarge, func(id string) bool {
				return strings.Contains(record, id)
			})
		})
		switch {
		case m.bare: // Only a page that is longer than the client asked for shows the whole list.
			if failed == nil && len(m.records) > m.added {
				t.Errorf("seed %d: got %d of %d records and no error, want one: %s",
					seed, len(got), len(m.records), describeModel(m))
			}
		case m.isLoose():
			missing := slices.ContainsFunc(readable, func(record string) bool { return !slices.Contains(got, record) })
			if failed == nil && (missing || len(m.tooLarge)+m.nulls > 0) {
				t.Errorf("seed %d: got %d records of %d, and no error: %s",
					seed, len(got), len(readable), describeModel(m))
			}
		case len(m.tooLarge) > 0:
			before := readable
			if at := slices.IndexFunc(m.records, func(record string) bool {
				return strings.Contains(record, m.tooLarge[0])
			}); at >= 0 {
				before = slices.DeleteFunc(slices.Clone(m.records[:at]), func(record string) bool {
					return record == "null"
				})
			}
			known := asError(failed)
			if known == nil ||
				known.Kind != KindUnavailable ||
				!slices.Contains(known.Detail, m.tooLarge[0]) ||
				!slices.Equal(got, before) {
				t.Errorf("seed %d: got %d of %d records and %v, want those before %s, and its name: %s",
					seed, len(got), len(before), failed, m.tooLarge[0], describeModel(m))
			}
		case m.nulls > 0:
			if KindOf(failed) != KindUnavailable ||
				!slices.Equal(got, readable) ||
				len(asError(failed).Detail) != min(m.nulls, maxNamed) {
				t.Errorf("seed %d: got %d of %d records and %v, want the others and that %d are missing: %s",
					seed, len(got), len(readable), failed, m.nulls, describeModel(m))
			}
		case len(m.tooLarge) == 0 && (failed != nil || !slices.Equal(got, readable)):
			t.Errorf("seed %d: got %d of %d records and %v, want them all: %+v",
				seed, len(got), len(readable), failed, describeModel(m))
		}
	}
}

// describeModel describes a model without its records.
func describeModel(m *modelList) string {
	sizes := make([]int, len(m.records))
	for i, record := range m.records {
		sizes[i] = len(record)
	}
	return fmt.Sprintf("at most %d, refuses %d, tells of the next page %t, position at the end %t, an array %t, cuts %t, busy %t, flag %d, inclusive %t, grows %t, sizes %v",
		m.most, m.refuses, m.tellsNext, m.infoIsLast, m.bare, m.cuts, m.busy, m.flag, m.inclusive, m.grows, sizes)
}

// If records of one kilobyte exceed the bound, the client halves the page until it fits.
func TestListOfLargeRecords(t *testing.T) {
	t.Parallel()
	const page = `{"pageInfo":{"endCursor":"e"},"edges":[{"node":{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10","notes":"`
	for _, test := range []struct {
		query string
		fits  int // Records that do.
		bare  bool
		want  string // Sizes that are asked for.
		fewer int
		fails string
	}{
		{"", 100, false, "first=", 0, ""},
		{"", 12, false, "first=,first=50,first=25,first=12", 12, ""},
		{"before=b", 50, false, "last=,last=50", 50, ""},
		{"before=b&after=a", 50, false, "first=,first=50", 50, ""},
		{"before=b&first=4", 2, false, "first=4,first=2", 2, ""},
		{"last=4", 1, false, "last=4,last=2,last=1", 1, ""},
		{
			query: "first=4",
			want:  "first=4,first=2,first=1",
			fewer: 1,
			fails: `a record was not read: 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 is larger than 64 MiB`,
		},
		{"first=1", 0, true, "first=1", 0, "the answer is larger than 0 MiB"},
		{"first=0", -1, false, "first=0", 0, "the answer is larger than 0 MiB"},
	} {
		var asked []string
		c, err := New(Options{
			BaseURL: "https://a.example",
			Transport: canned(func(r *http.Request) (*http.Response, error) {
				name, size := "first", r.URL.Query().Get("first")
				if strings.Contains(test.want, "last") {
					name, size = "last", r.URL.Query().Get("last")
				}
				asked = append(asked, name+"="+size)
				n, failed := strconv.Atoi(size)
				if failed != nil {
					n = 100
				}
				switch {
				case n <= test.fits:
					return answered(200, `{"pageInfo":{"hasNextPage":false},"edges":[]}`, true), nil
				case test.bare:
					return answered(200, `[{"notes":"`+strings.Repeat("x", 9000)+`"}]`, false), nil
				default:
					return answered(200, page+strings.Repeat("x", 9000)+`"}}]}`, false), nil
				}
			}),
		})
		servicetest.Check(t, err)
		c.maxPage, c.maxRecord = 4000, 8000
		query, _ := url.ParseQuery(test.query)
		options, wrong := apitype.ParseCallListOptions(query)
		if len(wrong) > 0 {
			t.Error(wrong)
		}
		got, err := c.Calls.List(t.Context(), options)
		if err == nil {
			err = got.Err()
		}
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		if strings.Join(asked, ",") != test.want || got.Fewer != test.fewer || failed != test.fails {
			t.Errorf("%q: got %v, fewer %d, %v, want %s, fewer %d, %q",
				test.query, asked, got.Fewer, err, test.want, test.fewer, test.fails)
		}
	}
}

// A page that is too large and is not JSON is asked for once: fewer records would not make it any.
func TestLargePageThatIsNotJSON(t *testing.T) {
	t.Parallel()
	for start, want := range map[string]int{"x": 1, "": 1, `{"edges":[{"node":{"notes":"`: 4} {
		asked := 0
		c, err := New(Options{
			BaseURL: "https://a.example",
			Transport: canned(func(*http.Request) (*http.Response, error) {
				asked++
				return answered(200, start+strings.Repeat("x", 9000), false), nil
			}),
		})
		servicetest.Check(t, err)
		c.maxPage, c.maxRecord = 4000, 8000
		_, err = c.Calls.List(t.Context(), apitype.CallListOptions{Paging: apitype.Paging{First: new(8)}})
		if asked != want || err == nil || (want == 1) != strings.Contains(err.Error(), "it is not JSON") {
			t.Errorf("%q: got %d requests and %v, want %d", start, asked, err, want)
		}
	}
}

// A body that does not end and is not JSON is not read on, whatever was asked for.
func TestEndlessBodyThatIsNotJSON(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"record", "page of one", "change"} {
		var body endless
		c, err := New(Options{
			BaseURL: "https://a.example",
			Tries:   1,
			Transport: canned(func(*http.Request) (*http.Response, error) {
				answer := answered(200, "", false)
				answer.Body = &body
				return answer, nil
			}),
		})
		servicetest.Check(t, err)
		id, most := apitype.NewUUID(), endless(2<<20)
		switch asked {
		case "record":
			_, err = c.Persons.Get(t.Context(), id)
		case "page of one":
			_, err = c.Persons.List(t.Context(), apitype.PersonListOptions{Paging: apitype.Paging{First: new(1)}})
		default:
			change, wrong := CancelCallChange(id, apitype.CancelCallRequest{})
			servicetest.Check(t, wrong)
			_, err = c.Send(t.Context(), change)
			most *= 2 // The client looks up the outcome.
		}
		if err == nil || !strings.Contains(err.Error(), "it is not JSON") || body > most {
			t.Errorf("%s: got %v after %d bytes, want that it is not JSON, within %d", asked, err, body, most)
		}
	}
}

// endless is a body without an end, and how much of it was read.
type endless int

func (e *endless) Read(p []byte) (int, error) {
	*e += endless(len(p))
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}

// What a walk reports to its caller, page by page.
func TestWalkTells(t *testing.T) {
	t.Parallel()
	var told []string
	c, err := New(Options{
		BaseURL: "https://a.example",
		Transport: canned(func(r *http.Request) (*http.Response, error) {
			after := r.URL.Query().Get("after")
			next := map[string]string{"s": "a", "a": "b", "b": "c"}[after]
			a := answered(
				200,
				`{"pageInfo":{"endCursor":"`+next+`","hasNextPage":`+strconv.FormatBool(next != "c")+
					`},"edges":[{"node":{"uuid":"`+apitype.NewUUID().String()+`"},"cursor":"`+next+`"}]}`,
				true,
			)
			a.Header.Set("X-Page", next)
			return a, nil
		}),
	})
	servicetest.Check(t, err)
	query := url.Values{"after": {"s"}}
	for record, err := range c.Walk(t.Context(), "/api/v1/calls", query, AllOptions{
		Answered: func(h http.Header) { told = append(told, "page "+h.Get("X-Page")) },
		Yielded:  func() { told = append(told, "flush") },
	}) {
		servicetest.Check(t, err)
		told = append(told, record.Cursor)
	}
	if got := strings.Join(told, " "); got != "page a a flush page b b flush page c c flush" {
		t.Errorf("got %s", got)
	}
	if len(query) != 1 {
		t.Errorf("got %v, want the caller's query as it was", query)
	}
}

// A list ends at a record that is too large by itself, and names its place.
func TestAListEndsAtATooLargeRecord(t *testing.T) {
	t.Parallel()
	const id = "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"
	for want, large := range map[string]string{
		"a record was not read: " + id + " is larger than 64 MiB":                `{"uuid":"` + id + `","notes":"`,
		`a record was not read: one after the cursor "c1" is larger than 64 MiB`: `{"notes":"`,
	} {
		c, err := New(Options{
			BaseURL: "https://a.example",
			Transport: canned(func(r *http.Request) (*http.Response, error) {
				node, info := `{"uuid":"`+apitype.NewUUID().String()+`"}`, `{"endCursor":"c1","hasNextPage":true}`
				if r.URL.Query().Get("after") == "c1" {
					node, info = large+strings.Repeat("x", 9000)+`"}`, `{"endCursor":"c2","hasNextPage":true}`
				}
				return answered(200, `{"pageInfo":`+info+`,"edges":[{"node":`+node+`}]}`, false), nil
			}),
		})
		servicetest.Check(t, err)
		c.maxPage, c.maxRecord = 4000, 8000
		read := 0
		var failed error
		for _, failed = range c.Walk(t.Context(), "/api/v1/calls", nil, AllOptions{PageSize: 1}) {
			if failed == nil {
				read++
			}
		}
		if fmt.Sprint(failed) != want || KindOf(failed) != KindUnavailable || read != 1 {
			t.Errorf("got %d records and %v, want one and %q", read, failed, want)
		}
	}
}

package apiclient

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// A page is read whole or refused, and each record is one whole object.
func FuzzReadPage(f *testing.F) {
	for _, seed := range []string{
		`{"pageInfo":{"startCursor":"a","endCursor":"b","hasPreviousPage":false,"hasNextPage":true},"edges":[{"cursor":"a","node":{"uuid":"x"}},{"node":{},"cursor":"b"}]}`,
		`[{"uuid":"x"},{"node":{"a":[1,2]},"cursor":"c"}]`, `{"data":[{}],"total":1}`, `{"edges":[{"node":null}]}`,
		`{"edges":[],"edges":[{"a":1}]}`, `{"pageInfo":{"hasNextPage":false},"edges":[{"a":1},2]}`,
		`{"pageInfo":null,"edges":[]}`, `[ {"a" : "\ud800"} ] `, `{"edges":{}}`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		page, err := readPage[struct{}](data, nil)
		if err != nil {
			return
		}
		for _, record := range page.Records {
			if len(record.Raw) == 0 || record.Raw[0] != '{' || record.Raw[len(record.Raw)-1] != '}' {
				t.Errorf("got record %q, want one object", record.Raw)
			}
		}
	})
}

// A list element without a record is an error, not an empty line. Among records it is named. In a list of other things
// nothing is read.
func TestElementsWithoutRecord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		`{"edges":[{"node":null}]}`:                           ErrUnreadable,
		`{"edges":[null]}`:                                    ErrUnreadable,
		`[{"uuid":"x"},null]`:                                 ErrUnreadable,
		`{"edges":[{"node":{"uuid":"x"}},{"node":["y"]}]}`:    ErrUnreadable,
		`{"edges":[{"node":"x","cursor":"c"}]}`:               ErrUnreadable,
		`{"edges":[7]}`:                                       errNoRecord,
		`{"edges":[{"node":{}}],"edges":[]}`:                  errTwoEdges,
		`{"edges":[{"node":["y"}]}`:                           errNotWhole,
		`{"edges":[{"uuid":"x"}]}`:                            nil,
		`[{"uuid":"x","node":"a field of its own"}]`:          nil,
		`{"data":[{"uuid":"x","node":"a field of its own"}]}`: nil,
	} {
		page, err := readPage[struct{}]([]byte(text), nil)
		if err == nil {
			err = page.Err()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
	}
}

// A page that breaks off anywhere is refused.
func TestPagesThatBreakOff(t *testing.T) {
	t.Parallel()
	const head = `{"pageInfo":{"startCursor":"a","x":[1],"endCursor":"b","hasPreviousPage":false,"hasNextPage":true}`
	for _, whole := range []string{
		head + `,"edges":[{"cursor":"a","y":{},"node":{"uuid":"x"}},{"node":{},"cursor":"b"}],"z":[2]}`,
		`{"edges":[{"cursor":"a","node":{}}],"pageInfo":{"startCursor":null,"endCursor":"a","hasNextPage":null}}`,
		`[{"uuid":"x"},{"a":[1,2]}]`,
		`{"data":[{}],"total":1}`,
	} {
		for n := range whole {
			if _, err := readPage[struct{}]([]byte(whole[:n]), nil); !errors.Is(err, errNotWhole) && n > 0 {
				t.Errorf("%s: got %v, want that it is not whole", whole[:n], err)
			}
		}
		if _, err := readPage[struct{}]([]byte(whole), nil); err != nil {
			t.Errorf("%s: got %v", whole, err)
		}
	}
}

// The parts of a position may be absent or null; of another kind they are not a position.
func TestPositions(t *testing.T) {
	t.Parallel()
	type told struct {
		Start, End        string
		Previous, Next    bool
		Known             bool
		First, Last, Fail string
	}
	for text, want := range map[string]told{
		`{"startCursor":"s","endCursor":"e","hasPreviousPage":true,"hasNextPage":true}`: {
			Start:    "s",
			End:      "e",
			Previous: true,
			Next:     true,
			Known:    true,
		},
		`{"hasPreviousPage":false,"hasNextPage":false}`: {
			Start: "1",
			End:   "2",
			Known: true,
		},
		`{"startCursor":null,"endCursor":null,"hasNextPage":null}`: {Start: "1", End: "2"},
		`{"startCursor":"s"}`:    {Start: "s", End: "2"},
		`{"endCursor":"e"}`:      {Start: "1", End: "e"},
		`null`:                   {Start: "1", End: "2"},
		`7`:                      {Start: "1", End: "2"},
		`{"startCursor":7}`:      {Fail: "its pageInfo is of another kind"},
		`{"endCursor":[]}`:       {Fail: "its pageInfo is of another kind"},
		`{"hasNextPage":"true"}`: {Fail: "its pageInfo is of another kind"},
		`{"hasPreviousPage":0}`:  {Fail: "its pageInfo is of another kind"},
	} {
		for _, page := range []string{
			`{"pageInfo":` + text + `,"edges":[{"cursor":"1","node":{}},{"cursor":"x","node":{}},{"cursor":"2","node":{}}]}`,
			`{"edges":[{"cursor":"1","node":{}},{"cursor":"x","node":{}},{"cursor":"2","node":{}}],"pageInfo":` +
				text + `}`,
		} {
			p, err := readPage[struct{}]([]byte(page), nil)
			got := told{
				Start:    p.StartCursor,
				End:      p.EndCursor,
				Previous: p.HasPreviousPage,
				Next:     p.HasNextPage,
				Known:    p.hasNextKnown,
			}
			if err != nil {
				got = told{Fail: err.Error()}
			}
			servicetest.Same(t, page, want, got)
		}
	}
	const id = "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"
	for body, want := range map[string]string{
		`{"pageInfo":{"endCursor":"e"},"edges":[{"cursor":"e","node": {"uuid":"` + id + `","no`: id,
		`{"edges":[{"node":{"uuid":"` + id + `"`:                                                id,
		`{"edges":[{"node":{"notes":"x","uuid":"` + id + `"`:                                    id,
		`{"edges":[{"node":{"notes":"x`:                                                         "",
		`{"edges":[{"node":"` + id:                                                              "",
		``:                                                                                      "",
	} {
		if _, got := beginning([]byte(body)); got != want {
			t.Errorf("%s: got the record %q, want %q", body, got, want)
		}
	}
}

// The error of a list names what could not be read.
func TestWhatIsUnread(t *testing.T) {
	t.Parallel()
	many := make([]unread, 21)
	for i := range many {
		many[i] = noRecord("c" + strconv.Itoa(i))
	}
	for _, test := range []struct {
		all     []unread
		want    string
		details int
	}{
		{[]unread{noRecord("")}, "a record was not read: an element without a cursor is not a record", 1},
		{[]unread{noRecord("c1")}, `a record was not read: the element at the cursor "c1" is not a record`, 1},
		{
			all:     []unread{tooLargeAlone("", "c1")},
			want:    `a record was not read: one after the cursor "c1" is larger than 64 MiB`,
			details: 1,
		},
		{
			all:     []unread{tooLargeAlone("u-1", "c1"), noRecord("")},
			want:    "2 records were not read; the first of them, u-1, is larger than 64 MiB",
			details: 2,
		},
		{many[:20], `20 records were not read; the first of them, the element at the cursor "c0", is not a record`, 20},
		{many, `21 records were not read; the first of them, the element at the cursor "c0", is not a record`, 20},
	} {
		for _, atEnd := range []bool{false, true} {
			got := unreadError(test.all, atEnd)
			if got.Message != test.want || len(got.Detail) != test.details || got.Kind != KindUnavailable ||
				!errors.Is(got, ErrUnreadable) || errors.Is(got, ErrAtEnd) != atEnd {
				t.Errorf("got %+v, want %q and %d details, at the end %t", got, test.want, test.details, atEnd)
			}
		}
	}
}

// Rows leaves out unreadable records and reports them.
func TestRowsOfAPage(t *testing.T) {
	t.Parallel()
	page, err := readPage[apitype.Call](
		[]byte(`[{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10","status":"expired"},null,{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a11","attemptsCount":"x"},{"uuid":7}]`),
		nil,
	)
	servicetest.Check(t, err)
	status := func(c apitype.Call) apitype.CallStatus { return c.Status }
	if got := Rows(page, status); !slices.Equal(got, []apitype.CallStatus{"expired"}) {
		t.Errorf("got %v, want the one that can be read", got)
	}
	var told []string
	page.omitted = func(what, place string) { told = append(told, what+place) }
	Rows(page, status)
	want := []string{
		"the record 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a11 is not what the interface promises: the field /attemptsCount is of another kind",
		"a record is not what the interface promises: the field /uuid is of another kind",
		"a record was not read: an element without a cursor is not a record",
	}
	servicetest.Same(t, "told", want, told)
}

// Readable goes on behind a record that cannot be read, and ends with any other error.
func TestReadable(t *testing.T) {
	t.Parallel()
	type item struct {
		raw string
		err error
	}
	good := item{raw: `{"status":"expired"}`}
	end := unreadError([]unread{noRecord("c")}, true)
	cut := unreadError([]unread{noRecord("c")}, false)
	for _, test := range []struct {
		name                  string
		items                 []item
		values, errors, tells int
	}{
		{"all good", []item{good, good}, 2, 0, 0},
		{"a bad record", []item{{raw: `{"status":7}`}, good}, 1, 0, 1},
		{"bad ones at the end", []item{good, {err: end}}, 1, 0, 1},
		{"it ends before", []item{good, {err: cut}, good}, 2, 1, 0},
		{"another error", []item{{err: errNotWhole}}, 0, 1, 0},
	} {
		values, failed, told := 0, 0, 0
		walk := func(yield func(Record[apitype.Call], error) bool) {
			for _, i := range test.items {
				r := Record[apitype.Call]{}
				if i.err == nil {
					r.Raw = []byte(i.raw)
				}
				if !yield(r, i.err) {
					return
				}
			}
		}
		for _, err := range Readable(walk, func(error) { told++ }) {
			if err != nil {
				failed++
			} else {
				values++
			}
		}
		if values != test.values || failed != test.errors || told != test.tells {
			t.Errorf("%s: got %d values, %d errors, %d told, want %d, %d, %d",
				test.name, values, failed, told, test.values, test.errors, test.tells)
		}
		for range Readable(walk, func(error) {}) {
			break
		}
	}
}

// An edge has the revision of its record. Other members are not taken for it.
func TestRevisionOfAnEdge(t *testing.T) {
	t.Parallel()
	for edge, want := range map[string]string{
		`{"node":{"uuid":"a"},"revision":7,"cursor":"c"}`: `"7"`,
		`{"revision":12,"node":{"uuid":"a"}}`:             `"12"`,
		`{"node":{"uuid":"a","revision":7}}`:              "",
		`{"node":{"uuid":"a"},"revision":"7"}`:            "",
		`{"node":{"uuid":"a"},"revision":null}`:           "",
		`{"uuid":"a","revision":7}`:                       "",
	} {
		page, err := readPage[map[string]any]([]byte(`{"pageInfo":{},"edges":[`+edge+`]}`), nil)
		if err != nil {
			t.Fatalf("%s: %v", edge, err)
		}
		if got := page.Records[0].ETag; got != want {
			t.Errorf("%s: got the entity tag %s, want %s", edge, got, want)
		}
	}
}

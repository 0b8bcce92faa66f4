package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"fundesk/apiclient/apitype"
)

// AllOptions say how a list is walked.
type AllOptions struct {
	PageSize int // Records asked for at a time; 0: 100.
	Fallback int // Asked for when the service refuses PageSize; 0: none.
	Limit    int // Records wanted; 0: all. The page after the last wanted record is not asked for.
	// More is called when the walk ended at Limit and the service has, or may have,
	// further records.
	More func()
	// Answered is called with each page's headers before its records are yielded.
	Answered func(http.Header)
	// Yielded is called when all records of a page were yielded, before the next page is
	// waited for: the moment to flush.
	Yielded func()
	// Reuse puts later pages into the memory of earlier ones: the Raw of a record is then
	// valid only until the next record is asked for.
	Reuse bool
}

// defaultPageSize is asked for when the caller has no wish.
const defaultPageSize = 100

// typicalRecord is what a call with its person takes, in bytes: the first page is read
// into memory of that size, in place of growing until it fits.
const typicalRecord = 2 << 10

// maxEmptyPages is how many pages without a record may follow each other.
const maxEmptyPages = 20

// endpoint is a noun of the service: its path and the type of its records.
type endpoint[T any] struct {
	client *Client
	path   string
}

// get fetches one record.
func (e endpoint[T]) get(ctx context.Context, id apitype.UUID) (Record[T], error) {
	answer, err := e.client.read(ctx, request{path: e.path + "/" + id.String()})
	if err != nil {
		return Record[T]{}, err
	}
	if err := checkRecord(answer, id); err != nil {
		return Record[T]{}, err
	}
	return record[T](answer), nil
}

// list fetches one page.
func (e endpoint[T]) list(ctx context.Context, query url.Values) (Page[T], error) {
	page, _, err := e.fetch(ctx, query, nil, nil)
	return page, err
}

// fetch fetches one page, into space where that is enough; early is told the cursor of
// the next one as soon as it is known.
func (e endpoint[T]) fetch(ctx context.Context, query url.Values, space []byte, early func(cursor string)) (Page[T], http.Header, error) {
	r := request{path: e.path, query: query, space: space}
	if early != nil {
		told := false
		r.early = func(prefix []byte) bool {
			cursor, done := earlyCursor(prefix)
			if done && cursor != "" && !told {
				told = true
				early(cursor)
			}
			return done
		}
	}
	answer, err := e.client.read(ctx, r)
	if err != nil {
		return Page[T]{}, nil, err
	}
	page, err := readPage[T](answer.Body)
	if err != nil {
		return Page[T]{}, nil, broken(answer, err.Error())
	}
	page.body = answer.Body
	if !page.hasNextKnown { // Spec gap: L3. Read on while there is something, and a way on.
		asked, err := strconv.Atoi(query.Get("first"))
		n := len(page.Records)
		// A page may hold less than was asked for because the service has a bound of its
		// own. More than that, and no cursor: that service does not page.
		page.HasNextPage = n > 0 && (page.EndCursor != "" || err == nil && n == asked)
	}
	return page, answer.Header, nil
}

// all walks a list from the place in query. At most one page is fetched ahead of the
// one that is yielded, and it is cancelled when the walk ends early.
func (e endpoint[T]) all(ctx context.Context, query url.Values, o AllOptions) iter.Seq2[Record[T], error] {
	return func(yield func(Record[T], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w := &walk[T]{endpoint: e, query: query, options: o, cursors: map[string]bool{}, heads: map[string]bool{}}
		if w.options.PageSize <= 0 {
			w.options.PageSize = defaultPageSize
		}
		w.run(ctx, yield)
	}
}

// walk is one walk over a list.
type walk[T any] struct {
	endpoint[T]
	query   url.Values
	options AllOptions
	cursors map[string]bool // Cursors that were followed.
	heads   map[string]bool // First records of the pages.
	empty   int             // Pages without a record since the last with one.
	yielded int
	size    int    // Of the last page and a little more, in bytes; 0 before the first.
	spare   []byte // The memory of a page that was used up.
	full    int    // Records of the first page, where the service says nothing of a next one.
}

// fetched is a page on its way. Next is its successor when that was started early.
type fetched[T any] struct {
	after  string
	done   chan struct{}
	early  chan string // Cursor of the next page, once, before done.
	page   Page[T]
	header http.Header
	err    error
	guess  bool // Nobody said that there is such a page.
}

// start begins to fetch the page after a cursor.
func (w *walk[T]) start(ctx context.Context, after string) *fetched[T] {
	f := &fetched[T]{after: after, done: make(chan struct{}), early: make(chan string, 1)}
	query := cloneQuery(w.query)
	size := w.options.PageSize
	if left := w.options.Limit - w.yielded; w.options.Limit > 0 && left < size && w.options.Limit <= w.options.PageSize {
		size = left
	}
	query.Set("first", strconv.Itoa(size))
	if after != "" {
		query.Set("after", after)
	}
	space := w.space(size)
	go func() {
		defer close(f.done)
		f.page, f.header, f.err = w.fetch(ctx, query, space, func(cursor string) { f.early <- cursor })
	}()
	return f
}

// space is memory for a page of some records: that of an earlier one, or as much as the
// last one took.
func (w *walk[T]) space(records int) []byte {
	spare, size := w.spare, w.size
	if size == 0 {
		size = min(records, apitype.MaxPageSize) * typicalRecord
	}
	if w.spare = nil; cap(spare) >= size {
		return spare
	}
	return make([]byte, 0, size)
}

// run fetches and yields page after page.
func (w *walk[T]) run(ctx context.Context, yield func(Record[T], error) bool) {
	current := w.start(ctx, w.query.Get("after"))
	for current != nil {
		next := w.startEarly(ctx, current)
		<-current.done
		if current.err != nil && w.fallBack(current.err) {
			current = w.start(ctx, current.after)
			continue
		}
		if current.err != nil {
			yield(Record[T]{}, current.err)
			return
		}
		if current.guess && w.repeats(current.page) {
			return // The way on led back: that was all.
		}
		w.judge(&current.page)
		if next == nil && w.wantsMore(len(current.page.Records)) && current.page.HasNextPage && w.fresh(current.after, current.page.EndCursor) {
			next = w.start(ctx, current.page.EndCursor)
			next.guess = !current.page.hasNextKnown && len(current.page.Records) < w.options.PageSize
		}
		w.size = len(current.page.body) + len(current.page.body)/16
		if w.options.Answered != nil {
			w.options.Answered(current.header)
		}
		if !w.yieldPage(current.page, yield) {
			return
		}
		if w.options.Yielded != nil {
			w.options.Yielded()
		}
		if err := w.check(current, next); err != nil {
			yield(Record[T]{}, err)
			return
		}
		if w.options.Reuse {
			w.spare = current.page.body[:0]
		}
		current = next
	}
}

// judge ends a list whose service says nothing of a next page: after a full page there
// may be one, and full is what was asked for, or less where the service has a bound of its
// own, as its first page shows. Spec gap: L3.
func (w *walk[T]) judge(page *Page[T]) {
	if page.hasNextKnown {
		return
	}
	w.full = max(w.full, len(page.Records))
	page.HasNextPage = page.HasNextPage && len(page.Records) == w.full
}

// repeats reports whether a page begins with a record that an earlier one began with.
func (w *walk[T]) repeats(page Page[T]) bool {
	return len(page.Records) > 0 && w.heads[identity(page.Records[0].Raw)]
}

// startEarly starts the next page as soon as the current one has told its cursor.
func (w *walk[T]) startEarly(ctx context.Context, current *fetched[T]) *fetched[T] {
	select {
	case cursor := <-current.early:
		if w.wantsMore(w.options.PageSize) && w.fresh(current.after, cursor) {
			return w.start(ctx, cursor)
		}
	case <-current.done:
	}
	return nil
}

// wantsMore reports whether records are wanted beyond the coming n.
func (w *walk[T]) wantsMore(n int) bool {
	return w.options.Limit == 0 || w.yielded+n < w.options.Limit
}

// fresh reports whether a cursor leads somewhere new, and notes it.
func (w *walk[T]) fresh(after, cursor string) bool {
	if cursor == "" || cursor == after || w.cursors[cursor] {
		return false
	}
	w.cursors[cursor] = true
	return true
}

// fallBack reports whether the first page is to be asked for again, smaller.
func (w *walk[T]) fallBack(err error) bool {
	known := asError(err)
	refused := known != nil && (known.Status == http.StatusBadRequest || known.Status == http.StatusUnprocessableEntity || errors.Is(err, errTooLarge))
	if !refused || w.options.Fallback <= 0 || w.options.Fallback >= w.options.PageSize || w.yielded > 0 || len(w.heads) > 0 {
		return false
	}
	w.options.PageSize, w.options.Fallback = w.options.Fallback, 0
	return true
}

// yieldPage hands out the records of a page; false when the caller has enough.
func (w *walk[T]) yieldPage(page Page[T], yield func(Record[T], error) bool) bool {
	for i, record := range page.Records {
		if !yield(record, nil) {
			return false
		}
		w.yielded++
		if w.yielded == w.options.Limit {
			if w.options.More != nil && (i+1 < len(page.Records) || page.HasNextPage) {
				w.options.More()
			}
			return false
		}
	}
	return true
}

// check finds a list that would end short or never. The answer to a broken list is an
// error, not silence.
func (w *walk[T]) check(current, next *fetched[T]) error {
	stuck := func(what string) error {
		return &Error{Kind: KindUnavailable, Status: http.StatusOK, Message: "the answer is not what the interface promises: " + what}
	}
	page := current.page
	if page.HasNextPage && next == nil {
		if page.EndCursor == "" {
			return stuck("the list goes on, but gives no cursor to go on with")
		}
		return stuck("the cursor of the list does not advance")
	}
	if len(page.Records) == 0 {
		if w.empty++; w.empty > maxEmptyPages {
			return stuck("the list goes on for ever without a record")
		}
		return nil
	}
	w.empty = 0
	if w.repeats(page) {
		return stuck("the pages of the list repeat")
	}
	if head := identity(page.Records[0].Raw); head != "" {
		w.heads[head] = true
	}
	return nil
}

// identity is the uuid of a record, "" when it has none.
func identity(raw json.RawMessage) string {
	var record struct {
		UUID string `json:"uuid"`
	}
	if json.Unmarshal(raw, &record) != nil {
		return ""
	}
	return record.UUID
}

func cloneQuery(query url.Values) url.Values {
	clone := make(url.Values, len(query)+2)
	maps.Copy(clone, query)
	return clone
}

// Walk walks any list below the base URL, whatever its records are.
func (c *Client) Walk(ctx context.Context, path string, query url.Values, o AllOptions) iter.Seq2[Record[json.RawMessage], error] {
	return endpoint[json.RawMessage]{client: c, path: path}.all(ctx, query, o)
}

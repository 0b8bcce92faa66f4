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

// maxEmptyPages is how many pages without a record may follow each other.
const maxEmptyPages = 20

// typicalRecord is what a call with its person and a little more takes, in bytes: the
// first page is read into memory of that size, in place of growing until it fits.
const typicalRecord = 5 << 9

// defaultPageSize is asked for when the caller has no wish.
const defaultPageSize = 100

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

// Walk walks any list below the base URL, whatever its records are.
func (c *Client) Walk(ctx context.Context, path string, query url.Values, o AllOptions) iter.Seq2[Record[json.RawMessage], error] {
	return endpoint[json.RawMessage]{client: c, path: path}.all(ctx, query, o)
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
	size    int       // Of the last page and a little more, in bytes; 0 before the first.
	spare   memory[T] // Of a page that was used up.
	full    int       // Records of the first page, where the service says nothing of a next one.
}

// fetched is a page on its way.
type fetched[T any] struct {
	after  string
	done   chan struct{}
	early  chan string // Cursor of the next page, once, before done.
	page   *pageReader[T]
	answer *Response
	err    error
	guess  bool // Nobody said that there is such a page.
}

// start begins to fetch the page after a cursor. The caller waits for the first page: its
// records are read as they are asked for. Later ones are read whole while an earlier one
// is in use.
func (w *walk[T]) start(ctx context.Context, after string) *fetched[T] {
	fetch := w.fetchWhole
	if len(w.cursors) == 0 {
		fetch = w.fetch
	}
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
		f.page, f.answer, f.err = fetch(ctx, query, space, func(cursor string) { f.early <- cursor })
	}()
	return f
}

// space is memory for a page of some records: that of an earlier one, and as many bytes
// as the last one took.
func (w *walk[T]) space(records int) memory[T] {
	space, size := w.spare, w.size
	if size == 0 {
		size = min(records, apitype.MaxPageSize) * typicalRecord
	}
	if w.spare = (memory[T]{}); cap(space.body) < size {
		space.body = make([]byte, 0, size)
	}
	return space
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
		w.judge(&current.page.Page)
		if next != nil && next.after != current.page.EndCursor {
			next = nil // The page broke and was read again: what is new since moved its end.
		}
		if next == nil {
			next = w.startNext(ctx, current, w.coming(current.page))
		}
		size := len(current.answer.Body)
		w.size = size + size/16
		if w.options.Answered != nil {
			w.options.Answered(current.answer.Header)
		}
		count, goOn := w.yieldPage(current, yield)
		if !goOn {
			return
		}
		if w.options.Yielded != nil {
			w.options.Yielded()
		}
		if next == nil { // Its records were fewer than were asked for, and than are wanted.
			next = w.startNext(ctx, current, 0)
		}
		if err := w.check(current, next, count); err != nil {
			yield(Record[T]{}, err)
			return
		}
		if w.options.Reuse {
			w.spare = memory[T]{current.answer.Body[:0], current.page.Records[:0]}
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

// coming is how many records of a page are still to be yielded, at most.
func (w *walk[T]) coming(page *pageReader[T]) int {
	if page.lazy {
		return w.options.PageSize
	}
	return len(page.Records)
}

// startNext starts the page after one of which count records are still to be yielded.
func (w *walk[T]) startNext(ctx context.Context, current *fetched[T], count int) *fetched[T] {
	page := current.page
	if !w.wantsMore(count) || !page.HasNextPage || !w.fresh(current.after, page.EndCursor) {
		return nil
	}
	next := w.start(ctx, page.EndCursor)
	next.guess = !page.hasNextKnown && len(page.Records) < w.options.PageSize
	return next
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

// yieldPage hands out the records of a page and counts them; it is false when the walk
// ends with them.
func (w *walk[T]) yieldPage(current *fetched[T], yield func(Record[T], error) bool) (count int, goOn bool) {
	enough := func() bool { return w.options.Limit > 0 && w.yielded == w.options.Limit }
	more := current.page.HasNextPage
	for record, err := range current.page.records() {
		if err == nil && count == 0 && w.repeats(record) {
			if current.guess {
				return 0, false // The way on led back: that was all.
			}
			err = errRepeats
		}
		if err != nil {
			yield(Record[T]{}, broken(current.answer, err.Error()))
			return count, false
		}
		if more = more || enough(); enough() {
			break
		}
		if !yield(record, nil) {
			return count, false
		}
		count++
		w.yielded++
	}
	if !enough() {
		return count, true
	}
	if more && w.options.More != nil {
		w.options.More()
	}
	return count, false
}

var errRepeats = errors.New("the pages of the list repeat")

// repeats reports whether a page begins with a record that an earlier one began with,
// and notes it.
func (w *walk[T]) repeats(first Record[T]) bool {
	head := identity(first.Raw)
	if head == "" {
		return false
	}
	known := w.heads[head]
	w.heads[head] = true
	return known
}

// check finds a list that would end short or never. The answer to a broken list is an
// error, not silence.
func (w *walk[T]) check(current, next *fetched[T], count int) error {
	if page := current.page; page.HasNextPage && next == nil {
		if page.EndCursor == "" {
			return broken(current.answer, "the list goes on, but gives no cursor to go on with")
		}
		return broken(current.answer, "the cursor of the list does not advance")
	}
	if count > 0 {
		w.empty = 0
	} else if w.empty++; w.empty > maxEmptyPages {
		return broken(current.answer, "the list goes on for ever without a record")
	}
	return nil
}

func cloneQuery(query url.Values) url.Values {
	clone := make(url.Values, len(query)+2)
	maps.Copy(clone, query)
	return clone
}

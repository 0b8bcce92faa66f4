package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"fundesk/apiclient/apitype"
)

// AllOptions are the options of a walk through a list.
type AllOptions struct {
	PageSize int // Records of a page. Zero means 100. Fewer if so many are too large.
	Fallback int // Used if the service refuses PageSize. Zero means none.
	Limit    int // Records wanted. Zero means all. No page after the last wanted record is requested.
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

// typicalRecord is the size of a call with its person and a little more, in bytes. The first page gets memory of that
// size, so that it need not grow.
const typicalRecord = 5 << 9

// defaultPageSize is asked for when the caller has no wish.
const defaultPageSize = 100

// all walks through a list from the place in query. It fetches at most one page ahead of the yielded one, and cancels
// that request when the walk ends early.
func (e endpoint[T]) all(ctx context.Context, query url.Values, o AllOptions) iter.Seq2[Record[T], error] {
	return func(yield func(Record[T], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w := &walk[T]{endpoint: e, query: query, options: o, cursors: map[string]bool{}, heads: map[apitype.UUID]bool{}}
		if w.options.PageSize <= 0 {
			w.options.PageSize = defaultPageSize
		}
		w.asked = w.options.PageSize
		w.run(ctx, yield)
	}
}

// Walk walks any list below the base URL, whatever its records are.
func (c *Client) Walk(
	ctx context.Context,
	path string,
	query url.Values,
	o AllOptions,
) iter.Seq2[Record[json.RawMessage], error] {
	return endpoint[json.RawMessage]{client: c, path: path}.all(ctx, query, o)
}

// walk is one walk over a list.
type walk[T any] struct {
	endpoint[T]
	query   url.Values
	options AllOptions
	asked   int                   // Records to ask for at a time: fewer than PageSize after a page that was too large.
	cursors map[string]bool       // Cursors that were followed.
	heads   map[apitype.UUID]bool // First records of the pages.
	empty   int                   // Pages without a record since the last with one.
	yielded int
	bytes   int       // Of the last page and a little more; 0 before the first.
	spare   memory[T] // Of a page that was used up.
	unread  []unread  // Records that could not be read.
	stopped bool      // The caller wants no more, or got an error.
}

// fetched is a page on its way.
type fetched[T any] struct {
	after  string
	size   int // Records asked for.
	done   chan struct{}
	cursor chan string // Cursor of the next page, once, before done.
	cancel context.CancelFunc
	page   *pageReader[T]
	answer *Response
	err    error
	guess  bool // The service has not announced such a page.
}

// start begins to fetch the page after a cursor. The caller waits for the first page: its
// records are read as they are asked for. Later ones are read whole while an earlier one
// is in use.
func (w *walk[T]) start(ctx context.Context, after string) *fetched[T] {
	fetch := w.fetchWhole
	if len(w.cursors) == 0 {
		fetch = w.fetch
	}
	size := w.asked
	if left := w.options.Limit - w.yielded; w.options.Limit > 0 && left < size && w.options.Limit <= w.options.PageSize {
		size = left
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &fetched[T]{after: after, size: size, done: make(chan struct{}), cursor: make(chan string, 1), cancel: cancel}
	query := cloneQuery(w.query)
	query.Set("first", strconv.Itoa(size))
	if after != "" {
		query.Set("after", after)
	}
	space := w.space(size)
	go func() {
		defer close(f.done)
		defer cancel()
		f.page, f.answer, f.err = fetch(ctx, query, space, func(cursor string) { f.cursor <- cursor })
	}()
	return f
}

// space returns memory for a page of some records: that of an earlier one, and as many bytes as the last one took.
func (w *walk[T]) space(records int) memory[T] {
	space, size := w.spare, w.bytes
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
		next := w.prefetch(ctx, current)
		<-current.done
		if current.err != nil {
			w.abandon(next)
			if current.guess && KindOf(current.err) == KindRejected {
				break // The service has not announced more, and there is no more.
			}
			var err error
			if current, err = w.recover(ctx, current); err != nil {
				yield(Record[T]{}, err)
				return
			}
			continue
		}
		if next != nil && next.after != current.page.EndCursor {
			w.abandon(next) // The page broke and was read again: what is new since moved its end.
			next = nil
		}
		if next == nil {
			coming := current.page.count() // Records of the page that are still to be yielded, at most.
			if current.page.lazy {
				coming = w.options.PageSize
			}
			next = w.startNext(ctx, current, coming)
		}
		size := len(current.answer.Body)
		if w.bytes = size + size/16; size < w.client.maxPage/4 { // There is room for four times as many.
			w.asked = min(2*w.asked, w.options.PageSize)
		}
		if w.options.Answered != nil {
			w.options.Answered(current.answer.Header)
		}
		count, goOn := w.yieldPage(current, yield)
		if !goOn {
			break
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
	if len(w.unread) > 0 && !w.stopped {
		yield(Record[T]{}, unreadError(w.unread, true))
	}
}

// abandon ends the fetch of a page that was asked for too early: its cursor was not
// followed.
func (w *walk[T]) abandon(f *fetched[T]) {
	if f != nil {
		delete(w.cursors, f.after)
		f.cancel()
	}
}

// prefetch requests the next page as soon as the cursor of the current one is known.
func (w *walk[T]) prefetch(ctx context.Context, current *fetched[T]) *fetched[T] {
	select {
	case cursor := <-current.cursor:
		if w.wantsMore(current.size) && w.fresh(current.after, cursor) {
			return w.start(ctx, cursor)
		}
	case <-current.done:
	}
	return nil
}

// startNext starts the page after one of which count records are still to be yielded.
func (w *walk[T]) startNext(ctx context.Context, current *fetched[T], count int) *fetched[T] {
	page := current.page
	if !w.wantsMore(count) || !page.HasNextPage || !w.fresh(current.after, page.EndCursor) {
		return nil
	}
	next := w.start(ctx, page.EndCursor)
	next.guess = !page.hasNextKnown && page.count() < current.size
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

// recover goes on after a page that could not be read: with a smaller one in its place, or
// behind a record that is too large by itself.
func (w *walk[T]) recover(ctx context.Context, failed *fetched[T]) (*fetched[T], error) {
	known := asError(failed.err)
	switch refused := known != nil && (known.Status == http.StatusBadRequest || known.Status == http.StatusUnprocessableEntity); {
	case smaller(failed.err, failed.size) > 0:
		if w.asked = smaller(failed.err, failed.size); errors.Is(failed.err, errTooSlow) {
			w.options.PageSize = w.asked // The line will be no faster for the next.
		}
	case errors.Is(failed.err, errTooLarge):
		return w.passOver(ctx, failed, known)
	case refused && w.options.Fallback > 0 && w.options.Fallback < w.asked && w.yielded == 0 && len(w.heads) == 0:
		w.options.PageSize, w.options.Fallback = w.options.Fallback, 0
		w.asked = w.options.PageSize
	default:
		return nil, failed.err
	}
	return w.start(ctx, failed.after), nil
}

// passOver goes on after a record that is too large, if the beginning of its page has the next position. Then the walk
// ends with an error, but not at the record.
func (w *walk[T]) passOver(ctx context.Context, failed *fetched[T], cause *Error) (*fetched[T], error) {
	info, id := cause.position()
	isLast := info.hasNextPage != nil && !*info.hasNextPage
	if known, err := apitype.ParseUUID(id); err == nil {
		if w.heads[known] {
			return nil, errors.Join(unreadError(append(w.unread, tooLargeAlone(id, failed.after)), false), errRepeats)
		}
		w.heads[known] = true
	}
	w.unread = append(w.unread, tooLargeAlone(id, failed.after))
	switch {
	case isLast:
		return nil, nil
	case w.fresh(failed.after, info.endCursor):
		return w.start(ctx, info.endCursor), nil
	default:
		return nil, unreadError(w.unread, false)
	}
}

// ErrAtEnd is in the chain of an error after the last record of a list: all readable records were yielded.
var ErrAtEnd = errors.New("the list was read to its end")

// ErrUnpaged means that a list may be complete or cut short, and nothing shows which. Spec gap: L9.
var ErrUnpaged = errors.New("the list does not say whether it is whole")

// yieldPage hands out the records of a page and counts them; it is false when the walk
// ends with them.
func (w *walk[T]) yieldPage(current *fetched[T], yield func(Record[T], error) bool) (count int, goOn bool) {
	enough := func() bool { return w.options.Limit > 0 && w.yielded == w.options.Limit }
	more := current.page.HasNextPage
	w.unread, count = append(w.unread, current.page.unread...), len(current.page.unread)
	for record, err := range current.page.records() {
		if err == nil && record.Raw == nil {
			w.unread = append(w.unread, noRecord(record.Cursor))
			count++
			continue
		}
		if err == nil && count == 0 && w.repeats(record) {
			if current.guess {
				return 0, false // The way on led back: that was all.
			}
			err = errRepeats
		}
		if err != nil {
			w.stopped = true
			yield(Record[T]{}, broken(current.answer, err.Error()))
			return count, false
		}
		if more = more || enough(); enough() {
			break
		}
		record.omitted = w.client.options.Omitted
		if !yield(record, nil) {
			w.stopped = true
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
	head, err := apitype.RecordUUID(first.Raw)
	if err != nil {
		return false
	}
	known := w.heads[head]
	w.heads[head] = true
	return known
}

// check finds a list that would end short or never. The answer to a broken list is an
// error, not silence.
func (w *walk[T]) check(current, next *fetched[T], count int) error {
	if current.page.MayBeCut {
		return &Error{Kind: KindUnavailable, Message: fmt.Sprintf(
			"%d records were asked for, the service sent %d, and nothing tells whether these are all", current.size, count,
		), Err: errors.Join(ErrUnpaged, ErrAtEnd)}
	}
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

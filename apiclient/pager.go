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
	PageSize int // Records of a page. Zero means 100. Fewer if so many are too large or refused.
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
	// Decodes is set by a caller of Changes that decodes each record. Its times are not read apart then.
	Decodes bool
	// Identify returns the uuid of a record and the time by which the service filters, for a caller of Changes that
	// reads each record itself. If ok is false, Changes reads them. Nil is always false.
	Identify func(raw json.RawMessage) (id apitype.UUID, at apitype.Time, ok bool)
}

// maxEmptyPages limits the pages without a record in a row.
const maxEmptyPages = 20

// typicalRecord is the size of a call with its person and a little more, in bytes. The first page gets memory of that
// size, so that it need not grow.
const typicalRecord = 5 << 9

// defaultPageSize is used if the caller names no size, and if the service refuses a larger one.
const defaultPageSize = 100

var (
	// ErrAtEnd is in the chain of an error after the last record of a list: all readable records were yielded.
	ErrAtEnd = errors.New("the list was read to its end")
	// ErrUnpaged means that a list may be complete or cut short, and nothing shows which. Spec gap: L9.
	ErrUnpaged = errors.New("the list does not show whether it is complete")

	errRepeats = errors.New("the pages of the list repeat")
)

// Walk walks any list below the base URL, whatever its records are.
func (c *Client) Walk(
	ctx context.Context,
	path string,
	query url.Values,
	o AllOptions,
) iter.Seq2[Record[json.RawMessage], error] {
	return endpoint[json.RawMessage]{client: c, path: path}.all(ctx, query, o)
}

// all walks through a list from the place in query. It cancels the request for the next page when the walk ends early.
func (e endpoint[T]) all(ctx context.Context, query url.Values, o AllOptions) iter.Seq2[Record[T], error] {
	return func(yield func(Record[T], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		pages := newPager(ctx, e, query, o)
		var unread []unread
		yielded := 0
		for {
			page, err := pages.next(ctx)
			if errors.Is(err, errTooLarge) {
				_, id := beginning(asError(err).body)
				err = unreadError(append(unread, tooLargeAlone(id, pages.after)), false)
			}
			if err != nil {
				yield(Record[T]{}, err)
				return
			}
			if page == nil {
				break
			}
			if o.Answered != nil {
				o.Answered(page.answer.Header)
			}
			unread = append(unread, page.unread...)
			wanted := page.Records
			if o.Limit > 0 {
				wanted = wanted[:min(len(wanted), o.Limit-yielded)]
			}
			for _, record := range wanted {
				if !yield(record, nil) {
					return
				}
			}
			yielded += len(wanted)
			if o.Limit > 0 && yielded == o.Limit {
				hasMore := page.HasNextPage || len(wanted) < len(page.Records)
				if hasMore && o.More != nil {
					o.More()
				}
				break
			}
			if o.Yielded != nil {
				o.Yielded()
			}
		}
		if len(unread) > 0 {
			yield(Record[T]{}, unreadError(unread, true))
		}
	}
}

// pager fetches the pages of a list in order, one ahead of its caller.
type pager[T any] struct {
	endpoint[T]
	query url.Values
	size  int // Records to request. Fewer than most after a page that was too large.
	most  int
	limit int // Records wanted. Zero means all.
	reuse bool

	coming  chan fetched[T] // The page that is being fetched. Nil if none is.
	after   string          // The cursor before that page.
	isGuess bool            // The service did not announce that page.
	fault   error           // Ends the list after the page that was returned last.
	last    *fetched[T]     // The page that was returned last.

	taken   int                   // Records of the returned pages.
	empty   int                   // Pages without a record since the last with one.
	cursors map[string]bool       // Cursors that were followed.
	heads   map[apitype.UUID]bool // First records of the pages.
}

// newPager begins to fetch the first page.
func newPager[T any](ctx context.Context, e endpoint[T], query url.Values, o AllOptions) *pager[T] {
	p := &pager[T]{
		endpoint: e,
		query:    query,
		most:     o.PageSize,
		limit:    o.Limit,
		reuse:    o.Reuse,
		cursors:  map[string]bool{},
		heads:    map[apitype.UUID]bool{},
	}
	if p.most <= 0 {
		p.most = defaultPageSize
	}
	p.size = p.most
	p.start(ctx, query.Get("after"), memory[T]{})
	return p
}

// next returns the next page, or nil after the last one. It begins to fetch the page after it.
func (p *pager[T]) next(ctx context.Context) (*fetched[T], error) {
	if p.fault != nil || p.coming == nil {
		return nil, p.fault
	}
	page := <-p.coming
	p.coming = nil
	head, isKnown := page.head()
	isSameAgain := isKnown && p.heads[head] && page.EndCursor == p.after
	isEnd := p.isGuess && (KindOf(page.err) == KindRejected || isSameAgain)
	if isEnd { // The service did not announce more, and there is no more.
		return nil, nil
	}
	if page.err != nil {
		return nil, page.err
	}
	if isKnown && p.heads[head] {
		return nil, broken(page.answer, errRepeats.Error())
	}
	if isKnown {
		p.heads[head] = true
	}
	p.adapt(&page)
	p.taken += len(page.Records)
	p.follow(ctx, &page)
	p.last = &page
	return &page, nil
}

// head returns the uuid of the first record of a page. ok is false if it is unknown.
func (f *fetched[T]) head() (head apitype.UUID, ok bool) {
	if f.err != nil || len(f.unread) > 0 || len(f.Records) == 0 {
		return head, false
	}
	head, err := apitype.RecordUUID(f.Records[0].Raw)
	return head, err == nil
}

// adapt sets the size of later pages: fewer records after a page that was too large or too slow, and twice as many
// after one with room for four times as many.
func (p *pager[T]) adapt(page *fetched[T]) {
	if page.isFewer {
		p.size = page.size
	}
	if page.isSlow || page.isRefused { // The line or the service will be no better for the next.
		p.most = page.size
	}
	if len(page.answer.Body) < p.client.maxPage/4 {
		p.size = min(2*p.size, p.most)
	}
}

// follow begins to fetch the page after one, or sets the fault of a list that would end short or never. The answer to a
// broken list is an error, not silence.
func (p *pager[T]) follow(ctx context.Context, page *fetched[T]) {
	count := page.Count()
	p.empty++
	if count > 0 {
		p.empty = 0
	}
	cursor := page.EndCursor
	isNew := cursor != "" && cursor != p.after && !p.cursors[cursor]
	switch {
	case page.MayBeCut:
		const message = "%d records were asked for, the service sent %d, and nothing tells whether these are all"
		p.fault = &Error{
			Kind:    KindUnavailable,
			Message: fmt.Sprintf(message, page.size, count),
			Err:     errors.Join(ErrUnpaged, ErrAtEnd),
		}
	case !page.HasNextPage:
	case cursor == "":
		p.fault = broken(page.answer, "the list goes on, but gives no cursor to go on with")
	case !isNew:
		p.fault = broken(page.answer, "the cursor of the list does not advance")
	case p.empty > maxEmptyPages:
		p.fault = broken(page.answer, "the list goes on for ever without a record")
	case p.limit == 0 || p.taken < p.limit:
		p.isGuess = !page.hasNextKnown && count < page.size
		p.start(ctx, cursor, p.space(len(page.answer.Body)))
	}
}

// space returns memory for a page, at least as large as the last one: the used memory of the page before.
func (p *pager[T]) space(last int) memory[T] {
	var space memory[T]
	if p.reuse && p.last != nil {
		space = memory[T]{p.last.answer.Body[:0], p.last.Records[:0]}
	}
	size := last + last/16
	if cap(space.body) < size {
		space.body = make([]byte, 0, size)
	}
	return space
}

// start begins to fetch the page after a cursor.
func (p *pager[T]) start(ctx context.Context, after string, space memory[T]) {
	size := p.size
	isLimited := p.limit > 0 && p.limit <= p.most
	if isLimited {
		size = min(size, p.limit-p.taken)
	}
	query := cloneQuery(p.query)
	query.Set("first", strconv.Itoa(size))
	if after != "" {
		query.Set("after", after)
		p.cursors[after] = true
	}
	if space.body == nil {
		space.body = make([]byte, 0, min(size, apitype.MaxPageSize)*typicalRecord)
	}
	coming := make(chan fetched[T], 1)
	p.coming, p.after = coming, after
	go func() { coming <- p.fetchFewer(ctx, query, "first", size, space) }()
}

func cloneQuery(query url.Values) url.Values {
	clone := make(url.Values, len(query)+2)
	maps.Copy(clone, query)
	return clone
}

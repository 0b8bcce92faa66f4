package apiclient

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
)

// ListOptions are the options of a list.
type ListOptions interface {
	Query() url.Values
	IsBackward() bool
}

// Collection reads the records of a noun, by options of type O. What changes them is a
// Change, for Client.Send.
type Collection[T any, O ListOptions] struct{ endpoint[T] }

// List fetches one page.
// GET /api/v1/persons, /api/v1/calls, /api/v1/pledges (interface: Endpoints)
func (c *Collection[T, O]) List(ctx context.Context, o O) (Page[T], error) {
	name := "first"
	if o.IsBackward() {
		name = "last"
	}
	return c.list(ctx, c.query(o), name)
}

// All walks the list from the place in o on, in the order of the service. A non-nil error
// ends it.
func (c *Collection[T, O]) All(ctx context.Context, o O, all AllOptions) iter.Seq2[Record[T], error] {
	return c.all(ctx, c.query(o), all)
}

// query gives the payment filter of pledges the name that this service knows. Spec gap: L13.
func (c *Collection[T, O]) query(o O) url.Values {
	query := o.Query()
	if name := c.client.options.PaymentQRParameter; name != apitype.PaymentQRParameter &&
		query.Has(apitype.PaymentQRParameter) {
		query.Set(name, query.Get(apitype.PaymentQRParameter))
		query.Del(apitype.PaymentQRParameter)
	}
	return query
}

// endpoint is a noun of the service: its path and the type of its records.
type endpoint[T any] struct {
	client   *Client
	path     string
	required func(context.Context) error // Nil if it is part of the interface.
}

// Get fetches one record.
// GET /api/v1/persons/{uuid}, /api/v1/calls/{uuid}, /api/v1/pledges/{uuid} (interface: Endpoints)
func (e endpoint[T]) Get(ctx context.Context, id apitype.UUID) (Record[T], error) {
	answer, err := e.client.read(ctx, request{path: e.path + "/" + id.String()})
	if err != nil {
		return Record[T]{}, err
	}
	if err := checkRecord(answer, id); err != nil {
		return Record[T]{}, err
	}
	return record[T](e.client, answer), nil
}

// list fetches one page, with fewer records than wanted if those are too large. name is the parameter for their
// number.
func (e endpoint[T]) list(ctx context.Context, query url.Values, name string) (Page[T], error) {
	size, err := strconv.Atoi(query.Get(name))
	if err != nil {
		size = defaultPageSize
	}
	page := e.fetchFewer(ctx, query, name, size, memory[T]{})
	if page.err != nil && page.size == 1 && errors.Is(page.err, errTooLarge) {
		page.Page, page.err = pageOfUnread[T](asError(page.err), query.Get("after"))
	}
	if page.err != nil {
		return Page[T]{}, page.err
	}
	if page.size < size {
		page.Fewer = page.size
	}
	page.omitted = e.client.options.Omitted
	return page.Page, nil
}

// fetched is a page, or the error of fetching it.
type fetched[T any] struct {
	Page[T]
	answer    *Response
	size      int  // Records requested in the end.
	isFewer   bool // The page with as many as were wanted was too large.
	isSlow    bool // It did not come in time.
	isRefused bool // The service refused so many.
	err       error
}

// fetchFewer fetches a page, with fewer records if they are too large, take too long, or are refused.
func (e endpoint[T]) fetchFewer(
	ctx context.Context,
	query url.Values,
	name string,
	size int,
	space memory[T],
) fetched[T] {
	var f fetched[T]
	for {
		f.size = size
		f.Page, f.answer, f.err = e.fetch(ctx, query, space)
		if f.err == nil {
			return f
		}
		fewer := smaller(f.err, size)
		isRefused := isSizeRefused(f.err) && size > defaultPageSize && query.Get("after") == ""
		switch {
		case fewer > 0:
			f.isFewer = true
			f.isSlow = f.isSlow || errors.Is(f.err, errTooSlow)
		case isRefused:
			fewer = defaultPageSize
			f.isFewer, f.isRefused = true, true
		default:
			return f
		}
		size = fewer
		query = cloneQuery(query)
		query.Set(name, strconv.Itoa(size))
	}
}

// isSizeRefused reports whether a service may have refused the number of records.
func isSizeRefused(err error) bool {
	known := asError(err)
	return known != nil && (known.Status == http.StatusBadRequest || known.Status == http.StatusUnprocessableEntity)
}

// pageOfUnread returns the page of one record that is too large, with its position if the answer began with it. Without
// a position it returns the error.
func pageOfUnread[T any](failed *Error, after string) (Page[T], error) {
	info, id := beginning(failed.body)
	if info.hasNextPage == nil && info.endCursor == "" {
		return Page[T]{}, failed
	}
	r := pageReader[T]{info: info}
	r.locate()
	r.unread = []unread{tooLargeAlone(id, after)}
	return r.Page, nil
}

// isUnpaged reports whether the list is known to come whole.
func (e endpoint[T]) isUnpaged() bool {
	return slices.Contains(e.client.options.Unpaged, strings.TrimSuffix(lastSegment(e.path), "s"))
}

// memory is space for a page, usually that of an earlier one. Both parts are empty, and grow if necessary.
type memory[T any] struct {
	body    []byte
	records []Record[T]
}

// fetch fetches one page into space. The page refers to the answer's memory.
func (e endpoint[T]) fetch(ctx context.Context, query url.Values, space memory[T]) (Page[T], *Response, error) {
	if e.required != nil {
		if err := e.required(ctx); err != nil {
			return Page[T]{}, nil, err
		}
	}
	isOne := query.Get("first") == "1" || query.Get("last") == "1"
	answer, err := e.client.read(ctx, request{
		path:   e.path,
		query:  query,
		space:  space.body,
		isPage: !isOne,
	})
	if known := asError(err); known != nil && known.Kind == KindNotFound { // A list is always there.
		missing := *known
		missing.Kind = KindUnavailable
		missing.Message = "there is no list at " + e.client.BaseURL() + e.path + "; check the base URL"
		return Page[T]{}, nil, &missing
	}
	if err != nil {
		return Page[T]{}, nil, err
	}
	page, err := readPage(answer.Body, space.records)
	if err != nil {
		return Page[T]{}, nil, broken(answer, err.Error())
	}
	if !page.hasNextKnown {
		e.guessNext(&page, query)
	}
	after := query.Get("after")
	isBehindLast := after != "" && page.Count() == 0 && query.Get("first") != "0"
	if isBehindLast && (page.EndCursor == "" || page.EndCursor == after) { // The end, whatever its flag. Spec gap: L3.
		page.HasNextPage = false
	}
	for i := range page.Records {
		page.Records[i].omitted = e.client.options.Omitted
	}
	return page, answer, nil
}

// guessNext sets whether a page without that flag has a next one: as long as there are records and a way on. Spec gap:
// L3.
func (e endpoint[T]) guessNext(page *Page[T], query url.Values) {
	if query.Has("last") { // The page lies before another one.
		page.HasNextPage = query.Has("before")
		return
	}
	asked, err := strconv.Atoi(query.Get("first"))
	count := page.Count()
	isFull := err == nil && count == asked
	// A service may have a smaller limit of its own. Without a cursor, a service that sends fewer does not page.
	page.HasNextPage = count > 0 && (page.EndCursor != "" || isFull)
	if page.EndCursor == "" {
		isUnpaged := e.isUnpaged()
		page.HasNextPage = page.HasNextPage && !isUnpaged
		page.MayBeCut = count > 0 && count < asked && !isUnpaged
	}
}

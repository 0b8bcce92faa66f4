package apiclient

import (
	"context"
	"errors"
	"iter"
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
	fewer := 0
	for {
		page, _, err := e.fetchWhole(ctx, query, memory[T]{}, nil)
		if err == nil {
			page.Fewer, page.omitted = fewer, e.client.options.Omitted
			for i := range page.Records {
				page.Records[i].omitted = page.omitted
			}
			return page.Page, nil
		}
		size, malformed := strconv.Atoi(query.Get(name))
		if malformed != nil {
			size = defaultPageSize
		}
		if size == 1 && errors.Is(err, errTooLarge) {
			page, err := pageOfUnread[T](asError(err), query.Get("after"))
			page.Fewer, page.omitted = fewer, e.client.options.Omitted
			return page, err
		}
		if fewer = smaller(err, size); fewer == 0 {
			return Page[T]{}, err
		}
		query = cloneQuery(query)
		query.Set(name, strconv.Itoa(fewer))
	}
}

// pageOfUnread returns the page whose only record is too large, with its position if that was read. Without a position
// it returns the error.
func pageOfUnread[T any](failed *Error, after string) (Page[T], error) {
	info, id := failed.position()
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

// fetchWhole is fetch of a page whose records are all read.
func (e endpoint[T]) fetchWhole(
	ctx context.Context,
	query url.Values,
	space memory[T],
	next func(cursor string),
) (*pageReader[T], *Response, error) {
	page, answer, err := e.fetch(ctx, query, space, next)
	if err != nil {
		return nil, nil, err
	}
	if err := page.readWhole(); err != nil {
		return nil, nil, broken(answer, err.Error())
	}
	return page, answer, nil
}

// fetch fetches one page into space. It calls next with the cursor of the next page as soon as it is known. The page
// refers to the answer's memory.
func (e endpoint[T]) fetch(
	ctx context.Context,
	query url.Values,
	space memory[T],
	next func(cursor string),
) (*pageReader[T], *Response, error) {
	if e.required != nil {
		if err := e.required(ctx); err != nil {
			return nil, nil, err
		}
	}
	isOne := query.Get("first") == "1" || query.Get("last") == "1"
	r := request{path: e.path, query: query, space: space.body, isPage: !isOne, keepsTail: isOne}
	if next != nil {
		told := false
		r.peek = func(prefix []byte) bool {
			cursor, done := peekCursor(prefix)
			if cursor != "" && !told {
				told = true
				next(cursor)
			}
			return done
		}
	}
	answer, err := e.client.read(ctx, r)
	if known := asError(err); known != nil && known.Kind == KindNotFound { // A list is always there.
		missing := *known
		missing.Kind, missing.Message = KindUnavailable, "there is no list at "+e.client.BaseURL()+e.path+"; check the base URL"
		return nil, nil, &missing
	}
	if err != nil {
		return nil, nil, err
	}
	page, err := openPage(answer.Body, space.records)
	if err != nil {
		return nil, nil, broken(answer, err.Error())
	}
	switch {
	case page.hasNextKnown:
	case query.Has("last"): // What the page lies before is a next one.
		page.HasNextPage = query.Has("before")
	default: // Spec gap: L3. Read on while there is something, and a way on.
		asked, err := strconv.Atoi(query.Get("first"))
		n := page.count()
		// A page may hold less than was asked for because the service has a bound of its
		// own. More than that, and no cursor: that service does not page.
		page.HasNextPage = n > 0 && (page.EndCursor != "" || err == nil && n == asked)
		if page.EndCursor == "" {
			unpaged := e.isUnpaged()
			page.HasNextPage = page.HasNextPage && !unpaged
			page.MayBeCut = n > 0 && n < asked && !unpaged
		}
	}
	page.exact = answer.Header.Get(apitype.ExtensionsHeader) != ""
	return page, answer, nil
}

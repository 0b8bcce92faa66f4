package queue

import (
	"context"
	"maps"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/event"
)

// position is the position of the walk.
type position struct {
	cursor string // Up to there everything was read.
	size   int
	read   int       // Calls read so far.
	isLast bool      // The list ends there.
	bare   bool      // The account may not read persons.
	now    time.Time // When the walk began.
}

// IsCut reports whether the walk ends there before the list does.
func (p position) IsCut() bool { return !p.isLast && p.read >= MostRead }

// isEnd reports whether the walk ends there.
func (p position) isEnd() bool { return p.isLast || p.IsCut() }

// list lists calls with their persons, or without if the account may not read them. Spec gap: A3.
func (p *position) list(ctx context.Context, client *apiclient.Client) (apiclient.Page[apitype.Call], error) {
	size := min(p.size, MostRead-p.read)
	o := apitype.CallListOptions{Paging: apitype.Paging{After: p.cursor, First: &size}}
	if !p.bare {
		o.Include = []string{apitype.IncludePerson}
		page, err := client.Calls.List(ctx, o)
		if apiclient.KindOf(err) != apiclient.KindForbidden {
			return page, err
		}
		p.bare, o.Include = true, nil
	}
	return client.Calls.List(ctx, o)
}

// page is one page of the walk.
type page struct {
	calls      []listed // The newest first.
	from, next position
}

// readPage reads the page of calls at a position.
func readPage(ctx context.Context, client *apiclient.Client, from position) (page, error) {
	next := from
	got, err := next.list(ctx, client)
	if err != nil {
		return page{}, err
	}
	if got.Fewer > 0 {
		next.size = got.Fewer
	}
	next.cursor = got.EndCursor
	next.read += got.Count()
	calls := apiclient.Rows(got, newListed)
	// A cursor that does not advance would never end the walk.
	isStuck := next.cursor == "" || next.cursor == from.cursor
	next.isLast = !got.HasNextPage || isStuck
	return page{calls: calls, from: from, next: next}, nil
}

// Begin begins the walk, or only follows what changes if the service has a queue.
func (w *Walk) Begin(walks bool) {
	w.begun, w.walks = true, walks
	w.read()
}

// read reads on in the list, unless enough calls are known or the walk has ended.
func (w *Walk) read() {
	if !w.walks || w.isReading || w.isEnd() || len(w.Offers(spreadOver)) == spreadOver {
		return
	}
	w.isReading = true
	from := w.position
	event.Do(w.Events, "calls read", func(ctx context.Context) (page, error) {
		return readPage(ctx, w.Client, from)
	}, w.onPage)
}

func (w *Walk) onPage(p page, err error) {
	w.isReading = false
	if !w.Connection.IsRead("cannot read the calls", err) {
		return
	}
	if p.from.cursor == w.cursor { // Otherwise the walk began again.
		w.position = p.next
	}
	for _, call := range p.calls {
		w.record(call)
	}
	w.read()
	w.isFound = w.isFound || !w.isReading
	w.Desk.Serve()
}

// feed is the position in the feed of changes.
type feed struct {
	since apitype.Time // Changes up to this time are known, by our clock.
	next  apitype.Time // By the service's clock. Zero before the first reading.
}

// clockLeeway is the largest expected difference between the service's clock and ours. Repeated changes do no harm.
const clockLeeway = 2 * time.Minute

// MostChanges limits the changes that are read at a time. They come newest first. If there are more, the rest would
// never come, so the records are read again.
const MostChanges = 2000

// FeedStart returns the start of a feed if changes up to a time of ours are known. Our clock may be ahead of the
// service's, or may have been set back, and must not hide changes. The feed goes on with the service's times.
func FeedStart(client *apiclient.Client, now time.Time, known apitype.Time) apitype.Time {
	if known.After(now) {
		known = apitype.NewTime(now)
	}
	return apitype.NewTime(known.Add(-clockLeeway - client.Behind()))
}

// ReadNews requests the changes since the last ones, unless the walk of all calls brings them.
func (w *Walk) ReadNews() {
	if !w.begun || w.isReading {
		return
	}
	options := apitype.CallListOptions{}
	if !w.bare {
		options.Include = []string{apitype.IncludePerson}
	}
	after := w.feed.next
	if after.IsZero() {
		after = FeedStart(w.Client, w.Now(), w.feed.since)
	}
	event.Do(w.Events, "changed calls read", func(ctx context.Context) (apiclient.News[apitype.Call], error) {
		calls := w.Client.Calls.Feed(options, "updatedAfter")
		return apiclient.ReadNews[apitype.Call](ctx, w.Client, calls, after, MostChanges)
	}, func(n apiclient.News[apitype.Call], err error) {
		if w.Connection.IsRead("cannot read what has changed", err) {
			w.onNews(n)
		}
	})
}

// onNews takes changes in. If there are too many, the walk begins again: known calls stay, and missed ones are added.
func (w *Walk) onNews(n apiclient.News[apitype.Call]) {
	w.feed.next = n.Next
	maps.DeleteFunc(w.reached, func(_ apitype.UUID, r reached) bool { return w.Now().Sub(r.at) >= card.AttemptPause })
	for _, call := range n.Found {
		w.Desk.OnNews(call)
		w.Learn(call)
	}
	if n.IsCut && w.walks {
		w.cursor, w.position.read, w.isLast = "", 0, false
		w.read()
	}
	w.Desk.Serve()
}

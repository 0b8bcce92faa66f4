package tui

import (
	"context"
	"iter"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// clockLeeway is how far the service's clock and ours may differ. What comes twice
// does no harm.
const clockLeeway = 2 * time.Minute

// maxNews is how many changes are taken in at a time; the rest comes with the next.
const maxNews = 2000

// news is what has changed since a list was read.
type news[R any] struct {
	rows  []R
	until apitype.Time
}

// poll asks for what has changed since it last asked.
func (l *list[R]) poll() tea.Cmd {
	if !l.loaded && !l.loading {
		return l.restart() // It could not be read so far.
	}
	if l.query.changed == nil || l.loading {
		return nil
	}
	since := apitype.NewTime(l.since.Add(-clockLeeway))
	until := apitype.NewTime(l.Now())
	changed := l.query.changed
	return l.load(l.page, l.seq, func(ctx context.Context) (any, error) {
		rows, err := changed(ctx, since)
		return news[R]{rows: rows, until: until}, err
	})
}

// onNews merges changes: a row that is here is replaced, a newer one comes above the
// others, and the cursor stays on its record.
func (l *list[R]) onNews(n news[R], err error) tea.Cmd {
	if err != nil {
		l.failRead("cannot read what has changed", err)
		return nil
	}
	l.noteConnection(nil)
	l.since = n.until
	changed := make(map[apitype.UUID]R, len(n.rows)) // Few, where the list may be long.
	for _, row := range n.rows {
		changed[l.id(row)] = row
	}
	var preview tea.Cmd
	for i := range l.rows {
		if len(changed) == 0 {
			return preview
		}
		id := l.id(l.rows[i])
		row, here := changed[id]
		if !here {
			continue
		}
		l.rows[i] = row
		delete(changed, id)
		if l.coming != nil && l.coming.ref.id == id {
			preview = l.readDetail(l.coming)
		}
	}
	var above []R
	for _, row := range n.rows {
		if _, left := changed[l.id(row)]; !left {
			continue
		}
		delete(changed, l.id(row)) // Once is enough.
		isNew := len(l.rows) == 0 || l.order(row).After(l.order(l.rows[0]))
		if isNew && (l.query.keep == nil || l.query.keep(row)) {
			above = append(above, row)
		}
	}
	if len(above) == 0 {
		return preview
	}
	slices.SortStableFunc(above, func(a, b R) int { return l.order(b).Compare(l.order(a)) })
	l.read += len(above)
	l.rows = append(above, l.rows...)
	l.table.Shift(len(above), len(l.rows))
	return preview
}

// readNews makes rows of all records of a walk, up to maxNews.
func readNews[T, R any](row func(T) R, walk iter.Seq2[apiclient.Record[T], error]) ([]R, error) {
	var rows []R
	for record, err := range walk {
		if err != nil {
			return nil, err
		}
		value, err := record.Decode()
		if err != nil {
			return nil, err
		}
		rows = append(rows, row(value))
	}
	return rows, nil
}

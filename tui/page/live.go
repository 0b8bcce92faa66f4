package page

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/queue"
)

// Poll requests the changes since the last poll, and reads the record in front again.
func (l *List[T]) Poll() tea.Cmd {
	changes := l.pollList()
	if d := l.Front(); d != nil && l.Day.Transitions.IsFree() { // The next key is meant for the line under the cursor.
		return tea.Batch(changes, l.readDetail(d))
	}
	return changes
}

// pollList requests the changes of the list since the last poll.
func (l *List[T]) pollList() tea.Cmd {
	if l.loading || !l.loaded {
		return l.Open() // It was not read yet, or could not be read again.
	}
	if l.filter != "" && l.since.Local().YearDay() != l.Day.Now().Local().YearDay() {
		return l.reread(true) // The filter may name a day as today.
	}
	changed, since, after := l.query.changed, queue.FeedStart(l.Day.Client, l.Day.Now(), l.since), l.after
	return loadAs(
		l.Env,
		"changes of a list read",
		&l.seq,
		func(ctx context.Context) (changedRows, error) { return changed(ctx, since, after) },
		func(c changedRows, err error) tea.Cmd {
			if err != nil {
				l.FailRead("cannot read what has changed", err)
				return nil
			}
			l.Day.NoteConnection(nil)
			return l.update(c)
		},
	)
}

// update merges changes: known rows are replaced, new ones are inserted in their place, and the cursor stays on its
// record.
func (l *List[T]) update(c changedRows) tea.Cmd {
	if !l.Day.Transitions.IsFree() && l.losesChosen(c) {
		return nil // The next key is meant for the record under the cursor. The next poll has the changes, too.
	}
	if c.isCut {
		return l.reread(true)
	}
	l.after = c.after
	changed := make(map[apitype.UUID]Row, len(c.rows)) // They are few, while the list may be long.
	for _, row := range c.rows {
		changed[row.ID] = row
	}
	preview := l.replace(changed)
	var fresh []Row
	for _, row := range c.rows {
		if _, left := changed[row.ID]; !left {
			continue
		}
		delete(changed, row.ID) // Once is enough.
		// What lies beyond the last record read comes with its page. One of the same time
		// may lie on either side.
		if l.More && row.at().Before(l.lastRead) || !l.query.passes(row) {
			continue
		}
		if l.More && row.at().Equal(l.lastRead) {
			l.polled[row.ID] = true
		}
		fresh = append(fresh, row)
		if row.at().After(l.counted) { // An older one was counted in another view.
			l.moveBetweenViews(0, row.views|1)
		}
	}
	l.merge(fresh)
	l.countViews()
	return preview
}

// losesChosen reports whether changes take the record under the cursor from the list, or may do so.
func (l *List[T]) losesChosen(c changedRows) bool {
	chosen, isChosen := l.Chosen()
	if !isChosen || c.isCut {
		return isChosen
	}
	return slices.ContainsFunc(c.rows, func(row Row) bool { return row.ID == chosen.ID && !l.query.passes(row) })
}

// replace replaces changed rows and removes the ones that no longer pass the filter. It leaves unknown rows in changed.
func (l *List[T]) replace(changed map[apitype.UUID]Row) tea.Cmd {
	var reading []tea.Cmd
	gone := map[apitype.UUID]bool{}
	above := 0
	for i := 0; i < len(l.Rows) && len(changed) > 0; i++ {
		id := l.Rows[i].ID
		row, here := changed[id]
		if !here {
			continue
		}
		l.moveBetweenViews(l.Rows[i].views, row.views)
		l.Rows[i] = row
		delete(changed, id)
		if l.coming != nil && l.coming.ref.ID == id {
			reading = append(reading, l.readDetail(l.coming))
		}
		if !l.query.passes(row) {
			gone[id] = true
			delete(l.Marks, id)
			if i < l.table.Cursor() {
				above++
			}
		}
	}
	if len(gone) == 0 {
		l.arrange()
		return tea.Batch(reading...)
	}
	l.Rows = slices.DeleteFunc(l.Rows, func(row Row) bool { return gone[row.ID] })
	if len(l.Rows) == 0 {
		l.preview, l.coming = nil, nil
	}
	l.shift(-above)
	return tea.Batch(append(reading, l.wantsMore(), l.cursorMoved())...)
}

// merge inserts rows in their place. A released pledge, for example, comes below the pledges made after it.
func (l *List[T]) merge(fresh []Row) {
	if len(fresh) == 0 {
		return
	}
	slices.SortStableFunc(fresh, func(a, b Row) int { return b.at().Compare(a.at()) })
	l.read += len(fresh)
	cursor, above := l.table.Cursor(), 0
	rows := make([]Row, 0, len(l.Rows)+len(fresh))
	for i, row := range l.Rows {
		for len(fresh) > 0 && !fresh[0].at().Before(row.at()) {
			rows, fresh = append(rows, fresh[0]), fresh[1:]
			if i <= cursor {
				above++
			}
		}
		rows = append(rows, row)
	}
	l.Rows = append(rows, fresh...)
	l.shift(above)
}

// shift keeps the cursor on its record where rows came or went above it.
func (l *List[T]) shift(above int) {
	if l.arranged.rows != nil {
		l.arrange()
		return
	}
	l.table.Shift(above, len(l.Rows))
}

package page

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// PreviewPause is the time that the cursor rests on a row before its record is read. Moving over rows sends no
// requests.
const PreviewPause = 120 * time.Millisecond

// cursorMoved reads the row under the cursor for the preview once the cursor pauses. Until then the preview does not
// change.
func (l *List[T]) cursorMoved() tea.Cmd {
	if !l.wantsPreview() {
		return nil
	}
	l.moves++
	n, seq := l.moves, l.seq
	isMissing := l.preview == nil && l.layout.Panes > 1
	if n == 1 || isMissing || l.PreviewPause == 0 {
		return l.onCursorPaused()
	}
	return tea.Tick(l.PreviewPause, func(time.Time) tea.Msg {
		return Result{"cursor rested", func() tea.Cmd {
			if n != l.moves || seq != l.seq {
				return nil
			}
			return l.onCursorPaused()
		}}
	})
}

func (l *List[T]) onCursorPaused() tea.Cmd {
	if !l.wantsPreview() {
		return nil
	}
	row, _ := l.Chosen()
	l.coming = &detail{ref: Reference{l.kind, row.ID}, from: NoPage}
	return l.readDetail(l.coming)
}

// wantsPreview reports whether the row under the cursor must be read.
func (l *List[T]) wantsPreview() bool {
	row, ok := l.Chosen()
	return ok && l.layout.Panes > 1 && (l.coming == nil || l.coming.ref.ID != row.ID)
}

// onRecord takes a record in that was read, if it is still to be seen.
func (l *List[T]) onRecord(d *detail, r record, err error) {
	if d == l.coming {
		l.preview = d
	} else if d != l.preview && !slices.Contains(l.stack, d) {
		return
	}
	d.failed, d.beside = err, nil
	passes := l.Day.NoteConnection(err)
	switch {
	case err == nil:
		d.record, d.ready = r, true
		d.move(0, d.fields(l.Env)) // Off the heading.
	case passes && d.ready: // It stays as it was read last.
		d.failed = nil
	default:
		d.record, d.ready = record{ref: d.ref}, false // No key works on what is not shown.
	}
}

package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
)

// opener is a page whose records can be opened and copied.
type opener interface {
	openRecord() tea.Cmd
	whyNotOpen() string
	copyRecord() tea.Cmd
	whyNotCopy() string
}

// lister is a page that is a list of records.
type lister interface {
	back() tea.Cmd
	whyNotBack() string
	askFilter() tea.Cmd
	whyNotFilter() string
	mark() tea.Cmd
	askBulk() tea.Cmd
	whyNotMark() string
}

func (l *list[R]) whyNotBack() string {
	if len(l.stack) == 0 && len(l.marks) == 0 && l.filter == "" {
		return "this is the list already"
	}
	return ""
}

func (l *list[R]) whyNotFilter() string {
	if len(l.stack) > 0 {
		return "go back to the list first: esc"
	}
	return ""
}

func (l *list[R]) whyNotMark() string {
	if len(l.rows) == 0 {
		return "there is no record to mark"
	}
	return l.whyNotFilter()
}

func (l *list[R]) whyNotOpen() string {
	if d := l.front(); d != nil {
		if f, ok := d.chosen(d.fields(l.shell)); !ok || f.to == nil {
			return "this line points to no other record"
		}
	}
	return l.whyNoRecord()
}

func (l *list[R]) whyNotCopy() string {
	if d := l.front(); d != nil {
		if f, ok := d.chosen(d.fields(l.shell)); !ok || f.head {
			return "there is nothing to copy on this line"
		}
	}
	return l.whyNoRecord()
}

func (l *list[R]) whyNoRecord() string {
	if _, ok := l.target(); !ok {
		return "no record is chosen"
	}
	return ""
}

// whyNotOf is what speaks against an action on records of one kind alone.
func (l *list[R]) whyNotOf(only kind, why string) string {
	if ref, ok := l.target(); ok && ref.kind != only {
		return why
	}
	return l.whyNoRecord()
}

func (l *list[R]) refresh() tea.Cmd {
	if d := l.front(); d != nil {
		return l.readDetail(d)
	}
	return l.reload()
}

func (l *list[R]) scroll(by step) tea.Cmd {
	if d := l.front(); d != nil {
		fields := d.fields(l.shell)
		d.move(rowsOf(by, max(l.layout.body-2, 1), len(fields)), fields)
		return nil
	}
	l.table.Move(rowsOf(by, l.table.Height(), len(l.rows)), len(l.rows))
	l.refreshed.depth = -1
	return tea.Batch(l.wantsMore(), l.readPreview())
}

// rowsOf is how far a step goes over count rows, of which a page has some.
func rowsOf(by step, page, count int) int {
	switch by {
	case down:
		return 1
	case up:
		return -1
	case pageDown:
		return page
	case pageUp:
		return -page
	case top:
		return -count
	default:
		return count
	}
}

func (l *list[R]) openRecord() tea.Cmd {
	if d := l.front(); d != nil {
		f, _ := d.chosen(d.fields(l.shell))
		return l.show(*f.to)
	}
	ref, _ := l.target()
	return l.show(ref)
}

func (l *list[R]) copyRecord() tea.Cmd {
	if d := l.front(); d != nil {
		f, _ := d.chosen(d.fields(l.shell))
		if f.copy == "" {
			return copyOwn(f.label, strings.Join(cleanLines(f.text), "\n"))
		}
		return copyText(f.label, f.copy)
	}
	ref, _ := l.target()
	return copyText(l.kind.String()+" "+desk.ShortID(ref.id), ref.id.String())
}

// back leaves the record in front, the marks or the filter.
func (l *list[R]) back() tea.Cmd {
	switch d := l.front(); {
	case d != nil:
		l.stack = l.stack[:len(l.stack)-1]
		if d.from != noPage {
			return l.turnTo(d.from)
		}
		return l.readPreview()
	case len(l.marks) > 0:
		clear(l.marks)
		return nil
	default:
		return l.setFilter("")
	}
}

func (l *list[R]) mark() tea.Cmd {
	if row, ok := l.chosen(); ok {
		l.toggle(l.id(row))
		l.table.Move(1, len(l.rows))
	}
	return tea.Batch(l.wantsMore(), l.readPreview())
}

func (l *list[R]) toggle(id apitype.UUID) {
	if l.marks[id] {
		delete(l.marks, id)
	} else {
		l.marks[id] = true
	}
}

// askFilter opens the field for the filter.
func (l *list[R]) askFilter() tea.Cmd {
	p := &prompt{title: "Filter " + l.name, help: l.hint}
	p.editor.SetValue(l.filter)
	p.done = func(text string) (string, tea.Cmd) {
		if _, err := l.parse(text); err != nil {
			return err.Error(), nil
		}
		return "", l.setFilter(text)
	}
	l.dialog = p
	return nil
}

func (l *list[R]) setFilter(text string) tea.Cmd {
	q, err := l.parse(text)
	if err != nil {
		l.fail("cannot filter", err)
		return nil
	}
	l.query, l.filter = q, strings.TrimSpace(text)
	l.table.Place(0, 0)
	return l.restart()
}

// askBulk offers the actions on the marked records, or the one under the cursor.
func (l *list[R]) askBulk() tea.Cmd {
	var ids []apitype.UUID
	var names []string
	for _, row := range l.rows { // A service may list a record on two pages: once is enough.
		if l.marks[l.id(row)] && !slices.Contains(ids, l.id(row)) {
			ids = append(ids, l.id(row))
			names = append(names, l.row(row))
		}
	}
	if row, ok := l.chosen(); ok && len(ids) == 0 {
		ids, names = []apitype.UUID{l.id(row)}, []string{l.row(row)}
	}
	l.sent = func() { clear(l.marks) }
	l.dialog = newChoice(fmt.Sprintf("%d %s", len(ids), l.name), "asks again before it does anything", l.bulk(ids, names))
	return nil
}

// mostNames is how many names a question before a bulk action lists.
const mostNames = 9

// askEach makes an option that asks with the count and the names, and then sends a
// change for each record.
func (s *shell) askEach(label string, ids []apitype.UUID, names []string, make func(id apitype.UUID, name string) desk.Change) option {
	return option{label: label, run: func() tea.Cmd {
		lines := []string{label + ": " + render.Plural(len(ids), "record", "records")}
		for i, name := range names {
			if i == mostNames-1 && len(names) > mostNames {
				lines = append(lines, fmt.Sprintf("  and %d more", len(names)-i))
				break
			}
			lines = append(lines, "  "+name)
		}
		s.dialog = &confirm{title: label, lines: lines, yes: func() tea.Cmd {
			var changes []desk.Change
			for i, id := range ids {
				changes = append(changes, make(id, names[i]))
			}
			if s.sent != nil {
				s.sent()
			}
			return s.perform(s.SubmitEach(label, names, changes))
		}}
		return nil
	}}
}

func (s *shell) askMark(entity apitype.EntityName, ids []apitype.UUID, names []string) option {
	return s.askEach("Mark as processed", ids, names, func(id apitype.UUID, name string) desk.Change {
		return s.Mark(entity, id, "mark processed: "+name)
	})
}

func (a *app) whyNoBatch() string {
	if a.Batch == nil {
		return "there was no action on several records"
	}
	return ""
}

// showBatch lists what became of each record of the latest action on several.
func (a *app) showBatch() tea.Cmd {
	lines := []string{a.Batch.Summary(), ""}
	for _, r := range a.Batch.Records {
		sign := "  "
		switch {
		case r.Bad:
			sign = a.styles.warnSign + " "
		case r.Done:
			sign = a.styles.okSign + " "
		}
		lines = append(lines, sign+r.Name+"  "+clean(r.State))
	}
	a.dialog = &text{title: a.Batch.Label, lines: lines}
	return nil
}

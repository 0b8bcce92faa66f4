package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

func (l *list[R]) why(act action) string {
	switch act {
	case actBack:
		if len(l.stack) == 0 && len(l.marks) == 0 && l.filter == "" {
			return "this is the list already"
		}
	case actMark, actFilter, actBulk:
		if len(l.stack) > 0 {
			return "go back to the list first: esc"
		}
		if act == actBulk && l.bulk == nil {
			return "there are no actions on several " + l.name
		}
		if act != actFilter && len(l.rows) == 0 {
			return "there is no record to mark"
		}
	case actOpen, actCopy, actStatus, actSignature, actWork:
		ref, ok := l.target()
		if !ok {
			return "no record is chosen"
		}
		if (act == actStatus || act == actSignature) && ref.kind != kindPledge {
			return "only a pledge has that"
		}
		if act == actWork && ref.kind != kindCall {
			return "only a call can be worked"
		}
		return l.whyNotField(act)
	}
	return ""
}

// whyNotField is what speaks against an action on the chosen line of the record in
// front, "" where there is none.
func (l *list[R]) whyNotField(act action) string {
	d := l.top()
	if d == nil || (act != actOpen && act != actCopy) {
		return ""
	}
	f, ok := d.chosen(d.fields(l.shell))
	switch {
	case act == actOpen && (!ok || f.to == nil):
		return "this line points to no other record"
	case act == actCopy && (!ok || f.head):
		return "there is nothing to copy on this line"
	}
	return ""
}

func (l *list[R]) do(act action) tea.Cmd {
	if l.extra != nil {
		if cmd, done := l.extra(l, act); done {
			return cmd
		}
	}
	if d := l.top(); d != nil {
		return l.doDetail(d, act)
	}
	if moveTable(&l.table, act, len(l.rows)) {
		l.refreshed.depth = -1
		return tea.Batch(l.wantsMore(), l.readPreview())
	}
	switch act {
	case actMark:
		if row, ok := l.chosen(); ok {
			l.toggle(l.id(row))
			l.table.Move(1, len(l.rows))
		}
	case actBulk:
		l.askBulk()
		return nil
	case actFilter:
		l.askFilter()
		return nil
	case actRefresh:
		return l.refresh()
	case actOpen:
		ref, _ := l.target()
		return l.show(ref)
	case actCopy:
		ref, _ := l.target()
		return copyText(l.kind.String()+" "+desk.ShortID(ref.id), ref.id.String())
	case actBack:
		if len(l.marks) > 0 {
			clear(l.marks)
			return nil
		}
		return l.setFilter("")
	}
	return tea.Batch(l.wantsMore(), l.readPreview())
}

// moveTable moves the cursor of a table of count rows; it reports whether the action
// was one that does.
func moveTable[R any](t *widget.Table[R], act action, count int) bool {
	switch act {
	case actDown:
		t.Move(1, count)
	case actUp:
		t.Move(-1, count)
	case actPageDown:
		t.Move(t.Height(), count)
	case actPageUp:
		t.Move(-t.Height(), count)
	case actTop:
		t.Place(0, count)
	case actBottom:
		t.Place(count-1, count)
	default:
		return false
	}
	return true
}

func (l *list[R]) toggle(id apitype.UUID) {
	if l.marks[id] {
		delete(l.marks, id)
	} else {
		l.marks[id] = true
	}
}

// askFilter opens the field for the filter.
func (l *list[R]) askFilter() {
	p := &prompt{title: "Filter " + l.name, help: l.hint}
	p.editor.SetValue(l.filter)
	p.done = func(text string) (string, tea.Cmd) {
		if _, err := l.parse(text); err != nil {
			return err.Error(), nil
		}
		return "", l.setFilter(text)
	}
	l.dialog = p
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
func (l *list[R]) askBulk() {
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
	if len(ids) == 0 {
		l.say("no record is marked")
		return
	}
	l.sent = func() { clear(l.marks) }
	l.dialog = newChoice(fmt.Sprintf("%d %s", len(ids), l.name), "asks again before it does anything", l.bulk(ids, names))
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

// showBatch lists what became of each record of the latest action on several.
func (s *shell) showBatch() {
	lines := []string{s.Batch.Summary(), ""}
	for _, r := range s.Batch.Records {
		sign := "  "
		switch {
		case r.Bad:
			sign = s.styles.warnSign + " "
		case r.Done:
			sign = s.styles.okSign + " "
		}
		lines = append(lines, sign+r.Name+"  "+clean(r.State))
	}
	s.dialog = &text{title: s.Batch.Label, lines: lines}
}

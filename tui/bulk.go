package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// mostNames is how many names a question before a bulk action lists.
const mostNames = 9

// bulkRun is the latest action on several records, and what became of each.
type bulkRun struct {
	label   string
	records []bulkRecord
}

// bulkRecord is one record of a bulk action.
type bulkRecord struct {
	name  string
	entry string // Its id in the outbox; "" until it is there, or when it never was.
	state string // What became of it, in words.
	bad   bool
}

// askEach makes an option that asks with the count and the names, and then sends a
// change for each record.
func (s *shell) askEach(label string, ids []apitype.UUID, names []string, make func(id apitype.UUID, name string) change) option {
	return option{label: label, run: func() tea.Cmd {
		lines := []string{fmt.Sprintf("%s: %s", label, plural(len(ids), "record", "records"))}
		for i, name := range names {
			if i == mostNames-1 && len(names) > mostNames {
				lines = append(lines, fmt.Sprintf("  and %d more", len(names)-i))
				break
			}
			lines = append(lines, "  "+name)
		}
		s.dialog = &confirm{title: label, lines: lines, yes: func() tea.Cmd {
			run := &bulkRun{label: label}
			var commands []tea.Cmd
			for i, id := range ids {
				run.records = append(run.records, bulkRecord{name: names[i], state: "held"})
				c := make(id, names[i])
				c.queued = func(e outbox.Entry, err error) { run.isQueued(i, e, err) }
				commands = append(commands, s.submit(c))
			}
			if len(ids) > 1 {
				s.lastBulk = run
			}
			if s.sent != nil {
				s.sent()
			}
			return tea.Sequence(commands...)
		}}
		return nil
	}}
}

func (b *bulkRun) isQueued(i int, e outbox.Entry, err error) {
	if err != nil {
		b.records[i].state, b.records[i].bad = "not saved: "+err.Error(), true
		return
	}
	b.records[i].entry = e.ID
}

// isTakenBack notes that a record's change was undone.
func (b *bulkRun) isTakenBack(entry string) {
	if b == nil {
		return
	}
	for i := range b.records {
		if b.records[i].entry == entry {
			b.records[i].state = "taken back"
		}
	}
}

// hear notes what became of an entry; it reports whether it was one of this run.
func (b *bulkRun) hear(e outbox.Event) bool {
	if b == nil {
		return false
	}
	for i := range b.records {
		r := &b.records[i]
		if r.entry == "" || r.entry != e.Entry.ID {
			continue
		}
		r.bad = e.Outcome != outbox.OutcomeAccepted
		switch e.Outcome {
		case outbox.OutcomeAccepted:
			r.state = "done"
		case outbox.OutcomeRejected:
			r.state = errorText("refused", e.Err)
		default:
			r.state = errorText("waits", e.Err)
		}
		return true
	}
	return false
}

// summary is how far the run has come, in one line.
func (b *bulkRun) summary() string {
	done, bad := 0, 0
	for _, r := range b.records {
		switch {
		case r.bad:
			bad++
		case r.state == "done":
			done++
		}
	}
	text := fmt.Sprintf("%s: %d of %d done", b.label, done, len(b.records))
	if bad > 0 {
		text += fmt.Sprintf(", %d not", bad)
	}
	return text
}

// showBulk lists what became of each record of the latest bulk action.
func (s *shell) showBulk() {
	lines := []string{s.lastBulk.summary(), ""}
	for _, r := range s.lastBulk.records {
		sign := "  "
		switch {
		case r.bad:
			sign = s.styles.warnSign + " "
		case r.state == "done":
			sign = s.styles.okSign + " "
		}
		lines = append(lines, sign+r.name+"  "+clean(r.state))
	}
	s.dialog = &text{title: s.lastBulk.label, lines: lines}
}

package tui

import (
	"bytes"
	"encoding/json"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// outboxRow is a line of the outbox: an entry, a draft or a damaged file.
type outboxRow struct {
	entry   *outbox.Entry
	draft   *outbox.Draft
	damaged *outbox.Damaged
}

// outboxView is the page of what the service does not have yet.
type outboxView struct {
	*shell
	table  widget.Table[outboxRow]
	layout layout
}

func newOutboxPage(s *shell) *outboxView {
	v := &outboxView{shell: s, layout: newLayout(80, 24)}
	v.table.Columns = []widget.Column[outboxRow]{
		{Title: " State", Width: 10, Text: func(b []byte, r outboxRow) []byte { return append(append(b, ' '), r.state()...) }},
		{Title: "What", Width: 14, Text: func(b []byte, r outboxRow) []byte { return append(b, r.what()...) }},
		{Title: "Record", Width: 8, Text: func(b []byte, r outboxRow) []byte { return append(b, r.record()...) }},
		{Title: "Age", Width: 4, Right: true, Text: func(b []byte, r outboxRow) []byte { return append(b, r.age(s)...) }},
		{Title: "Tries", Width: 5, Right: true, Text: func(b []byte, r outboxRow) []byte { return append(b, r.tries()...) }},
		{Title: "Last answer", Width: 10, Grow: true, Text: func(b []byte, r outboxRow) []byte { return append(b, r.answer()...) }},
	}
	v.resize(v.layout)
	return v
}

func (r outboxRow) state() string {
	switch {
	case r.entry != nil:
		return string(r.entry.State)
	case r.draft != nil:
		return "draft"
	default:
		return "damaged"
	}
}

func (r outboxRow) what() string {
	switch {
	case r.entry != nil:
		return desk.OpLabel(r.entry.Op)
	case r.draft != nil:
		return render.Plural(len([]rune(r.draft.Notes)), "character", "characters")
	default:
		return "file"
	}
}

func (r outboxRow) record() string {
	switch {
	case r.entry != nil && !r.entry.UUID.IsZero():
		return desk.ShortID(r.entry.UUID)
	case r.draft != nil:
		return desk.ShortID(r.draft.Call)
	default:
		return ""
	}
}

func (r outboxRow) age(s *shell) string {
	switch {
	case r.entry != nil:
		return shortAge(s.Now().Sub(r.entry.CreatedAt))
	case r.draft != nil:
		return shortAge(s.Now().Sub(r.draft.SavedAt))
	default:
		return ""
	}
}

func (r outboxRow) tries() string {
	if r.entry == nil {
		return ""
	}
	return fmt.Sprint(r.entry.Tries)
}

func (r outboxRow) answer() string {
	switch {
	case r.entry != nil:
		return clean(r.entry.LastError)
	case r.draft != nil:
		return clean(r.draft.ResultCode)
	default:
		return clean(r.damaged.Reason)
	}
}

// rows are the entries, the drafts and the damaged files.
func (v *outboxView) rows() []outboxRow {
	var rows []outboxRow
	for i := range v.Entries {
		rows = append(rows, outboxRow{entry: &v.Entries[i]})
	}
	for i := range v.Drafts {
		rows = append(rows, outboxRow{draft: &v.Drafts[i]})
	}
	for i := range v.Damaged {
		rows = append(rows, outboxRow{damaged: &v.Damaged[i]})
	}
	return rows
}

func (v *outboxView) chosen() (outboxRow, bool) {
	rows := v.rows()
	if v.table.Cursor() >= len(rows) {
		return outboxRow{}, false
	}
	return rows[v.table.Cursor()], true
}

func (v *outboxView) open() tea.Cmd { return v.perform(v.ReadOutbox()) }

func (v *outboxView) resize(l layout) {
	v.layout = l
	v.table.SetHeight(max(l.body-2, 1))
}

func (v *outboxView) scopes() []scope { return []scope{scopeOutbox, scopeLists} }

func (v *outboxView) typing() bool { return false }

func (v *outboxView) text(tea.Msg) tea.Cmd { return nil }

func (v *outboxView) receive(result) tea.Cmd { return nil }

func (v *outboxView) refresh() tea.Cmd { return v.perform(v.ReadOutbox()) }

func (v *outboxView) scroll(by step) tea.Cmd {
	count := len(v.rows())
	v.table.Move(rowsOf(by, v.table.Height(), count), count)
	return nil
}

func (v *outboxView) whyNotCopy() string {
	if _, ok := v.chosen(); !ok {
		return "the outbox is empty"
	}
	return ""
}

func (v *outboxView) whyNotOpen() string {
	if row, ok := v.chosen(); ok && row.damaged != nil {
		return "a damaged file is left for you to look at: " + row.damaged.Path
	}
	return v.whyNotCopy()
}

func (v *outboxView) whyNotSendAgain() string {
	row, ok := v.chosen()
	if ok && (row.entry == nil || (row.entry.State != outbox.StateRejected && row.entry.State != outbox.StateUnsure)) {
		return "only what was refused or is unsure is sent again by hand; the rest is sent by itself"
	}
	return v.whyNotOpen()
}

func (v *outboxView) openRecord() tea.Cmd {
	row, _ := v.chosen()
	if row.draft != nil {
		return v.workOn(reference{kindCall, row.draft.Call})
	}
	v.dialog = &text{title: desk.OpLabel(row.entry.Op), lines: v.entryLines(*row.entry)}
	return nil
}

func (v *outboxView) copyRecord() tea.Cmd {
	row, _ := v.chosen()
	return copyOwn("text", row.copyText())
}

// entryLines are all of an entry: what would be sent, and what the service said.
func (s *shell) entryLines(e outbox.Entry) []string {
	lines := []string{
		"state: " + string(e.State), e.Method + " " + e.Path,
		"made: " + s.Locale.DateTime(e.CreatedAt.Local(), "2 Jan 2006 15:04:05") + ", tries: " + fmt.Sprint(e.Tries),
	}
	if e.LastError != "" {
		lines = append(lines, "last answer: "+clean(e.LastError))
	}
	var body bytes.Buffer
	if json.Indent(&body, e.Body, "", "  ") == nil {
		lines = append(lines, "")
		lines = append(lines, cleanLines(body.String())...)
	}
	return lines
}

// copyText is what somebody typed, else the whole body.
func (r outboxRow) copyText() string {
	switch {
	case r.draft != nil:
		return r.draft.Notes
	case r.damaged != nil:
		return r.damaged.Path
	}
	var body apitype.CompleteCallRequest
	if json.Unmarshal(r.entry.Body, &body) == nil && body.Result != nil && value(body.Result.Notes) != "" {
		return *body.Result.Notes
	}
	return string(r.entry.Body)
}

func (v *outboxView) askSendAgain() tea.Cmd {
	row, _ := v.chosen()
	e := *row.entry
	lines := []string{"It was refused: " + clean(e.LastError)}
	if e.State == outbox.StateUnsure {
		lines = []string{"Its answer was lost. If it took effect after all, this does it a second time. Look at the record first."}
	}
	v.dialog = &confirm{title: "Send the " + desk.OpLabel(e.Op) + " again?", lines: lines, yes: func() tea.Cmd {
		return v.perform(v.SendAgain(e.ID))
	}}
	return nil
}

func (v *outboxView) askDrop() tea.Cmd {
	row, _ := v.chosen()
	if row.draft != nil {
		call := row.draft.Call
		v.dialog = &confirm{title: "Drop the draft?", lines: []string{"What was typed for call " + desk.ShortID(call) + " is erased."}, yes: func() tea.Cmd {
			return v.perform(v.DropDraft(call))
		}}
		return nil
	}
	e := *row.entry
	v.dialog = &confirm{title: "Drop the " + desk.OpLabel(e.Op) + "?", lines: []string{"The service will not hear of it, and its text is erased."}, yes: func() tea.Cmd {
		return v.perform(v.Drop(e.ID))
	}}
	return nil
}

func (v *outboxView) lines(l layout) []string {
	s := v.styles
	rows := v.rows()
	summary := fmt.Sprintf(" %s, %s", render.Plural(len(v.Entries), "change", "changes"), render.Plural(len(v.Drafts), "draft", "drafts"))
	lines := []string{s.dim(widget.Fit(summary, l.width))}
	lines = append(lines, v.table.Lines(rows, l.width, s.head, func(r outboxRow, chosen bool, line string) string {
		switch {
		case chosen:
			return s.chosen(line)
		case r.state() == string(outbox.StateRejected):
			return s.bad(line)
		case r.state() == string(outbox.StateUnsure):
			return s.warn(line)
		default:
			return line
		}
	})...)
	if len(rows) == 0 {
		lines = append(lines, s.dim(" Everything you did has reached the service."))
	}
	return widget.Block(lines, l.width, l.body)
}

package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/say"
	"fundesk/tui/widget"
)

// outboxRow is a line of the outbox: an entry, a draft or a damaged file.
type outboxRow struct {
	id      string // Identifies the row.
	entry   *outbox.Entry
	draft   *outbox.Draft
	damaged *outbox.Damaged
}

// Outbox is the page of the changes that the service does not have yet.
type Outbox struct {
	*Env
	table  widget.Table[render.Entry, outboxRow]
	chosen string // The row under the cursor when it was drawn. Empty uses the cursor's position.
}

// NewOutbox returns the page of the outbox.
func NewOutbox(s *Env) *Outbox {
	v := &Outbox{Env: s, table: wholeTable(s, render.EntryList(), func(r outboxRow) render.Entry { return r.shown(s) })}
	v.Resize(NewLayout(80, 24))
	return v
}

// shown returns the row as a list shows it. Only an entry has a number of tries.
func (r outboxRow) shown(s *Env) render.Entry {
	if r.entry != nil {
		return render.Entry{
			State:     string(r.entry.State),
			Label:     Clean(s.Say(cmp.Or(s.Day.Changes.Labels[r.entry.ID], changes.OpLabel(r.entry.Op)))),
			CreatedAt: new(apitype.NewTime(r.entry.CreatedAt)),
			Tries:     r.entry.Tries,
			LastError: new(Clean(s.Say(r.entry.LastError))),
		}
	}
	if r.draft != nil {
		return render.Entry{
			State:     "draft",
			Label:     Clean(cmp.Or(r.draft.Name, s.Say("a person"))),
			CreatedAt: new(apitype.NewTime(r.draft.SavedAt)),
			Tries:     -1,
			LastError: new(Clean(entry.DraftText(s.Day.Texts, *r.draft))),
		}
	}
	return render.Entry{
		State:     "damaged",
		Label:     s.Say("file"),
		Tries:     -1,
		LastError: new(Clean(s.Say(r.damaged.Reason))),
	}
}

func (r outboxRow) isIn(state outbox.State) bool { return r.entry != nil && r.entry.State == state }

// rows returns the entries, the drafts and the damaged files. The cursor stays on its row, wherever that is by now.
func (v *Outbox) rows() []outboxRow {
	var rows []outboxRow
	for i := range v.Day.Changes.Entries {
		rows = append(rows, outboxRow{id: v.Day.Changes.Entries[i].ID, entry: &v.Day.Changes.Entries[i]})
	}
	drafts := v.Day.Changes.Drafts.All
	for i := range drafts {
		rows = append(rows, outboxRow{id: drafts[i].Call.String(), draft: &drafts[i]})
	}
	for i := range v.Day.Changes.Damaged {
		rows = append(rows, outboxRow{id: v.Day.Changes.Damaged[i].Path, damaged: &v.Day.Changes.Damaged[i]})
	}
	if i := slices.IndexFunc(rows, func(r outboxRow) bool { return r.id == v.chosen }); i >= 0 {
		v.table.Place(i, len(rows))
	}
	return rows
}

// Chosen returns the row under the cursor.
func (v *Outbox) Chosen() (outboxRow, bool) {
	rows := v.rows()
	if v.table.Cursor() >= len(rows) {
		return outboxRow{}, false
	}
	return rows[v.table.Cursor()], true
}

// Open implements Page.
func (v *Outbox) Open() tea.Cmd { return v.Host.Perform(v.Day.Changes.Refresh()) }

// Resize implements Page.
func (v *Outbox) Resize(l Layout) {
	v.table.SetHeight(max(l.Body-outboxRowsFrom-wholeAnswer, 1))
}

// wholeAnswer is the number of lines below the list for the answer of the chosen row.
const wholeAnswer = 6

// Scopes implements Page.
func (v *Outbox) Scopes() []Scope { return []Scope{ScopeOutbox, ScopeLists} }

// Refresh implements Page.
func (v *Outbox) Refresh() tea.Cmd { return v.Host.Perform(v.Day.Changes.Refresh()) }

// Scroll implements Page.
func (v *Outbox) Scroll(by Step) tea.Cmd {
	count := len(v.rows())
	v.chosen = ""
	v.table.Move(rowsOf(by, v.table.Height(), count), count)
	return nil
}

// outboxRowsFrom is the line of the page on which the rows begin: after the summary and the head.
const outboxRowsFrom = 2

// Click implements Clicked.
func (v *Outbox) Click(_, y int) (tea.Cmd, bool) {
	count := len(v.rows())
	v.chosen = ""
	return nil, v.table.Click(y-outboxRowsFrom, count)
}

// WhyNotCopy implements Copier.
func (v *Outbox) WhyNotCopy() string {
	_, ok := v.Chosen()
	return say.When(!ok, "the outbox is empty")
}

// WhyNotOpen implements Opener.
func (v *Outbox) WhyNotOpen() string {
	if row, ok := v.Chosen(); ok && row.damaged != nil {
		return "a damaged file is left for you to look at: " + row.damaged.Path
	}
	return v.WhyNotCopy()
}

// WhyNotSendAgain returns the reason why the chosen entry cannot be sent again by hand, or "".
func (v *Outbox) WhyNotSendAgain() string {
	row, ok := v.Chosen()
	if ok && !row.isIn(outbox.StateRejected) && !row.isIn(outbox.StateUnsure) {
		return "only what was refused or is unsure is sent again by hand; the rest is sent automatically"
	}
	return v.WhyNotOpen()
}

// outboxActions returns the actions of the outbox.
func outboxActions() []Action {
	return []Action{
		{
			ID:    "send-again",
			Scope: ScopeOutbox,
			Keys:  "s",
			Help:  "send again what was refused or is unsure…",
			Word:  "send again",
			Run:   on((*Outbox).AskSendAgain),
			Why:   onWhy((*Outbox).WhyNotSendAgain),
		},
		{
			ID:    "drop",
			Scope: ScopeOutbox,
			Keys:  "D",
			Help:  "drop the entry…",
			Word:  "drop",
			Run:   on((*Outbox).AskDrop),
			Why:   onWhy((*Outbox).WhyNotOpen),
		},
		{
			ID:    "send-now",
			Scope: ScopeOutbox,
			Keys:  "ctrl+r",
			Help:  "try all of them now",
			Word:  "try now",
			Run:   on((*Outbox).SendNow),
		},
	}
}

// SendNow tries all that waits.
func (v *Outbox) SendNow() tea.Cmd { return v.Host.Perform(v.Day.Changes.SendNow()) }

// OpenRecord implements Opener.
func (v *Outbox) OpenRecord() tea.Cmd {
	row, _ := v.Chosen()
	if row.draft != nil {
		return v.Host.WorkOn(Reference{apitype.EntityCall, row.draft.Call})
	}
	v.Dialog = &Text{Title: changes.OpLabel(row.entry.Op), Lines: v.entryLines(*row.entry)}
	return nil
}

// CopyRecord implements Copier.
func (v *Outbox) CopyRecord() tea.Cmd {
	row, _ := v.Chosen()
	return copyOwn(v.Say("text"), row.copyText())
}

// entryLines draws a whole entry: its request and the service's answer.
func (v *Outbox) entryLines(e outbox.Entry) []string {
	lines := []string{
		v.Say("state") + ": " + v.Say(string(e.State)),
		e.Method + " " + e.Path,
		v.Say(
			"made: %s, tries: %d",
			v.Day.Date(v.Day.Locale.DateTime(e.CreatedAt.Local(), "2 Jan 2006 15:04:05")),
			e.Tries,
		),
	}
	if e.LastError != "" {
		lines = append(lines, v.Say("last answer")+": "+Clean(v.Say(e.LastError)))
	}
	var body bytes.Buffer
	if json.Indent(&body, e.Body, "", "  ") == nil {
		lines = append(append(lines, ""), cleanLines(body.String())...)
	}
	return lines
}

// copyText returns the text that the agent typed, or the whole body.
func (r outboxRow) copyText() string {
	if r.draft != nil {
		return r.draft.Notes
	}
	if r.damaged != nil {
		return r.damaged.Path
	}
	var body apitype.CompleteCallRequest
	if json.Unmarshal(r.entry.Body, &body) == nil && body.Result != nil && apitype.TextOf(body.Result.Notes) != "" {
		return *body.Result.Notes
	}
	return string(r.entry.Body)
}

// AskSendAgain asks before the chosen entry is sent again.
func (v *Outbox) AskSendAgain() tea.Cmd {
	row, _ := v.Chosen()
	e := *row.entry
	if len(e.Fields) > 0 {
		return v.Host.Perform(v.Day.Refused.Ask(e))
	}
	lines := []string{v.Say("It was refused") + ": " + Clean(v.Say(e.LastError))}
	if e.State == outbox.StateUnsure {
		lines = []string{
			"Its answer was lost. If it took effect after all, this does it a second time. Look at the record first.",
		}
	}
	v.Dialog = &Confirm{
		Title: v.Say("Send again: %s?", row.shown(v.Env).Label),
		Lines: lines,
		Yes:   func() tea.Cmd { return v.Host.Perform(v.Day.Changes.SendAgain(e.ID)) },
	}
	return nil
}

// AskDrop asks before the chosen entry or draft is erased.
func (v *Outbox) AskDrop() tea.Cmd {
	row, _ := v.Chosen()
	if row.draft != nil {
		call, line := row.draft.Call, v.Say(
			"What was typed for %s is erased.",
			cmp.Or(Clean(row.draft.Name), v.Say("a person")),
		)
		v.Dialog = &Confirm{
			Title: "Drop the draft?",
			Lines: []string{line},
			Yes:   func() tea.Cmd { return v.Host.Perform(v.Day.Changes.DropDraft(call)) },
		}
		return nil
	}
	e := *row.entry
	lines := []string{v.Say("It does not reach the service, and its text is erased.")}
	isLost := e.State == outbox.StateUnsure || e.State != outbox.StateRejected && !e.SentAt.IsZero()
	if isLost {
		lines[0] = v.Say("Its answer was lost: it may have taken effect. Look at the record first. Its text is erased.")
	}
	for _, other := range v.Day.Changes.Entries {
		if other.After == e.ID {
			lines = append(
				lines,
				v.Say("The change that waits for it is then sent: %s.", v.Say(changes.OpLabel(other.Op))),
			)
		}
	}
	v.Dialog = &Confirm{
		Title: v.Say("Drop: %s?", row.shown(v.Env).Label),
		Lines: lines,
		Yes:   func() tea.Cmd { return v.Host.Perform(v.Day.Changes.Drop(e)) },
	}
	return nil
}

// Lines implements Page.
func (v *Outbox) Lines(l Layout) []string {
	s := v.Styles
	rows := v.rows()
	entries := v.Day.Count(len(v.Day.Changes.Entries), "change", "changes")
	drafts := v.Day.Count(len(v.Day.Changes.Drafts.All), "draft", "drafts")
	summary := " " + entries + ", " + drafts
	lines := []string{s.Dim(widget.Fit(summary, l.Width))}
	lines = append(lines, v.table.Lines(rows, l.Width, s.head, func(r outboxRow, chosen bool, line string) string {
		if chosen {
			return s.chosen(line)
		}
		if r.isIn(outbox.StateRejected) {
			return s.Bad(line)
		}
		if r.isIn(outbox.StateUnsure) {
			return s.Warn(line)
		}
		return line
	})...)
	if len(rows) == 0 {
		lines = append(lines, s.Dim(" "+v.Say("Everything you did has reached the service.")))
	}
	row, ok := v.Chosen()
	v.chosen = row.id
	if ok {
		lines = append(lines, v.answerLines(row, l.Width)...)
	}
	return widget.Block(lines, l.Width, l.Body)
}

// answerLines draws the answer of a row in full, because its column can be too narrow for it.
func (v *Outbox) answerLines(r outboxRow, width int) []string {
	shown := r.shown(v.Env)
	if shown.LastError == nil || *shown.LastError == "" {
		return nil
	}
	lines := []string{"", " " + v.Styles.bold(shown.Label)}
	for _, line := range widget.Wrap(*shown.LastError, width-2) {
		lines = append(lines, " "+line)
	}
	return lines
}

package page

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/say"
)

// Opener is a page with records that can be opened.
type Opener interface {
	OpenRecord() tea.Cmd
	WhyNotOpen() string
}

// Copier is a page with records that can be copied.
type Copier interface {
	CopyRecord() tea.Cmd
	WhyNotCopy() string
}

// Lister is a page that is a list of records.
type Lister interface {
	Back() tea.Cmd
	WhyNotBack() string
	AskFilter() tea.Cmd
	WhyNotFilter() string
	MarkRow() tea.Cmd
	AskBulk() tea.Cmd
	AskSort() tea.Cmd
	TurnView(by int) tea.Cmd
	WhyNotMark() string
	WhyNotBulk() string
}

const actNextView = "next-view"

// listActions returns the actions of every list.
func listActions() []Action {
	return []Action{
		{
			ID:    "open",
			Scope: ScopeLists,
			Keys:  "enter",
			Help:  "open",
			Word:  "open",
			Run:   on(Opener.OpenRecord),
			Why:   onWhy(Opener.WhyNotOpen),
		},
		{
			ID:    "back",
			Scope: ScopeLists,
			Keys:  "esc backspace",
			Help:  "back",
			Word:  "back",
			Run:   on(Lister.Back),
			Why:   onWhy(Lister.WhyNotBack),
		},
		{
			ID:     ActFilter,
			Scope:  ScopeLists,
			Keys:   "/",
			Help:   "filter",
			Word:   "filter",
			Run:    on(Lister.AskFilter),
			Why:    onWhy(Lister.WhyNotFilter),
			Traits: OpensLine,
		},
		{
			ID:    actNextView,
			Scope: ScopeLists,
			Keys:  "tab",
			Help:  "the next tab of the list",
			Run:   on(func(l Lister) tea.Cmd { return l.TurnView(1) }),
			Why:   onWhy(Lister.WhyNotFilter),
		},
		{
			ID:    "previous-view",
			Scope: ScopeLists,
			Keys:  "shift+tab",
			Help:  "the previous tab of the list",
			Run:   on(func(l Lister) tea.Cmd { return l.TurnView(-1) }),
			Why:   onWhy(Lister.WhyNotFilter),
		},
		{
			ID:     "sort",
			Scope:  ScopeLists,
			Keys:   "o",
			Help:   "sort by a column…",
			Run:    on(Lister.AskSort),
			Why:    onWhy(Lister.WhyNotFilter),
			Traits: AsksDigit,
		},
		{
			ID:    "mark",
			Scope: ScopeLists,
			Keys:  "space",
			Help:  "mark",
			Word:  "mark",
			Run:   on(Lister.MarkRow),
			Why:   onWhy(Lister.WhyNotMark),
		},
		{
			ID:     "actions",
			Scope:  ScopeLists,
			Keys:   "A",
			Help:   "actions on the marked…",
			Word:   "actions",
			Run:    on(Lister.AskBulk),
			Why:    onWhy(Lister.WhyNotBulk),
			Traits: AsksDigit,
		},
		{
			ID:    ActCopy,
			Scope: ScopeLists,
			Keys:  "y",
			Help:  "copy the UUID, in a record the value",
			Word:  "copy",
			Run:   on(Copier.CopyRecord),
			Why:   onWhy(Copier.WhyNotCopy),
		},
		{
			ID:    "down",
			Scope: ScopeLists,
			Keys:  "j down",
			Help:  "down",
			Run:   scroll(Down),
		},
		{
			ID:    "up",
			Scope: ScopeLists,
			Keys:  "k up",
			Help:  "up",
			Run:   scroll(Up),
		},
		{
			ID:    "top",
			Scope: ScopeLists,
			Keys:  "g home",
			Help:  "to the top",
			Run:   scroll(Top),
		},
		{
			ID:    "bottom",
			Scope: ScopeLists,
			Keys:  "G end",
			Help:  "to the bottom of what is loaded",
			Run:   scroll(Bottom),
		},
		{
			ID:    "page-down",
			Scope: ScopeLists,
			Keys:  "pgdown ctrl+d ctrl+f",
			Help:  "a page down",
			Run:   scroll(PageDown),
		},
		{
			ID:    "page-up",
			Scope: ScopeLists,
			Keys:  "pgup ctrl+u ctrl+b",
			Help:  "a page up",
			Run:   scroll(PageUp),
		},
	}
}

// WhyNotBack returns the reason why there is nowhere to go back to, or "".
func (l *List[T]) WhyNotBack() string {
	return say.When(len(l.stack) == 0 && len(l.Marks) == 0 && l.filter == "", "this is the list already")
}

// WhyNotFilter returns the reason why the list cannot be filtered now, or "".
func (l *List[T]) WhyNotFilter() string {
	return say.When(len(l.stack) > 0, "go back to the list first: esc")
}

// WhyNotMark returns the reason why no record can be marked or acted on now, or "".
func (l *List[T]) WhyNotMark() string {
	if len(l.Rows) == 0 {
		return "there is no record to mark"
	}
	return l.WhyNotFilter()
}

// WhyNotBulk returns the reason why there is no action on marked records now, or "".
func (l *List[T]) WhyNotBulk() string {
	if why := l.WhyNotMark(); why != "" {
		return why
	}
	isMarked := func(row Row) bool { return l.Marks[row.ID] }
	if slices.ContainsFunc(l.shown(), isMarked) {
		return ""
	}
	if len(l.Marks) > 0 {
		return "the filter hides the marked records"
	}
	return "no record is marked: space marks one"
}

// WhyNotOpen implements Opener.
func (l *List[T]) WhyNotOpen() string {
	if d := l.Front(); d != nil {
		if f, ok := d.chosen(d.fields(l.Env)); !ok || !f.leads() {
			return "this line points to no other record"
		}
	}
	return l.whyNoRecord()
}

// WhyNotCopy implements Copier.
func (l *List[T]) WhyNotCopy() string {
	if d := l.Front(); d != nil {
		if f, ok := d.chosen(d.fields(l.Env)); !ok || f.head {
			return "there is nothing to copy on this line"
		}
	}
	return l.whyNoRecord()
}

func (l *List[T]) whyNoRecord() string {
	_, ok := l.Target()
	if ok {
		return ""
	}
	if l.loading {
		return l.Say("the %s are being read", l.Say(l.name))
	}
	return "no record is chosen"
}

// whyNotOf returns the reason why an action for records of one kind does nothing, or "".
func (l *List[T]) whyNotOf(only apitype.EntityName, why string) string {
	if ref, ok := l.Target(); ok && ref.Kind != only {
		return why
	}
	return l.whyNoRecord()
}

// Refresh implements Page.
func (l *List[T]) Refresh() tea.Cmd {
	if d := l.Front(); d != nil {
		return l.readDetail(d)
	}
	return l.reread(true)
}

// Scroll implements Page.
func (l *List[T]) Scroll(by Step) tea.Cmd {
	if d := l.Front(); d != nil {
		fields := d.fields(l.Env)
		d.move(rowsOf(by, max(l.layout.Body-2, 1), len(fields)), fields)
		return nil
	}
	l.moveBy(rowsOf(by, l.table.Height(), len(l.shown())))
	l.refreshed.depth = -1
	return tea.Batch(l.wantsMore(), l.cursorMoved())
}

// OpenRecord opens the record under the cursor, or the record that the chosen line refers to.
func (l *List[T]) OpenRecord() tea.Cmd {
	if d := l.Front(); d != nil {
		f, _ := d.chosen(d.fields(l.Env))
		if f.to == nil {
			return l.Host.ShowList(f.list.page, f.list.filter)
		}
		return l.show(*f.to)
	}
	ref, _ := l.Target()
	return l.show(ref)
}

// CopyRecord copies the identifier of the record, or the chosen line.
func (l *List[T]) CopyRecord() tea.Cmd {
	if d := l.Front(); d != nil {
		f, _ := d.chosen(d.fields(l.Env))
		if f.copy == "" {
			return copyOwn(l.Say(f.label), strings.Join(cleanLines(f.text), "\n"))
		}
		return copyText(l.Say(f.label), f.copy)
	}
	ref, _ := l.Target()
	return copyText(l.Say(string(l.kind))+" "+render.ShortID(ref.ID), ref.ID.String())
}

// Back leaves the record in front, the marks or the filter.
func (l *List[T]) Back() tea.Cmd {
	d := l.Front()
	if d != nil {
		l.stack = l.stack[:len(l.stack)-1]
		if d.from != NoPage {
			return l.Host.Turn(d.from)
		}
		return l.cursorMoved()
	}
	if len(l.Marks) > 0 {
		clear(l.Marks)
		return nil
	}
	return l.setFilter("")
}

// Clicked is a page that takes clicks: at a column, and at a line below the tabs.
type Clicked interface {
	Click(x, y int) (cmd tea.Cmd, onRow bool)
}

// rowsFrom is the line of the page on which the rows of a list begin: after its tabs, the summary and the head.
const rowsFrom = 3

// Click implements Clicked.
func (l *List[T]) Click(x, y int) (tea.Cmd, bool) {
	if l.Front() == nil && y == 0 {
		return l.clickView(x), false
	}
	if l.Front() != nil || x >= l.width(l.layout) || !l.table.Click(y-rowsFrom, len(l.shown())) {
		return nil, false
	}
	return tea.Batch(l.wantsMore(), l.cursorMoved()), true
}

// MarkRow marks the row under the cursor and goes on.
func (l *List[T]) MarkRow() tea.Cmd {
	if row, ok := l.Chosen(); ok {
		l.Marks[row.ID] = !l.Marks[row.ID]
		if !l.Marks[row.ID] {
			delete(l.Marks, row.ID)
		}
		l.moveBy(1)
	}
	return tea.Batch(l.wantsMore(), l.cursorMoved())
}

func (l *List[T]) moveBy(rows int) {
	l.table.Move(rows, len(l.shown()))
}

// AskBulk offers the actions on the marked records.
func (l *List[T]) AskBulk() tea.Cmd {
	var rows []Row
	seen := map[apitype.UUID]bool{}
	for _, row := range l.shown() { // A service may list a record on two pages: once is enough.
		if id := row.ID; l.Marks[id] && !seen[id] {
			seen[id] = true
			rows = append(rows, row)
		}
	}
	sent := func() {
		for _, row := range rows { // A record that the filter hides stays marked: nothing is done to it.
			delete(l.Marks, row.ID)
		}
	}
	l.Dialog = NewChoice(
		l.Day.Count(len(rows), string(l.kind), l.name),
		"asks again before it does anything",
		bulkOptions(l, rows, sent),
	)
	return nil
}

// bulkOptions returns the actions on several records. sent is called after a confirmation.
func bulkOptions[T any](l *List[T], rows []Row, sent func()) []Option {
	var options []Option
	if l.bulk != nil {
		options = l.bulk(rows, sent)
	}
	return append(
		options,
		l.askEach("Mark as processed", l.targets(rows, sent, nil), func(id apitype.UUID, name string) changes.Change {
			return l.Day.Changes.Mark(l.kind, id, l.Say("mark processed")+": "+name)
		}),
	)
}

// mostNames limits the names in the question before a bulk action.
const mostNames = 9

// firstOf returns the first names, one a line, and how many more there are.
func (e *Env) firstOf(names []string) []string {
	var lines []string
	for i, name := range names {
		if i == mostNames-1 && len(names) > mostNames {
			return append(lines, e.Say("  and %d more", len(names)-i))
		}
		lines = append(lines, "  "+name)
	}
	return lines
}

// targets are the records of an action on several.
type targets struct {
	ids   []apitype.UUID
	names []string
	all   int    // How many were marked; the others are in a state that does not allow it.
	sent  func() // Called after the confirmation. May be nil.
	// confirmed is called after the confirmation, and goes on with then. Nil goes on at once.
	confirmed func(t targets, then func() tea.Cmd) tea.Cmd
}

// targets returns the rows that an action is allowed for; nil allows it for all.
func (l *List[T]) targets(rows []Row, sent func(), allowed func(Row) bool) targets {
	t := targets{all: len(rows), sent: sent}
	for _, r := range rows {
		if allowed == nil || allowed(r) {
			t.ids, t.names = append(t.ids, r.ID), append(t.names, render.ShortID(r.ID)+"  "+l.nameOf(r))
		}
	}
	return t
}

// askEach makes an option that asks with the count and the names, and then sends a
// change for each record.
func (e *Env) askEach(label string, t targets, change func(id apitype.UUID, name string) changes.Change) Option {
	option := Option{Label: e.Say(label)}
	if len(t.ids) == 0 {
		option.Why = "their state does not allow it"
		if t.all == 1 {
			option.Why = "its state does not allow it"
		}
		return option
	}
	if len(t.ids) < t.all {
		option.Label += e.Say(" (%d of %d: the state of the others does not allow it)", len(t.ids), t.all)
	}
	option.Run = func() tea.Cmd {
		lines := []string{e.Say(label) + ": " + e.Day.Count(len(t.ids), "record", "records")}
		lines = append(lines, e.firstOf(t.names)...)
		submit := func() tea.Cmd {
			var all []changes.Change
			for i, id := range t.ids {
				all = append(all, change(id, t.names[i]))
			}
			if t.sent != nil {
				t.sent()
			}
			return e.Host.Perform(e.Day.Changes.SubmitEach(label, t.names, all))
		}
		yes := submit
		if t.confirmed != nil {
			yes = func() tea.Cmd { return t.confirmed(t, submit) }
		}
		e.Dialog = &Confirm{Title: label, Lines: lines, Yes: yes}
		return nil
	}
	return option
}

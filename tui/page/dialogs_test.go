package page

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// press is a key by its name.
func press(name string) tea.KeyPressMsg {
	codes := map[string]rune{"esc": tea.KeyEscape, "enter": tea.KeyEnter, "up": tea.KeyUp, "down": tea.KeyDown, "tab": tea.KeyTab, "backspace": tea.KeyBackspace}
	var msg tea.KeyPressMsg
	if rest, ctrl := strings.CutPrefix(name, "ctrl+"); ctrl {
		msg.Mod, msg.Code = tea.ModCtrl, []rune(rest)[0]
		return msg
	}
	if msg.Code = codes[name]; msg.Code == 0 {
		msg.Code, msg.Text = []rune(name)[0], name
	}
	return msg
}

// hints are the keys of a dialog as its footer has them.
func hints(d Dialog) string {
	var all []string
	for _, h := range d.Hints() {
		all = append(all, h.Key+" "+h.Does)
	}
	return strings.Join(all, ", ")
}

// drawn is a dialog within some cells, without styles where they are told apart by a sign.
func drawn(d Dialog, s Styles, width, height int) []string {
	title, lines := d.View(s, width, height)
	all := []string{title}
	for _, line := range lines {
		line = strings.ReplaceAll(line, "\x1b[m", "]")
		line = strings.ReplaceAll(line, "\x1b[7m", "[")
		all = append(all, strings.TrimRight(line, " "))
	}
	return all
}

// What a question, a choice and a text make of each key.
func TestKeysOfDialogs(t *testing.T) {
	t.Parallel()
	var done []string
	does := func(what string) func() tea.Cmd { return func() tea.Cmd { done = append(done, what); return nil } }
	confirm := func(no func()) *Confirm {
		return &Confirm{Title: "T", Lines: []string{"really"}, Yes: does("yes"), No: no}
	}
	choose := func() *Choose {
		return NewChoice("T", "hint", []Option{{Label: "one", Run: does("one")}, {Key: "x", Label: "ex", Run: does("ex")}, {Label: "not", Run: does("not"), Why: "no"}, {Label: "head"}})
	}
	for _, test := range []struct {
		name   string
		dialog Dialog
		keys   string
		fate   Fate // Of the last key.
		done   string
		hints  string // After it.
	}{
		{"yes", confirm(nil), "y", Closes, "yes", "y yes, n no"},
		{"no", confirm(nil), "n", Closes, "", "y yes, n no"},
		{"no, asked back", confirm(func() { done = append(done, "no") }), "esc", Closes, "no", "y yes, n no"},
		{"enter is neither", confirm(nil), "enter", Stays, "", "y yes, n no"},
		{"by its key", choose(), "1", Closes, "one", "enter choose, esc close"},
		{"by a key of its own", choose(), "x", Closes, "ex", "enter choose, esc close"},
		{"by the cursor", choose(), "down enter", Closes, "ex", "enter choose, esc close"},
		{"down and up", choose(), "down up up enter", Closes, "one", "enter choose, esc close"},
		{"as in an editor", choose(), "ctrl+n ctrl+p enter", Closes, "one", "enter choose, esc close"},
		{"what cannot be", choose(), "2", Stays, "", "enter choose, esc close"},
		{"what cannot be, by the cursor", choose(), "down down enter", Stays, "", "esc close"},
		{"a heading", choose(), "down down down down enter", Stays, "", "esc close"},
		{"another key", choose(), "z", Stays, "", "enter choose, esc close"},
		{"left", choose(), "ctrl+c", Closes, "", "enter choose, esc close"},
		{"a text", &Text{}, "j", Stays, "", "esc close"},
		{"a text, read", &Text{}, "q", Closes, "", "esc close"},
		{"a rating", &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(*n)) }}, "8", Closes, "8", "0 to 9, - none, esc close"},
		{"one", &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(*n)) }}, "1", Stays, "1", "0 ten, esc one"},
		{"ten", &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(*n)) }}, "1 0", Closes, "1 10", "0 ten, esc one"},
		{"one, and another key", &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(*n)) }}, "1 2", Passes, "1", "0 ten, esc one"},
		{"no rating", &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(n == nil)) }}, "-", Closes, "true", "0 to 9, - none, esc close"},
		{"its own key", &askedRating{}, "r", Stays, "", "0 to 9, - none, esc close"},
		{"a key for the call", &askedRating{}, "n", Passes, "", "0 to 9, - none, esc close"},
		{"left alone", &askedRating{}, "esc", Closes, "", "0 to 9, - none, esc close"},
	} {
		done = nil
		var fate Fate
		for name := range strings.FieldsSeq(test.keys) {
			fate, _ = test.dialog.Key(press(name))
		}
		if got := strings.Join(done, " "); fate != test.fate || got != test.done || hints(test.dialog) != test.hints {
			t.Errorf("%s: got fate %d, %q, hints %q, want %d, %q, %q", test.name, fate, got, hints(test.dialog), test.fate, test.done, test.hints)
		}
	}
	s := NewStyles("", true, false)
	text := &Text{Title: "T", Lines: []string{"one", "two", "three", "four"}}
	text.View(s, 20, 3)
	text.Key(press("down"))
	if diff := cmp.Diff([]string{"T", "two", "three", "j/k scroll, esc closes"}, drawn(text, s, 20, 3)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	text.Key(press("k"))
	if diff := cmp.Diff([]string{"T", "one", "two", "j/k scroll, esc closes"}, drawn(text, s, 20, 3)); diff != "" {
		t.Errorf("text, back (-want +got):\n%s", diff)
	}
}

// A choice is drawn around its cursor; a filter looks in names, those that begin with it first.
func TestChoicesAreDrawn(t *testing.T) {
	t.Parallel()
	s := NewStyles("", true, false)
	var options []Option
	for _, label := range []string{"copy-record: y", "mark the record", "record", "open", "close", "sort"} {
		options = append(options, Option{Label: label, Run: func() tea.Cmd { return nil }})
	}
	options[4].Why = "none"
	c := NewChoice("T", "", options)
	if diff := cmp.Diff([]string{"T", "[1  copy-record: y            ]", "2  mark the record", "3  record", "esc closes"}, drawn(c, s, 40, 4)); diff != "" {
		t.Errorf("at the top (-want +got):\n%s", diff)
	}
	for range 4 {
		c.Key(press("down"))
	}
	if diff := cmp.Diff([]string{"T", "4  open", "[5  close  (none)             ]", "6  sort", "esc closes"}, drawn(c, s, 40, 4)); diff != "" {
		t.Errorf("at the end (-want +got):\n%s", diff)
	}
	c = NewChoice("T", "pick", options)
	c.Filterable = true
	c.More = func(text string) []Option { return []Option{{Label: "look for " + text}} }
	c.hintNow = func() string { return "now" }
	for _, letter := range []string{"r", "e", "c", "o", "r", "d"} {
		c.Key(press(letter))
	}
	if diff := cmp.Diff([]string{"T", "record[ ]", "[3         record             ]", "1         copy-record: y", "2         mark the record", "          look for record", "now; esc closes"}, drawn(c, s, 40, 8)); diff != "" {
		t.Errorf("filtered (-want +got):\n%s", diff)
	}
	c.More = nil
	c.Paste("s of all")
	if diff := cmp.Diff([]string{"T", "records of all[ ]", "nothing of that name works here", "now; esc closes"}, drawn(c, s, 40, 8)); diff != "" {
		t.Errorf("nothing found (-want +got):\n%s", diff)
	}
	if fate, _ := c.Key(press("enter")); fate != Stays || hints(c) != "esc close" {
		t.Error("nothing was chosen")
	}
	many := make([]Option, 40)
	if c := NewChoice("T", "", many); c.Options[30].Key != "z" || c.Options[31].Key != "" || c.Options[0].Key != "1" || c.Options[9].Key != "a" {
		t.Errorf("got the keys %q, %q, %q", c.Options[0].Key, c.Options[30].Key, c.Options[31].Key)
	}
}

// A prompt takes text, completes it, goes through what was typed before, and says what is wrong.
func TestPrompt(t *testing.T) {
	t.Parallel()
	s := NewStyles("", true, false)
	var taken []string
	left := false
	p := &Prompt{
		Title: "T", help: []string{"help"}, history: []string{"first", "second"}, left: func() tea.Cmd { left = true; return nil },
		changed: func(text string) (string, tea.Cmd) { return map[bool]string{true: "too long"}[len(text) > 12], nil },
		complete: func(text string) []string {
			return map[string][]string{"st": {"status=", "statute="}, "é": {"éab", "éac"}}[text]
		},
		done: func(text string) (string, tea.Cmd) {
			taken = append(taken, text)
			return map[bool]string{true: "empty"}[text == ""], nil
		},
	}
	step := func(keys, value, wrong, hint string) {
		t.Helper()
		var fate Fate
		for name := range strings.FieldsSeq(keys) {
			fate, _ = p.Key(press(name))
		}
		if p.Editor.Value() != value || p.Wrong != wrong || hints(p) != hint || fate != Stays {
			t.Errorf("%s: got %q, wrong %q, hints %q, want %q, %q, %q", keys, p.Editor.Value(), p.Wrong, hints(p), value, wrong, hint)
		}
	}
	step("enter", "", "empty", "esc close, up the one before")
	step("s t", "st", "", "enter take it, esc close, tab complete, up the one before")
	if diff := cmp.Diff([]string{"T", "st[ ]", "status=  statute=", "Enter takes it, esc closes"}, drawn(p, s, 40, 8)); diff != "" {
		t.Errorf("completing (-want +got):\n%s", diff)
	}
	step("tab", "statu", "", "enter take it, esc close, up the one before")
	step("tab", "statu", "", "enter take it, esc close, up the one before")
	step("up", "second", "", "enter take it, esc close, up the one before")
	step("up", "first", "", "enter take it, esc close")
	step("up", "first", "", "enter take it, esc close")
	step("down", "second", "", "enter take it, esc close, up the one before")
	step("down", "", "", "enter take it, esc close, up the one before")
	step("down", "", "", "enter take it, esc close, up the one before")
	step("n e w", "new", "", "enter take it, esc close, up the one before")
	step("down", "new", "", "enter take it, esc close, up the one before") // There is none after it, and it stays.
	p.Editor.SetValue("")
	p.Paste("longer than twelve")
	if diff := cmp.Diff([]string{"T", "longer than twelve[ ]", "\x1b[1mtoo long]", "help", "Enter takes it, esc closes"}, drawn(p, s, 40, 8)); diff != "" || p.Wrong != "too long" {
		t.Errorf("wrong (-want +got):\n%s", diff)
	}
	if fate, _ := p.Key(press("enter")); fate != Closes || !slices.Equal(taken, []string{"", "longer than twelve"}) || left {
		t.Errorf("got fate %d and %q taken", fate, taken)
	}
	if fate, _ := p.Key(press("esc")); fate != Closes || !left {
		t.Errorf("got fate %d, left %t", fate, left)
	}
	if got := commonStart([]string{"éab", "éac"}); got != "éa" {
		t.Errorf("got %q, want what both begin with", got)
	}
	if got := commonStart([]string{"a", "é"}); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

// A filter is taken apart, refused, and completed.
func TestFiltersTakenApart(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	l := NewCalls(e)
	for text, want := range map[string]string{
		"shoe=1":               "there is no filter shoe; known are owningOrganizationUuid, externalStatusCode, externalReferenceId, externalApplicationName, requestedFrom, requestedUntil, requestedAfter, updatedAfter, status, type, person, resultCode, attempts, attemptBy, completedOn",
		"status=":              "status needs a value",
		"status=x":             "status is not requested, completed, cancelled or expired",
		"requestedFrom=7d":     "requestedFrom must be used with requestedUntil",
		"requestedAfter=then":  "requestedAfter is not a time: use RFC 3339 (2026-11-20T09:15:00Z), a date (2026-11-20), now, today, yesterday, monday 14:00, or an age (90s, 90m, 36h, 7d, 2w)",
		"STATUS=requested bos": "",
	} {
		_, err := l.parse(text)
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "", "st": "status=", "bos St": "bos status=", "status=c": "status=completed status=cancelled", "status=completed": "", "external": "externalStatusCode= externalReferenceId= externalApplicationName=", "bos ": "",
	} {
		if got := strings.Join(l.completions(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// testRows are calls of some hours ago.
func testRows(e *Env, hours ...int) (rows []Row) {
	l := NewCalls(e)
	for _, n := range hours {
		name := fmt.Sprintf("Name%02d", 50-n)
		rows = append(rows, l.row(apitype.Call{UUID: callID(n), Status: "requested", Type: "winback", AttemptsCount: n % 3, RequestedAt: ago(time.Duration(n) * time.Hour), Person: apitype.Embed(apitype.Person{LastName: &name})}))
	}
	return rows
}

// order is the rows as they are shown.
func order(l *List[apitype.Call]) string {
	var all []string
	for _, row := range l.shown() {
		all = append(all, fmt.Sprint(row.ID[1]))
	}
	return strings.Join(all, " ")
}

// A list says how much of it is here, and that nothing is.
func TestListIsDrawn(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	l := NewCalls(e).List
	layout := NewLayout(99, 16)
	l.Resize(layout)
	golden(t, "list-unread", l.Lines(layout))
	l.loading = true
	golden(t, "list-reading", l.Lines(layout))
	l.onBatch(batch{}, nil)
	golden(t, "list-empty", l.Lines(layout))
	l.seq++
	l.onBatch(batch{rows: testRows(e, 1), mayBeCut: true}, nil)
	golden(t, "list-one", l.Lines(layout))
	l.onBatch(batch{rows: testRows(e, 2, 3, 4), cursor: "c", more: true}, nil)
	l.Marks[callID(2)] = true
	l.filter, l.query.says, l.query.keep = "bos", "local: words", func(Row) bool { return true }
	l.table.Place(1, 4)
	l.MarkRange()
	golden(t, "list-marked", l.Lines(layout))
	l.table.Place(3, 4)
	l.followRange()
	l.arranged.by = 2
	l.arrange()
	golden(t, "list-sorted", l.Lines(layout))
	l.onBatch(batch{}, &apiclient.Error{Kind: apiclient.KindRejected, Message: "no"})
	if diff := cmp.Diff([]string{"cannot read the calls: no"}, texts(e.Messages.Errors)); diff != "" || l.loading {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	for width, want := range map[int]int{100: 57, 110: 63, 130: 75} {
		if got := l.width(NewLayout(width, 24)); got != want {
			t.Errorf("%d cells: got a list of %d, want %d", width, got, want)
		}
	}
	if got := l.width(NewLayout(100, 24).Shifted(-99)); got < 24 {
		t.Errorf("got a list of %d cells, want 24 at least", got)
	}
}

// What has changed comes in where it belongs, and the cursor stays on its record.
func TestListTakesChangesIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		here    []int
		more    bool
		cursor  int
		changed []int
		keep    func(Row) bool
		want    string
		chosen  int // The record under the cursor.
		read    int
	}{
		{"nothing", []int{1, 3, 5}, false, 1, nil, nil, "1 3 5", 3, 3},
		{"one that is here", []int{1, 3, 5}, false, 1, []int{3}, nil, "1 3 5", 3, 3},
		{"a new one above", []int{1, 3, 5}, false, 1, []int{2}, nil, "1 2 3 5", 3, 4},
		{"a new one below", []int{1, 3, 5}, false, 1, []int{4}, nil, "1 3 4 5", 3, 4},
		{"one behind all", []int{1, 3, 5}, false, 1, []int{9}, nil, "1 3 5 9", 3, 4},
		{"one of another page", []int{1, 3, 5}, true, 1, []int{9}, nil, "1 3 5", 3, 3},
		{"twice", []int{1, 3, 5}, false, 1, []int{2, 2}, nil, "1 2 3 5", 3, 4},
		{"one that the filter leaves out", []int{1, 3, 5}, false, 1, []int{2}, func(r Row) bool { return r.ID != callID(2) }, "1 3 5", 3, 3},
		{"one above that goes", []int{1, 3, 5}, false, 1, []int{1}, func(r Row) bool { return r.ID != callID(1) }, "3 5", 3, 3},
		{"the one under the cursor goes", []int{1, 3, 5}, false, 1, []int{3}, func(r Row) bool { return r.ID != callID(3) }, "1 5", 5, 3},
		{"all go", []int{1}, false, 0, []int{1}, func(Row) bool { return false }, "", 0, 1},
	} {
		e, _ := scene(t, nil)
		l := NewCalls(e).List
		l.Resize(NewLayout(80, 24))
		l.onBatch(batch{rows: testRows(e, test.here...), cursor: "c", more: test.more}, nil)
		l.table.Place(test.cursor, len(test.here))
		l.Marks[callID(1)] = true
		if test.keep != nil {
			l.query.keep = test.keep
		}
		until := apitype.NewTime(morning)
		l.update(changes{rows: testRows(e, test.changed...), after: []apitype.Time{until}})
		row, _ := l.Chosen()
		if got := order(l); got != test.want || row.ID[1] != callID(test.chosen)[1] && test.want != "" || l.read != test.read || !slices.Equal(l.after, []apitype.Time{until}) {
			t.Errorf("%s: got %s with %d chosen, %d read, want %s with %d, %d", test.name, got, row.ID[1], l.read, test.want, test.chosen, test.read)
		}
		if marked := l.Marks[callID(1)]; marked == (test.name == "one above that goes" || test.name == "all go") {
			t.Errorf("%s: got the first marked %t", test.name, marked)
		}
	}
	e, _ := scene(t, nil)
	l := NewCalls(e).List
	l.onBatch(batch{rows: testRows(e, 1, 2, 3)}, nil)
	l.reread(true)
	if order(l) != "1 2 3" || !l.loading {
		t.Errorf("read anew: got %q, want the rows of before until others come", order(l))
	}
	l.table.Place(2, 3)
	l.onBatch(batch{rows: testRows(e, 4, 1), cursor: "c", more: true}, nil)
	if !l.loading && order(l) != "4 1" {
		t.Errorf("got %q", order(l))
	}
	l.loading = false
	l.onBatch(batch{rows: testRows(e, 5, 3)}, nil)
	if row, _ := l.Chosen(); row.ID != callID(3) || order(l) != "4 1 5 3" {
		t.Errorf("got %q with %d chosen, want the cursor back on its record", order(l), row.ID[1])
	}
}

// A list is sorted by a column, and back.
func TestListIsSorted(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	l := NewCalls(e).List
	l.onBatch(batch{rows: testRows(e, 1, 2, 3, 4, 5)}, nil)
	l.AskSort()
	if e.Dialog.Key(press("1")); order(l) != "5 4 3 2 1" {
		t.Errorf("by the person: got %s", order(l))
	}
	l.AskSort()
	golden(t, "list-sorts", drawn(e.Dialog, NewStyles("", true, false), 60, 20))
	if e.Dialog.Key(press("5")); order(l) != "3 1 4 2 5" {
		t.Errorf("by the tries: got %s, want equal ones as the service has them", order(l))
	}
	l.AskSort()
	if e.Dialog.Key(press("0")); order(l) != "1 2 3 4 5" {
		t.Errorf("got %s, want it as the service has it", order(l))
	}
	l.AskColumns()
	golden(t, "list-columns", drawn(e.Dialog, NewStyles("", true, false), 60, 20))
	before := len(l.table.Columns)
	if e.Dialog.Key(press("2")); len(l.table.Columns) != before-1 {
		t.Errorf("got %d columns, want one less than %d", len(l.table.Columns), before)
	}
	golden(t, "list-columns-less", drawn(e.Dialog, NewStyles("", true, false), 60, 20))
	if e.Dialog.Key(press("2")); len(l.table.Columns) != before {
		t.Errorf("got %d columns, want %d again", len(l.table.Columns), before)
	}
	l.narrow([]string{"name49"})
	if order(l) != "1" {
		t.Errorf("got %s, want the one of that name", order(l))
	}
}

// An action on several records asks with their number and names, for those whose state allows it.
func TestActionsOnSeveral(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, nil)
	calls, pledges := NewCalls(e), NewPledges(e)
	rows := testRows(e, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	s := NewStyles("", true, false)
	var sent int
	e.Dialog = NewChoice("10 calls", "", bulkOptions(calls.List, rows, func() { sent++ }))
	e.Dialog.Key(press("3"))
	golden(t, "bulk-many", drawn(e.Dialog, s, 60, 20))
	e.Dialog.Key(press("y"))
	if sent != 1 || e.Day.Changes.Batch == nil || len(e.Day.Changes.Batch.Records) != 10 || e.Day.Changes.Batch.Label != "Expire the calls" {
		t.Errorf("got %d sent and %+v", sent, e.Day.Changes.Batch)
	}
	e.Day.Changes.Written()
	e.Dialog = NewChoice("9 calls", "", bulkOptions(calls.List, rows[:9], nil))
	e.Dialog.Key(press("1"))
	golden(t, "bulk-nine", drawn(e.Dialog, s, 60, 20))
	ended := calls.row(apitype.Call{UUID: callID(30), Status: "expired"})
	external := calls.row(apitype.Call{UUID: callID(31), Status: "expired", ExternalMetadata: apitype.Embed(apitype.CallExternalMetadata{})})
	golden(t, "bulk-some", drawn(NewChoice("T", "", bulkOptions(calls.List, []Row{rows[0], ended, external}, nil)), s, 70, 20))
	golden(t, "bulk-none", drawn(NewChoice("T", "", bulkOptions(calls.List, []Row{ended}, nil)), s, 70, 20))
	golden(t, "bulk-none-of-two", drawn(NewChoice("T", "", bulkOptions(calls.List, []Row{ended, ended}, nil)), s, 70, 20))
	pledge := func(status apitype.PledgeStatus, released, external bool) Row {
		p := apitype.Pledge{UUID: callID(71), Status: status}
		if released {
			p.ReleasedAt = apitype.Embed(ago(time.Hour))
		}
		if external {
			p.ExternalSource = apitype.Embed(apitype.ExternalSource{Name: "crm"})
		}
		return pledges.row(p)
	}
	for _, test := range []struct {
		row  Row
		want string
	}{
		{pledge("lead", false, false), "drop other"},
		{pledge("lead", true, false), "activate cancel other"},
		{pledge("active", true, false), "cancel fulfill other"},
		{pledge("dropped", false, false), "other"},
		{pledge("dropped", false, true), "activate drop cancel fulfill other"},
	} {
		var got []string
		for _, act := range []apitype.PledgeAction{"activate", "drop", "cancel", "fulfill", "other"} {
			if pledges.allows(test.row, act) {
				got = append(got, string(act))
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %v, want %s", pledges.nameOf(test.row), got, test.want)
		}
	}
}

// The link of a signature is offered as long as it is valid.
func TestSignatureIsOffered(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, canned{"GET /api/v1/pledges/" + callID(71).String(): asJSON(t, gift()), "GET /api/v1/pledges/" + callID(72).String(): asJSON(t, apitype.Pledge{UUID: callID(72)})})
	v := NewPledges(e)
	s := NewStyles("", true, false)
	run(v.readSignature(callID(71)))
	if diff := cmp.Diff([]string{"Signature", "[y  copy the link: https://files.example/s           ]", "valid for 60 more minutes; esc closes"}, drawn(e.Dialog, s, 70, 10)); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	_, cmd := e.Dialog.Key(press("y"))
	if got := cmd().(Copied); got.Text != "https://files.example/s" || got.What != "signature link" {
		t.Errorf("got %+v copied", got)
	}
	for left, want := range map[time.Duration]string{time.Nanosecond: "valid for 0 more minutes; esc closes", 0: "no longer valid: y asks for a new one; esc closes", 119 * time.Second: "valid for 1 more minute; esc closes"} {
		v.OfferSignature(SignatureRead{ID: callID(71), Link: "https://files.example/s", Till: morning.Add(left)})
		if got := drawn(e.Dialog, s, 70, 10)[2]; got != want {
			t.Errorf("%v left: got %q, want %q", left, got, want)
		}
	}
	e.Dialog = nil
	run(v.readSignature(callID(72)))
	if e.Messages.Text != "this pledge has no signature" || e.Dialog != nil {
		t.Errorf("got %q", e.Messages.Text)
	}
	run(v.readSignature(callID(73)))
	v.OfferSignature(SignatureRead{Link: "file:///etc/passwd"})
	if diff := cmp.Diff([]string{"cannot read the pledge: 404 not found", "the signature's link is no https address, and not offered"}, texts(e.Messages.Errors)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if v.WhyNotStatus() != "no record is chosen" {
		t.Errorf("got %q of an empty list", v.WhyNotStatus())
	}
	v.loading = true
	if v.WhyNotStatus() != "the pledges are being read" {
		t.Errorf("got %q of a list that is being read", v.WhyNotStatus())
	}
	v.stack = []*detail{{ref: Reference{apitype.EntityPledge, callID(71)}}}
	if v.WhyNotStatus() != "the pledge is not read yet" {
		t.Errorf("got %q of a pledge that is being read", v.WhyNotStatus())
	}
	v.stack = []*detail{{ref: Reference{apitype.EntityPerson, callID(71)}}}
	if v.WhyNotStatus() != "only a pledge has that" {
		t.Errorf("got %q of a person", v.WhyNotStatus())
	}
}

// Messages are shown for a while; errors until they are dismissed, twenty of them.
func TestMessages(t *testing.T) {
	t.Parallel()
	now := morning
	m := &Messages{now: func() time.Time { return now }}
	m.Say("7")
	if now = morning.Add(6*time.Second - 1); !m.IsSaid() || m.Text != "7" {
		t.Error("a message went before its time")
	}
	if now = morning.Add(6 * time.Second); m.IsSaid() {
		t.Error("a message stands after its time")
	}
	if m.Say(""); m.IsSaid() {
		t.Error("nothing was said")
	}
	if m.Refuse("why"); !m.Reply || m.Text != "why" {
		t.Error("a reply was not said")
	}
	for n := range 21 {
		m.Fail(fmt.Sprint(n), nil)
	}
	m.Fail("20", nil)
	if len(m.Errors) != 20 || m.Errors[0].Text != "1" || m.Errors[19].Text != "20" || m.Reply {
		t.Errorf("got %q, want the last twenty", m.Errors)
	}
	if m.FailFirst("first"); m.Errors[0].Text != "first" {
		t.Errorf("got %q, want it before the others", m.Errors)
	}
	e, _ := scene(t, nil)
	e.FailRead("cannot read", &apiclient.Error{Kind: apiclient.KindUnavailable, Retryable: true, Message: "down"})
	if len(e.Messages.Errors) != 0 || e.Day.Offline != "offline" {
		t.Errorf("got %q of a service that cannot be reached", e.Messages.Errors)
	}
	if e.ago(time.Time{}) != "-" || e.when(apitype.NewTime(morning.AddDate(-1, 0, 0))) != "20 Nov 2025 09:15" {
		t.Errorf("got %q and %q", e.ago(time.Time{}), e.when(apitype.NewTime(morning.AddDate(-1, 0, 0))))
	}
	for by, want := range map[Step]int{Down: 1, Up: -1, PageDown: 10, PageUp: -10, Top: -99, Bottom: 99} {
		if got := rowsOf(by, 10, 99); got != want {
			t.Errorf("step %d: got %d rows, want %d", by, got, want)
		}
	}
}

// Where things stand follows from the size alone.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		width, height int
		want          Layout
	}{
		{59, 16, Layout{TooSmall: true, Width: 59, Height: 16, Body: 13, Panes: 1, Middle: 59}},
		{60, 15, Layout{TooSmall: true, Width: 60, Height: 15, Body: 12, Panes: 1, Middle: 60}},
		{60, 16, Layout{Width: 60, Height: 16, Body: 13, Panes: 1, Middle: 60}},
		{99, 2, Layout{TooSmall: true, Width: 99, Height: 2, Body: 1, Panes: 1, Middle: 99}},
		{100, 24, Layout{Width: 100, Height: 24, Body: 21, Panes: 2, Left: 33, Middle: 64}},
		{119, 24, Layout{Width: 119, Height: 24, Body: 21, Panes: 2, Left: 39, Middle: 77}},
		{120, 24, Layout{Width: 120, Height: 24, Body: 21, Panes: 3, Left: 32, Middle: 54, Right: 28}},
		{300, 24, Layout{Width: 300, Height: 24, Body: 21, Panes: 3, Left: 56, Middle: 192, Right: 46}},
		{109, 30, Layout{Width: 109, Height: 30, Body: 27, Panes: 2, Left: 36, Middle: 70}},
		{110, 30, Layout{Width: 110, Height: 30, Body: 27, Panes: 2, Framed: true, Left: 36, Middle: 74}},
		{120, 36, Layout{Width: 120, Height: 36, Body: 33, Panes: 3, Framed: true, Left: 32, Middle: 60, Right: 28}},
	} {
		if diff := cmp.Diff(test.want, NewLayout(test.width, test.height)); diff != "" {
			t.Errorf("%dx%d (-want +got):\n%s", test.width, test.height, diff)
		}
	}
	l := NewLayout(100, 24)
	for by, want := range map[int][3]int{0: {33, 64, 0}, 5: {38, 59, 5}, 99: {49, 48, 16}, -99: {24, 73, -9}} {
		if got := l.Shifted(by); got.Left != want[0] || got.Middle != want[1] || got.Shift != want[2] {
			t.Errorf("by %d: got %d, %d, %d, want %v", by, got.Left, got.Middle, got.Shift, want)
		}
	}
	if got := NewLayout(60, 16).Shifted(5); got.Shift != 0 {
		t.Error("one pane was made wider")
	}
	if got := l.Below(3); got.Above != 3 || got.Body != 18 {
		t.Errorf("got %+v below three lines", got)
	}
	if got := l.Below(30); got.Body != 1 {
		t.Errorf("got %+v below more lines than there are", got)
	}
}

// The statistics walk page after page; what cannot be read ends that.
func TestStatsAreCounted(t *testing.T) {
	t.Parallel()
	call := `{"node":` + asJSON(t, ring()) + `}`
	pledge := func(days int) string {
		p := gift()
		p.CreatedAt = ago(time.Duration(days) * aDay)
		return `{"node":` + asJSON(t, p) + `}`
	}
	for _, test := range []struct {
		name           string
		service        canned
		period         period
		calls, pledges int
		agents         int
		short, stopped bool
		errors         []string
	}{
		{"all", canned{"GET /api/v1/calls": `{"pageInfo":{"hasNextPage":false},"edges":[` + call + `]}`, "GET /api/v1/pledges": `{"pageInfo":{"hasNextPage":false},"edges":[` + pledge(1) + `,` + pledge(9) + `]}`, "GET /fundesk/v1/queue/agents": `{"agents":[{}]}`}, 0, 1, 2, 1, false, false, nil},
		{"of a week", canned{"GET /api/v1/calls": `{"pageInfo":{"hasNextPage":false},"edges":[` + call + `]}`, "GET /api/v1/pledges": `{"pageInfo":{"hasNextPage":false},"edges":[` + pledge(1) + `,` + pledge(9) + `]}`, "GET /fundesk/v1/queue/agents": `{"agents":[{}]}`}, 7, 1, 1, 1, false, false, nil},
		{"with a next page that has no cursor", canned{"GET /api/v1/calls": `{"pageInfo":{"hasNextPage":true},"edges":[` + call + `]}`, "GET /api/v1/pledges": `{"pageInfo":{"hasNextPage":false},"edges":[]}`, "GET /fundesk/v1/queue/agents": `{"agents":[]}`}, 0, 1, 0, 0, true, false, nil},
		{"with a record that is none", canned{"GET /api/v1/calls": `{"pageInfo":{"hasNextPage":false},"edges":[` + call + `,null]}`, "GET /api/v1/pledges": `{"pageInfo":{"hasNextPage":false},"edges":[]}`, "GET /fundesk/v1/queue/agents": `{"agents":[]}`}, 0, 1, 0, 0, true, false, nil},
		{"refused", canned{"GET /api/v1/calls": `403 {"detail":"no"}`}, 0, 0, 0, 0, false, true, []string{"cannot count: 403 no"}},
		{"pledges refused", canned{"GET /api/v1/calls": `{"pageInfo":{"hasNextPage":false},"edges":[]}`, "GET /api/v1/pledges": `403 {"detail":"no"}`}, 0, 0, 0, 0, false, true, []string{"cannot count: 403 no"}},
	} {
		e, _ := scene(t, test.service)
		v := NewStats(e)
		v.period = test.period
		run(v.Open())
		if v.Calls.Total.Records != test.calls || v.Pledges.Total.Records != test.pledges || len(v.agents) != test.agents || v.short != test.short || v.stopped != test.stopped || v.running {
			t.Errorf("%s: got %d calls, %d pledges, %d agents, short %t, stopped %t, running %t", test.name, v.Calls.Total.Records, v.Pledges.Total.Records, len(v.agents), v.short, v.stopped, v.running)
		}
		if diff := cmp.Diff(test.errors, texts(e.Messages.Errors)); diff != "" {
			t.Errorf("%s: errors (-want +got):\n%s", test.name, diff)
		}
		if again := v.Open(); (again == nil) != (test.calls > 0) {
			t.Errorf("%s: got it counted again %t", test.name, again != nil)
		}
	}
	e, _ := scene(t, nil)
	v := NewStats(e)
	cmd := v.Open()
	v.Stop()
	if run(cmd); len(e.Messages.Errors) != 0 || !v.stopped {
		t.Errorf("got %q of what was stopped", e.Messages.Errors)
	}
}

// A person is read with the pledges and the calls, as far as the account may.
func TestPersonIsReadWhole(t *testing.T) {
	t.Parallel()
	id := callID(51)
	person := asJSON(t, anna())
	own := apitype.Call{UUID: callID(94), PersonUUID: id, RequestedAt: ago(time.Minute)}
	others := `{"pageInfo":{"hasNextPage":true},"edges":[{"node":` + asJSON(t, own) + `},{"node":` + asJSON(t, apitype.Call{UUID: callID(95), PersonUUID: callID(52)}) + `},{"node":` + asJSON(t, apitype.Call{UUID: callID(92), PersonUUID: id}) + `}]}`
	pledges := `{"pageInfo":{"hasNextPage":true},"edges":[{"node":` + asJSON(t, gift()) + `}]}`
	paths := func(more canned) canned {
		all := canned{"GET /api/v1/persons/" + id.String(): person, "GET /api/v1/pledges": pledges, "GET /api/v1/pledges/" + callID(71).String(): asJSON(t, gift()), "GET /api/v1/calls": others}
		maps.Copy(all, more)
		return all
	}
	for _, test := range []struct {
		name           string
		service        canned
		pledges, calls int
		more           [2]bool
		err            string
	}{
		{"whole", paths(nil), 1, 2, [2]bool{true, true}, "<nil>"},
		{"without pledges", paths(canned{"GET /api/v1/pledges": `403 {}`}), 0, 2, [2]bool{false, true}, "<nil>"},
		{"without calls", paths(canned{"GET /api/v1/calls": `403 {}`}), 1, 1, [2]bool{true, false}, "<nil>"},
		{"nobody", paths(canned{"GET /api/v1/persons/" + id.String(): `403 {"detail":"no"}`}), 0, 0, [2]bool{}, "403 no"},
		{"pledges not read", paths(canned{"GET /api/v1/pledges": `422 {"detail":"no"}`}), 0, 0, [2]bool{}, "422 no"},
		{"a pledge not read", paths(canned{"GET /api/v1/pledges/" + callID(71).String(): `422 {"detail":"no"}`}), 1, 0, [2]bool{true, false}, "422 no"},
		{"calls not read", paths(canned{"GET /api/v1/calls": `422 {"detail":"no"}`}), 1, 1, [2]bool{true, false}, "422 no"},
	} {
		e, _ := scene(t, test.service)
		r, err := readRecord(context.Background(), e.Day.Client, Reference{apitype.EntityPerson, id})
		if fmt.Sprint(err) != test.err || len(r.pledges) != test.pledges || len(r.calls) != test.calls || [2]bool{r.morePledges, r.moreCalls} != test.more {
			t.Errorf("%s: got %d pledges, %d calls, more %t %t, %v", test.name, len(r.pledges), len(r.calls), r.morePledges, r.moreCalls, err)
		}
		if test.name == "whole" && r.calls[0].UUID != callID(94) {
			t.Errorf("got %s first, want the newest", desk.ShortID(r.calls[0].UUID))
		}
	}
}

// TestDialogOverALine shows that a dialog leaves what is around it as it is where each cell travels over SSH.
func TestDialogOverALine(t *testing.T) {
	t.Parallel()
	s := NewStyles("", false, false)
	for _, isRemote := range []bool{false, true} {
		s.Remote = isRemote
		line := widget.Fit(s.accent("verify")+" Emma Stein", 80)
		e := &Env{Day: desk.New(desk.Options{}), Styles: s, Dialog: &Text{Title: "Reasons", Lines: []string{"x"}}}
		screen := DrawDialog(e, slices.Repeat([]string{line}, 24), 80)
		if kept := screen[0] == line; kept != isRemote {
			t.Errorf("remote %v: got the line %q above the dialog, of %q", isRemote, screen[0], line)
		}
		if !slices.ContainsFunc(screen, func(line string) bool { return strings.Contains(line, "Reasons") }) {
			t.Errorf("remote %v: got no dialog", isRemote)
		}
	}
}

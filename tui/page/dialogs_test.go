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

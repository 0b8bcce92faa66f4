package page

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// press returns a key by its name.
func press(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"esc":       tea.KeyEscape,
		"enter":     tea.KeyEnter,
		"up":        tea.KeyUp,
		"down":      tea.KeyDown,
		"tab":       tea.KeyTab,
		"backspace": tea.KeyBackspace,
	}
	var msg tea.KeyPressMsg
	if rest, ctrl := strings.CutPrefix(name, "ctrl+"); ctrl {
		msg.Mod, msg.Code = tea.ModCtrl, []rune(rest)[0]
		return msg
	}
	msg.Code = codes[name]
	if msg.Code == 0 {
		msg.Code, msg.Text = []rune(name)[0], name
	}
	return msg
}

// hints returns the keys of a dialog as its footer has them.
func hints(d Dialog) string {
	var all []string
	for _, h := range d.Hints() {
		all = append(all, h.Key+" "+h.Does)
	}
	return strings.Join(all, ", ")
}

// drawn returns a dialog in some cells. It has no styles if a sign replaces them.
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
		return NewChoice("T", "hint", []Option{
			{Label: "one", Run: does("one")},
			{Key: "x", Label: "ex", Run: does("ex")},
			{Label: "not", Run: does("not"), Why: "no"},
			{Label: "head"},
		})
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
		{
			name:   "a rating",
			dialog: &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(*n)) }},
			keys:   "8",
			fate:   Closes,
			done:   "8",
			hints:  "0 to 9, - no rating, esc close",
		},
		{
			name:   "one",
			dialog: &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(*n)) }},
			keys:   "1",
			fate:   Stays,
			done:   "1",
			hints:  "0 ten, esc one",
		},
		{
			name:   "ten",
			dialog: &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(*n)) }},
			keys:   "1 0",
			fate:   Closes,
			done:   "1 10",
			hints:  "0 ten, esc one",
		},
		{
			name:   "one, and another key",
			dialog: &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(*n)) }},
			keys:   "1 2",
			fate:   Passes,
			done:   "1",
			hints:  "0 ten, esc one",
		},
		{
			name:   "no rating",
			dialog: &askedRating{set: func(n *int) { done = append(done, fmt.Sprint(n == nil)) }},
			keys:   "-",
			fate:   Closes,
			done:   "true",
			hints:  "0 to 9, - no rating, esc close",
		},
		{"its own key", &askedRating{}, "r", Stays, "", "0 to 9, - no rating, esc close"},
		{"a key for the call", &askedRating{}, "n", Passes, "", "0 to 9, - no rating, esc close"},
		{"left alone", &askedRating{}, "esc", Closes, "", "0 to 9, - no rating, esc close"},
	} {
		done = nil
		var fate Fate
		for name := range strings.FieldsSeq(test.keys) {
			fate, _ = test.dialog.Key(press(name))
		}
		if got := strings.Join(done, " "); fate != test.fate || got != test.done || hints(test.dialog) != test.hints {
			t.Errorf("%s: got fate %d, %q, hints %q, want %d, %q, %q",
				test.name, fate, got, hints(test.dialog), test.fate, test.done, test.hints)
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
	e.Day.Agents[callID(5)], e.Day.Agents[callID(6)] = "Jan", "Jan de Vries"
	l := NewCalls(e)
	for text, want := range map[string]string{
		"shoe=1":               "there is no filter shoe; there are owningOrganizationUuid, externalStatusCode, externalReferenceId, externalApplicationName, requestedFrom, requestedUntil, requestedAfter, updatedAfter, completedBy, status, type, person, resultCode, attempts, attemptBy, completedOn",
		"status=":              "status needs a value",
		"status=x":             "status must be one of requested, completed, cancelled, expired",
		"requestedFrom=7d":     "requestedFrom must be used with requestedUntil",
		"requestedAfter=then":  "requestedAfter is not a time: use RFC 3339 (2026-11-20T09:15:00Z), a date (2026-11-20), now, today, yesterday, monday 14:00, or an age (90s, 90m, 36h, 7d, 2w)",
		"STATUS=requested bos": "",
		"attemptBy=be":         "",
		"attemptBy=x":          "there is no user x",
		"attemptBy=J":          "J may be Jan, Jan de Vries",
		"attemptBy=jan_d":      "",
		"attemptBy=jan":        "",
		"completedBy=Bea":      "this service does not say who completed a call",
	} {
		_, err := l.parse(text)
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                 "",
		"st":               "status=",
		"bos St":           "bos status=",
		"status=c":         "status=completed status=cancelled",
		"status=completed": "",
		"external":         "externalStatusCode= externalReferenceId= externalApplicationName=",
		"bos ":             "",
	} {
		if got := strings.Join(l.completions(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// The link of a signature is copied, unless a browser must not open it.
func TestSignatureIsCopied(t *testing.T) {
	t.Parallel()
	e, _ := scene(t, canned{})
	v := NewPledges(e)
	cmd := v.copySignature(new("https://files.example/s"), nil)
	got, ok := cmd().(Copied)
	if !ok || got.Text != "https://files.example/s" || got.What != "signature link, valid for an hour" {
		t.Errorf("got %+v copied", got)
	}
	if v.copySignature(nil, nil) != nil || e.Messages.Text != "this pledge has no signature" {
		t.Errorf("got %q", e.Messages.Text)
	}
	v.copySignature(nil, errors.New("404 not found"))
	if v.copySignature(new("file:///etc/passwd"), nil) != nil {
		t.Error("a file was copied")
	}
	want := []string{
		"cannot read the pledge: 404 not found",
		"the link of the signature is not an https address, so it was not copied",
	}
	if diff := cmp.Diff(want, texts(e.Messages.Errors)); diff != "" {
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

// The link of the pledge that was asked for last is copied, whichever answer comes last.
func TestSignatureOfTheLastPledge(t *testing.T) {
	t.Parallel()
	answers := canned{}
	for _, n := range []int{71, 72} {
		pledge := apitype.Pledge{
			UUID:               callID(n),
			SignatureSignedURL: new("https://files.example/" + callID(n).String()),
		}
		answers["GET /api/v1/pledges/"+callID(n).String()] = asJSON(t, pledge)
	}
	e, _ := scene(t, answers)
	v := NewPledges(e)
	ask := func(n int) tea.Cmd {
		v.stack = []*detail{{ref: Reference{apitype.EntityPledge, callID(n)}}}
		return v.AskSignature()
	}
	slow, quick := ask(71), ask(72)
	copied, ok := quick().(Result).TakeIn()().(Copied)
	if !ok || copied.Text != "https://files.example/"+callID(72).String() {
		t.Errorf("got %+v copied, want the link of the last pledge", copied)
	}
	if late := slow().(Result).TakeIn(); late != nil {
		t.Errorf("got %+v copied late", late())
	}
}

// A person is read with the pledges and the calls, as far as the account may.
func TestPersonIsReadWhole(t *testing.T) {
	t.Parallel()
	id := callID(51)
	person := asJSON(t, anna())
	own := apitype.Call{UUID: callID(94), PersonUUID: id, RequestedAt: ago(time.Minute)}
	others := `{"pageInfo":{"hasNextPage":true},"edges":[{"node":` + asJSON(t, own) + `},{"node":` + asJSON(
		t,
		apitype.Call{UUID: callID(95), PersonUUID: callID(52)},
	) + `},{"node":` + asJSON(t, apitype.Call{UUID: callID(92), PersonUUID: id}) + `}]}`
	pledges := `{"pageInfo":{"hasNextPage":true},"edges":[{"node":` + asJSON(t, gift()) + `}]}`
	paths := func(more canned) canned {
		all := canned{
			"GET /api/v1/persons/" + id.String():         person,
			"GET /api/v1/pledges":                        pledges,
			"GET /api/v1/pledges/" + callID(71).String(): asJSON(t, gift()),
			"GET /api/v1/calls":                          others,
		}
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
		{
			name:    "nobody",
			service: paths(canned{"GET /api/v1/persons/" + id.String(): `403 {"detail":"no"}`}),
			more:    [2]bool{},
			err:     "403 no",
		},
		{"pledges not read", paths(canned{"GET /api/v1/pledges": `422 {"detail":"no"}`}), 0, 0, [2]bool{}, "422 no"},
		{
			name:    "a pledge not read",
			service: paths(canned{"GET /api/v1/pledges/" + callID(71).String(): `422 {"detail":"no"}`}),
			pledges: 1,
			more:    [2]bool{true, false},
			err:     "422 no",
		},
		{
			name:    "calls not read",
			service: paths(canned{"GET /api/v1/calls": `422 {"detail":"no"}`}),
			pledges: 1,
			calls:   1,
			more:    [2]bool{true, false},
			err:     "422 no",
		},
	} {
		e, _ := scene(t, test.service)
		r, err := readRecord(context.Background(), e.Day.Client, Reference{apitype.EntityPerson, id})
		if fmt.Sprint(err) != test.err ||
			len(r.pledges) != test.pledges ||
			len(r.calls) != test.calls ||
			[2]bool{r.morePledges, r.moreCalls} != test.more {
			t.Errorf("%s: got %d pledges, %d calls, more %t %t, %v",
				test.name, len(r.pledges), len(r.calls), r.morePledges, r.moreCalls, err)
		}
		if test.name == "whole" && r.calls[0].UUID != callID(94) {
			t.Errorf("got %s first, want the newest", render.ShortID(r.calls[0].UUID))
		}
	}
}

// TestDialogOverALine shows that a dialog leaves the cells around it unchanged if each cell travels over SSH.
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

// A reason that several options have stands once, and on the chosen one. Without dim text each has its reason.
func TestRepeatedReasons(t *testing.T) {
	t.Parallel()
	for theme, want := range map[string]int{"default": 2, "high-contrast": 3} {
		c := NewChoice("", "", []Option{
			{Label: "one"},
			{Label: "two", Why: "no call"},
			{Label: "three", Why: "no call"},
			{Label: "four", Why: "no call"},
		})
		c.cursor = 3
		_, lines := c.View(NewStyles(theme, false, false), 40, 10)
		if got := strings.Count(strings.Join(lines, "\n"), "(no call)"); got != want {
			t.Errorf("%s: got %d reasons, want %d:\n%s", theme, got, want, strings.Join(lines, "\n"))
		}
	}
}

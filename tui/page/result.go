package page

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// Inline is a dialog that is asked in a place of its page, where its answer stands.
type Inline interface{ inline() }

// askedResult asks for the result, each on its key; the legend stands on the card.
type askedResult struct {
	rows  []desk.ResultRow
	set   func(code string) tea.Cmd
	other func() tea.Cmd // Types a code.
}

// AskResult asks for the result among those of the call, or for a typed one where none are
// known.
func (d *Desk) AskResult() tea.Cmd {
	return d.onceWarned(func() tea.Cmd {
		rows := d.Day.Form.Results()
		if len(rows) == 0 {
			return d.typeResult()
		}
		d.Dialog = &askedResult{rows: rows, set: d.resultOf(d.Day.Call.UUID), other: d.typeResult}
		return nil
	})
}

func (r *askedResult) inline() {}

// Key implements Dialog.
func (r *askedResult) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	switch name := msg.String(); name {
	case "esc", "ctrl+c":
		return Closes, nil
	case "/":
		return Closes, r.other()
	default:
		if i := strings.Index(choiceKeys, name); i >= 0 && len(name) == 1 && i < len(r.rows) {
			return Closes, r.set(r.rows[i].Code)
		}
		return Stays, nil
	}
}

// Hints implements Dialog.
func (r *askedResult) Hints() []Hint {
	last := min(len(r.rows), len(choiceKeys)) - 1
	return []Hint{{choiceKeys[:1], "to " + choiceKeys[last:last+1] + " the result"}, {"/", "another"}, {"esc", "close"}}
}

// View implements Dialog; the card shows the legend.
func (r *askedResult) View(Styles, int, int) (string, []string) { return "", nil }

func (d *Desk) typeResult() tea.Cmd {
	p, kind, set := &Prompt{Title: "Result code"}, d.Day.Call.Type, d.resultOf(d.Day.Call.UUID)
	p.Editor.SetValue(d.Day.Form.Code)
	p.done = func(code string) (string, tea.Cmd) {
		code = strings.TrimSpace(code)
		if problem := desk.CheckCode(code); problem != "" {
			return problem, nil
		}
		if _, known := d.Day.Codes.Find(kind, code); known {
			return "", set(code)
		}
		d.Dialog = &Confirm{
			Title: "A new result code", Lines: []string{"No such call has had the result " + strconv.Quote(Clean(code)) + " so far. Use it all the same?"},
			Yes: func() tea.Cmd { return set(code) }, No: func() { d.Dialog = p },
		}
		return "", nil
	}
	d.Dialog = p
	return nil
}

// resultOf takes a result code for a call, while it is the one on screen, and asks for the
// rating in its place.
func (d *Desk) resultOf(call apitype.UUID) func(code string) tea.Cmd {
	return func(code string) tea.Cmd {
		if !d.Day.IsOn(call) {
			return nil // The call went while the question stood.
		}
		d.Day.Form.SetResult(code)
		d.AskRating()
		return d.learnPermissions()
	}
}

// AskRating asks for the rating, each on one key, ten on two.
func (d *Desk) AskRating() tea.Cmd {
	d.Dialog = &askedRating{now: d.Day.Form.Rating, set: d.Day.Form.SetRating}
	return nil
}

// The labels of the form, in cells.
const formLabel = 11

// formLines are the result with its legend, the rating and the notes, and what ctrl+s will
// send.
func (d *Desk) formLines(width, notes int) []string {
	s := d.Styles
	_, choosing := d.Dialog.(*askedResult)
	rating, isRated := d.Dialog.(*askedRating)
	lines := []string{s.Dim(strings.Repeat(s.line, max(width, 0)))}
	lines = append(lines, d.labelled(ActResult, "result", choosing, d.legend(width-formLabel, choosing))...)
	lines = append(lines, d.labelled(ActRating, "rating", isRated, []string{d.ratingLine(rating)})...)
	lines = append(lines, d.labelled(ActNotes, "notes", d.writing, d.notes.Lines(width-formLabel, notes, d.writing, s.cursor))...)
	return append(lines, d.willSendLines(width)...)
}

// mostSending is how many lines what ctrl+s sends may take.
const mostSending = 4

// willSendLines are what ctrl+s would send, whole where they fit.
func (d *Desk) willSendLines(width int) []string {
	text := d.willSend(width)
	if render.Width(text) <= width {
		return []string{widget.Fit(text, width)}
	}
	var lines []string
	for _, line := range widget.Wrap(ansi.Strip(text), width) {
		lines = append(lines, d.Styles.Good(widget.Fit(line, width)))
	}
	return lines[:min(len(lines), mostSending)]
}

// label is the key and the name of a part of the form; the part that has the keys is marked.
func (d *Desk) label(action, name string, hasKeys bool) string {
	text := d.Host.KeyOf(action) + " " + name
	if hasKeys {
		return d.Styles.chosen(text) + strings.Repeat(" ", max(formLabel-render.Width(text), 0))
	}
	return widget.Fit(d.Styles.Key(d.Host.KeyOf(action))+" "+name, formLabel)
}

func (d *Desk) labelled(action, name string, hasKeys bool, lines []string) []string {
	for i, line := range lines {
		if i == 0 {
			lines[i] = d.label(action, name, hasKeys) + line
		} else {
			lines[i] = strings.Repeat(" ", formLabel) + line
		}
	}
	return lines
}

// legend are the results with their keys, side by side; the chosen one is marked.
func (d *Desk) legend(width int, choosing bool) []string {
	rows, s := d.Day.Form.Results(), d.Styles
	var items []string
	known := false
	for i, row := range rows[:min(len(rows), len(choiceKeys))] {
		text := choiceKeys[i:i+1] + " " + Clean(row.Words())
		if known = known || row.Code == d.Day.Form.Code; row.Code == d.Day.Form.Code {
			text = s.accent("[" + text + "]")
		}
		items = append(items, text)
	}
	if !known && d.Day.Form.Code != "" {
		items = append([]string{s.accent("[" + Clean(d.Day.Form.ResultWords()) + "]")}, items...)
	}
	if choosing || len(items) == 0 {
		items = append(items, "/ another")
	}
	lines := []string{""}
	for _, item := range items {
		last := &lines[len(lines)-1]
		switch w := render.Width(*last); {
		case w == 0:
			*last = item
		case w+2+render.Width(item) > width:
			lines = append(lines, item)
		default:
			*last += "  " + item
		}
	}
	return lines
}

// ratingLine is the scale with the rating on it.
func (d *Desk) ratingLine(asked *askedRating) string {
	s := d.Styles
	if d.Day.Form.Rating == nil && asked == nil {
		return s.Dim("none")
	}
	var b strings.Builder
	for n := range 11 {
		if d.Day.Form.Rating != nil && *d.Day.Form.Rating == n {
			fmt.Fprint(&b, s.accent("["+strconv.Itoa(n)+"]")+" ")
		} else {
			fmt.Fprintf(&b, "%d ", n)
		}
	}
	return b.String()
}

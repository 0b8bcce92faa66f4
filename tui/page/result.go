package page

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/entry"
	"fundesk/tui/widget"
)

// Inline is a dialog that is drawn inside its page, where its answer will be.
type Inline interface{ inline() }

// onCard makes a dialog Inline: the card shows what there is to choose.
type onCard struct{}

func (onCard) inline() {}

// View implements Dialog.
func (onCard) View(Styles, int, int) (string, []string) { return "", nil }

// askedResult asks for the result, each on its key. The card shows the legend.
type askedResult struct {
	onCard
	desk     *Desk
	question *ask.Question
}

// AskResult asks for the result among those of the call's type, or for a typed one if none are known. The question for
// the rating takes its place.
func (d *Desk) AskResult() tea.Cmd {
	asks := d.Questions.Forbidden(func() ask.Answer { return ask.Answer{} })
	if asks == nil || d.ahead > 0 {
		return d.askResult()
	}
	cmd, call := d.ask(asks, nil), d.Day.Call.UUID
	if confirm, isConfirm := d.Dialog.(*Confirm); isConfirm {
		confirm.Yes = func() tea.Cmd {
			if !d.Day.IsOn(call) {
				return nil // The call left the Desk while the question was open.
			}
			asks.Choices[0].Pick()
			return d.askResult()
		}
	}
	return cmd
}

func (d *Desk) askResult() tea.Cmd {
	return d.onceWarned(func() {
		q := d.Questions.Result(func() ask.Answer {
			d.AskRating()
			return ask.Answer{}
		})
		d.Dialog = (&askedResult{desk: d, question: q})
		if len(q.Choices) == 0 {
			d.ask(q, nil)
		}
	})
}

// Key implements Dialog.
func (r *askedResult) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	switch name := digitOf(msg.String()); name {
	case "esc", "ctrl+c":
		return Closes, nil
	case "/":
		return Closes, r.desk.ask(r.question, nil)
	default:
		if i := strings.Index(choiceKeys, name); i >= 0 && len(name) == 1 && i < len(r.question.Choices) {
			return Closes, r.desk.Answer(r.question.Choices[i].Pick(), nil)
		}
		r.desk.Messages.Refuse(r.desk.Say("no result has the key %s", r.desk.Styles.KeyNames(name)))
		return Stays, nil
	}
}

// digitOf returns the digit of a key without shift on French and Belgian keyboards, or the key itself. The key of 6 has
// another meaning.
func digitOf(name string) string {
	for digit, keys := range []string{"à", "&", "é", `"`, "'", "(", "§", "è", "_!", "ç"} {
		if name != "" && strings.Contains(keys, name) {
			return strconv.Itoa(digit)
		}
	}
	return name
}

// Hints implements Dialog.
func (r *askedResult) Hints() []Hint {
	last := min(len(r.question.Choices), len(choiceKeys)) - 1
	return []Hint{
		{choiceKeys[:1], r.desk.Say("to %s the result", choiceKeys[last:last+1])},
		{"/", "another"},
		{"esc", "close"},
	}
}

// AskRating asks for the rating, each on one key, ten on two.
func (d *Desk) AskRating() tea.Cmd {
	d.Dialog = &askedRating{now: d.Day.Form().Rating, set: d.Day.Form().SetRating}
	return nil
}

// askedRating asks for a rating from 0 to 10. Any other key belongs to the call, so it never blocks one.
type askedRating struct {
	onCard
	now *int // The present rating, or nil.
	one bool // A 1 was pressed: with a 0 it is ten.
	set func(*int)
}

// Key implements Dialog.
func (r *askedRating) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	name := digitOf(msg.String())
	if r.one && name == "0" {
		r.set(new(10))
		return Closes, nil
	}
	if name == "esc" {
		return Closes, nil
	}
	if r.one || name == "ctrl+c" {
		return Passes, nil
	}
	if name == "-" {
		r.set(nil)
		return Closes, nil
	}
	if name == "r" {
		return Stays, nil // As in c 1 r 8.
	}
	if len(name) != 1 || name[0] < '0' || name[0] > '9' {
		return Passes, nil
	}
	n := int(name[0] - '0')
	r.now, r.one = &n, n == 1
	if r.set(&n); r.one {
		return Stays, nil
	}
	return Closes, nil
}

// Hints implements Dialog.
func (r *askedRating) Hints() []Hint {
	if r.one {
		return []Hint{{"0", "ten"}, {"esc", "one"}}
	}
	return []Hint{{"0", "to 9"}, {"-", "no rating"}, {"esc", "close"}}
}

// The labels of the form, in cells.
const formLabel = 12

// leastForBoth is the least height of a card, in lines, for all details and the form.
const leastForBoth = 40

// form returns the result with its legend, the rating and the notes, and what ctrl+s will send. Where details are
// corrected it gives them its room, unless there is enough for both.
func (c *callCard) form(notes []string) []string {
	s := c.Styles
	sending := c.willSendLines(c.width)
	if c.fixing() != nil && c.height < leastForBoth {
		return append([]string{c.frame.Rule("", "")}, c.frame.Lines(sending...)...)
	}
	_, choosing := c.Dialog.(*askedResult)
	rating, isRated := c.Dialog.(*askedRating)
	lines := c.labelled(ActResult, "result", choosing, c.legend(c.width-formLabel))
	lines = append(lines, c.labelled(ActRating, "rating", isRated, []string{c.ratingLine(rating)})...)
	lines = append(lines, c.labelled(ActScript, "script", false, c.saying(c.width-formLabel))...)
	lines = append(lines, c.labelled(ActNotes, "notes", c.writing, notes)...)
	form := append([]string{c.frame.Rule(s.bold(c.Say("Result")), "")}, c.frame.Lines(lines...)...)
	if !c.frame.Bare {
		form = append(form, c.frame.Rule("", ""))
	}
	return append(form, c.frame.Lines(sending...)...)
}

// mostSending is the highest number of lines for the changes that ctrl+s sends.
const mostSending = 4

// willSendLines returns the changes that ctrl+s would send, in full if they fit.
func (d *Desk) willSendLines(width int) []string {
	text := d.willSend(width)
	if render.Width(text) <= width {
		line := widget.Fit(text, width)
		if d.isSending() {
			line = d.Styles.sending(ansi.Strip(line))
		}
		return []string{line}
	}
	var lines []string
	for _, line := range widget.Wrap(ansi.Strip(text), width) {
		lines = append(lines, d.Styles.sending(widget.Fit(line, width)))
	}
	return lines[:min(len(lines), mostSending)]
}

// label returns the key and the name of a part of the form; the part that has the keys is marked.
func (d *Desk) label(action, name string, hasKeys bool) string {
	name = d.Say(name)
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

// legend returns the results with their keys, side by side; the chosen one is marked.
func (d *Desk) legend(width int) []string {
	rows, s := d.Day.Form().Results(), d.Styles
	var items []string
	known := false
	for i, row := range rows[:min(len(rows), len(choiceKeys))] {
		key, text := choiceKeys[i:i+1], Clean(d.Say(entry.ResultWords(row)))
		isChosen := row.Code == d.Day.Form().ResultCode
		known = known || isChosen
		if isChosen {
			chip, effect := s.band("["+key+" "+text+"]"), d.effectText(row)
			if effect != "" && render.Width(chip+effect) > width { // Below it, in full.
				items = append(items, chip, strings.TrimPrefix(effect, " "))
			} else {
				items = append(items, chip+effect)
			}
			continue
		}
		items = append(items, s.Key(key)+" "+text)
	}
	if !known && d.Day.Form().ResultCode != "" {
		items = append([]string{s.band("[" + Clean(d.Day.Form().ResultWords()) + "]")}, items...)
	}
	if len(items) == 0 && d.Day.WaitsForSettings() {
		items = append(items, s.Dim(d.Say("the results are being read")))
	}
	if len(items) == 0 {
		items = append(items, "/ "+d.Say("another"))
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

// effectText returns the effect of a result on the donor, or an empty text.
func (d *Desk) effectText(row apitype.ResultChoice) string {
	if row.Has(apitype.EffectOptOut) {
		return " → " + d.Say("no more calls")
	}
	if row.Has(apitype.EffectNoContact) {
		return " → " + d.Say("no more contact")
	}
	return ""
}

func (d *Desk) ratingLine(asked *askedRating) string {
	s := d.Styles
	if d.Day.Form().Rating == nil && asked == nil {
		return s.Dim("0 1 2 3 4 5 6 7 8 9 10")
	}
	var b strings.Builder
	for n := range 11 {
		if d.Day.Form().Rating != nil && *d.Day.Form().Rating == n {
			fmt.Fprint(&b, s.band("["+strconv.Itoa(n)+"]")+" ")
		} else {
			fmt.Fprintf(&b, "%d ", n)
		}
	}
	return b.String()
}

package page

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/entry"
	"fundesk/tui/widget"
)

// fixing corrects the details of the donor and the pledge. Each has its key. A yes or no turns with a second key, and
// another value is typed and checked before it is taken. A detail that may not be corrected takes what is typed, and
// drops it.
type fixing struct {
	onCard
	desk   *Desk
	call   apitype.UUID
	key    string // Of the detail that is being typed; "" while one is chosen.
	was    string // The recorded value when it was chosen.
	editor widget.TextField
	wrong  string // The mistake in the value, or the reason why a detail cannot be corrected.
	moving bool   // A new street was typed: the other parts of the address follow.
}

// Fix opens the details for correction.
func (d *Desk) Fix() tea.Cmd {
	d.Dialog = &fixing{desk: d, call: d.Day.Call.UUID}
	return nil
}

// keepLine puts what is typed for a call into its draft. The call may have left the Desk.
func (d *Desk) keepLine(call apitype.UUID, line, typed string) {
	if d.Day.IsOn(call) {
		d.Day.Form().KeepLine(line, typed)
	}
}

// chosen returns the detail that is being typed.
func (f *fixing) chosen() (entry.Fix, bool) {
	for _, fix := range f.desk.Day.Form().Fixes() {
		if fix.Key == f.key {
			return fix, true
		}
	}
	return entry.Fix{}, false
}

// Key implements Dialog.
func (f *fixing) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	name := msg.String()
	if !f.desk.Day.IsOn(f.call) {
		return Closes, nil // The call left the Desk while the question was open.
	}
	if name == "ctrl+c" {
		f.leave()
		return Closes, nil
	}
	if f.key != "" {
		return f.typeKey(msg), nil
	}
	if name == "ctrl+s" {
		f.wrong, _ = f.desk.Day.Form().HalfAddress()
		if f.wrong != "" {
			return Stays, nil
		}
		return Passes, nil
	}
	if name == "esc" || name == "enter" {
		return Closes, nil
	}
	name = digitOf(name)
	f.wrong = f.desk.Say("no detail has the key %s", f.desk.Styles.KeyNames(name))
	for _, fix := range f.desk.Day.Form().Fixes() {
		if fix.Press == name {
			f.choose(fix)
		}
	}
	return Stays, nil
}

// choose begins to type another value, with the present one selected.
func (f *fixing) choose(fix entry.Fix) {
	f.wrong = ""
	f.key, f.was, f.editor = fix.Key, fix.Was, widget.TextField{}
	f.moving = f.moving && strings.HasPrefix(fix.Key, "address/") || fix.Key == "address/street"
	if fix.Why != "" {
		f.wrong = f.desk.Say(fix.Label) + ": " + f.desk.Say(fix.Why)
		return
	}
	if typed, found := f.desk.Day.Form().Unfinished[fix.Key]; found {
		f.editor.SetValue(typed)
		f.check(fix)
		return
	}
	isShown := !fix.IsSecret() || fix.IsChanged() || f.desk.Day.IsRevealed
	if !fix.IsYesNo() && isShown {
		f.editor.SetValue(fix.Is)
		f.editor.Select()
	}
}

// leave ends the typing of a detail, which was entered or left as it is.
func (f *fixing) leave() {
	f.desk.keepLine(f.call, f.key, "")
	f.key, f.wrong = "", ""
}

// drop takes a key for a detail that may not be corrected.
func (f *fixing) drop(name string) Fate {
	if name == "enter" || name == "esc" {
		f.leave()
	}
	return Stays
}

// turn takes the second key of a yes or no.
func (f *fixing) turn(fix entry.Fix, name string) Fate {
	form := f.desk.Day.Form()
	is := map[string]string{"y": "yes", "n": "no"}[name]
	if name == "enter" {
		is = map[bool]string{true: "yes", false: "no"}[fix.Is == "no"]
	}
	isUndone := name == "enter" && fix.Is == "yes" && fix.IsChanged() && fix.Was == ""
	switch {
	case isUndone:
		form.Uncorrect(fix)
	case is != "":
		f.wrong = form.Correct(fix, is)
	case name == "ctrl+r":
		form.Uncorrect(fix)
	case name == "ctrl+s":
		f.leave()
		return Passes
	case name != "esc":
		f.wrong = f.desk.Say("%s: y is yes, n is no, enter switches it", f.desk.Say(fix.Label))
		return Stays
	}
	f.key = ""
	return Stays
}

// typeKey follows a key while a value is typed.
func (f *fixing) typeKey(msg tea.KeyPressMsg) Fate {
	fix, found := f.chosen()
	if found && fix.Why != "" {
		return f.drop(msg.String())
	}
	if found && fix.IsYesNo() {
		return f.turn(fix, msg.String())
	}
	fix.Was = f.was
	interval := -1
	if found && fix.IsInterval() {
		interval = strings.Index(choiceKeys[:len(apitype.DonationIntervals)], msg.String())
	}
	switch name := msg.String(); {
	case !found || name == "esc":
		f.leave()
		f.moving = false
	case name == "enter" || name == "ctrl+s":
		return f.accept(fix, f.editor.Value(), name == "ctrl+s")
	case name == "ctrl+x":
		if problem := f.desk.Day.Form().Correct(fix, ""); problem != "" {
			f.wrong = f.desk.Say(fix.Label) + " " + problem
		} else {
			f.leave()
		}
	case name == "ctrl+r":
		f.desk.Day.Form().Uncorrect(fix)
		f.leave()
	case interval >= 0 && len(name) == 1:
		return f.accept(fix, string(apitype.DonationIntervals[interval]), false)
	case fix.IsInterval(): // Only the offered ones are accepted.
	default:
		f.wrong = ""
		if f.editor.Update(msg) {
			f.check(fix)
		}
	}
	return Stays
}

// check keeps the typed value, and sets the mistake in it.
func (f *fixing) check(fix entry.Fix) {
	f.desk.keepLine(f.call, fix.Key, f.editor.Value())
	f.wrong = ""
	if strings.TrimSpace(f.editor.Value()) != "" {
		if problem := f.desk.Day.Form().WrongFix(fix, f.editor.Value()); problem != "" {
			f.wrong = f.desk.Say(fix.Label) + " " + f.desk.Say(problem)
		}
	}
}

// accept corrects a detail with a value, or asks for its meaning. An empty value changes nothing. After a part of an
// address comes the next missing one.
func (f *fixing) accept(fix entry.Fix, typed string, sends bool) Fate {
	set := func(value string) Fate {
		if strings.TrimSpace(value) != "" && value != fix.Is {
			if problem := f.desk.Day.Form().Correct(fix, value); problem != "" {
				f.wrong = f.desk.Say(fix.Label) + " " + f.desk.Say(problem)
				return Stays
			}
		}
		f.leave()
		if why, missing := f.desk.Day.Form().HalfAddress(); why != "" && strings.HasPrefix(fix.Key, "address/") {
			f.choose(missing)
			f.wrong = why
			return Stays
		}
		if sends {
			return Passes
		}
		if next, found := f.desk.Day.Form().AfterStreet(fix, value); found && f.moving {
			f.choose(next)
		}
		return Stays
	}
	becomes := Closes
	a := f.desk.Questions.FixMeaning(fix, typed, func(value string) ask.Answer {
		becomes = set(value)
		if f.desk.Dialog == f {
			return ask.Answer{} // Nothing was asked in between.
		}
		if becomes == Passes && f.desk.WhyNot(ActComplete) == "" {
			return f.desk.Questions.Complete()
		}
		f.desk.Dialog = f
		return ask.Answer{}
	})
	f.desk.Answer(a, func() {
		if f.desk.Day.IsOn(f.call) {
			f.desk.Dialog = f
		}
	})
	return becomes
}

// Hints implements Dialog.
func (f *fixing) Hints() []Hint {
	var hints []Hint
	if fix, found := f.chosen(); found && fix.Why != "" {
		hints = []Hint{{"esc", "leaves it"}}
	} else if found && fix.IsYesNo() {
		hints = []Hint{{"y", "yes"}, {"n", "no"}, {"enter", "turns it"}, {"esc", "leaves it"}}
	} else if f.key != "" {
		hints = []Hint{
			{"enter", "takes it"},
			{"esc", "leaves it"},
			{"ctrl+x", "deletes the value"},
			{"ctrl+r", "as recorded"},
		}
		if f.wrong != "" {
			hints = hints[1:]
		}
	} else if f.desk.Day.IsOn(f.call) {
		hints = []Hint{{"0…9", "a detail"}, {"esc", "close"}}
	}
	if f.desk.Day.IsOn(f.call) && f.desk.WhyNot(ActComplete) == "" {
		hints = append(hints, Hint{"ctrl+s", "sends"})
	}
	return hints
}

// Paste implements Paster.
func (f *fixing) Paste(text string) tea.Cmd {
	fix, found := f.chosen()
	if !found || fix.Why != "" || fix.IsYesNo() {
		return nil // It is dropped.
	}
	if fix.Key == entry.StreetKey {
		text = oneLine(text)
	}
	f.editor.Insert(text)
	f.check(fix)
	return nil
}

// oneLine joins the lines of an address with commas.
func oneLine(address string) string {
	var parts []string
	for line := range strings.FieldsFuncSeq(address, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.Trim(line, " \t,")
		if line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, ", ")
}

// The least of a column of details, in cells.
const fixColumn = 34

// lines draws all details with their keys, their old and new values, and returns the line with the focus. The typed
// text is in the line of its detail, or below them if the details have two columns.
func (f *fixing) lines(s Styles, width int) ([]string, int) {
	fixes := f.desk.Day.Form().Fixes()
	columns := max(min(width/fixColumn, 2), 1)
	each, height := width/columns-1, (len(fixes)+columns-1)/columns
	lines := make([]string, height)
	typed := ""
	var focus int
	for i, fix := range fixes {
		text := f.desk.fixText(fix)
		if fix.IsChanged() && render.Width(text) > each-labelWidth-3 { // The card shows what was, too.
			text = s.bold("→ " + cmp.Or(f.desk.fixValue(fix, fix.Is, false), f.desk.Say("none")) + " " + s.fixSign)
		}
		label := widget.Fit(f.desk.Say(fix.Label), labelWidth)
		cell := widget.Fit(s.Key(fix.Press)+" "+label+" "+text, each)
		if fix.Why != "" {
			cell = s.Dim(widget.Fit(fix.Press+" "+label+" "+shortReason(f.desk.Say(fix.Why), each-labelWidth-3), each))
			if fix.Key == f.key {
				focus = i % height
			}
		} else if fix.Key == f.key {
			typed, focus = s.chosen(fix.Press+" "+label)+" "+f.typed(s, fix, width-labelWidth-3), i%height
			cell = s.chosen(ansi.Strip(cell))
		}
		lines[i%height] += cell + " "
	}
	if typed != "" && columns == 1 {
		lines[focus] = typed
	} else if typed != "" {
		lines = append(lines, typed)
		focus = len(lines) - 1
	}
	if f.wrong != "" {
		var wrong []string
		for _, line := range widget.Wrap(s.WarnSign+" "+f.wrong, width) {
			wrong = append(wrong, s.Bad(line))
		}
		lines = slices.Insert(lines, focus+1, wrong...)
		focus += len(wrong)
	}
	return lines, focus
}

// shortReason returns a reason, or what follows its colon if there is no room for the whole.
func shortReason(why string, room int) string {
	if _, after, found := strings.Cut(why, ": "); found && render.Width(why) > room {
		return after
	}
	return why
}

// typed returns the value that is being typed, or the intervals to choose from.
func (f *fixing) typed(s Styles, fix entry.Fix, width int) string {
	if fix.IsYesNo() {
		return f.desk.fixText(fix) +
			"  " + s.Key("y") + " " + f.desk.Say("yes") +
			"  " + s.Key("n") + " " + f.desk.Say("no")
	}
	if !fix.IsInterval() {
		return f.editor.Line(max(width, 2), s.cursor)
	}
	var all []string
	for i, interval := range apitype.DonationIntervals {
		all = append(all, s.Key(choiceKeys[i:i+1])+" "+f.desk.Say(render.Words(string(interval))))
	}
	return strings.Join(all, "  ")
}

// fixText returns the old and the new value of a detail.
func (d *Desk) fixText(f entry.Fix) string {
	was := d.fixValue(f, f.Was, true)
	if !f.IsChanged() {
		return was
	}
	return d.turned(was, d.fixValue(f, f.Is, false))
}

// fixValue draws the value of a detail. A typed secret is visible.
func (d *Desk) fixValue(f entry.Fix, value string, isRecorded bool) string {
	return Clean(d.Day.Card().FixValue(f, value, isRecorded))
}

// turned draws the old and the new text, if they differ.
func (d *Desk) turned(was, is string) string {
	if was == is {
		return was
	}
	if is == "" {
		is = d.Say("none")
	}
	if was == "" {
		return d.Styles.bold("→ " + is + " " + d.Styles.fixSign)
	}
	return was + d.Styles.bold(" → "+is+" "+d.Styles.fixSign)
}

// fixing returns the open correction, or nil.
func (d *Desk) fixing() *fixing {
	f, _ := d.Dialog.(*fixing)
	return f
}

package page

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// fixing corrects the details of the donor and the pledge: each has its key, a yes or no turns
// at once, and another value is typed and checked before it is taken.
type fixing struct {
	desk   *Desk
	call   apitype.UUID
	key    string // Of the detail that is being typed; "" while one is chosen.
	editor widget.TextField
	wrong  string
}

// WhyNotFix says why nothing can be corrected.
func (d *Desk) WhyNotFix() string {
	if why := d.WhyNotEnd(); why != "" {
		return why
	}
	if d.Call.Person.Pointer() == nil {
		return "the person is not shown to this account"
	}
	return ""
}

// Fix opens the details for correction.
func (d *Desk) Fix() tea.Cmd {
	d.Dialog = &fixing{desk: d, call: d.Call.UUID}
	return nil
}

// chosen is the detail that is being typed.
func (f *fixing) chosen() (desk.Fix, bool) {
	for _, fix := range f.desk.Fixes() {
		if fix.Key == f.key {
			return fix, true
		}
	}
	return desk.Fix{}, false
}

// Key implements Dialog.
func (f *fixing) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	name := msg.String()
	switch {
	case !f.desk.IsOn(f.call), name == "ctrl+c":
		return Closes, nil // The call went while the question stood.
	case f.key != "":
		return f.typeKey(msg), f.desk.learnPermissions()
	case name == "ctrl+s":
		return Passes, nil
	case name == "esc" || name == "enter":
		return Closes, nil
	}
	fixes := f.desk.Fixes()
	if i := strings.Index(choiceKeys, name); len(name) == 1 && i >= 0 && i < len(fixes) {
		f.choose(fixes[i])
	}
	return Stays, f.desk.learnPermissions()
}

// learnPermissions asks whether the account may make the corrections.
func (d *Desk) learnPermissions() tea.Cmd { return d.Perform(d.LearnPermissions()) }

// Complete sends what was entered. Where the account may not make a correction it says so
// first, and offers to send the result alone.
func (d *Desk) Complete() tea.Cmd {
	refused := d.RefusedCorrections()
	if len(refused) == 0 {
		return d.Perform(d.CompleteCall())
	}
	call := d.Call.UUID
	lines := []string{"This account may not correct:"}
	for _, fix := range refused {
		lines = append(lines, "  "+fix.Label+" "+ansi.Strip(d.fixText(fix)))
	}
	lines = append(lines, "Their refusal would hold back the result. Send it without them? Tell somebody who may correct them.")
	d.Dialog = &Confirm{Title: "Send the result alone", Lines: lines, Yes: func() tea.Cmd {
		if !d.IsOn(call) {
			return nil // The call went while the question stood.
		}
		return d.Perform(d.CompleteAlone())
	}}
	return nil
}

// choose turns a yes or no, or begins to type another value.
func (f *fixing) choose(fix desk.Fix) {
	f.wrong = ""
	switch {
	case !fix.IsYesNo():
		f.key, f.editor = fix.Key, widget.TextField{}
	case fix.Is == "no":
		f.wrong = f.desk.Correct(fix, "yes")
	default:
		f.wrong = f.desk.Correct(fix, "no")
	}
}

// typeKey is a key while a value is typed.
func (f *fixing) typeKey(msg tea.KeyPressMsg) Fate {
	name := msg.String()
	switch name {
	case "esc":
		f.key, f.wrong = "", ""
	case "enter", "ctrl+s":
		if f.wrong = f.take(); f.wrong != "" {
			return Stays
		}
		if f.key = ""; name == "ctrl+s" {
			return Passes
		}
	default:
		f.editor.Update(msg)
		f.wrong = ""
	}
	return Stays
}

// take takes what was typed; nothing leaves the detail as it is.
func (f *fixing) take() (wrong string) {
	fix, found := f.chosen()
	text := strings.TrimSpace(f.editor.Value())
	switch {
	case !found || text == "":
		return ""
	case text == "-":
		text = ""
	}
	if problem := f.desk.Correct(fix, text); problem != "" {
		return fix.Label + " " + problem
	}
	return ""
}

// Hints implements Dialog.
func (f *fixing) Hints() []Hint {
	var hints []Hint
	if f.key != "" {
		hints = []Hint{{"enter", "takes it"}, {"-", "alone clears it"}, {"esc", "leaves it"}}
	} else if f.desk.IsOn(f.call) {
		last := len(f.desk.Fixes()) - 1
		hints = []Hint{{"1", "to " + choiceKeys[last:last+1] + " a detail"}, {"esc", "close"}}
	}
	if f.desk.IsOn(f.call) && f.desk.WhyNotComplete() == "" {
		hints = append(hints, Hint{"ctrl+s", "sends"})
	}
	return hints
}

// Paste implements Paster.
func (f *fixing) Paste(text string) {
	if f.key != "" {
		f.editor.Insert(text)
	}
}

// The least of a column of details, in cells.
const fixColumn = 34

// View implements Dialog.
func (f *fixing) View(s Styles, width, _ int) (string, []string) {
	if !f.desk.IsOn(f.call) {
		return "Correct", []string{"the call is no longer here"}
	}
	fixes := f.desk.Fixes()
	columns := max(min(width/fixColumn, 2), 1)
	each, height := width/columns-1, (len(fixes)+columns-1)/columns
	lines := make([]string, height)
	for i, fix := range fixes {
		cell := widget.Fit(s.Key(choiceKeys[i:i+1])+" "+widget.Fit(fix.Label, labelWidth)+" "+f.desk.fixText(fix), each)
		if fix.Key == f.key {
			cell = s.chosen(cell)
		}
		lines[i%height] += cell + " "
	}
	if fix, typing := f.chosen(); typing {
		lines = append(lines, "", widget.Fit(fix.Label+": ", labelWidth+2)+f.editor.Line(max(width-labelWidth-2, 2), s.cursor))
	}
	if f.wrong != "" {
		for _, line := range widget.Wrap(s.WarnSign+" "+f.wrong, width) {
			lines = append(lines, s.Bad(line))
		}
	}
	return "Correct: " + f.desk.name(), lines
}

// fixText is a detail as it was and as it is to be.
func (d *Desk) fixText(f desk.Fix) string {
	was, is := Clean(f.Was), Clean(f.Is)
	switch {
	case f.IsSecret():
		was = d.iban(f.Was)
	case f.IsPhone():
		was, is = d.Locale.Phone(was), d.Locale.Phone(is)
	}
	if !f.IsChanged() {
		return was
	}
	if is == "" {
		is = "none"
	}
	if was == "" {
		return d.Styles.accent("→ " + is)
	}
	return was + d.Styles.accent(" → "+is)
}

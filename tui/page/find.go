package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/donors"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/widget"
)

// finder searches for a donor that calls back.
type finder struct {
	picker
	desk   *Desk
	chosen apitype.UUID // The donor under the cursor when the list was drawn. Zero uses the cursor's position.
}

// AskDonor opens the search for a donor.
func (d *Desk) AskDonor() tea.Cmd {
	f := &finder{desk: d}
	f.Editor.SetValue(d.Day.Changes.Drafts.Lines[drafts.SearchLine])
	d.Dialog = f
	return f.search()
}

// found returns the donors that were found. The cursor stays on its donor, wherever an answer of the service puts that.
func (f *finder) found() []donors.Donor {
	found := f.desk.Day.FindDonors(donors.MostFound)
	if i := slices.IndexFunc(found, func(d donors.Donor) bool { return d.ID == f.chosen }); i >= 0 {
		f.cursor = i
	}
	return found
}

// search looks for the typed text, and keeps it in case the terminal closes.
func (f *finder) search() tea.Cmd {
	f.cursor, f.chosen = 0, apitype.UUID{}
	f.desk.Day.Changes.Drafts.KeepLine(drafts.SearchLine, f.Editor.Value())
	return f.desk.Host.Perform(f.desk.Day.Search.SearchFor(f.Editor.Value()))
}

// leave ends the search, whose text was used or dropped.
func (f *finder) leave() {
	f.desk.Day.Changes.Drafts.KeepLine(drafts.SearchLine, "")
	f.desk.Day.Search.LeaveSearch()
}

// Key implements Dialog.
func (f *finder) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	switch name := msg.String(); name {
	case "esc", "ctrl+c":
		f.leave()
		return Closes, nil
	case "up", "ctrl+p", "down", "ctrl+n":
		found := f.found()
		f.chosen = apitype.UUID{}
		f.move(name, len(found))
	case "enter", "ctrl+o":
		found := f.found()
		if f.cursor >= len(found) {
			return Stays, nil
		}
		f.leave()
		if name == "ctrl+o" {
			return Closes, f.desk.Host.Jump(Reference{apitype.EntityPerson, found[f.cursor].ID})
		}
		return Closes, f.desk.Host.Perform(f.desk.Day.OpenDonor(found[f.cursor]))
	default:
		if f.Editor.Update(msg) {
			return Stays, f.search()
		}
	}
	return Stays, nil
}

// Waits implements Waiter.
func (f *finder) Waits() bool { return f.desk.Day.Search.IsReadingDonors() }

// Hints implements Dialog.
func (f *finder) Hints() []Hint {
	hints := []Hint{{"esc", "close"}}
	if f.cursor < len(f.found()) {
		hints = append([]Hint{{"enter", "the open call, or a new one"}, {"ctrl+o", "the person"}}, hints...)
	}
	return hints
}

// Paste implements Paster.
func (f *finder) Paste(text string) tea.Cmd {
	f.Editor.Insert(text)
	return f.search()
}

// The columns of the donors found, in cells.
const (
	foundName  = 28
	foundPhone = 20
)

// View implements Dialog.
func (f *finder) View(s Styles, width, height int) (string, []string) {
	lines := []string{f.Editor.Line(width, s.cursor)}
	found, room := f.found(), max(height-2, 1)
	if f.cursor < len(found) {
		f.chosen = found[f.cursor].ID
	}
	top := max(0, min(f.cursor-room/2, len(found)-room))
	for i := top; i < min(len(found), top+room); i++ {
		donor, state := found[i], "  "
		if !donor.OpenCall.IsZero() {
			state = s.DueSign + " "
		}
		line := state + widget.Fit(Clean(donor.Name), foundName) +
			" " + widget.Fit(f.desk.Day.Locale.Spoken(Clean(donor.Phone)), foundPhone) +
			" " + Clean(donor.City)
		line = widget.Fit(line, width)
		if i == f.cursor {
			line = s.chosen(line)
		}
		lines = append(lines, line)
	}
	lines = append(
		lines,
		s.Dim(widget.Fit(f.note(len(found))+"; "+s.DueSign+" "+f.desk.Say("has an open call"), width)),
	)
	return f.desk.Day.Search.Title(), lines
}

// note describes which records were searched.
func (f *finder) note(found int) string {
	search := f.desk.Day.Search
	if search.IsReadingDonors() {
		return f.desk.Say("searching") + f.desk.Spinner.Sign()
	}
	if found == donors.MostFound {
		return f.desk.Say("the first %d; type more", donors.MostFound)
	}
	if search.IsSearchedHere() {
		return f.desk.Say("only the donors of the newest %d calls: this service cannot search", search.CallsSearched())
	}
	if found == 0 && !f.Editor.IsEmpty() {
		return f.desk.Say("no donor was found")
	}
	return f.desk.Day.Count(found, "donor", "donors")
}

// AskRecent offers the last calls, to open one again.
func (d *Desk) AskRecent() tea.Cmd {
	return d.ask(d.Questions.Recent(d.fateText, d.Host.KeyOf(ActUndo)), nil)
}

// fateText returns the outcome of a call, and the state of its change.
func (d *Desk) fateText(r changes.Recent) string {
	s := d.Styles
	switch r.Fate {
	case changes.FateHeld:
		if left := d.Day.Changes.HeldFor(r); left > 0 {
			return fmt.Sprintf("%s %s %s  %s", s.DueSign, Clean(r.What), d.HoldBar(left), d.Host.KeyOf(ActUndo))
		}
		return s.DueSign + " " + Clean(r.What) + ", " + d.Say("on its way")
	case changes.FateWaits:
		return s.WarnSign + " " + Clean(r.What) + ", " + d.Say("waiting")
	case changes.FateRefused:
		return s.badSign + " " + Clean(r.What) + ", " + d.Say("refused")
	case changes.FateLater:
		return s.DueSign + " " + Clean(r.What)
	case changes.FateEnded:
		return s.badSign + " " + Clean(r.What)
	default:
		return s.OKSign + " " + Clean(r.What)
	}
}

// The indents of the lines after the first one, in cells: of a name after its time, and of an outcome.
const (
	timeIndent   = 6
	recentIndent = 3
)

// indented breaks text into lines of a width. The lines after the first one have an indent.
func indented(text string, width, indent int) []string {
	lines := widget.Wrap(text, width)
	if len(lines) < 2 {
		return lines
	}
	rest := strings.TrimSpace(strings.TrimPrefix(text, lines[0]))
	lines = lines[:1]
	for _, part := range widget.Wrap(rest, max(width-indent, 1)) {
		lines = append(lines, strings.Repeat(" ", indent)+part)
	}
	return lines
}

// fateLines returns fateText in lines of a width. The bar of a hold and the key stay together.
func (d *Desk) fateLines(r changes.Recent, width int) []string {
	text := " " + d.fateText(r)
	left := d.Day.Changes.HeldFor(r)
	if r.Fate != changes.FateHeld || left <= 0 || render.Width(text) <= width {
		return indented(text, width, recentIndent)
	}
	bar := strings.Fields(d.HoldBar(left))[0] + " " + d.Host.KeyOf(ActUndo) // It shows the seconds already.
	lines := indented(" "+d.Styles.DueSign+" "+Clean(r.What), width, recentIndent)
	last := &lines[len(lines)-1]
	if render.Width(*last)+1+render.Width(bar) <= width {
		*last += " " + bar
		return lines
	}
	return append(lines, strings.Repeat(" ", recentIndent)+bar)
}

// recentLines returns the last calls with their fate, as many as there is room for.
func (d *Desk) recentLines(width, room int) []string {
	var lines []string
	for _, r := range d.Day.Changes.Recent {
		role := map[changes.Fate]paint{
			changes.FateHeld:    d.Styles.Held,
			changes.FateLater:   d.Styles.Held,
			changes.FateWaits:   d.Styles.Warn,
			changes.FateRefused: d.Styles.Bad,
			changes.FateSent:    d.Styles.Good,
		}[r.Fate]
		if role == nil {
			role = d.Styles.plain
		}
		of := indented(r.At.Format("15:04")+" "+Clean(r.Name), width, timeIndent)
		for _, line := range d.fateLines(r, width) {
			of = append(of, role(line))
		}
		if len(lines)+len(of) > room {
			break
		}
		lines = append(lines, of...)
	}
	if len(lines) == 0 {
		lines = widget.Wrap(d.Say("Your calls and their results come here."), width)
	}
	return lines
}

// holdSteps is the number of segments in the bar of a hold, one for each second.
const holdSteps = 5

// HoldBar returns a bar that drains while a change can be taken back.
func (e *Env) HoldBar(left time.Duration) string {
	n := min(max(int(left.Seconds()+0.5), 0), holdSteps)
	return strings.Repeat(e.Styles.bar[0], n) + strings.Repeat(e.Styles.bar[1], holdSteps-n) + " " + e.Say("%d s", n)
}

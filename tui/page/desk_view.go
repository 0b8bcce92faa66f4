package page

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// Lines draws the desk: the call below a line of the queue, with the queue beside it from 100
// columns, with script and day from 120.
func (d *Desk) Lines(l Layout) []string {
	if l.Panes == 1 && d.Day.Call != nil {
		return append([]string{d.queueLine(l.Middle)}, d.callPane(l.Middle, l.Body-1)...)
	}
	call := d.callPane(l.Middle, l.Body)
	switch l.Panes {
	case 3:
		return widget.Beside(d.Styles.Dim(d.Styles.rule), d.queuePane(l.Left, l.Body), call, d.sidePane(l.Right, l.Body))
	case 2:
		return widget.Beside(d.Styles.Dim(d.Styles.rule), d.queuePane(l.Left, l.Body), call)
	default:
		return call
	}
}

// callPane returns the call on screen: what is known of it above, what the agent enters
// below.
func (d *Desk) callPane(width, height int) []string {
	if d.Day.Call == nil {
		return widget.Block(d.startLines(width), width, height)
	}
	formLines := d.formLines(width, min(max(8, height/4), max(height-10, 2)))
	room := max(height-len(formLines), 0)
	facts := d.facts(width, room)
	d.view.Set(facts, width, room)
	lines := widget.Block(d.view.Lines(), width, room)
	if below := d.view.Below(); below > 0 && room > 0 {
		more := fmt.Sprintf("… %d more, j scrolls", below+1)
		lines[room-1] = d.Styles.Dim(widget.Fit(more, width))
	}
	return append(lines, widget.Block(formLines, width, height-room)...)
}

// startLines returns what stands there without a call.
func (d *Desk) startLines(width int) []string {
	s := d.Styles
	lines := []string{"", s.bold(" fundesk"), ""}
	switch {
	case d.Day.Wanted && d.Day.LoggedOut:
		lines = append(lines, " the next call comes once you have logged in again")
	case d.Day.Wanted && d.Day.Offline != "":
		lines = append(lines, " the next call comes as soon as the service answers")
	case d.Day.NoneLeft && len(d.Day.Offers(1)) == 0:
		lines = append(lines, " No call is left that you may call now. The next one comes by itself.", " "+s.Key(d.Host.KeyOf(ActNext))+" asks again, "+s.Key(d.Host.KeyOf(ActSkipped))+" shows the calls that were passed over, and why.")
	case d.Day.Wanted:
		lines = append(lines, " looking for the oldest requested call"+d.Spinner.Sign()+d.aheadText())
	case d.Day.Taking && d.Day.Offline == "":
		lines = append(lines, " reading"+d.Spinner.Sign()+d.aheadText())
	default:
		lines = append(lines, " "+s.Key(d.Host.KeyOf(ActNext))+"  take the next call")
	}
	if n := len(d.Day.Changes.Drafts); n > 0 {
		lines = append(lines, " "+s.Key(d.Host.KeyOf(ActResume))+"  go on with "+render.Plural(n, "draft", "drafts")+" that you have not sent")
	}
	unsent := d.Day.Changes.Unsent()
	if unsent > 0 {
		lines = append(lines, " "+s.Key(d.Host.KeyOf(ActOutbox))+"  "+render.Plural(unsent, "change is", "changes are")+" not sent yet")
	}
	if n := len(d.Day.Changes.Entries) - unsent; n > 0 {
		lines = append(lines, " "+s.Key(d.Host.KeyOf(ActOutbox))+"  "+render.Plural(n, "change was", "changes were")+" refused by the service")
	}
	if n := len(d.Day.Changes.Damaged); n > 0 {
		lines = append(lines, " "+s.Key(d.Host.KeyOf(ActOutbox))+"  "+render.Plural(n, "damaged file was", "damaged files were")+" set aside")
	}
	lines = append(lines, "", " "+s.Key(d.Host.KeyOf(ActHelp))+"  all keys", "")
	if n, all := d.Day.Waiting(); n > 0 {
		at := ""
		if !all {
			at = " so far"
		}
		lines = append(lines, s.Dim(widget.Fit(fmt.Sprintf(" %s%s", render.Plural(n, "requested call", "requested calls"), at), width)))
	}
	if to := d.Day.NarrowedTo(); to != "" {
		lines = append(lines, widget.Fit(" "+s.Key(d.Host.KeyOf(ActNarrow))+"  only "+to, width))
	}
	return lines
}

// willSend says what ctrl+s would send.
func (d *Desk) willSend(width int) string {
	if why := d.Day.Form.Ended(); why != "" {
		return d.Styles.Dim(widget.Fit(why, width))
	}
	if half, _ := d.Day.Form.HalfAddress(); half != "" {
		return d.Styles.Warn(half)
	}
	if d.Day.Form.Code == "" {
		return d.Styles.Dim(d.Host.KeyOf(ActComplete) + " completes once there is a result")
	}
	if why := d.WhyNot(ActComplete); why != "" {
		return d.Styles.Warn(why)
	}
	if refused := d.Day.Form.RefusedCorrections(); len(refused) > 0 {
		return d.Styles.Warn(d.Styles.WarnSign + " this account may not correct " + refused[0].Label + ": " + d.Host.KeyOf(ActComplete) + " asks")
	}
	return d.Styles.Good(d.sendText())
}

// sendText names the parts of what ctrl+s would send.
func (d *Desk) sendText() string {
	parts := []string{d.Host.KeyOf(ActComplete) + " sends " + Clean(d.Day.Form.ResultWords())}
	for _, fix := range d.Day.Form.Corrected() {
		parts = append(parts, ansi.Strip(fix.Says(d.fixValue(fix, fix.Is, false))))
	}
	if d.Day.Form.Rating != nil {
		parts = append(parts, fmt.Sprintf("rating %d", *d.Day.Form.Rating))
	}
	if n := utf8.RuneCountInString(d.Day.Form.Notes); n > 0 {
		parts = append(parts, render.Plural(n, "character", "characters"))
	}
	return strings.Join(parts, ", ")
}

// queuePane lists what comes next: who, what for, how long ago it was asked for, and how often
// somebody has tried. Where that does not fit into columns each call has two lines.
func (d *Desk) queuePane(width, height int) []string {
	each, draw := 1, d.queueColumns
	head := d.queueTitle()
	if width < queueWide {
		each, draw = 2, d.queueLines
	} else {
		head = widget.Fit(head, width-queueFacts) + " " + widget.Fit("type", queueType) + widget.FitRight("asked", queueNumber) + widget.FitRight("tries", queueNumber)
	}
	lines := []string{d.Styles.head(widget.Fit(head, width))}
	if to := d.Day.NarrowedTo(); to != "" {
		lines = append(lines, widget.Fit(d.Host.KeyOf(ActNarrow)+" only "+to, width))
	}
	for _, c := range d.Day.Offers(max((height-len(lines))/each, 1)) {
		c.Name = d.offered(c)
		for _, line := range draw(c, width) {
			if d.Day.IsOn(c.ID) {
				line = d.Styles.chosen(widget.Fit(line, width))
			}
			lines = append(lines, line)
		}
	}
	return widget.Block(lines, width, height)
}

// offered returns who is rung with a call of the queue.
func (d *Desk) offered(c desk.Candidate) string {
	name := Clean(c.Name)
	if name == "" {
		name = "call " + desk.ShortID(c.ID)
	}
	if c.Due {
		name = d.Styles.DueSign + " " + name
	}
	return name
}

// queueLine returns the queue where there is no room for its pane: who is next, and how many more wait.
func (d *Desk) queueLine(width int) string {
	next := "nobody yet"
	offers := d.Day.Offers(2)
	if i := slices.IndexFunc(offers, func(c desk.Candidate) bool { return !d.Day.IsOn(c.ID) }); i >= 0 {
		next = d.offered(offers[i]) + ", " + atLeast(d.Day.WaitingAfter(offers[i])) + " more"
	}
	return d.Styles.Dim(widget.Fit("next: "+next, width))
}

// atLeast returns a number that is not known to be all.
func atLeast(n int, all bool) string {
	if all {
		return fmt.Sprint(n)
	}
	return fmt.Sprint(n) + "+"
}

// queueColumns returns a call of the queue on one line.
func (d *Desk) queueColumns(c desk.Candidate, width int) []string {
	tries := ""
	if c.Attempts > 0 {
		tries = fmt.Sprint(c.Attempts)
	}
	return []string{widget.Fit(c.Name, width-queueFacts) + " " + d.Styles.kind(c.Type)(widget.Fit(Clean(render.Words(string(c.Type))), queueType)) +
		widget.FitRight(d.asked(c), queueNumber) + widget.FitRight(tries, queueNumber)}
}

// asked is for how long a call was asked for.
func (d *Desk) asked(c desk.Candidate) string {
	return string(render.AppendAge(nil, max(d.Day.Now().Sub(c.RequestedAt), 0)))
}

// queueLines returns a call of the queue on two lines: who, and how often somebody has tried; what
// for, and since when.
func (d *Desk) queueLines(c desk.Candidate, width int) []string {
	tries := ""
	if c.Attempts > 0 {
		tries = " " + render.Plural(c.Attempts, "try", "tries")
	}
	kind := d.Styles.kind(c.Type)(Clean(render.Words(string(c.Type))))
	return []string{
		widget.Fit(c.Name, width-render.Width(tries)) + tries,
		widget.Fit("  "+kind+", asked "+d.asked(c)+" ago", width),
	}
}

// queueTitle returns how many calls wait, and how many callbacks are due.
func (d *Desk) queueTitle() string {
	wait := " wait"
	n, all := d.Day.Waiting()
	if n == 1 && all {
		wait = " waits"
	}
	title := "Next: " + atLeast(n, all) + wait
	if state := d.Day.QueueState(); state != nil && state.Due > 0 {
		title += fmt.Sprintf(", %d due", state.Due)
	}
	return title
}

// The columns of the queue, in cells.
const (
	queueWide   = 44 // The least for columns.
	queueType   = 12
	queueNumber = 6
	queueFacts  = 1 + queueType + 2*queueNumber // All but the name.
)

// sidePane returns the script, and the agent's own day.
func (d *Desk) sidePane(width, height int) []string {
	s := d.Styles
	day := []string{
		s.head(widget.Fit("This session", width)),
		fmt.Sprintf("completed %d · attempts %d", d.Day.Accepted[apiclient.OpCompleteCall], d.Day.Accepted[apiclient.OpAddAttempt]),
		fmt.Sprintf("cancelled %d · expired %d", d.Day.Accepted[apiclient.OpCancelCall], d.Day.Accepted[apiclient.OpExpireCall]),
	}
	var lines []string
	switch {
	case d.Day.Call == nil:
		lines = d.betweenLines(width)
	case len(d.Day.Card.Script) > 0:
		title := "Script: " + render.Words(string(d.Day.Call.Type))
		lines = append([]string{s.head(widget.Fit(title, width))}, markdown(s, d.Day.Card.Script, width)...)
	default:
		lines = append([]string{s.head(widget.Fit("Contacts", width))}, d.historyLines(width, mostContacts)...)
	}
	recent := d.recentLines(width, max(height-len(day)-len(lines), height/4))
	lines = append(widget.Block(lines, width, max(height-len(day)-len(recent), 0)), recent...)
	return append(lines, widget.Block(day, width, min(len(day), height))...)
}

// betweenLines stand where the script does while there is no call: what waits, and what else
// there is to do.
func (d *Desk) betweenLines(width int) []string {
	s := d.Styles
	var lines []string
	if state := d.Day.QueueState(); state != nil {
		lines = append(lines, s.head(widget.Fit("Waiting", width)))
		for _, kind := range apitype.CallTypes {
			lines = append(lines, widget.Fit(render.Words(string(kind)), queueType)+widget.FitRight(fmt.Sprint(state.ByType[kind]), 6))
		}
		lines = append(lines, widget.Fit("put off", queueType)+widget.FitRight(fmt.Sprint(state.Deferred), 6), "")
	}
	lines = append(lines, s.head(widget.Fit("Also", width)))
	for _, also := range []struct{ action, does string }{{ActFind, "a donor rings back"}, {ActNarrow, "types and languages"}, {ActWatch, "who rings, and what waits"}} {
		if key := d.Host.KeyOf(also.action); key != also.action { // The profile may hide it.
			lines = append(lines, widget.Fit(s.Key(key)+"  "+also.does, width))
		}
	}
	return lines
}

// mostWarnings is how many lines of warnings stand above a call; the rest is folded.
const mostWarnings = 4

// warningLines returns the warnings above a call, folded where there are many.
func (d *Desk) warningLines(call apitype.Call, wrap func(string) []string) []string {
	all := d.Day.Card.Warnings(call)
	var lines []string
	for i, warning := range all {
		parts := wrap(d.Styles.WarnSign + " " + Clean(warning))
		last := i == len(all)-1
		if len(lines)+len(parts) > mostWarnings || (!last && len(lines)+len(parts) == mostWarnings) {
			more := render.Plural(len(all)-i, "more warning", "more warnings")
			return append(lines, d.Styles.Warn(d.Styles.WarnSign+" "+more+": "+d.Host.KeyOf(ActWarnings)+" shows all"))
		}
		for _, part := range parts {
			lines = append(lines, d.Styles.Warn(part))
		}
	}
	return lines
}

// ShowWarnings lists all warnings in full.
func (d *Desk) ShowWarnings() tea.Cmd {
	var lines []string
	for _, warning := range d.Day.Card.Warnings(*d.Day.Call) {
		lines = append(lines, d.Styles.WarnSign+" "+Clean(warning))
	}
	if len(lines) == 0 {
		lines = []string{"Nothing speaks against ringing " + d.name() + " now."}
	}
	d.Dialog = &Text{Title: "Before you dial", Lines: lines}
	return nil
}

// markdown draws the little of markdown that scripts need: headings, lists, emphasis.
func markdown(s Styles, lines []string, width int) []string {
	var drawn []string
	for _, line := range lines {
		text := strings.TrimSpace(Clean(line))
		role := s.plain
		switch {
		case strings.HasPrefix(text, "#"):
			text, role = strings.TrimSpace(strings.TrimLeft(text, "#")), s.bold
		case strings.HasPrefix(text, ">"):
			text, role = strings.TrimSpace(text[1:]), s.accent
		case strings.HasPrefix(text, "* "), strings.HasPrefix(text, "- "):
			text = "- " + strings.TrimSpace(text[2:])
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, "**", ""), "__", "")
		for _, part := range widget.Wrap(text, width) {
			drawn = append(drawn, role(part))
		}
	}
	return drawn
}

// SetAhead tells how many keys wait for the call that is being read.
func (d *Desk) SetAhead(keys int) { d.ahead = keys }

func (d *Desk) aheadText() string {
	if d.ahead == 0 {
		return ""
	}
	return " " + render.Plural(d.ahead, "key waits", "keys wait") + " for it"
}

package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/queue"
	"fundesk/tui/widget"
)

// Lines draws the Desk: the call, with the queue to its left from 100 columns, and with the script and the agent's last
// calls from 120.
func (d *Desk) Lines(l Layout) []string {
	panes := [][]string{d.callPane(d.Styles.active(l, l.Middle), l.Body)}
	if l.Panes > 1 {
		panes = slices.Insert(panes, 0, d.queuePane(d.Styles.frame(l, l.Left), l.Body))
	}
	if l.Panes == 3 {
		panes = append(panes, d.sidePane(d.Styles.frame(l, l.Right), l.Body))
	}
	return d.Styles.panes(l, panes...)
}

// startLines draws the Desk without a call: the donor who comes next, the next steps, and what waits.
func (d *Desk) startLines(width, height int) []string {
	lines := append([]string{""}, d.nextLines(width)...)
	can := func(action, text string) { lines = append(lines, d.can(action, text)) }
	if n := len(d.Day.Changes.Drafts.All); n > 0 {
		can(
			ActResume,
			d.Say("go on with")+" "+d.Day.Count(n, "draft that you have not sent", "drafts that you have not sent"),
		)
	}
	changes := d.Day.Changes
	unsent, damaged := changes.Waiting(), len(changes.Damaged)
	if unsent > 0 {
		can(ActOutbox, d.Day.Count(unsent, "change is not sent yet", "changes are not sent yet"))
	}
	if refused := len(changes.Entries) - unsent; refused > 0 {
		one, many := "change was refused by the service", "changes were refused by the service"
		can(ActOutbox, d.Day.Count(refused, one, many))
	}
	if damaged > 0 {
		can(ActOutbox, d.Day.Count(damaged, "damaged file was set aside", "damaged files were set aside"))
	}
	if to := queue.FilterText(d.Day.Texts, d.Day.Filter); to != "" {
		can(ActNarrow, d.Say("only %s", to))
	} else {
		can(ActNarrow, d.Say("choose types and languages"))
	}
	can(ActFind, d.Say("find a donor who calls back"))
	can(ActWatch, d.Say("the floor: agents, and what is waiting"))
	can(ActHelp, d.Say("all keys"))
	lines = append(lines, "")
	if n, all := d.Day.Waiting(); n > 0 {
		more := ""
		if !all {
			more = " " + d.Say("so far")
		}
		lines = append(lines, d.Styles.Dim(d.Day.Count(n, "requested call", "requested calls")+more))
	}
	lines = append(lines, d.waitingLines()...)
	for _, section := range [][]string{d.waitingLanguages(), d.firstKeys(width)} {
		if len(lines)+len(section) < height {
			lines = append(lines, section...)
		}
	}
	return lines
}

// can returns a line with an action's key, and with what it does.
func (d *Desk) can(action, text string) string {
	return d.Styles.Key(d.Host.KeyOf(action)) + "  " + text
}

// nextLines tells who is called next, or what the next call waits for.
func (d *Desk) nextLines(width int) []string {
	if d.Day.IsWaiting() && d.Day.Stranger {
		return []string{d.Say("the next call comes once you are logged in as before")}
	}
	if d.Day.IsWaiting() && d.Day.LoggedOut {
		return []string{d.Say("the next call comes once you have logged in again")}
	}
	if d.Day.IsWaiting() && d.Day.Offline != "" {
		return []string{d.Say("the next call comes as soon as the service answers")}
	}
	if d.Day.IsNoneLeft() && len(d.Day.Offers(1)) == 0 {
		return append(
			widget.Wrap(d.noneText(), width),
			d.can(ActNext, d.Say("asks again")),
			d.can(ActSkipped, d.Say("shows the calls that were passed over, and why")),
		)
	}
	if d.Day.IsWaiting() {
		return []string{d.Say("looking for the next call") + d.Spinner.Sign() + d.aheadText()}
	}
	if d.Day.IsOpening() && d.Day.Offline == "" {
		return []string{d.Say("reading") + d.Spinner.Sign() + d.aheadText()}
	}
	return append(d.nextDonor(width), d.can(ActNext, d.Styles.bold(d.Say("take the next call"))))
}

// keyIndent is the width of a key before its words on the first screen.
const keyIndent = 4

// firstKeys names the five keys of a call.
func (d *Desk) firstKeys(width int) []string {
	lines := []string{"", d.Styles.bold(d.Say("With a call on the desk"))}
	for _, id := range []string{ActDial, "not-reached", ActResult, ActComplete, ActUndo} {
		if key := d.Host.KeyOf(id); key != id {
			action, _ := ask.ActionOf(id)
			help := indented(strings.Repeat(" ", keyIndent)+d.Say(action.Help), width, keyIndent)
			text := strings.TrimPrefix(help[0], strings.Repeat(" ", keyIndent))
			help[0] = d.Styles.Key(widget.Fit(key, keyIndent)) + text
			lines = append(lines, help...)
		}
	}
	return lines
}

// mostLanguagesWaiting is the highest number of languages on the first screen.
const mostLanguagesWaiting = 8

// waitingLanguages returns how many calls wait in each language, the most frequent first.
func (d *Desk) waitingLanguages() []string {
	state := d.Day.Leases.State
	if state == nil || len(state.ByLanguage) == 0 {
		return nil
	}
	languages := slices.SortedFunc(maps.Keys(state.ByLanguage), func(a, b string) int {
		return cmp.Or(cmp.Compare(state.ByLanguage[b], state.ByLanguage[a]), strings.Compare(a, b))
	})
	lines, most := []string{""}, max(state.ByLanguage[languages[0]], 1)
	for _, language := range languages[:min(len(languages), mostLanguagesWaiting)] {
		n := state.ByLanguage[language]
		name := d.Say(cmp.Or(Clean(render.Language(language)), "not known"))
		bar := strings.Repeat(d.Styles.bars[0], n*waitingBar/most)
		lines = append(lines, countLine(name, n)+"  "+d.Styles.Dim(bar))
	}
	return lines
}

// countLine returns a name and how many calls wait under it.
func countLine(name string, n int) string {
	return widget.Fit(name, queueType+2) + widget.FitRight(fmt.Sprint(n), 4)
}

// nextDonor draws the donor who comes next on a band, or nothing before one is known.
func (d *Desk) nextDonor(width int) []string {
	offers := d.Day.Offers(1)
	if len(offers) == 0 {
		return nil
	}
	next := offers[0]
	about := d.Say(render.Words(string(next.Type))) + " · " + d.Say("requested") + " " + d.Day.Ago(next.RequestedAt)
	var lines []string
	for _, line := range []string{"", d.offered(next), about, ""} {
		lines = append(lines, d.Styles.onBand(" "+line, width))
	}
	return append(lines, "")
}

// noneText returns the reason why there is no call now.
func (d *Desk) noneText() string {
	if closed := d.Day.Leases.ClosedText(); closed != "" {
		return closed + ". " + d.Say("The next call comes by itself.")
	}
	if d.Day.Walk.IsCut() {
		return d.Say("None of the newest %s calls can be made now.", d.Day.Locale.Count(queue.MostRead)) + " " +
			d.Say("The next call comes by itself.")
	}
	return d.Say("There is no donor left to call now. The next one comes by itself.")
}

// waitingLines returns how many calls of each type are waiting, as far as the service reports them.
func (d *Desk) waitingLines() []string {
	state := d.Day.Leases.State
	if state == nil {
		return nil
	}
	most := 1
	for _, n := range state.ByType {
		most = max(most, n)
	}
	var lines []string
	for _, kind := range apitype.CallTypes {
		n := state.ByType[kind]
		bar := strings.Repeat(d.Styles.bars[0], n*waitingBar/most)
		lines = append(lines, countLine(d.Say(render.Words(string(kind))), n)+"  "+d.Styles.kind(kind)(bar))
	}
	if state.Deferred > 0 {
		lines = append(lines, countLine(d.Say("later"), state.Deferred))
	}
	if closed := d.Day.Leases.ClosedText(); closed != "" && !d.Day.IsNoneLeft() {
		lines = append(lines, closed)
	}
	return lines
}

// waitingBar is the longest bar of waiting calls, in cells.
const waitingBar = 24

// willSend returns a summary of the changes that ctrl+s would send.
func (d *Desk) willSend(width int) string {
	if why := d.Day.Form().Ended(); why != "" {
		return d.Styles.Dim(widget.Fit(why, width))
	}
	if half, _ := d.Day.Form().HalfAddress(); half != "" {
		return d.Styles.Warn(half)
	}
	if d.Day.Form().ResultCode == "" {
		return d.Styles.Dim(d.Host.KeyOf(ActComplete) + " " + d.Say("needs a result first"))
	}
	if why := d.WhyNot(ActComplete); why != "" {
		return d.Styles.Warn(why)
	}
	if refused := d.Day.Form().RefusedCorrections(); len(refused) > 0 {
		return d.Styles.Warn(
			d.Styles.WarnSign + " " +
				d.Say("you may not correct %q: %s asks", d.Say(refused[0].Label), d.Host.KeyOf(ActComplete)),
		)
	}
	return d.sendText()
}

// isSending reports whether ctrl+s would send the entries.
func (d *Desk) isSending() bool {
	return d.Day.Form().ResultCode != "" && d.Day.Form().Ended() == "" && d.WhyNot(ActComplete) == "" &&
		len(d.Day.Form().RefusedCorrections()) == 0
}

// sendText names the values that ctrl+s would send.
func (d *Desk) sendText() string {
	parts := []string{d.Host.KeyOf(ActComplete) + " " + d.Say("sends") + " " + Clean(d.Day.Form().ResultWords())}
	parts = append(parts, d.Day.Form().CorrectionWords()...)
	if d.Day.Form().Rating != nil {
		parts = append(parts, d.Say("rating %d", *d.Day.Form().Rating))
	}
	if n := utf8.RuneCountInString(d.Day.Form().Notes); n > 0 {
		parts = append(parts, d.Day.Count(n, "character", "characters"))
	}
	if checked := d.Day.Card().CheckedText(); checked != "" {
		parts = append(parts, checked)
	}
	return strings.Join(parts, ", ")
}

// The columns of the queue, in cells.
const (
	queueWide   = 40 // The least for the age.
	queueType   = 12
	queueTries  = 3
	queueNumber = 5
)

// queuePane lists the next calls, one donor a line, callbacks first.
func (d *Desk) queuePane(frame widget.Frame, height int) []string {
	n, all := d.Day.Waiting()
	waiting, aside := fmt.Sprint(n), ""
	if !all {
		waiting += "+" // At least.
	}
	if state := d.Day.Leases.State; state != nil && state.Due > 0 {
		aside = d.Styles.DueSign + " " + d.Say("%d due", state.Due)
	}
	waits := d.Say("%s waiting", waiting)
	if closed := d.Day.Leases.ClosedText(); closed != "" && n == 0 {
		waits = closed
	}
	title := d.Styles.bold(d.Say("Next")) + d.Styles.Dim(" · ") + waits
	lines := d.callbackLines(frame, height)
	if len(lines) > 0 {
		lines = append(lines, frame.Rule(title, aside))
	} else {
		lines = []string{frame.Top(title, aside)}
	}
	if to := queue.FilterText(d.Day.Texts, d.Day.Filter); to != "" {
		lines = append(lines, frame.Line(d.Styles.Key(d.Host.KeyOf(ActNarrow))+" "+d.Say("only %s", to)))
	}
	for _, c := range d.Day.Offers(max(height-len(lines), 1)) {
		line := d.queueRow(c, frame.Inner())
		if d.Day.IsOn(c.ID) {
			line = d.Styles.chosen(ansi.Strip(line))
		}
		lines = append(lines, frame.Line(line))
	}
	return frame.Close(lines, height)
}

// mostCallbacks is the highest number of callbacks above the queue.
const mostCallbacks = 5

// callbackLines draws the agent's next callbacks with their times and reasons, or nothing without any.
func (d *Desk) callbackLines(frame widget.Frame, height int) []string {
	all := d.Day.Callbacks.All()
	if len(all) == 0 {
		return nil
	}
	title := d.Styles.bold(d.Say("My callbacks")) + d.Styles.Dim(" · ") + d.Day.Callbacks.Count()
	lines := []string{frame.Top(title, d.Styles.Key(d.Host.KeyOf(ActCallbacks)))}
	shown := all[:min(len(all), mostCallbacks, max(height/4, 1))]
	queue, _ := d.Day.Waiting()
	spare := height - 4 - queue - 2*len(shown) // Lines that the queue does not need.
	for _, c := range shown {
		parts := indented(Clean(d.Day.Callbacks.Text(c)), frame.Inner(), timeIndent)
		if over := len(parts) - 2; over > 0 && over > spare { // The list of them all has the rest.
			parts = []string{parts[0], parts[1] + " …"}
		} else {
			spare -= max(over, 0)
		}
		parts[0] = strings.TrimSuffix(parts[0], " ·")
		for _, text := range parts {
			if d.Day.IsOn(c.CallUUID) {
				text = d.Styles.chosen(widget.Fit(text, frame.Inner()))
			} else if !c.NotBefore.After(d.Day.Now()) {
				text = d.Styles.Held(text)
			}
			lines = append(lines, frame.Line(text))
		}
	}
	return lines
}

// queueRow draws a call of the queue: a bar of its type, the donor, and how many attempts there were.
func (d *Desk) queueRow(c queue.Candidate, width int) string {
	s, tries, after := d.Styles, "", ""
	if c.Attempts > 0 {
		tries = fmt.Sprint(c.Attempts)
	}
	age := d.Day.Now().Sub(c.RequestedAt)
	if width >= queueWide {
		after = widget.FitRight(string(render.AppendAge(nil, max(age, 0))), queueNumber)
	}
	sign := s.kind(c.Type)(s.kindSign)
	if c.Due {
		sign = s.Held(s.DueSign)
	}
	name := widget.Fit(d.offered(c), max(width-2-queueTries-render.Width(after), 4))
	if c.Due {
		name = s.bold(name)
	}
	ages := s.Dim
	if age > overdue {
		ages = s.bold
	}
	return sign + " " + name + s.Dim(widget.FitRight(tries, queueTries)) + ages(after)
}

// offered returns the donor of a call of the queue.
func (d *Desk) offered(c queue.Candidate) string {
	return cmp.Or(Clean(c.Name), d.Say("name not read yet"))
}

// sidePane returns the script, and the agent's last calls.
func (d *Desk) sidePane(frame widget.Frame, height int) []string {
	s, width := d.Styles, frame.Inner()
	title, aside, texts := d.Say("Contacts"), "", []string(nil)
	switch {
	case d.Day.Call == nil:
		title, texts = d.Say("This session"), d.sessionLines()
	case len(d.Day.Card().Script.Lines) > 0:
		title = d.Say("Script")
		aside = d.scriptTitle(frame.Inner() - render.Width(title))
		texts = d.scriptLines(width, height*2/3-3)
	default:
		texts = d.historyLines(width, mostContacts)
	}
	lines := append([]string{frame.Top(s.bold(title), aside)}, frame.Lines(texts...)...)
	recent := frame.Lines(d.recentLines(width, max(height-len(lines)-2, height/3))...)
	lines = widget.Block(lines, frame.Width, max(min(len(lines), height-len(recent)-2), 0))
	for len(lines) < height/3 {
		lines = append(lines, frame.Line(""))
	}
	hour := d.Say("My hour")
	lines = append(lines, frame.Rule(s.bold(hour), d.hourLine(frame.Inner()-render.Width(hour))))
	return frame.Close(append(lines, recent...), height)
}

// The line of the agent's last hour, in steps of five minutes.
const (
	hourStep  = 5 * time.Minute
	hourSteps = 12
)

// titleGap is the space in cells that a title and the text at its right need in addition to their words.
const titleGap = 4

// hourLine draws the agent's calls of the last hour, as far back as there is room, or nothing without any.
func (d *Desk) hourLine(room int) string {
	counts, now := make([]int, hourSteps), d.Day.Now()
	for _, r := range d.Day.Changes.Recent {
		if step := int(now.Sub(r.At) / hourStep); step >= 0 && step < hourSteps {
			counts[hourSteps-1-step]++
		}
	}
	return sparkline(d.Styles, counts[hourSteps-min(max(room-titleGap, 0), hourSteps):])
}

// sessionLines returns the changes that the service has accepted since the Desk was opened.
func (d *Desk) sessionLines() []string {
	var lines []string
	for _, of := range []struct{ does, op string }{
		{"completed", apiclient.OpCompleteCall},
		{"not reached", apiclient.OpAddAttempt},
		{"call back later", apiclient.OpDeferCall},
		{"cancelled", apiclient.OpCancelCall},
		{"expired", apiclient.OpExpireCall},
	} {
		lines = append(lines, widget.FitRight(fmt.Sprint(d.Day.Work.Accepted[of.op]), 3)+"  "+d.Say(of.does))
	}
	return lines
}

// mostWarnings is the highest number of lines with warnings above a call. The rest is folded, unless there is room for
// twice as many.
const mostWarnings = 4

// warningLines returns the warnings above a call, folded if there are many.
func (d *Desk) warningLines(call apitype.Call, most int, wrap func(string) []string) []string {
	all := d.Day.Warnings()
	var lines []string
	for i, warning := range all {
		parts := wrap(d.Styles.WarnSign + " " + Clean(warning))
		paint := d.Styles.Warn
		isForbidden := d.Day.IsOn(call.UUID) && warning == d.Day.Card().ForbidsText()
		if warning == d.Day.Card().LeaseText() {
			paint = d.Styles.alarm
		} else if isForbidden {
			paint = d.Styles.Bad
		}
		last := i == len(all)-1
		if len(lines)+len(parts) > most || (!last && len(lines)+len(parts) == most) {
			more := d.Day.Count(len(all)-i, "more warning", "more warnings")
			if i == 0 {
				more = strings.TrimPrefix(parts[0], d.Styles.WarnSign+" ") + " …"
			}
			return append(
				lines,
				d.Styles.Warn(d.Styles.WarnSign+" "+more+": "+d.Host.KeyOf(ActWarnings)+" "+d.Say("shows all")),
			)
		}
		for _, part := range parts {
			lines = append(lines, paint(part))
		}
	}
	return lines
}

// ShowWarnings lists all warnings in full.
func (d *Desk) ShowWarnings() tea.Cmd {
	var lines []string
	for _, warning := range d.Day.Warnings() {
		lines = append(lines, d.Styles.WarnSign+" "+Clean(warning))
	}
	if len(lines) == 0 {
		lines = []string{d.Say("There is no reason not to call %s now.", d.name())}
	}
	d.Dialog = &Text{Title: d.Say("Before you dial"), Lines: lines}
	return nil
}

// listMark begins an item of a list.
const listMark = "- "

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
			text, role = strings.TrimSpace(text[1:]), s.bold
		case strings.HasPrefix(text, "* "), strings.HasPrefix(text, "- "):
			text = listMark + strings.TrimSpace(text[2:])
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, "**", ""), "__", "")
		indent := 0
		if strings.HasPrefix(text, listMark) {
			indent = len(listMark)
		}
		for _, part := range indented(text, width, indent) {
			drawn = append(drawn, role(part))
		}
	}
	return drawn
}

// SetAhead sets the number of keys that were typed before the call was read.
func (d *Desk) SetAhead(keys int) { d.ahead = keys }

func (d *Desk) aheadText() string {
	if d.ahead == 0 {
		return ""
	}
	return " " + d.Day.Count(d.ahead, "key waits for it", "keys wait for it")
}

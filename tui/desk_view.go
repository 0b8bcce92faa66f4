package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/widget"
)

// lines draws the desk: the call alone, with the queue from 100 columns, with script
// and day from 120.
func (d *desk) lines(l layout) []string {
	call := d.callPane(l.middle, l.body)
	switch l.panes {
	case 3:
		return widget.Beside(d.styles.dim(d.styles.rule), d.queuePane(l.left, l.body), call, d.sidePane(l.right, l.body))
	case 2:
		return widget.Beside(d.styles.dim(d.styles.rule), d.queuePane(l.left, l.body), call)
	default:
		return call
	}
}

// callPane is the call on screen: what is known of it above, what the agent enters
// below.
func (d *desk) callPane(width, height int) []string {
	if d.call == nil {
		return widget.Block(d.startLines(width), width, height)
	}
	formLines := d.formLines(width, max(4, height/4))
	facts := d.facts(width)
	room := max(height-len(formLines), 0)
	d.scroll = min(d.scroll, max(len(facts)-room, 0))
	shown := facts[d.scroll:]
	lines := widget.Block(shown, width, room)
	if len(shown) > room && room > 0 {
		more := fmt.Sprintf("… %d more, j scrolls", len(shown)-room+1)
		lines[room-1] = d.styles.dim(widget.Fit(more, width))
	}
	return append(lines, widget.Block(formLines, width, height-room)...)
}

// startLines are what stands there without a call.
func (d *desk) startLines(width int) []string {
	s := d.styles
	lines := []string{"", s.bold(" fundesk"), ""}
	switch {
	case d.wanted && d.offline != "":
		lines = append(lines, " "+d.offline+": the next call comes as soon as the service answers")
	case d.wanted:
		lines = append(lines, " looking for the oldest requested call…"+d.aheadText())
	case d.complete:
		lines = append(lines, " No requested call is left that may be rung now.", " "+s.key(d.keyOf(actSkipped))+" shows those that were passed over, and why.")
	case d.taking && d.offline == "":
		lines = append(lines, " reading…"+d.aheadText())
	default:
		lines = append(lines, " "+s.key(d.keyOf(actNext))+"  take the next call")
	}
	if n := len(d.drafts); n > 0 {
		lines = append(lines, " "+s.key(d.keyOf(actResume))+"  go on with "+plural(n, "draft", "drafts")+" that you have not sent")
	}
	unsent := d.unsent()
	if unsent > 0 {
		lines = append(lines, " "+s.key(d.keyOf(actOutbox))+"  "+plural(unsent, "change is", "changes are")+" not sent yet")
	}
	if n := len(d.entries) - unsent; n > 0 {
		lines = append(lines, " "+s.key(d.keyOf(actOutbox))+"  "+plural(n, "change was", "changes were")+" refused by the service")
	}
	if n := len(d.damaged); n > 0 {
		lines = append(lines, " "+s.key(d.keyOf(actOutbox))+"  "+plural(n, "damaged file was", "damaged files were")+" set aside")
	}
	lines = append(lines, "", " "+s.key(d.keyOf(actHelp))+"  all keys", "")
	if n := len(d.queue.candidates); n > 0 {
		at := ""
		if !d.queue.ended {
			at = " so far"
		}
		lines = append(lines, s.dim(widget.Fit(fmt.Sprintf(" %s%s", plural(n, "requested call", "requested calls"), at), width)))
	}
	return lines
}

// facts is everything known of the call, what matters most first.
func (d *desk) facts(width int) []string {
	s, call := d.styles, d.call
	head := fmt.Sprintf("%s · requested %s · %s", clean(string(call.Type)), d.ago(call.RequestedAt.Time), plural(call.AttemptsCount, "attempt", "attempts"))
	if !d.checked {
		head = "checking… · " + head // In front: the line may be cut.
	}
	lines := append(d.titleLines(width), s.dim(widget.Fit(head, width)))
	lines = append(lines, d.warningLines(*call, func(text string) []string { return widget.Wrap(text, width) })...)
	fields := d.personFields(call.Person.Pointer())
	if notes := value(call.Notes); notes != "" {
		fields = append(fields, field{label: "call notes", text: notes})
	}
	fields = append(fields, d.pledgeSummary(call.PledgeCase.Pointer())...)
	for _, attempt := range slices.Backward(call.Attempts.Value()) {
		fields = append(fields, field{label: "attempt", text: d.when(attempt.AttemptAt)})
	}
	fields = append(fields, d.earlierCalls()...)
	if result := call.Result.Pointer(); result != nil {
		fields = append(fields, d.resultFields(*result)...)
	}
	for _, f := range fields {
		lines = append(lines, f.draw(s, width)...)
	}
	return lines
}

// titleLines are who the call is for, whole, and its whole identifier: it is what
// somebody else is told, and what scripts take. They share a line where both fit.
func (d *desk) titleLines(width int) []string {
	s, id := d.styles, d.call.UUID.String()
	name := d.name()
	if room := width - len(id) - 1; widget.Width(name) <= room {
		return []string{s.bold(widget.Fit(name, room)) + " " + s.dim(id)}
	}
	var lines []string
	for _, part := range widget.Wrap(name, width) {
		lines = append(lines, s.bold(part))
	}
	return append(lines, s.dim(id))
}

// mostEarlier is how many of the pledge's other calls the desk shows.
const mostEarlier = 4

// earlierCalls are the other calls of the pledge, the latest first.
func (d *desk) earlierCalls() []field {
	pledge := d.call.PledgeCase.Pointer()
	if pledge == nil {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(pledge.Calls.Value()), func(c apitype.Call) bool { return c.UUID == d.call.UUID })
	slices.SortStableFunc(others, func(a, b apitype.Call) int { return b.RequestedAt.Compare(a.RequestedAt.Time) })
	var fields []field
	for _, c := range others[:min(len(others), mostEarlier)] {
		text := fmt.Sprintf("%s, %s, requested %s", c.Type, c.Status, d.ago(c.RequestedAt.Time))
		if code := value(c.Result.Value().ResultCode); code != "" {
			text += ", " + code
		}
		fields = append(fields, field{label: "other call", text: text})
	}
	return fields
}

// personFields are the person as an agent needs them.
func (d *desk) personFields(p *apitype.Person) []field {
	if p == nil {
		return nil
	}
	var fields []field
	add := func(label, text string) {
		if text != "" {
			fields = append(fields, field{label: label, text: text})
		}
	}
	add("mobile", d.Locale.Phone(value(p.MobilePhoneNumber)))
	add("phone", d.Locale.Phone(value(p.PhoneNumber)))
	add("e-mail", value(p.Email))
	add("address", addressText(p.Address.Pointer()))
	add("language", value(p.Language))
	if p.DateOfBirth != nil {
		add("born", d.Locale.Date(p.DateOfBirth.Midnight(), time.DateOnly))
	}
	if p.IBAN != nil {
		fields = append(fields, field{label: "IBAN", text: d.iban(*p.IBAN)})
	}
	if number := p.SocialSecurityNumber.Pointer(); number != nil {
		fields = append(fields, field{label: "soc. sec.", text: d.digits(*number)})
	}
	return fields
}

// pledgeSummary is the pledge in two lines.
func (d *desk) pledgeSummary(p *apitype.Pledge) []field {
	if p == nil {
		return nil
	}
	text := fmt.Sprintf("%s %s, %s, since %s", d.euros(p.DonationAmount), p.DonationInterval, p.Status, d.Locale.Date(p.StartsAt.Local(), "2 Jan 2006"))
	fields := []field{{label: "pledge", text: text}}
	if organization := p.OwningOrganization.Pointer(); organization != nil {
		fields = append(fields, field{label: "for", text: organization.Name})
	}
	for _, area := range p.FocusAreas.Value() {
		fields = append(fields, field{label: "focus", text: area.Name})
	}
	return fields
}

// formLines are the result, the rating and the notes, and what ctrl+s will send.
func (d *desk) formLines(width, notes int) []string {
	s := d.styles
	code, rating := s.dim("none"), s.dim("none")
	if d.form.code != "" {
		code = s.accent(clean(d.form.code))
	}
	if d.form.rating != nil {
		rating = s.accent(fmt.Sprint(*d.form.rating))
	}
	lines := []string{
		s.dim(strings.Repeat(s.line, max(width, 0))),
		s.key(d.keyOf(actResult)) + " result " + code + "   " + s.key(d.keyOf(actRating)) + " rating " + rating + "   " + s.key(d.keyOf(actNotes)) + " notes",
	}
	lines = append(lines, d.form.notes.Lines(width, notes, d.writing, s.cursor)...)
	return append(lines, widget.Fit(d.willSend(), width))
}

// willSend says what ctrl+s would send.
func (d *desk) willSend() string {
	if d.form.code == "" {
		return d.styles.dim(d.keyOf(actComplete) + " completes once there is a result")
	}
	text := d.keyOf(actComplete) + " sends " + clean(d.form.code)
	if d.form.rating != nil {
		text += fmt.Sprintf(", rating %d", *d.form.rating)
	}
	if n := utf8.RuneCountInString(d.form.notes.Value()); n > 0 {
		text += ", " + plural(n, "character", "characters")
	}
	return d.styles.good(text)
}

// queuePane lists what comes next: who, what for, how long ago it was asked for, and
// how often somebody has tried.
func (d *desk) queuePane(width, height int) []string {
	s := d.styles
	title := fmt.Sprintf("Queue: %d", len(d.queue.candidates))
	if !d.queue.ended {
		title += "+"
	}
	kindWidth := queueKind
	if width > queueWide {
		kindWidth = queueKindWide
	}
	room := max(width-kindWidth-queueNumbers, 0)
	head := widget.Fit(title, room) + " " + widget.Fit("type", kindWidth) + widget.FitRight("age", 5) + " try"
	lines := []string{s.head(widget.Fit(head, width))}
	for _, c := range d.queue.offers(d.Now(), d.MaxAttempts, max(height-1, 1), d.pending) {
		name := c.name
		if name == "" {
			name = "call " + shortID(c.id)
		}
		text := widget.Fit(name, room) + " " + widget.Fit(firstLetters(clean(string(c.kind)), kindWidth), kindWidth) + widget.FitRight(shortAge(d.Now().Sub(c.requestedAt)), 5)
		if c.attempts > 0 {
			text += fmt.Sprintf("%4d", c.attempts)
		}
		if d.isOnScreen(c.id) {
			text = s.chosen(widget.Fit(text, width))
		}
		lines = append(lines, text)
	}
	return widget.Block(lines, width, height)
}

// firstLetters is the beginning of a word that tells it from its neighbours.
func firstLetters(word string, n int) string {
	if runes := []rune(word); len(runes) > n {
		return string(runes[:n])
	}
	return word
}

// The columns of the queue, in cells.
const (
	queueKind     = 4
	queueKindWide = 12
	queueWide     = 36 // The width from which the type is written out.
	queueNumbers  = 10 // Age, attempts and the blank before the type.
)

// sidePane is the script, and the agent's own day.
func (d *desk) sidePane(width, height int) []string {
	s := d.styles
	day := []string{
		s.head(widget.Fit("This session", width)),
		fmt.Sprintf("completed %d · attempts %d", d.day[apiclient.OpCompleteCall], d.day[apiclient.OpAddAttempt]),
		fmt.Sprintf("cancelled %d · expired %d", d.day[apiclient.OpCancelCall], d.day[apiclient.OpExpireCall]),
	}
	lines := []string{s.head(widget.Fit("Script", width))}
	switch {
	case d.call == nil:
	case len(d.script) > 0:
		lines = append(lines, markdown(s, d.script, width)...)
	case d.ConfigDir != "":
		lines = append(lines, widget.Wrap("No script. Put one into scripts/"+clean(string(d.call.Type))+".md in the configuration folder.", width)...)
	}
	return append(widget.Block(lines, width, max(height-len(day), 0)), widget.Block(day, width, min(len(day), height))...)
}

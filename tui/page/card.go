package page

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/pause"
	"fundesk/tui/widget"
)

// How many of the contacts with a donor are shown: on the card, and in a column of their own.
const (
	mostLatest   = 3
	mostContacts = 20
)

// twoColumns is the least width, in cells, for contacts to the right of the facts.
const twoColumns = 90

// leastDetails is the least number of lines for the details.
const leastDetails = 12

// leastAir is the least number of spare lines for the air around the donor.
const leastAir = 4

// overdue is the age from which a call has waited too long.
const overdue = 14 * 24 * time.Hour

// callCard is the call on the desk, drawn in a frame: a head that never scrolls, a body that does, and the
// form.
type callCard struct {
	*Desk
	frame  widget.Frame
	width  int // Within the frame.
	height int
	focus  int    // The line of the facts that is kept in sight; -1: none.
	rule   string // The line above the facts.
}

// callPane returns the call on the Desk: its data above, the entries of the agent below.
func (d *Desk) callPane(frame widget.Frame, height int) []string {
	if d.Day.Call == nil {
		start := frame.Lines(d.startLines(frame.Inner(), height-2)...)
		return frame.Close(append([]string{frame.Top(d.Styles.bold("fundesk"), "")}, start...), height)
	}
	edge := 1 // The lower edge of a frame.
	if frame.Bare {
		edge = 0
	}
	c := &callCard{
		Desk:   d,
		frame:  frame,
		width:  frame.Inner(),
		height: height,
		focus:  -1,
	}
	head, sections, notes := c.divide(height - edge)
	form := c.form(c.notes.Lines(c.width-formLabel, notes, c.writing, c.Styles.cursor))
	room := max(height-edge-len(form), 0)
	top := apart(frame, head, room-size(sections))
	room = max(room-len(top), 0)
	body := apart(frame, sections, room)
	for len(body) < room {
		body = append(body, frame.Line(""))
	}
	d.view.Set(body, room)
	if at := slices.Index(body, c.rule); at >= 0 && c.focus >= 0 {
		d.view.Keep(at, at+1+c.focus+2) // The last visible line may announce more.
	}
	lines := append(top, d.view.Lines()...)
	if below := d.view.Below(); below > 0 && room > 0 && d.fixing() == nil {
		at := len(lines) - 1
		for c.focus < 0 && at > len(top) && c.isContinued(lines[at]) { // A wrapped line is shown whole, or not.
			lines[at] = frame.Line("")
			at--
			below++
		}
		lines[at] = frame.Line(d.Styles.Dim(d.Say("… %d more, j scrolls", below+1)))
	}
	return frame.Close(append(lines, form...), height)
}

// divide divides a number of lines between the head, the sections and the notes of a call. The notes give way to the
// facts.
func (c *callCard) divide(room int) (head, sections [][]string, notes int) {
	folded := min(max(c.height/8, 1), mostWarnings)
	head, sections, notes = c.head(folded), c.sections(false), 2
	least := notes
	if tall := c.height >= 27; c.writing || tall {
		notes = max(min(8, c.height-10), 2)
		least = notes
		if tall {
			least = 4
		}
	}
	spare := room - size(head) - len(c.form(nil)) - notes - size(sections)
	if whole := c.head(2 * mostWarnings); folded == mostWarnings { // The warnings unfold if the notes have enough room.
		if more := size(whole) - size(head); more <= spare+notes-least {
			head, spare = whole, spare-more
		}
	}
	if spare > leastDetails {
		if details := detailsOf(c); spare > len(details) {
			sections, spare = append(sections, details), spare-len(details)
		}
	}
	if given := min(-spare, notes-least); given > 0 {
		notes, spare = notes-given, spare+given
	}
	if spare < 0 {
		sections = c.sections(true)
	}
	if spare >= leastAir {
		c.withAir(head)
		spare -= 2
	}
	if spare > 2 {
		notes = max(notes, min(notes+spare-2, c.height/4))
	}
	return head, sections, notes
}

// isContinued reports whether a line of the card goes on with the one above: its label is empty.
func (c *callCard) isContinued(line string) bool {
	text := ansi.Strip(line)
	if !c.frame.Bare {
		text = strings.TrimSuffix(strings.TrimPrefix(text, ansi.Strip(c.frame.Left)+" "), ansi.Strip(c.frame.Right))
	}
	text = strings.TrimRight(text, " ")
	indent := len(text) - len(strings.TrimLeft(text, " "))
	return indent > factLabel && indent < len(text)
}

// size returns how many lines sections have.
func size(sections [][]string) int {
	var n int
	for _, lines := range sections {
		n += len(lines)
	}
	return n
}

// apart joins sections, with an empty line between two of them as far as the room allows:
// those in front are loudest.
func apart(frame widget.Frame, sections [][]string, room int) []string {
	spare := room - size(sections)
	var joined []string
	for i, lines := range sections {
		if i > 0 && spare > 0 && len(lines) > 0 {
			joined, spare = append(joined, frame.Line("")), spare-1
		}
		joined = append(joined, lines...)
	}
	return joined
}

// head returns what stays in sight: the type of the call, the donor's name and numbers, and the warnings.
func (c *callCard) head(mostWarnings int) [][]string {
	person := c.Day.Call.Person.Pointer()
	wrap := func(text string) []string { return widget.Wrap(text, c.width) }
	warnings := c.warningLines(*c.Day.Call, mostWarnings, wrap)
	return [][]string{append([]string{c.headLine()}, c.band(person)...), c.frame.Lines(warnings...)}
}

// band draws the donor on a ground of its own: the name, the numbers, and what the donor gives.
func (c *callCard) band(person *apitype.Person) []string {
	lines := append(c.nameLines(person, c.width), c.numberLines(person)...)
	if pledge := c.Day.Call.PledgeCase.Pointer(); pledge != nil {
		word := c.Say(card.GivesWord(pledge.Status)) + " "
		lines = append(lines, word+givesOf(c.Env, pledge, c.width-render.Width(word))[0].text)
	}
	for i, line := range lines {
		lines[i] = c.Styles.onBand(line, c.width)
	}
	return c.frame.Lines(lines...)
}

// withAir adds an empty line of the band above and below the donor, which follow the first line of the head.
func (c *callCard) withAir(head [][]string) {
	air := c.frame.Line(c.Styles.onBand("", c.width))
	head[0] = append(slices.Insert(head[0], 1, air), air)
}

// sections returns the body. A tight one begins with the facts, two on a line if they fit.
func (c *callCard) sections(tight bool) [][]string {
	call := c.Day.Call
	contacts := mostLatest
	if c.layout.Panes == 3 && len(c.Day.Card().Script.Lines) == 0 || c.width >= twoColumns && c.fixing() == nil {
		contacts = 0 // They have a column of their own.
	} else if tight {
		contacts = 1
	}
	var last []field
	for i, text := range c.Day.Card().Contacts()[:min(len(c.Day.Card().Contacts()), contacts)] {
		last = append(last, field{label: []string{c.Say("last"), ""}[min(i, 1)], text: text})
	}
	result := &fields{Env: c.Env}
	result.result(call)
	note := field{label: c.Say("note"), text: c.Day.Card().NextNotes()} // Another agent left it for this call.
	callback := field{label: c.Say("callback"), text: c.Day.Card().CallbackReason}
	last = append(last, field{label: c.Say("request"), text: apitype.TextOf(call.Notes)})
	column := factLabel
	for _, f := range slices.Concat(last, result.all, []field{note, callback}) {
		if f.text != "" {
			column = max(column, render.Width(c.Say(f.label))+1)
		}
	}
	drawn := func(fields ...field) (lines []string) {
		for _, f := range fields {
			f.cells = column
			if f.text != "" {
				lines = append(lines, c.frame.Lines(f.draw(c.Styles, c.width)...)...)
			}
		}
		return lines
	}
	var gives []string
	if pledge := call.PledgeCase.Pointer(); pledge != nil { // The first one is on the band.
		room := c.width - render.Width(c.Say(card.GivesWord(pledge.Status))) - 1
		gives = drawn(givesOf(c.Env, pledge, room)[1:]...)
	}
	told := drawn(last...)
	if tight {
		gives, told = nil, append(gives, told...)
	}
	gives = append(drawn(callback, note), gives...)
	c.rule = checkRuleOf(c)
	check := append([]string{c.rule}, c.checkLines(tight)...)
	if c.fixing() != nil {
		return [][]string{check}
	}
	if tight {
		return [][]string{gives, check, told, drawn(result.all...)}
	}
	return [][]string{append(gives, told...), check, drawn(result.all...)}
}

// detailsOf returns all details with their keys, if there is room. It returns nil while they are corrected.
func detailsOf(c *callCard) []string {
	if c.fixing() != nil {
		return nil
	}
	lines, _ := (&fixing{desk: c.Desk}).lines(c.Styles, c.width)
	if len(lines) == 0 {
		return nil
	}
	return append(
		[]string{
			c.frame.Rule(c.Styles.bold(c.Say("Details")), c.Styles.Key(c.Host.KeyOf(ActFix))+" "+c.Say("corrects")),
		},
		c.frame.Lines(lines...)...)
}

// headLine returns the type of the call, its age, its attempts, the time on the card, and the charity.
func (c *callCard) headLine() string {
	s, call, now := c.Styles, c.Day.Call, c.Day.Now()
	kind := s.kind(call.Type)(strings.ToUpper(Clean(c.Say(render.Words(string(call.Type))))))
	spent := now.Sub(c.Day.Card().Since())
	whose, aside := c.Day.Card().Whose(), ""
	if minutes := int(spent.Minutes()); minutes > 0 { // It changes once a minute.
		aside = s.Dim(s.DueSign + " " + c.Say("%d min", minutes))
	} else if whose != "" {
		aside = s.Dim(s.DueSign)
	}
	if !c.Day.Card().Dialled().IsZero() {
		aside = s.bold(s.DueSign + " " + pause.SpentText(spent))
	}
	if whose != "" {
		aside += " " + Clean(c.Say(whose))
	}
	age := now.Sub(call.RequestedAt.Time)
	short := string(render.AppendAge(nil, max(age, 0)))
	tries, most := c.Day.Card().Tries()
	ago, title := c.Day.Ago(call.RequestedAt.Time), ""
	for _, words := range [][]string{
		{c.Say("requested") + " " + ago, tries + most},
		{c.Say("requested") + " " + ago, tries},
		{ago, tries},
		{short, tries},
		{short},
	} {
		if age > overdue {
			words[0] = s.bold(words[0])
		}
		title = kind + " · " + strings.Join(words, " · ")
		if !c.Day.IsCallRead() {
			title = c.Say("checking… ") + "· " + title // In front: the line may be cut.
		}
		if render.Width(title)+render.Width(aside)+4 <= c.width {
			break
		}
	}
	if long := c.Say("reserved for you"); whose == "reserved" {
		room := c.width - 4 - render.Width(title) - render.Width(aside)
		if render.Width(long)-render.Width(c.Say(whose)) <= room {
			aside = strings.TrimSuffix(aside, c.Say(whose)) + long
		}
	}
	return c.frame.Top(title, aside)
}

// nameLines returns the full name of the donor, with language and age.
func (d *Desk) nameLines(p *apitype.Person, width int) []string {
	name, right := d.name(), ""
	if is := d.Day.Form().CorrectedPerson(); is != nil {
		name = ansi.Strip(d.turned(name, Clean(render.PersonName(*is))))
		was, now := d.Day.Card().About(*p), d.Day.Card().About(*is)
		if p.Language != is.Language && apitype.TextOf(p.Language) != apitype.TextOf(is.Language) &&
			apitype.TextOf(p.Language) != "" {
			now[0] = ansi.Strip(d.turned(was[0], now[0]))
		}
		right = Clean(strings.Join(now, " · "))
	}
	if room := width - render.Width(right) - 1; render.Width(name) <= room {
		return []string{d.Styles.bold(widget.Fit(name, room)) + " " + right}
	}
	var lines []string
	for _, part := range widget.Wrap(name, width) {
		lines = append(lines, d.Styles.bold(part))
	}
	return append(lines, widget.FitRight(right, width))
}

// numberLines returns the numbers to dial as links of the terminal, on one line if they fit. The number that the key
// dials next names the key.
func (c *callCard) numberLines(p *apitype.Person) []string {
	if p == nil {
		return nil
	}
	is := c.Day.Form().CorrectedPerson()
	next, _ := c.Day.Card().NextNumber()
	var all []string
	for _, n := range []struct {
		kind    string
		was, is *string
	}{{"mobile", p.MobilePhoneNumber, is.MobilePhoneNumber}, {"home", p.PhoneNumber, is.PhoneNumber}} {
		was, is := Clean(c.Day.Locale.Spoken(apitype.TextOf(n.was))), Clean(c.Day.Locale.Spoken(apitype.TextOf(n.is)))
		if was == "" && is == "" {
			continue
		}
		number := c.Styles.bold(was)
		if was != is {
			number = c.turned(was, is)
		} else if c.Day.Card().IsStruck(n.kind) {
			number = c.Styles.Dim(was) + " " + c.Styles.Warn(c.Say("no such number"))
		}
		link := ansi.SetHyperlink(telLink(apitype.TextOf(n.is)))
		number = link + number + ansi.ResetHyperlink() + "  " + c.Say(n.kind)
		if at := c.Day.Card().Rang(n.kind); !at.IsZero() {
			number += " " + c.Styles.Dim(c.Say("called %s", at.Format("15:04")))
		}
		if n.kind == next.Kind {
			number += "  " + c.Styles.Key(c.Host.KeyOf(ActDial)) + " " + c.Say("dials")
		}
		all = append(all, number)
	}
	if len(all) == 0 {
		return []string{c.Say("no number is known")}
	}
	if line := strings.Join(all, "    "); len(all) > 1 && render.Width(line) <= c.width && c.height < 27 {
		all = []string{line}
	}
	hint := " · " + c.Styles.Key(c.Host.KeyOf(ActCopy)) + " " + c.Say("copies")
	if render.Width(all[0]+hint) <= c.width {
		all[0] += hint
	}
	return all
}

// telLink returns the address of a number. It contains digits only, whatever the record has.
func telLink(number string) string {
	return "tel:" + strings.Map(func(r rune) rune {
		if r == '+' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, number)
}

// givesOf returns the donation, its start and its charity.
func givesOf(e *Env, p *apitype.Pledge, room int) []field {
	if p == nil {
		return nil
	}
	gives := e.euros(p.DonationAmount) + " " + e.Say(render.Words(string(p.DonationInterval)))
	began, status := "", " · "
	if p.InitialDonationAmount != p.DonationAmount || p.InitialDonationInterval != p.DonationInterval {
		began = e.Say("at first") + " " + e.euros(p.InitialDonationAmount) + " " +
			e.Say(render.Words(string(p.InitialDonationInterval)))
	}
	if sign, _ := e.Styles.status(string(p.Status)); p.Status != apitype.PledgeLead && sign != "" {
		status += sign + " "
	}
	status += e.Say(card.PledgeWords(p.Status))
	word, day := e.Day.Card().Joined(*p)
	since := " · " + e.Say(word) + " " + e.Day.Date(e.Day.Locale.Date(day, "2 January 2006"))
	to := e.Day.Card().GivesTo(*p)
	if began != "" && render.Width(gives+", "+began+status) <= room {
		gives += ", " + began
	} else if began != "" {
		to = strings.TrimPrefix(to+" · "+began, " · ")
	}
	gives += status
	if render.Width(gives+since) <= room {
		gives += since
	} else {
		to = strings.TrimPrefix(to+since, " · ")
	}
	return []field{
		{label: e.Say(card.GivesWord(p.Status)), text: gives, role: e.Styles.bold},
		{label: e.Say("to"), text: to},
	}
}

// historyLines returns the contacts in a column of their own.
func (d *Desk) historyLines(width, most int) []string {
	var lines []string
	for _, text := range d.Day.Card().Contacts()[:min(len(d.Day.Card().Contacts()), most)] {
		for _, line := range cleanLines(text) {
			lines = append(lines, widget.Wrap(line, width)...)
		}
	}
	if len(lines) == 0 {
		lines = widget.Wrap(d.Say("No agent has called this donor before."), width)
	}
	return lines
}

package page

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// How much of the contacts with a donor is shown: on the card, and where they have a column
// of their own.
const (
	mostLatest   = 3
	mostContacts = 20
)

// twoColumns is the width from which contacts stand beside the facts, in cells.
const twoColumns = 90

// overdue is the age from which a call has waited too long.
const overdue = 14 * 24 * time.Hour

// facts returns everything known of the call: what is read aloud first, then the last contacts,
// then what is checked. Where the room in lines allows it, they stand apart.
func (d *Desk) facts(width, room int) []string {
	switch {
	case d.layout.Panes == 3 && len(d.Day.Card.Script) == 0:
		return apart(d.factSections(width, 0), room) // The contacts have the pane of the script.
	case width < twoColumns:
		return apart(d.factSections(width, mostLatest), room)
	}
	left := (width - ruleWidth) * 3 / 5
	right := width - ruleWidth - left
	facts, contacts := apart(d.factSections(left, 0), room), d.historyLines(right, mostContacts)
	contacts = append([]string{d.Styles.head(widget.Fit("Contacts", right))}, contacts...)
	height := max(len(facts), len(contacts))
	return widget.Beside(d.Styles.Dim(d.Styles.rule), widget.Block(facts, left, height), widget.Block(contacts, right, height))
}

// factSections returns the facts in the order in which they are looked for.
func (d *Desk) factSections(width, contacts int) [][]string {
	call := d.Day.Call
	person := call.Person.Pointer()
	drawn := func(label string, fields []field) (lines []string) {
		for i, f := range fields {
			if i == 0 {
				f.label = label
			}
			lines = append(lines, f.draw(d.Styles, width)...)
		}
		return lines
	}
	var left, last, asked, result []field
	for _, text := range d.Day.Card.Contacts()[:min(len(d.Day.Card.Contacts()), contacts)] {
		last = append(last, field{text: text})
	}
	if notes := desk.Value(call.Notes); notes != "" {
		asked = []field{{text: notes}}
	}
	if r := call.Result.Pointer(); r != nil {
		result = d.resultFields(call.Type, *r)
	}
	if notes := d.Day.Form.NextNotes(); notes != "" {
		left = []field{{text: notes}}
	}
	wrap := func(text string) []string { return widget.Wrap(text, width) }
	var sections [][]string
	for _, lines := range [][]string{
		{widget.Fit(d.headLine(), width)},
		d.nameLines(person, width),
		append(d.numberLines(person, width), d.warningLines(*call, wrap)...),
		drawn("note", left),
		drawn(desk.GivesWord(call.PledgeCase.Value().Status), d.givesFields(call.PledgeCase.Pointer())),
		append(drawn("last", last), drawn("asked", asked)...),
		drawn("check", d.checkFields(person, width)),
		drawn("result", result),
	} {
		if len(lines) > 0 {
			sections = append(sections, lines)
		}
	}
	return sections
}

// apart joins sections, with an empty line between two of them as far as the room allows:
// those in front are loudest.
func apart(sections [][]string, room int) []string {
	spare := room
	for _, lines := range sections {
		spare -= len(lines)
	}
	var joined []string
	for i, lines := range sections {
		if i > 0 && spare > 0 {
			joined, spare = append(joined, ""), spare-1
		}
		joined = append(joined, lines...)
	}
	return joined
}

// headLine returns what the call is for, how long it has waited, and how often it was tried.
func (d *Desk) headLine() string {
	s, call := d.Styles, d.Day.Call
	kind := s.kind(call.Type)(strings.ToUpper(Clean(render.Words(string(call.Type)))))
	asked := "asked for " + render.Ago(call.RequestedAt.Time, d.Day.Now())
	if d.Day.Now().Sub(call.RequestedAt.Time) > overdue {
		asked = s.bold(asked)
	}
	text := kind + " · " + asked + " · " + d.Day.Card.Tries(*call)
	if !d.Day.Checked {
		text = "checking… · " + text // In front: the line may be cut.
	}
	return text
}

// nameLines returns who the call is for, whole, with language and age.
func (d *Desk) nameLines(p *apitype.Person, width int) []string {
	var about []string
	if p != nil {
		about = d.Day.Card.About(*p)
	}
	name, right := d.name(), Clean(strings.Join(about, " · "))
	if is := d.Day.Form.CorrectedPerson(); is != nil {
		name = ansi.Strip(d.turned(name, Clean(render.PersonName(*is))))
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

// numberWidth is the column of numbers, in cells; where a longer one stands it is wider.
const numberWidth = 18

func (d *Desk) numberLines(p *apitype.Person, width int) []string {
	if p == nil {
		return nil
	}
	var lines []string
	column, copied, is := numberWidth, false, d.Day.Form.CorrectedPerson()
	for _, n := range desk.Numbers(p) {
		column = max(column, len(d.Day.Locale.Spoken(n.Digits))+2)
	}
	for _, n := range []struct {
		kind    string
		was, is *string
	}{{"mobile", p.MobilePhoneNumber, is.MobilePhoneNumber}, {"home", p.PhoneNumber, is.PhoneNumber}} {
		was, is := Clean(d.Day.Locale.Spoken(desk.Value(n.was))), Clean(d.Day.Locale.Spoken(desk.Value(n.is)))
		if was == "" && is == "" {
			continue
		}
		line := "    " + d.Styles.bold(widget.Fit(was, column)) + n.kind
		if was != is {
			line = "    " + d.turned(was, is) + "  " + n.kind
		}
		if hint := "   " + d.Styles.Key(d.Host.KeyOf(ActCopy)) + " copies it"; was != "" && !copied && render.Width(line+hint) <= width {
			line += hint
		}
		copied = copied || was != ""
		lines = append(lines, widget.Fit(line, width))
	}
	if len(lines) == 0 {
		lines = []string{widget.Fit("    no number is known", width)}
	}
	return lines
}

// givesFields returns what the donor gives, to whom, and since when.
func (d *Desk) givesFields(p *apitype.Pledge) []field {
	if p == nil {
		return nil
	}
	amount, interval, end := d.euros(p.DonationAmount), render.Words(string(p.DonationInterval)), ""
	for _, f := range d.Day.Form.Corrected() {
		switch is, _ := apitype.ParseAmount(f.Is); {
		case f.IsAmount():
			amount = d.turned(amount, d.euros(is))
		case f.IsInterval():
			interval = d.turned(interval, render.Words(f.Is))
		case f.Key == "endsAt":
			end = "ends " + d.turned(f.Was, f.Is)
		}
	}
	gives := ansi.Strip(amount + " " + interval + " · " + d.pledgeStatus(p.Status))
	if p.InitialDonationAmount != p.DonationAmount || p.InitialDonationInterval != p.DonationInterval {
		gives += ", at first " + d.euros(p.InitialDonationAmount) + " " + render.Words(string(p.InitialDonationInterval))
	}
	fields := []field{{text: gives}, {text: d.Day.Card.GivesTo(*p)}}
	if end != "" {
		fields = append(fields, field{text: ansi.Strip(end)})
	}
	return fields
}

func (e *Env) pledgeStatus(status apitype.PledgeStatus) string {
	sign := ""
	switch status {
	case apitype.PledgeActive:
		sign = e.Styles.OKSign + " "
	case apitype.PledgeCancelled, apitype.PledgeDropped:
		sign = e.Styles.badSign + " "
	}
	return sign + desk.PledgeWords(status)
}

// historyLines returns the contacts in a column of their own.
func (d *Desk) historyLines(width, most int) []string {
	var lines []string
	for _, text := range d.Day.Card.Contacts()[:min(len(d.Day.Card.Contacts()), most)] {
		for _, line := range cleanLines(text) {
			lines = append(lines, widget.Wrap(line, width)...)
		}
	}
	if len(lines) == 0 {
		lines = widget.Wrap("Nobody has reached or tried this donor before.", width)
	}
	return lines
}

// checkFields returns the person's details, as an agent goes through them.
func (d *Desk) checkFields(p *apitype.Person, width int) []field {
	if p == nil {
		return nil
	}
	var fields []field
	add := func(text string) {
		if strings.TrimSpace(text) != "" {
			fields = append(fields, field{text: text})
		}
	}
	is := d.Day.Form.CorrectedPerson()
	turned := func(before, was, now string) {
		if was != "" || now != "" {
			add(before + ansi.Strip(d.turned(was, now)))
		}
	}
	born := func(p *apitype.Person) string {
		if p.DateOfBirth == nil {
			return ""
		}
		return d.Day.Locale.Date(p.DateOfBirth.Midnight(), "2 January 2006")
	}
	address, hint := ansi.Strip(d.turned(desk.Address(p.Address.Pointer()), desk.Address(is.Address.Pointer()))), "   "+d.Host.KeyOf(ActFix)+" corrects"
	if labelWidth+render.Width(address+hint) <= width {
		address += hint
	}
	add(address)
	if was := desk.Value(p.Initials); was != desk.Value(is.Initials) {
		turned("initials ", was, desk.Value(is.Initials))
	}
	turned("", desk.Value(p.Email), desk.Value(is.Email))
	turned("born ", born(p), born(is))
	switch was := desk.Value(p.IBAN); {
	case was != desk.Value(is.IBAN):
		turned("IBAN ", d.iban(was), desk.Value(is.IBAN))
	case was != "":
		add(d.iban(was) + d.revealHint())
	}
	if was := desk.Value(p.Language); was != desk.Value(is.Language) {
		turned("language ", was, desk.Value(is.Language))
	}
	if number := p.SocialSecurityNumber.Pointer(); number != nil {
		add("social security number " + d.digits(*number))
	}
	add(d.optInSigns(*p))
	return fields
}

func (d *Desk) revealHint() string {
	if d.Day.Card.IsRevealed {
		return ""
	}
	return "   " + d.Host.KeyOf(ActReveal) + " shows it"
}

// optInSigns returns the ways on which a person may be reached, each with its sign.
func (d *Desk) optInSigns(p apitype.Person) string {
	sign := func(in *bool) string {
		switch {
		case in == nil:
			return "?"
		case *in:
			return d.Styles.OKSign
		default:
			return d.Styles.badSign
		}
	}
	var parts []string
	is := desk.OptIns(*d.Day.Form.CorrectedPerson())
	for i, o := range desk.OptIns(p) {
		parts = append(parts, o.Name+" "+ansi.Strip(d.turned(sign(o.In), sign(is[i].In))))
	}
	return strings.Join(parts, "  ")
}

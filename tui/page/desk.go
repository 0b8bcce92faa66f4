package page

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/card"
	"fundesk/tui/widget"
)

// Desk is the page where an agent works one call after the other.
type Desk struct {
	*Env
	notes   widget.TextArea
	writing bool         // The notes have the focus.
	shown   apitype.UUID // The call on screen; zero when none is.
	view    widget.Scroll
	layout  Layout
	ahead   int        // Keys that wait for the call that is being read.
	at      int        // The fact that space ticks.
	ticked  *card.Fact // The fact that the last key ticked, as it was before. Nil without one.
	moved   bool       // The agent is at the facts: that one stays in sight.
}

// NewDesk returns the page of the Desk.
func NewDesk(s *Env) *Desk { return &Desk{Env: s} }

// Waits implements Waiter.
func (d *Desk) Waits() bool { return d.Day.IsReading() }

// Open implements Page.
func (d *Desk) Open() tea.Cmd { return nil }

// Resize implements Page.
func (d *Desk) Resize(l Layout) { d.layout = l }

// Scopes implements Page.
func (d *Desk) Scopes() []Scope {
	if d.writing {
		return []Scope{ScopeNotes}
	}
	return []Scope{ScopeDesk}
}

// Typing reports whether keys are text for the notes.
func (d *Desk) Typing() bool { return d.writing }

// Text types into the notes.
func (d *Desk) Text(msg tea.Msg) tea.Cmd {
	changed, cmd := d.notes.Update(msg)
	if changed {
		d.Day.Form().SetNotes(d.notes.Value())
	}
	return cmd
}

// Follow shows another call or other notes of the day. Questions wait until the Desk is in front and no text is typed.
func (d *Desk) Follow(inFront bool) {
	var id apitype.UUID
	if d.Day.Call != nil {
		id = d.Day.Call.UUID
	}
	if id != d.shown {
		d.shown, d.writing, d.view, d.at, d.moved, d.ticked = id, false, widget.Scroll{}, 0, false, nil
		if _, asked := d.Dialog.(Inline); asked {
			d.Dialog = nil // Its answer would be for another call.
		}
	}
	isTyped := d.writing || d.ahead > 0
	mayAsk := d.Dialog == nil && !isTyped
	if mayAsk && d.Day.Refused.Asks() {
		if a := d.Questions.Overtaken(func() ask.Answer { return ask.Answer{} }); a.Next != nil {
			a.Next.IsLate = true
			d.ask(a.Next, nil) // Nothing is performed here: that would follow again.
		}
	}
	mayAsk = d.Dialog == nil && !isTyped
	if mayAsk && inFront && d.Day.Caller != nil {
		caller := *d.Day.Caller
		d.Day.Caller = nil
		d.ask(d.Questions.NewCall(caller), nil)
		choice, _ := d.Dialog.(*Choose)
		choice.Options = append(
			choice.Options,
			Option{
				Key:   "o",
				Label: "open the person",
				Run:   func() tea.Cmd { return d.Host.Jump(Reference{apitype.EntityPerson, caller.ID}) },
			},
		)
	}
	if d.notes.Value() != d.Day.Form().Notes {
		d.notes.SetValue(d.Day.Form().Notes)
	}
}

// AcceptOrOpen opens the offered change. Without an offer it takes the first call, or offers the last ones.
func (d *Desk) AcceptOrOpen() tea.Cmd {
	if d.Day.Transitions.IsProposed() {
		if why := d.Day.Transitions.WhyNotAccept(); why != "" {
			d.Messages.Refuse(why)
			return nil
		}
		return d.Host.Perform(d.Day.Transitions.Accept())
	}
	if len(d.Day.Changes.Recent) > 0 {
		return d.AskRecent()
	}
	if d.Day.Call == nil {
		return d.Host.Perform(d.Day.Next())
	}
	d.Messages.Refuse(d.WhyNot("last-calls"))
	return nil
}

// Refresh implements Page.
func (d *Desk) Refresh() tea.Cmd { return d.Host.Perform(d.Day.Refresh()) }

// Write moves the keys to the notes.
func (d *Desk) Write() tea.Cmd { return d.onceWarned(func() { d.writing = true }) }

// onceWarned begins work on a donor and keeps the lease. It asks once if the donor is not this agent's alone.
func (d *Desk) onceWarned(then func()) tea.Cmd {
	begin := func() ask.Answer {
		then()
		return ask.Answer{Events: d.Day.KeepLease()}
	}
	asks := d.Questions.Warned(begin)
	if asks != nil && d.ahead == 0 {
		return d.ask(asks, nil)
	}
	return d.Answer(begin(), nil)
}

// LeaveNotes takes the keys back from the notes.
func (d *Desk) LeaveNotes() tea.Cmd {
	d.writing = false
	d.Day.Changes.Drafts.FlushSoon()
	return nil
}

// OpenPerson opens the call's person.
func (d *Desk) OpenPerson() tea.Cmd {
	return d.Host.Jump(Reference{apitype.EntityPerson, d.Day.Call.PersonUUID})
}

// OpenPledge opens the call's pledge.
func (d *Desk) OpenPledge() tea.Cmd {
	return d.Host.Jump(Reference{apitype.EntityPledge, *d.Day.Call.RelatedCaseUUID})
}

// Scroll implements Page.
func (d *Desk) Scroll(by Step) tea.Cmd {
	rows := rowsOf(by, max(d.layout.Body/2, 1), 0)
	if d.Day.Call != nil && (by == Up || by == Down) { // From fact to fact; beyond the last one the card scrolls.
		if to := d.at + rows; to >= 0 && to < len(d.Day.Card().Facts(d.sign)) {
			d.at, d.moved = to, true
			return nil
		}
	}
	d.moved = false
	d.view.By(rows)
	return nil
}

// CopyNumber copies the number to dial, or offers what else there is.
func (d *Desk) CopyNumber() tea.Cmd {
	if all := card.Numbers(d.Day.Call.Person.Pointer()); len(all) > 0 {
		return copyText(d.Say("%s number", d.Say(all[0].Kind)), all[0].Digits)
	}
	return d.AskCopy()
}

// Click dials the number at a cell of the page, if one is there and the profile leaves dialling to the Desk.
func (d *Desk) Click(x, y int) (tea.Cmd, bool) {
	lines := d.Lines(d.layout)
	isOnPage := y >= 0 && y < len(lines)
	if d.Day.Call == nil || !isOnPage || d.Host.KeyOf(ActDial) == ActDial {
		return nil, false
	}
	for _, n := range card.Numbers(d.Day.Call.Person.Pointer()) {
		number := Clean(d.Day.Locale.Spoken(n.Digits))
		before, _, found := strings.Cut(ansi.Strip(lines[y]), number)
		if from := render.Width(before); found && x >= from && x < from+render.Width(number) {
			return d.Answer(d.Questions.DialNumber(n), nil), false
		}
	}
	return nil, false
}

// AskCopy offers what an agent copies of a call.
func (d *Desk) AskCopy() tea.Cmd {
	var options []Option
	for _, c := range d.Day.Card().Copies() {
		options = append(
			options,
			Option{
				Label: d.Say(c.Name) + "  " + Clean(c.Text),
				Run:   func() tea.Cmd { return copyText(d.Say(c.Name), c.Text) },
			},
		)
	}
	d.Dialog = NewChoice("Copy", "", options)
	return nil
}

// skippedName is the column of names among the calls passed over, in cells.
const skippedName = 22

// ShowSkipped lists the calls that n passes over.
func (d *Desk) ShowSkipped() tea.Cmd {
	var lines []string
	for _, p := range d.Day.Walk.PassedOver() {
		lines = append(
			lines,
			widget.Fit(Clean(cmp.Or(p.Name, d.Say("call %s", render.ShortID(p.ID)))), skippedName)+"  "+
				Clean(d.Say(p.Reason)),
		)
	}
	if len(lines) == 0 {
		lines = []string{d.Say("No call was passed over so far.")}
	}
	d.Dialog = &Text{Title: "Passed over", Lines: lines}
	return nil
}

// name returns the donor's name, cleaned for drawing.
func (d *Desk) name() string { return Clean(d.Day.Name()) }

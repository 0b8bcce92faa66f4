package page

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
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
	ahead   int          // Keys that wait for the call that is being read.
	warned  apitype.UUID // The call for which the agent goes on although another one has the donor.
}

// NewDesk is the page of the Desk.
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
		d.Day.Form.SetNotes(d.notes.Value())
	}
	return cmd
}

// Follow shows what the day has come to: another call, or other notes. What has to be asked
// waits until the desk is in front and nothing is typed.
func (d *Desk) Follow(inFront bool) {
	var id apitype.UUID
	if d.Day.Call != nil {
		id = d.Day.Call.UUID
	}
	if id != d.shown {
		d.shown, d.writing, d.view = id, false, widget.Scroll{}
		if _, asked := d.Dialog.(Inline); asked {
			d.Dialog = nil // Its answer would be for another call.
		}
	}
	if d.Day.Form.HasConflict() && d.Dialog == nil && !d.writing {
		d.askOvertaken(func() tea.Cmd { return nil })
		if ask, is := d.Dialog.(*Ask); is {
			ask.openAt = d.Day.Now().Add(unseen)
		}
	}
	if d.Day.Caller != nil && d.Dialog == nil && inFront && !d.writing {
		d.askNewCall(*d.Day.Caller)
		d.Day.Caller = nil
	}
	if d.notes.Value() != d.Day.Form.Notes {
		d.notes.SetValue(d.Day.Form.Notes)
	}
}

// WhyNoCall is what speaks against all that is about the call on the desk.
func (d *Desk) WhyNoCall() string {
	if d.Day.Call == nil {
		return "no call on the desk: " + d.Host.KeyOf(ActNext) + " takes the next one"
	}
	return ""
}

// AcceptOrOpen opens what is offered. Where nothing is, it takes the first call, or offers the last
// ones.
func (d *Desk) AcceptOrOpen() tea.Cmd {
	switch {
	case d.Day.Gate.IsOffered():
		if why := d.Day.Gate.WhyNotAccept(); why != "" {
			d.Messages.Refuse(why)
			return nil
		}
		return d.Host.Perform(d.Day.Gate.Accept())
	case len(d.Day.Recent) > 0:
		return d.AskRecent()
	case d.Day.Call == nil:
		return d.Host.Perform(d.Day.Next())
	default:
		d.Messages.Refuse(d.WhyNoRecent())
		return nil
	}
}

// WhyNotEnd says why the call cannot be ended.
func (d *Desk) WhyNotEnd() string {
	if why := d.WhyNoCall(); why != "" {
		return why
	}
	return d.Day.Form.Ended()
}

// WhyNotComplete says why the call cannot be completed.
func (d *Desk) WhyNotComplete() string {
	if why := d.WhyNoCall(); why != "" {
		return why
	}
	why := d.Day.Form.WhyNotComplete()
	half, _ := d.Day.Form.HalfAddress()
	switch {
	case why != "" && d.Day.Form.Code == "":
		return why + ": " + d.Host.KeyOf(ActResult)
	case why != "" && why == half:
		return why + ": " + d.Host.KeyOf(ActFix)
	case why != "" && d.Day.Form.Ended() == "":
		return why + ": " + d.Host.KeyOf(ActNotes)
	default:
		return why
	}
}

// WhyNoPledge says why there is no pledge to open.
func (d *Desk) WhyNoPledge() string {
	if d.Day.Call != nil && d.Day.Call.RelatedCaseUUID == nil {
		return "the call has no pledge"
	}
	return d.WhyNoCall()
}

// WhyNoDraft says why there is no draft to go on with.
func (d *Desk) WhyNoDraft() string {
	if len(d.Day.Changes.Drafts) == 0 {
		return "there is no draft"
	}
	return ""
}

// Refresh implements Page.
func (d *Desk) Refresh() tea.Cmd { return d.Host.Perform(d.Day.Refresh()) }

// Write gives the keys to the notes.
func (d *Desk) Write() tea.Cmd {
	return d.onceWarned(func() tea.Cmd {
		d.writing = true
		return nil
	})
}

// onceWarned asks once, before work on a donor whom another agent has on the screen.
func (d *Desk) onceWarned(then func() tea.Cmd) tea.Cmd {
	call, text := d.Day.Call.UUID, d.Day.Card.HolderText()
	if text == "" || d.warned == call || d.ahead > 0 {
		return then()
	}
	d.Dialog = &Confirm{Title: "Another agent has this donor", Lines: []string{Clean(text) + ". Go on all the same?"}, Yes: func() tea.Cmd {
		if d.warned = call; !d.Day.IsOn(call) {
			return nil
		}
		return then()
	}}
	return nil
}

// LeaveNotes takes the keys back from the notes.
func (d *Desk) LeaveNotes() tea.Cmd {
	d.writing = false
	d.Day.Changes.Autosave.FlushSoon()
	return nil
}

// NotReached records an attempt. Where notes were typed it asks where they go.
func (d *Desk) NotReached() tea.Cmd {
	if !d.Day.Form.AsksWhereNotes() {
		return d.Host.Perform(d.Day.NotReached())
	}
	call := d.Day.Call.UUID
	end := func(with func() []desk.Event) func() tea.Cmd {
		return func() tea.Cmd {
			if !d.Day.IsOn(call) {
				return nil // The call went while the question stood.
			}
			return d.Host.Perform(with())
		}
	}
	d.Dialog = NewChoice("Not reached: where do your notes go?", "", []Option{
		{Key: "n", Label: "with the attempt: whoever calls next reads them", Run: end(d.Day.NotReachedWithNote)},
		{Key: "d", Label: "into a draft: only you see them", Run: end(d.Day.NotReached)},
	})
	return nil
}

// OpenPerson opens the call's person.
func (d *Desk) OpenPerson() tea.Cmd { return d.Host.Jump(Reference{KindPerson, d.Day.Call.PersonUUID}) }

// OpenPledge opens the call's pledge.
func (d *Desk) OpenPledge() tea.Cmd {
	return d.Host.Jump(Reference{KindPledge, *d.Day.Call.RelatedCaseUUID})
}

// Scroll implements Page.
func (d *Desk) Scroll(by Step) tea.Cmd {
	d.view.By(rowsOf(by, max(d.layout.Body/2, 1), 0))
	return nil
}

// AskCancel asks before the call is cancelled.
func (d *Desk) AskCancel() tea.Cmd {
	return d.askEnd("Cancel", "The donor is not rung for this any more. It counts as called off, not as tried in vain.", d.Day.CancelCall)
}

// AskExpire asks before the call is expired.
func (d *Desk) AskExpire() tea.Cmd {
	return d.askEnd("Expire", "The donor was not reached, and is not rung for this any more. It counts as tried in vain.", d.Day.ExpireCall)
}

// askEnd asks before a call is ended without a result, and says what it means for the donor.
func (d *Desk) askEnd(title, means string, end func() []desk.Event) tea.Cmd {
	call := d.Day.Call
	lines := []string{title + " the call to " + d.name() + ", asked for " + render.Ago(call.RequestedAt.Time, d.Day.Now()) + "?", means}
	if d.Day.Form.HasDraft() {
		lines = append(lines, "What you typed is not sent with it; it stays as a draft.")
	}
	d.Dialog = &Confirm{Title: title + " the call", Lines: lines, Yes: func() tea.Cmd {
		if !d.Day.IsOn(call.UUID) {
			return nil // The call went while the question stood.
		}
		return d.Host.Perform(end())
	}}
	return nil
}

// CopyNumber copies the number to dial, or offers what else there is.
func (d *Desk) CopyNumber() tea.Cmd {
	if all := desk.Numbers(d.Day.Call.Person.Pointer()); len(all) > 0 {
		return copyText(all[0].Kind+" number", all[0].Digits)
	}
	return d.AskCopy()
}

// AskCopy offers what an agent copies of a call.
func (d *Desk) AskCopy() tea.Cmd {
	var options []Option
	add := func(what, text string) {
		if text != "" {
			options = append(options, Option{Label: what + "  " + Clean(text), Run: func() tea.Cmd { return copyText(what, text) }})
		}
	}
	p := d.Day.Call.Person.Pointer()
	for _, n := range desk.Numbers(p) {
		add(n.Kind, n.Digits)
	}
	if p != nil {
		add("e-mail", desk.Value(p.Email))
	}
	add("call", d.Day.Call.UUID.String())
	add("person", d.Day.Call.PersonUUID.String())
	if d.Day.Call.RelatedCaseUUID != nil {
		add("pledge", d.Day.Call.RelatedCaseUUID.String())
	}
	d.Dialog = NewChoice("Copy", "", options)
	return nil
}

// skippedName is the column of names among the calls passed over, in cells.
const skippedName = 22

// ShowSkipped lists the calls that n passes over.
func (d *Desk) ShowSkipped() tea.Cmd {
	var lines []string
	for _, p := range d.Day.PassedOver() {
		lines = append(lines, widget.Fit(Clean(cmp.Or(p.Name, "call "+desk.ShortID(p.ID))), skippedName)+"  "+Clean(p.Reason))
	}
	if len(lines) == 0 {
		lines = []string{"No call was passed over so far."}
	}
	d.Dialog = &Text{Title: "Passed over", Lines: lines}
	return nil
}

// name is who the call on the desk is for, as it may be drawn.
func (d *Desk) name() string { return Clean(d.Day.Name()) }

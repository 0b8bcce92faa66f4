package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// deskView is the page where an agent works one call after the other.
type deskView struct {
	*shell
	notes   widget.TextArea
	writing bool         // The notes have the focus.
	shown   apitype.UUID // The call on screen; zero when none is.
	top     int          // The first line in sight.
	layout  layout
}

func newDesk(s *shell) *deskView { return &deskView{shell: s} }

func (d *deskView) open() tea.Cmd { return nil }

func (d *deskView) resize(l layout) { d.layout = l }

func (d *deskView) scopes() []scope {
	if d.writing {
		return []scope{scopeNotes}
	}
	return []scope{scopeDesk}
}

func (d *deskView) typing() bool { return d.writing }

// text types into the notes.
func (d *deskView) text(msg tea.Msg) tea.Cmd {
	changed, cmd := d.notes.Update(msg)
	if changed {
		d.SetNotes(d.notes.Value())
	}
	return cmd
}

// follow shows what the day has come to: another call, or other notes.
func (d *deskView) follow() {
	var id apitype.UUID
	if d.Call != nil {
		id = d.Call.UUID
	}
	if id != d.shown {
		d.shown, d.writing, d.top = id, false, 0
	}
	if d.notes.Value() != d.Form.Notes {
		d.notes.SetValue(d.Form.Notes)
	}
}

// receive shows what an editor saved. It is on disk already.
func (d *deskView) receive(r result) tea.Cmd {
	edited, ok := r.value.(editedNotes)
	if !ok {
		return nil
	}
	switch {
	case r.err != nil && edited.changed:
		d.fail("the editor failed, and what it had saved was taken", r.err)
	case r.err != nil:
		d.fail("cannot edit the notes", r.err)
	}
	if edited.changed {
		d.Edited(edited.draft)
	}
	return d.perform(nil)
}

// whyNoCall is what speaks against all that is about the call on the desk.
func (d *deskView) whyNoCall() string {
	if d.Call == nil {
		return "no call on the desk: " + d.keys.keyOf(actNext) + " takes the next one"
	}
	return ""
}

func (d *deskView) whyNotNext() string {
	if d.Call == nil && d.IsDone() {
		return "no requested call is left that may be rung now: " + d.keys.keyOf(actRefresh) + " asks again"
	}
	return ""
}

func (d *deskView) whyNotEnd() string {
	if why := d.whyNoCall(); why != "" {
		return why
	}
	return d.Ended()
}

func (d *deskView) whyNotComplete() string {
	if d.Call != nil && d.Form.Code == "" {
		return "choose the result first: " + d.keys.keyOf(actResult)
	}
	return d.whyNotEnd()
}

func (d *deskView) whyNoPledge() string {
	if d.Call != nil && d.Call.RelatedCaseUUID == nil {
		return "the call has no pledge"
	}
	return d.whyNoCall()
}

func (d *deskView) whyNoDraft() string {
	if len(d.Drafts) == 0 {
		return "there is no draft"
	}
	return ""
}

func (d *deskView) refresh() tea.Cmd { return d.perform(d.Refresh()) }

func (d *deskView) write() tea.Cmd {
	d.writing = true
	return nil
}

func (d *deskView) leaveNotes() tea.Cmd {
	d.writing = false
	d.Autosave.FlushSoon()
	return nil
}

func (d *deskView) openPerson() tea.Cmd { return d.jump(reference{kindPerson, d.Call.PersonUUID}) }

func (d *deskView) openPledge() tea.Cmd {
	return d.jump(reference{kindPledge, *d.Call.RelatedCaseUUID})
}

func (d *deskView) scroll(by step) tea.Cmd {
	d.top = max(d.top+rowsOf(by, max(d.layout.body/2, 1), 0), 0)
	return nil
}

func (d *deskView) askCancel() tea.Cmd { return d.askEnd("Cancel", d.CancelCall) }

func (d *deskView) askExpire() tea.Cmd { return d.askEnd("Expire", d.ExpireCall) }

// askEnd asks before a call is ended without a result.
func (d *deskView) askEnd(title string, end func() []desk.Event) tea.Cmd {
	call := d.Call
	lines := []string{title + " the call to " + d.name() + ", requested " + d.ago(call.RequestedAt.Time) + "?"}
	if d.HasDraft() {
		lines = append(lines, "What you typed is not sent with it; it stays as a draft.")
	}
	d.dialog = &confirm{title: title + " the call", lines: lines, yes: func() tea.Cmd {
		if !d.IsOn(call.UUID) {
			return nil // The call went while the question stood.
		}
		return d.perform(end())
	}}
	return nil
}

// askResult offers the known result codes, or a field where there are none.
func (d *deskView) askResult() tea.Cmd {
	codes := d.Codes.All()
	if len(codes) == 0 {
		return d.typeResult()
	}
	options := make([]option, 0, len(codes)+1)
	for _, code := range codes {
		options = append(options, option{label: clean(code), run: func() tea.Cmd { return d.setResult(code) }})
	}
	options = append(options, option{key: "/", label: "another code…", run: d.typeResult})
	d.dialog = newChoice("Result", "", options)
	return nil
}

func (d *deskView) typeResult() tea.Cmd {
	p := &prompt{title: "Result code"}
	p.editor.SetValue(d.Form.Code)
	p.done = func(code string) (string, tea.Cmd) {
		code = strings.TrimSpace(code)
		if problem := desk.CheckCode(code); problem != "" {
			return problem, nil
		}
		if d.Codes.Has(code) {
			return "", d.setResult(code)
		}
		d.dialog = &confirm{
			title: "A new result code", lines: []string{"No call has had the result " + strconv.Quote(clean(code)) + " so far. Use it all the same?"},
			yes: func() tea.Cmd { return d.setResult(code) }, no: func() { d.dialog = p },
		}
		return "", nil
	}
	d.dialog = p
	return nil
}

// setResult takes a result code, and asks for the rating in its place.
func (d *deskView) setResult(code string) tea.Cmd {
	d.SetResult(code)
	return d.askRating()
}

// askRating asks for the rating, each on one key, ten on two.
func (d *deskView) askRating() tea.Cmd {
	d.dialog = &askedRating{now: d.Form.Rating, set: d.SetRating}
	return nil
}

// askCopy offers what an agent copies of a call.
func (d *deskView) askCopy() tea.Cmd {
	var options []option
	add := func(what, text string) {
		if text != "" {
			options = append(options, option{label: what + "  " + clean(text), run: func() tea.Cmd { return copyText(what, text) }})
		}
	}
	if p := d.Call.Person.Pointer(); p != nil {
		add("mobile", value(p.MobilePhoneNumber))
		add("phone", value(p.PhoneNumber))
		add("e-mail", value(p.Email))
	}
	add("call", d.Call.UUID.String())
	d.dialog = newChoice("Copy", "", options)
	return nil
}

// value is a text that may be missing.
func value[T ~string](text *T) string {
	if text == nil {
		return ""
	}
	return string(*text)
}

// skippedName is the column of names among the calls passed over, in cells.
const skippedName = 22

// showSkipped lists the calls that n passes over.
func (d *deskView) showSkipped() tea.Cmd {
	var lines []string
	for _, p := range d.PassedOver() {
		lines = append(lines, desk.ShortID(p.ID)+"  "+widget.Fit(clean(p.Name), skippedName)+"  "+clean(p.Reason))
	}
	if len(lines) == 0 {
		lines = []string{"No call was passed over so far."}
	}
	d.dialog = &text{title: "Passed over", lines: lines}
	return nil
}

// name is who the call on the desk is for, as it may be drawn.
func (d *deskView) name() string { return clean(d.Day.Name()) }

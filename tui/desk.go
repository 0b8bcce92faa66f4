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
	scroll  int
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
		d.shown, d.writing, d.scroll = id, false, 0
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

// why says what speaks against an action on the desk.
func (d *deskView) why(act action) string {
	switch act {
	case actNotReach, actResult, actRating, actNotes, actEditor, actComplete, actSkip, actCancel, actExpire, actProcessed, actPerson, actPledge, actCopy, actWarnings:
		if d.Call == nil {
			return "no call on the desk: " + d.keyOf(actNext) + " takes the next one"
		}
	case actNext:
		if d.Call == nil && d.IsDone() {
			return "no requested call is left that may be rung now: " + d.keyOf(actRefresh) + " asks again"
		}
	case actResume:
		if len(d.Drafts) == 0 {
			return "there is no draft"
		}
	}
	switch act {
	case actComplete:
		if d.Form.Code == "" {
			return "choose the result first: " + d.keyOf(actResult)
		}
		return d.Ended()
	case actNotReach, actCancel, actExpire:
		return d.Ended()
	case actPledge:
		if d.Call.RelatedCaseUUID == nil {
			return "the call has no pledge"
		}
	}
	return ""
}

func (s *shell) keyOf(act action) string {
	for _, b := range s.keys.bindings {
		if b.action == act && len(b.keys) > 0 {
			return keyName(b.keys[0])
		}
	}
	return string(act)
}

// do runs an action of the desk.
func (d *deskView) do(act action) tea.Cmd {
	switch act {
	case actNext:
		return d.perform(d.Next())
	case actSkip:
		return d.perform(d.Skip())
	case actNotReach:
		return d.perform(d.NotReached())
	case actResult:
		d.askResult()
	case actRating:
		d.askRating()
	case actNotes:
		d.writing = true
	case actBack:
		d.writing = false
		d.Autosave.FlushSoon()
	case actEditor:
		return d.editNotes()
	case actComplete:
		return d.perform(d.CompleteCall())
	case actCancel:
		d.askEnd("Cancel", d.CancelCall)
	case actExpire:
		d.askEnd("Expire", d.ExpireCall)
	case actProcessed:
		return d.perform(d.MarkProcessed())
	case actPerson:
		return d.jump(reference{kindPerson, d.Call.PersonUUID})
	case actPledge:
		return d.jump(reference{kindPledge, *d.Call.RelatedCaseUUID})
	case actCopy:
		d.askCopy()
	case actResume:
		return d.perform(d.Resume())
	case actSkipped:
		d.showSkipped()
	case actWarnings:
		d.showWarnings()
	case actRefresh:
		return d.perform(d.Refresh())
	case actDown:
		d.scroll++
	case actUp:
		d.scroll = max(d.scroll-1, 0)
	case actPageDown:
		d.scroll += max(d.layout.body/2, 1)
	case actPageUp:
		d.scroll = max(d.scroll-max(d.layout.body/2, 1), 0)
	}
	return nil
}

// askEnd asks before a call is ended without a result.
func (d *deskView) askEnd(title string, end func() []desk.Event) {
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
}

// askResult offers the known result codes, or a field where there are none.
func (d *deskView) askResult() {
	codes := d.Codes.All()
	if len(codes) == 0 {
		d.typeResult()
		return
	}
	options := make([]option, 0, len(codes)+1)
	for _, code := range codes {
		options = append(options, option{label: clean(code), run: func() tea.Cmd { return d.setResult(code) }})
	}
	options = append(options, option{key: "/", label: "another code…", run: func() tea.Cmd {
		d.typeResult()
		return nil
	}})
	d.dialog = newChoice("Result", "", options)
}

func (d *deskView) typeResult() {
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
}

// setResult takes a result code, and asks for the rating in its place.
func (d *deskView) setResult(code string) tea.Cmd {
	d.SetResult(code)
	d.askRating()
	return nil
}

// askRating asks for the rating, each on one key, ten on two.
func (d *deskView) askRating() { d.dialog = &askedRating{now: d.Form.Rating, set: d.SetRating} }

// askCopy offers what an agent copies of a call.
func (d *deskView) askCopy() {
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
func (d *deskView) showSkipped() {
	var lines []string
	for _, p := range d.PassedOver() {
		lines = append(lines, desk.ShortID(p.ID)+"  "+widget.Fit(clean(p.Name), skippedName)+"  "+clean(p.Reason))
	}
	if len(lines) == 0 {
		lines = []string{"No call was passed over so far."}
	}
	d.dialog = &text{title: "Passed over", lines: lines}
}

// name is who the call on the desk is for, as it may be drawn.
func (d *deskView) name() string { return clean(d.Day.Name()) }

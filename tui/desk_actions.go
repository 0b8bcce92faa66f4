package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/widget"
)

// why says what speaks against an action on the desk.
func (d *desk) why(act action) string {
	switch act {
	case actNotReach, actResult, actRating, actNotes, actEditor, actSkip, actCancel, actExpire, actProcessed, actPerson, actPledge, actCopy, actWarnings:
		if d.call == nil {
			return "no call on the desk: " + d.keyOf(actNext) + " takes the next one"
		}
	case actComplete:
		if d.call == nil {
			return "no call on the desk: " + d.keyOf(actNext) + " takes the next one"
		}
		if d.form.code == "" {
			return "choose the result first: " + d.keyOf(actResult)
		}
	case actNext:
		if d.call == nil && d.isDone() {
			return "no requested call is left that may be rung now: " + d.keyOf(actRefresh) + " asks again"
		}
	case actResume:
		if len(d.drafts) == 0 {
			return "there is no draft"
		}
	}
	switch act {
	case actNotReach, actComplete, actCancel, actExpire:
		if d.call.Status != apitype.CallRequested && d.call.ExternalMetadata.Pointer() == nil {
			return "the call is " + string(d.call.Status) + " already"
		}
	case actPledge:
		if d.call.RelatedCaseUUID == nil {
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
func (d *desk) do(act action) tea.Cmd {
	switch act {
	case actNext:
		if d.call != nil {
			d.queue.pass(d.call.UUID, "left for another call")
		}
		return d.next()
	case actSkip:
		d.queue.pass(d.call.UUID, "skipped by you")
		return d.next()
	case actNotReach:
		return d.notReached()
	case actResult:
		d.askResult()
	case actRating:
		d.askRating()
	case actNotes:
		d.writing = true
	case actBack:
		d.writing = false
		d.keeper.hurry()
	case actEditor:
		return d.editNotes()
	case actComplete:
		return d.completeCall()
	case actCancel:
		d.askEnd("Cancel", "cancel")
	case actExpire:
		d.askEnd("Expire", "expire")
	case actProcessed:
		return d.submit(d.markChange(apitype.EntityCall, d.call.UUID, "mark processed: "+d.name()))
	case actPerson:
		return d.jump(reference{kindPerson, d.call.PersonUUID})
	case actPledge:
		return d.jump(reference{kindPledge, *d.call.RelatedCaseUUID})
	case actCopy:
		d.askCopy()
	case actResume:
		return d.resumeDraft()
	case actSkipped:
		d.showSkipped()
	case actWarnings:
		d.showWarnings()
	case actRefresh:
		if d.call == nil {
			return d.poll()
		}
		return tea.Batch(d.reread(d.call.UUID), d.poll())
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

// giveBack makes undo put the call and its text back on the desk.
func (d *desk) giveBack(c *change) {
	call := *d.call
	draft := d.draft()
	if !draft.IsEmpty() {
		c.draft = &draft
	}
	c.undo = func() tea.Cmd {
		d.queue.away[call.UUID] = false
		d.leave()
		d.drafts = slices.DeleteFunc(d.drafts, func(x outbox.Draft) bool { return x.Call == call.UUID })
		d.wanted = false
		cmd := d.present(call)
		d.fill(draft)
		d.keep()
		return cmd
	}
}

// finishWith sends a change that ends work on this call, and takes the next one. The
// text of a completion goes with it; any other change leaves it as a draft.
func (d *desk) finishWith(c change, textGoes bool) tea.Cmd {
	d.giveBack(&c)
	id := d.call.UUID
	d.queue.pass(id, "")
	if textGoes {
		d.drafts = slices.DeleteFunc(d.drafts, func(x outbox.Draft) bool { return x.Call == id })
		d.form = form{}
	} else {
		c.draft = nil
	}
	return tea.Batch(d.submit(c), d.next())
}

// notReached records an attempt.
func (d *desk) notReached() tea.Cmd {
	return d.finishWith(newChange("not reached: "+d.name())(apiclient.AddAttemptChange(d.call.UUID, apitype.AddAttemptRequest{
		UserUUID: d.Agent, AttemptAt: new(apitype.NewTime(d.Now())),
	})), false)
}

// completeCall sends the result.
func (d *desk) completeCall() tea.Cmd {
	result := &apitype.CallResultRequest{CompletedAt: new(apitype.NewTime(d.Now())), ResultCode: new(d.form.code)}
	if notes := d.form.notes.Value(); strings.TrimSpace(notes) != "" {
		result.Notes = &notes
	}
	if d.form.rating != nil {
		result.DonorRetentionRating = new(apitype.NumberFromInt(*d.form.rating))
	}
	request := apitype.CompleteCallRequest{UserUUID: d.Agent, Result: result}
	if problems := request.Validate(); len(problems) > 0 {
		d.fail("not sent", problems)
		return nil
	}
	return d.finishWith(newChange("complete: "+d.name()+", "+d.form.code)(apiclient.CompleteCallChange(d.call.UUID, request)), true)
}

// askEnd asks before a call is ended without a result.
func (d *desk) askEnd(title, verb string) {
	call := d.call
	lines := []string{fmt.Sprintf("%s the call to %s, requested %s?", title, d.name(), d.ago(call.RequestedAt.Time))}
	if d.hasDraft() {
		lines = append(lines, "What you typed is not sent with it; it stays as a draft.")
	}
	d.dialog = &confirm{title: title + " the call", lines: lines, yes: func() tea.Cmd {
		if d.call == nil || d.call.UUID != call.UUID {
			return nil // The call went away while the question stood.
		}
		now := new(apitype.NewTime(d.Now()))
		label := newChange(verb + ": " + d.name())
		if verb == "cancel" {
			return d.finishWith(label(apiclient.CancelCallChange(call.UUID, apitype.CancelCallRequest{CancelledAt: now})), false)
		}
		return d.finishWith(label(apiclient.ExpireCallChange(call.UUID, apitype.ExpireCallRequest{ExpiredAt: now})), false)
	}}
}

// askResult offers the known result codes, or a field where there are none.
func (d *desk) askResult() {
	codes := d.queue.codes.All()
	if len(codes) == 0 {
		d.typeResult()
		return
	}
	options := make([]option, 0, len(codes)+1)
	for _, code := range codes {
		options = append(options, option{label: clean(code), run: func() tea.Cmd {
			d.setResult(code)
			return nil
		}})
	}
	options = append(options, option{key: "/", label: "another code…", run: func() tea.Cmd {
		d.typeResult()
		return nil
	}})
	d.dialog = newChoice("Result", "", options)
}

func (d *desk) typeResult() {
	p := &prompt{title: "Result code"}
	p.editor.SetValue(d.form.code)
	p.done = func(code string) (string, tea.Cmd) {
		code = strings.TrimSpace(code)
		request := apitype.CompleteCallRequest{Result: &apitype.CallResultRequest{ResultCode: &code}}
		if problems := request.Validate(); len(problems) > 0 {
			return problems[0].Message, nil
		}
		if d.queue.codes.Has(code) {
			d.setResult(code)
			return "", nil
		}
		d.dialog = &confirm{title: "A new result code", lines: []string{"No call has had the result " + strconv.Quote(clean(code)) + " so far. Use it all the same?"}, yes: func() tea.Cmd {
			d.setResult(code)
			return nil
		}, no: func() { d.dialog = p }}
		return "", nil
	}
	d.dialog = p
}

// setResult takes a result code, and asks for the rating in its place.
func (d *desk) setResult(code string) {
	d.form.code = code
	d.keep()
	d.askRating()
}

// askRating asks for the rating, each on one key, ten on two.
func (d *desk) askRating() {
	d.dialog = &askedRating{now: d.form.rating, set: func(n *int) {
		d.form.rating = n
		d.keep()
	}}
}

// askCopy offers what an agent copies of a call.
func (d *desk) askCopy() {
	var options []option
	add := func(what, text string) {
		if text != "" {
			options = append(options, option{label: what + "  " + clean(text), run: func() tea.Cmd { return copyText(what, text) }})
		}
	}
	if p := d.call.Person.Pointer(); p != nil {
		add("mobile", value(p.MobilePhoneNumber))
		add("phone", value(p.PhoneNumber))
		add("e-mail", value(p.Email))
	}
	add("call", d.call.UUID.String())
	d.dialog = newChoice("Copy", "", options)
}

// value is a text that may be missing.
func value[T ~string](text *T) string {
	if text == nil {
		return ""
	}
	return string(*text)
}

// resumeDraft opens the call of the latest draft.
func (d *desk) resumeDraft() tea.Cmd {
	for _, draft := range d.drafts {
		if !d.isOnScreen(draft.Call) {
			return d.take(draft.Call)
		}
	}
	d.say("the draft is on the desk already")
	return nil
}

// skippedName is the column of names among the calls passed over, in cells.
const skippedName = 22

// showSkipped lists the calls that n passes over.
func (d *desk) showSkipped() {
	var lines []string
	for _, p := range d.queue.reasons(d.Now(), d.MaxAttempts) {
		lines = append(lines, shortID(p.id)+"  "+widget.Fit(p.name, skippedName)+"  "+clean(p.reason))
	}
	if len(lines) == 0 {
		lines = []string{"No call was passed over so far."}
	}
	d.dialog = &text{title: "Passed over", lines: lines}
}

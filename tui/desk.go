package tui

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	deskday "fundesk/tui/desk"
	"fundesk/tui/widget"
)

// desk is the page where an agent works one call after the other.
type desk struct {
	*shell
	queue *queue
	// call is on screen; nil when none is.
	call     *apitype.Call
	checked  bool // It was read again since it was taken.
	seq      int  // Of the reading of the call on screen.
	wanted   bool // The agent waits for a call.
	taking   bool // A certain call is being read for the agent.
	form     form
	writing  bool // The notes have the focus.
	scroll   int
	script   []string
	scripts  map[string][]string
	day      tally
	layout   layout
	complete bool // The queue was asked for a call and had none.
	guard    deskday.Guard
}

// form is what the agent has entered for the call on screen.
type form struct {
	code   string
	rating *int
	notes  widget.TextArea
}

// tally is the agent's own session: what the service has accepted.
type tally map[string]int

// What the desk's commands bring.
type (
	callRead struct {
		call  apitype.Call
		id    apitype.UUID
		draft *outbox.Draft
		torn  error // Why its draft could not be read.
	}
	callAhead struct {
		id   apitype.UUID
		call *apitype.Call // Nil when it could not be read.
	}
	changesRead struct {
		calls []apitype.Call
		until apitype.Time
	}
	scriptsRead map[string][]string
	codesSaved  struct{}
)

func newDesk(s *shell) *desk {
	codes, err := deskday.OpenCodes(s.ResultCodes, s.StateFile)
	if err != nil {
		s.fail("the results have another order than before", err)
	}
	d := &desk{shell: s, queue: newQueue(s.Now(), codes), day: tally{}}
	s.heard = d.heardOf
	return d
}

// begin starts reading: the queue and the scripts.
func (d *desk) begin() tea.Cmd {
	return tea.Batch(d.walk(), d.load(deskPage, 0, func(context.Context) (any, error) {
		return readScripts(d.ConfigDir)
	}))
}

func (d *desk) open() tea.Cmd { return nil }

func (d *desk) resize(l layout) { d.layout = l }

func (d *desk) scopes() []scope {
	if d.writing {
		return []scope{scopeNotes}
	}
	return []scope{scopeDesk}
}

func (d *desk) typing() bool { return d.writing }

// text types into the notes.
func (d *desk) text(msg tea.Msg) tea.Cmd {
	changed, cmd := d.form.notes.Update(msg)
	if changed {
		d.keep()
	}
	return cmd
}

// keep notes what was entered for the keeper of drafts.
func (d *desk) keep() {
	if d.call != nil {
		d.keeper.put(d.draft())
	}
}

func (d *desk) draft() outbox.Draft {
	return outbox.Draft{Call: d.call.UUID, ResultCode: d.form.code, Rating: d.form.rating, Notes: d.form.notes.Value()}
}

// hasDraft reports whether something was entered and not sent.
func (d *desk) hasDraft() bool { return d.call != nil && !d.draft().IsEmpty() }

func (d *desk) fill(draft outbox.Draft) {
	if draft.BaseURL != "" { // Read from disk.
		d.keeper.knows(draft.Call, draft.Notes)
	}
	d.form.code, d.form.rating = draft.ResultCode, draft.Rating
	d.form.notes.SetValue(draft.Notes)
}

// onJoined shows what another terminal has saved for the call on screen.
func (d *desk) onJoined(joined draftJoined) {
	if !d.isOnScreen(joined.call) {
		return
	}
	d.form.notes.SetValue(outbox.JoinNotes(joined.written, d.form.notes.Value(), joined.notes))
	d.keep()
	d.sayf("another terminal has notes for %s, too: both are here", d.name())
}

// walk reads on in the queue, unless it knows enough.
func (d *desk) walk() tea.Cmd {
	if d.queue.walking || d.queue.ended {
		return nil
	}
	d.queue.walking = true
	from := d.queue.place
	return d.load(deskPage, 0, func(ctx context.Context) (any, error) {
		return walkPage(ctx, d.Client, from)
	})
}

// ahead reads the next calls before they are asked for.
func (d *desk) ahead() tea.Cmd {
	var commands []tea.Cmd
	for _, c := range d.queue.offers(d.Now(), d.MaxAttempts, queuePrefetch+1, d.pending) {
		if _, have := d.queue.ready[c.id]; have || d.queue.fetching[c.id] || d.isOnScreen(c.id) {
			continue
		}
		if len(d.queue.fetching) >= queuePrefetch {
			break
		}
		d.queue.fetching[c.id] = true
		commands = append(commands, d.load(deskPage, 0, func(ctx context.Context) (any, error) {
			call, err := apiclient.Decoded(d.Client.Calls.Get(ctx, c.id))
			if err != nil {
				return callAhead{id: c.id}, err
			}
			return callAhead{id: c.id, call: &call}, nil
		}))
	}
	return tea.Batch(commands...)
}

func (d *desk) isOnScreen(id apitype.UUID) bool { return d.call != nil && d.call.UUID == id }

// next shows the oldest requested call that passes, as soon as it is known.
func (d *desk) next() tea.Cmd {
	d.leave()
	d.call = nil
	d.wanted, d.taking, d.complete = true, false, false
	return d.serve()
}

// serve gives the waiting agent a call, if one is ready.
func (d *desk) serve() tea.Cmd {
	if !d.queue.isInOrder() {
		return d.walk()
	}
	if !d.wanted || !d.draftsRead {
		return d.ahead() // A call comes with its draft, or typing would write over that.
	}
	offers := d.queue.offers(d.Now(), d.MaxAttempts, 1, d.pending)
	if len(offers) == 0 {
		if d.isDone() {
			d.wanted, d.complete = false, true
		}
		return d.walk()
	}
	call, ready := d.queue.ready[offers[0].id]
	if !ready {
		return d.ahead()
	}
	d.wanted = false
	return d.present(call)
}

// isDone reports whether all calls were looked at and none may be rung now.
func (d *desk) isDone() bool {
	return d.queue.ended && !d.queue.walking && len(d.queue.offers(d.Now(), d.MaxAttempts, 1, d.pending)) == 0
}

// present puts a call on screen and reads it again.
func (d *desk) present(call apitype.Call) tea.Cmd {
	d.call, d.checked, d.taking, d.scroll = &call, false, false, 0
	d.guard.Show(d.Now())
	d.form = form{}
	for _, draft := range d.drafts {
		if draft.Call == call.UUID {
			d.fill(draft)
		}
	}
	delete(d.queue.ready, call.UUID)
	d.pickScript()
	var more tea.Cmd
	if len(d.queue.candidates) < queueEnough {
		more = d.walk()
	}
	return tea.Batch(d.reread(call.UUID), d.ahead(), more)
}

// reread reads the call on screen, and its draft.
func (d *desk) reread(id apitype.UUID) tea.Cmd {
	d.seq++
	return d.load(deskPage, d.seq, func(ctx context.Context) (any, error) {
		draft, found, err := d.Outbox.Draft(id)
		read := callRead{id: id, torn: err}
		if found {
			read.draft = &draft
		}
		read.call, err = apiclient.Decoded(d.Client.Calls.Get(ctx, id))
		return read, err
	})
}

// take puts a certain call on the desk.
func (d *desk) take(id apitype.UUID) tea.Cmd {
	d.leave()
	d.call, d.wanted = nil, false
	d.checked, d.taking = false, true
	return d.reread(id)
}

// leave ends work on the call on screen; its draft stays.
func (d *desk) leave() {
	d.writing = false
	d.keeper.hurry()
	if d.hasDraft() {
		// Until the disk is read again, the draft is known from here.
		draft := d.draft()
		draft.SavedAt = d.Now()
		d.drafts = slices.DeleteFunc(d.drafts, func(x outbox.Draft) bool { return x.Call == draft.Call })
		d.drafts = append([]outbox.Draft{draft}, d.drafts...)
	}
}

// receive takes in what was read.
func (d *desk) receive(r result) tea.Cmd {
	cmd := d.takeIn(r)
	if !d.queue.unsaved {
		return cmd
	}
	d.queue.unsaved = false
	save := d.queue.codes.Save()
	return tea.Batch(cmd, d.load(deskPage, 0, func(context.Context) (any, error) { return codesSaved{}, save() }))
}

func (d *desk) takeIn(r result) tea.Cmd {
	switch value := r.value.(type) {
	case callRead:
		if r.seq != d.seq {
			return nil
		}
		return d.onRead(value, r.err)
	case callAhead:
		delete(d.queue.fetching, value.id)
		if r.err != nil {
			d.failRead("cannot read call "+shortID(value.id), r.err)
			if apiclient.KindOf(r.err) == apiclient.KindNotFound {
				d.queue.drop(value.id)
				return d.serve()
			}
			return nil
		}
		d.queue.learn(*value.call)
		if reason := d.against(*value.call); reason != "" {
			d.queue.pass(value.id, reason)
		} else {
			d.queue.ready[value.id] = *value.call
		}
		return d.serve()
	case walked:
		if r.err != nil {
			d.queue.walking = false
			d.failRead("cannot read the calls", r.err)
			return nil
		}
		d.noteConnection(nil)
		d.queue.add(value)
		if len(d.queue.offers(d.Now(), d.MaxAttempts, queueEnough, d.pending)) < queueEnough {
			return tea.Batch(d.walk(), d.serve())
		}
		return d.serve()
	case changesRead:
		return d.onChanges(value, r.err)
	case scriptsRead:
		d.scripts = value
		if r.err != nil {
			d.fail("cannot read the scripts", r.err)
		}
		d.pickScript()
	case editedNotes:
		return d.onEdited(value, r.err)
	case codesSaved:
		if r.err != nil {
			d.fail("the order of the results is not kept", r.err)
		}
	case nil:
		d.failRead("cannot read", r.err)
	}
	return nil
}

// onRead shows the call as it is now. One that somebody else has ended is said so, and
// the next one is offered.
func (d *desk) onRead(read callRead, err error) tea.Cmd {
	d.taking = false
	if read.torn != nil {
		d.fail("cannot read what was typed for call "+shortID(read.id), read.torn)
	}
	switch {
	case apiclient.KindOf(err) == apiclient.KindNotFound:
		d.queue.drop(read.id)
		d.fail("call "+shortID(read.id)+" is no longer there", nil)
		if d.hasDraft() || d.call == nil {
			return nil
		}
		return d.next()
	case err != nil:
		d.failRead("cannot read call "+shortID(read.id), err)
		return nil
	}
	d.noteConnection(nil)
	before := d.call
	d.call, d.checked = &read.call, true
	d.queue.learn(read.call)
	if before == nil {
		d.form = form{}
		d.pickScript()
		d.guard.Show(d.Now())
	}
	if read.draft != nil && d.draft().IsEmpty() {
		d.fill(*read.draft)
	}
	if before != nil && before.Status == apitype.CallRequested && read.call.Status != apitype.CallRequested && !d.pending(read.id) {
		text := fmt.Sprintf("%s is %s: somebody else was faster", d.name(), read.call.Status)
		if d.hasDraft() {
			d.fail(text+"; what you typed stays here", nil)
			return nil
		}
		d.queue.pass(read.id, "")
		cmd := d.next()
		d.sayf("%s; here is the next one", text)
		return cmd
	}
	if before != nil && read.call.AttemptsCount > before.AttemptsCount && !d.pending(read.id) {
		d.sayf("somebody else has rung %s since the call was listed", d.name())
	}
	return d.ahead()
}

// poll asks for what has changed since it last asked.
func (d *desk) poll() tea.Cmd {
	if d.queue.walking && !d.queue.ended {
		return nil
	}
	until := apitype.NewTime(d.Now())
	options := apitype.CallListOptions{UpdatedAfter: new(d.asOf(d.queue.since))}
	if !d.queue.bare {
		options.Include = []string{apitype.IncludePerson}
	}
	return d.load(deskPage, 0, func(ctx context.Context) (any, error) {
		read := changesRead{until: until}
		for record, err := range d.Client.Calls.All(ctx, options, apiclient.AllOptions{Limit: maxNews}) {
			if err != nil {
				return read, err
			}
			call, err := record.Decode()
			if err != nil {
				return read, err
			}
			read.calls = append(read.calls, call)
		}
		return read, nil
	})
}

// onChanges takes changes in without moving what the agent looks at.
func (d *desk) onChanges(read changesRead, err error) tea.Cmd {
	if err != nil {
		d.failRead("cannot read what has changed", err)
		return nil
	}
	d.noteConnection(nil)
	d.queue.since = read.until
	for _, call := range read.calls {
		if d.isOnScreen(call.UUID) && d.checked && call.LastUpdatedAt.After(d.call.LastUpdatedAt.Time) && !d.pending(call.UUID) {
			d.sayf("%s was changed by somebody else: %s, %s", d.name(), call.Status, plural(call.AttemptsCount, "attempt", "attempts"))
			d.call.Status, d.call.AttemptsCount, d.call.LastUpdatedAt = call.Status, call.AttemptsCount, call.LastUpdatedAt
			if !call.Attempts.IsZero() {
				d.call.Attempts = call.Attempts
			}
		}
		if ready, have := d.queue.ready[call.UUID]; have && !ready.LastUpdatedAt.Equal(call.LastUpdatedAt) {
			delete(d.queue.ready, call.UUID)
		}
		d.queue.learn(call)
	}
	if len(read.calls) >= maxNews {
		d.queue.rewalk()
		return tea.Batch(d.walk(), d.serve())
	}
	return d.serve()
}

// heardOf counts what the service has accepted, and reads the call again where it is
// on screen.
func (d *desk) heardOf(e outbox.Event) tea.Cmd {
	if e.Outcome == outbox.OutcomeAccepted {
		d.day[e.Entry.Op]++
	}
	if d.isOnScreen(e.Entry.UUID) {
		return d.reread(e.Entry.UUID)
	}
	if d.wanted && d.offline == "" {
		return d.serve() // The service can be reached: so can the next call.
	}
	return nil
}

// name is who the call on screen is for.
func (d *desk) name() string {
	if d.call == nil {
		return ""
	}
	return callName(*d.call)
}

// callName is the person of a call, or its identifier where the person is not shown.
func callName(call apitype.Call) string {
	if person := call.Person.Pointer(); person != nil {
		if name := render.PersonName(*person); name != "" {
			return clean(name)
		}
	}
	return "call " + shortID(call.UUID)
}

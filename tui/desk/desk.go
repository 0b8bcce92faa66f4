// Package desk is the agent's day without a terminal: which call comes next, what speaks
// against ringing, what was typed, and what became of what was sent.
//
// Day is told what the agent does and what work has brought; its methods answer with
// events: work to be done beside it, whose result it is handed back, and lines for the
// agent. Nothing in it waits. It must not know how anything is shown or asked: no
// terminal, no keys but by their names, no flags. The terminal interface and the desk of
// ACCESSIBLE=1 are two faces of it.
//
//	day := desk.New(desk.Options{Client: client, Outbox: box})
//	show(day.Begin())
//	show(day.Next())
package desk

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
)

// Options of a desk. Client and Outbox are required.
type Options struct {
	Client             *apiclient.Client
	Outbox             *outbox.Outbox // The spool for this service and account.
	Agent              *apitype.UUID  // Sent with attempts and results.
	ResultCodes        []string       // From the profile; nil: those seen at the service.
	MaxAttempts        int            // Of a call; 0: not known.
	Languages          []string       // ISO 639-1 codes that the agent speaks; nil: those of the locale.
	ExternalSourceName string         // Sent with processed marks.
	ConfigDir          string         // Holds scripts/; "" for none.
	StateFile          string         // Keeps what the desk remembers of this service; "" for nothing.
	QuitWait           time.Duration  // How long quitting waits for what is still to be sent; 0: 5 s.
	Now                func() time.Time
}

// quitWait is how long quitting waits where the options do not say.
const quitWait = 5 * time.Second

// Form is what the agent has entered for a call.
type Form struct {
	Code   string
	Rating *int // 0 to 10.
	Notes  string
}

// Day is an agent's work on one call after the other. It is not safe for concurrent use.
type Day struct {
	Changes
	Codes *Codes
	Guard Guard

	Call     *apitype.Call // On the desk; nil when none is.
	Checked  bool          // It was read again since it was taken.
	Form     Form
	Script   []string       // For the call.
	Accepted map[string]int // What the service has accepted in this session, by operation.
	Wanted   bool           // The agent waits for a call.
	Taking   bool           // A certain call is being read for the agent.
	Complete bool           // A call was asked for and there was none.

	queue   *queue
	seq     int // Of the reading of the call.
	scripts map[string][]string
}

// What the desk's work brings.
type (
	callRead struct {
		call  apitype.Call
		id    apitype.UUID
		draft *outbox.Draft
		torn  error // Why its draft could not be read.
	}
	callPrefetched struct {
		id   apitype.UUID
		call apitype.Call
	}
	changesRead struct {
		calls []apitype.Call
		until apitype.Time
	}
	scriptsRead map[string][]string
	codesSaved  struct{}
)

// New makes a desk; Begin sets it to work.
func New(o Options) *Day {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.QuitWait == 0 {
		o.QuitWait = quitWait
	}
	if o.Languages == nil {
		o.Languages = localeLanguages(os.Getenv)
	}
	d := &Day{Changes: Changes{Options: o, Autosave: NewAutosave(o.Outbox)}, Accepted: map[string]int{}}
	var err error
	if d.Codes, err = OpenCodes(o.ResultCodes, o.StateFile); err != nil {
		d.fail("the results have another order than before", err)
	}
	d.queue = newQueue(o.Now(), d.Codes)
	return d
}

// Start runs what works beside the desk until ctx ends: the sender, and what saves
// drafts. What they tell is for Receive.
func (d *Day) Start(ctx context.Context, tell func(Result)) *sync.WaitGroup {
	d.Sender = d.Outbox.Sender(d.Client, outbox.SenderOptions{Notify: func(e outbox.Event) { tell(Told(e)) }})
	d.Autosave.tell = tell
	var group sync.WaitGroup
	group.Go(func() { d.Sender.Run(ctx) })
	group.Go(func() { d.Autosave.run(ctx) })
	return &group
}

// Told is what the sender has told, for Receive.
func Told(e outbox.Event) Result { return Result{value: e} }

// Begin starts reading: the outbox, the queue and the scripts.
func (d *Day) Begin() []Event {
	d.readOutbox()
	d.walk()
	d.do(0, func(context.Context) (any, error) {
		scripts, err := readScripts(d.ConfigDir)
		return scriptsRead(scripts), err
	})
	return d.take()
}

// Receive takes in what work has brought, or what was told from beside the desk.
func (d *Day) Receive(r Result) []Event {
	if o, isOrdered := r.value.(ordered); isOrdered {
		if d.answers = d.answers[1:]; len(d.answers) > 0 {
			d.nextAnswer()
		}
		r.value = o.value
	}
	switch value := r.value.(type) {
	case queued:
		if !d.onQueued(value) {
			d.restore(value.change)
		}
	case recalled:
		if d.onRecalled(value) {
			d.restore(value.change.Change)
		}
	case outboxRead:
		d.onOutbox(value, r.err)
		d.serve()
	case outbox.Event:
		d.onSender(value)
		d.onOutcome(value)
	case diskWork:
		if r.err != nil {
			d.fail("outbox", r.err)
		}
		d.readOutbox()
	case draftsSaved:
		d.Trouble = r.err
		d.readOutbox()
	case draftJoined:
		d.onJoined(value)
	default:
		d.receive(r)
	}
	if d.Codes.unsaved {
		d.Codes.unsaved = false
		save := d.Codes.Save()
		d.do(0, func(context.Context) (any, error) { return codesSaved{}, save() })
	}
	return d.take()
}

// receive takes in what was read.
func (d *Day) receive(r Result) {
	switch value := r.value.(type) {
	case callRead:
		if r.seq == d.seq {
			d.onRead(value, r.err)
		}
	case callPrefetched:
		d.onPrefetched(value, r.err)
	case walked:
		d.onWalked(value, r.err)
	case changesRead:
		d.onChanges(value, r.err)
	case scriptsRead:
		d.scripts = value
		if r.err != nil {
			d.fail("cannot read the scripts", r.err)
		}
		d.pickScript()
	case codesSaved:
		if r.err != nil {
			d.fail("the order of the results is not kept", r.err)
		}
	}
}

func (d *Day) failRead(what string, err error) {
	if !d.NoteConnection(err) {
		d.fail(what, err)
	}
}

// walk reads on in the queue, unless enough of it is there.
func (d *Day) walk() {
	if d.queue.walking || d.queue.ended {
		return
	}
	d.queue.walking = true
	from := d.queue.position
	d.do(0, func(ctx context.Context) (any, error) { return walkPage(ctx, d.Client, from) })
}

func (d *Day) onWalked(w walked, err error) {
	if err != nil {
		d.queue.walking = false
		d.failRead("cannot read the calls", err)
		return
	}
	d.NoteConnection(nil)
	d.queue.add(w)
	if len(d.Offers(queueEnough)) < queueEnough {
		d.walk()
	}
	d.serve()
}

// prefetch reads the next calls before they are asked for.
func (d *Day) prefetch() {
	for _, c := range d.Offers(queuePrefetch + 1) {
		if _, have := d.queue.prefetched[c.ID]; have || d.queue.fetching[c.ID] || d.IsOn(c.ID) {
			continue
		}
		if len(d.queue.fetching) >= queuePrefetch {
			break
		}
		d.queue.fetching[c.ID] = true
		d.do(0, func(ctx context.Context) (any, error) {
			call, err := apiclient.Decoded(d.Client.Calls.Get(ctx, c.ID))
			return callPrefetched{id: c.ID, call: call}, err
		})
	}
}

func (d *Day) onPrefetched(p callPrefetched, err error) {
	delete(d.queue.fetching, p.id)
	if err != nil {
		d.failRead("cannot read call "+ShortID(p.id), err)
		if apiclient.KindOf(err) == apiclient.KindNotFound {
			d.queue.drop(p.id)
			d.serve()
		}
		return
	}
	d.queue.learn(p.call)
	if reason := d.against(p.call); reason != "" {
		d.queue.pass(p.id, reason)
	} else {
		d.queue.prefetched[p.id] = p.call
	}
	d.serve()
}

// IsOn reports whether a call is on the desk.
func (d *Day) IsOn(id apitype.UUID) bool { return d.Call != nil && d.Call.UUID == id }

// IsReading reports whether the agent waits for a call that may come at any time.
func (d *Day) IsReading() bool {
	return d.Call == nil && d.Offline == "" && (d.Wanted || d.Taking)
}

// Offers are the calls that come next, in their order, up to limit.
func (d *Day) Offers(limit int) []Candidate {
	return d.queue.offers(d.Now(), d.MaxAttempts, limit, d.isPending)
}

// Waiting is how many requested calls are known; all reports whether there are no others.
func (d *Day) Waiting() (n int, all bool) { return len(d.queue.candidates), d.queue.ended }

// PassedOver are the calls that Next passes over.
func (d *Day) PassedOver() []PassedOver { return d.queue.reasons(d.Now(), d.MaxAttempts) }

// Next shows the oldest requested call that may be rung, as soon as it is known. One that
// is on the desk is passed over from then on.
func (d *Day) Next() []Event { return d.leaveFor("left for another call") }

// Skip passes the call on the desk over.
func (d *Day) Skip() []Event { return d.leaveFor("skipped by you") }

func (d *Day) leaveFor(reason string) []Event {
	if d.Call != nil {
		d.queue.pass(d.Call.UUID, reason)
	}
	d.next()
	return d.take()
}

func (d *Day) next() {
	d.leave()
	d.Call = nil
	d.Wanted, d.Taking, d.Complete = true, false, false
	d.serve()
}

// serve gives the waiting agent a call, if one was prefetched.
func (d *Day) serve() {
	if !d.queue.isInOrder() {
		d.walk()
		return
	}
	if !d.Wanted || !d.draftsRead {
		d.prefetch() // A call comes with its draft, or typing would write over that.
		return
	}
	offers := d.Offers(1)
	if len(offers) == 0 {
		if d.IsDone() {
			d.Wanted, d.Complete = false, true
		}
		d.walk()
		return
	}
	call, prefetched := d.queue.prefetched[offers[0].ID]
	if !prefetched {
		d.prefetch()
		return
	}
	d.Wanted = false
	d.present(call)
}

// IsDone reports whether all calls were looked at and none may be rung now.
func (d *Day) IsDone() bool { return d.queue.ended && !d.queue.walking && len(d.Offers(1)) == 0 }

// present puts a call on the desk and reads it again.
func (d *Day) present(call apitype.Call) {
	d.Call, d.Checked, d.Taking = &call, false, false
	d.Guard.Show(d.Now())
	d.Form = Form{}
	for _, draft := range d.Drafts {
		if draft.Call == call.UUID {
			d.fill(draft)
		}
	}
	delete(d.queue.prefetched, call.UUID)
	d.pickScript()
	d.reread(call.UUID)
	d.prefetch()
	if len(d.queue.candidates) < queueEnough {
		d.walk()
	}
}

// reread reads the call on the desk, and its draft.
func (d *Day) reread(id apitype.UUID) {
	d.seq++
	d.do(d.seq, func(ctx context.Context) (any, error) {
		draft, found, err := d.Outbox.Draft(id)
		read := callRead{id: id, torn: err}
		if found {
			read.draft = &draft
		}
		read.call, err = apiclient.Decoded(d.Client.Calls.Get(ctx, id))
		return read, err
	})
}

// Take puts a certain call on the desk.
func (d *Day) Take(id apitype.UUID) []Event {
	d.leave()
	d.Call, d.Wanted = nil, false
	d.Checked, d.Taking = false, true
	d.reread(id)
	return d.take()
}

// Resume takes the call of the latest draft.
func (d *Day) Resume() []Event {
	for _, draft := range d.Drafts {
		if !d.IsOn(draft.Call) {
			return d.Take(draft.Call)
		}
	}
	d.sayf("the draft is on the desk already")
	return d.take()
}

// leave ends work on the call on the desk; its draft stays.
func (d *Day) leave() {
	d.Autosave.FlushSoon()
	if d.HasDraft() {
		// Until the disk is read again, the draft is known from here.
		draft := d.Draft()
		draft.SavedAt = d.Now()
		d.forgetDraft(draft.Call)
		d.Drafts = append([]outbox.Draft{draft}, d.Drafts...)
	}
}

func (d *Day) forgetDraft(call apitype.UUID) {
	d.Drafts = slices.DeleteFunc(d.Drafts, func(x outbox.Draft) bool { return x.Call == call })
}

// onRead shows the call as it is now. One that somebody else has ended is said so, and
// the next one is offered.
func (d *Day) onRead(read callRead, err error) {
	d.Taking = false
	if read.torn != nil {
		d.fail("cannot read what was typed for call "+ShortID(read.id), read.torn)
	}
	switch {
	case apiclient.KindOf(err) == apiclient.KindNotFound:
		d.queue.drop(read.id)
		d.fail("call "+ShortID(read.id)+" is no longer there", nil)
		if !d.HasDraft() && d.Call != nil {
			d.next()
		}
		return
	case err != nil:
		d.failRead("cannot read call "+ShortID(read.id), err)
		return
	}
	d.NoteConnection(nil)
	before := d.Call
	d.Call, d.Checked = &read.call, true
	d.queue.learn(read.call)
	if before == nil {
		d.Form = Form{}
		d.pickScript()
		d.Guard.Show(d.Now())
	}
	if read.draft != nil && d.Draft().IsEmpty() {
		d.fill(*read.draft)
	}
	d.compare(before)
	d.prefetch()
}

// compare says what somebody else has done to the call on the desk since it was listed.
func (d *Day) compare(before *apitype.Call) {
	if before == nil || d.isPending(d.Call.UUID) {
		return
	}
	switch now := d.Call; {
	case before.Status == apitype.CallRequested && now.Status != apitype.CallRequested:
		text := fmt.Sprintf("%s is %s: somebody else was faster", d.Name(), now.Status)
		if d.HasDraft() {
			d.fail(text+"; what you typed stays here", nil)
			return
		}
		d.queue.pass(now.UUID, "")
		d.next()
		d.sayf("%s; here is the next one", text)
	case now.AttemptsCount > before.AttemptsCount:
		d.sayf("somebody else has rung %s since the call was listed", d.Name())
	}
}

// Refresh reads the call on the desk again, and what has changed.
func (d *Day) Refresh() []Event {
	if d.Call != nil {
		d.reread(d.Call.UUID)
	}
	return d.Poll()
}

// Poll asks for what has changed since it last asked.
func (d *Day) Poll() []Event {
	if d.queue.walking && !d.queue.ended {
		return d.take()
	}
	until := apitype.NewTime(d.Now())
	options := apitype.CallListOptions{UpdatedAfter: new(d.AsOf(d.queue.since))}
	if !d.queue.bare {
		options.Include = []string{apitype.IncludePerson}
	}
	d.do(0, func(ctx context.Context) (any, error) {
		read := changesRead{until: until}
		for record, err := range d.Client.Calls.All(ctx, options, apiclient.AllOptions{Limit: MostChanges}) {
			call, err := apiclient.Decoded(record, err)
			if err != nil {
				return read, err
			}
			read.calls = append(read.calls, call)
		}
		return read, nil
	})
	return d.take()
}

// clockLeeway is how far the service's clock and ours may differ unnoticed. What comes
// twice does no harm.
const clockLeeway = 2 * time.Minute

// MostChanges is how many changes are taken in at a time. They come newest first: where
// there are more, those left out would never come again, and the records are read anew.
const MostChanges = 2000

// AsOf is what to ask the service for where changes up to a time of ours are known: a
// clock of ours that is ahead of the service's, or was set back meanwhile, must not keep
// them out.
func (c *Changes) AsOf(known apitype.Time) apitype.Time {
	if now := c.Now(); known.After(now) {
		known = apitype.NewTime(now)
	}
	return apitype.NewTime(known.Add(-clockLeeway - c.Client.Behind()))
}

// onChanges takes changes in without moving what the agent looks at.
func (d *Day) onChanges(read changesRead, err error) {
	if err != nil {
		d.failRead("cannot read what has changed", err)
		return
	}
	d.NoteConnection(nil)
	d.queue.since = read.until
	for _, call := range read.calls {
		if d.IsOn(call.UUID) && d.Checked && call.LastUpdatedAt.After(d.Call.LastUpdatedAt.Time) && !d.isPending(call.UUID) {
			d.sayf("%s was changed by somebody else: %s, %s", d.Name(), call.Status, render.Plural(call.AttemptsCount, "attempt", "attempts"))
			d.Call.Status, d.Call.AttemptsCount, d.Call.LastUpdatedAt = call.Status, call.AttemptsCount, call.LastUpdatedAt
			if !call.Attempts.IsZero() {
				d.Call.Attempts = call.Attempts
			}
		}
		if prefetched, have := d.queue.prefetched[call.UUID]; have && !prefetched.LastUpdatedAt.Equal(call.LastUpdatedAt) {
			delete(d.queue.prefetched, call.UUID)
		}
		d.queue.learn(call)
	}
	if len(read.calls) >= MostChanges {
		d.queue.rewalk()
		d.walk()
	}
	d.serve()
}

// onOutcome counts what the service has accepted, and reads the call again where it is
// on the desk.
func (d *Day) onOutcome(e outbox.Event) {
	if e.Outcome == outbox.OutcomeAccepted {
		d.Accepted[e.Entry.Op]++
	}
	switch {
	case d.IsOn(e.Entry.UUID):
		d.reread(e.Entry.UUID)
	case d.Wanted && d.Offline == "":
		d.serve() // The service can be reached: so can the next call.
	}
}

// Name is who the call on the desk is for.
func (d *Day) Name() string {
	if d.Call == nil {
		return ""
	}
	return CallName(*d.Call)
}

// CallName is the person of a call, or its identifier where the person is not shown.
func CallName(call apitype.Call) string {
	if person := call.Person.Pointer(); person != nil {
		if name := render.PersonName(*person); strings.TrimSpace(name) != "" {
			return name
		}
	}
	return "call " + ShortID(call.UUID)
}

// value is a text that may be missing.
func value[T ~string](text *T) string {
	if text == nil {
		return ""
	}
	return string(*text)
}

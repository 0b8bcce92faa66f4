// Package desk is the day of an agent, without a terminal: which call comes next, why not to call now, what was typed,
// and how each change ended.
//
// The methods of Day take what the agent does and what work returns. They answer with events: a Job is work to do in
// the background, whose result goes to Receive, and a Notice is a line for the agent. No method waits. The package
// knows keys by their names only. It has two faces: the terminal interface, and the accessible desk of ACCESSIBLE=1.
//
// The package has four layers. None knows a layer above it. The visit has the state of the call on the Desk, current
// shows the call and takes what the agent enters, seat brings one call after the other, and the Day has the actions of
// the agent and the work of the background.
//
//	day := desk.New(desk.Options{Client: client, Outbox: box})
//	show(day.Begin())
//	show(day.Next())
package desk

import (
	"context"
	"slices"
	"sync"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/donors"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/today"
	"fundesk/tui/desk/transition"
)

// Day has the actions of an agent, and the work of the background. It is not safe for concurrent use.
type Day struct {
	*seat
	Search *donors.Search
	Work   *today.Work
	Caller *donors.Caller // A caller without an open call, for a question. Nil without one.

	opening     apitype.UUID // The call that was requested for the Desk. Zero without one.
	openedAt    int          // After how many keys it was asked for.
	guessedTold bool
	polls       int // One request each time, in turn for the card, what has changed, the calls and the counts.
}

// New makes a desk; Begin sets it to work.
func New(o Options) *Day {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.QuitWait == 0 {
		o.QuitWait = quitWait
	}
	var d *Day
	b := newBase(o, func() { d.Changes.Sender.Resume() })
	d = &Day{
		seat:   newSeat(newCurrent(b)),
		Search: donors.NewSearch(b.Queue, b.State, o.Client),
	}
	d.Work = &today.Work{
		Events:   b.Queue,
		Client:   b.Client,
		Now:      b.now,
		Agent:    d.Leases.Agent,
		Pause:    d.Pause,
		IsEmpty:  func() bool { return d.Call == nil && !d.IsOpening() },
		Accepted: map[string]int{},
	}
	d.Leases.Desk.OnConflict = d.Work.Read
	d.Changes.OnReturn = d.onReturn
	d.Changes.OnRead = d.onOutbox
	return d
}

// onOutbox follows a reading of the outbox. isLatest means that nothing has changed since.
func (d *Day) onOutbox(isLatest bool) {
	if isLatest {
		d.Leases.Reconcile(d.Changes.Entries)
		d.Refused.Check()
	}
	d.Transitions.KeepEntries(func(entry string) bool {
		return slices.ContainsFunc(d.Changes.Entries, func(e outbox.Entry) bool { return e.ID == entry })
	})
	d.serve()
}

// Start runs the background work until ctx ends: the sender, and the saving of drafts. Their messages are for Receive.
func (d *Day) Start(ctx context.Context, tell func(event.Result)) *sync.WaitGroup {
	d.Changes.Sender = d.Leases.NewSender(outbox.SenderOptions{Notify: func(e outbox.Event) { tell(d.Told(e)) }})
	d.tellDrafts(tell)
	var group sync.WaitGroup
	group.Go(func() { d.Changes.Sender.Run(ctx) })
	group.Go(func() { d.Changes.Drafts.Run(ctx) })
	return &group
}

// Told returns the sender's messages for Receive.
func (d *Day) Told(e outbox.Event) event.Result {
	return event.Result{Name: "progress of an entry", TakeIn: func() {
		d.Changes.Hear(e)
		if e.Outcome == outbox.OutcomeRejected && apiclient.KindOf(e.Err) == apiclient.KindForbidden {
			d.refusedOps[e.Entry.Op] = true
		}
		d.onOutcome(e)
	}}
}

// Begin starts reading: the outbox, the queue and the scripts.
func (d *Day) Begin() []event.Event {
	d.Keys.Touch(d.Now())
	d.Changes.Read()
	d.Leases.Discover()
	event.Do(
		d.Queue,
		"scripts read",
		func(context.Context) (card.Scripts, error) { return card.ReadScripts(d.ConfigDir) },
		d.onScripts,
	)
	return d.Drain()
}

// Receive handles a result of background work, or a message.
func (d *Day) Receive(r event.Result) []event.Event {
	r.TakeIn()
	if d.Call != nil { // The first call does not wait for them.
		d.floor.Need()
	}
	if d.floor.IsRead() && !d.guessedTold && d.Call != nil {
		if rows, guessed := d.Codes.Of(d.Call); guessed < len(rows) {
			d.guessedTold = true
			d.Sayf(
				"results are guessed from earlier calls; a supervisor sets them: fundesk queue settings set --help",
			)
		}
	}
	d.Codes.SaveNew()
	return d.Drain()
}

// onOutcome counts accepted changes, and reads the call again if it is on the Desk.
func (d *Day) onOutcome(e outbox.Event) {
	if e.Outcome == outbox.OutcomeAccepted {
		if d.Leases.OnAccepted(e) {
			d.unleased = e.Entry.UUID
		}
		d.Work.Accepted[e.Entry.Op]++
		hasEnded := e.Entry.Op == apiclient.OpCancelCall || e.Entry.Op == apiclient.OpExpireCall
		if hasEnded && d.Changes.Labels[e.Entry.ID] != "" && !d.IsOn(e.Entry.UUID) {
			d.Changes.OnDisk(func() error { return d.Changes.Drafts.EraseChoices(e.Entry.UUID) })
		}
		isDeferred := e.Entry.Op == apiclient.OpDeferCall
		if isDeferred {
			d.Leases.OnDeferred(e.Entry)
		}
		if isDeferred || d.Callbacks.Has(e.Entry.UUID) {
			d.Callbacks.Read()
		}
	}
	switch {
	case !d.opening.IsZero() && d.opening == e.Entry.UUID && e.Outcome == outbox.OutcomeAccepted:
		opened := d.opening
		d.opening = apitype.UUID{}
		d.Transitions.Apply(
			transition.Transition{
				Asked: d.openedAt,
				Text:  d.Say("the new call is there"),
				Run:   func() { d.takeCall(opened) },
			},
		)
	case d.IsOn(e.Entry.UUID):
		d.reread(e.Entry.UUID, transition.Unasked)
	case d.IsWaiting() && d.Offline == "":
		d.serve() // The service can be reached: so can the next call.
	}
}

// onReturn lets a call return to the Desk, or offers it.
func (d *Day) onReturn(r changes.Return) {
	if d.opening == r.Created {
		d.opening = apitype.UUID{}
	}
	d.Transitions.Apply(transition.Transition{Asked: r.Asked, Text: r.Text, Run: r.Restore})
}

// End gives the leases of a Desk that ends back, in at most two seconds.
func (d *Day) End() {
	d.Leases.End(d.locked())
	d.lockedBy = nil
}

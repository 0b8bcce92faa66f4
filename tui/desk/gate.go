package desk

import (
	"cmp"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pause"
)

// restTime is the idle time of the keyboard after which an empty Desk shows a call that the agent did not ask for.
const restTime = time.Second

// gate decides when the call on the Desk changes. A change that the agent asked for with the latest key passes at
// once. Any other change never replaces a shown call: it is offered. Without a shown call it waits until no text field
// or dialog is open, the keyboard is idle, and no pause is on.
type gate struct {
	*base
	seat     *seat
	guard    *Guard
	pause    *pause.Pause
	next     func() // Clears the Desk and waits for another call.
	onAccept func() // Is called after an offer was accepted.
	// Busy reports whether a text field or a dialog has the keys. Nil means never.
	Busy    func() bool
	askedAt int // After how many keys the agent asked for the call that is to come.
	offered *arrival
	waiting []arrival
}

// arrival is a change of the call on the desk.
type arrival struct {
	asked int          // After how many keys the agent asked for it; unasked if not at all.
	text  string       // What has come, for an offer: "the open call of A. Jansen was found".
	does  string       // What accepting it does; "" opens a call.
	of    apitype.UUID // The call whose end ends the offer. Zero without one.
	entry string       // The entry of the outbox whose end ends it. Empty without one.
	at    time.Time    // When it was offered.
	run   func()
}

// unasked is the time of a request that the agent did not make.
const unasked = -1

// isFree reports whether the agent is doing nothing that a change could disturb.
func (g *gate) isFree() bool {
	return (g.Busy == nil || !g.Busy()) && g.Now().Sub(g.guard.at) >= restTime
}

// isAsked reports whether nothing was pressed since the agent asked for something.
func (g *gate) isAsked(asked int) bool { return asked == g.guard.presses }

// admit lets a change of the call on the desk pass, offers it, or lets it wait.
func (g *gate) admit(a arrival) {
	switch {
	case g.isAsked(a.asked):
		a.run()
	case g.seat.Call != nil:
		g.offer(a)
	case g.isFree() && !g.pause.IsOn() && !g.pause.IsSent():
		a.run()
	default:
		g.waiting = append(g.waiting, a)
	}
}

// offer names a change that the agent may make with one key.
func (g *gate) offer(a arrival) {
	a.at = g.Now()
	g.offered = &a
	text, does := g.Offered()
	g.Notify(event.Notice{Text: text, See: event.SeeOffer, Does: does})
}

// Offered returns the offer and the effect of its key, or an empty text.
func (g *gate) Offered() (text, does string) {
	if g.offered == nil {
		return "", ""
	}
	return g.offered.text, g.Say(cmp.Or(g.offered.does, "opens it"))
}

// IsOffered reports whether something has come and waits for the agent.
func (g *gate) IsOffered() bool { return g.offered != nil }

// WhyNotAccept returns why there is no offer to accept.
func (g *gate) WhyNotAccept() string {
	switch {
	case g.offered == nil:
		return "nothing is offered"
	case g.Now().Sub(g.offered.at) < visibleFor:
		return "something new has just come: press it again"
	default:
		return ""
	}
}

// Accept makes the change that was offered.
func (g *gate) Accept() []event.Event {
	if a := g.offered; a != nil {
		g.offered = nil
		a.run()
		g.onAccept()
	}
	return g.Drain()
}

// admitWaiting lets in what waited for the keyboard, once it rests.
func (g *gate) admitWaiting() {
	waiting := g.waiting
	g.waiting = nil
	for _, a := range waiting {
		g.admit(a)
	}
}

// replaceStale replaces a call that cannot be worked on by the next one: at once if it has just come, or after a key
// if the agent may be working on it.
func (g *gate) replaceStale(text string, asked int) {
	if g.isAsked(asked) && g.Now().Sub(g.guard.shownAt) < restTime {
		g.next()
		g.Sayf("%s; here is the next one", text)
		return
	}
	g.offer(arrival{text: text, of: g.seat.Call.UUID, run: g.next})
}

// next clears the Desk and waits for another call.
func (d *Day) next() {
	d.leave()
	d.Gate.askedAt = d.Guard.presses
	d.Wanted, d.NoneLeft, d.leases.none = true, false, false
	d.serve()
}

// takeCall takes the call off the desk and reads a certain one for it.
func (d *Day) takeCall(id apitype.UUID) {
	for _, l := range slices.Clone(d.leases.held) {
		if l.CallUUID != id {
			d.leases.releaseLease(l.CallUUID)
		}
	}
	d.leave()
	d.Pause.OpensCall()
	d.Gate.askedAt = d.Guard.presses
	d.Wanted, d.NoneLeft = false, false
	d.Taking, d.unleased = true, id
	d.leases.unreturned = apitype.UUID{}
	d.reread(id, d.Gate.askedAt)
}

// mayServe reports whether the call that the agent waits for may come on the desk now.
func (d *Day) mayServe() bool {
	return d.Wanted && d.Call == nil && d.Changes.Drafts.IsRead && (d.Gate.isAsked(d.Gate.askedAt) || d.Gate.isFree())
}

// present puts a call on the desk and reads it again.
func (d *Day) present(call apitype.Call) {
	d.Call, d.Checked, d.Taking = &call, false, false
	d.Wanted, d.NoneLeft = false, false
	d.noteReason()
	d.Guard.Show(d.Now())
	d.openForm(call.UUID, d.Changes.Drafts.Of(call.UUID))
	d.pickScript()
	if l := d.leases.leaseOf(call.UUID); l != nil && l.Ahead {
		d.leases.extend(*l)
	}
	if d.leases.leaseOf(call.UUID) == nil {
		d.unleased = call.UUID
	}
	d.reread(call.UUID, d.Gate.askedAt)
	d.source().Prefetch()
	if d.leases.usable && !d.Callbacks.IsAsked() {
		d.Callbacks.Read()
	}
	d.queue.Shown(call.UUID)
}

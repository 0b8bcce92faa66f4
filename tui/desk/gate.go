package desk

import (
	"cmp"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// restTime is how long the keyboard rests before something that the agent did not ask for may
// put a call on an empty desk.
const restTime = time.Second

// gate is the only way by which the call on the desk changes. A change that the agent asked for
// with the latest key passes at once. Any other change never replaces a call that is shown: it is
// offered. Where no call is shown it waits until no text field or dialog is open and the keyboard
// rests.
type gate struct {
	// Busy reports whether a text field or a dialog has the keys; nil: none ever has.
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
	of    apitype.UUID // The call with which the offer ends; zero for none.
	entry string       // The entry of the outbox with which it ends; "" for none.
	at    time.Time    // When it was offered.
	run   func()
}

// unasked is when the agent asked for what nobody has asked for.
const unasked = -1

// isFree reports whether the agent is doing nothing that a change could disturb.
func (d *Day) isFree() bool {
	return (d.Busy == nil || !d.Busy()) && d.Now().Sub(d.Guard.at) >= restTime
}

// isAsked reports whether nothing was pressed since the agent asked for something.
func (d *Day) isAsked(asked int) bool { return asked == d.Guard.presses }

// admit lets a change of the call on the desk pass, offers it, or lets it wait.
func (d *Day) admit(a arrival) {
	switch {
	case d.isAsked(a.asked):
		a.run()
	case d.Call != nil:
		d.offer(a)
	case d.isFree():
		a.run()
	default:
		d.waiting = append(d.waiting, a)
	}
}

// offer names a change that the agent may make with one key.
func (d *Day) offer(a arrival) {
	a.at = d.Now()
	d.offered = &a
	text, does := d.Offered()
	d.notify(Notice{Text: text, See: SeeOffer, Does: does})
}

// Offered says what has come and waits for the agent, and what its key does; "" for nothing.
func (d *Day) Offered() (text, does string) {
	if d.offered == nil {
		return "", ""
	}
	return d.offered.text, cmp.Or(d.offered.does, "opens it")
}

// IsOffered reports whether something has come and waits for the agent.
func (d *Day) IsOffered() bool { return d.offered != nil }

// offerRest offers to send what waits for a correction that was refused. One whose details are overtaken
// is asked about instead.
func (d *Day) offerRest(e outbox.Event) {
	isFix := e.Entry.Op == apiclient.OpUpdatePerson || e.Entry.Op == apiclient.OpUpdatePledge
	waits := func(other outbox.Entry) bool { return other.After == e.Entry.ID }
	if e.Outcome != outbox.OutcomeRejected || e.IsForeign || !isFix || len(e.Entry.Fields) > 0 || !slices.ContainsFunc(d.Entries, waits) {
		return
	}
	d.offer(arrival{
		text: ErrorText(cmp.Or(d.Labels[e.Entry.ID], OpLabel(e.Entry.Op))+" was refused", e.Err), does: "sends the result without it", entry: e.Entry.ID,
		run: func() { d.drop(e.Entry.ID) },
	})
}

// WhyNotAccept says why nothing that was offered can be accepted.
func (d *Day) WhyNotAccept() string {
	switch {
	case d.offered == nil:
		return "nothing is offered"
	case d.Now().Sub(d.offered.at) < visibleFor:
		return "an offer has just come: press it again"
	default:
		return ""
	}
}

// Accept makes the change that was offered.
func (d *Day) Accept() []Event {
	if a := d.offered; a != nil {
		d.offered = nil
		a.run()
	}
	return d.take()
}

// admitWaiting lets in what waited for the keyboard, once it rests.
func (d *Day) admitWaiting() {
	waiting := d.waiting
	d.waiting = nil
	for _, a := range waiting {
		d.admit(a)
	}
	if d.Wanted && d.Call == nil && d.isFree() && (d.ahead() != nil || len(d.queue.prefetched) > 0) {
		d.serve()
	}
}

// replaceStale puts the next call in place of one that cannot be worked on: at once where it has
// only just come, and at the agent's word where the agent may be at work on it.
func (d *Day) replaceStale(text string, asked int) {
	if d.isAsked(asked) && d.Now().Sub(d.Guard.shownAt) < restTime {
		d.next()
		d.sayf("%s; here is the next one", text)
		return
	}
	d.offer(arrival{text: text, of: d.Call.UUID, run: d.next})
}

// next takes the call off the desk and waits for another one.
func (d *Day) next() {
	d.leave()
	d.Call = nil
	d.askedAt = d.Guard.presses
	d.Wanted, d.Taking, d.NoneLeft, d.leases.none = true, false, false, false
	d.serve()
}

// takeCall takes the call off the desk and reads a certain one for it.
func (d *Day) takeCall(id apitype.UUID) {
	d.releaseAllBut(id)
	d.leave()
	d.askedAt = d.Guard.presses
	d.Call, d.Wanted, d.NoneLeft = nil, false, false
	d.Checked, d.Taking = false, true
	d.reread(id, d.askedAt)
}

// mayServe reports whether the call that the agent waits for may come on the desk now.
func (d *Day) mayServe() bool {
	return d.Wanted && d.Call == nil && d.draftsRead && (d.isAsked(d.askedAt) || d.isFree())
}

// present puts a call on the desk and reads it again.
func (d *Day) present(call apitype.Call) {
	d.Call, d.Checked, d.Taking = &call, false, false
	d.Wanted, d.NoneLeft = false, false
	d.Guard.Show(d.Now())
	d.openForm(call.UUID, d.draftOf(call.UUID))
	delete(d.queue.prefetched, call.UUID)
	d.pickScript()
	if l := d.leaseOf(call.UUID); l != nil && l.Ahead {
		d.extend(*l)
	}
	d.reread(call.UUID, d.askedAt)
	d.prefetch()
	if len(d.queue.candidates) < queueEnough {
		d.walk()
	}
}

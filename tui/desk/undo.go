package desk

import (
	"errors"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/event"
)

// CanUndo reports whether there is a change to take back.
func (c *Changes) CanUndo() bool { return len(c.Held) > 0 || c.saving > 0 }

// holdReturn lets the agent return to the call on the Desk, as long as a change would be held. The uuid is the new
// call that replaces it, or zero.
func (d *Day) holdReturn(label string, created apitype.UUID) {
	h := Held{Change: Change{Label: label}, Until: d.Now().Add(holdTime), created: created, back: func() {}}
	if d.Call != nil {
		id, done := d.Call.UUID, d.progress
		h.back = func() {
			d.queue.dismissed[id] = false
			d.takeCall(id)
			d.progress = done
		}
	}
	d.Changes.hold(h)
}

// hold adds a change to those that an undo takes back, in the order of their keys. What is not saved is held at once,
// before earlier changes that are still on their way to the disk.
func (c *Changes) hold(h Held) {
	at := len(c.Held)
	for at > 0 && c.Held[at-1].Until.After(h.Until) {
		at--
	}
	c.Held = slices.Insert(c.Held, at, h)
}

// Undo takes the latest change back, with the other changes of the same key, the latest first.
func (d *Day) Undo() []event.Event {
	c := d.Changes
	if c.undoAsked = d.Guard.presses; c.saving > 0 {
		c.undos++ // It is taken back once it is on disk.
	} else {
		c.undo()
	}
	return c.Drain()
}

// undoSaved handles an undo during the saving of a change. If the change was not saved, no earlier one is undone
// instead.
func (c *Changes) undoSaved(isSaved bool) {
	if !isSaved {
		c.undos = 0
	}
	if c.saving > 0 {
		return
	}
	for ; c.undos > 0; c.undos-- {
		if len(c.Held) > 0 {
			c.undo()
		}
	}
}

func (c *Changes) undo() {
	last := c.Held[len(c.Held)-1]
	held := c.Held
	var burst []Held
	c.Held = nil
	for _, h := range held {
		if h.isWith(last, held) {
			burst = append(burst, h)
		} else {
			c.Held = append(c.Held, h)
		}
	}
	asked := c.undoAsked
	for i, h := range slices.Backward(burst) {
		n, whole := 0, ""
		if i == 0 {
			n, whole = countOwn(burst), wholeOf(burst)
		}
		c.inOrder(func() event.Result {
			r := recalled{change: h, err: c.recall(h), burst: n, whole: whole, asked: asked}
			return event.Result{Name: "change taken back", TakeIn: func() { c.onRecall(r) }}
		})
	}
}

// wholeOf returns the label of the work on a call that some changes are parts of, or an empty text.
func wholeOf(burst []Held) (label string) {
	for _, h := range burst {
		if h.group == nil || h.group != burst[0].group {
			return ""
		}
		if h.from != nil {
			label = h.Label
		}
	}
	return label
}

// isWith reports whether an undo of the last change takes h back, too. A change goes with the first one of its group,
// so that no attempt loses its reason alone.
func (h Held) isWith(last Held, held []Held) bool {
	if h.group == nil {
		return last.Until.Sub(h.Until) <= burstTime
	}
	first := slices.IndexFunc(held, func(other Held) bool { return other.group == h.group })
	return h.group == last.group || last.Until.Sub(held[first].Until) <= burstTime
}

// recall takes a held change back. Its draft is on disk before the change leaves the
// outbox.
func (c *Changes) recall(h Held) error {
	if h.back != nil {
		return c.recallCreation(h.created)
	}
	textGoes := h.from != nil && h.from.goes && !h.from.draft.IsEmpty()
	if textGoes {
		if err := c.Autosave.Restore(h.from.draft); err != nil {
			return err
		}
	}
	_, err := c.Outbox.Recall(h.id)
	if err != nil && textGoes {
		err = errors.Join(err, c.Autosave.Delete(h.from.draft, outbox.Draft{}))
	}
	return err
}

// recallCreation undoes a new call that the service has not received. A received one stays open there.
func (c *Changes) recallCreation(id apitype.UUID) error {
	entries, _, err := c.Outbox.List()
	if i := slices.IndexFunc(
		entries,
		func(e outbox.Entry) bool { return e.UUID == id && e.Op == apiclient.OpCreateCall },
	); err == nil &&
		i >= 0 {
		_, err = c.Outbox.Recall(entries[i].ID)
		return err
	}
	if err == nil && !id.IsZero() {
		return errors.New("the service has the new call: it stays open there until you cancel it")
	}
	return err
}

// onRecalled hears that a held change was taken back, and puts its call on the desk again.
func (d *Day) onRecalled(r recalled) {
	d.Changes.readOutbox()
	group := d.Changes.groups[r.change.id]
	switch {
	case group != nil && r.err == nil:
		group.hear(r.change.id, outbox.OutcomeDropped)
	case group != nil && (errors.Is(r.err, outbox.ErrSent) || errors.Is(r.err, outbox.ErrSending)):
		group.hear(r.change.id, outbox.OutcomeUnsure)
	}
	if r.err != nil {
		d.Fail(d.Say("cannot undo %s", d.Say(r.change.Label)), r.err)
	}
	label := d.Say("undone: %s", d.Say(r.change.Label))
	if remains := group.remains(d.base); remains != "" && r.burst > 0 {
		label += "; " + remains
	}
	if back := r.change.back; back != nil {
		if r.err == nil {
			d.Sayf("%s", label)
		}
		if d.opening == r.change.created {
			d.opening = apitype.UUID{}
		}
		d.Gate.admit(arrival{asked: r.asked, text: label, run: func() { back() }})
		return
	}
	if r.err != nil {
		return
	}
	d.Changes.Batch.isTakenBack(r.change.id)
	d.Recent.forget(r.change.id)
	switch isWhole := group.remains(d.base) == ""; {
	case r.burst == 0: // The last one speaks for all.
	case isWhole && r.whole != "":
		d.Sayf("undone: %s", d.Say(r.whole))
	case isWhole && r.burst > 1:
		d.Sayf("undone: %d changes", r.burst)
	default:
		d.Sayf("%s", label)
	}
	if r.change.from != nil {
		d.Gate.admit(arrival{asked: r.asked, text: label, run: func() { d.restore(r.change.Change) }})
	}
}

// countOwn counts the changes that are not additions to another change.
func countOwn(held []Held) (n int) {
	for _, h := range held {
		if !h.isExtra {
			n++
		}
	}
	return max(n, 1)
}

// lastHeld returns the change that was held last, without additions to others.
func (c *Changes) lastHeld() Held {
	for _, h := range slices.Backward(c.Held) {
		if !h.isExtra {
			return h
		}
	}
	return c.Held[len(c.Held)-1]
}

// HeldText returns the last held change, its effect on the record, the rest of its time, and the key of the undo. It
// is empty if nothing is held.
func (c *Changes) HeldText(undo string) string {
	if len(c.Held) == 0 {
		return ""
	}
	label, rest := c.HeldParts(undo, false)
	if says := c.lastHeld().says; says != "" {
		label += ", " + says
	}
	return label + rest
}

// HeldParts returns the two parts of HeldText: the change, which may be cut, and the rest. brief is for a short line.
func (c *Changes) HeldParts(undo string, brief bool) (label, rest string) {
	n := countOwn(c.Held)
	last := c.lastHeld()
	left := int(max(last.Until.Sub(c.Now()).Round(time.Second), 0).Seconds())
	label = c.Say(last.Label)
	switch isOffline := c.Offline != "" && last.back == nil; {
	case brief:
		if rest = c.Say("%s, %d s, %s undo", "", left, undo); isOffline {
			rest = c.Say("%s, offline, %s undo", "", undo)
		}
	case isOffline:
		rest = c.Say("%s, sent when the service answers, %s undoes it", "", undo)
	case last.back != nil:
		rest = c.Say("%s, %s undoes it for %d s", "", undo, left)
	default:
		rest = c.Say("%s, sent in %d s, %s undoes it", "", left, undo)
	}
	if n > 1 {
		rest += c.Say(" (%d held)", n)
	}
	return label, rest
}

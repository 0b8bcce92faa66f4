package desk

import (
	"errors"
	"slices"

	"fundesk/apiclient/outbox"
)

// CanUndo reports whether there is a change to take back.
func (c *Changes) CanUndo() bool { return len(c.Held) > 0 || c.saving > 0 }

// Undo takes the latest change back, with those that were sent in one burst with it, the
// latest first. One that is not on disk yet is taken back when it is.
func (c *Changes) Undo() []Event {
	if c.saving > 0 {
		c.undos++
	} else {
		c.undo()
	}
	return c.take()
}

// undoSaved takes back what the agent wanted to while it was being saved. Where it was not
// saved, no change before it is taken back in its place.
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
	last := c.Held[len(c.Held)-1].Until
	burst := slices.DeleteFunc(slices.Clone(c.Held), func(h Held) bool { return last.Sub(h.Until) > burstTime })
	c.Held = c.Held[:len(c.Held)-len(burst)]
	for i, h := range slices.Backward(burst) {
		n := 0
		if i == 0 {
			n = len(burst)
		}
		c.inOrder(func() Result {
			r := recalled{change: h, err: c.recall(h), burst: n}
			return func(d *Day) { d.onRecalled(r) }
		})
	}
}

// recall takes a held change back. Its draft is on disk before the change leaves the
// outbox.
func (c *Changes) recall(h Held) error {
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

// onRecalled hears that a held change was taken back, and puts its call on the desk again.
func (d *Day) onRecalled(r recalled) {
	d.readOutbox()
	if r.err != nil {
		d.fail("cannot undo "+r.change.Label, r.err)
		return
	}
	d.Batch.isTakenBack(r.change.id)
	if r.burst > 1 {
		d.sayf("taken back: %d changes", r.burst)
	} else {
		d.sayf("taken back: %s", r.change.Label)
	}
	d.forgetRecent(r.change.id)
	d.restore(r.change.Change)
}

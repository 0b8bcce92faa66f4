package changes

import (
	"errors"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/event"
)

// Held is a change that can still be taken back.
type Held struct {
	Change
	Until time.Time
	entry string // Its id in the outbox. Empty for a step.
	// isStep means that the agent only left a call: nothing of it is in the outbox, except the new call.
	isStep  bool
	created apitype.UUID // The new call that replaced it. Zero without one.
}

// recalled is a held change that was undone, or the reason why it could not be.
type recalled struct {
	change Held
	err    error
	burst  int    // How many were undone with it, if it is the last of them.
	whole  string // The work on a call that all of them are parts of. Empty if there is none.
	asked  int    // After how many keys the agent wanted it.
}

// CanUndo reports whether there is a change to take back.
func (s *Session) CanUndo() bool { return len(s.Held) > 0 || s.saving > 0 }

// HoldStep lets an undo return to a call that the agent left without a change, for as long as a change is held. created
// is the new call that replaces it, or zero.
func (s *Session) HoldStep(label string, created apitype.UUID, restore func()) {
	s.hold(Held{
		Change:  Change{Label: label, Restore: restore},
		Until:   s.Now().Add(holdTime),
		isStep:  true,
		created: created,
	})
}

// hold adds a change to those that an undo takes back, in the order of their keys. A step is held at once, before
// earlier changes that are still on their way to the disk.
func (s *Session) hold(h Held) {
	at := len(s.Held)
	for at > 0 && s.Held[at-1].Until.After(h.Until) {
		at--
	}
	s.Held = slices.Insert(s.Held, at, h)
}

// Release forgets held changes whose time is over, because they are being sent. While the service cannot be reached
// they stay, and can be undone.
func (s *Session) Release() {
	s.Held = slices.DeleteFunc(s.Held, func(h Held) bool {
		return !h.Until.After(s.Now()) && (s.Connection.Offline == "" || h.isStep)
	})
}

// Undo takes the latest change back, with the other changes of the same key, the latest first.
func (s *Session) Undo() []event.Event {
	s.undoAsked = s.Keys.Presses
	if s.saving > 0 {
		s.undos++ // It is taken back once it is on disk.
	} else {
		s.undo()
	}
	return s.Events.Drain()
}

// undoSaved handles an undo during the saving of a change. If the change was not saved, no earlier one is undone
// instead.
func (s *Session) undoSaved(isSaved bool) {
	if !isSaved {
		s.undos = 0
	}
	if s.saving > 0 {
		return
	}
	for ; s.undos > 0; s.undos-- {
		if len(s.Held) > 0 {
			s.undo()
		}
	}
}

func (s *Session) undo() {
	last, held := s.Held[len(s.Held)-1], s.Held
	var burst []Held
	s.Held = nil
	for _, h := range held {
		if h.isWith(last, held) {
			burst = append(burst, h)
		} else {
			s.Held = append(s.Held, h)
		}
	}
	asked := s.undoAsked
	for i, h := range slices.Backward(burst) {
		r := recalled{change: h, asked: asked}
		if i == 0 {
			r.burst, r.whole = countOwn(burst), wholeOf(burst)
		}
		s.inOrder(func() event.Result {
			r.err = s.recall(h)
			return event.Result{Name: "change taken back", TakeIn: func() { s.onRecalled(r) }}
		})
	}
}

// wholeOf returns the label of the work on a call that some changes are parts of, or an empty text.
func wholeOf(burst []Held) string {
	var label string
	for _, h := range burst {
		if h.Group == nil || h.Group != burst[0].Group {
			return ""
		}
		if h.Restore != nil {
			label = h.Label
		}
	}
	return label
}

// isWith reports whether an undo of the last change takes h back, too. A change goes with the first one of its group,
// so that no attempt loses its reason alone.
func (h Held) isWith(last Held, held []Held) bool {
	if h.Group == nil {
		return last.Until.Sub(h.Until) <= burstTime
	}
	first := slices.IndexFunc(held, func(other Held) bool { return other.Group == h.Group })
	return h.Group == last.Group || last.Until.Sub(held[first].Until) <= burstTime
}

// recall takes a held change back, in the background. Its draft is on disk before the change leaves the outbox.
func (s *Session) recall(h Held) error {
	if h.isStep {
		return s.recallCreation(h.created)
	}
	textGoes := h.Typed != nil && !h.Typed.Draft.IsEmpty()
	if textGoes {
		if err := s.Drafts.Restore(h.Typed.Draft); err != nil {
			return err
		}
	}
	_, err := s.Outbox.Recall(h.entry)
	if err != nil && textGoes {
		err = errors.Join(err, s.Drafts.Delete(h.Typed.Draft, outbox.Draft{}))
	}
	return err
}

// recallCreation undoes a new call that the service has not received. A received one stays open there.
func (s *Session) recallCreation(id apitype.UUID) error {
	if id.IsZero() {
		return nil
	}
	entries, _, err := s.Outbox.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.UUID == id && e.Op == apiclient.OpCreateCall {
			_, err := s.Outbox.Recall(e.ID)
			return err
		}
	}
	return errors.New("the service has the new call: it stays open there until you cancel it")
}

// onRecalled takes in that a held change was taken back, and lets its call return to the Desk.
func (s *Session) onRecalled(r recalled) {
	s.Read()
	group := s.groups[r.change.entry]
	if r.err == nil {
		group.hear(r.change.entry, outbox.OutcomeDropped)
	} else if errors.Is(r.err, outbox.ErrSent) || errors.Is(r.err, outbox.ErrSending) {
		group.hear(r.change.entry, outbox.OutcomeUnsure)
	}
	if r.err != nil {
		s.Events.Fail(s.Say("cannot undo %s", s.Say(r.change.Label)), r.err)
	}
	text := s.Say("undone: %s", s.Say(r.change.Label))
	remains := group.Remains(s.Texts)
	if remains != "" && r.burst > 0 {
		text += "; " + remains
	}
	back := Return{
		Asked:   r.asked,
		Text:    text,
		Created: r.change.created,
		Restore: r.change.Restore,
	}
	if r.change.isStep { // The agent may return even if the new call stays.
		if r.err == nil {
			s.Events.Sayf("%s", text)
		}
		s.OnReturn(back)
		return
	}
	if r.err != nil {
		return
	}
	s.Batch.undone(r.change.entry)
	s.Recent.forget(r.change.entry)
	isWhole := remains == ""
	switch {
	case r.burst == 0: // The last one speaks for all.
	case isWhole && r.whole != "":
		s.Events.Sayf("undone: %s", s.Say(r.whole))
	case isWhole && r.burst > 1:
		s.Events.Sayf("undone: %d changes", r.burst)
	default:
		s.Events.Sayf("%s", text)
	}
	if back.Restore != nil {
		s.OnReturn(back)
	}
}

// countOwn counts the changes that are not additions to another change.
func countOwn(held []Held) int {
	var n int
	for _, h := range held {
		if !h.IsExtra {
			n++
		}
	}
	return max(n, 1)
}

// lastHeld returns the change that was held last, without additions to others.
func (s *Session) lastHeld() Held {
	for _, h := range slices.Backward(s.Held) {
		if !h.IsExtra {
			return h
		}
	}
	return s.Held[len(s.Held)-1]
}

// HeldText returns the last held change, its effect on the record, the rest of its time, and the key of the undo. It
// is empty if nothing is held.
func (s *Session) HeldText(undo string) string {
	if len(s.Held) == 0 {
		return ""
	}
	label, rest := s.HeldParts(undo, false)
	if says := s.lastHeld().Says; says != "" {
		label += ", " + says
	}
	return label + rest
}

// HeldParts returns the two parts of HeldText: the change, which may be cut, and the rest. brief is for a short line.
func (s *Session) HeldParts(undo string, brief bool) (label, rest string) {
	last := s.lastHeld()
	left := int(max(last.Until.Sub(s.Now()).Round(time.Second), 0).Seconds())
	isOffline := s.Connection.Offline != "" && !last.isStep
	switch {
	case brief && isOffline:
		rest = s.Say("%s, offline, %s undo", "", undo)
	case brief:
		rest = s.Say("%s, %d s, %s undo", "", left, undo)
	case isOffline:
		rest = s.Say("%s, sent when the service answers, %s undoes it", "", undo)
	case last.isStep:
		rest = s.Say("%s, %s undoes it for %d s", "", undo, left)
	default:
		rest = s.Say("%s, sent in %d s, %s undoes it", "", left, undo)
	}
	if n := countOwn(s.Held); n > 1 {
		rest += s.Say(" (%d held)", n)
	}
	return s.Say(last.Label), rest
}

// HeldFor returns how long the work on a call can still be taken back.
func (s *Session) HeldFor(r Recent) time.Duration {
	for _, h := range s.Held {
		if h.entry == r.entry && h.entry != "" {
			return h.Until.Sub(s.Now())
		}
	}
	return 0
}

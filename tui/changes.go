package tui

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// holdTime is how long a change can be taken back before it is sent.
const holdTime = 5 * time.Second

// change is something the user did that the service must hear of.
type change struct {
	apiclient.Change
	err   error         // Why it cannot be sent at all.
	label string        // What it is, as it is shown: "complete: A. Jansen".
	draft *outbox.Draft // The text it came from, to give back.
	undo  func() tea.Cmd
	// queued is told that it is in the outbox, or why not; nil: nobody asks.
	queued func(outbox.Entry, error)
}

// newChange labels what the client made.
func newChange(label string) func(apiclient.Change, error) change {
	return func(c apiclient.Change, err error) change { return change{Change: c, err: err, label: label} }
}

// restore puts what the change came from back on screen.
func (c change) restore() tea.Cmd {
	if c.undo == nil {
		return nil
	}
	return c.undo()
}

// heldChange is a change that can still be taken back.
type heldChange struct {
	change change
	id     string
	until  time.Time
}

// queued tells that a change is durable in the outbox, or why not.
type queued struct {
	change change
	entry  outbox.Entry
	err    error
	left   error // Why the draft that it came from could not be erased.
}

// recalled tells that a held change was taken back.
type recalled struct {
	change change
	id     string
	err    error
	burst  int // How many were taken back with it, where it is the last of them.
}

// outboxEvent tells what became of an entry.
type outboxEvent struct{ event outbox.Event }

// outboxState is the content of the outbox.
type outboxState struct {
	entries []outbox.Entry
	damaged []outbox.Damaged
	drafts  []outbox.Draft
	rescued error // Why what editors saved is not among the drafts.
	err     error
}

// finished ends the program.
type finished struct{}

// markChange marks a record as processed.
func (s *shell) markChange(entity apitype.EntityName, id apitype.UUID, label string) change {
	entry := apitype.ProcessedEntry{EntityName: entity, EntityUUID: id, ProcessedAt: apitype.NewTime(s.Now())}
	if s.ExternalSourceName != "" {
		entry.ExternalSourceName = new(s.ExternalSourceName)
	}
	return newChange(label)(apiclient.MarkProcessedChange([]apitype.ProcessedEntry{entry}))
}

// submit puts a change in the outbox, held for a few seconds. The draft that it came
// from is erased once the change is durable.
func (s *shell) submit(c change) tea.Cmd {
	until := s.Now().Add(holdTime)
	return s.inOrder(func() tea.Msg {
		if c.err != nil {
			return queued{change: c, err: c.err}
		}
		entry := outbox.NewEntry(c.Change)
		entry.NotBefore = until
		entry, err := s.Outbox.Add(entry)
		q := queued{change: c, entry: entry, err: err}
		if err == nil && c.draft != nil {
			q.left = s.keeper.forget(c.UUID)
		}
		return q
	})
}

// inOrder starts work on the disk at once, after all that was started before, and
// whether or not the program lives to hear of it: a change that the user has made must
// not depend on the next moment's q.
func (s *shell) inOrder(work func() tea.Msg) tea.Cmd {
	before, done, answer := s.written, make(chan struct{}), make(chan tea.Msg, 1)
	s.written = done
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		answer <- work()
	}()
	return func() tea.Msg { return <-answer }
}

// hold notes a change that can be taken back.
func (s *shell) hold(msg queued) {
	s.message = message{} // What was said before is over.
	s.held = append(s.held, heldChange{change: msg.change, id: msg.entry.ID, until: msg.entry.NotBefore})
}

// burstTime is how long a burst of changes takes: they are taken back together.
const burstTime = 2 * time.Second

// undo takes the latest held change back, with those that were sent in one burst with
// it, the latest first.
func (s *shell) undo() tea.Cmd {
	last := s.held[len(s.held)-1].until
	burst := slices.DeleteFunc(slices.Clone(s.held), func(h heldChange) bool { return last.Sub(h.until) > burstTime })
	s.held = s.held[:len(s.held)-len(burst)]
	var commands []tea.Cmd
	for i, h := range slices.Backward(burst) {
		n := 0
		if i == 0 {
			n = len(burst)
		}
		commands = append(commands, s.inOrder(func() tea.Msg {
			return recalled{change: h.change, id: h.id, err: s.recall(h), burst: n}
		}))
	}
	return tea.Sequence(commands...)
}

// recall takes a held change back. Its draft is on disk before the change leaves the
// outbox.
func (s *shell) recall(h heldChange) error {
	if h.change.draft != nil {
		if err := s.keeper.save(*h.change.draft); err != nil {
			return err
		}
	}
	_, err := s.Outbox.Recall(h.id)
	if err != nil && h.change.draft != nil {
		err = errors.Join(err, s.keeper.forget(h.change.UUID))
	}
	return err
}

// dropReleased forgets held changes whose time is over: they are on their way.
func (s *shell) dropReleased() {
	now := s.Now()
	s.held = slices.DeleteFunc(s.held, func(h heldChange) bool { return !h.until.After(now) })
}

// readOutbox reads the outbox and the drafts from disk. One reading at a time is
// enough: what is asked for meanwhile is read after it.
func (s *shell) readOutbox() tea.Cmd {
	if s.reading {
		s.readAgain = true
		return nil
	}
	s.reading = true
	return func() tea.Msg {
		entries, damaged, err := s.Outbox.List()
		if err != nil {
			return outboxState{err: err}
		}
		rescued := s.Outbox.RescueEdits()
		drafts, err := s.Outbox.Drafts()
		return outboxState{entries: entries, damaged: damaged, drafts: drafts, rescued: rescued, err: err}
	}
}

func (s *shell) onOutboxState(msg outboxState) tea.Cmd {
	again := s.readAgain
	s.reading, s.readAgain, s.draftsRead = false, false, true
	if msg.err != nil {
		s.fail("cannot read the outbox", msg.err)
		return nil
	}
	if msg.rescued != nil {
		s.fail("cannot take in what an editor saved", msg.rescued)
	}
	s.entries, s.damaged, s.drafts = msg.entries, msg.damaged, msg.drafts
	if again {
		return s.readOutbox()
	}
	return nil
}

// unsent is how many changes wait, those refused not counted.
func (s *shell) unsent() int {
	n := 0
	for _, e := range s.entries {
		if e.State != outbox.StateRejected {
			n++
		}
	}
	return n
}

// pending are the calls with a change that was not sent yet.
func (s *shell) pending(id apitype.UUID) bool {
	return slices.ContainsFunc(s.entries, func(e outbox.Entry) bool {
		return e.UUID == id && e.State != outbox.StateRejected
	})
}

// onOutboxEvent shows what became of a change.
func (s *shell) onOutboxEvent(msg outboxEvent) tea.Cmd {
	e := msg.event
	if e.Entry.ID == "" {
		s.noteConnection(e.Err)
		s.fail("nothing is sent", e.Err)
		return nil
	}
	s.held = slices.DeleteFunc(s.held, func(h heldChange) bool { return h.id == e.Entry.ID })
	if e.Outcome != outbox.OutcomeAccepted {
		s.lastBulk.hear(e)
	}
	what := opLabel(e.Entry.Op) + " " + shortID(e.Entry.UUID)
	switch e.Outcome {
	case outbox.OutcomeAccepted:
		s.noteConnection(nil)
		s.sayf("%s %s: the service has it", s.styles.okSign, what)
		if s.lastBulk.hear(e) {
			s.sayf("%s, %s shows each", s.lastBulk.summary(), s.keyOf(actResults))
		}
		s.message.aside = true
	case outbox.OutcomeRejected:
		s.fail(what+" was refused, its text is kept (O shows it)", e.Err)
	case outbox.OutcomeUnsure:
		if s.noteConnection(e.Err); errors.Is(e.Err, outbox.ErrCannotTell) {
			s.fail(what+" (O shows it)", e.Err)
		}
	case outbox.OutcomeWaiting:
		if !s.noteConnection(e.Err) && e.Err != nil {
			s.fail(what+" waits in the outbox", e.Err)
		}
	}
	return tea.Batch(s.readOutbox(), s.heard(e))
}

// opLabel is an operation as a person says it.
func opLabel(op string) string {
	switch op {
	case apiclient.OpAddAttempt:
		return "attempt"
	case apiclient.OpCompleteCall:
		return "completion"
	case apiclient.OpCancelCall:
		return "cancellation"
	case apiclient.OpExpireCall:
		return "expiry"
	case apiclient.OpPledgeAction:
		return "status action"
	case apiclient.OpMarkProcessed:
		return "processed mark"
	default:
		return op
	}
}

// shortID is enough of an identifier to tell records on a screen apart.
func shortID(id apitype.UUID) string { return string(appendShortID(nil, id)) }

func appendShortID(b []byte, id apitype.UUID) []byte { return hex.AppendEncode(b, id[:4]) }

// flushCmd saves what is typed.
func (s *shell) flushCmd() tea.Cmd {
	return func() tea.Msg { return draftsKept{s.keeper.flush()} }
}

// suspendTime is how long the program may take to be stopped.
const suspendTime = 2 * time.Second

// rest keeps the outbox as it is until the program is stopped.
func (s *shell) rest() tea.Msg {
	s.Outbox.Still(suspendTime)
	return nil
}

// finish sends what is held, for a few seconds, and ends the program. What does not go
// out in that time stays in the outbox.
func (s *shell) finish() tea.Cmd {
	s.say("sending what is held…")
	written := s.written
	return func() tea.Msg {
		if written != nil {
			<-written
		}
		ctx, cancel := context.WithTimeout(s.ctx, s.QuitWait)
		defer cancel()
		_ = s.keeper.flush() // Run flushes again and reports.
		if s.Outbox.Release() != nil {
			return finished{}
		}
		for ctx.Err() == nil && !s.quiet() {
			report, err := s.sender.SendDue(ctx)
			if err != nil || report.Err != nil {
				break
			}
			// The other sender of this program may have the rest in hand.
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
		return finished{}
	}
}

// quiet reports whether nothing is left that a moment's wait would send.
func (s *shell) quiet() bool {
	entries, _, err := s.Outbox.List()
	return err != nil || !slices.ContainsFunc(entries, func(e outbox.Entry) bool {
		return e.State == outbox.StateSending || (e.State == outbox.StateQueued && e.Tries == 0)
	})
}

// describe is an error with its details, for a dialog.
func describe(err error) []string {
	lines := []string{err.Error()}
	if failure, ok := errors.AsType[*apiclient.Error](err); ok {
		lines = append(lines, failure.Detail...)
		if failure.RequestID != "" {
			lines = append(lines, fmt.Sprintf("request %s", failure.RequestID))
		}
	}
	return lines
}

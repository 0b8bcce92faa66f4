package desk

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/desk/event"
)

// How long a change can be taken back before it is sent, and how long a burst of changes
// takes: they are taken back together. A burst comes from one key: a call must be visible
// for longer before a key ends it.
const (
	holdTime  = 5 * time.Second
	burstTime = 500 * time.Millisecond
)

// Change is something the agent did that the service must hear of.
type Change struct {
	apiclient.Change
	Label string // What it is, as it is shown: "complete: A. Jansen".
	says  string // The effect in words: "may not be phoned any more". Empty without one.
	next  string // What the agent does next, shown once the change is on disk. Empty without it.
	// effect is the effect on the donor that the service should store. Empty without one.
	effect apitype.ResultEffect
	err    error // Why it cannot be sent at all.
	from   *worked
	batch  *Batch // The batch that it belongs to. Nil without one.
	index  int    // Of its record there.
	// atOnce: it is not held.
	atOnce bool
	asked  int // After how many keys the agent made it.
	// isExtra means that the group may be saved without it, and that it has no message.
	isExtra bool
	group   *changeGroup
}

// effectWords has the words for effects that the service stores.
var effectWords = map[apitype.ResultEffect]string{
	apitype.EffectOptOut:    "no more calls",
	apitype.EffectNoContact: "no more contact",
}

// changeGroup is changes that are sent one after the other, each when the one before it was
// accepted.
type changeGroup struct {
	last  string // The entry that was put in the outbox last.
	err   error  // Why one of them was not: then the rest is not either.
	parts []*part
}

// worked is a call as it was when the agent ended it, to give back.
type worked struct {
	call  apitype.Call
	draft outbox.Draft
	disk  outbox.Draft // From which it came.
	goes  bool         // The text goes with the change: its draft is erased.
	progress
}

// Held is a change that can still be taken back.
type Held struct {
	Change
	Until time.Time
	id    string
	// For steps that change no record: the function that brings the call before back, and the new call that replaced
	// it.
	back    func()
	created apitype.UUID
}

// Changes has all changes of this session: held ones, entries of the outbox, and finished ones.
type Changes struct {
	*base
	Autosave *drafts.Autosave
	Sender   *outbox.Sender

	Held    []Held
	Entries []outbox.Entry
	Damaged []outbox.Damaged
	Drafts  []outbox.Draft
	Trouble error                           // Why drafts are not on disk; nil when they are.
	Labels  map[string]string               // Of the entries of this session, as they are shown.
	effects map[string]apitype.ResultEffect // That the service is to store with entries of this session.
	Batch   *Batch                          // The latest batch. Nil without one.

	draftsRead         bool                    // At least once, or it cannot be.
	reading, readAgain bool                    // The outbox is being read; something has changed since.
	draftsOld          bool                    // What is being read of the drafts is older than what is known.
	saving             int                     // How many changes that can be taken back are not on disk yet.
	undos              int                     // The number of undos that wait for the present save.
	undoAsked          int                     // After how many keys.
	written            chan struct{}           // Closed when all changes so far are on disk. Nil if they are.
	answers            []chan event.Result     // Of work on the disk, in its order.
	groups             map[string]*changeGroup // By entry.

	// Set once. They are called when a change is on disk or is not, when a change that ended a call is not, when the
	// outbox was read, and when a held change was taken back.
	onSave   func(queued)
	onLoss   func(Change)
	onRead   func(isLatest bool)
	onRecall func(recalled)
}

// What work on the disk brings.
type (
	// queued reports that a change is durable in the outbox, or its error.
	queued struct {
		change Change
		entry  outbox.Entry
		err    error
		left   error    // Why the draft that it came from could not be erased.
		back   []string // The entries of its group that were taken back with it.
	}
	// recalled reports that a held change was undone.
	recalled struct {
		change Held
		err    error
		burst  int    // How many were undone with it, if it is the last of them.
		whole  string // The work on a call that all of them are parts of. Empty if there is none.
		asked  int    // After how many keys the agent wanted it.
	}
	// outboxRead is the content of the outbox.
	outboxRead struct {
		entries []outbox.Entry
		damaged []outbox.Damaged
		drafts  []outbox.Draft
	}
)

// Attempt returns an attempt that was made now.
func (c *Changes) Attempt(call apitype.UUID, label string) Change {
	return c.attemptAt(call, c.now(), label)
}

func (c *Changes) attemptAt(call apitype.UUID, at *apitype.Time, label string) Change {
	change, err := apiclient.AddAttemptChange(call, apitype.AddAttemptRequest{UserUUID: c.Agent, AttemptAt: at})
	return Change{Change: change, Label: label, err: err}
}

// Cancel ends a call without a result.
func (c *Changes) Cancel(call apitype.UUID, label string) Change {
	change, err := apiclient.CancelCallChange(call, apitype.CancelCallRequest{CancelledAt: c.now()})
	return Change{Change: change, Label: label, err: err}
}

// Expire ends a call without reaching the person.
func (c *Changes) Expire(call apitype.UUID, label string) Change {
	change, err := apiclient.ExpireCallChange(call, apitype.ExpireCallRequest{ExpiredAt: c.now()})
	return Change{Change: change, Label: label, err: err}
}

// Action returns a status action on a pledge that was shown with the status from.
func (c *Changes) Action(
	pledge apitype.UUID,
	act apitype.PledgeAction,
	from apitype.PledgeStatus,
	label string,
) Change {
	return Change{Change: apiclient.PledgeActionChange(pledge, act, from), Label: label}
}

// Mark marks a record as processed.
func (c *Changes) Mark(entity apitype.EntityName, id apitype.UUID, label string) Change {
	entry := apitype.ProcessedEntry{EntityName: entity, EntityUUID: id, ProcessedAt: *c.now()}
	if c.ExternalSourceName != "" {
		entry.ExternalSourceName = new(c.ExternalSourceName)
	}
	change, err := apiclient.MarkProcessedChange([]apitype.ProcessedEntry{entry})
	return Change{Change: change, Label: label, err: err}
}

func (c *Changes) now() *apitype.Time { return new(apitype.NewTime(c.Now())) }

// Submit puts changes in the outbox, held for a few seconds.
func (c *Changes) Submit(changes ...Change) []event.Event {
	for _, change := range changes {
		c.submit(change)
	}
	return c.Drain()
}

func (c *Changes) submit(change Change) {
	until := c.Now().Add(holdTime)
	if change.atOnce {
		until = time.Time{}
	} else {
		c.saving++
	}
	group := cmp.Or(change.group, new(changeGroup)) // Without a group it is alone in one.
	c.inOrder(func() event.Result {
		q := queued{change: change, err: cmp.Or(group.err, change.err)}
		if q.err == nil {
			q.entry, q.err = c.Outbox.Add(outbox.Entry{Change: change.Change, NotBefore: until, After: group.last})
		}
		// A part of it alone would be another change.
		for last := group.last; q.err != nil && last != "" && !change.isExtra; {
			e, err := c.Outbox.Recall(last)
			if last = e.After; err == nil {
				q.back = append(q.back, e.ID)
			}
		}
		if !change.isExtra {
			group.last, group.err = q.entry.ID, q.err
		}
		if q.err == nil && change.from != nil && change.from.goes {
			q.left = c.Autosave.Delete(change.from.draft, change.from.disk)
		}
		return event.Result{Name: "change saved", TakeIn: func() {
			c.onSave(q)
			if !c.onQueued(q) && q.change.from != nil {
				c.onLoss(q.change)
			}
		}}
	})
}

// inOrder starts work on the disk at once, after all earlier work, even if the program ends before it is done. So a
// change does not depend on the next key. Results come in the same order.
func (c *Changes) inOrder(work func() event.Result) {
	before, done, answer := c.written, make(chan struct{}), make(chan event.Result, 1)
	c.written = done
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		answer <- work()
	}()
	if c.answers = append(c.answers, answer); len(c.answers) == 1 {
		c.nextAnswer()
	}
}

func (c *Changes) nextAnswer() {
	answer := c.answers[0]
	event.Do(c.Queue, "answer of the disk", func(context.Context) (event.Result, error) {
		return <-answer, nil
	}, func(r event.Result, _ error) {
		if c.answers = c.answers[1:]; len(c.answers) > 0 {
			c.nextAnswer()
		}
		r.TakeIn()
	})
}

// Written waits until all changes so far are on disk.
func (c *Changes) Written() {
	if written := c.written; written != nil {
		<-written
	}
}

// onQueued hears that a change is on disk, or is not; it reports whether it is.
func (c *Changes) onQueued(q queued) bool {
	q.change.batch.isQueued(q)
	if !q.change.atOnce {
		c.saving--
		defer c.undoSaved(q.err == nil)
	}
	if q.err != nil {
		c.Held = slices.DeleteFunc(c.Held, func(h Held) bool { return slices.Contains(q.back, h.id) })
		c.Notify(
			event.Notice{
				Level: event.Urgent,
				Text: c.Say(
					"not saved: %s; nothing was sent, the text is kept on screen",
					c.Say(connection.Cause(q.err)),
				),
			},
		)
		return false
	}
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	c.Labels[q.entry.ID] = q.change.Label
	if q.change.effect != "" {
		if c.effects == nil {
			c.effects = map[string]apitype.ResultEffect{}
		}
		c.effects[q.entry.ID] = q.change.effect
	}
	if group := q.change.group; group != nil {
		if c.groups == nil {
			c.groups = map[string]*changeGroup{}
		}
		c.groups[q.entry.ID] = group
		group.isQueued(c.base, q)
	}
	if !q.change.atOnce {
		c.hold(Held{Change: q.change, id: q.entry.ID, Until: q.entry.NotBefore})
	}
	if !q.change.isExtra {
		c.Notify(event.Notice{Text: q.change.next}) // Earlier messages are outdated.
	}
	if q.left != nil {
		c.Notify(
			event.Notice{
				Level: event.Urgent,
				Text: event.ErrorText(
					c.Say("%s is in the outbox, but its draft could not be erased", c.Say(q.change.Label)),
					q.left,
				),
			},
		)
	}
	c.readOutbox()
	return true
}

// Release forgets held changes whose time is over, because they are being sent. While the service cannot be reached
// they stay, and can be undone.
func (c *Changes) Release() {
	c.Held = slices.DeleteFunc(
		c.Held,
		func(h Held) bool { return !h.Until.After(c.Now()) && (c.Offline == "" || h.back != nil) },
	)
}

// ReadOutbox reads the outbox and the drafts from disk. A request during a reading is served by one more reading after
// it.
func (c *Changes) ReadOutbox() []event.Event {
	c.readOutbox()
	return c.Drain()
}

func (c *Changes) readOutbox() {
	if c.reading {
		c.readAgain = true
		return
	}
	c.reading = true
	event.Do(c.Queue, "outbox read", func(context.Context) (outboxRead, error) {
		entries, damaged, err := c.Outbox.List()
		if err != nil {
			return outboxRead{}, err
		}
		drafts, err := c.Outbox.Drafts()
		return outboxRead{entries: entries, damaged: damaged, drafts: drafts}, err
	}, func(read outboxRead, err error) {
		c.onRead(c.onOutbox(read, err))
	})
}

// onOutbox takes a reading in. It reports whether that is the latest state.
func (c *Changes) onOutbox(read outboxRead, err error) (isLatest bool) {
	again, old := c.readAgain, c.draftsOld
	c.reading, c.readAgain, c.draftsOld, c.draftsRead = false, false, false, true
	if err != nil {
		c.Fail("cannot read the outbox", err)
		return false
	}
	c.Entries, c.Damaged = read.entries, read.damaged
	if !old {
		c.Drafts = read.drafts
	}
	if again {
		c.readOutbox()
	}
	return !again
}

// Unsent returns how many changes wait, without those refused.
func (c *Changes) Unsent() int { return unsent(c.Entries) }

func unsent(entries []outbox.Entry) (n int) {
	for _, e := range entries {
		if e.State != outbox.StateRejected {
			n++
		}
	}
	return n
}

// isPending reports whether a record has a change that was not sent yet.
func (c *Changes) isPending(id apitype.UUID) bool {
	return slices.ContainsFunc(c.Entries, func(e outbox.Entry) bool {
		return e.UUID == id && e.State != outbox.StateRejected
	})
}

// onSender handles the progress of an entry.
func (c *Changes) onSender(e outbox.Event) {
	if e.Entry.ID == "" {
		c.NoteConnection(e.Err)
		c.FailOf(event.OfConnection, event.ErrorText("nothing is sent", e.Err))
		return
	}
	if e.Outcome != outbox.OutcomeWaiting || !e.Entry.SentAt.IsZero() { // It has not gone out: it can be taken back.
		c.Held = slices.DeleteFunc(c.Held, func(h Held) bool { return h.id == e.Entry.ID })
	}
	if group := c.groups[e.Entry.ID]; group != nil {
		group.hear(e.Entry.ID, e.Outcome)
	}
	ofBatch := c.Batch.hear(e)
	if c.Labels[e.Entry.ID] == "" && e.IsForeign { // Another terminal's entry, which that terminal reports.
		c.readOutbox()
		return
	}
	what := c.entryName(e.Entry)
	switch e.Outcome {
	case outbox.OutcomeAccepted:
		c.NoteConnection(nil)
		// The main message is out.
		if e.Entry.Op == apiclient.OpPutChecks || e.Entry.Op == apiclient.OpDescribeAttempt {
			break
		}
		done := event.Notice{Level: event.Done, Text: c.Say("%s, sent", what)}
		if ofBatch {
			done.Text, done.See = c.Batch.Summary(c.Say), event.SeeResults
		}
		switch confirmed := effectWords[e.Effect]; {
		case confirmed != "":
			done.Text = c.Say("%s: %s: saved", what, c.Say(confirmed))
		case c.effects[e.Entry.ID] != "" && !e.IsForeign:
			unconfirmed := c.Say(effectWords[c.effects[e.Entry.ID]])
			done.Level, done.Text = event.Failed, c.Say("%s, sent; not confirmed: %s", what, unconfirmed)
		}
		c.Notify(done)
	case outbox.OutcomeRejected:
		c.Own(
			event.Notice{
				Level: event.Failed,
				Text:  event.ErrorText(c.Say("%s was refused, its text is kept", what), e.Err),
				See:   event.SeeOutbox,
				Owner: e.Entry.ID,
			},
		)
	case outbox.OutcomeUnsure:
		if c.NoteConnection(e.Err); errors.Is(e.Err, outbox.ErrCannotTell) {
			c.Notify(event.Notice{Level: event.Failed, Text: event.ErrorText(what, e.Err), See: event.SeeOutbox})
		}
	case outbox.OutcomeWaiting:
		if !c.NoteConnection(e.Err) && e.Err != nil {
			c.FailOf(event.OfConnection, event.ErrorText(c.Say("%s waits in the outbox", what), e.Err))
		}
	}
	c.readOutbox()
}

// SendAgain queues a refused or unsure entry again.
func (c *Changes) SendAgain(id string) []event.Event {
	c.onDisk(func() error { return c.Outbox.Requeue(id) })
	return c.Drain()
}

// Drop erases an entry: it does not reach the service.
func (c *Changes) Drop(id string) []event.Event {
	c.drop(id)
	return c.Drain()
}

// drop also ends the notice that the text of the entry is kept.
func (c *Changes) drop(id string) {
	c.onDisk(func() error { return c.Outbox.Drop(id) })
	c.Over(id)
}

// DropDraft erases the draft of a call, as the agent has seen it.
func (c *Changes) DropDraft(call apitype.UUID) []event.Event {
	c.dropDraft(call)
	return c.Drain()
}

// dropChoices erases the draft of a call that has ended, unless it holds words: its choices can never be sent.
func (c *Changes) dropChoices(call apitype.UUID) {
	c.onDisk(func() error {
		draft, found := c.Autosave.Unwritten(call)
		var err error
		if !found {
			draft, found, err = c.Outbox.Draft(call)
		}
		if err != nil || !found || draft.HasWords() {
			return err
		}
		return c.Autosave.Delete(draft, c.Autosave.From(call))
	})
}

func (c *Changes) dropDraft(call apitype.UUID) {
	seen := outbox.Draft{Call: call}
	if known := c.draftOf(call); known != nil {
		seen = *known
	}
	c.forgetDraft(call)
	c.onDisk(func() error { return c.Autosave.Delete(seen, c.Autosave.From(call)) })
}

// SendNow tries all that waits.
func (c *Changes) SendNow() []event.Event {
	c.Sayf("trying everything again…")
	event.Do(
		c.Queue,
		"outbox sent",
		func(ctx context.Context) (outbox.Report, error) { return c.Sender.SendDue(ctx) },
		func(report outbox.Report, err error) {
			if err == nil {
				err = report.Err // As of an account that was replaced.
			}
			if err != nil && !c.NoteConnection(err) {
				c.FailOf(event.OfConnection, event.ErrorText("not all is sent", err))
			}
			c.readOutbox()
		},
	)
	return c.Drain()
}

// onDisk does something to the outbox at the agent's word.
func (c *Changes) onDisk(work func() error) {
	event.Do(
		c.Queue,
		"outbox changed",
		func(context.Context) (any, error) { return nil, work() },
		func(_ any, err error) {
			if err != nil {
				c.Fail("outbox", err)
			}
			c.readOutbox()
		},
	)
}

// Finish sends the held changes, for a few seconds. The others stay in the outbox.
func (c *Changes) Finish(ctx context.Context) {
	c.Written()
	ctx, cancel := context.WithTimeout(ctx, c.QuitWait)
	defer cancel()
	_ = c.Autosave.Flush() // The caller that ends the program flushes again and reports.
	if c.Outbox.Release() != nil {
		return
	}
	for ctx.Err() == nil && !c.isQuiet() {
		report, err := c.Sender.SendDue(ctx)
		if err != nil || report.Err != nil {
			return
		}
		// The other sender of this program may have the rest in hand.
		_ = apiclient.Pause(ctx, 20*time.Millisecond)
	}
}

// isQuiet reports whether nothing is left that waiting a little would send.
func (c *Changes) isQuiet() bool {
	entries, _, err := c.Outbox.List()
	return err != nil || !slices.ContainsFunc(entries, func(e outbox.Entry) bool {
		return e.State == outbox.StateSending || (e.State == outbox.StateQueued && e.Tries == 0)
	})
}

// Remaining returns a line for each kind of change that stays in the outbox.
func (c *Changes) Remaining() (lines []string, err error) {
	entries, _, err := c.Outbox.List()
	waiting := unsent(entries)
	if waiting > 0 {
		lines = append(
			lines,
			c.Say("%s in the outbox; to send: fundesk outbox send", c.Count(waiting, "change stays", "changes stay")),
		)
	}
	if refused := len(entries) - waiting; refused > 0 {
		lines = append(
			lines,
			c.Say(
				"%s; see: fundesk outbox list",
				c.Count(refused, "change was refused by the service", "changes were refused by the service"),
			),
		)
	}
	return lines, err
}

// OpLabel returns an operation in words.
func OpLabel(op string) string { return apiclient.OperationOf(op).Label }

// entryName returns what an entry is, as it is shown.
func (c *Changes) entryName(e outbox.Entry) string {
	if label := c.Labels[e.ID]; label != "" {
		return c.Say(label)
	}
	return c.Say(OpLabel(e.Op)) + " " + render.ShortID(e.UUID)
}

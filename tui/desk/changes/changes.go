// Package changes has what an agent has changed: each change is held for a few seconds, in which an undo takes it back,
// and then waits in the outbox until the service has taken it.
//
// [Session] has the changes of one Desk: it saves them in the order of the keys, undoes them, and reports how each one
// ended. [Unsent] has what is in the outbox, of all terminals. The package knows neither the call on the Desk nor the
// queue: a change brings its call back with its own Restore.
//
//	session.Submit(session.Attempt(call, "attempt: A. Jansen")) // On disk at once, sent in five seconds.
//	session.Undo()                                             // The agent has pressed u.
package changes

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/debounce"
	"fundesk/tui/desk/event"
)

// How long a change can be taken back before it is sent, and how long a burst of changes
// takes: they are taken back together. A burst comes from one key: a call must be visible
// for longer before a key ends it.
const (
	holdTime  = 5 * time.Second
	burstTime = 500 * time.Millisecond
)

// Session has the changes of one Desk from the key to the answer of the service. Set Author, Unsent, Keys and the
// functions once. It is not safe for concurrent use.
type Session struct {
	Author
	*Unsent
	Keys *debounce.Keys
	// OnSaved is called when a change that ended a call is on disk, or could not be saved.
	OnSaved func(call apitype.UUID)
	// OnReturn is called when a call should return to the Desk.
	OnReturn func(Return)

	Held   []Held      // Can be taken back, in the order of their keys.
	Batch  *Batch      // The latest batch. Nil without one.
	Recent RecentCalls // That the agent has worked on.

	saving    int                             // How many changes that can be taken back are not on disk yet.
	undos     int                             // The number of undos that wait for the present save.
	undoAsked int                             // After how many keys.
	written   chan struct{}                   // Closed when all changes so far are on disk. Nil if they are.
	answers   []chan event.Result             // Of work on the disk, in its order.
	groups    map[string]*Group               // By entry.
	effects   map[string]apitype.ResultEffect // That the service is to store with entries of this session.
}

// Return is a call that should return to the Desk: its change was undone, or could not be saved.
type Return struct {
	Asked   int          // After how many keys the agent asked for it.
	Text    string       // In words, for an offer.
	Created apitype.UUID // The new call that had replaced it. Zero without one.
	Restore func()
}

// saved is a change that is durable in the outbox, or its error.
type saved struct {
	change Change
	entry  outbox.Entry
	err    error
	left   error    // Why the draft that it came from could not be erased.
	back   []string // The entries of its group that were taken back with it.
}

// NewSession returns a session without changes.
func NewSession(author Author, unsent *Unsent, keys *debounce.Keys) *Session {
	unsent.Labels = map[string]string{}
	return &Session{
		Author:  author,
		Unsent:  unsent,
		Keys:    keys,
		groups:  map[string]*Group{},
		effects: map[string]apitype.ResultEffect{},
	}
}

// Submit is Add for the face of the Desk.
func (s *Session) Submit(changes ...Change) []event.Event {
	s.Add(changes...)
	return s.Events.Drain()
}

// SubmitEach submits changes as one batch if they are several. names are the names of their records.
func (s *Session) SubmitEach(label string, names []string, changes []Change) []event.Event {
	b := &Batch{Label: label}
	for i := range changes {
		b.Records = append(b.Records, BatchRecord{Name: names[i], State: "held"})
		changes[i].batch, changes[i].index = b, i
	}
	if len(changes) > 1 {
		s.Batch = b
	}
	return s.Submit(changes...)
}

// Add puts changes in the outbox, held for a few seconds unless they go at once.
func (s *Session) Add(changes ...Change) {
	for _, change := range changes {
		s.add(change)
	}
}

func (s *Session) add(change Change) {
	change.asked = s.Keys.Presses
	until := s.Now().Add(holdTime)
	if change.AtOnce {
		until = time.Time{}
	} else {
		s.saving++
	}
	group := change.Group
	if group == nil {
		group = new(Group) // It is alone in one.
	}
	s.inOrder(func() event.Result {
		q := s.save(change, group, until)
		return event.Result{Name: "change saved", TakeIn: func() { s.onSaved(q) }}
	})
}

// save writes a change to the disk, in the background. If that fails, the rest of its group is not sent either: a part
// of a group alone would be another change.
func (s *Session) save(change Change, group *Group, until time.Time) saved {
	q := saved{change: change, err: cmp.Or(group.err, change.Err)}
	if q.err == nil {
		q.entry, q.err = s.Outbox.Add(outbox.Entry{Change: change.Change, NotBefore: until, After: group.last})
	}
	for last := group.last; q.err != nil && last != "" && !change.IsExtra; {
		e, err := s.Outbox.Recall(last)
		if err == nil {
			q.back = append(q.back, e.ID)
		}
		last = e.After
	}
	if !change.IsExtra {
		group.last, group.err = q.entry.ID, q.err
	}
	if q.err == nil && change.Typed != nil {
		q.left = s.Drafts.Delete(change.Typed.Draft, change.Typed.Disk)
	}
	return q
}

// inOrder starts work on the disk at once, after all earlier work, even if the program ends before it is done. So a
// change does not depend on the next key. Results come in the same order.
func (s *Session) inOrder(work func() event.Result) {
	before, done, answer := s.written, make(chan struct{}), make(chan event.Result, 1)
	s.written = done
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		answer <- work()
	}()
	s.answers = append(s.answers, answer)
	if len(s.answers) == 1 {
		s.nextAnswer()
	}
}

func (s *Session) nextAnswer() {
	answer := s.answers[0]
	event.Do(s.Events, "answer of the disk", func(context.Context) (event.Result, error) {
		return <-answer, nil
	}, func(r event.Result, _ error) {
		s.answers = s.answers[1:]
		if len(s.answers) > 0 {
			s.nextAnswer()
		}
		r.TakeIn()
	})
}

// Written waits until all changes so far are on disk.
func (s *Session) Written() {
	if written := s.written; written != nil {
		<-written
	}
}

// Finish sends what waits and the held changes, for some time. The others stay in the outbox.
func (s *Session) Finish(ctx context.Context, limit time.Duration) {
	s.Written()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.sendRest(ctx)
}

// onSaved takes in that a change is on disk, or is not.
func (s *Session) onSaved(q saved) {
	change := q.change
	endsCall := change.Restore != nil
	if endsCall {
		s.Recent.saved(change.UUID, q.entry.ID, q.err)
		s.OnSaved(change.UUID)
	}
	change.batch.saved(change.index, q.entry.ID, q.err)
	if !change.AtOnce {
		s.saving--
	}
	if q.err != nil {
		s.notSaved(q)
	} else {
		s.isSaved(q)
	}
	if !change.AtOnce {
		s.undoSaved(q.err == nil)
	}
	if q.err != nil && endsCall {
		text := s.Say("%s was not saved", s.Say(change.Label))
		s.OnReturn(Return{Asked: change.asked, Text: text, Restore: change.Restore})
	}
}

// notSaved shows why a change is not on disk.
func (s *Session) notSaved(q saved) {
	s.Held = slices.DeleteFunc(s.Held, func(h Held) bool { return slices.Contains(q.back, h.entry) })
	cause := s.Say(connection.Cause(q.err))
	text := s.Say("not saved: %s; nothing was sent, the text is kept on screen", cause)
	s.Events.Own(event.Notice{Level: event.Urgent, Text: text, Owner: event.OfUnsaved(q.change.UUID)})
}

// isSaved holds a change that is on disk.
func (s *Session) isSaved(q saved) {
	change, id := q.change, q.entry.ID
	s.Events.Over(event.OfUnsaved(change.UUID))
	s.Labels[id] = change.Label
	if change.Effect != "" {
		s.effects[id] = change.Effect
	}
	if change.Group != nil {
		s.groups[id] = change.Group
		change.Group.add(id, change, s.Texts, s.Now().Location())
	}
	if !change.AtOnce {
		s.hold(Held{Change: change, entry: id, Until: q.entry.NotBefore})
	}
	if !change.IsExtra {
		s.Events.Notify(event.Notice{Text: change.Next}) // Earlier messages are outdated.
	}
	if q.left != nil {
		text := s.Say("%s is in the outbox, but its draft could not be erased", s.Say(change.Label))
		s.Events.Notify(event.Notice{Level: event.Urgent, Text: event.ErrorText(text, q.left)})
	}
	s.Read()
}

// effectWords has the words for effects that the service stores.
var effectWords = map[apitype.ResultEffect]string{
	apitype.EffectOptOut:    "no more calls",
	apitype.EffectNoContact: "no more contact",
}

// Hear takes in the progress of an entry, as the sender reports it.
func (s *Session) Hear(e outbox.Event) {
	s.Recent.hear(e)
	if e.Entry.ID == "" {
		s.Connection.NoteConnection(e.Err)
		s.Events.FailOf(event.OfConnection, event.ErrorText("nothing is sent", e.Err))
		return
	}
	if e.Outcome != outbox.OutcomeWaiting || !e.Entry.SentAt.IsZero() { // Otherwise it can still be taken back.
		s.Held = slices.DeleteFunc(s.Held, func(h Held) bool { return h.entry == e.Entry.ID })
	}
	s.groups[e.Entry.ID].hear(e.Entry.ID, e.Outcome)
	isOfBatch := s.Batch.hear(e)
	isOfOther := s.Labels[e.Entry.ID] == "" && e.IsForeign // Another terminal reports its own.
	if !isOfOther {
		s.report(e, isOfBatch)
	}
	s.Read()
}

// report shows how an entry ended.
func (s *Session) report(e outbox.Event, isOfBatch bool) {
	what := s.Name(e.Entry)
	switch e.Outcome {
	case outbox.OutcomeAccepted:
		s.Connection.NoteConnection(nil)
		s.reportAccepted(e, what, isOfBatch)
	case outbox.OutcomeRejected:
		s.Events.Own(event.Notice{
			Level: event.Failed,
			Text:  event.ErrorText(s.Say("%s was refused, its text is kept", what), e.Err),
			See:   event.SeeOutbox,
			Owner: e.Entry.ID,
		})
	case outbox.OutcomeUnsure:
		s.Connection.NoteConnection(e.Err)
		if errors.Is(e.Err, outbox.ErrCannotTell) {
			text := event.ErrorText(what, e.Err)
			s.Events.Notify(event.Notice{Level: event.Failed, Text: text, See: event.SeeOutbox})
		}
	case outbox.OutcomeWaiting:
		if !s.Connection.NoteConnection(e.Err) && e.Err != nil {
			text := event.ErrorText(s.Say("%s waits in the outbox", what), e.Err)
			s.Events.FailOf(event.OfConnection, text)
		}
	}
}

// reportAccepted shows that the service has a change, unless it is an addition to another one.
func (s *Session) reportAccepted(e outbox.Event, what string, isOfBatch bool) {
	if e.Entry.Op == apiclient.OpPutChecks || e.Entry.Op == apiclient.OpDescribeAttempt {
		return
	}
	done := event.Notice{Level: event.Done, Text: s.Say("%s, sent", what)}
	if isOfBatch {
		done.Text, done.See = s.Batch.Summary(s.Say), event.SeeResults
	}
	stored, wanted := effectWords[e.Effect], s.effects[e.Entry.ID]
	if stored != "" {
		done.Text = s.Say("%s: %s: saved", what, s.Say(stored))
	} else if wanted != "" && !e.IsForeign {
		done.Level = event.Failed
		done.Text = s.Say("%s, sent; not confirmed: %s", what, s.Say(effectWords[wanted]))
	}
	s.Events.Notify(done)
}

// Package event has what the parts of the Desk ask of its face: work to do in the background, and lines for the agent.
package event

import (
	"context"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/say"
)

// Event is a request of a method to the face of the Desk: a Job or a Notice.
type Event interface{ isEvent() }

// Job is background work. Its result goes to Day.Receive.
type Job func(ctx context.Context) Result

// Result is the result of a Job, or a message from the background. Its name says in a log which one came.
type Result struct {
	Name   string
	TakeIn func()
}

// Level is the importance of a notice.
type Level int

// The levels of a notice.
const (
	Said   Level = iota // Goes by itself.
	Done                // Success: gives way to what still waits.
	Failed              // Stays until it was seen.
	Urgent              // Failed, before others.
	Over                // What Owner names has ended, and its notices with it.
	Told                // Stays until the next key.
)

// Notice is a line for the agent. Its text may hold text of the service.
type Notice struct {
	Level Level
	Text  string
	See   See
	Does  string // What accepting an offer does.
	Owner string // The subject of the notice, which ends it. Empty without one.
	Rings bool   // The bell of the terminal sounds.
}

// See is the page with more about a notice.
type See int

// The places that a notice points to.
const (
	Nowhere    See = iota
	SeeOutbox      // The entry is in the outbox.
	SeeResults     // The state of each record of a batch.
	SeeOffer       // The agent may accept it.
)

func (Job) isEvent()    {}
func (Notice) isEvent() {}

// The owners of notices that are not about one call or one entry.
const (
	OfConnection = "connection"
	OfLogin      = "login" // The end of the login.
	OfLease      = "lease" // The end of the lease of the call on the Desk.
	OfPause      = "pause" // The pause that could not begin or end.
)

// OfCall returns the owner of notices about a call.
func OfCall(id apitype.UUID) string { return id.String() }

// OfUnsaved returns the owner of the notice that a change of a record could not be saved.
func OfUnsaved(id apitype.UUID) string { return "unsaved " + id.String() }

// Queue collects the events of a method. The parts of a Desk share one.
type Queue struct {
	texts   say.Texts
	pending []Event
	owners  map[string]bool // The subjects of the present notices.
}

// New returns an empty queue for an agent with these texts.
func New(texts say.Texts) *Queue { return &Queue{texts: texts, owners: map[string]bool{}} }

// Drain returns the collected events and forgets them.
func (q *Queue) Drain() []Event {
	taken := q.pending
	q.pending = nil
	return taken
}

// Notify adds a notice.
func (q *Queue) Notify(n Notice) { q.pending = append(q.pending, n) }

// Sayf adds a message in the agent's language.
func (q *Queue) Sayf(format string, args ...any) {
	q.Notify(Notice{Text: q.texts.Say(format, args...)})
}

// SayOf adds a message about a call.
func (q *Queue) SayOf(call apitype.UUID, format string, args ...any) {
	q.Own(Notice{Text: q.texts.Say(format, args...), Owner: OfCall(call)})
}

// Own adds a notice that ends with its owner.
func (q *Queue) Own(n Notice) {
	q.owners[n.Owner] = true
	q.Notify(n)
}

// Owns reports whether something has a notice.
func (q *Queue) Owns(owner string) bool { return q.owners[owner] }

// Over ends the notices about something.
func (q *Queue) Over(owner string) {
	if q.owners[owner] {
		delete(q.owners, owner)
		q.Notify(Notice{Level: Over, Owner: owner})
	}
}

// Fail adds an error. err may be nil if the text is enough.
func (q *Queue) Fail(what string, err error) {
	q.Notify(Notice{Level: Failed, Text: ErrorText(what, err)})
}

// FailOf adds an error that ends with its owner.
func (q *Queue) FailOf(owner, text string) { q.Own(Notice{Level: Failed, Text: text, Owner: owner}) }

// Do asks for work, and passes its result to takeIn. The name describes the finished work.
func Do[T any](q *Queue, name string, work func(ctx context.Context) (T, error), takeIn func(T, error)) {
	q.pending = append(q.pending, Job(func(ctx context.Context) Result {
		value, err := work(ctx)
		return Result{name, func() { takeIn(value, err) }}
	}))
}

// ErrorText returns the failure, and its cause if known.
func ErrorText(what string, err error) string {
	if err == nil {
		return what
	}
	return what + ": " + err.Error()
}

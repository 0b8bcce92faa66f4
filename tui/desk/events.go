package desk

import (
	"context"
	"time"

	"fundesk/apiclient/apitype"
)

// Event is a request of a method to the face of the Desk: a Job or a Notice.
type Event interface{ isEvent() }

// Job is background work. Its result goes to Day.Receive.
type Job func(ctx context.Context) Result

// Result is the result of a Job, or a message from the background. Its name says in a log which one came.
type Result struct {
	Name   string
	takeIn func()
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

// events collects the events of a method.
type events struct {
	pending []Event
	owners  map[string]bool // The subjects of the present notices.
}

// drain returns the collected events.
func (e *events) drain() []Event {
	taken := e.pending
	e.pending = nil
	return taken
}

// Ago returns a time in words, such as 29 days ago.
func (b *base) Ago(t time.Time) string { return b.Texts.Ago(t, b.Now()) }

func (b *base) sayf(format string, args ...any) {
	b.notify(Notice{Text: b.Say(format, args...)})
}

func (e *events) notify(n Notice) { e.pending = append(e.pending, n) }

// ofConnection is the owner of notices about the connection.
const ofConnection = "connection"

// ofLease is the owner of notices about the end of the lease of the call on the Desk.
const ofLease = "lease"

// ofCall returns the owner of notices about a call.
func ofCall(id apitype.UUID) string { return id.String() }

// sayOf shows a message about a call.
func (b *base) sayOf(call apitype.UUID, format string, args ...any) {
	b.own(Notice{Text: b.Say(format, args...), Owner: ofCall(call)})
}

// failOf shows an error that ends with its owner.
func (e *events) failOf(owner, text string) { e.own(Notice{Level: Failed, Text: text, Owner: owner}) }

func (e *events) own(n Notice) {
	if e.owners == nil {
		e.owners = map[string]bool{}
	}
	e.owners[n.Owner] = true
	e.notify(n)
}

// over ends the notices about something.
func (e *events) over(owner string) {
	if e.owners[owner] {
		delete(e.owners, owner)
		e.notify(Notice{Level: Over, Owner: owner})
	}
}

// fail shows an error. err may be nil if the text is enough.
func (e *events) fail(what string, err error) {
	e.notify(Notice{Level: Failed, Text: ErrorText(what, err)})
}

// do asks for work, and passes its result to takeIn. The name describes the finished work.
func do[T any](e *events, name string, work func(ctx context.Context) (T, error), takeIn func(T, error)) {
	e.pending = append(e.pending, Job(func(ctx context.Context) Result {
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

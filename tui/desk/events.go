package desk

import (
	"context"

	"fundesk/apiclient/apitype"
)

// Event is what a method asks of whoever shows the desk: a Job or a Notice.
type Event interface{ isEvent() }

// Job is work beside whoever shows the desk; its result goes to Day.Receive.
type Job func(ctx context.Context) Result

// Result is what a Job has brought, or what is told from beside the desk: the day takes it in.
type Result func()

// Level is how much a notice matters.
type Level int

// The levels of a notice.
const (
	Said   Level = iota // Goes by itself.
	Done                // Success: gives way to what still waits.
	Failed              // Stays until it was seen.
	Urgent              // Failed, before others.
	Over                // What Owner names has ended, and its notices with it.
)

// Notice is a line for the agent. Its text may hold text of the service.
type Notice struct {
	Level Level
	Text  string
	See   See
	Does  string // What accepting an offer does.
	Owner string // What the notice is about: it ends with that. "" for nothing in particular.
}

// See is where more is to be found than a notice says.
type See int

// The places that a notice points to.
const (
	Nowhere    See = iota
	SeeOutbox      // The entry is in the outbox.
	SeeResults     // What became of each record of an action on several.
	SeeOffer       // The agent may accept it.
)

func (Job) isEvent()    {}
func (Notice) isEvent() {}

// events collects what a method asks for.
type events struct {
	pending []Event
	owners  map[string]bool // What notices that still stand are about.
}

// drain hands over what was collected.
func (e *events) drain() []Event {
	taken := e.pending
	e.pending = nil
	return taken
}

func (b *base) sayf(format string, args ...any) {
	b.notify(Notice{Text: b.Say(format, args...)})
}

func (e *events) notify(n Notice) { e.pending = append(e.pending, n) }

// ofConnection is the owner of notices about the connection.
const ofConnection = "connection"

// ofLease is the owner of what is said of the end of the lease of the call on the desk.
const ofLease = "lease"

// ofCall returns the owner of notices about a call.
func ofCall(id apitype.UUID) string { return id.String() }

// sayOf says something about a call.
func (b *base) sayOf(call apitype.UUID, format string, args ...any) {
	b.own(Notice{Text: b.Say(format, args...), Owner: ofCall(call)})
}

// failOf tells an error that ends with its owner.
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

// fail tells an error; err may be nil where what says all.
func (e *events) fail(what string, err error) {
	e.notify(Notice{Level: Failed, Text: ErrorText(what, err)})
}

// do asks for work, and for what it brings to be taken in.
func do[T any](e *events, work func(ctx context.Context) (T, error), takeIn func(T, error)) {
	e.pending = append(e.pending, Job(func(ctx context.Context) Result {
		value, err := work(ctx)
		return func() { takeIn(value, err) }
	}))
}

// ErrorText returns what failed, and why where that is known.
func ErrorText(what string, err error) string {
	if err == nil {
		return what
	}
	return what + ": " + err.Error()
}

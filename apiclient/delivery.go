package apiclient

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Step is what follows for a change from what came of it.
type Step int

// The steps. Wait is the zero value.
const (
	StepWait     Step = iota // It certainly did not take effect; it may be sent later.
	StepAccepted             // It took effect.
	StepRefused              // It did not take effect and never will.
	StepLookUp               // Its record has to say what became of it. After a look-up: later.
	StepSend                 // It is sent, or sent again.
)

// Answer is what came of a request with a change, or of reading its record.
type Answer struct {
	Response *Response // Nil where nothing whole came.
	Err      *Error    // Why the request was not a success, or the record was not read; nil for neither.

	IsLook  bool     // The record was read.
	Outcome Outcome  // What the record says.
	Differ  []string // The fields of an update that somebody else changed, in a conflict.
}

// History is what is known of a change before an answer.
type History struct {
	Sent     bool // It may have reached the service.
	Answered bool // The service itself said of the last try that it failed: nothing is on its way.
	Expired  bool // What was lost can no longer arrive.
	Looked   bool // Its record was read since it was sent, and does not show it.
	Refused  int  // The status of a conflict that may be one with itself; 0 for none.
}

// Before is the first step with a change, and after a pause. An update is compared with its record first:
// what it would overwrite must be what was shown. Not every service that sends revisions heeds them.
func Before(ch Change) Step {
	if ch.Operation().updates() {
		return StepLookUp
	}
	return StepSend
}

// Next is the step that follows from an answer. Direct changes and the outbox both go by it.
func Next(ch Change, h History, a Answer) Step {
	if a.IsLook {
		return afterLook(ch, h, a)
	}
	e := a.Err
	switch {
	case e == nil:
		return StepAccepted
	case e.Kind == KindConflict && mayBeOwn(ch, h, e.Status):
		return StepLookUp
	case e.Sent && ch.Operation().Repeatable:
		return StepSend
	case e.Sent:
		return StepLookUp
	case e.Kind == KindUnauthenticated, e.Kind == KindUnavailable, e.Kind == KindInterrupted:
		return StepWait
	default:
		return StepRefused
	}
}

// mayBeOwn reports whether a conflict may be one with this very change: it went out before,
// something on the way has doubled it, or nothing else can know its record. An update whose
// revision is gone may still find its own fields as they were.
func mayBeOwn(ch Change, h History, status int) bool {
	op := ch.Operation()
	return h.Sent || ch.Generated || op.Moves != "" || status == http.StatusPreconditionFailed && op.updates() && ch.Seen != nil
}

func afterLook(ch Change, h History, a Answer) Step {
	op := ch.Operation()
	switch {
	case a.Err != nil && (h.Sent || h.Refused != 0):
		return StepLookUp
	// An update waits for what it is compared with, unless the account may not read at all.
	case a.Err != nil && slices.Contains([]Kind{KindUnavailable, KindUnauthenticated, KindInterrupted}, a.Err.Kind):
		return StepWait
	case a.Err != nil:
		return StepSend
	case a.Outcome == Landed:
		return StepAccepted
	case a.Outcome == Conflict:
		return StepRefused
	case h.Refused == http.StatusPreconditionFailed && a.Outcome == NotLanded && op.updates() && !a.shows(ch.Revision):
		return StepSend
	case a.Outcome == Unknown && (h.Refused == 0 || h.Sent && !h.Looked):
		return StepLookUp
	case h.Refused != 0:
		return StepRefused
	case op.AddsUp && !h.Answered && !h.Expired: // A repeat of what is still on its way would count twice. Spec gap: C4.
		return StepLookUp
	default:
		return StepSend
	}
}

// shows reports whether the record that was read has a revision: a service that refuses the one that it
// shows would refuse it for ever.
func (a Answer) shows(revision string) bool {
	return revision != "" && a.Response != nil && a.Response.Header.Get("ETag") == revision
}

// After is the history with an answer.
func (h History) After(a Answer) History {
	switch {
	case a.IsLook:
		h.Looked = a.Err == nil && a.Outcome == NotLanded
		if h.Looked {
			h.Refused = 0
		}
	case a.Err == nil:
	case a.Err.Kind == KindConflict:
		h.Refused = a.Err.Status
	case a.Err.Sent:
		h.Sent, h.Looked, h.Answered = true, false, a.Err.IsOwnFailure()
	}
	return h
}

// After is the change with what a look-up has shown: the revision that it must find, and, of one
// that nothing was shown of, what it is compared with from here on.
func (ch Change) After(a Answer) Change {
	if !a.IsLook || a.Response == nil || a.Outcome != NotLanded || !ch.Operation().updates() {
		return ch
	}
	if ch.Seen == nil {
		ch.Seen = SeenOf(ch, json.RawMessage(a.Response.Body))
	}
	ch.Revision = a.Response.Header.Get("ETag")
	return ch
}

// Overtaken is in the chain of the error of an update that would overwrite what somebody else
// changed after it was shown.
type Overtaken struct {
	Fields []string // By their names in the request.
}

// Error names the fields, and never their values.
func (o *Overtaken) Error() string {
	return strings.Join(o.Fields, ", ") + " changed elsewhere since it was shown"
}

// Refusal is the error of a change that was refused, last by failed; nil for none.
func (a Answer) Refusal(h History, failed *Error) *Error {
	isConflict := a.IsLook && a.Outcome == Conflict
	switch {
	case isConflict && len(a.Differ) > 0:
		cause := &Overtaken{Fields: a.Differ}
		return &Error{Kind: KindConflict, Message: cause.Error(), Err: cause}
	case isConflict && h.Refused == 0:
		e := &Error{Kind: KindConflict, Message: "the answer was lost, and the record has another value now: it was changed elsewhere"}
		if failed != nil {
			e.RequestID, e.Err = failed.RequestID, failed
		}
		return e
	case a.IsLook || a.Err == nil:
		return failed
	default:
		return a.Err
	}
}

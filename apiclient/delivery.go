package apiclient

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// Step is the next step of a change after an answer.
type Step int

// The steps. Wait is the zero value.
const (
	StepWait     Step = iota // It certainly did not take effect; it may be sent later.
	StepAccepted             // It took effect.
	StepRefused              // It did not take effect and never will.
	StepLookUp               // Read its record to find the outcome. After a reading: later.
	StepSend                 // It is sent, or sent again.
)

// Answer is the result of a request with a change, or of reading its record.
type Answer struct {
	Response *Response // Nil without a complete answer.
	Err      *Error    // The reason why the request failed, or the record was not read. Nil if neither did.

	IsLook  bool     // The record was read.
	Outcome Outcome  // The outcome according to the record.
	Differ  []string // The fields with other values, of an update in a conflict or a finished creation.
}

// History is the knowledge about a change before an answer.
type History struct {
	Sent     bool // It may have reached the service.
	Answered bool // ServerFailed: the last attempt got a complete 5xx, so none is in flight.
	Expired  bool // What was lost can no longer arrive.
	MayWait  bool // The caller can wait until Expired, as the outbox does.
	Looked   bool // Its record was read since it was sent, and does not show it.
	Refused  int  // The status of a conflict that may be one with itself; 0 for none.
}

// Before returns the first step of a change, and the first one after a pause. A change that could overwrite
// another value is compared with its record first, because not every service honours If-Match.
func Before(ch Change) Step {
	if ch.Operation().compares() {
		return StepLookUp
	}
	return StepSend
}

// Next returns the step after an answer. Direct changes and the outbox both use it.
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

// mayBeOwn reports whether a conflict may come from this change itself: it was sent before, a proxy repeated
// it, or its UUID is ours. After a 412 the compared values may still be unchanged.
func mayBeOwn(ch Change, h History, status int) bool {
	op := ch.Operation()
	isStale := status == http.StatusPreconditionFailed && op.compares() && (ch.Seen != nil || ch.From != "")
	return h.Sent || ch.Generated || op.Moves != "" || isStale
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
	case h.Refused == http.StatusPreconditionFailed && a.Outcome == NotLanded && op.compares() && !a.shows(ch.Revision):
		return StepSend
	case a.Outcome == Unknown && (h.Refused == 0 || h.Sent && !h.Looked):
		return StepLookUp
	case h.Refused != 0:
		return StepRefused
	case h.MayWait && op.Moves != "" && a.isExternal() && h.Sent && !h.Answered && !h.Expired:
		return StepLookUp // An external call takes moves in any state, so a late one would replace a newer one.
	case op.AddsUp && h.Sent && !h.Answered && !h.Expired: // A repeat of a request in flight would count twice. Spec gap: C4.
		return StepLookUp
	default:
		return StepSend
	}
}

// isExternal reports whether the record that was read is managed by another system.
func (a Answer) isExternal() bool {
	var record struct {
		ExternalMetadata json.RawMessage `json:"externalMetadata"`
	}
	if a.Response == nil || json.Unmarshal(a.Response.Body, &record) != nil {
		return false
	}
	return len(record.ExternalMetadata) > 0 && string(record.ExternalMetadata) != "null"
}

// shows reports whether the record that was read has a revision. A service that refuses the revision in its own answer
// would refuse it for ever.
func (a Answer) shows(revision string) bool {
	return revision != "" && a.Response != nil && a.Response.Header.Get("ETag") == revision
}

// After returns the history with an answer.
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
		h.Sent, h.Looked, h.Expired = true, false, false
		h.Answered = a.Err.IsOwnFailure()
	}
	return h
}

// After returns the change with the revision of a reading. A change without shown values takes the values of the first
// reading.
func (ch Change) After(a Answer) Change {
	if !a.IsLook || a.Response == nil || a.Outcome != NotLanded || !ch.Operation().compares() {
		return ch
	}
	record := json.RawMessage(a.Response.Body)
	if ch.Operation().updates() && ch.Seen == nil {
		ch.Seen = SeenOf(ch, record)
	}
	if ch.Op == OpPledgeAction && ch.From == "" {
		ch.From = statusOf(record)
	}
	ch.Revision = a.Response.Header.Get("ETag")
	return ch
}

// statusOf returns the status of a pledge, or "" if the record shows none.
func statusOf(record json.RawMessage) apitype.PledgeStatus {
	var shown struct {
		Status apitype.PledgeStatus `json:"status"`
	}
	if json.Unmarshal(record, &shown) != nil {
		return ""
	}
	return shown.Status
}

// Overtaken is in the chain of the error of an update that would overwrite a value that changed after it was shown.
type Overtaken struct {
	Fields []string // By their names in the request.
}

// Error names the fields, and never their values.
func (o *Overtaken) Error() string {
	return strings.Join(o.Fields, ", ") + " changed elsewhere since it was shown"
}

// Refusal returns the error of a refused change. failed is the last refusal, or nil.
func (a Answer) Refusal(h History, failed *Error) *Error {
	isConflict := a.IsLook && a.Outcome == Conflict
	switch {
	case isConflict && len(a.Differ) > 0:
		cause := &Overtaken{Fields: a.Differ}
		return &Error{Kind: KindConflict, Message: cause.Error(), Err: cause}
	case isConflict && h.Refused == 0:
		e := &Error{
			Kind:    KindConflict,
			Message: "the answer was lost, and the record has another value now: it was changed elsewhere",
		}
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

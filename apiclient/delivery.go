package apiclient

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// Phase is the progress of a change on its way to the service.
type Phase int

// The phases. Fresh is the zero value.
const (
	Fresh Phase = iota // Nothing of it has reached the service.
	Lost               // An attempt got no complete answer, so it may still arrive.
	Sent               // It may have taken effect, and no attempt is in flight.
	Seen               // Like Sent, but its record was read since and does not show it.
)

// Request is the next request of a delivery.
type Request int

// The requests. RequestSend is the zero value.
const (
	RequestSend Request = iota // Send the change.
	RequestRead                // Read its record.
)

// Verdict is the result of an answer.
type Verdict int

// The verdicts. VerdictNext is the zero value.
const (
	VerdictNext     Verdict = iota // Make the next request at once.
	VerdictRepeat                  // Send it again, after a pause.
	VerdictWait                    // It certainly had no effect. It may be sent later.
	VerdictUnsure                  // Its outcome is unknown. Its record may show it later.
	VerdictAccepted                // It took effect.
	VerdictRefused                 // It had no effect and never will.
)

// Answer is the result of a request with a change, or of reading its record.
type Answer struct {
	Response *Response // Nil without a complete answer.
	Err      *Error    // The reason why the request failed, or the record was not read. Nil if neither did.

	IsRead  bool     // The record was read.
	Outcome Outcome  // The outcome according to the record.
	Differ  []string // The fields with other values, of an update in a conflict or a finished creation.
}

// Delivery brings one change to the service. It makes no request itself: Next returns the next one, and Got takes its
// answer. Direct changes and the outbox are two loops over it.
type Delivery struct {
	Change Change // Got adds the revision and the values that it reads.
	Phase  Phase
	// CanWait is set if the caller can look again after minutes, as the outbox does.
	CanWait bool

	next    Request
	refused int    // The status of a conflict that may be one with the change itself. Zero for none.
	failed  *Error // The last failed request with the change.
	err     *Error // Why the verdict is not accepted.
	isTried bool   // It was sent since the last pause.
	mayCome bool   // One of the attempts may still arrive.
}

// NewDelivery returns the delivery of a change in a phase. A change that could overwrite another value is compared with
// its record first, because not every service honours If-Match.
func NewDelivery(ch Change, phase Phase) *Delivery {
	d := &Delivery{Change: ch, Phase: phase}
	d.Resume()
	mayShow := phase == Lost || phase == Sent
	if mayShow && !ch.Operation().Repeatable {
		d.next = RequestRead
	}
	return d
}

// Next returns the next request.
func (d *Delivery) Next() Request { return d.next }

// Resume begins again after a pause.
func (d *Delivery) Resume() {
	d.isTried = false
	d.next = RequestSend
	if d.Change.Operation().compares() {
		d.next = RequestRead
	}
}

// Err returns the reason of the last verdict, or nil.
func (d *Delivery) Err() *Error { return d.err }

// Failed returns the error of the last failed request with the change, or nil.
func (d *Delivery) Failed() *Error { return d.failed }

// Got takes the answer to the request that Next returned.
func (d *Delivery) Got(a Answer) Verdict {
	if !a.IsRead {
		return d.gotAnswer(a.Err)
	}
	verdict := d.gotRecord(a)
	isAbsent := a.Err == nil && a.Outcome == NotLanded
	if isAbsent {
		d.Change = d.Change.against(a.Response)
	}
	if verdict != VerdictNext && verdict != VerdictRepeat {
		return verdict
	}
	d.next = RequestSend
	d.refused = 0
	if d.Phase != Fresh {
		d.Phase = Seen
	}
	return verdict
}

// gotAnswer takes the answer to the change itself.
func (d *Delivery) gotAnswer(e *Error) Verdict {
	if e == nil {
		return VerdictAccepted
	}
	op := d.Change.Operation()
	mayBeOwn := d.mayBeOwn(e)
	d.failed, d.err, d.isTried = e, e, true
	d.mayCome = d.mayCome || e.mayCome(op)
	if e.Kind == KindConflict {
		d.refused = e.Status
	} else if e.Sent {
		d.Phase = phaseAfter(e)
	}
	if mayBeOwn || e.Sent && !op.Repeatable {
		d.next = RequestRead
		isOffline := e.Status == 0 && d.CanWait
		if isOffline {
			return VerdictUnsure
		}
		return VerdictNext
	}
	if e.Sent {
		return VerdictRepeat
	}
	if isTemporary(e) {
		return VerdictWait
	}
	return VerdictRefused
}

// phaseAfter returns the phase after an attempt that may have reached the service.
func phaseAfter(e *Error) Phase {
	if e.IsOwnFailure() {
		return Sent
	}
	return Lost
}

// isTemporary reports whether a refusal is not about the change itself.
func isTemporary(e *Error) bool {
	return slices.Contains([]Kind{KindUnauthenticated, KindUnavailable, KindInterrupted}, e.Kind)
}

// mayBeOwn reports whether a conflict may come from this change itself: it was sent before, a proxy repeated
// it, or its UUID is ours. After a 412 the compared values may still be unchanged.
func (d *Delivery) mayBeOwn(e *Error) bool {
	op := d.Change.Operation()
	if e.Kind != KindConflict || op.Repeatable { // A repeat never meets itself.
		return false
	}
	hasShown := d.Change.Seen != nil || d.Change.From != ""
	isStale := e.Status == http.StatusPreconditionFailed && op.compares() && hasShown
	return d.Phase != Fresh || d.Change.Generated || op.Moves != "" || isStale
}

// gotRecord takes the reading of the record.
func (d *Delivery) gotRecord(a Answer) Verdict {
	d.err = a.Err
	if a.Err != nil {
		return d.gotNoRecord(a.Err)
	}
	switch a.Outcome {
	case Landed:
		return VerdictAccepted
	case Conflict:
		d.err = d.conflict(a)
		return VerdictRefused
	case NotLanded:
		return d.gotAbsent(a)
	default:
		return d.gotUnreadable(a)
	}
}

// gotUnreadable takes a record that does not show the outcome.
func (d *Delivery) gotUnreadable(a Answer) Verdict {
	isNew := d.Phase == Fresh && d.refused == 0
	if isNew { // It cannot be compared, so it is not sent.
		d.err = broken(a.Response, "the record cannot be compared")
		d.err.Sent = false
		return VerdictWait
	}
	d.err = d.failed
	mayShow := d.Phase == Lost || d.Phase == Sent
	if d.refused == 0 || mayShow {
		return VerdictUnsure
	}
	return VerdictRefused
}

// gotNoRecord takes a reading that failed. A change that is compared first waits for its record, unless the account
// may not read at all.
func (d *Delivery) gotNoRecord(e *Error) Verdict {
	if d.Phase != Fresh || d.refused != 0 {
		isRequestKnown := d.failed != nil && d.failed.Kind != KindConflict
		if isRequestKnown { // A conflict does not show whether the change was applied.
			d.err = d.failed
		}
		return VerdictUnsure
	}
	if isTemporary(e) {
		return VerdictWait
	}
	return d.send()
}

// gotAbsent takes a record that does not show the change.
func (d *Delivery) gotAbsent(a Answer) Verdict {
	op := d.Change.Operation()
	isStale := d.refused == http.StatusPreconditionFailed && op.compares() && !a.shows(d.Change.Revision)
	// An external call takes moves in any state, so a late one would replace a newer one.
	mayReplace := d.CanWait && op.Moves != "" && a.isExternal()
	d.err = d.failed
	if isStale {
		return d.send()
	}
	if d.refused != 0 {
		return VerdictRefused
	}
	// A repeat of a request in flight would count twice. Spec gap: C4.
	if d.Phase == Lost && (op.AddsUp || mayReplace) {
		return VerdictUnsure
	}
	return d.send()
}

// send returns the verdict of a change that may be sent: at once if it was not tried since the last pause.
func (d *Delivery) send() Verdict {
	if d.isTried {
		return VerdictRepeat
	}
	return VerdictNext
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

// against returns the change with the revision of a reading. A change without shown values takes the values of the
// first reading.
func (ch Change) against(read *Response) Change {
	if read == nil || !ch.Operation().compares() {
		return ch
	}
	record := json.RawMessage(read.Body)
	if ch.Operation().updates() && ch.Seen == nil {
		ch.Seen = SeenOf(ch, record)
	}
	if ch.Op == OpPledgeAction && ch.From == "" {
		ch.From = statusOf(record)
	}
	ch.Revision = read.Header.Get("ETag")
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

// conflict returns the error of a change if its record has other values.
func (d *Delivery) conflict(a Answer) *Error {
	if len(a.Differ) > 0 {
		cause := &Overtaken{Fields: a.Differ}
		return &Error{Kind: KindConflict, Message: cause.Error(), Err: cause}
	}
	if d.refused != 0 {
		return d.failed
	}
	e := &Error{
		Kind:    KindConflict,
		Message: "the answer was lost, and the record has another value now: it was changed elsewhere",
	}
	if d.failed != nil {
		e.RequestID, e.Err = d.failed.RequestID, d.failed
	}
	return e
}

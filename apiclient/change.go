package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"fundesk/apiclient/apitype"
)

// Send sends a change until its outcome is known. After a lost answer it reads the record. It sends a change again
// only if the change certainly had no effect. If the outcome cannot be found out, the error is of kind
// unknown_outcome.
func (c *Client) Send(ctx context.Context, ch Change) (*Response, error) {
	d := NewDelivery(ch, Fresh)
	if c.refusesOld(ch) {
		d.next = RequestSend
	}
	for try := 1; ; {
		a := c.Deliver(ctx, d)
		if a.Err != nil && a.Err.Kind == KindInterrupted {
			return nil, d.interrupted(a)
		}
		verdict := d.Got(a)
		switch verdict {
		case VerdictNext:
			continue
		case VerdictAccepted:
			return a.Response, nil
		case VerdictRefused:
			return nil, d.refusal()
		case VerdictUnsure:
			return nil, unknown(d.err)
		}
		d.err.Retryable = d.err.Retryable || verdict == VerdictRepeat
		err := c.pause(ctx, d.err, try)
		if err != nil {
			return nil, d.giveUp(err)
		}
		try++
		d.Resume()
	}
}

// refusesOld reports whether the service itself refuses the change if its record changed since it was read. A service
// that does not announce revisions may ignore If-Match.
func (c *Client) refusesOld(ch Change) bool {
	wasRead := ch.Seen != nil && ifMatch(ch.Revision) != nil
	return wasRead && c.Announces(apitype.ExtensionRevisions)
}

// WithShown returns the change with the values that its record shows now, if it has none and is compared with them.
func (c *Client) WithShown(ctx context.Context, ch Change) Change {
	if ch.Seen != nil || !ch.Operation().compares() {
		return ch
	}
	d := NewDelivery(ch, Fresh)
	d.Got(c.Deliver(ctx, d))
	return d.Change
}

// Deliver makes the next request of a delivery.
func (c *Client) Deliver(ctx context.Context, d *Delivery) Answer {
	if d.Next() == RequestRead {
		return c.readRecord(ctx, d)
	}
	return c.sendOnce(ctx, d)
}

// refusal returns the error of a refused change. A refused repeat means nothing for an attempt without an answer,
// unless the service compared the present state.
func (d *Delivery) refusal() *Error {
	isRepeat := d.mayCome && d.Change.Operation().Repeatable
	if isRepeat && d.err.Kind != KindConflict {
		return unknown(d.err)
	}
	return d.err
}

// giveUp returns the error of a delivery that is not tried again. err is the reason.
func (d *Delivery) giveUp(err error) error {
	if d.mayCome && KindOf(err) != KindInterrupted {
		return unknown(d.err)
	}
	return err
}

// mayCome reports whether a change may take effect after this error. That a new record is not found proves
// nothing after a 503.
func (e *Error) mayCome(op Operation) bool {
	return e.Sent && (!e.IsOwnFailure() || op.Repeatable || op.Creates && e.Status == http.StatusServiceUnavailable)
}

// sendOnce sends the change once. Without an error it surely took effect.
func (c *Client) sendOnce(ctx context.Context, d *Delivery) Answer {
	ch := d.Change
	if extension := ch.Operation().extension; extension != "" {
		if err := c.required(ctx, extension, extension); err != nil {
			return Answer{Err: asError(err)}
		}
	}
	answer, err := c.once(ctx, request{
		method: ch.Method,
		path:   ch.Path,
		body:   ch.Body,
		header: c.headerOf(ch),
	})
	if err != nil {
		e := asError(err)
		shown, wrong := apitype.RecordUUID(e.body)
		isRecord := wrong == nil && shown == ch.UUID // The answer begins with it.
		if isRecord && e.answered == http.StatusOK && errors.Is(err, errTooLarge) {
			return Answer{Response: &Response{Status: e.answered, Header: http.Header{}}}
		}
		return Answer{Err: e}
	}
	if answer.Status/100 != 2 {
		failed := answer.failure(c.options.Now())
		failed.nameHolder()
		ch.nameReferences(failed)
		return Answer{Response: answer, Err: failed}
	}
	if err := ch.checkAnswer(answer, d.Phase != Fresh); err != nil {
		return Answer{Err: asError(err)}
	}
	return Answer{Response: answer}
}

// headerOf returns the header of a change. Nil has no fields.
func (c *Client) headerOf(ch Change) http.Header {
	header := ifMatch(ch.Revision)
	if !ch.LeaseFor.IsZero() && c.Announces(apitype.ExtensionLeaseForHeader) {
		header = http.Header{apitype.LeaseForHeader: {ch.LeaseFor.String()}}
	}
	return header
}

// nameReferences adds the identifiers that the change sent to the details that refuse them.
func (ch Change) nameReferences(e *Error) {
	var body map[string]any
	if len(e.Detail) == 0 || apitype.DecodeExact(ch.Body, &body) != nil {
		return
	}
	for i, detail := range e.Detail {
		path, _, _ := strings.Cut(detail, ":")
		value, _ := Shown(body, path)
		text, _ := value.(string)
		if id, err := apitype.ParseUUID(text); err == nil && !strings.Contains(detail, text) {
			e.Detail[i] = detail + ": " + id.String()
		}
	}
}

// checkAnswer fails unless the answer shows the changed record, or is 204. A service may choose the UUID of a
// new record itself; the record must then show the values that were sent. JSON instead of the 204 of processed
// marks is accepted when it comes a second time: then the service answers so, and not a proxy.
func (ch Change) checkAnswer(answer *Response, isRepeat bool) error {
	op, id := ch.Operation(), ch.UUID
	if answer.Status == http.StatusPartialContent {
		return broken(answer, "it is only a part")
	}
	if answer.Status == http.StatusNoContent && len(answer.Body) == 0 {
		return nil
	}
	if op.extension != "" {
		return checkObject(answer)
	}
	if op.Repeatable && len(bytes.TrimSpace(answer.Body)) == 0 || op.Repeatable && isRepeat && json.Valid(answer.Body) {
		return nil
	}
	if op.Repeatable && json.Valid(answer.Body) {
		return broken(answer, "processed marks are answered with 204")
	}
	if op.Repeatable {
		return broken(answer, "it is not JSON")
	}
	if op.Creates && answer.Status == http.StatusCreated {
		chosen, err := apitype.RecordUUID(answer.Body)
		if err == nil && chosen != id {
			if ch.isOther(answer) {
				return broken(answer, "it shows another record than the one that was sent")
			}
			id = chosen
		}
	}
	return checkRecord(answer, id)
}

// isOther reports whether the answer to a creation shows a field, except the UUID, with another value than was
// sent.
func (ch Change) isOther(answer *Response) bool {
	ch = ch.Without([]string{"uuid"})
	ch.Generated = false
	outcome, _ := judgeChange(ch, true, answer)
	return outcome == Conflict
}

// unknown returns the error of a change with an outcome that cannot be found out.
func unknown(cause *Error) *Error {
	return &Error{
		Kind:      KindUnknownOutcome,
		Status:    cause.Status,
		RequestID: cause.RequestID,
		Sent:      true,
		Err:       cause,
		Message:   "the change was sent, and its outcome is unknown: " + cause.Message,
	}
}

// interrupted returns the error of a delivery that its caller gave up.
func (d *Delivery) interrupted(a Answer) *Error {
	e := *a.Err
	e.Sent = d.Phase != Fresh || d.refused != 0 || e.Sent && !a.IsRead
	if e.Sent {
		e.Message = "interrupted; the change may have reached the service"
	}
	return &e
}

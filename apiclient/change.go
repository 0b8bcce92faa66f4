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
	op, h := ch.Operation(), History{}
	var failed *Error         // Of the last request with the change.
	var isTried, mayCome bool // It was sent since the last pause; what was sent may still arrive.
	step := Before(ch)
	for try := 1; ; {
		var a Answer
		if step == StepLookUp {
			a = c.Look(ctx, ch, h)
		} else if a = c.Try(ctx, ch, h); a.Err != nil {
			failed, isTried = a.Err, true
			mayCome = mayCome || failed.mayCome(op)
		}
		if a.Err != nil && a.Err.Kind == KindInterrupted {
			return nil, interrupted(a, h)
		}
		step = Next(ch, h, a)
		h, ch = h.After(a), ch.After(a)
		switch {
		case step == StepAccepted:
			return a.Response, nil
		case step == StepRefused:
			return nil, a.Refusal(h, failed)
		case step == StepLookUp && a.IsLook:
			if failed == nil ||
				failed.Kind == KindConflict && a.Err != nil { // A conflict does not show whether the change was applied.
				failed = a.Err
			}
			return nil, unknown(failed)
		case step == StepLookUp, step == StepSend && a.IsLook && !isTried:
		default:
			if failed == nil || step == StepWait {
				failed = a.Err
			}
			failed.Retryable = failed.Retryable || step == StepSend
			if err := c.pause(ctx, failed, try); mayCome && err != nil && KindOf(err) != KindInterrupted {
				return nil, unknown(failed)
			} else if err != nil {
				return nil, err
			}
			try, isTried = try+1, false
			step = Before(ch)
		}
	}
}

// mayCome reports whether a change may take effect after this error. That a new record is not found proves
// nothing after a 503.
func (e *Error) mayCome(op Operation) bool {
	return e.Sent && (!e.IsOwnFailure() || op.Repeatable || op.Creates && e.Status == http.StatusServiceUnavailable)
}

// Try sends a change once. Its answer has no error when it surely took effect.
func (c *Client) Try(ctx context.Context, ch Change, h History) Answer {
	if extension := ch.Operation().extension; extension != "" {
		if err := c.required(ctx, extension, extension); err != nil {
			return Answer{Err: asError(err)}
		}
	}
	answer, err := c.once(ctx, request{method: ch.Method, path: ch.Path, body: ch.Body, header: ifMatch(ch.Revision)})
	switch {
	case err != nil:
		e := asError(err)
		shown, wrong := apitype.RecordUUID(e.body)
		if errors.Is(err, errTooLarge) && e.answered == http.StatusOK && wrong == nil &&
			shown == ch.UUID { // It begins with the record.
			return Answer{Response: &Response{Status: e.answered, Header: http.Header{}}}
		}
		return Answer{Err: e}
	case answer.Status/100 != 2:
		failed := answer.failure(c.options.Now())
		ch.nameReferences(failed)
		return Answer{Response: answer, Err: failed}
	}
	if err := ch.checkAnswer(answer, h); err != nil {
		return Answer{Err: asError(err)}
	}
	return Answer{Response: answer}
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
func (ch Change) checkAnswer(answer *Response, h History) error {
	op, id := ch.Operation(), ch.UUID
	switch {
	case answer.Status == http.StatusPartialContent:
		return broken(answer, "it is only a part")
	case op.extension != "":
		return checkObject(answer)
	case answer.Status == http.StatusNoContent && len(answer.Body) == 0:
		return nil
	case op.Repeatable && len(bytes.TrimSpace(answer.Body)) == 0, op.Repeatable && h.Sent && json.Valid(answer.Body):
		return nil
	case op.Repeatable && json.Valid(answer.Body):
		return broken(answer, "processed marks are answered with 204")
	case op.Repeatable:
		return broken(answer, "it is not JSON")
	case op.Creates && answer.Status == http.StatusCreated:
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

func unknown(cause *Error) *Error {
	return &Error{
		Kind: KindUnknownOutcome, Status: cause.Status, RequestID: cause.RequestID, Sent: true, Err: cause,
		Message: "the change was sent, and its outcome is unknown: " + cause.Message,
	}
}

func interrupted(a Answer, h History) *Error {
	e := *a.Err
	if e.Sent = h.Sent || h.Refused != 0 || e.Sent && !a.IsLook; e.Sent {
		e.Message = "interrupted; the change may have reached the service"
	}
	return &e
}

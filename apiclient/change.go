package apiclient

import (
	"bytes"
	"context"
	"net/http"

	"fundesk/apiclient/apitype"
)

// Send sends a change until its outcome is known. An answer that was lost is settled by
// reading the record; only what certainly did not take effect is sent again. When it
// cannot be told, the error is of kind unknown_outcome.
func (c *Client) Send(ctx context.Context, ch Change) (*Response, error) {
	op := ch.Operation()
	if op.updates() && ch.Seen == nil {
		// One try: it only sharpens the message of a rare case.
		if answer, err := c.Do(ctx, http.MethodGet, op.recordPath(ch.UUID), nil, nil, nil); err == nil && answer.Err() == nil && checkRecord(answer, ch.UUID) == nil {
			ch.Seen = answer.Body
		}
	}
	s := &sending{client: c, change: ch, op: op, etag: ch.Revision}
	return s.run(ctx)
}

// sending is one change on its way.
type sending struct {
	client     *Client
	change     Change
	op         Operation
	etag       string // Revision that the change must find; known after a settlement.
	answerLost bool   // An earlier try may have reached the service.
	other      bool   // An earlier answer to processed marks was 2xx, but not 204.
}

func (s *sending) run(ctx context.Context) (*Response, error) {
	for try := 1; ; try++ {
		answer, failed := s.try(ctx)
		if failed == nil {
			return answer, nil
		}
		switch {
		case failed.Kind == KindInterrupted:
			return nil, s.interrupted(failed)
		case failed.Kind == KindConflict && (s.answerLost || s.change.Generated || s.op.Moves != ""):
			return s.afterConflict(ctx, failed)
		case !failed.Sent && s.answerLost && try >= s.client.options.Tries:
			return nil, s.unknown(failed)
		case failed.Sent:
			answer, err := s.settle(ctx, failed, try)
			if answer != nil || err != nil {
				return answer, err
			}
		}
		if err := s.client.pause(ctx, failed, try); err != nil {
			return nil, err
		}
	}
}

// try sends the change once; the error is nil when it surely took effect.
func (s *sending) try(ctx context.Context) (*Response, *Error) {
	r := request{method: s.change.Method, path: s.change.Path, body: s.change.Body, header: ifMatch(s.etag)}
	answer, err := s.client.once(ctx, r)
	if err != nil {
		return nil, asError(err)
	}
	if answer.Status/100 != 2 {
		return nil, answer.failure(s.client.options.Now())
	}
	if s.op.Repeatable {
		return s.marked(answer)
	}
	if err := s.change.CheckAnswer(answer); err != nil {
		return nil, retryable(asError(err))
	}
	return answer, nil
}

// CheckAnswer wants the record that was changed. A creation may have got another uuid
// from a service that chooses it itself: sent again, it would make one more record.
func (ch Change) CheckAnswer(answer *Response) error {
	id := ch.UUID
	if ch.Operation().Creates && answer.Status == http.StatusCreated {
		if chosen, err := apitype.RecordUUID(answer.Body); err == nil {
			id = chosen
		}
	}
	return checkRecord(answer, id)
}

// marked judges the answer to processed marks. Another 2xx than the 204 of the interface
// is believed when it comes again: then it is the service's way, and not something in
// between that answered once.
func (s *sending) marked(answer *Response) (*Response, *Error) {
	switch {
	case answer.Status == http.StatusNoContent:
		return answer, nil
	case !answer.isJSON() && len(bytes.TrimSpace(answer.Body)) > 0:
		return nil, retryable(broken(answer, "it is not JSON"))
	case s.other:
		return answer, nil
	default:
		s.other = true
		return nil, retryable(broken(answer, "processed marks are answered with 204"))
	}
}

// retryable lets a change with a broken answer be sent again once it is settled.
func retryable(e *Error) *Error {
	e.Retryable = true
	return e
}

// settle finds out what became of a change with an unclear answer. Both results are nil
// when it did not take effect and may be sent again.
func (s *sending) settle(ctx context.Context, failed *Error, try int) (*Response, error) {
	s.answerLost = true
	if s.op.Repeatable {
		failed.Retryable = true
		if try >= s.client.options.Tries {
			return nil, s.unknown(failed)
		}
		return nil, nil
	}
	outcome, answer, err := s.client.settle(ctx, s.change)
	switch {
	case KindOf(err) == KindInterrupted:
		return nil, s.interrupted(asError(err))
	case outcome == Landed:
		return answer, nil
	case outcome == Conflict:
		return nil, s.overtaken(failed)
	case outcome == Unknown:
		return nil, s.unknown(failed)
	}
	failed.Retryable = true
	if answer != nil && s.op.updates() {
		s.etag = answer.Header.Get("ETag")
	}
	// An attempt is never de-duplicated by the service: only a refusal by the service
	// itself is certain enough to send it again.
	certain := failed.IsOwnFailure()
	if s.op.Creates && failed.Status == http.StatusServiceUnavailable {
		certain = false // It may be committed yet: that the record is not found proves nothing.
	}
	if s.op.Name == OpAddAttempt && !certain {
		return nil, s.unknown(failed)
	}
	if try >= s.client.options.Tries && !certain {
		return nil, s.unknown(failed)
	}
	return nil, nil
}

// afterConflict tells a conflict with an own earlier request from one with somebody
// else.
func (s *sending) afterConflict(ctx context.Context, failed *Error) (*Response, error) {
	if outcome, answer, _ := s.client.settle(ctx, s.change); outcome == Landed {
		return answer, nil
	}
	return nil, failed
}

func (s *sending) overtaken(cause *Error) *Error {
	return &Error{
		Kind: KindConflict, RequestID: cause.RequestID, Err: cause,
		Message: "the answer was lost, and the record now says something else: somebody else changed it",
	}
}

func (s *sending) unknown(cause *Error) *Error {
	return &Error{
		Kind: KindUnknownOutcome, Status: cause.Status, RequestID: cause.RequestID, Sent: true, Err: cause,
		Message: "the change was sent, and whether it took effect is not known: " + cause.Message,
	}
}

func (s *sending) interrupted(cause *Error) *Error {
	e := *cause
	if e.Sent || s.answerLost {
		e.Sent = true
		e.Message = "interrupted; the change may have reached the service"
	}
	return &e
}

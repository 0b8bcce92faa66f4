package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"fundesk/apiclient"
)

// lookUp settles an entry whose answer was lost. When it is certain that it did not
// take effect, the entry becomes one to send.
func (s *Sender) lookUp(ctx context.Context, c *claim) Event {
	if c.Change().Operation().Repeatable {
		c.State = StateQueued // It may be repeated, and there is no record to look at.
		return Event{}
	}
	outcome, err := s.client.Settle(ctx, c.Change())
	switch {
	case err != nil:
		s.pauseOn(err)
		s.delay(c, err)
		return Event{Outcome: OutcomeUnsure, Err: fmt.Errorf("the answer was lost, and looking it up: %w", err)}
	case outcome == apiclient.Landed:
		return Event{Outcome: OutcomeAccepted}
	case outcome == apiclient.Conflict:
		return Event{Outcome: OutcomeRejected, Err: errors.New("the answer was lost; the record now holds something else")}
	case outcome == apiclient.NotLanded && s.believes(c):
		c.State, c.looked = StateQueued, true
		c.SentAt = s.box.options.Now().UTC()
		return Event{}
	case outcome == apiclient.NotLanded:
		s.wait(c, min(s.options.Patience/6, c.SentAt.Add(s.options.Patience).Sub(s.box.options.Now())))
		return Event{Outcome: OutcomeUnsure, Err: errors.New("the answer was lost; it has not arrived yet, and is looked up again before it is repeated")}
	default:
		s.delay(c, nil)
		return Event{Outcome: OutcomeUnsure, Err: ErrCannotTell}
	}
}

// believes reports whether an absent change may be taken as never to arrive. Those that
// a repeat cannot apply twice need no wait; attempts are never recognised as repeats.
// Spec gap: C4.
func (s *Sender) believes(c *claim) bool {
	if !c.Change().Operation().AddsUp || c.Answered {
		return true
	}
	now := s.box.options.Now().UTC()
	if c.SentAt.After(now) { // The clock was set back: its patience begins anew.
		c.SentAt = now
	}
	return !now.Before(c.SentAt.Add(s.options.Patience))
}

// send sends the exact request and reads what its answer means.
func (s *Sender) send(ctx context.Context, c *claim) Event {
	c.NotBefore, c.Answered = time.Time{}, false
	header := http.Header{}
	if len(c.Body) > 0 {
		header.Set("Content-Type", "application/json")
	}
	response, err := s.client.Do(ctx, c.Method, c.Path, nil, c.Body, header)
	if err == nil {
		err = response.Err()
	}
	if err == nil {
		if !isAnswer(c, response) {
			s.delay(c, nil)
			return Event{Outcome: OutcomeUnsure, Err: errors.New("the answer is not what the interface promises")}
		}
		return Event{Outcome: OutcomeAccepted, Record: response.Body}
	}
	var failure *apiclient.Error
	if !errors.As(err, &failure) {
		s.delay(c, err)
		return Event{Outcome: OutcomeUnsure, Err: err}
	}
	return s.refused(ctx, c, failure)
}

// refused reads an answer that is not 2xx, or a request that found no answer.
func (s *Sender) refused(ctx context.Context, c *claim, failure *apiclient.Error) Event {
	switch status := failure.Status; {
	case status == http.StatusUnauthorized, failure.Kind == apiclient.KindUnauthenticated:
		s.pauseOn(failure)
		s.delay(c, failure)
		if !c.repeated {
			c.SentAt = time.Time{}
		}
		return Event{Outcome: OutcomeWaiting, Err: failure}
	case failure.Sent:
		c.Answered = failure.IsOwnFailure()
		s.delay(c, failure)
		return Event{Outcome: OutcomeUnsure, Err: failure}
	case status == 0, status < 400, status == http.StatusTooManyRequests:
		s.delay(c, failure)
		if !c.repeated {
			c.SentAt = time.Time{} // It can still be taken back.
		}
		return Event{Outcome: OutcomeWaiting, Err: failure}
	case status == http.StatusRequestTimeout:
		s.delay(c, failure)
		return Event{Outcome: OutcomeUnsure, Err: failure}
	case status == http.StatusConflict && mayBeOurs(c):
		return s.afterConflict(ctx, c, failure)
	default:
		return Event{Outcome: OutcomeRejected, Err: failure}
	}
}

// isAnswer reports whether a 2xx answer is one of the service: the changed record, or
// nothing where there is none to show.
func isAnswer(c *claim, r *apiclient.Response) bool {
	if !c.Change().Operation().Repeatable {
		return r.Status == http.StatusNoContent && len(r.Body) == 0 || c.Change().CheckAnswer(r) == nil
	}
	// JSON that comes again is how this service says yes.
	return len(r.Body) == 0 || c.repeated && json.Valid(r.Body)
}

// mayBeOurs reports whether a conflict may be with this very change: it went out
// before, somebody on the way has doubled it, or nobody else can know its record.
func mayBeOurs(c *claim) bool {
	return c.repeated || c.Generated || c.Change().Operation().Moves != ""
}

// afterConflict looks whether the change has taken effect although it was refused.
func (s *Sender) afterConflict(ctx context.Context, c *claim, failure *apiclient.Error) Event {
	switch outcome, err := s.client.Settle(ctx, c.Change()); {
	case err != nil:
		s.pauseOn(err)
		s.delay(c, err)
		return Event{Outcome: OutcomeUnsure, Err: fmt.Errorf("refused, and looking it up: %w", err)}
	case outcome == apiclient.Landed:
		return Event{Outcome: OutcomeAccepted}
	case outcome == apiclient.Unknown && c.repeated && !c.looked:
		s.delay(c, nil)
		return Event{Outcome: OutcomeUnsure, Err: ErrCannotTell}
	default:
		return Event{Outcome: OutcomeRejected, Err: failure}
	}
}

// longestWait bounds what a service may ask for: who is on the way to it may ask for years.
const longestWait = 15 * time.Minute

// delay sets when the entry is tried again: doubling from 1 s to 60 s with jitter, or
// what the service asked for.
func (s *Sender) delay(c *claim, err error) {
	wait := time.Second << min(max(c.Tries-1, 0), 6)
	if c.State == StateUnsure {
		c.Tries++ // A look-up that failed counts, so that the next one comes later.
	}
	wait = min(wait, time.Minute)
	wait = wait/2 + time.Duration(s.options.Jitter()*float64(wait/2))
	var failure *apiclient.Error
	if errors.As(err, &failure) && failure.RetryAfter > 0 {
		wait = min(failure.RetryAfter, longestWait)
	}
	s.wait(c, wait)
}

// wait lets the entry wait from now on.
func (s *Sender) wait(c *claim, time time.Duration) {
	c.WaitsSince = s.box.options.Now().UTC()
	c.NotBefore = c.WaitsSince.Add(time)
}

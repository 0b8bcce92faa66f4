package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fundesk/apiclient"
)

// mostTries is how often an entry is tried before other entries are.
const mostTries = 2

// deliver moves a claimed entry as far as possible now. apiclient.Next chooses the step after each answer, as for
// direct changes.
func (s *Sender) deliver(ctx context.Context, c *claim) Event {
	ch := c.Change
	isCleared := c.State == StateQueued // An earlier turn looked it up, and it may be sent again.
	h := apiclient.History{
		Sent:     c.repeated,
		Answered: c.Answered,
		Expired:  s.isExpired(c) || isCleared,
		MayWait:  true,
	}
	step := apiclient.Before(ch)
	if c.State == StateUnsure && !ch.Operation().Repeatable {
		step = apiclient.StepLookUp
	}
	if s.options.Prepare != nil && c.State != StateUnsure {
		prepared, err := s.options.Prepare(ctx, c.Entry)
		if err != nil {
			return s.unprepared(c, h, err)
		}
		ch, c.Change = prepared, prepared
	}
	var failed *apiclient.Error // Of the last request.
	for tries := 0; ; {
		var a apiclient.Answer
		if step == apiclient.StepLookUp {
			ch.Claimed = s.box.claimed(c.Entry)
			a = s.client.Look(ctx, ch, h)
		} else {
			tries++
			c.NotBefore = time.Time{}
			if a = s.client.Try(ctx, ch, h); a.Err != nil {
				failed = a.Err
			}
		}
		step = apiclient.Next(ch, h, a)
		isFirstLook := a.IsLook && !h.Sent && h.Refused == 0
		h, ch = h.After(a), ch.After(a)
		c.Answered = h.Answered
		c.Seen = ch.Seen
		c.From = ch.From
		c.Revision = ch.Revision
		switch {
		case step == apiclient.StepAccepted && a.Response != nil:
			return Event{
				Outcome:     OutcomeAccepted,
				Record:      a.Response.Body,
				EditedSince: a.Response.EditedSince,
				Effect:      a.Response.Effect(),
			}
		case step == apiclient.StepAccepted:
			return Event{Outcome: OutcomeAccepted}
		case step == apiclient.StepRefused:
			return s.refused(c, a.Refusal(h, failed))
		case step == apiclient.StepWait:
			return s.waiting(c, h, a.Err)
		case step == apiclient.StepLookUp && a.IsLook:
			return s.unsure(c, a, failed)
		case step == apiclient.StepLookUp && a.Err.Status != 0: // It may be looked up at once: an answer came.
		case step == apiclient.StepSend && c.Looking && ch.Operation().AddsUp:
			c.NotBefore = time.Time{}
			return Event{} // With its next turn: until then no death of this process is one while it was sent.
		case step == apiclient.StepSend && a.IsLook && (isFirstLook || tries < mostTries && (failed == nil || failed.RetryAfter == 0)):
		case !h.Sent: // Whichever revision it names is refused.
			return s.refused(c, failed)
		default:
			s.delay(c, failed)
			return Event{Outcome: OutcomeUnsure, Err: failed}
		}
	}
}

// refused returns the event of an entry that the service refused, or that would overwrite a value that was changed
// elsewhere.
func (s *Sender) refused(c *claim, why *apiclient.Error) Event {
	c.Fields = nil
	if overtaken, ok := errors.AsType[*apiclient.Overtaken](why); ok {
		c.Fields = overtaken.Fields
	}
	return Event{Outcome: OutcomeRejected, Err: why}
}

// unprepared returns the event of an entry that could not be prepared, and is not sent now.
func (s *Sender) unprepared(c *claim, h apiclient.History, err error) Event {
	why, known := errors.AsType[*apiclient.Error](err)
	if !known {
		why = &apiclient.Error{Kind: apiclient.KindUnavailable, Message: "the change could not be prepared", Err: err}
	}
	return s.waiting(c, h, why)
}

// waiting returns the event of an entry that certainly had no effect.
func (s *Sender) waiting(c *claim, h apiclient.History, why *apiclient.Error) Event {
	s.pauseOn(why)
	s.delay(c, why)
	if !h.Sent {
		c.SentAt = time.Time{} // It can still be taken back.
	}
	return Event{Outcome: OutcomeWaiting, Err: why}
}

// unsure returns the event of an entry whose record does not show the outcome, or cannot be read. failed is the error
// just before, or nil.
func (s *Sender) unsure(c *claim, a apiclient.Answer, failed *apiclient.Error) Event {
	event := Event{Outcome: OutcomeUnsure, Err: ErrCannotTell}
	switch {
	case a.Err != nil && failed != nil && failed.Sent:
		s.pauseOn(a.Err)
		s.delay(c, failed)
		event.Err = failed
	case a.Err != nil:
		s.pauseOn(a.Err)
		s.delay(c, a.Err)
		event.Err = fmt.Errorf("the answer was lost, and looking it up: %w", a.Err)
	case a.Outcome == apiclient.NotLanded:
		s.wait(c, min(s.options.Patience/6, c.SentAt.Add(s.options.Patience).Sub(s.box.options.Now())))
		event.Err = errors.New("the answer was lost; it is not there yet, and fundesk looks again before it repeats it")
	default:
		s.delay(c, nil)
	}
	return event
}

// isExpired reports whether what was lost can no longer arrive.
func (s *Sender) isExpired(c *claim) bool {
	now := s.box.options.Now().UTC()
	if c.SentAt.After(now) { // The clock was set back, so its patience begins again.
		c.SentAt = now
	}
	return !now.Before(c.SentAt.Add(s.options.Patience))
}

// longestWait limits the wait that a service may ask for: a proxy may ask for years.
const longestWait = 15 * time.Minute

// delay sets when the entry is tried again: doubling from 1 s to 60 s with jitter, or
// what the service asked for.
func (s *Sender) delay(c *claim, failure *apiclient.Error) {
	wait := time.Second << min(max(c.Tries-1, 0), 6)
	if c.State == StateUnsure {
		c.Tries++ // A look-up that failed counts, so that the next one comes later.
	}
	wait = min(wait, time.Minute)
	wait = wait/2 + time.Duration(s.options.Jitter()*float64(wait/2))
	if failure != nil && failure.RetryAfter > 0 {
		wait = min(failure.RetryAfter, longestWait)
	}
	s.wait(c, wait)
}

// wait lets the entry wait from now on.
func (s *Sender) wait(c *claim, time time.Duration) {
	c.WaitsSince = s.box.options.Now().UTC()
	c.NotBefore = c.WaitsSince.Add(time)
}

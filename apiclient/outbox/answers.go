package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fundesk/apiclient"
)

// mostTries is the number of tries of an entry before other entries are tried.
const mostTries = 2

// deliver moves a claimed entry as far as possible now.
func (s *Sender) deliver(ctx context.Context, c *claim) Event {
	if s.options.Prepare != nil && c.State != StateUnsure {
		prepared, err := s.options.Prepare(ctx, c.Entry)
		if err != nil {
			return s.unprepared(c, err)
		}
		c.Change = prepared
	}
	d := apiclient.NewDelivery(c.Change, s.phaseOf(c))
	d.CanWait = true
	for tries := 0; ; {
		if d.Next() == apiclient.RequestRead {
			d.Change.Claimed = s.box.claimed(c.Entry)
		} else {
			tries++
			c.NotBefore = time.Time{}
		}
		answer := s.client.Deliver(ctx, d)
		verdict := d.Got(answer)
		c.keep(d, answer)
		switch verdict {
		case apiclient.VerdictAccepted:
			return accepted(answer.Response)
		case apiclient.VerdictRefused:
			return s.refused(c, d.Err())
		case apiclient.VerdictWait:
			return s.waiting(c, d.Err())
		case apiclient.VerdictUnsure:
			return s.unsure(c, answer, d.Failed())
		}
		isReadyToSend := d.Next() == apiclient.RequestSend
		if isReadyToSend && c.Looking && d.Change.Operation().AddsUp {
			c.NotBefore = time.Time{}
			return Event{} // With its next turn: until then no death of this process is one while it was sent.
		}
		if verdict == apiclient.VerdictNext {
			continue
		}
		if answer.IsRead && tries < mostTries && d.Failed().RetryAfter == 0 {
			continue
		}
		if d.Phase == apiclient.Fresh { // Whichever revision it names is refused.
			return s.refused(c, d.Failed())
		}
		s.delay(c, d.Failed())
		return Event{Outcome: OutcomeUnsure, Err: d.Failed()}
	}
}

// phaseOf returns the phase of a claimed entry.
func (s *Sender) phaseOf(c *claim) apiclient.Phase {
	isExpired := s.isExpired(c)
	if !c.repeated {
		return apiclient.Fresh
	}
	if c.State == StateQueued { // An earlier turn looked it up, and it may be sent again.
		return apiclient.Seen
	}
	if c.Answered || isExpired {
		return apiclient.Sent
	}
	return apiclient.Lost
}

// keep stores what an answer has shown in the entry.
func (c *claim) keep(d *apiclient.Delivery, a apiclient.Answer) {
	isLost := !a.IsRead && a.Err != nil && a.Err.Sent
	if isLost {
		c.repeated = true
		c.Answered = a.Err.IsOwnFailure()
	}
	c.Seen = d.Change.Seen
	c.From = d.Change.From
	c.Revision = d.Change.Revision
}

// accepted returns the event of an accepted change. The answer has no response if it could not be read whole.
func accepted(response *apiclient.Response) Event {
	if response == nil {
		return Event{Outcome: OutcomeAccepted}
	}
	return Event{
		Outcome:     OutcomeAccepted,
		Record:      response.Body,
		EditedSince: response.EditedSince,
		Effect:      response.Effect(),
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
func (s *Sender) unprepared(c *claim, err error) Event {
	why, known := errors.AsType[*apiclient.Error](err)
	if !known {
		why = &apiclient.Error{Kind: apiclient.KindUnavailable, Message: "the change could not be prepared", Err: err}
	}
	return s.waiting(c, why)
}

// waiting returns the event of an entry that certainly had no effect.
func (s *Sender) waiting(c *claim, why *apiclient.Error) Event {
	s.pauseOn(why)
	s.delay(c, why)
	if !c.repeated {
		c.SentAt = time.Time{} // It can still be taken back.
	}
	return Event{Outcome: OutcomeWaiting, Err: why}
}

// unsure returns the event of an entry whose record does not show the outcome, or cannot be read. failed is the last
// error of the change itself, or nil.
func (s *Sender) unsure(c *claim, a apiclient.Answer, failed *apiclient.Error) Event {
	event := Event{Outcome: OutcomeUnsure, Err: ErrCannotTell}
	switch {
	case !a.IsRead:
		s.delay(c, a.Err)
		event.Err = a.Err
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

// isExpired reports whether a lost request can no longer arrive.
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

package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// SenderOptions are the options of a sender. The zero value sends two changes at a time and reports none.
type SenderOptions struct {
	InFlight int // At most this many changes in flight at once. Zero means 2.
	// Patience is how long a lost change that must not be applied twice may still arrive. Only after that its absence
	// counts. Zero means 30 s.
	Patience time.Duration
	// Poll is the interval at which Run reads entries of other processes. Zero means 2 s.
	Poll time.Duration
	// Notify is called with the progress of an entry, one call at a time. It may be nil.
	Notify func(Event)
	Jitter func() float64 // Returns 0 to 1. Nil means random.
	// Prepare runs before an entry is sent, and returns the change to send. An error delays the entry. Nil sends
	// entries as they are.
	Prepare func(context.Context, Entry) (apiclient.Change, error)
}

// Outcome is the result of one delivery attempt.
type Outcome string

// The outcomes of a step.
const (
	OutcomeAccepted Outcome = "accepted" // Erased from the disk.
	OutcomeRejected Outcome = "rejected" // Kept with the service's text.
	OutcomeUnsure   Outcome = "unsure"   // Will be looked up.
	OutcomeWaiting  Outcome = "waiting"  // Was certainly not applied; is tried again later.
	OutcomeDropped  Outcome = "dropped"  // Taken back or thrown away.
)

// Event reports the progress of an entry.
type Event struct {
	Entry   Entry
	Outcome Outcome
	Err     error           // Why it was not accepted.
	Record  json.RawMessage // The record as the service answered, if it did.
	// EditedSince is set if the record of an accepted creation has other values than were sent.
	EditedSince bool
	// Effect is the confirmed effect of the result on the person. Empty if there is none.
	Effect apitype.ResultEffect
	// IsForeign means that another process did it. If the entry is gone, only ID, Op and UUID are known.
	IsForeign bool
}

// Report counts what one SendDue did.
type Report struct {
	Accepted, Rejected int
	Refused            int   // In the outbox and refused, by this SendDue or an earlier one.
	Newer              int   // Made by a later version of the program, which alone can send them.
	Damaged            int   // Files of changes that are damaged or cannot be read.
	Waiting            int   // Still in the outbox and not refused, those held included.
	Stuck              int   // The part of them that waits for a refused entry, or for one with an unknown outcome.
	Err                error // The last failure: why entries wait; see apiclient.KindOf.
	RejectedErr        error // The last refusal.
}

// Sender sends the entries of an outbox. Any number may run, in any number of
// processes.
type Sender struct {
	box     *Outbox
	client  *apiclient.Client
	options SenderOptions
	notify  sync.Mutex
	// Nothing is sent before this time, because the service refused the account. Nil means no pause.
	pausedUntil atomic.Pointer[time.Time]
}

// Sender returns a sender that uses client, whose base URL and account must match the outbox.
func (o *Outbox) Sender(client *apiclient.Client, options SenderOptions) *Sender {
	if options.InFlight <= 0 {
		options.InFlight = 2
	}
	if options.Patience <= 0 {
		options.Patience = apiclient.DefaultTimeout
	}
	if options.Poll <= 0 {
		options.Poll = 2 * time.Second
	}
	if options.Jitter == nil {
		options.Jitter = rand.Float64
	}
	return &Sender{box: o, client: client, options: options}
}

// SendDue sends everything that is not held, each entry once, even if an earlier failure lets it wait. Its error is a
// failure of the spool. The report has the answers of the service.
func (s *Sender) SendDue(ctx context.Context) (Report, error) {
	s.pausedUntil.Store(nil)
	var report Report
	turns := &turns{box: s.box, eager: true, done: map[string]bool{}}
	for ctx.Err() == nil {
		worked, err := s.round(ctx, turns, &report)
		if err != nil {
			return report, errors.Join(err, s.count(&report))
		}
		if !worked || s.isPaused() {
			break
		}
	}
	err := s.count(&report)
	isCutShort := ctx.Err() != nil && report.Waiting > 0
	if isCutShort && report.Err == nil {
		report.Err = &apiclient.Error{Kind: apiclient.KindInterrupted, Message: "interrupted", Err: ctx.Err()}
	}
	return report, err
}

// count fills in how many entries stay.
func (s *Sender) count(report *Report) error {
	entries, damaged, err := s.box.List()
	if err != nil {
		return err
	}
	for _, d := range damaged {
		if d.IsNewer {
			report.Newer++
		} else if !d.isDraft() {
			report.Damaged++
		}
	}
	report.Waiting, report.Stuck = 0, 0
	for _, e := range entries {
		if e.State == StateRejected {
			report.Refused++
			continue
		}
		report.Waiting++
		if isStuck(e, entries) || e.State == StateUnsure && e.LastError == ErrCannotTell.Error() {
			report.Stuck++
		}
	}
	return nil
}

// Run sends entries as they become due until ctx ends, and reports the work of other processes to Notify. A failure of
// the spool or of the account, which stops all entries, is reported with an empty entry, and tried again.
func (s *Sender) Run(ctx context.Context) {
	turns, others := &turns{box: s.box}, &follower{box: s.box}
	_, _ = others.read() // Earlier outcomes are not reported.
	for ctx.Err() == nil {
		s.tellForeign(others)
		var report Report
		worked, err := s.round(ctx, turns, &report)
		if err == nil && !worked {
			err = report.Err // The account was refused before anything went out.
		}
		if err != nil {
			s.tell(Event{Outcome: OutcomeWaiting, Err: err})
		}
		if worked && err == nil {
			continue
		}
		wait := s.options.Poll
		if !turns.next.IsZero() {
			wait = min(wait, max(0, turns.next.Sub(s.box.options.Now())))
		}
		timer := time.NewTimer(max(wait, 10*time.Millisecond))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.box.changed:
		}
		timer.Stop()
	}
}

// tellForeign reports the work of other processes since the last time.
func (s *Sender) tellForeign(others *follower) {
	endings, _ := others.read() // It is read again.
	for _, ending := range endings {
		if ending.By == s.box.process {
			continue
		}
		s.tell(s.box.eventOf(ending))
	}
}

// round sends the due entries, at most InFlight at once. worked reports whether there were any.
func (s *Sender) round(ctx context.Context, turns *turns, report *Report) (worked bool, err error) {
	if s.isPaused() {
		return false, nil
	}
	if err := s.checkAccount(ctx); err != nil {
		s.pauseOn(err)
		report.Err = err
		return false, nil
	}
	claims, err := turns.take(s.options.InFlight)
	if err != nil {
		return false, err
	}
	type result struct {
		event Event
		err   error
	}
	results := make(chan result, len(claims))
	for _, c := range claims {
		if turns.done != nil {
			turns.done[c.ID] = true
		}
		go func() {
			event, err := s.process(ctx, c)
			results <- result{event, err}
		}()
	}
	for range claims {
		r := <-results
		if r.err != nil {
			err = r.err
		}
		switch r.event.Outcome {
		case OutcomeAccepted, OutcomeRejected:
			turns.end(r.event.Entry)
		case "":
			turns.again(r.event.Entry)
			continue
		}
		report.add(r.event)
		s.tell(r.event)
	}
	return len(claims) > 0, err
}

// checkAccount makes sure that nothing is sent with another account's token: a login may have replaced the token since
// the outbox was opened.
func (s *Sender) checkAccount(ctx context.Context) error {
	if s.box.options.BaseURL == "" {
		return nil // As Choosing describes.
	}
	account, err := s.client.Identity(ctx)
	if err != nil {
		return err
	}
	if account != s.box.options.Account || s.client.BaseURL() != s.box.options.BaseURL {
		return &apiclient.Error{
			Kind:    apiclient.KindUnauthenticated,
			Message: "the changes in the outbox belong to another account or service; log in to that one to send them",
			Err:     apiclient.ErrOtherAccount,
		}
	}
	return nil
}

func (r *Report) add(e Event) {
	switch e.Outcome {
	case OutcomeAccepted:
		r.Accepted++
	case OutcomeRejected:
		r.Rejected++
		r.RejectedErr = e.Err
	case OutcomeUnsure, OutcomeWaiting:
		r.Err = e.Err
	}
}

// process moves one claimed entry a step further, and puts it into the folder of its new state.
func (s *Sender) process(ctx context.Context, c *claim) (Event, error) {
	event := s.deliver(ctx, c)
	folder := map[Outcome]string{
		OutcomeRejected: dirRejected,
		OutcomeUnsure:   dirUnsure,
		OutcomeWaiting:  dirQueued,
		"":              dirQueued,
	}[event.Outcome]
	if event.Err != nil {
		c.LastError = event.Err.Error()
	}
	hooks := map[Outcome]func(context.Context, Entry){
		OutcomeAccepted: s.box.options.Accepted,
		OutcomeRejected: s.box.options.Refused,
	}
	if ended := hooks[event.Outcome]; ended != nil {
		ended(ctx, c.Entry)
	}
	if err := s.box.settle(c, folder, event); err != nil {
		return Event{Entry: c.Entry, Outcome: OutcomeUnsure, Err: err}, err
	}
	event.Entry = c.Entry
	event.Entry.State = s.box.state(folder, c.Entry)
	return event, nil
}

// pauseOn pauses everything for a minute when the account was refused: no entry
// would fare better.
func (s *Sender) pauseOn(err error) {
	if apiclient.KindOf(err) == apiclient.KindUnauthenticated {
		s.pausedUntil.Store(new(s.box.options.Now().Add(time.Minute)))
	}
}

func (s *Sender) isPaused() bool {
	until := s.pausedUntil.Load()
	return until != nil && s.box.options.Now().Before(*until)
}

// Resume ends the pause after a refused account, because there was a new login.
func (s *Sender) Resume() {
	s.pausedUntil.Store(nil)
	s.box.wake()
}

func (s *Sender) tell(e Event) {
	if s.options.Notify == nil {
		return
	}
	s.notify.Lock()
	defer s.notify.Unlock()
	s.options.Notify(e)
}

package desk

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/callbacks"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/pause"
	"fundesk/tui/desk/pending"
	"fundesk/tui/desk/queue"
)

// How the desk holds leases of the service's queue.
const (
	idleTime   = 15 * time.Minute // The time without a key after which all leases are released.
	warnTime   = 12 * time.Minute // The same without a key. The agent is warned before.
	sleepTime  = 30 * time.Second // The longest time without news before everything on the Desk counts as stale.
	queueShown = 40               // Calls of the queue that are shown.
)

// leases has the calls that this Desk has leased from the queue of the service, if there is one: the call on the Desk,
// at most one prefetched call, and calls with an unsent change.
type leases struct {
	*base
	*showing
	seat      *seat
	guard     *Guard
	pause     *pause.Pause
	callbacks *callbacks.List
	screens   *screens
	messages  *floor.Messages
	codes     *floor.Codes
	isChanged func(call apitype.UUID) bool // A change of the call waits, or was refused.
	readToday func()

	asked   bool // Whether the service has a queue is known.
	usable  bool // It has.
	held    []lease
	pending *pending.Leases
	// ended has the calls of this session whose pending lease ended with an accepted change. Another change is a late
	// repeat.
	ended     map[apitype.UUID]bool
	startedAt time.Time
	taking    bool
	// request is the take whose answer has not come. A repeat has the same uuid, so that no lease is lost with the
	// answer.
	request apitype.UUID
	none    bool // The last take brought nothing.
	// unreturned is the skipped call whose lease had ended. If a take brings it, it is given back, once.
	unreturned apitype.UUID
	user       apitype.UUID
	// nextDueAt is the time of the next callback in the last take. Nil if there is none.
	nextDueAt *apitype.Time

	state    *apitype.QueueState // As last counted; nil before.
	takes    int                 // How many were answered.
	waiting  int                 // The last answer.
	upcoming []queue.Candidate   // In the order in which they would be taken.
}

// lease is a call that is held.
type lease struct {
	apitype.Lease
	note     *outbox.HeldLease // For the agent's other terminals. Nil if it cannot be saved.
	call     apitype.Call
	extended time.Time // When it was taken, or extended last.
}

// What the work of leases brings.
type (
	discovered struct {
		has     bool
		adopted []lease
	}
	taken struct {
		leases      []lease
		isElsewhere bool                  // Another terminal of the agent has the call.
		ending      map[apitype.UUID]bool // The calls with a change in the outbox that ends them.
		waiting     int
		nextDueAt   *apitype.Time
	}
)

// discover asks whether the service has a queue, and takes over what a terminal of this
// agent held that was killed.
func (d *Day) discover() {
	event.Do(d.Queue, "queue discovered", func(ctx context.Context) (discovered, error) {
		has, err := d.Client.Has(ctx, apitype.ExtensionQueue)
		if err != nil {
			return discovered{}, err
		}
		found := discovered{has: has}
		notes, _ := d.Outbox.AdoptLeases() // Another agent may have them; lost leases expire.
		ending := d.leases.ending()
		for _, note := range notes {
			if has && !ending[note.CallUUID] { // The lease of a change that waits is pending.
				if l, err := d.leases.adopt(ctx, note); err == nil {
					found.adopted = append(found.adopted, l)
					continue
				}
			}
			_ = note.Forget()
		}
		return found, nil
	}, d.onDiscovered)
}

// adopt goes on with a lease of a terminal that was killed, or could not give it back. It may still be pending for a
// change that was undone.
func (s *leases) adopt(ctx context.Context, note *outbox.HeldLease) (lease, error) {
	kept, err := apiclient.Decoded(s.Client.Queue.Extend(ctx, note.LeaseUUID, apitype.ExtendRequest{
		LeaseSeconds: new(int(pending.LeaseTime / time.Second)),
		Pending:      new(false),
	}))
	if err != nil {
		return lease{}, err
	}
	call, err := apiclient.Decoded(s.Client.Calls.Get(ctx, note.CallUUID))
	return lease{Lease: kept, note: note, call: call, extended: s.Now()}, err
}

func (d *Day) onDiscovered(found discovered, err error) {
	isAnnounced := d.Has(apitype.ExtensionSettings) || err != nil // Without an answer they may be.
	d.floor.Announce(isAnnounced)
	if !d.IsRead("cannot ask whether the service has a queue", err) {
		return
	}
	d.leases.asked, d.leases.usable = true, found.has
	d.leases.held = append(d.leases.held, found.adopted...)
	d.queue.Begin(!found.has)
	if found.has {
		d.leases.readQueue()
		d.readCodes()
	}
	d.serve()
}

// ahead returns the call that comes after the one on the desk, if one was taken.
func (s *leases) ahead() *lease {
	for i := range s.held {
		if l := &s.held[i]; !s.seat.IsOn(l.CallUUID) && !s.keepsBack(l.CallUUID) {
			return l
		}
	}
	return nil
}

func (s *leases) leaseOf(call apitype.UUID) *lease {
	i := slices.IndexFunc(s.held, func(l lease) bool { return l.CallUUID == call })
	if i < 0 {
		return nil
	}
	return &s.held[i]
}

// Serve shows the prefetched call to the waiting agent, and prefetches the next one.
func (s *leases) Serve() {
	if l := s.ahead(); l != nil {
		if s.may() { // A call comes with its draft, or typing would write over that.
			s.present(l.call)
		}
		return
	}
	if s.none {
		s.seat.NoneLeft = s.seat.Wanted
		return
	}
	// An agent who opens calls by hand prefetches none, and one who is away has none.
	if s.seat.Wanted && !s.guard.isIdle(s.Now()) || s.seat.Call != nil && s.leaseOf(s.seat.Call.UUID) != nil {
		s.takeLease()
	}
}

// Prefetch takes the call after the one on the Desk.
func (s *leases) Prefetch() { s.Serve() }

// takeLease asks the queue for the next call.
func (s *leases) takeLease() {
	if s.taking || s.pause.IsOn() {
		return
	}
	s.taking = true
	if s.request.IsZero() {
		s.request = apitype.NewUUID()
	}
	request := apitype.TakeRequest{
		RequestUUID:  s.request,
		UserUUID:     s.agent(),
		LeaseSeconds: new(int(pending.LeaseTime / time.Second)),
		QueueFilter:  s.Filter,
		Ahead:        !s.seat.Wanted,
	}
	now, pauses := s.Now(), s.pause.Asked()
	event.Do(s.Queue, "calls taken", func(ctx context.Context) (taken, error) {
		answer, err := apiclient.Decoded(s.Client.Queue.Take(ctx, request))
		brought := taken{waiting: answer.Waiting, nextDueAt: answer.NextDueAt, ending: s.ending()}
		for _, l := range answer.Leases {
			note, held := s.Outbox.HoldLease(
				outbox.Lease{LeaseUUID: l.LeaseUUID, CallUUID: l.CallUUID, ExpiresAt: now.Add(pending.LeaseTime)},
			)
			if errors.Is(held, outbox.ErrOpenElsewhere) && !s.screens.has(l.CallUUID) {
				brought.isElsewhere = true // The lease protects that terminal's donor, and may be pending there by now.
				continue
			}
			// Another note that cannot be kept costs another terminal's agent a look, and no lease.
			brought.leases = append(brought.leases, lease{Lease: l, note: note, call: l.Call.Value(), extended: now})
		}
		return brought, err
	}, func(t taken, err error) { s.onTaken(t, err, pauses != s.pause.Asked()) })
}

// ending returns the calls with a change in the outbox that ends them. If the outbox cannot be read, the notes of the
// leases decide alone.
func (s *leases) ending() map[apitype.UUID]bool {
	ending := map[apitype.UUID]bool{}
	entries, _, _ := s.Outbox.List()
	for _, e := range entries {
		if pending.EndsCall(e.Op) {
			ending[e.UUID] = true
		}
	}
	return ending
}

// agent returns the user who takes calls: the agent, or a random user of this terminal.
func (s *leases) agent() apitype.UUID {
	if s.Agent != nil {
		return *s.Agent
	}
	if s.user.IsZero() {
		s.user = apitype.NewUUID()
	}
	return s.user
}

// onTaken keeps the leases of a take, unless a pause was sent after the take: the service may have ended them.
func (s *leases) onTaken(t taken, err error, isCrossed bool) {
	s.taking = false
	if isPaused := apiclient.KindOf(err) == apiclient.KindConflict; isPaused && !s.pause.IsOn() {
		s.readToday() // Another Desk has paused.
	}
	if apiclient.KindOf(err) == apiclient.KindConflict { // It was refused: nothing of it is left.
		s.request = apitype.UUID{}
	}
	if s.pause.IsOn() && err != nil {
		return
	}
	if !s.IsRead("cannot take the next call", err) {
		return
	}
	s.request = apitype.UUID{}
	s.none, s.nextDueAt = len(t.leases) == 0 && !t.isElsewhere, t.nextDueAt
	s.takes, s.waiting = s.takes+1, t.waiting
	s.countTaken()
	for _, l := range t.leases {
		// Another terminal has ended the call, and makes the lease pending.
		if t.ending[l.CallUUID] && !s.keepsBack(l.CallUUID) {
			event.Do(s.Queue, "note of a lease forgotten", func(context.Context) (any, error) {
				return nil, l.note.Forget()
			}, func(any, error) {})
			s.none = false
			continue
		}
		if s.leaseOf(l.CallUUID) == nil {
			s.held = append(s.held, l)
		}
		s.codes.See(l.call.Type, apitype.TextOf(l.call.Result.Value().ResultCode))
		if l.CallUUID == s.unreturned {
			s.unreturned = apitype.UUID{}
			s.releaseLease(l.CallUUID)
		}
	}
	if s.pause.IsOn() || isCrossed {
		for _, l := range t.leases {
			s.releaseLease(l.CallUUID)
		}
	}
	s.showing.serve()
	s.trimLeases() // The agent may have returned to a call in between.
}

// passOver gives the call back that the agent skipped, so that others come first. If its lease has ended, it can only
// be given back once it comes again.
func (s *leases) passOver(call apitype.UUID) {
	s.unreturned = apitype.UUID{}
	if s.usable && s.leaseOf(call) == nil {
		s.unreturned = call
	}
	s.releaseLease(call)
}

// releaseLease ends the lease of a call, if it has one, so that other users may get the call.
func (s *leases) releaseLease(call apitype.UUID) {
	l := s.leaseOf(call)
	if l == nil {
		return
	}
	id := l.LeaseUUID
	s.endLease(id)
	s.none = false
	if s.pending.IsWanted(call) {
		return // A take was faster: this lease becomes pending.
	}
	event.Do(s.Queue, "lease released", func(ctx context.Context) (any, error) {
		return nil, s.Client.Queue.Release(ctx, id, apitype.DeferRequest{})
	}, func(any, error) { // A lease that cannot be released expires.
		if s.callbacks.Has(call) {
			s.callbacks.Read()
		}
	})
}

// hold adds the lease of an opened call. The latest reading replaces an earlier lease.
func (s *leases) hold(l lease, isLatest bool) {
	if before := s.leaseOf(l.CallUUID); before != nil {
		if !isLatest || before.LeaseUUID == l.LeaseUUID {
			return
		}
		s.endLease(before.LeaseUUID)
	}
	s.held = append(s.held, l)
}

func (s *leases) endLease(id apitype.UUID) {
	s.held = slices.DeleteFunc(s.held, func(l lease) bool {
		if l.LeaseUUID != id {
			return false
		}
		_ = l.note.Forget() // It expires.
		return true
	})
}

// trimLeases releases all leases except those of the call on the Desk and of one prefetched call.
func (s *leases) trimLeases() {
	ahead := s.ahead()
	for _, l := range slices.Clone(s.held) {
		if !s.seat.IsOn(l.CallUUID) && (ahead == nil || l.LeaseUUID != ahead.LeaseUUID) {
			s.releaseLease(l.CallUUID)
		}
	}
}

// warnOfEnd shows that the lease of the call on the Desk is about to end, until a key comes.
func (s *leases) warnOfEnd() {
	ends := s.seat.Call != nil && s.leaseOf(s.seat.Call.UUID) != nil && s.guard.noKeyFor(warnTime, s.Now())
	switch {
	case !ends:
		s.Over(event.OfLease)
	case !s.Owns(event.OfLease):
		name := callName(s.base, *s.seat.Call)
		s.FailOf(event.OfLease, s.Say("%s is reserved for you for 3 more minutes: any key keeps the donor", name))
	}
}

// Wake notes that the Desk is running. If the clock shows that it was not, because the computer slept, everything on
// the screen is old. It reads the call, its person and the leases again, and until then IsStale is true.
func (d *Day) Wake() []event.Event {
	d.wake()
	return d.Drain()
}

func (d *Day) wake() {
	before, now := d.awake, d.Now().Round(0)
	if d.awake = now; before.IsZero() || now.Sub(before).Abs() <= sleepTime {
		return
	}
	d.Guard.at = now // The agent is back.
	for _, l := range slices.Clone(d.leases.held) {
		switch {
		case now.Sub(l.extended.Round(0)) >= pending.LeaseTime:
			d.leases.endLease(l.LeaseUUID)
			d.isFreed = d.isFreed || d.IsOn(l.CallUUID)
		default:
			d.leases.extend(l)
		}
	}
	if d.Call != nil {
		d.reread(d.Call.UUID, unasked)
		d.stale = true
	}
}

// isFreed notes that a lease has ended that was not given back here. It is not taken again unless the agent asks.
func (s *leases) isFreed(l lease) {
	s.endLease(l.LeaseUUID)
	if !s.seat.IsOn(l.CallUUID) {
		return
	}
	s.seat.isFreed = true
	if s.seat.Call.Status == apitype.CallRequested { // Otherwise there is nothing left to call for.
		s.FailOf(
			event.OfCall(l.CallUUID),
			s.Say("%s is no longer reserved for you: another agent may call, too", callName(s.base, l.call)),
		)
	}
}

// IsStale reports whether the shown call may be stale, and is being read.
func (d *Day) IsStale() bool { return d.stale }

// tend extends the leases of a Desk in use, and releases the leases of an idle one. It is called every few seconds.
func (s *leases) tend() {
	s.warnOfEnd()
	for _, p := range s.pending.List() {
		if !s.seat.IsOn(p.Call) {
			p.IsOpening.Store(false) // The agent has left it again.
		}
		s.settle(p)
	}
	idle := s.guard.isIdle(s.Now())
	for _, l := range slices.Clone(s.held) {
		switch {
		case idle:
			s.releaseLease(l.CallUUID)
			if s.seat.IsOn(l.CallUUID) {
				s.seat.isFreed = true
				s.FailOf(
					event.OfCall(l.CallUUID),
					s.Say("%s is no longer reserved for you: no key for 15 minutes", callName(s.base, l.call)),
				)
			}
		default:
			s.keepLease(l)
		}
	}
}

// KeepLeases extends the leases of a Desk in use without keys. It is called every few seconds.
func (d *Day) KeepLeases() []event.Event {
	d.wake()
	for _, l := range slices.Clone(d.leases.held) {
		d.leases.keepLease(l)
	}
	return d.Drain()
}

// KeepLease extends the lease of the call on the Desk, because the agent begins to work on it. It takes an ended lease
// again, if no other user holds the donor.
func (d *Day) KeepLease() []event.Event {
	l := d.leases.leaseOf(d.Call.UUID)
	switch {
	case l != nil:
		d.leases.extend(*l)
	case d.leases.usable && d.isFreed:
		d.unleased = d.Call.UUID
		d.reread(d.Call.UUID, unasked)
	}
	return d.Drain()
}

// keepLease extends a lease in time, if a key came since.
func (s *leases) keepLease(l lease) {
	if l.extended.Add(pending.LeaseTime).Sub(s.Now()) < pending.ExtendTime && s.guard.at.After(l.extended) {
		s.extend(l)
	}
}

// extend extends a lease from now on. It also reports to the service that a prefetched call is shown.
func (s *leases) extend(l lease) {
	var ahead *bool
	if l.Ahead && s.seat.IsOn(l.CallUUID) {
		ahead = new(false)
	}
	event.Do(s.Queue, "lease extended", func(ctx context.Context) (apitype.Lease, error) {
		return s.extended(ctx, l.LeaseUUID, ahead)
	}, func(kept apitype.Lease, err error) { s.onExtended(l.LeaseUUID, kept, err) })
}

// extended requests the extension of a lease from now on. ahead is whether its call is not shown yet, or nil for no
// change.
func (s *leases) extended(ctx context.Context, id apitype.UUID, ahead *bool) (apitype.Lease, error) {
	return apiclient.Decoded(
		s.Client.Queue.Extend(
			ctx,
			id,
			apitype.ExtendRequest{LeaseSeconds: new(int(pending.LeaseTime / time.Second)), Ahead: ahead},
		),
	)
}

func (s *leases) onExtended(id apitype.UUID, kept apitype.Lease, err error) {
	i := slices.IndexFunc(s.held, func(l lease) bool { return l.LeaseUUID == id })
	switch {
	case i < 0:
	case apiclient.KindOf(err) == apiclient.KindNotFound:
		s.isFreed(s.held[i])
	case err != nil:
		s.FailRead("cannot keep the lease", err)
	default:
		s.Over("cannot keep the lease")
		l := &s.held[i]
		l.ExpiresAt, l.Ahead, l.extended = kept.ExpiresAt, kept.Ahead, s.Now()
	}
}

// End releases the leases of a Desk that ends, in at most two seconds, and saves the state for the next start. Leases
// that cannot be released expire.
func (d *Day) End() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var group sync.WaitGroup
	for _, l := range d.leases.held {
		group.Go(func() {
			err := d.Client.Queue.Release(ctx, l.LeaseUUID, apitype.DeferRequest{})
			if !errors.Is(err, context.DeadlineExceeded) {
				_ = l.note.Forget()
			}
		})
	}
	for _, p := range d.leases.pending.List() { // They outlive the Desk.
		p.IsOpening.Store(false)
		group.Go(func() { _ = d.leases.pending.Settle(ctx, p) })
	}
	group.Wait()
	d.leases.held = nil
	d.leaveScreen()
	for _, p := range d.leases.pending.List() {
		d.leases.leaveUndone(p)
	}
}

// leaveUndone lets the next start give back the lease of an undone change, if that failed now: it would stay pending.
func (s *leases) leaveUndone(p *pending.Lease) {
	id, isLeft := p.Left()
	if !isLeft {
		return
	}
	note, err := s.Outbox.HoldLease(outbox.Lease{
		LeaseUUID: id,
		CallUUID:  p.Call,
		ExpiresAt: s.Now().Add(pending.LeaseTime),
	})
	if err == nil { // Without a note, the lease ends after a day.
		_ = note.Leave()
	}
}

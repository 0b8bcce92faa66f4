package lease

import (
	"context"
	"errors"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pending"
)

// discovered is the answer to whether the service has a queue.
type discovered struct {
	has     bool
	adopted []Lease
}

// Discover asks whether the service has a queue, and takes over the leases of a terminal of this agent that was killed.
func (s *Leases) Discover() {
	agent := s.Agent()
	event.Do(s.Events, "queue discovered", func(ctx context.Context) (discovered, error) {
		has, err := s.Client.Has(ctx, apitype.ExtensionQueue)
		if err != nil {
			return discovered{}, err
		}
		found := discovered{has: has}
		notes, _ := s.Outbox.AdoptLeases() // Another agent may have them; lost leases expire.
		ending := s.ending()
		for _, note := range notes {
			isOthers := !note.UserUUID.IsZero() && note.UserUUID != agent
			if isOthers { // Who works with the same account, and may still speak with the donor.
				_ = note.Leave()
				continue
			}
			if has && !ending[note.CallUUID] { // The lease of a change that waits is pending.
				l, err := s.adopt(ctx, note)
				if err == nil {
					found.adopted = append(found.adopted, l)
					continue
				}
				isAway := apiclient.KindOf(err) == apiclient.KindUnavailable
				if isAway { // The next Desk takes it over: it may be pending, for a day.
					_ = note.Leave()
					continue
				}
			}
			_ = note.Forget()
		}
		return found, nil
	}, func(found discovered, err error) {
		if err == nil {
			s.IsDiscovered, s.HasQueue = true, found.has
			s.held = append(s.held, found.adopted...)
		}
		s.Desk.OnDiscovered(err)
	})
}

// adopt goes on with a lease of a terminal that was killed, or could not give it back. It may still be pending for a
// change that was undone.
func (s *Leases) adopt(ctx context.Context, note *outbox.HeldLease) (Lease, error) {
	kept, err := apiclient.Decoded(s.Client.Queue.Extend(ctx, note.LeaseUUID, apitype.ExtendRequest{
		LeaseSeconds: seconds(),
		Pending:      new(false),
	}))
	if err != nil {
		return Lease{}, err
	}
	call, err := apiclient.Decoded(s.Client.Calls.Get(ctx, note.CallUUID))
	return Lease{
		Lease:      kept,
		note:       note,
		Call:       call,
		extendedAt: s.Now(),
	}, err
}

// seconds returns the length of a lease for a request.
func seconds() *int { return new(int(pending.LeaseTime / time.Second)) }

// Serve shows the prefetched call to the waiting agent, and prefetches the next one.
func (s *Leases) Serve() {
	if l := s.ahead(); l != nil {
		if s.Desk.MayShow() { // A call comes with its draft, or typing would write over that.
			s.Desk.Present(l.Call)
		}
		return
	}
	if s.isNone {
		s.Desk.NoneLeft()
		return
	}
	// An agent who opens calls by hand prefetches none, and one who is away has none.
	isAwaited := s.Desk.IsWaiting() && !s.Keys.AreIdle(s.Now())
	call := s.Desk.Call()
	if isAwaited || call != nil && s.of(call.UUID) != nil {
		s.take()
	}
}

// Prefetch takes the call after the one on the Desk.
func (s *Leases) Prefetch() { s.Serve() }

// TakeAgain lets Serve ask for a call, also if the last take brought nothing.
func (s *Leases) TakeAgain() { s.isNone = false }

// taken is the answer to a take.
type taken struct {
	leases      []Lease
	isElsewhere bool                  // Another terminal of the agent has the call.
	ending      map[apitype.UUID]bool // The calls with a change in the outbox that ends them.
	waiting     int
	nextDueAt   *apitype.Time
}

// take asks the queue for the next call.
func (s *Leases) take() {
	if s.isTaking || s.Pause.IsOn() {
		return
	}
	s.isTaking = true
	if s.request.IsZero() {
		s.request = apitype.NewUUID()
	}
	request := apitype.TakeRequest{
		RequestUUID:  s.request,
		UserUUID:     s.Agent(),
		LeaseSeconds: seconds(),
		QueueFilter:  s.Desk.Filter(),
		Ahead:        !s.Desk.IsWaiting(),
	}
	now, pauses := s.Now(), s.Pause.Asked()
	event.Do(s.Events, "calls taken", func(ctx context.Context) (taken, error) {
		answer, err := apiclient.Decoded(s.Client.Queue.Take(ctx, request))
		brought := taken{waiting: answer.Waiting, nextDueAt: answer.NextDueAt, ending: s.ending()}
		for _, l := range answer.Leases {
			note, held := s.Outbox.HoldLease(outbox.Lease{
				LeaseUUID: l.LeaseUUID,
				CallUUID:  l.CallUUID,
				UserUUID:  s.noted(request.UserUUID),
				ExpiresAt: now.Add(pending.LeaseTime),
			})
			if errors.Is(held, outbox.ErrOpenElsewhere) && !s.locks.has(l.CallUUID) {
				brought.isElsewhere = true // The lease protects that terminal's donor, and may be pending there by now.
				continue
			}
			// Another note that cannot be kept costs another terminal's agent a look, and no lease.
			brought.leases = append(brought.leases, Lease{
				Lease:      l,
				note:       note,
				Call:       l.Call.Value(),
				extendedAt: now,
			})
		}
		return brought, err
	}, func(t taken, err error) { s.onTaken(t, err, pauses != s.Pause.Asked()) })
}

// ending returns the calls with a change in the outbox that ends them. If the outbox cannot be read, the notes of the
// leases decide alone.
func (s *Leases) ending() map[apitype.UUID]bool {
	ending := map[apitype.UUID]bool{}
	entries, _, _ := s.Outbox.List()
	for _, e := range entries {
		if pending.EndsCall(e.Op) {
			ending[e.UUID] = true
		}
	}
	return ending
}

// onTaken keeps the leases of a take, unless a pause was sent after the take: the service may have ended them.
func (s *Leases) onTaken(t taken, err error, isCrossed bool) {
	s.isTaking = false
	if apiclient.KindOf(err) == apiclient.KindConflict {
		if !s.Pause.IsOn() {
			s.Desk.OnConflict() // Another Desk has paused.
		}
		s.request = apitype.UUID{} // It was refused: nothing of it is left.
	}
	if s.Pause.IsOn() && err != nil {
		return
	}
	if !s.Connection.IsRead("cannot take the next call", err) {
		return
	}
	s.request = apitype.UUID{}
	s.isNone, s.nextDueAt = len(t.leases) == 0 && !t.isElsewhere, t.nextDueAt
	s.takes, s.waiting = s.takes+1, t.waiting
	s.countTaken()
	for _, l := range t.leases {
		s.add(l, t.ending[l.CallUUID])
	}
	if s.Pause.IsOn() || isCrossed {
		for _, l := range t.leases {
			s.Release(l.CallUUID)
		}
	}
	s.Desk.Serve()
	s.Trim() // The agent may have returned to a call in between.
}

// add keeps a taken lease. isEnding means that a change in the outbox ends its call.
func (s *Leases) add(l Lease, isEnding bool) {
	if isEnding && !s.KeepsBack(l.CallUUID) { // Another terminal has ended the call, and makes the lease pending.
		event.Do(s.Events, "note of a lease forgotten", func(context.Context) (any, error) {
			return nil, l.note.Forget()
		}, func(any, error) {})
		s.isNone = false
		return
	}
	if s.of(l.CallUUID) == nil {
		s.held = append(s.held, l)
	}
	s.Codes.See(l.Call.Type, apitype.TextOf(l.Call.Result.Value().ResultCode))
	if l.CallUUID == s.unreturned {
		s.unreturned = apitype.UUID{}
		s.Release(l.CallUUID)
	}
}

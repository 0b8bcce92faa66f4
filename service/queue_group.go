package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// Many who take at one time get in each other's way, and a statement costs the store hardly more
// for several of them: takes of one account that ask for the same, and come while others of those
// are made, are made together. One that comes alone waits for nobody.

// maxGroup is how many takes are made together at most, so that none waits long for the others.
const maxGroup = 16

// groupPause is how long the group before is waited for: where the store takes longer, it is not
// for the want of processors.
const groupPause = 50 * time.Millisecond

// takeGroup is takes that one transaction makes.
type takeGroup struct {
	members []*taking       // In the order in which they came.
	before  <-chan struct{} // Closed when the group before has ended; nil: there was none.
	begun   bool            // Nobody joins any more.
	expired int             // Leases that were seen to have ended.
	done    chan struct{}
	err     error
}

// takeGroups are the latest groups that have not ended, by what they ask for. The zero value is
// ready.
type takeGroups struct {
	mu     sync.Mutex
	latest map[string]*takeGroup
}

// takeInGroup makes a take with those that it is in a group with. The first one of a group asks the
// store for its transaction, and the others join until that is begun.
func (s *Service) takeInGroup(ctx context.Context, t *taking) error {
	asked := t.c.UUID.String() + t.query.narrowing()
	g, first := s.takes.join(asked, t)
	if first {
		defer s.takes.end(asked, g)
		g.await()
		// The others wait for it even when who asked first does so no more.
		g.err = s.store.UpdateShared(context.WithoutCancel(ctx), func(tx Tx) error {
			return g.take(tx, s.takes.begin(g))
		})
		s.counted(LeasesExpired, g.expired)
	} else {
		<-g.done
	}
	return errors.Join(g.err, t.gone())
}

// await waits for the group before, for a moment.
func (g *takeGroup) await() {
	if g.before == nil {
		return
	}
	enough := time.NewTimer(groupPause)
	defer enough.Stop()
	select {
	case <-g.before:
	case <-enough.C:
	}
}

// join adds a take to the group that waits, or to a new one that it is the first of. A request that is
// in the group already is not made beside itself.
func (g *takeGroups) join(asked string, t *taking) (group *takeGroup, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	latest, ok := g.latest[asked]
	same := func(other *taking) bool { return other.request.RequestUUID == t.request.RequestUUID }
	if ok && !latest.begun && len(latest.members) < maxGroup && !slices.ContainsFunc(latest.members, same) {
		latest.members = append(latest.members, t)
		return latest, false
	}
	group = &takeGroup{members: []*taking{t}, done: make(chan struct{})}
	if ok {
		group.before = latest.done
	}
	if g.latest == nil {
		g.latest = map[string]*takeGroup{}
	}
	g.latest[asked] = group
	return group, true
}

// begin is the takes of a group, which nobody joins any more.
func (g *takeGroups) begin(group *takeGroup) []*taking {
	g.mu.Lock()
	defer g.mu.Unlock()
	group.begun = true
	return group.members
}

// end lets the members of a group go on.
func (g *takeGroups) end(asked string, group *takeGroup) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if group.begun = true; g.latest[asked] == group {
		delete(g.latest, asked)
	}
	close(group.done)
}

// take runs in a transaction, perhaps several times. Whoever went away is given nothing.
func (g *takeGroup) take(tx Tx, members []*taking) error {
	g.expired = 0
	var waits party
	now := members[0].now
	for _, t := range members {
		if t.gone() == nil {
			waits = append(waits, t)
		}
		if t.now.After(now.Time) {
			now = t.now
		}
	}
	if len(waits) == 0 {
		return nil
	}
	before, err := waits.requests(tx, now)
	if err != nil {
		return err
	}
	for i, t := range waits {
		t.begin(before[i])
	}
	if before[0].HasNewlyEligible {
		if g.expired, err = tx.EndLeasesByTime(now); err != nil {
			return err
		}
		if err := tx.MarkEligible(now); err != nil {
			return err
		}
	}
	for _, p := range waits.split() {
		if err := g.fill(tx, p); err != nil {
			return err
		}
	}
	return nil
}

// party is takes for which the same calls are next.
type party []*taking

// requests looks at what came of the requests before.
func (p party) requests(tx Tx, now apitype.Time) ([]QueueRequest, error) {
	asked := mapped(p, func(t *taking) QueueAsk {
		t.now = now
		t.query.at(now)
		return QueueAsk{t.request.UserUUID, t.request.RequestUUID}
	})
	return tx.QueueRequests(p[0].c.UUID, asked, p[0].query)
}

// split is the takes for which the same calls are next: where none is due and none was given back a
// moment ago, it is the same ones for every user.
func (p party) split() (parties []party) {
	var same party
	for _, t := range p {
		if t.query.Due || t.query.GaveBack {
			parties = append(parties, party{t})
		} else {
			same = append(same, t)
		}
	}
	if same != nil {
		parties = append(parties, same)
	}
	return parties
}

// wanted is how many calls are looked for.
func (p party) wanted() (n int) {
	for _, t := range p {
		n += t.want
	}
	return n
}

// fill gives as many calls as are looked for, in the order of the queue. What is not taken after
// all is found to sleep, and is not there the next time.
func (g *takeGroup) fill(tx Tx, p party) error {
	query := p[0].query
	for {
		if query.Limit = p.wanted(); query.Limit == 0 {
			return nil
		}
		rows, err := tx.NextInQueue(query)
		if err != nil || len(rows) == 0 {
			return err
		}
		for len(rows) > 0 && p.wanted() > 0 {
			if rows, err = g.lease(tx, p, rows); err != nil {
				return err
			}
		}
	}
}

// lease gives calls to those who look for some, one after the other, unless their person is in a
// lease that could not be seen, or has opted out. The first one of each is saved before its others:
// by its ordinal the same request, elsewhere, meets this one, whichever of the others are refused.
func (g *takeGroup) lease(tx Tx, p party, rows []QueueRow) ([]QueueRow, error) {
	var leases []LeaseRow
	var takers party // Of the leases.
	for _, t := range p {
		ordinal, n := t.ordinal, t.want
		if len(t.leases) == 0 {
			n = min(n, 1)
		}
		for ; n > 0 && len(rows) > 0; rows = rows[1:] {
			ready, err := t.ready(tx, rows[0])
			if err != nil {
				return nil, err
			}
			if ready {
				leases, takers = append(leases, t.lease(rows[0], ordinal)), append(takers, t)
				ordinal, n = ordinal+1, n-1
			}
		}
	}
	saved, err := tx.InsertLeases(leases)
	if err != nil {
		return nil, err
	}
	for i, lease := range leases {
		t, ok := takers[i], slices.Contains(saved, lease.LeaseUUID)
		if !ok {
			if ok, err = g.leaseAgain(tx, t, lease); err != nil {
				return nil, err
			}
		}
		if ok { // The ordinal of a first one that was refused is the next one's.
			t.leases, t.ordinal = append(t.leases, lease), lease.Ordinal+1
			t.want--
		}
	}
	return rows, nil
}

// leaseAgain saves a lease whose place another one had, which may have ended by itself. Where it
// has not, the calls of the person are found to sleep.
func (g *takeGroup) leaseAgain(tx Tx, t *taking, lease LeaseRow) (saved bool, err error) {
	expired, err := tx.EndLeasesByTime(t.now)
	if err != nil {
		return false, err
	}
	if g.expired += expired; expired > 0 {
		again, err := tx.InsertLeases([]LeaseRow{lease})
		if err != nil || len(again) > 0 {
			return err == nil, err
		}
	}
	same, err := party{t}.requests(tx, t.now)
	if err == nil && slices.ContainsFunc(same[0].Leases, func(l LeaseRow) bool { return l.Ordinal == lease.Ordinal }) {
		return false, ErrAgain // The same request came twice at the same time; the other one was first.
	}
	if err != nil {
		return false, err
	}
	return false, refreshEligibility(tx, lease.Person, t.now, nil)
}

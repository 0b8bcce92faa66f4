package service

import (
	"context"
	"slices"
)

// take makes a take in one transaction.
func (t *taking) take(ctx context.Context) error {
	err := t.s.store.Write(ctx, WriteShared, func(tx Tx) error {
		if err := ctx.Err(); err != nil { // A caller that went away is given nothing.
			return err
		}
		t.expired = 0
		t.at(t.s.timeOf(tx))
		return t.give(tx)
	})
	t.s.counted(LeasesExpired, t.expired)
	return err
}

// give runs in a transaction, perhaps several times. It gives as many calls as are wanted, in the order
// of the queue. A call that is not given after all is found not to be eligible, and is not there the
// next time.
func (t *taking) give(tx Tx) error {
	before, err := t.requestBefore(tx)
	if err != nil {
		return err
	}
	t.begin(before)
	if before.HasNewlyEligible {
		if t.expired, err = tx.EndLeasesByTime(t.now); err != nil {
			return err
		}
		if err := tx.MarkEligible(t.now); err != nil {
			return err
		}
	}
	for t.want > 0 {
		t.query.Limit = t.want
		rows, err := tx.NextInQueue(t.query)
		if err != nil || len(rows) == 0 {
			return err
		}
		for len(rows) > 0 && t.want > 0 {
			if rows, err = t.lease(tx, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// requestBefore returns what came of the request before.
func (t *taking) requestBefore(tx Tx) (QueueRequest, error) {
	return tx.QueueRequest(t.c.UUID, QueueAsk{t.request.UserUUID, t.request.RequestUUID}, t.query)
}

// lease gives calls, unless their person is in a lease that could not be seen, or has opted out. The
// first lease is saved before the others: by its ordinal the same request, in another process, meets
// this one, whichever of the others are refused.
func (t *taking) lease(tx Tx, rows []QueueRow) ([]QueueRow, error) {
	var leases []LeaseRow
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
			leases = append(leases, t.newLease(rows[0], ordinal))
			ordinal, n = ordinal+1, n-1
		}
	}
	saved, err := tx.InsertLeases(leases)
	if err != nil {
		return nil, err
	}
	for _, lease := range leases {
		ok := slices.Contains(saved, lease.LeaseUUID)
		if !ok {
			if ok, err = t.leaseAgain(tx, lease); err != nil {
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
// has not, the calls of the person are found not to be eligible.
func (t *taking) leaseAgain(tx Tx, lease LeaseRow) (saved bool, err error) {
	expired, err := tx.EndLeasesByTime(t.now)
	if err != nil {
		return false, err
	}
	if t.expired += expired; expired > 0 {
		again, err := tx.InsertLeases([]LeaseRow{lease})
		if err != nil || len(again) > 0 {
			return err == nil, err
		}
	}
	same, err := t.requestBefore(tx)
	if err == nil && slices.ContainsFunc(same.Leases, func(l LeaseRow) bool { return l.Ordinal == lease.Ordinal }) {
		return false, ErrAgain // The same request came twice at the same time; the other one was first.
	}
	if err != nil {
		return false, err
	}
	return false, refreshEligibility(tx, lease.Person, t.now, nil)
}

package service

import (
	"context"
	"time"

	"fundesk/apiclient/apitype"
)

// tendPause is the shortest time between two rounds of the periodic work.
const tendPause = time.Second / 2

// The number of rows that one transaction of the periodic work changes. It is small, so that no request waits long.
const (
	markMost   = 1000
	forgetMost = 100
)

// QueueForgets holds the times before which the queue forgets rows.
type QueueForgets struct {
	Leases  apitype.Time // By their end.
	Hours   apitype.Time
	Numbers apitype.Time
}

// TendQueue does the periodic work of the queue: it marks calls whose time has come, and logs claims that expired. Once
// a minute it deletes old rows and sums up counters. Of all processes on the database, one does it at a time. It
// returns how many claims had expired.
func (s *Service) TendQueue(ctx context.Context) (int, error) {
	round := tending{pause: tendPause}
	var err error
	round.hasMore, err = s.hasPeriodicWork(ctx)
	var expired int
	for err == nil && round.hasMore {
		err := s.store.Write(ctx, WriteShared, func(tx Tx) error { return round.do(tx, s.TimeOf(tx)) })
		if err != nil {
			return expired, err
		}
		expired += round.expired
		round.pause = 0
	}
	return expired, err
}

// hasPeriodicWork reports whether a minute has begun, or work of each second waits. Else the turn to write is left to
// requests.
func (s *Service) hasPeriodicWork(ctx context.Context) (bool, error) {
	now, err := s.StoreTime(ctx)
	if err != nil {
		return false, err
	}
	minute := now.Truncate(time.Minute).UnixMilli()
	if s.tendedMinute.Swap(minute) != minute {
		return true, nil
	}
	var is bool
	err = s.store.Read(ctx, ReadRecord, func(r Reader) error {
		is, err = r.HasPeriodicWork(now)
		return err
	})
	return is, err
}

// tending is a transaction of the periodic work, which may run several times.
type tending struct {
	pause    time.Duration // Since the work of another process.
	isMinute bool          // The work of each minute is done, too.
	expired  int           // Claims.
	hasMore  bool
}

func (t *tending) do(tx Tx, now apitype.Time) error {
	t.expired, t.hasMore = 0, false
	last, isLeader, err := tx.LeadQueue(now, t.pause)
	if err != nil || !isLeader {
		return err
	}
	marked, err := tx.MarkEligible(now, markMost)
	if err != nil {
		return err
	}
	t.expired, err = tx.LogExpired(now, forgetMost)
	if err != nil {
		return err
	}
	t.hasMore = marked >= markMost || t.expired >= forgetMost
	t.isMinute = t.isMinute || !last.Truncate(time.Minute).Equal(now.Truncate(time.Minute))
	if !t.isMinute {
		return nil
	}
	forgotten, err := tx.ForgetQueue(QueueForgets{
		Leases:  apitype.NewTime(now.Add(-queueMemory)),
		Hours:   apitype.NewTime(now.Add(-apitype.MaxAgents).Truncate(time.Hour)),
		Numbers: apitype.NewTime(now.Add(-restAfterContact)),
	}, forgetMost)
	if err != nil {
		return err
	}
	isPart, err := tx.SumQueueCounts()
	t.hasMore = t.hasMore || forgotten >= forgetMost || isPart
	return err
}

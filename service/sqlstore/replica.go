package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"fundesk/service"
)

// replica is a server that follows the primary, and answers lists and single records for it.
type replica struct {
	*postgresEngine
	avoidedUntil atomic.Int64 // Since 1970, in nanoseconds: it has failed, or is behind.
}

// How long a replica may take to have what was changed before a read, how often it is asked
// meanwhile, and how long one that failed is left alone.
const (
	replicaPatience = time.Second
	replicaAsked    = 5 * time.Millisecond
	replicaAvoided  = 5 * time.Second
)

func openReplica(o Options, size int) (*replica, error) {
	if o.Replica == "" {
		return nil, nil
	}
	db, err := o.Postgres.Open(o.Replica, o.ConnectTimeout, o.AnswerTimeout)
	if err != nil {
		return nil, fmt.Errorf("the database to read from: %w", err)
	}
	e := &postgresEngine{driver: o.Postgres, db: db}
	e.db.SetMaxIdleConns(size)
	e.pool = newPool(size, e.connect)
	e.pool.patience, e.pool.full = o.AnswerTimeout, e.full
	return &replica{postgresEngine: e}, nil
}

// logPosition is a place in the log of a server. Two of different timelines cannot be compared: what
// an old primary wrote after another one took over is in no log but its own.
type logPosition struct {
	timeline int64
	place    string
}

// text is the position as an answer carries it.
func (p logPosition) text() string { return fmt.Sprintf("%d/%s", p.timeline, p.place) }

// position is how far the primary is. Every change that it has acknowledged lies before.
func (e *postgresEngine) position(ctx context.Context) (p logPosition, err error) {
	err = e.again(ctx, func(c *conn) error {
		return c.row(`SELECT ('x' || substr(pg_walfile_name(l), 1, 8))::bit(32)::bigint, l::text FROM pg_current_wal_lsn() l`).scan(&p.timeline, &p.place)
	})
	return p, err
}

// LogPosition is how far the log is, where somebody reads from replicas.
func (e *postgresEngine) LogPosition(ctx context.Context) (string, error) {
	if e.replica == nil {
		return "", nil
	}
	p, err := e.position(ctx)
	return p.text(), err
}

var errBehind = errors.New("the replica is behind")

// fromReplica runs what only reads on the replica, once that has every change acknowledged before.
// done is false where the primary has to be asked: there is no replica, it is behind, it failed, or
// not even the primary says how far it is.
func (e *postgresEngine) fromReplica(ctx context.Context, read func(*conn) error) (done bool, err error) {
	r := e.replica
	if r == nil || !service.RequestOf(ctx).FromReplica || time.Now().UnixNano() < r.avoidedUntil.Load() {
		return false, nil
	}
	position, err := e.position(ctx)
	if err != nil {
		return false, nil
	}
	err = r.pool.with(ctx, func(c *conn) error {
		if err := c.reached(ctx, position); err != nil {
			return err
		}
		err := r.transactOnce(c, readOnly, read)
		done = !c.broken
		return err
	})
	switch {
	case done || ctx.Err() != nil:
	case errors.Is(err, errBehind):
		r.avoid(replicaPatience) // The next ones would wait in vain, too.
	default:
		r.avoid(replicaAvoided)
	}
	return done, err
}

func (r *replica) avoid(d time.Duration) { r.avoidedUntil.Store(time.Now().Add(d).UnixNano()) }

// reached waits until a replica has replayed the log up to a position.
func (c *conn) reached(ctx context.Context, p logPosition) error {
	enough := time.NewTimer(replicaPatience)
	defer enough.Stop()
	for {
		var has bool
		err := c.row(`SELECT pg_is_in_recovery() AND COALESCE(pg_last_wal_replay_lsn() >= $1::pg_lsn, FALSE)
			AND (SELECT min_recovery_end_timeline FROM pg_control_recovery()) = $2`, p.place, p.timeline).scan(&has)
		if has || err != nil {
			return err
		}
		again := time.NewTimer(replicaAsked)
		select {
		case <-again.C:
		case <-enough.C:
			again.Stop()
			return errBehind
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
	}
}

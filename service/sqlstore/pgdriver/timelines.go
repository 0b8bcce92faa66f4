package pgdriver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// timelines tells apart the servers of a name with several hosts that all take changes: a primary
// that was cut off, or stopped for a while, may come back and not know that another one took over.
// The one whose timeline is higher has taken over; what the other one keeps is lost.
type timelines struct {
	highest atomic.Int64 // That was seen of a primary.
	stop    context.CancelFunc
}

// watchPause is how often the hosts are looked at.
const watchPause = 3 * time.Second

// askTimeline is the timeline of a primary, 0 of a standby.
const askTimeline = `SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END`

// seenTimeline is under what a connection keeps the timeline that its server had.
const seenTimeline = "timeline"

// seen is a timeline of a server, and of those of its name.
type seen struct {
	of     *timelines
	number int64
}

var errReplaced = errors.New("another server has taken over from this one")

// watchTimelines looks at the hosts of a name from now on, where it has several, and lets
// connections be made to those alone that nobody took over from.
func watchTimelines(config *pgconn.Config) *timelines {
	hosts := hostsOf(config)
	if len(hosts) < 2 {
		return nil
	}
	ctx, stop := context.WithCancel(context.WithValue(context.Background(), connecting{}, true))
	t := &timelines{stop: stop}
	fits := config.ValidateConnect
	config.ValidateConnect = func(ctx context.Context, c *pgconn.PgConn) error {
		if fits != nil {
			if err := fits(ctx, c); err != nil {
				return err
			}
		}
		number, err := t.look(ctx, c)
		if err == nil && number > 0 && number < t.highest.Load() {
			return errReplaced
		}
		c.CustomData()[seenTimeline] = seen{t, number}
		return err
	}
	go t.watch(ctx, hosts)
	return t
}

// hostsOf is a configuration for each host of one, with the ways to it that were its own.
func hostsOf(config *pgconn.Config) (hosts []*pgconn.Config) {
	named := map[string]*pgconn.Config{}
	add := func(host string, port uint16, tls *tls.Config) {
		name := host + ":" + strconv.Itoa(int(port))
		if known, ok := named[name]; ok {
			known.Fallbacks = append(known.Fallbacks, &pgconn.FallbackConfig{Host: host, Port: port, TLSConfig: tls})
			return
		}
		own := config.Copy()
		own.Host, own.Port, own.TLSConfig, own.Fallbacks, own.ValidateConnect = host, port, tls, nil, nil
		named[name] = own
		hosts = append(hosts, own)
	}
	add(config.Host, config.Port, config.TLSConfig)
	for _, other := range config.Fallbacks {
		add(other.Host, other.Port, other.TLSConfig)
	}
	return hosts
}

// watch looks at the hosts until it is ended. One that does not answer is looked at again.
func (t *timelines) watch(ctx context.Context, hosts []*pgconn.Config) {
	look := time.NewTicker(watchPause)
	defer look.Stop()
	for {
		for _, host := range hosts {
			if c, err := pgconn.ConnectConfig(ctx, host); err == nil {
				_, _ = t.look(ctx, c)
				_ = c.Close(ctx)
			}
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// look notes the timeline of a server.
func (t *timelines) look(ctx context.Context, c *pgconn.PgConn) (number int64, err error) {
	results, err := c.Exec(ctx, askTimeline).ReadAll()
	if err != nil {
		return number, fmt.Errorf("ask for the timeline: %w", err)
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return number, errors.New("ask for the timeline: there is no answer")
	}
	if number, err = strconv.ParseInt(string(results[0].Rows[0][0]), 10, 64); err != nil {
		return number, err
	}
	for {
		highest := t.highest.Load()
		if number <= highest || t.highest.CompareAndSwap(highest, number) {
			return number, nil
		}
	}
}

// Stale reports whether the server at the other end of a connection of the pool, as
// [sql.Conn.Raw] hands it out, was replaced by another one of its name.
func (Driver) Stale(connection any) bool {
	s, ok := connection.(*stdlib.Conn).Conn().PgConn().CustomData()[seenTimeline].(seen)
	return ok && s.number > 0 && s.number < s.of.highest.Load()
}

package sqlstore

import (
	"context"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// newestChanges are the queries of the newest change of each kind, each in the order of an index.
var newestChanges = []string{
	`SELECT MAX(updated_at) FROM persons WHERE erased_at IS NULL`,
	`SELECT MAX(erased_at) FROM persons WHERE erased_at IS NOT NULL`,
	`SELECT MAX(updated_at) FROM pledges`,
	`SELECT MAX(t.updated_at) FROM calls t WHERE ` + unlinkedCalls,
	`SELECT MAX(t.updated_at) FROM calls t WHERE ` + linkedCalls,
}

// NewestChange returns the highest time that the database has given or holds of a change.
func (r *reader) NewestChange() (apitype.Time, error) {
	newest, err := r.HighestTime()
	if err != nil {
		return newest, err
	}
	for _, query := range newestChanges {
		var at *apitype.Time
		if err := r.row(query).scan(nullTimeDest{&at}); err != nil {
			return newest, err
		}
		if at != nil && at.After(newest.Time) {
			newest = *at
		}
	}
	return newest, nil
}

// PersonsAhead, PledgesAhead and CallsAhead return records that were changed after a time, or created.
func (t *tx) PersonsAhead(now apitype.Time) ([]apitype.UUID, error) {
	return t.identifiers(
		`SELECT uuid FROM persons WHERE erased_at IS NULL AND (updated_at > $1 OR created_at > $1)`,
		now.UnixMilli(),
	)
}

func (t *tx) PledgesAhead(now apitype.Time) ([]apitype.UUID, error) {
	return t.identifiers(`SELECT uuid FROM pledges WHERE updated_at > $1`, now.UnixMilli())
}

func (t *tx) CallsAhead(now apitype.Time) ([]apitype.UUID, error) {
	return t.identifiers(`SELECT uuid FROM calls WHERE updated_at > $1`, now.UnixMilli())
}

// ResetTimes gives erasures that lie ahead a time, and lets the next change have it.
func (t *tx) ResetTimes(now apitype.Time) error {
	if _, err := t.exec(`UPDATE persons SET erased_at = $1 WHERE erased_at > $1`, now.UnixMilli()); err != nil {
		return err
	}
	return t.engine.resetTimes(t.conn, now.UnixMilli())
}

func (e *sqliteEngine) resetTimes(c *conn, now int64) error {
	c.given = 0
	_, err := c.exec(`UPDATE given_times SET at = $1`, now)
	return err
}

func (e *postgresEngine) resetTimes(c *conn, now int64) error {
	return c.row(`SELECT setval('given_times', $1), setval('settled_times', 1)`, now).scan(new(int64), new(int64))
}

// RaiseRevisions adds a number to the revision of every record. It rewrites their rows, so it takes about half as long
// as the rest of a restore.
func (t *tx) RaiseRevisions(by int64) error {
	for _, table := range []string{"persons", "pledges", "calls"} {
		if _, err := t.exec(`UPDATE `+table+` SET rev = rev + $1`, by); err != nil {
			return err
		}
	}
	return nil
}

// Others counts the sessions of our other programs. Programs with an SQLite file are found by its locks.
func (e *postgresEngine) Others(ctx context.Context) (int, error) {
	var others int
	err := e.read(ctx, service.ReadRecord, func(c *conn) error {
		return c.row(`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
			AND application_name LIKE '` + application + `%'`).
			scan(&others)
	})
	return others - e.db.Stats().OpenConnections, err
}

func (e *sqliteEngine) Others(context.Context) (int, error) { return 0, nil }

// readIdentity reads the identity of the database. A database that pg_restore made has another one. All servers of a
// cluster have the same. A role without the right to ask for the cluster does without that part.
func (e *postgresEngine) readIdentity(ctx context.Context) error {
	const database = `(SELECT oid FROM pg_database
		WHERE datname = current_database()), '/', CAST(to_regclass('settings') AS OID))`
	read := func(text string) error {
		return e.read(ctx, service.ReadRecord, func(c *conn) error { return c.row(text).scan(&e.named) })
	}
	if read(`SELECT CONCAT((SELECT system_identifier FROM pg_control_system()), '/', `+database) == nil {
		return nil
	}
	return read(`SELECT CONCAT(` + database)
}

func (e *postgresEngine) identity() string { return e.named }

// Lineage returns the identity with the timeline of the server: a recovery to a point in time begins another one. A
// server that does not tell its timeline does without that part.
func (e *postgresEngine) Lineage(ctx context.Context) string {
	var timeline string
	_ = e.read(ctx, service.ReadRecord, func(c *conn) error {
		return c.row(`SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`).scan(&timeline)
	})
	return e.named + "/" + timeline
}

func (*sqliteEngine) identity() string { return "" }

func (*sqliteEngine) Lineage(context.Context) string { return "" }

package pgdriver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// warned is under what a connection keeps that the server warned.
const warned = "warned"

// noteWarning notes a warning of the server.
func noteWarning(c *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warned] = notice.Message
	}
}

// Commit ends a transaction over one connection of the pool, as [sql.Conn.Raw] hands it out,
// and waits as long as it takes: a commit that is cancelled while it waits for a standby is
// kept where a failover loses it. What the server warns of is no success: another session
// cancelled it. Before, in the same round trip, text is run with each of rows as its arguments;
// where one is refused, the server does not come to the commit.
func (Driver) Commit(connection any, text string, rows [][]any) error {
	c := connection.(*stdlib.Conn).Conn()
	known := c.PgConn().CustomData()
	delete(known, warned)
	defer patience(c.PgConn().Conn())()
	last, err := commit(c, text, rows)
	if err != nil {
		return err
	}
	if warning, ok := known[warned]; ok {
		return fmt.Errorf("commit: the server warns: %v", warning)
	}
	if last.String() != "COMMIT" {
		return errors.New("commit: the server took the transaction back")
	}
	return nil
}

// commit is what the server says to the last statement.
func commit(c *pgx.Conn, text string, rows [][]any) (last pgconn.CommandTag, err error) {
	if len(rows) == 0 {
		results, err := c.PgConn().Exec(context.Background(), `COMMIT`).ReadAll()
		if len(results) == 1 {
			last = results[0].CommandTag
		}
		return last, err
	}
	var batch pgx.Batch
	for _, row := range rows {
		batch.Queue(text, row...)
	}
	batch.Queue(`COMMIT`)
	results := c.SendBatch(context.Background(), &batch)
	for range batch.Len() {
		if last, err = results.Exec(); err != nil {
			break
		}
	}
	return last, cmp.Or(err, results.Close())
}

// BeginAt runs the text that begins a transaction over one connection of the pool, as [sql.Conn.Raw] hands
// it out, and returns when the server says that it began, in the same round trip.
func (Driver) BeginAt(ctx context.Context, connection any, text string) (began time.Time, err error) {
	c := connection.(*stdlib.Conn).Conn().PgConn()
	results, err := c.Exec(ctx, text+`; SELECT CAST(EXTRACT(EPOCH FROM transaction_timestamp()) * 1000000 AS BIGINT)`).ReadAll()
	if err != nil {
		return began, err
	}
	micros, err := strconv.ParseInt(string(results[len(results)-1].Rows[0][0]), 10, 64)
	return time.UnixMicro(micros), err
}

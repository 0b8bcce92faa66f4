package pgdriver

import (
	"context"
	"errors"
	"fmt"

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
// kept where a failover loses it. What the server warns of is no success: somebody else
// cancelled it.
func (Driver) Commit(connection any) error {
	c := connection.(*stdlib.Conn).Conn().PgConn()
	delete(c.CustomData(), warned)
	defer patience(c.Conn())()
	results, err := c.Exec(context.Background(), `COMMIT`).ReadAll()
	if err != nil {
		return err
	}
	if warning, ok := c.CustomData()[warned]; ok {
		return fmt.Errorf("commit: the server warns: %v", warning)
	}
	if len(results) != 1 || results[0].CommandTag.String() != "COMMIT" {
		return errors.New("commit: the server took the transaction back")
	}
	return nil
}

package localcopy

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// pages stores rows page by page. It calls the driver itself, because database/sql needs as long for a row as SQLite
// does. The connection belongs to it alone.
type pages struct {
	conn   *sql.Conn
	driver driverConn // Of conn.
	made   map[string]driver.Stmt
	steps  []step // Of the page that is being read.
	values []driver.NamedValue
}

// driverConn is what pages needs of a driver's connection.
type driverConn interface {
	driver.ConnBeginTx
	driver.ConnPrepareContext
}

// step is a statement with its values.
type step struct {
	statement driver.StmtExecContext
	values    []driver.NamedValue
}

func newPages(ctx context.Context, db *sql.DB) (*pages, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	p := &pages{conn: conn, made: map[string]driver.Stmt{}}
	err = conn.Raw(func(of any) error {
		known, ok := of.(driverConn)
		if !ok {
			return errors.New("the driver of SQLite prepares no statements")
		}
		p.driver = known
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return p, nil
}

// Close closes the statements, and gives the connection back.
func (p *pages) Close() error {
	var err error
	for _, statement := range p.made {
		err = errors.Join(err, statement.Close())
	}
	return errors.Join(err, p.conn.Close())
}

// add appends a statement to the page.
func (p *pages) add(text string, values ...driver.NamedValue) error {
	statement := p.made[text]
	if statement == nil {
		prepared, err := p.driver.PrepareContext(context.Background(), text)
		if err != nil {
			return err
		}
		p.made[text], statement = prepared, prepared
	}
	p.steps = append(p.steps, step{statement.(driver.StmtExecContext), values})
	return nil
}

// commit stores the page in one transaction.
func (p *pages) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil || len(p.steps) == 0 {
		return err
	}
	ctx = context.WithoutCancel(ctx) // Else the driver watches the context in each statement.
	tx, err := p.driver.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return err
	}
	for _, step := range p.steps {
		if _, err := step.statement.ExecContext(ctx, step.values); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	p.forget()
	return tx.Commit()
}

// forget drops the page.
func (p *pages) forget() {
	clear(p.steps)
	clear(p.values)
	p.steps, p.values = p.steps[:0], p.values[:0]
}

// room returns memory for some values, until the page is stored.
func (p *pages) room(n int) []driver.NamedValue {
	if len(p.values)+n > cap(p.values) {
		p.values = make([]driver.NamedValue, 0, max(2*cap(p.values), 1<<10, n))
	}
	begin := len(p.values)
	p.values = p.values[:begin+n]
	return p.values[begin:]
}

// named returns values as a statement takes them.
func (p *pages) named(values ...any) []driver.NamedValue {
	all := p.room(len(values))
	for i, value := range values {
		all[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	return all
}

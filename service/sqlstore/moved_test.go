package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"

	"fundesk/service"
)

// opener opens connections by a name, and calls before each time.
type opener struct {
	name   string
	before func()
}

func (o *opener) Driver() driver.Driver { return &sqlite.Driver{} }

func (o *opener) Connect(context.Context) (driver.Conn, error) {
	o.before()
	return o.Driver().Open(o.name)
}

// A file is moved at the moment in which a connection is opened. No file is made in its place. Another one there stays
// as it is, and no connection to it is used when the file is back.
// Promise S39: a file that was moved is noticed.
func TestConnectionToAMovedFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, other, away := filepath.Join(folder, "a.db"), filepath.Join(folder, "b.db"), filepath.Join(folder, "away.db")
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path, other} {
		file, err := makeFile(name, false)
		if err != nil {
			t.Fatal(err)
		}
		e := &sqliteEngine{path: name, file: file, moved: make(chan struct{}, 1)}
		e.db, err = sql.Open("sqlite", sqliteName(name, sqliteSettings))
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.db.ExecContext(t.Context(), `CREATE TABLE name AS SELECT $1 AS name`, name)
		if err := errors.Join(err, e.db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	about, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	connector := &opener{sqliteName(path, sqliteSettings), func() {}}
	e := &sqliteEngine{path: path, file: about, moved: make(chan struct{}, 1), db: sql.OpenDB(connector)}
	e.db.SetMaxIdleConns(64)
	refused := func(state string) {
		t.Helper()
		if c, err := e.connect(); c != nil || service.KindOf(err) != service.Unavailable {
			t.Errorf("%s: got %v, %v, want that the database is unavailable", state, c, err)
		}
	}

	connector.before = func() { move(path, away) }
	refused("removed")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no new file", err)
	}
	connector.before = func() {}
	refused("still removed")
	move(away, path)

	held, err := e.connect() // Its log has a change.
	if err == nil {
		_, err = held.exec(`INSERT INTO name VALUES ('c')`)
	}
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	connector.before = func() { move(path, away); move(other, path) }
	refused("replaced")
	move(path, other)
	move(away, path)
	if after, err := os.ReadFile(other); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file that was moved there has changed, %v", err)
	}

	connector.before = func() {}
	c, err := e.connect()
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var n int
	if err := c.row(`SELECT MIN(name), COUNT(*) FROM name`).scan(&name, &n); err != nil || name != path || n != 2 {
		t.Errorf("got %d from %s, %v, want 2 from the file that is back", n, name, err)
	}
	if err := errors.Join(c.close(), held.close(), e.db.Close()); err != nil {
		t.Error(err)
	}
}

package localcopy

import (
	"errors"
	"fmt"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// connection is a database that is used through the C interface of SQLite, below the driver. One goroutine at a time
// may use it.
type connection struct {
	tls  *libc.TLS
	db   uintptr
	out  uintptr   // Two pointers: the statement, and the SQL after it.
	free []uintptr // Texts.
}

// connect opens a database with the flags of sqlite3_open_v2.
func connect(path string, flags int32) (*connection, error) {
	c := &connection{tls: libc.NewTLS()}
	c.out = sqlite3.Xsqlite3_malloc(c.tls, int32(2*unsafe.Sizeof(uintptr(0))))
	name, err := c.text(path)
	if err != nil || c.out == 0 {
		c.close()
		return nil, errors.Join(errors.New("no memory for SQLite"), err)
	}
	code := sqlite3.Xsqlite3_open_v2(c.tls, name, c.out, flags, 0)
	c.db = libc.AtomicLoadPUintptr(c.out)
	if code != sqlite3.SQLITE_OK {
		err := fmt.Errorf("open the database: %w", c.fault())
		c.close()
		return nil, err
	}
	return c, nil
}

// close closes the database and frees its memory.
func (c *connection) close() {
	sqlite3.Xsqlite3_close_v2(c.tls, c.db)
	sqlite3.Xsqlite3_free(c.tls, c.out)
	for _, text := range c.free {
		libc.Xfree(c.tls, text)
	}
	c.tls.Close()
}

// text returns a text as SQLite takes it.
func (c *connection) text(s string) (uintptr, error) {
	text, err := libc.CString(s)
	if err != nil {
		return text, err
	}
	c.free = append(c.free, text)
	return text, nil
}

// run executes statements.
func (c *connection) run(statements string) error {
	text, err := libc.CString(statements)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, text)
	if sqlite3.Xsqlite3_exec(c.tls, c.db, text, 0, 0, 0) != sqlite3.SQLITE_OK {
		return c.fault()
	}
	return nil
}

// fault returns the last error.
func (c *connection) fault() error {
	if sqlite3.Xsqlite3_errcode(c.tls, c.db) == sqlite3.SQLITE_FULL {
		return errFull
	}
	return errors.New(c.message())
}

// message returns the message of the last error.
func (c *connection) message() string { return libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db)) }

// prepare compiles the first statement of a text. It returns zero if the text has none, and the text after it. code is
// the result code of SQLite.
func (c *connection) prepare(text uintptr) (statement, after uintptr, code int32) {
	place := c.out + unsafe.Sizeof(uintptr(0))
	code = sqlite3.Xsqlite3_prepare_v2(c.tls, c.db, text, -1, c.out, place)
	return libc.AtomicLoadPUintptr(c.out), libc.AtomicLoadPUintptr(place), code
}

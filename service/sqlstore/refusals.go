package sqlstore

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"fundesk/service"
)

// sqliteError returns a temporary refusal if the database is busy or full, or its disk fails. Spec gap: S14.
func sqliteError(err error) error {
	refused, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch refused.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return service.ErrBusy
	case sqlite3.SQLITE_FULL:
		return &service.Error{Kind: service.Unavailable, Detail: "the database has no space left", Cause: refused}
	case sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_READONLY: // Or the process has too many files open.
		return &service.Error{
			Kind:   service.Unavailable,
			Detail: "the database cannot be read or written",
			Cause:  refused,
		}
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return &service.Error{Kind: service.Unavailable, Detail: "the database is damaged", Cause: refused}
	default:
		return err
	}
}

// errDamaged is the answer of readiness after damage anywhere in the database.
var errDamaged = &service.Error{Kind: service.Unavailable, Detail: "the database is damaged"}

// errRefused is the answer of readiness after the database had no table, column or right for a change.
var errRefused = &service.Error{
	Kind:   service.Unavailable,
	Detail: "the database refused a change, and has taken none since",
}

// isMissing reports whether an SQLite file has no such table or column.
func isMissing(err error) bool {
	refused, ok := errors.AsType[*sqlite.Error](err)
	return ok && refused.Code() == sqlite3.SQLITE_ERROR && strings.Contains(refused.Error(), "no such ")
}

// refusal returns sqliteError's problem, and records damage: a database with an unreadable table is not ready.
func (e *sqliteEngine) refusal(err error) error {
	if Damaged(err) {
		e.damaged.Store(true)
	}
	return sqliteError(err)
}

// Damaged reports whether err means that the content of an SQLite file is wrong.
func Damaged(err error) bool {
	refused, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	code := refused.Code() & 0xff
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// wayOut adds the likely cause to the error of a file that cannot be opened, which SQLite reports as a number.
func wayOut(err error) error {
	refused, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch refused.Code() & 0xff {
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w: its folder must be writable too", err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w: its disk is full, or fails", err)
	default:
		return err
	}
}

// mayRepeat reports whether a transaction certainly left nothing, and may do better. A
// server that was waited for in vain is not waited for again.
func (e *postgresEngine) mayRepeat(err error) bool {
	if _, ok := errors.AsType[errBegin](err); ok {
		network, ok := errors.AsType[net.Error](err)
		return !ok || !network.Timeout()
	}
	if errors.Is(err, service.ErrAgain) {
		return true
	}
	code := e.driver.Code(err)
	// Serialization, deadlock, and a statement that was prepared before its table changed.
	return code == "40001" || code == "40P01" || code == "0A000"
}

// refusal returns a temporary refusal if the server is away, ends, has no room or is read-only.
func (e *postgresEngine) refusal(err error) error {
	if err == nil {
		return nil
	}
	unavailable := &service.Error{Kind: service.Unavailable, Detail: "the database does not answer now", Cause: err}
	if _, connect := errors.AsType[errConnect](err); connect {
		switch code := e.driver.Code(err); {
		case strings.HasPrefix(code, "28"):
			unavailable.Detail = "the database refuses the login"
		case code == "3D000":
			unavailable.Detail = "the server has no such database"
		case code == "42501": // No right to connect.
		default:
			e.noteStorage(unavailable, code)
		}
		return unavailable
	}
	if code := e.driver.Code(err); code != "" {
		if code == "42501" || code == "42P01" || code == "42703" { // No right, no table, no column.
			e.refused.Store(true)
		}
		if e.noteStorage(unavailable, code) {
			return unavailable
		}
		// 57014: the server ended a statement that took longer than statement_timeout.
		// 25P03 and 55P03: the server's other time-outs.
		// 42P01 and 42703: a later program has removed a table or a column.
		for _, class := range []string{
			"08", "57P", "57014", "53", "25006", "25P03", "55P03", "40", "0A000", "42P01",
			"42703",
		} {
			if strings.HasPrefix(code, class) {
				return unavailable
			}
		}
		return err
	}
	if _, begin := errors.AsType[errBegin](err); begin || e.disconnected(err) || errors.Is(err, service.ErrAgain) {
		return unavailable
	}
	return err
}

// noteStorage reports whether a code tells of a problem of the server's disk. If it does, the refusal says which, and
// readiness makes a change until one succeeds.
func (e *postgresEngine) noteStorage(refusal *service.Error, code string) bool {
	detail := ofStorage(code)
	if detail == "" {
		return false
	}
	e.failed.Store(true)
	if detail == errDamaged.Detail {
		e.damaged.Store(true)
	}
	refusal.Detail = detail
	return true
}

// ofStorage returns the problem of a server whose disk is full, or fails, or whose files are damaged. It returns an
// empty text for other problems. Spec gap: S14.
func ofStorage(code string) string {
	if code == "53100" {
		return "the database has no space left"
	}
	if code == "XX001" || code == "XX002" {
		return errDamaged.Detail
	}
	// 42501: on a disk that can only be read, too.
	if strings.HasPrefix(code, "58") || strings.HasPrefix(code, "XX") || code == "42501" {
		return "the database cannot be read or written"
	}
	return ""
}

// disconnected reports whether the server, or the connection to it, is away.
func (e *postgresEngine) disconnected(err error) bool {
	if _, ofFile := errors.AsType[*fs.PathError](err); ofFile { // Its cause looks like an error of the network.
		return false
	}
	if _, network := errors.AsType[net.Error](err); network || e.driver.Disconnected(err) {
		return true
	}
	for _, cut := range []error{io.EOF, io.ErrUnexpectedEOF, driver.ErrBadConn, sql.ErrConnDone} {
		if errors.Is(err, cut) {
			return true
		}
	}
	return false
}

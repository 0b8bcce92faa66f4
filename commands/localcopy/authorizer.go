package localcopy

import (
	"strings"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Check refuses all but one SELECT, VALUES or WITH … SELECT, and wrong SQL. It needs no copy.
//
// SQLite compiles the question for an empty database with the tables of a copy, and its authorizer allows reading
// alone. The driver offers no authorizer for its connections, so Check asks SQLite itself. The copy is then opened
// read-only twice, by mode=ro and query_only, and its connection attaches no file.
func Check(query string) error {
	if strings.ContainsRune(query, 0) {
		return &WrongSQLError{"the SQL has a NUL character"}
	}
	c, err := newCompiler()
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.run(newFields().schema()); err != nil {
		return err
	}
	sqlite3.Xsqlite3_set_authorizer(c.tls, c.db, functionPointer(authorize), 0)
	return c.check(query)
}

// authorize allows what a question may do, and denies everything else.
func authorize(_ *libc.TLS, _ uintptr, action int32, _, function, _, _ uintptr) int32 {
	switch action {
	case sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE:
		return sqlite3.SQLITE_OK
	case sqlite3.SQLITE_FUNCTION:
		if !strings.EqualFold(libc.GoString(function), "load_extension") {
			return sqlite3.SQLITE_OK
		}
	}
	return sqlite3.SQLITE_DENY
}

// functionPointer returns a function of Go as SQLite calls it. The function must not be a closure.
func functionPointer[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }

// compiler compiles SQL for a database in memory.
type compiler struct{ *connection }

func newCompiler() (compiler, error) {
	c, err := connect(":memory:", sqlite3.SQLITE_OPEN_READWRITE|sqlite3.SQLITE_OPEN_CREATE)
	return compiler{c}, err
}

// compile compiles the first statement of a text. It returns zero if the text has none, and the text after it.
func (c compiler) compile(text uintptr) (statement, after uintptr, err error) {
	statement, after, code := c.prepare(text)
	switch code {
	case sqlite3.SQLITE_OK:
		return statement, after, nil
	case sqlite3.SQLITE_AUTH:
		return 0, 0, errOnlyReads
	default:
		return 0, 0, wrongSQL(c.message())
	}
}

var errOnlyReads = &WrongSQLError{"query only reads: it takes one SELECT, VALUES or WITH … SELECT"}

// wrongSQL returns the error of SQL that SQLite refuses.
func wrongSQL(message string) error { return &WrongSQLError{"the SQL is wrong: " + message} }

// check compiles a question.
func (c compiler) check(query string) error {
	text, err := c.text(query)
	if err != nil {
		return err
	}
	statement, after, err := c.compile(text)
	if err != nil {
		return err
	}
	if statement == 0 {
		return &WrongSQLError{"there is no SQL; query takes one SELECT"}
	}
	defer sqlite3.Xsqlite3_finalize(c.tls, statement)
	isExplain := sqlite3.Xsqlite3_stmt_isexplain(c.tls, statement) != 0
	isReading := sqlite3.Xsqlite3_stmt_readonly(c.tls, statement) != 0
	isAnswer := sqlite3.Xsqlite3_column_count(c.tls, statement) > 0 // VACUUM asks no authorizer, and has no column.
	if isExplain || !isReading || !isAnswer {
		return errOnlyReads
	}
	if sqlite3.Xsqlite3_bind_parameter_count(c.tls, statement) > 0 {
		return &WrongSQLError{"the SQL has a parameter (?, $name, :name or @name); write the value instead"}
	}
	return c.checkEnd(after)
}

// checkEnd refuses another statement after a question.
func (c compiler) checkEnd(after uintptr) error {
	for libc.GoString(after) != "" {
		another, rest, err := c.compile(after)
		if err != nil || another != 0 {
			sqlite3.Xsqlite3_finalize(c.tls, another)
			return &WrongSQLError{"query takes one statement; there is another one after the semicolon"}
		}
		if rest == after {
			return nil
		}
		after = rest
	}
	return nil
}

package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fundesk/apiclient/durable"
	"fundesk/service"
)

// sqliteSettings hold for every connection. They make no file where the database was moved away. FULL keeps
// acknowledged changes over a power loss, deleted data is overwritten, and readers scale over processors only with
// mmap_size.
const sqliteSettings = "mode=rw&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
	"&_pragma=secure_delete(ON)&_pragma=mmap_size(2147483648)&_pragma=cache_size(-2000)&_pragma=temp_store(MEMORY)"

// sqliteEngine is an SQLite file: many readers, and one writer that commits waiting changes together.
type sqliteEngine struct {
	path    string
	file    os.FileInfo   // The file of the path at opening.
	moved   chan struct{} // The path names another file; holds one.
	left    bool          // Of the writer: its log is left, and nothing was written since.
	times   writerTimes
	damaged atomic.Bool // A check found the file damaged, and no change was kept since.
	failed  atomic.Bool // The database refused the last changes, and none was kept since.
	refused atomic.Bool // A change missed a table or a column, and no record was changed since.
	probe   probe
	db      *sql.DB
	readers *pool // For much at once.
	records *pool // For single records: they map nothing.
	cache   int   // Of the writer, in KiB.
	tended  int64 // The time of the last periodic work, in milliseconds. Of the writer.
	writes  chan *write
	stop    chan struct{}
	done    sync.WaitGroup
	once    sync.Once
}

// openSQLite opens a file. Its records are personal data: only its owner reads it.
func openSQLite(ctx context.Context, path string, o Options) (*sqliteEngine, error) {
	openToOthers := durable.CheckClosed(path) // Others may read our files, or the check failed.
	file, err := makeFile(path, o.Existing)
	if err != nil {
		return nil, cmp.Or(openToOthers, err)
	}
	if err := cmp.Or(foreign(ctx, path), openToOthers); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", sqliteName(path, sqliteSettings))
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(64)
	e := &sqliteEngine{
		path:   path,
		file:   file,
		moved:  make(chan struct{}, 1),
		db:     db,
		cache:  writerCache,
		writes: make(chan *write),
		stop:   make(chan struct{}),
	}
	if o.Bulk {
		e.cache = bulkCache
	}
	// Looked for when the file is open, and locked: a restore looks for locks then.
	if err := cmp.Or(unrestored(path), e.migrate(ctx, o), unrestored(path)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	readers := o.Connections
	if readers <= 0 {
		readers = max(2, runtime.GOMAXPROCS(0)) // Each maps the file for itself, and more of them do no more.
	}
	e.openPools(readers)
	e.done.Go(e.writer)
	return e, nil
}

func sqliteName(path, settings string) string {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: settings}
	return name.String()
}

var errNoTables = errors.New("it holds no tables; no fundeskd ever wrote to it")

var errEmptyFile = errors.New("the file is empty; no database was ever written to it")

// makeFile creates the database's file if there is none, unless it has to exist or a restore was not finished.
func makeFile(path string, existing bool) (os.FileInfo, error) {
	flags := os.O_RDWR
	if !existing {
		flags |= os.O_CREATE
		if err := cmp.Or(unrestored(path), os.MkdirAll(filepath.Dir(path), 0o700)); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	about, err := file.Stat()
	if err == nil && existing && about.Size() == 0 {
		err = errEmptyFile
	}
	return about, errors.Join(err, file.Close())
}

// How often a connection is tried, and the pause in between. Turning the log of a new
// file on needs it alone, and SQLite does not wait for that.
const (
	maxConnects  = 1000
	connectPause = 10 * time.Millisecond
)

func (e *sqliteEngine) connect() (*conn, error) {
	for try := 1; ; try++ {
		if err := e.unmoved(); err != nil {
			return nil, err
		}
		raw, err := e.db.Conn(context.Background())
		if err := e.unmoved(); err != nil {
			// raw may have opened the new file. It stays open, because the pool would use it again, and SQLite brings
			// the log into a file when the last connection to it is closed.
			return nil, err
		}
		if err == nil {
			err = e.enlarge(raw)
		}
		if err == nil {
			return &conn{
				ctx:        context.Background(),
				raw:        raw,
				engine:     e,
				statements: map[string]*sql.Stmt{},
			}, nil
		}
		if try == maxConnects || !errors.Is(sqliteError(err), service.ErrBusy) {
			return nil, err
		}
		time.Sleep(connectPause)
	}
}

// Of a larger file than this, the rest is not mapped and read through the connection's own
// cache: with the small one, pages of a list with what it includes are read from the
// system again and again.
const (
	maxMapped    = 2 << 30
	unmappedRead = `PRAGMA cache_size = -16000`
)

// enlarge gives a connection to a large file more cache.
func (e *sqliteEngine) enlarge(raw *sql.Conn) error {
	file, err := os.Stat(e.path)
	if err != nil || file.Size() < maxMapped {
		return nil // SQLite reports a missing file itself.
	}
	_, err = raw.ExecContext(context.Background(), unmappedRead)
	if err != nil {
		return errors.Join(err, raw.Close())
	}
	return nil
}

// openPools opens connections that read lists, and as many for single records. Connections for lists map the file.
// After a change by another connection SQLite drops a mapping, and each page of a new one has to be faulted in. For the
// few pages of a record that costs more than reading them.
func (e *sqliteEngine) openPools(size int) {
	e.readers = newPool(size, e.connect)
	e.records = newPool(size, func() (*conn, error) { return e.connectWith(`PRAGMA mmap_size = 0`) })
}

func (e *sqliteEngine) connectWith(settings string) (*conn, error) {
	c, err := e.connect()
	if err != nil {
		return nil, err
	}
	if _, err := c.raw.ExecContext(c.ctx, settings); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// read reads one state of the data in a transaction; one statement is of one state without it.
func (e *sqliteEngine) read(ctx context.Context, mode service.ReadMode, read func(*conn) error) error {
	if err := e.unmoved(); err != nil {
		return err
	}
	switch mode {
	case service.ReadRecord:
		return e.refusal(e.records.with(ctx, read))
	case service.ReadList:
		return e.refusal(e.readers.with(ctx, read))
	default:
	}
	return e.refusal(e.readers.with(ctx, func(c *conn) (err error) {
		if _, err := c.exec(`BEGIN`); err != nil {
			return err
		}
		defer func() {
			_, end := c.exec(`ROLLBACK`) // Nothing was written.
			err = errors.Join(err, end)
		}()
		return read(c)
	}))
}

// The settings that a probe writes: a small one, and after a refusal, perhaps by a full disk, one that is larger than a
// change.
const (
	writableSetting = "writable"
	writableRoom    = 128 << 10
)

// PingChanges makes a change durable, because only that shows a full or failing disk.
func (e *sqliteEngine) PingChanges(ctx context.Context) error {
	if e.damaged.Load() {
		return errDamaged
	}
	if e.refused.Load() { // A small write to another table proves nothing.
		return errRefused
	}
	return e.probe.ask(e.failed.Load, func() error {
		value := strconv.FormatInt(time.Now().UnixNano(), 10) // The same one would not be written again.
		if e.failed.Load() {
			value = strings.Repeat(value, writableRoom/len(value))
		}
		return e.write(ctx, service.WriteIsolated, func(c *conn) error { return c.SetSetting(writableSetting, value) })
	})
}

func (e *sqliteEngine) Pool() PoolStats { return e.readers.stats().plus(e.records.stats()) }

// Close waits for the writer and ends all connections. The last one of the last process
// brings the log into the file.
func (e *sqliteEngine) Close() error {
	var err error
	e.once.Do(func() {
		close(e.stop)
		e.done.Wait()
		err = errors.Join(e.readers.close(), e.records.close(), e.db.Close())
	})
	return err
}

// advanceNumbers does nothing: new rows are numbered after the largest anyway.
func (e *sqliteEngine) advanceNumbers(*conn, string) error { return nil }

// insertPerson adds the audit line to the lines that are written before the commit.
func (e *sqliteEngine) insertPerson(c *conn, p service.PersonRow, line service.AuditLine) error {
	if err := c.insert(insertPerson(), personDest(&p)...); err != nil {
		return err
	}
	c.lines = append(c.lines, line)
	values := searchValues(searchedRow(p))
	if _, err := c.exec(searchNewPerson, values...); err != nil {
		return err
	}
	values[len(values)-1] = quotedTexts(`[`, p.Terms, `]`)
	_, err := c.exec(searchNewTerms, values...)
	return err
}

// last_insert_rowid is the number of the person: tables without a row number do not change it.
const (
	searchNewPerson = `INSERT INTO search_persons (` + searchColumns + `)
		VALUES ($1, $2, $3, $4, $5, last_insert_rowid())`
	searchNewTerms = `INSERT INTO search_terms (created_at, uuid, owner, letters, term, number)
		SELECT $1, $2, $3, $4, x.value, last_insert_rowid() FROM json_each($5) x`
)

// Analyze does nothing: every index was chosen without statistics.
func (e *sqliteEngine) Analyze(context.Context) error { return nil }

// integrity returns the damage that SQLite finds in its file.
func (e *sqliteEngine) integrity(ctx context.Context) ([]string, error) {
	var found []string
	var err error
	err = e.readers.with(ctx, func(c *conn) error {
		found, err = all(c, `PRAGMA integrity_check`, nil, textDest)
		return err
	})
	return slices.DeleteFunc(found, func(line string) bool { return strings.EqualFold(line, "ok") }), err
}

// An operator may move, replace or remove the file of an open database. The connections keep the file that they opened,
// so later changes would be lost.

// unmoved fails if the path no longer names the open file. Spec gap: S39.
func (e *sqliteEngine) unmoved() error {
	now, err := os.Stat(e.path)
	if err == nil && os.SameFile(e.file, now) {
		return nil
	}
	select {
	case e.moved <- struct{}{}:
	default:
	}
	if err == nil {
		err = fmt.Errorf(
			"%s is another file than the one that was opened; put that one back, or start the program again",
			e.path,
		)
	}
	return &service.Error{
		Kind:   service.Unavailable,
		Detail: "the file of the database was moved or replaced",
		Cause:  err,
	}
}

const checkpointTruncate = `PRAGMA wal_checkpoint(TRUNCATE)`

// checkpoint moves the log into the file. busy is 0 unless another connection prevented that.
func (c *conn) checkpoint(text string) (busy int, err error) {
	var log, moved int
	err = c.raw.QueryRowContext(c.ctx, text).Scan(&busy, &log, &moved)
	return busy, err
}

// leaveLog checkpoints the log into the moved file and empties it. The log keeps its name, so a program that serves the
// new file would apply it there. It runs once: later content of the log is not ours.
func (e *sqliteEngine) leaveLog(c *conn) {
	if c == nil || e.left {
		return
	}
	e.left = true
	_, _ = c.checkpoint(checkpointTruncate) // The request is refused anyway.
}

// inspectSQLite opens a file to look at it: no byte of it or of its log changes. One
// of an earlier version is refused unless mayBeOlder.
func inspectSQLite(ctx context.Context, path string, mayBeOlder bool) (*sqliteEngine, error) {
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if file.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if file.Size() == 0 {
		return nil, errEmptyFile
	}
	settings, err := inspectSettings(path)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", sqliteName(path, settings))
	if err != nil {
		return nil, err
	}
	e := &sqliteEngine{
		path:  path,
		file:  file,
		moved: make(chan struct{}, 1),
		db:    db,
		stop:  make(chan struct{}),
	}
	e.openPools(max(2, runtime.GOMAXPROCS(0)))
	err = e.refusal(examine(ctx, db, Options{NoMigrate: !mayBeOlder}, false))
	isOurs := !errors.Is(err, errAnotherProgram) && !errors.Is(err, errNoTables)
	if openToOthers := durable.CheckClosed(path); openToOthers != nil && isOurs && !mayBeOlder {
		err = openToOthers
	}
	if err == nil && !mayBeOlder { // A restore takes a backup as it lies there, and makes a key.
		err = cmp.Or(unrestored(path), keyThere(ctx, e))
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// logHeader is the size of a log that holds no change yet. Where its writer was killed SQLite would
// wait for another writer, ten seconds and in vain.
const logHeader = 32

// inspectSettings returns the settings of a connection that changes nothing. Reading a log needs its index, the file
// next to it, which is only read too. Without a log, or an empty one, no program has the file open. Then it is read as
// immutable, because SQLite would create both files otherwise.
func inspectSettings(path string) (string, error) {
	const always = "mode=ro&_pragma=busy_timeout(10000)&_pragma=mmap_size(2147483648)&_pragma=temp_store(MEMORY)"
	log, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return always + "&immutable=1", nil
	}
	if err != nil {
		return "", err
	}
	if log.Size() <= logHeader && seesLocks && unserved(path) == nil {
		return always + "&immutable=1", nil
	}
	switch _, err := os.Stat(path + "-shm"); {
	case err == nil:
		return always + "&readonly_shm=1", nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf(
			"its log %s-wal is there without the index %s-shm; fundeskd migrate brings the log into the file",
			path,
			path,
		)
	default:
		return "", err
	}
}

// foreign refuses a file that is not to be opened, before it is opened to be written: that turns on the
// log. A file with changes in its log cannot be looked at so; its log is on already.
func foreign(ctx context.Context, path string) (err error) {
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > logHeader {
		return nil
	}
	db, err := sql.Open("sqlite", sqliteName(path, "mode=ro&immutable=1"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return examine(ctx, db, Options{}, true)
}

// examine refuses a file that is not a database of ours, or is of a version that is refused; one without tables,
// too, unless it may be new.
func examine(ctx context.Context, db *sql.DB, o Options, mayBeNew bool) error {
	var s schema
	var tables, own int
	err := db.QueryRowContext(ctx, `SELECT user_version, (SELECT COUNT(*) FROM sqlite_schema), (`+ownTables+`)
		FROM pragma_user_version`).
		Scan(&s.version, &tables, &own)
	if err != nil {
		return err
	}
	isEmpty := tables == 0
	isOurs := s.version != 0 && own >= 5
	if isEmpty && s.version == 0 && !mayBeNew {
		return errNoTables
	}
	if !isOurs && !(isEmpty && mayBeNew) {
		return errAnotherProgram
	}
	if !isEmpty {
		var servedBy sql.NullString // A later database without it is served by programs of its version.
		const text = `SELECT
				(SELECT value FROM settings WHERE name = ?),
				COALESCE((SELECT value FROM settings WHERE name = ?), '')`
		err = db.QueryRowContext(ctx, text, servedBySetting, firstSchemaSetting).Scan(&servedBy, &s.first)
		if !servedBy.Valid && s.version <= known() && !Damaged(err) { // Another program's tables may have our names.
			return errAnotherProgram
		}
		if err != nil {
			return err
		}
		s.servedBy, _ = strconv.Atoi(servedBy.String)
	}
	_, err = s.pending(o)
	return err
}

// ownTables counts the tables that every database of ours has, five of them.
const ownTables = `SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table'
	AND name IN ('settings', 'accounts', 'persons', 'pledges', 'calls')`

package localcopy

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
)

// Path returns the file of the copy of a service and account, in the state folder.
func Path(state, baseURL, account string) string {
	return filepath.Join(Folder(state), durable.NameOf(baseURL+"\x00"+account)+".db")
}

// Folder returns the folder of all copies in the state folder.
func Folder(state string) string { return filepath.Join(state, "copy") }

// Copy is an open copy. Its owner has the lock, so that no other process writes to it.
type Copy struct {
	path    string
	fields  *fields
	inserts map[string]string // Statements, by table.
	db      *sql.DB
	unlock  func()
}

func newCopy(path string, db *sql.DB, unlock func()) *Copy {
	c := &Copy{
		path:    path,
		fields:  newFields(),
		inserts: map[string]string{},
		db:      db,
		unlock:  unlock,
	}
	for _, t := range c.fields.tables() {
		c.inserts[t.name] = t.insert()
	}
	return c
}

// lockPause is the time between two tries to get the lock.
const lockPause = 100 * time.Millisecond

// lock waits for the lock on a copy, until the context ends. The folder has to exist.
func lock(ctx context.Context, path string) (func(), error) {
	for {
		unlock, err := tryLock(path + ".lock")
		if !errors.Is(err, durable.ErrHeld) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// tryLock returns [durable.ErrHeld] if another program has the lock, or deleted its file with the copy meanwhile.
func tryLock(path string) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoFolder, err)
	}
	if err := durable.TryLock(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if !durable.IsNamed(file) {
		return nil, errors.Join(durable.ErrHeld, file.Close())
	}
	return func() { _ = file.Close() }, nil
}

// name returns the data source of a file.
func name(path, settings string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: settings}
	return u.String()
}

// pragmas are the settings of writing. Large pages, which only a new file takes, need fewer calls of the system for a
// first sync. secure_delete overwrites deleted content.
var pragmas = []string{
	"page_size(16384)",
	"cache_size(-16384)",
	"secure_delete(1)",
	"busy_timeout(10000)",
	"temp_store(2)",
}

// writing returns the settings of writing for the driver.
func writing() string { return "_pragma=" + strings.Join(pragmas, "&_pragma=") + "&_txlock=immediate" }

// settings returns the settings of writing as SQL.
func settings() string { return "PRAGMA " + strings.Join(pragmas, "; PRAGMA ") }

// ErrNoFolder is a folder that cannot be made, or that cannot be written.
var ErrNoFolder = errors.New("its folder cannot be written")

var errFull = errors.New("the disk is full")

// IsFull reports whether an error means that the disk is full.
func IsFull(err error) bool {
	byDriver, isByDriver := errors.AsType[*sqlite.Error](err)
	return errors.Is(err, errFull) || isByDriver && byDriver.Code() == sqlite3.SQLITE_FULL
}

// Open opens the copy, and creates it if there is none. A copy with the tables of another version is emptied.
func Open(ctx context.Context, path string) (c *Copy, err error) {
	if err := durable.MakeFolders(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoFolder, err)
	}
	unlock, err := lock(ctx, path)
	if err != nil {
		return nil, err
	}
	c = newCopy(path, nil, unlock)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
			c = nil
		}
	}()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return c, err
	}
	if err := file.Close(); err != nil {
		return c, err
	}
	c.db, err = sql.Open("sqlite", name(path, writing()))
	if err != nil {
		return c, err
	}
	c.db.SetMaxOpenConns(1)
	return c, c.migrate(ctx)
}

// Close closes the copy and frees its lock.
func (c *Copy) Close() error {
	var err error
	if c.db != nil {
		err = c.db.Close()
	}
	c.unlock()
	return err
}

// migrate makes the tables. Those of another version are dropped: the next sync reads everything again. The marks are
// kept, because no service has them.
func (c *Copy) migrate(ctx context.Context) error {
	isCurrent, err := c.isCurrent(ctx)
	if err != nil || isCurrent {
		return err
	}
	schema := c.fields.schema()
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // It does nothing after a commit.
	var drops strings.Builder
	for _, name := range c.emptied() {
		drops.WriteString("DROP TABLE IF EXISTS " + name + ";\n")
	}
	statement := fmt.Sprintf("%s%sPRAGMA user_version = %d", drops.String(), schema, version(schema))
	if _, err := tx.ExecContext(ctx, statement); err != nil {
		return err
	}
	return tx.Commit()
}

// isCurrent reports whether the tables are those of this version.
func (c *Copy) isCurrent(ctx context.Context) (bool, error) {
	var found int32
	err := c.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found)
	return found == version(c.fields.schema()), err
}

// emptied returns the tables that are read again from the start: all but the marks.
func (c *Copy) emptied() []string {
	names := []string{"_positions", "_due", "_synced"}
	for _, t := range c.fields.tables() {
		if t.name != "marks" {
			names = append(names, t.name)
		}
	}
	return names
}

// Reset empties the copy, but for the marks.
func (c *Copy) Reset(ctx context.Context) error {
	return c.change(ctx, func(tx *sql.Tx) error {
		for _, name := range c.emptied() {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+name); err != nil {
				return err
			}
		}
		return nil
	})
}

// change runs do in one transaction.
func (c *Copy) change(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// owner has the service of a copy and the profiles that used it. It is a file next to the copy.
type owner struct {
	Service  string   `json:"service"`
	Profiles []string `json:"profiles"` // Empty for a command without a profile.
}

func ownerPath(path string) string { return strings.TrimSuffix(path, ".db") + ".json" }

func readOwner(path string) (owner, error) {
	data, err := os.ReadFile(ownerPath(path))
	var o owner
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	err = json.Unmarshal(data, &o)
	return o, err
}

// Used stores that a profile used the copy of a service.
func (c *Copy) Used(service, profile string) error {
	o, err := readOwner(c.path)
	if err == nil && o.Service == service && slices.Contains(o.Profiles, profile) {
		return nil
	}
	o.Service = service // A damaged file is written again.
	if !slices.Contains(o.Profiles, profile) {
		o.Profiles = append(o.Profiles, profile)
	}
	return writeOwner(c.path, o)
}

func writeOwner(path string, o owner) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return durable.WriteFile(ownerPath(path), data)
}

// Remove deletes a copy. isThere is false if there was none.
func Remove(ctx context.Context, path string) (isThere bool, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	unlock, err := lock(ctx, path)
	if err != nil {
		return true, err
	}
	defer unlock()
	for _, file := range []string{path + "-journal", path, ownerPath(path), path + ".lock"} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true, err
		}
	}
	return true, nil
}

// Forget deletes the copies of a profile after a logout, or, if isRemoved, those that no other profile used.
func Forget(ctx context.Context, state, service, profile string, isRemoved bool) error {
	paths, _ := filepath.Glob(filepath.Join(Folder(state), "*.db")) // Its pattern is right.
	var failed error
	for _, path := range paths {
		o, err := readOwner(path)
		isOurs := err == nil && apitype.BaseURL(o.Service) == service && slices.Contains(o.Profiles, profile)
		if !isOurs {
			continue
		}
		o.Profiles = slices.DeleteFunc(o.Profiles, func(name string) bool { return name == profile })
		if isRemoved && len(o.Profiles) > 0 {
			failed = errors.Join(failed, writeOwner(path, o))
			continue
		}
		_, err = Remove(ctx, path)
		failed = errors.Join(failed, err)
	}
	return failed
}

// AddMarks stores marks that this computer made. It does nothing if there is no copy. It waits for no sync: those store
// a page at a time.
func AddMarks(ctx context.Context, path string, entries []apitype.ProcessedEntry) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := sql.Open("sqlite", name(path, writing()+"&mode=rw"))
	if err != nil {
		return err
	}
	c := newCopy(path, db, func() {})
	defer func() { err = errors.Join(err, c.Close()) }()
	isCurrent, err := c.isCurrent(ctx)
	if err != nil {
		return err
	}
	if !isCurrent { // An earlier version made it.
		whole, err := Open(ctx, path)
		if err != nil {
			return err
		}
		return errors.Join(whole.addMarks(ctx, entries), whole.Close())
	}
	return c.addMarks(ctx, entries)
}

func (c *Copy) addMarks(ctx context.Context, entries []apitype.ProcessedEntry) error {
	return c.change(ctx, func(tx *sql.Tx) error {
		for _, entry := range entries {
			values := make([]any, len(c.fields.marks.of))
			for i, value := range c.fields.marks.of {
				values[i] = value(entry)
			}
			if values[3] == nil {
				values[3] = "" // It is part of the key.
			}
			if _, err := tx.ExecContext(ctx, c.inserts["marks"], values...); err != nil {
				return err
			}
		}
		return nil
	})
}

// ofPerson are the statements that delete a person's rows, the referenced ones last. $1 is the person.
const ofPerson = `DELETE FROM _due WHERE uuid = $1 OR uuid IN (SELECT uuid FROM calls WHERE personUuid = $1);
DELETE FROM marks WHERE entityUuid = $1 OR entityUuid IN (SELECT uuid FROM calls WHERE personUuid = $1)
 OR entityUuid IN (SELECT uuid FROM pledges WHERE personUuid = $1)
 OR entityUuid IN (SELECT uuid FROM transactions WHERE personUuid = $1);
DELETE FROM attempts WHERE callUuid IN (SELECT uuid FROM calls WHERE personUuid = $1);
DELETE FROM results WHERE callUuid IN (SELECT uuid FROM calls WHERE personUuid = $1);
DELETE FROM checks WHERE callUuid IN (SELECT uuid FROM calls WHERE personUuid = $1);
DELETE FROM transactions WHERE personUuid = $1 OR pledgeUuid IN (SELECT uuid FROM pledges WHERE personUuid = $1);
DELETE FROM calls WHERE personUuid = $1;
DELETE FROM pledges WHERE personUuid = $1;
DELETE FROM consents WHERE personUuid = $1;
DELETE FROM persons WHERE uuid = $1;
`

// Holds reports whether a copy has rows of a person.
func Holds(ctx context.Context, path string, person apitype.UUID) (bool, error) {
	c, err := Open(ctx, path)
	if err != nil {
		return false, err
	}
	var has bool
	err = c.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM persons WHERE uuid = $1)
		OR EXISTS (SELECT 1 FROM calls WHERE personUuid = $1) OR EXISTS (SELECT 1 FROM pledges WHERE personUuid = $1)
		OR EXISTS (SELECT 1 FROM marks WHERE entityUuid = $1) OR EXISTS (SELECT 1 FROM consents WHERE personUuid = $1)
		OR EXISTS (SELECT 1 FROM transactions WHERE personUuid = $1) OR EXISTS (SELECT 1 FROM _due WHERE uuid = $1)
		OR EXISTS (SELECT 1 FROM _positions WHERE instr(position, $1))`, person.String()).Scan(&has)
	return has, errors.Join(err, c.Close())
}

// ErasePerson deletes a person's rows from a copy, and their bytes.
func ErasePerson(ctx context.Context, path string, person apitype.UUID) error {
	c, err := Open(ctx, path)
	if err != nil {
		return err
	}
	err = c.eraseRows(ctx, person.String())
	if err == nil {
		// Pages that were split keep remains of rows. A new file has none.
		_, err = c.db.ExecContext(ctx, "VACUUM")
	}
	if err == nil {
		_, err = c.db.ExecContext(ctx, "DELETE FROM _due WHERE detail = ?", remains)
	}
	return errors.Join(err, c.Close())
}

// remains marks a person in _due whose rows are deleted, while the file may still have their bytes.
const remains = "remains"

// eraseRows deletes a person's rows. Their bytes may remain in the file.
func (c *Copy) eraseRows(ctx context.Context, person string) error {
	return c.change(ctx, func(tx *sql.Tx) error {
		if err := c.forgetGiven(ctx, tx, person); err != nil {
			return err
		}
		for statement := range strings.SplitSeq(strings.TrimSpace(ofPerson), ";\n") {
			if _, err := tx.ExecContext(ctx, statement, person); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO _due VALUES (?, ?)", remains, person)
		return err
	})
}

// forgetGiven takes a person and its records out of the positions. The next sync may read them once more.
func (c *Copy) forgetGiven(ctx context.Context, tx *sql.Tx, person string) error {
	of := map[string]bool{person: true}
	rows, err := tx.QueryContext(
		ctx,
		"SELECT uuid FROM calls WHERE personUuid = $1 UNION ALL SELECT uuid FROM pledges WHERE personUuid = $1",
		person,
	)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		of[id] = true
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, feed := range feeds {
		p, err := position(ctx, tx, feed)
		if err != nil {
			return err
		}
		before := len(p.Given)
		for id := range of {
			delete(p.Given, id)
		}
		if len(p.Given) == before {
			continue
		}
		if err := keep(ctx, tx, feed, p); err != nil {
			return err
		}
	}
	return nil
}

// position reads the place to continue a feed. The zero value is its start.
func position(ctx context.Context, from reader, feed string) (apiclient.Position, error) {
	var text string
	err := from.QueryRowContext(ctx, "SELECT position FROM _positions WHERE feed = ?", feed).Scan(&text)
	var p apiclient.Position
	if errors.Is(err, sql.ErrNoRows) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	err = json.Unmarshal([]byte(text), &p)
	return p, err
}

// reader is a transaction or a connection.
type reader interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// keepPosition stores the place to continue a feed.
const keepPosition = "INSERT OR REPLACE INTO _positions VALUES (?, ?)"

// keep stores the place to continue a feed.
func keep(ctx context.Context, tx *sql.Tx, feed string, p apiclient.Position) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, keepPosition, feed, string(text))
	return err
}

package sqlstore_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// made makes a database of ours, with its key, and closes it.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	store := reopen(t, "sqlite:"+path)
	if _, err := store.SigningSeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	servicetest.Check(t, store.Close())
	return path
}

// statements runs statements on a file, as any program may.
func statements(t *testing.T, path string, texts ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	servicetest.Check(t, err)
	for _, text := range texts {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	servicetest.Check(t, db.Close())
}

// TestRefusedFilesAreNotChanged opens files that are not to be served: each is refused with the reason,
// and has every byte that it had.
func TestRefusedFilesAreNotChanged(t *testing.T) {
	t.Parallel()
	foreign := func(version int) func(*testing.T) string {
		return func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "recipes.db")
			statements(t, path, `CREATE TABLE recipes (name TEXT)`, `PRAGMA user_version = `+strconv.Itoa(version))
			return path
		}
	}
	for name, test := range map[string]struct {
		file func(*testing.T) string
		want string
	}{
		"of another program":            {foreign(0), "another program"},
		"of another program, version 1": {foreign(1), "another program"},
		"of another program, with our names": {func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "crm.db")
			for _, name := range []string{"settings", "accounts", "persons", "pledges", "calls"} {
				statements(t, path, `CREATE TABLE `+name+` (other TEXT)`)
			}
			statements(t, path, `PRAGMA user_version = 1`)
			return path
		}, "another program"},
		"of another program, version 7":     {foreign(7), "another program"},
		"of another program, version 1000":  {foreign(1000), "another program"},
		"of another program, version below": {foreign(-3), "another program"},
		"with a flipped bit": {func(t *testing.T) string {
			path := made(t)
			statements(t, path, `PRAGMA user_version = -1`)
			return path
		}, "version -1"},
		"of a later program": {func(t *testing.T) string {
			path := made(t)
			statements(t, path, `PRAGMA user_version = 1000`,
				`UPDATE settings SET value = '1000' WHERE name = 'schema-served-by'`)
			return path
		}, "a later fundeskd made it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := test.file(t)
			before, err := os.ReadFile(path)
			servicetest.Check(t, err)
			store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: "sqlite:" + path})
			if err == nil {
				_ = store.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want a refusal that says %q", err, test.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got a log beside it: %v", err)
			}
		})
	}
}

// TestDamageIsNotReady damages the table of persons: from the first request that sees it on no change
// counts as possible, although the rest of the file takes one.
func TestDamageIsNotReady(t *testing.T) {
	t.Parallel()
	path := made(t)
	db, err := sql.Open("sqlite", "file:"+path)
	servicetest.Check(t, err)
	var page, size int64
	err = db.QueryRow(`SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'persons'`).Scan(&page, &size)
	servicetest.Check(t, errors.Join(err, db.Close()))
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	servicetest.Check(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte{0xA5}, int(size)), (page-1)*size)
	servicetest.Check(t, errors.Join(err, file.Close()))
	store := reopen(t, "sqlite:"+path)
	if err := store.PingChanges(t.Context()); err != nil {
		t.Fatalf("before anything was seen: %v", err)
	}
	err = try(t, store, func(tx service.Tx) error {
		return tx.InsertPerson(
			service.PersonRow{UUID: apitype.NewUUID(), Owner: apitype.NewUUID(), Doc: []byte(`{}`), Rev: 1},
			nil,
		)
	})
	if service.KindOf(err) != service.Unavailable {
		t.Fatalf("got %v of a damaged table", err)
	}
	for range 3 {
		if err := store.PingChanges(t.Context()); service.KindOf(err) != service.Unavailable {
			t.Errorf("got %v after damage was seen, want that it is not ready", err)
		}
	}
	err = try(t, store, func(tx service.Tx) error {
		return tx.Audit(service.AuditLine{At: apitype.TimeFromMilli(1), Operation: service.AuditKeyRotate})
	})
	if err := errors.Join(err, store.PingChanges(t.Context())); err != nil {
		t.Errorf("got %v after a change has worked", err)
	}
}

// TestPatientSessions lets a load wait for its input whatever time-out the role has.
func TestPatientSessions(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	cluster := servicetest.NewServer(t)
	database := servicetest.Clusters("", cluster)
	cluster.Execute(t, `ALTER ROLE CURRENT_USER SET idle_in_transaction_session_timeout = '300ms'`)
	db, err := pgdriver.Driver{}.Open(database, 0, 0)
	servicetest.Check(t, err)
	defer func() { _ = db.Close() }()
	var timeout string
	if err := db.QueryRowContext(context.Background(), `SHOW idle_in_transaction_session_timeout`).Scan(&timeout); err != nil ||
		timeout != "0" {
		t.Errorf("got %q, %v, want no time-out", timeout, err)
	}
}

// The log of a database under constant writes begins again and again. Otherwise it would grow without end.
func TestLogBeginsAnewBesideWriters(t *testing.T) {
	t.Parallel()
	const writers, changes, beginnings = 8, 12_000, 3
	path := filepath.Join(t.TempDir(), "a.db")
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: "sqlite:" + path})
	servicetest.Check(t, err)
	t.Cleanup(func() {
		servicetest.Report(t, store.Close())
	})
	owner, document := apitype.NewUUID(), make([]byte, 900)
	var made atomic.Int64
	var stop atomic.Bool
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for !stop.Load() && made.Add(1) <= changes {
				row := service.PersonRow{
					UUID:       apitype.NewUUID(),
					Owner:      owner,
					Recruiting: owner,
					CreatedAt:  apitype.NewTime(time.Now()),
					Rev:        1,
					Doc:        document,
				}
				if err := try(t, store, func(tx service.Tx) error { return tx.InsertPerson(row, nil) }); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	seen, tick := 0, time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for last := salt(t, path); seen < beginnings && made.Load() <= changes && !t.Failed(); <-tick.C {
		if now := salt(t, path); !bytes.Equal(now, last) {
			seen, last = seen+1, now
		}
	}
	stop.Store(true)
	group.Wait()
	if seen < beginnings {
		t.Errorf("the log began anew %d times while %d changes were made, want %d", seen, changes, beginnings)
	}
}

// salt returns the part of the log's header that changes each time the log begins again.
func salt(t *testing.T, path string) []byte {
	t.Helper()
	log, err := os.Open(path + "-wal")
	servicetest.Check(t, err)
	defer func() { _ = log.Close() }() // It was only read.
	header := make([]byte, 24)
	if _, err := io.ReadFull(log, header); err != nil {
		t.Fatal(err)
	}
	return header[16:]
}

// However often it is asked whether changes can be made, the database is written to once.
func TestProbesWriteOnce(t *testing.T) {
	t.Parallel()
	store := reopen(t, "sqlite:"+made(t))
	written := func() (value string) {
		err := store.Read(t.Context(), service.ReadRecord, func(r service.Reader) (err error) {
			value, err = r.Setting("writable")
			return err
		})
		servicetest.Check(t, err)
		return value
	}
	servicetest.Check(t, store.PingChanges(t.Context()))
	first := written()
	for range 10 {
		servicetest.Check(t, store.PingChanges(t.Context()))
	}
	if again := written(); first == "" || again != first {
		t.Errorf("got %q and then %q, want one write", first, again)
	}
}

// The log of SQLite grows while a reader needs its beginning. Once nothing reads it, it is cut to 16 MB.
func TestLogIsCut(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	path := made(t)
	store := reopen(t, "sqlite:"+path)
	size := func() int64 {
		t.Helper()
		log, err := os.Stat(path + "-wal")
		servicetest.Check(t, err)
		return log.Size()
	}
	fill := func(megabytes int) {
		for i := range megabytes {
			value := strings.Repeat(strconv.Itoa(i%10), 1<<20)
			update(t, store, func(tx service.Tx) error { return tx.SetSetting("filler", value) })
		}
	}
	view(t, store, func(r service.Reader) error {
		_, err := r.Setting("filler")
		fill(40)
		return err
	})

	grown := size()
	fill(20)
	if cut := size(); grown < 30<<20 || cut > 16<<20 {
		t.Errorf("got %d bytes beside a reader and %d after it, want the log cut to 16 MB", grown, cut)
	}
}

package sqlstore_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// TestGroupCommit shows that changes which share a commit do not share their fate.
// Promise S23: the writer commits what waits together.
func TestGroupCommit(t *testing.T) { each(t, testGroupCommit) }

func testGroupCommit(t *testing.T, database string) {
	store := reopen(t, database)
	refusal := errors.New("refused")
	var kept, refused, panicked atomic.Int64
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			err := try(t, store, func(tx service.Tx) error {
				if err := tx.SetSetting(fmt.Sprint(i), "x"); err != nil {
					return err
				}
				switch i % 5 {
				case 3:
					return refusal
				case 4:
					panic("a rule went wrong")
				}
				return nil
			})
			switch {
			case err == nil:
				kept.Add(1)
			case errors.Is(err, refusal):
				refused.Add(1)
			case strings.Contains(err.Error(), "a rule went wrong"):
				panicked.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if kept.Load() != 120 || refused.Load() != 40 || panicked.Load() != 40 {
		t.Errorf("got %d kept, %d refused, %d panics, want 120, 40, 40", kept.Load(), refused.Load(), panicked.Load())
	}
	view(t, store, func(r service.Reader) error {
		for i := range 200 {
			value, err := r.Setting(fmt.Sprint(i))
			if err != nil || (value != "") != (i%5 < 3) {
				t.Errorf("setting %d: got %q %v", i, value, err)
			}
		}
		return nil
	})
}

// TestTwoStores shows that two open stores of one file agree on its key and its data.
// Promise P5: the signing key is in the database, which is closed to others.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shared.db")
	var stores [4]*sqlstore.Store
	var seeds [4][]byte
	var group sync.WaitGroup
	for i := range stores {
		group.Go(func() {
			var err error
			stores[i], err = sqlstore.Open(t.Context(), sqlstore.Options{Database: "sqlite:" + path})
			if err != nil {
				t.Error(err)
				return
			}
			seeds[i], err = stores[i].SigningSeed(t.Context())
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	for i, store := range stores {
		if !slices.Equal(seeds[i], seeds[0]) {
			t.Errorf("store %d has another key", i)
		}
		for range 25 {
			group.Go(func() {
				err := store.Write(context.WithoutCancel(t.Context()), service.WriteIsolated, func(tx service.Tx) error {
					value, err := tx.Setting("n")
					if err != nil {
						return err
					}
					return tx.SetSetting("n", value+"x")
				})
				servicetest.Report(t, err)
			})
		}
	}
	group.Wait()
	err := stores[3].Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		value, err := r.Setting("n")
		if len(value) != 100 {
			t.Errorf("got %d changes, want 100", len(value))
		}
		return err
	})
	servicetest.Report(t, err)
	for _, store := range stores {
		servicetest.Report(t, store.Close())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v, want mode 0600", info, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 || err != nil {
		t.Errorf("got files %v, want the database alone", left)
	}
}

// TestManyProcesses opens one database as many processes do: they agree on its schema
// and key, and none of their changes is lost.
// Promise S21: a transaction that lost against another is run again.
func TestManyProcesses(t *testing.T) { each(t, testManyProcesses) }

func testManyProcesses(t *testing.T, database string) {
	var stores [4]*sqlstore.Store
	var seeds [4][]byte
	var group sync.WaitGroup
	for i := range stores {
		group.Go(func() {
			var err error
			stores[i], err = sqlstore.Open(t.Context(), sqlstore.Options{
				Database: database,
				Postgres: pgdriver.Driver{},
			})
			if err != nil {
				t.Error(err)
				return
			}
			seeds[i], err = stores[i].SigningSeed(t.Context())
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	row := calls(1, []apitype.UUID{apitype.NewUUID()})[0]
	row.Doc = []byte("{}")
	update(t, stores[0], func(tx service.Tx) error { return insertCalls(tx, row) })
	var created atomic.Int64
	for i, store := range stores {
		if !slices.Equal(seeds[i], seeds[0]) {
			t.Errorf("process %d has another key", i)
		}
		for range 10 {
			group.Go(func() {
				err := try(t, store, func(tx service.Tx) error {
					call, err := tx.Call(row.UUID, all)
					if err != nil {
						return err
					}
					call.Doc = append(call.Doc, 'x')
					return tx.UpdateCall(call, false)
				})
				servicetest.Report(t, err)
			})
			group.Go(func() {
				other := row
				other.UUID = apitype.UUID{1}
				err := try(t, store, func(tx service.Tx) error { return tx.InsertCall(other) })
				if err == nil {
					created.Add(1)
				} else if !errors.Is(err, service.ErrExists) {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	err := stores[3].Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		call, err := r.Call(row.UUID, all)
		if len(call.Doc) != 42 || call.Rev != 41 || created.Load() != 1 {
			t.Errorf("got %d changes, revision %d, %d creations, want 40, 41, 1",
				len(call.Doc)-2, call.Rev, created.Load())
		}
		return err
	})
	servicetest.Report(t, err)
	for _, store := range stores {
		servicetest.Report(t, store.Close())
	}
}

// Promise S13: a backup never replaces what has its name.
func TestBackup(t *testing.T) {
	t.Parallel()
	store, file := open(t), filepath.Join(t.TempDir(), "copy.db")
	update(t, store, func(tx service.Tx) error { return tx.SetSetting("a", "1") })
	seed, err := store.SigningSeed(t.Context())
	servicetest.Check(t, err)
	sum, err := store.Backup(t.Context(), file)
	servicetest.Check(t, err)
	data, err := os.ReadFile(file)
	servicetest.Check(t, err)
	if want := fmt.Sprintf("%x", sha256.Sum256(data)); sum != want {
		t.Errorf("got the sum %s, want %s", sum, want)
	}
	if _, err := store.Backup(t.Context(), file); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v for a file that exists, want a refusal", err)
	}
	again := reopen(t, "sqlite:"+file)
	if got, err := again.SigningSeed(t.Context()); !slices.Equal(got, seed) || err != nil {
		t.Errorf("the copy has another key, %v", err)
	}
	if found, err := again.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("check: %v %v", found, err)
	}
	err = again.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		_, err := r.Setting("a")
		return err
	})
	servicetest.Report(t, err)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text := filepath.Join(folder, "text.db")
	servicetest.Check(t, os.WriteFile(text, []byte(strings.Repeat("not a database ", 100)), 0o600))
	tests := []struct {
		name    string
		options sqlstore.Options
	}{
		{"no name", sqlstore.Options{}},
		{"another engine", sqlstore.Options{Database: "mysql://x"}},
		{"another file", sqlstore.Options{Database: "sqlite:" + text}},
		{"a folder", sqlstore.Options{Database: "sqlite:" + folder}},
		{"an old schema", sqlstore.Options{Database: "sqlite:" + filepath.Join(folder, "new.db"), NoMigrate: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if store, err := sqlstore.Open(t.Context(), test.options); err == nil {
				t.Errorf("got no error; close: %v", store.Close())
			}
		})
	}
}

func TestClosedStore(t *testing.T) { each(t, testClosedStore) }

func testClosedStore(t *testing.T, database string) {
	store := reopen(t, database)
	servicetest.Check(t, store.Close())
	if err := store.Ping(t.Context()); err == nil {
		t.Error("a closed store answers")
	}
	if err := try(t, store, func(service.Tx) error { return nil }); err == nil {
		t.Error("a closed store takes changes")
	}
}

// TestEndedConnections ends every connection of an open store, as an operator or a takeover does. The next caller
// notices nothing.
func TestEndedConnections(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	database := servicetest.EmptyDatabase(t)
	store := reopen(t, database)
	operator, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	defer func() { _ = operator.Close(t.Context()) }()
	setting := func(r service.Reader) error {
		_, err := r.Setting("signing-key")
		return err
	}
	if _, err := store.SigningSeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, next := range []struct {
		name string
		run  func() error
	}{
		{"ask", func() error { return store.Read(t.Context(), service.ReadRecord, setting) }},
		{"view", func() error { return store.Read(t.Context(), service.ReadSnapshot, setting) }},
		{"update", func() error {
			return try(t, store, func(tx service.Tx) error { return tx.SetSetting("a", "1") })
		}},
	} {
		ended, err := operator.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		if err != nil || ended.RowsAffected() == 0 {
			t.Fatalf("got %v, %v, want connections that ended", ended, err)
		}
		if err := next.run(); err != nil {
			t.Errorf("%s: got %v on a connection that was ended", next.name, err)
		}
	}
}

// TestServerAway ends the server under an open store. Callers are asked to come back.
func TestServerAway(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	server := servicetest.NewServer(t)
	store := reopen(t, servicetest.Clusters("", server))
	servicetest.Check(t, store.Ping(t.Context()))
	reached := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		<-reached
		server.Stop()
		close(ended)
	}()
	var once sync.Once
	err := try(t, store, func(tx service.Tx) error {
		once.Do(func() { close(reached) })
		<-ended
		return tx.SetSetting("a", "1")
	})
	if service.KindOf(err) != service.Unavailable {
		t.Errorf("in the middle of a change: got %v, want unavailable", err)
	}
	if err := store.Ping(t.Context()); service.KindOf(err) != service.Unavailable {
		t.Errorf("afterwards: got %v, want unavailable", err)
	}
}

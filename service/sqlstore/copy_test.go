package sqlstore_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/sqlstore"
)

// A checksum tells rows apart whose texts are alike when they are put together, and is the same for a
// text and its bytes, which engines read differently.
func TestDigestOfRows(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, row := range map[string][]any{
		"ab, c": {"ab", "c"}, "a, bc": {"a", "bc"}, "abc, empty": {"abc", ""}, "abc, null": {"abc", nil}, "0, abc": {int64(0), "abc"}, "null, abc": {nil, "abc"},
	} {
		digest := sqlstore.Digest(row)
		if other, same := seen[digest]; same {
			t.Errorf("%s and %s have one checksum", name, other)
		}
		seen[digest] = name
	}
	if sqlstore.Digest([]any{"a"}) != sqlstore.Digest([]any{[]byte("a")}) {
		t.Error("a text and its bytes have two checksums")
	}
}

// filled is an SQLite store with sample data of every table.
func filled(t *testing.T, persons int) *sqlstore.Store {
	t.Helper()
	store := open(t)
	s, err := service.New(t.Context(), service.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Load(t.Context(), func(add func(service.LoadRecord) error) error {
		return embedded.Sample(embedded.SampleOptions{Persons: persons, Now: now.Time}, add)
	})
	if err != nil {
		t.Fatal(err)
	}
	account := service.Account{UUID: apitype.NewUUID(), Name: "a", CreatedAt: now, Scope: service.Scope{All: true}}
	update(t, store, func(tx service.Tx) error {
		entry := apitype.ProcessedEntry{EntityName: "call", EntityUUID: apitype.NewUUID(), ProcessedAt: now}
		return errors.Join(tx.InsertAccount(account), tx.InsertToken(service.IssuedToken{UUID: account.UUID, Account: account.UUID, IssuedAt: now}), tx.Mark(account.UUID, entry), tx.SetSetting("kept", "1"), tx.SetRetention(service.Retention{Organization: account.UUID, Calls: new(24)}),
			tx.RecordContact(entry.EntityUUID, now, []apitype.UUID{apitype.NewUUID()}), tx.Work(service.Work{At: now, User: account.UUID, Owner: account.UUID, Work: service.WorkAttempt}),
			insertLease(tx, now))
	})
	return store
}

// TestCopy moves a database into each engine, interrupted after every table once.
func TestCopy(t *testing.T) { each(t, testCopy) }

func testCopy(t *testing.T, database string) {
	source, target := filled(t, 400), reopen(t, database)
	// A target that was served once has a key of its own, on which nothing hangs.
	if _, err := target.SigningSeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	seed, err := source.SigningSeed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string]bool{}
	var tables []sqlstore.CopiedTable
	for tables == nil {
		ctx, interrupt := context.WithCancel(t.Context())
		before := len(whole)
		tables, err = source.CopyTo(ctx, target, func(table string, _ int64) {
			if !whole[table] {
				whole[table] = true
				interrupt()
			}
		})
		interrupt()
		if err != nil && (!errors.Is(err, context.Canceled) || len(whole) == before) {
			t.Fatal(err)
		}
	}
	if got, err := target.SigningSeed(t.Context()); !slices.Equal(got, seed) || err != nil {
		t.Errorf("the copy has another key, %v", err)
	}
	for _, table := range tables {
		if table.Rows == 0 {
			t.Errorf("got no row in %s: the test does not fill it", table.Table)
		}
	}
	if _, err := source.CopyTo(t.Context(), target, nil); !errors.Is(err, sqlstore.ErrNotEmpty) {
		t.Errorf("a copy into a database in use: got %v, want a refusal", err)
	}
	if found, err := target.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("check: %v %v", found, err)
	}
	// The way back ends where it began.
	again := reopen(t, "sqlite:"+filepath.Join(t.TempDir(), "again.db"))
	back, err := target.CopyTo(t.Context(), again, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tables, back); diff != "" {
		t.Errorf("there and back again: %s", diff)
	}
	// New records get numbers of their own.
	update(t, target, func(tx service.Tx) error { return insertCalls(tx, calls(3, []apitype.UUID{apitype.NewUUID()})...) })
}

// TestCopyRepairs shows that a copy goes on where it differs from its source.
func TestCopyRepairs(t *testing.T) { each(t, testCopyRepairs) }

func testCopyRepairs(t *testing.T, database string) {
	source, target := filled(t, 20), reopen(t, database)
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := source.CopyTo(ctx, target, func(table string, _ int64) {
		if table == "calls" {
			interrupt()
		}
	})
	interrupt()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want an interruption", err)
	}
	strange := calls(1, []apitype.UUID{apitype.NewUUID()})[0]
	update(t, target, func(tx service.Tx) error { return insertCalls(tx, strange) })
	update(t, source, func(tx service.Tx) error {
		person := service.PersonRow{UUID: apitype.NewUUID(), Owner: apitype.NewUUID(), CreatedAt: apitype.NewTime(now.Add(time.Hour)), Rev: 3, Doc: []byte("{}")}
		return tx.InsertPerson(person, nil)
	})
	tables, err := source.CopyTo(t.Context(), target, nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := target.CopyTo(t.Context(), open(t), nil)
	if diff := cmp.Diff(tables, back); diff != "" || err != nil {
		t.Errorf("got another copy, %v: %s", err, diff)
	}
}

func insertLease(tx service.Tx, now apitype.Time) error {
	_, err := tx.InsertLeases([]service.LeaseRow{{Lease: apitype.Lease{LeaseUUID: apitype.NewUUID(), TakenAt: now, ExpiresAt: now}}})
	return err
}

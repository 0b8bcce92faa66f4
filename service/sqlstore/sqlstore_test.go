package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

var now = apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))

// server is a PostgreSQL server for all tests of the package, empty where there is none.
var server string

func TestMain(m *testing.M) {
	stop := func() error { return nil }
	if server = os.Getenv(servicetest.PostgresVariable); server == "" {
		var err error
		if server, stop, err = servicetest.StartPostgres(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "PostgreSQL is not tested:", err)
			stop = func() error { return nil }
		}
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// each runs a test on every engine; database names a new one.
func each(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, "sqlite:"+filepath.Join(t.TempDir(), "a b?#%.db"))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		if server == "" {
			t.Skip("no PostgreSQL")
		}
		test(t, servicetest.PostgresDatabase(t, server))
	})
}

// open is a new SQLite store in a folder of its own.
func open(t *testing.T) *sqlstore.Store {
	t.Helper()
	return reopen(t, "sqlite:"+filepath.Join(t.TempDir(), "a b?#%.db"))
}

func reopen(t *testing.T, database string) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func update(t *testing.T, store *sqlstore.Store, change func(service.Tx) error) {
	t.Helper()
	if err := store.Update(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

// calls are rows with few distinct times, so that the uuid decides often.
func calls(n int, owners []apitype.UUID) []service.CallRow {
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]service.CallRow, n)
	for i := range rows {
		rows[i] = service.CallRow{
			UUID: apitype.NewUUID(), Owner: owners[random.IntN(len(owners))], Person: apitype.NewUUID(),
			RequestedAt: apitype.NewTime(now.Add(time.Duration(random.IntN(5)) * time.Millisecond)),
			UpdatedAt:   apitype.NewTime(now.Add(time.Duration(random.IntN(50)) * time.Minute)),
			Private:     []byte("{}"), Doc: []byte("{}"), Rev: 1,
		}
		if random.IntN(2) == 0 {
			rows[i].External, rows[i].ExternalStatus = true, new("S1")
			rows[i].ExternalApplication, rows[i].ExternalReference = new("dialler"), new(fmt.Sprint(random.IntN(3)))
		}
	}
	return rows
}

// inOrder sorts as lists do. Spec gap: L5.
func inOrder(rows []service.CallRow) {
	slices.SortFunc(rows, func(a, b service.CallRow) int {
		if c := b.RequestedAt.Compare(a.RequestedAt.Time); c != 0 {
			return c
		}
		return b.UUID.Compare(a.UUID)
	})
}

func ids(rows []service.CallRow) []string {
	texts := make([]string, len(rows))
	for i, row := range rows {
		texts[i] = row.UUID.String()
	}
	return texts
}

// TestWalkCalls walks lists with each filter and scope by every page size, both ways.
func TestWalkCalls(t *testing.T) { each(t, testWalkCalls) }

func testWalkCalls(t *testing.T, database string) {
	store, owners := reopen(t, database), []apitype.UUID{apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()}
	rows := calls(41, owners)
	update(t, store, func(tx service.Tx) error {
		for _, row := range rows {
			if err := tx.InsertCall(row); err != nil {
				return err
			}
		}
		return nil
	})
	inOrder(rows)
	many := slices.Clone(owners)
	for range 20 {
		many = append(many, apitype.NewUUID())
	}
	all := service.Scope{All: true}
	after := apitype.NewTime(now.Add(20 * time.Minute))
	tests := []struct {
		name   string
		filter service.CallFilter
		passes func(service.CallRow) bool
	}{
		{"all", service.CallFilter{Scope: all}, func(service.CallRow) bool { return true }},
		{"one organization", service.CallFilter{Scope: service.Scope{Organizations: owners[:1]}}, func(c service.CallRow) bool { return c.Owner == owners[0] }},
		{"two organizations", service.CallFilter{Scope: service.Scope{Organizations: owners[:2]}}, func(c service.CallRow) bool { return c.Owner != owners[2] }},
		{"many organizations", service.CallFilter{Scope: service.Scope{Organizations: many}}, func(service.CallRow) bool { return true }},
		{"no organization", service.CallFilter{Scope: service.Scope{Organizations: many[5:6]}}, func(service.CallRow) bool { return false }},
		{"status", service.CallFilter{Scope: all, ExternalStatus: "S1"}, func(c service.CallRow) bool { return c.External }},
		{"reference", service.CallFilter{Scope: all, ExternalApplication: "dialler", ExternalReference: "1"}, func(c service.CallRow) bool {
			return c.External && *c.ExternalReference == "1"
		}},
		{"no reference", service.CallFilter{Scope: all, NoExternalReference: true}, func(c service.CallRow) bool { return !c.External }},
		{"from and until", service.CallFilter{Scope: all, RequestedFrom: new(apitype.NewTime(now.Add(1e6))), RequestedUntil: new(apitype.NewTime(now.Add(3e6)))}, func(c service.CallRow) bool {
			ms := c.RequestedAt.Sub(now.Time).Milliseconds()
			return ms >= 1 && ms <= 3
		}},
		{"requested after", service.CallFilter{Scope: all, RequestedAfter: new(apitype.NewTime(now.Add(1e6)))}, func(c service.CallRow) bool {
			return c.RequestedAt.Sub(now.Time).Milliseconds() > 1
		}},
		{"updated after", service.CallFilter{Scope: all, UpdatedAfter: &after}, func(c service.CallRow) bool { return c.UpdatedAt.After(after.Time) }},
		{"updated after in two organizations", service.CallFilter{Scope: service.Scope{Organizations: owners[:2]}, UpdatedAfter: &after}, func(c service.CallRow) bool {
			return c.UpdatedAt.After(after.Time) && c.Owner != owners[2]
		}},
		{"all at once", service.CallFilter{
			Scope: service.Scope{Organizations: owners[1:]}, UpdatedAfter: &now, ExternalStatus: "S1",
			ExternalApplication: "dialler", ExternalReference: "2", RequestedAfter: &now, WithPerson: true, WithPledge: true,
		}, func(c service.CallRow) bool {
			return c.External && *c.ExternalReference == "2" && c.Owner != owners[0] && c.RequestedAt.After(now.Time) && c.UpdatedAt.After(now.Time)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var want []service.CallRow
			for _, row := range rows {
				if test.passes(row) {
					want = append(want, row)
				}
			}
			for size := 1; size <= len(want)+1; size++ {
				if diff := cmp.Diff(ids(want), ids(walk(t, store, test.filter, size, false))); diff != "" {
					t.Fatalf("forward by %d: %s", size, diff)
				}
				back := walk(t, store, test.filter, size, true)
				slices.Reverse(back)
				if diff := cmp.Diff(ids(want), ids(back)); diff != "" {
					t.Fatalf("backward by %d: %s", size, diff)
				}
			}
		})
	}
}

// walk reads a whole list page by page, and checks what AnyCall says of each place.
func walk(t *testing.T, store *sqlstore.Store, f service.CallFilter, size int, backward bool) (all []service.CallRow) {
	t.Helper()
	err := store.View(t.Context(), func(r service.Reader) error {
		part := service.Range{Backward: backward, Limit: size}
		for {
			page, err := r.Calls(f, part)
			if err != nil {
				return err
			}
			more, err := r.AnyCall(f, part)
			if err != nil {
				return err
			}
			if more != (len(page) > 0) {
				t.Fatalf("got any %v for %d rows", more, len(page))
			}
			if len(page) == 0 {
				return nil
			}
			all = append(all, page...)
			last := page[len(page)-1]
			bound := &service.Bound{Position: service.Position{At: last.RequestedAt, UUID: last.UUID}}
			if backward {
				part.Above = bound
			} else {
				part.Below = bound
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDocumentsAreKept shows that a driver does not use the memory of a document again.
func TestDocumentsAreKept(t *testing.T) { each(t, testDocumentsAreKept) }

func testDocumentsAreKept(t *testing.T, database string) {
	store := reopen(t, database)
	rows := calls(50, []apitype.UUID{apitype.NewUUID()})
	update(t, store, func(tx service.Tx) error {
		for i := range rows {
			rows[i].Doc = []byte(`{"uuid":"` + rows[i].UUID.String() + `"}`)
			if err := tx.InsertCall(rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	for range 2 {
		got := walk(t, store, service.CallFilter{Scope: service.Scope{All: true}}, 7, false)
		walk(t, store, service.CallFilter{Scope: service.Scope{All: true}}, 9, true)
		for _, row := range got {
			if want := `{"uuid":"` + row.UUID.String() + `"}`; string(row.Doc) != want {
				t.Errorf("got %s, want %s", row.Doc, want)
			}
		}
	}
}

// TestPledgeScope shows that a pledge comes once, whichever organization it is seen
// through. Spec gap: A3.
func TestPledgeScope(t *testing.T) { each(t, testPledgeScope) }

func testPledgeScope(t *testing.T, database string) {
	store, a, b, c := reopen(t, database), apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()
	update(t, store, func(tx service.Tx) error {
		for _, pair := range [][2]apitype.UUID{{a, a}, {a, b}, {b, a}, {b, b}, {c, a}, {c, c}} {
			row := service.PledgeRow{
				UUID: apitype.NewUUID(), Owner: pair[0], Recruiting: pair[1], CreatedAt: now, UpdatedAt: now,
				ReleasedAt: &now, Status: apitype.PledgeLead, Private: []byte("{}"), Doc: []byte("{}"), Rev: 1,
			}
			if err := tx.InsertPledge(row); err != nil {
				return err
			}
		}
		return nil
	})
	tests := []struct {
		name  string
		scope service.Scope
		want  int
	}{
		{"all", service.Scope{All: true}, 6},
		{"one", service.Scope{Organizations: []apitype.UUID{a}}, 4},
		{"two", service.Scope{Organizations: []apitype.UUID{a, b}}, 5},
		{"three", service.Scope{Organizations: []apitype.UUID{a, b, c}}, 6},
		{"none", service.Scope{}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range []service.PledgeFilter{
				{Scope: test.scope},
				{Scope: test.scope, Status: apitype.PledgeLead, PaymentQR: new(false)},
				{Scope: test.scope, UpdatedAfter: new(apitype.NewTime(now.Add(-1e6)))},
				{Scope: test.scope, ReleasedAfter: new(apitype.NewTime(now.Add(-1e6))), ReleasedBy: now},
			} {
				err := store.View(t.Context(), func(r service.Reader) error {
					rows, err := r.Pledges(f, service.Range{Limit: 10})
					if len(rows) != test.want {
						t.Errorf("got %d pledges, want %d", len(rows), test.want)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestSmallTables(t *testing.T) { each(t, testSmallTables) }

func testSmallTables(t *testing.T, database string) {
	store := reopen(t, database)
	account := service.Account{
		UUID: apitype.NewUUID(), Name: "a", Permissions: []service.Permission{service.CallsRead},
		Scope: service.Scope{Organizations: []apitype.UUID{apitype.NewUUID()}}, ExternalSources: []string{"x"}, CreatedAt: now,
	}
	organization := service.Organization{
		OrganizationReference: apitype.OrganizationReference{UUID: apitype.NewUUID(), Name: "Ö", Abbreviation: "o"},
		MaxCallAttempts:       new(0), CoolingOff: time.Hour,
	}
	area := service.FocusArea{FocusArea: apitype.FocusArea{UUID: apitype.NewUUID(), Name: "n"}, Organization: organization.UUID}
	update(t, store, func(tx service.Tx) error {
		return errors.Join(tx.InsertAccount(account), tx.InsertOrganization(organization), tx.InsertFocusArea(area),
			tx.SetSetting("a", "1"), tx.SetSetting("a", "2"), tx.InsertSignature(account.UUID, []byte{0, 1}))
	})
	account.RevokedAt = &now
	update(t, store, func(tx service.Tx) error { return tx.UpdateAccount(account) })
	err := store.View(t.Context(), func(r service.Reader) error {
		gotAccount, err := r.Account(account.UUID)
		if diff := cmp.Diff(account, gotAccount); diff != "" || err != nil {
			t.Errorf("account: %v %s", err, diff)
		}
		organizations, err := r.Organizations()
		if diff := cmp.Diff([]service.Organization{organization}, organizations); diff != "" || err != nil {
			t.Errorf("organizations: %v %s", err, diff)
		}
		gotArea, err := r.FocusArea(area.UUID)
		if diff := cmp.Diff(area, gotArea); diff != "" || err != nil {
			t.Errorf("focus area: %v %s", err, diff)
		}
		if setting, err := r.Setting("a"); setting != "2" || err != nil {
			t.Errorf("got setting %q %v, want 2", setting, err)
		}
		if content, err := r.Signature(account.UUID); !slices.Equal(content, []byte{0, 1}) || err != nil {
			t.Errorf("got signature %v %v", content, err)
		}
		for name, missing := range map[string]func() error{
			"account": func() error { _, err := r.Account(area.UUID); return err },
			"call":    func() error { _, err := r.Call(area.UUID); return err },
			"person":  func() error { _, err := r.Person(area.UUID); return err },
			"pledge":  func() error { _, err := r.Pledge(area.UUID); return err },
			"setting": func() error { _, err := r.Setting("b"); return err },
		} {
			if err := missing(); !errors.Is(err, service.ErrNoRow) {
				t.Errorf("missing %s: got %v, want ErrNoRow", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGroupCommit shows that changes which share a commit do not share their fate.
func TestGroupCommit(t *testing.T) { each(t, testGroupCommit) }

func testGroupCommit(t *testing.T, database string) {
	store := reopen(t, database)
	refusal := errors.New("refused")
	var kept, refused, panicked atomic.Int64
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			err := store.Update(t.Context(), func(tx service.Tx) error {
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
	err := store.View(t.Context(), func(r service.Reader) error {
		for i := range 200 {
			_, err := r.Setting(fmt.Sprint(i))
			if (err == nil) != (i%5 < 3) {
				t.Errorf("setting %d: got %v", i, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRevisions shows that a change of a row that somebody else changed is noticed.
func TestRevisions(t *testing.T) { each(t, testRevisions) }

func testRevisions(t *testing.T, database string) {
	store, row := reopen(t, database), calls(1, []apitype.UUID{apitype.NewUUID()})[0]
	update(t, store, func(tx service.Tx) error { return tx.InsertCall(row) })
	update(t, store, func(tx service.Tx) error { return tx.UpdateCall(row) })
	err := store.Update(t.Context(), func(tx service.Tx) error { return tx.UpdateCall(row) })
	if !errors.Is(err, service.ErrNoRow) {
		t.Errorf("got %v for an old revision, want ErrNoRow", err)
	}
	err = store.Update(t.Context(), func(tx service.Tx) error { return tx.InsertCall(row) })
	if !errors.Is(err, service.ErrExists) {
		t.Errorf("got %v for a second insert, want ErrExists", err)
	}
}

// TestTwoStores shows that two open stores of one file agree on its key and its data.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shared.db")
	var stores [4]*sqlstore.Store
	var seeds [4][]byte
	var group sync.WaitGroup
	for i := range stores {
		group.Go(func() {
			var err error
			if stores[i], err = sqlstore.Open(t.Context(), sqlstore.Options{Database: "sqlite:" + path}); err != nil {
				t.Error(err)
				return
			}
			if seeds[i], err = stores[i].SigningSeed(t.Context()); err != nil {
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
				err := store.Update(context.WithoutCancel(t.Context()), func(tx service.Tx) error {
					value, err := tx.Setting("n")
					if err != nil && !errors.Is(err, service.ErrNoRow) {
						return err
					}
					return tx.SetSetting("n", value+"x")
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	err := stores[3].View(t.Context(), func(r service.Reader) error {
		value, err := r.Setting("n")
		if len(value) != 100 {
			t.Errorf("got %d changes, want 100", len(value))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, store := range stores {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{path, path + ".key"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v %v, want mode 0600", filepath.Base(name), info, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 2 || err != nil {
		t.Errorf("got files %v, want the database and its key", left)
	}
}

// TestManyProcesses opens one database as many processes do: they agree on its schema
// and key, and none of their changes is lost.
func TestManyProcesses(t *testing.T) { each(t, testManyProcesses) }

func testManyProcesses(t *testing.T, database string) {
	var stores [4]*sqlstore.Store
	var seeds [4][]byte
	var group sync.WaitGroup
	for i := range stores {
		group.Go(func() {
			var err error
			if stores[i], err = sqlstore.Open(t.Context(), sqlstore.Options{Database: database}); err != nil {
				t.Error(err)
				return
			}
			if seeds[i], err = stores[i].SigningSeed(t.Context()); err != nil {
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
	update(t, stores[0], func(tx service.Tx) error { return tx.InsertCall(row) })
	var created atomic.Int64
	for i, store := range stores {
		if !slices.Equal(seeds[i], seeds[0]) {
			t.Errorf("process %d has another key", i)
		}
		for range 10 {
			group.Go(func() {
				err := store.Update(t.Context(), func(tx service.Tx) error {
					call, err := tx.Call(row.UUID)
					if err != nil {
						return err
					}
					call.Doc = append(call.Doc, 'x')
					return tx.UpdateCall(call)
				})
				if err != nil {
					t.Error(err)
				}
			})
			group.Go(func() {
				other := row
				other.UUID = apitype.UUID{1}
				err := store.Update(t.Context(), func(tx service.Tx) error { return tx.InsertCall(other) })
				if err == nil {
					created.Add(1)
				} else if !errors.Is(err, service.ErrExists) {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	err := stores[3].View(t.Context(), func(r service.Reader) error {
		call, err := r.Call(row.UUID)
		if len(call.Doc) != 42 || call.Rev != 41 || created.Load() != 1 {
			t.Errorf("got %d changes, revision %d, %d creations, want 40, 41, 1", len(call.Doc)-2, call.Rev, created.Load())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, store := range stores {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBackup(t *testing.T) {
	t.Parallel()
	store, file := open(t), filepath.Join(t.TempDir(), "copy.db")
	update(t, store, func(tx service.Tx) error { return tx.SetSetting("a", "1") })
	seed, err := store.SigningSeed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if err := store.Backup(t.Context(), file); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v for a file that exists, want a refusal", err)
	}
	again := reopen(t, "sqlite:"+file)
	if got, err := again.SigningSeed(t.Context()); !slices.Equal(got, seed) || err != nil {
		t.Errorf("the copy has another key, %v", err)
	}
	if found, err := again.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("check: %v %v", found, err)
	}
	err = again.View(t.Context(), func(r service.Reader) error { _, err := r.Setting("a"); return err })
	if err != nil {
		t.Error(err)
	}
}

func TestCheckFindsMissingReferences(t *testing.T) { each(t, testCheckFindsMissingReferences) }

func testCheckFindsMissingReferences(t *testing.T, database string) {
	store := reopen(t, database)
	row := calls(1, []apitype.UUID{apitype.NewUUID()})[0]
	update(t, store, func(tx service.Tx) error { return tx.InsertCall(row) })
	found, err := store.Check(t.Context())
	if diff := cmp.Diff([]string{"1 calls without their person"}, found); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text := filepath.Join(folder, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
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
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Ping(t.Context()); err == nil {
		t.Error("a closed store answers")
	}
	if err := store.Update(t.Context(), func(service.Tx) error { return nil }); err == nil {
		t.Error("a closed store takes changes")
	}
}

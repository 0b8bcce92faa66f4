package sqlstore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

var now = apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))

// each runs a test on every engine; database names one with tables and no rows.
func each(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	onEach(t, servicetest.PostgresDatabase, test)
}

// eachEmpty is [each] with databases of the test's own.
func eachEmpty(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	onEach(t, servicetest.EmptyDatabase, test)
}

func onEach(t *testing.T, postgres func(testing.TB) string, test func(t *testing.T, database string)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, "sqlite:"+filepath.Join(t.TempDir(), "a b?#%.db"))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedPostgres(t)
		test(t, postgres(t))
	})
}

// open returns a new SQLite store in a folder of its own.
func open(t *testing.T) *sqlstore.Store {
	t.Helper()
	return reopen(t, "sqlite:"+filepath.Join(t.TempDir(), "a b?#%.db"))
}

func reopen(t *testing.T, database string) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}})
	servicetest.Check(t, err)
	t.Cleanup(func() {
		servicetest.Report(t, store.Close())
	})
	return store
}

func update(t *testing.T, store *sqlstore.Store, change func(service.Tx) error) {
	t.Helper()
	servicetest.Check(t, try(t, store, change))
}

// try makes a change that may fail.
func try(t *testing.T, store *sqlstore.Store, change func(service.Tx) error) error {
	t.Helper()
	return store.Write(t.Context(), service.WriteIsolated, change)
}

// view reads one state of the data.
func view(t *testing.T, store *sqlstore.Store, read func(service.Reader) error) {
	t.Helper()
	servicetest.Check(t, store.Read(t.Context(), service.ReadSnapshot, read))
}

// personRow returns the row of a person of an organization.
func personRow(id, owner apitype.UUID) service.PersonRow {
	return service.PersonRow{UUID: id, Owner: owner, CreatedAt: now, Doc: []byte("{}"), Rev: 1}
}

// calls returns rows with few distinct times, so that the uuid decides often.
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

// insertCalls saves calls with the persons that they name.
func insertCalls(tx service.Tx, rows ...service.CallRow) error {
	for _, row := range rows {
		if err := errors.Join(tx.InsertPerson(personOf(row), nil), tx.InsertCall(row)); err != nil {
			return err
		}
	}
	return nil
}

// personOf returns the person that a call names.
func personOf(call service.CallRow) service.PersonRow {
	return personRow(call.Person, call.Owner)
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
	rows, user := calls(41, owners), apitype.NewUUID()
	for i := range rows {
		if i%3 > 0 {
			rows[i].CompletedBy = []*apitype.UUID{&user, new(apitype.NewUUID())}[i%2]
		}
	}
	update(t, store, func(tx service.Tx) error { return insertCalls(tx, rows...) })
	inOrder(rows)
	many := slices.Clone(owners)
	for range 20 {
		many = append(many, apitype.NewUUID())
	}
	after := apitype.NewTime(now.Add(20 * time.Minute))
	of := func(organizations ...apitype.UUID) service.Scope { return service.Scope{Organizations: organizations} }
	in := func(milliseconds int) *apitype.Time {
		return new(apitype.NewTime(now.Add(time.Duration(milliseconds) * time.Millisecond)))
	}
	for name, filter := range map[string]service.CallFilter{
		"all":                {Scope: all},
		"one organization":   {Scope: of(owners[0])},
		"two organizations":  {Scope: of(owners[:2]...)},
		"many organizations": {Scope: of(many...)},
		"no organization":    {Scope: of(many[5])},
		"status":             {Scope: all, ExternalStatus: "S1"},
		"reference":          {Scope: all, ExternalApplication: "dialler", ExternalReference: "1"},
		"no reference":       {Scope: all, NoExternalReference: true},
		"from and until":     {Scope: all, RequestedFrom: in(1), RequestedUntil: in(3)},
		"requested after":    {Scope: all, RequestedAfter: in(1)},
		"updated after":      {Scope: all, UpdatedAfter: &after},

		"updated after in two organizations": {Scope: of(owners[:2]...), UpdatedAfter: &after},
		"completed by a user":                {Scope: all, CompletedBy: &user},
		"completed by a user, and more": {
			Scope:               of(owners[:2]...),
			CompletedBy:         &user,
			UpdatedAfter:        &after,
			NoExternalReference: true,
		},
		"all at once": {
			Scope:               of(owners[1:]...),
			UpdatedAfter:        &now,
			ExternalStatus:      "S1",
			ExternalApplication: "dialler",
			ExternalReference:   "2",
			RequestedAfter:      &now,
			WithPerson:          true,
			WithPledge:          true,
			Viewer:              of(owners[1:]...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []service.CallRow
			for _, row := range rows {
				if passes(row, filter) {
					want = append(want, row)
				}
			}
			for size := 1; size <= len(want)+1; size++ {
				if diff := cmp.Diff(ids(want), ids(walk(t, store, filter, size, false))); diff != "" {
					t.Fatalf("forward by %d: %s", size, diff)
				}
				back := walk(t, store, filter, size, true)
				slices.Reverse(back)
				if diff := cmp.Diff(ids(want), ids(back)); diff != "" {
					t.Fatalf("backward by %d: %s", size, diff)
				}
			}
		})
	}
}

// passes reads a filter plainly.
func passes(c service.CallRow, f service.CallFilter) bool {
	is := func(value *string, want string) bool { return value != nil && *value == want }
	switch {
	case !f.Scope.Contains(c.Owner),
		f.ExternalStatus != "" && !is(c.ExternalStatus, f.ExternalStatus),
		f.ExternalReference != "" && !is(c.ExternalReference, f.ExternalReference),
		f.NoExternalReference && c.ExternalReference != nil,
		f.RequestedFrom != nil && c.RequestedAt.Before(f.RequestedFrom.Time),
		f.RequestedUntil != nil && c.RequestedAt.After(f.RequestedUntil.Time),
		f.RequestedAfter != nil && !c.RequestedAt.After(f.RequestedAfter.Time),
		f.UpdatedAfter != nil && !c.UpdatedAt.After(f.UpdatedAfter.Time),
		f.CompletedBy != nil && (c.CompletedBy == nil || *c.CompletedBy != *f.CompletedBy):
		return false
	}
	return true
}

// all is the scope of everything.
var all = service.Scope{All: true}

// walk reads a whole list page by page.
func walk(t *testing.T, store *sqlstore.Store, f service.CallFilter, size int, backward bool) []service.CallRow {
	t.Helper()
	var rows []service.CallRow
	view(t, store, func(r service.Reader) error {
		part := service.Range{Backward: backward, Limit: size}
		for {
			page, err := r.Calls(f, part)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				return nil
			}
			rows = append(rows, page...)
			last := page[len(page)-1]
			bound := &service.Bound{Position: service.Position{At: last.RequestedAt, UUID: last.UUID}}
			if backward {
				part.Above = bound
			} else {
				part.Below = bound
			}
		}
	})

	return rows
}

// TestDocumentsAreKept shows that a driver does not use the memory of a document again.
func TestDocumentsAreKept(t *testing.T) { each(t, testDocumentsAreKept) }

func testDocumentsAreKept(t *testing.T, database string) {
	store := reopen(t, database)
	rows := calls(50, []apitype.UUID{apitype.NewUUID()})
	update(t, store, func(tx service.Tx) error {
		for i := range rows {
			rows[i].Doc = []byte(`{"uuid":"` + rows[i].UUID.String() + `"}`)
		}
		return insertCalls(tx, rows...)
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

// TestPledgeScope shows that a pledge comes once, seen through any organization, and shows a call only to accounts that
// see it. Spec gap: A3.
func TestPledgeScope(t *testing.T) { each(t, testPledgeScope) }

func testPledgeScope(t *testing.T, database string) {
	store, a, b, c := reopen(t, database), apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()
	update(t, store, func(tx service.Tx) error {
		for _, pair := range [][2]apitype.UUID{{a, a}, {a, b}, {b, a}, {b, b}, {c, a}, {c, c}} {
			person := personRow(apitype.NewUUID(), a)
			row := service.PledgeRow{
				UUID:       apitype.NewUUID(),
				Person:     person.UUID,
				Owner:      pair[0],
				Recruiting: pair[1],
				CreatedAt:  now,
				UpdatedAt:  now,
				ReleasedAt: &now,
				Status:     apitype.PledgeLead,
				Private:    []byte("{}"),
				Doc:        []byte("{}"),
				Rev:        1,
			}
			call := service.CallRow{
				UUID:    apitype.NewUUID(),
				Owner:   a,
				Person:  person.UUID,
				Case:    &row.UUID,
				Private: []byte("{}"),
				Doc:     []byte("{}"),
				Rev:     1,
			}
			if err := errors.Join(tx.InsertPerson(person, nil), tx.InsertPledge(row), tx.InsertCall(call)); err != nil {
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
				view(t, store, func(r service.Reader) error {
					rows, err := r.Pledges(f, service.Range{Limit: 10})
					if len(rows) != test.want {
						t.Errorf("got %d pledges, want %d", len(rows), test.want)
					}
					return err
				})
			}
			for _, f := range []service.CallFilter{
				{WithPledge: true},
				{WithPledgeNumber: true},
				{WithPledge: true, WithPledgeNumber: true},
			} {
				f.Scope, f.Viewer = service.Scope{All: true}, test.scope
				view(t, store, func(r service.Reader) error {
					rows, err := r.Calls(f, service.Range{Limit: 10})
					hidden := slices.DeleteFunc(slices.Clone(rows), func(c service.CallRow) bool {
						return c.PledgeRow != nil
					})
					if len(rows) != 6 || len(rows)-len(hidden) != test.want {
						t.Errorf("got %d calls, %d with their pledge, want 6, %d",
							len(rows), len(rows)-len(hidden), test.want)
					}
					return err
				})
			}
		})
	}
}

func TestSmallTables(t *testing.T) { each(t, testSmallTables) }

func testSmallTables(t *testing.T, database string) {
	store := reopen(t, database)
	account := service.Account{
		UUID:            apitype.NewUUID(),
		Name:            "a",
		Permissions:     []service.Permission{service.CallsRead},
		Scope:           service.Scope{Organizations: []apitype.UUID{apitype.NewUUID()}},
		ExternalSources: []string{"x"},
		CreatedAt:       now,
	}
	organization := service.Organization{
		OrganizationReference: apitype.OrganizationReference{UUID: apitype.NewUUID(), Name: "Ö", Abbreviation: "o"},
		MaxCallAttempts:       new(0), CoolingOff: time.Hour,
	}
	area := service.FocusArea{
		FocusArea:    apitype.FocusArea{UUID: apitype.NewUUID(), Name: "n"},
		Organization: organization.UUID,
	}
	update(t, store, func(tx service.Tx) error {
		return errors.Join(tx.InsertAccount(account), tx.InsertOrganization(organization), tx.InsertFocusArea(area),
			tx.SetSetting("a", "1"), tx.SetSetting("a", "2"))
	})
	update(t, store, func(tx service.Tx) error {
		_, err := tx.InsertRows(service.Rows{
			Signatures: []service.SignatureRow{{Pledge: account.UUID, Content: []byte{0, 1}}},
		})
		return err
	})
	account.RevokedAt = &now
	update(t, store, func(tx service.Tx) error { return tx.UpdateAccount(account) })
	view(t, store, func(r service.Reader) error {
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
		if setting, err := r.Setting("b"); setting != "" || err != nil {
			t.Errorf("got setting %q %v, want none", setting, err)
		}
		if content, err := r.Signature(account.UUID); !slices.Equal(content, []byte{0, 1}) || err != nil {
			t.Errorf("got signature %v %v", content, err)
		}
		for name, missing := range map[string]func() error{
			"account": func() error { _, err := r.Account(area.UUID); return err },
			"call":    func() error { _, err := r.Call(area.UUID, all); return err },
			"person":  func() error { _, err := r.Person(area.UUID, all); return err },
			"pledge":  func() error { _, err := r.Pledge(area.UUID, all); return err },
		} {
			if err := missing(); !errors.Is(err, service.ErrNoRow) {
				t.Errorf("missing %s: got %v, want ErrNoRow", name, err)
			}
		}
		return nil
	})
}

// TestRevisions shows that another writer's change of a row is noticed.
func TestRevisions(t *testing.T) { each(t, testRevisions) }

func testRevisions(t *testing.T, database string) {
	store, row := reopen(t, database), calls(1, []apitype.UUID{apitype.NewUUID()})[0]
	update(t, store, func(tx service.Tx) error { return insertCalls(tx, row) })
	update(t, store, func(tx service.Tx) error { return tx.UpdateCall(row, true) })
	err := try(t, store, func(tx service.Tx) error { return tx.UpdateCall(row, true) })
	if !errors.Is(err, service.ErrNoRow) {
		t.Errorf("got %v for an old revision, want ErrNoRow", err)
	}
	err = try(t, store, func(tx service.Tx) error { return tx.InsertCall(row) })
	if !errors.Is(err, service.ErrExists) {
		t.Errorf("got %v for a second insert, want ErrExists", err)
	}
}

func TestCheckFindsMissingReferences(t *testing.T) { each(t, testCheckFindsMissingReferences) }

func testCheckFindsMissingReferences(t *testing.T, database string) {
	store := reopen(t, database)
	row := calls(1, []apitype.UUID{apitype.NewUUID()})[0]
	person := personOf(row)
	person.Owner = apitype.NewUUID()
	update(t, store, func(tx service.Tx) error { return errors.Join(tx.InsertPerson(person, nil), tx.InsertCall(row)) })
	found, err := store.Check(t.Context())
	want := []string{"persons without their owning organization: 1", "calls without their person: 1"}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

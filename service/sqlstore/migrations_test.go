package sqlstore_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// TestRestoreOfAnEarlierVersion puts a backup of the first version back: it is up to date then,
// with its records and its key, and the backup is as it was.
func TestRestoreOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	folder, source := t.TempDir(), filled(t, 40)
	backup, restored := filepath.Join(folder, "backup.db"), "sqlite:"+filepath.Join(folder, "restored.db")
	seed, err := source.SigningSeed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sqlstore.MakeVersion1(t.Context(), "sqlite:"+backup, source), sqlstore.WriteKey(backup, seed)); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := sqlstore.Restore(t.Context(), backup, restored, nil); err != nil || len(kept) > 0 {
		t.Fatalf("got %v, %v, want nothing kept where nothing was", kept, err)
	}
	store := reopen(t, restored)
	if diff := cmp.Diff(everything(t, source), everything(t, store)); diff != "" {
		t.Errorf("got other answers: %s", diff)
	}
	if got, err := store.SigningSeed(t.Context()); !slices.Equal(got, seed) || err != nil {
		t.Errorf("got another key, %v", err)
	}
	if is, err := os.ReadFile(backup); !slices.Equal(is, was) || err != nil {
		t.Errorf("the backup was changed, %v", err)
	}
}

// TestMigrateRecords brings a database of the first version with records up to date, by
// several programs at once: every answer is what it was, and new records have their place.
func TestMigrateRecords(t *testing.T) { each(t, testMigrateRecords) }

func testMigrateRecords(t *testing.T, database string) {
	source := filled(t, 40)
	if err := sqlstore.MakeVersion1(t.Context(), database, source); err != nil {
		t.Fatal(err)
	}
	options := sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}, NoMigrate: true}
	if store, err := sqlstore.Open(t.Context(), options); err == nil || !strings.Contains(err.Error(), "run fundeskd migrate") {
		t.Fatalf("not to be changed: got %v, %v", store, err)
	}
	var stores [3]*sqlstore.Store
	var group sync.WaitGroup
	for i := range stores {
		group.Go(func() { stores[i] = reopen(t, database) })
	}
	group.Wait()
	if t.Failed() {
		return
	}
	migrated := stores[0]
	seed, err := source.SigningSeed(t.Context())
	if err := errors.Join(err, migrated.SetSeed(t.Context(), seed)); err != nil {
		t.Fatal(err)
	}
	if found, err := migrated.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("check: %v %v", found, err)
	}
	if diff := cmp.Diff(everything(t, source), everything(t, migrated)); diff != "" {
		t.Errorf("got other answers: %s", diff)
	}
	inListOrder(t, migrated)

	s, err := service.New(t.Context(), service.Options{Store: stores[1]})
	if err != nil {
		t.Fatal(err)
	}
	records := manyRecords(20)
	err = s.Load(t.Context(), func(add func(service.LoadRecord) error) (err error) {
		for _, record := range records {
			err = errors.Join(err, add(record))
		}
		return err
	})
	if err != nil {
		t.Errorf("load more: %v", err)
	}
	update(t, migrated, func(tx service.Tx) error {
		return insertCalls(tx, calls(3, []apitype.UUID{records[0].Data.(service.LoadedOrganization).UUID})...)
	})
	if found, err := migrated.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("check with more: %v %v", found, err)
	}
}

// TestMigrateLongTexts brings up to date what the first version kept as it was sent: three texts together
// longer than an entry of an index may be, which are found afterwards.
func TestMigrateLongTexts(t *testing.T) { each(t, testMigrateLongTexts) }

func testMigrateLongTexts(t *testing.T, database string) {
	source := filled(t, 40)
	text := func(seed byte) string { // A thousand characters that nothing makes shorter.
		random := make([]byte, 500)
		_, _ = mathrand.NewChaCha8([32]byte{seed}).Read(random) // It never fails.
		return hex.EncodeToString(random)
	}
	application, reference, status := text(1), text(2), "ä"+text(3)[1:]
	err := source.Execute(t.Context(), fmt.Sprintf(`UPDATE calls SET external_application = '%s', external_reference = '%s', external_status = '%s'
		WHERE uuid = (SELECT uuid FROM calls WHERE external = 1 LIMIT 1)`, application, reference, status))
	if err := errors.Join(err, sqlstore.MakeVersion1(t.Context(), database, source)); err != nil {
		t.Fatal(err)
	}
	migrated := reopen(t, database)
	for _, f := range []service.CallFilter{
		{ExternalApplication: application, ExternalReference: reference},
		{ExternalApplication: application, ExternalReference: reference, ExternalStatus: status},
		{ExternalStatus: status},
	} {
		f.Scope = all
		err := migrated.View(t.Context(), func(r service.Reader) error {
			rows, err := r.Calls(f, service.Range{Limit: 10})
			if len(rows) != 1 {
				t.Errorf("got %d calls, want 1", len(rows))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// everything is what the service answers about all records, in lists and one by one.
func everything(t *testing.T, store *sqlstore.Store) map[string]string {
	t.Helper()
	s, err := service.New(t.Context(), service.Options{Store: store, Now: func() time.Time { return now.Time }})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	keep := func(what string, answer service.Answer, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		answers[what] = fmt.Sprintf("revision %d: %s", answer.Rev, answer.JSON)
	}
	caller := service.Caller{Account: service.Account{Permissions: service.Permissions, Scope: all}, BaseURL: "http://localhost"}
	paging := apitype.Paging{First: new(500)}
	for _, include := range apitype.CallIncludes {
		answer, err := s.ListCalls(t.Context(), caller, apitype.CallListOptions{Paging: paging, Include: []string{include}})
		keep("calls with "+include, answer, err)
	}
	answer, err := s.ListPersons(t.Context(), caller, apitype.PersonListOptions{Paging: paging})
	keep("persons", answer, err)
	answer, err = s.ListPledges(t.Context(), caller, apitype.PledgeListOptions{Paging: paging, Include: []string{apitype.IncludeTransactions}})
	keep("pledges", answer, err)
	// What a migration reads out of stored documents.
	answer, err = s.ListCalls(t.Context(), caller, apitype.CallListOptions{Paging: paging, Statuses: []apitype.CallStatus{apitype.CallExpired}})
	keep("expired calls", answer, err)
	answer, err = s.QueueState(t.Context(), caller, apitype.QueueOptions{})
	keep("queue", answer, err)
	answer, err = s.QueueCalls(t.Context(), caller, apitype.QueueCallListOptions{First: paging.First, QueueOptions: apitype.QueueOptions{QueueFilter: apitype.QueueFilter{Languages: []string{"de"}}}})
	keep("queue by language", answer, err)
	err = store.View(t.Context(), func(r service.Reader) error {
		part := service.Range{Limit: 10_000}
		persons, e := r.Persons(service.PersonFilter{Scope: all}, part)
		pledges, f := r.Pledges(service.PledgeFilter{Scope: all}, part)
		calls, g := r.Calls(service.CallFilter{Scope: all}, part)
		for _, row := range persons {
			answer, err := s.GetPerson(t.Context(), caller, row.UUID)
			keep("person "+row.UUID.String(), answer, err)
		}
		for _, row := range pledges {
			answer, err := s.GetPledge(t.Context(), caller, row.UUID)
			keep("pledge "+row.UUID.String(), answer, err)
		}
		for _, row := range calls {
			answer, err := s.GetCall(t.Context(), caller, row.UUID)
			keep("call "+row.UUID.String(), answer, err)
		}
		return errors.Join(e, f, g)
	})
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// inListOrder looks whether rows were numbered in the order of their list.
func inListOrder(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	tables, err := store.Rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		at := max(slices.Index(table.Columns, "requested_at"), slices.Index(table.Columns, "created_at"))
		if table.Columns[0] != "number" {
			continue
		}
		for i, row := range table.Rows {
			if row[0] != int64(i+1) {
				t.Errorf("%s: got number %v in row %d", table.Table, row[0], i+1)
			}
			if i > 0 && row[at].(int64) < table.Rows[i-1][at].(int64) {
				t.Errorf("%s: row %d is older than the one before", table.Table, i+1)
			}
		}
	}
}

package sqlstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// TestLaterSchema opens and serves a database that a later program has brought up to date: as long
// as that says that this program may, it does, and from then on that it does not, nothing is
// answered.
// Promise S53: a later schema is served where it says so.
func TestLaterSchema(t *testing.T) { each(t, testLaterSchema) }

func testLaterSchema(t *testing.T, database string) {
	store := reopen(t, database)
	version, err := store.Version(t.Context())
	servicetest.Check(t, err)
	if _, err := store.SigningSeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	account := service.Account{UUID: apitype.NewUUID(), Name: "a", Scope: service.Scope{All: true}, CreatedAt: now}
	update(t, store, func(tx service.Tx) error {
		return errors.Join(tx.InsertAccount(account), tx.InsertToken(service.IssuedToken{UUID: account.UUID, Account: account.UUID, IssuedAt: now}))
	})
	later := fmt.Sprintf(`PRAGMA user_version = %d`, version+1)
	if strings.HasPrefix(database, "postgres") {
		later = fmt.Sprintf(`INSERT INTO schema_version VALUES (%d)`, version+1)
	}
	servicetest.Check(t, store.Execute(t.Context(), later))
	unavailable := func(err error) bool {
		refusal, ok := errors.AsType[*service.Error](err)
		return ok && refusal.Kind == service.Unavailable && strings.Contains(refusal.Detail, "later version")
	}
	for _, test := range []struct {
		servedBy int
		serves   bool
	}{{version, true}, {version + 1, false}, {version, true}} {
		update(t, store, func(tx service.Tx) error { return tx.SetSetting("schema-served-by", fmt.Sprint(test.servedBy)) })
		err := store.Read(t.Context(), service.ReadRecord, func(r service.Reader) error {
			_, _, err := r.AccountOfToken(account.UUID, account.UUID)
			return err
		})
		if ping := store.Ping(t.Context()); test.serves != (err == nil && ping == nil) || !test.serves && !(unavailable(err) && unavailable(ping)) {
			t.Errorf("served by programs of version %d: got %v, %v from one of version %d", test.servedBy, err, ping, version)
		}
		for _, inspect := range []bool{false, true} {
			again, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}, Inspect: inspect})
			if err == nil {
				err = again.Close()
			} else if !strings.Contains(err.Error(), "later fundeskd") {
				t.Errorf("got %v, want that a later program made it", err)
			}
			if test.serves != (err == nil) {
				t.Errorf("served by programs of version %d: opened with %v", test.servedBy, err)
			}
		}
	}
	if after, err := store.Version(t.Context()); after != version+1 || err != nil {
		t.Errorf("got version %d, %v, want that it stays %d", after, err, version+1)
	}
}

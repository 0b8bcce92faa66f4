package sqlstore_test

import (
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/privacy"
	"fundesk/service/servicetest"
)

// TestCleaningRemembersWhatIsLeft names an erasure until the table that is too large was rewritten, however often it is
// cleaned. A server that measures its tables in another way stands for one with large tables.
func TestCleaningRemembersWhatIsLeft(t *testing.T) {
	database := onPostgres(t)
	store := reopen(t, database)
	rules, err := service.New(t.Context(), service.Options{Store: store})
	servicetest.Check(t, err)
	p := privacy.New(rules, nil)
	erase := func() string {
		person := apitype.NewUUID()
		update(t, store, func(tx service.Tx) error {
			return tx.InsertPerson(personRow(person, person), nil)
		})
		_, err := p.Erase(t.Context(), person, apitype.EraseRequest{Reason: "asked"})
		servicetest.Check(t, err)
		return person.String()
	}
	clean := func(want ...string) {
		t.Helper()
		_, err := p.Clean(t.Context())
		servicetest.Check(t, err)
		waiting, err := store.Unclean(t.Context())
		servicetest.Check(t, err)
		left := map[string]bool{}
		for name := range waiting {
			left[name] = true
		}
		delete(left, "tables")
		expected := map[string]bool{}
		for _, name := range want {
			expected[name] = true
		}
		servicetest.Same(t, "what is not cleaned", expected, left)
	}
	clean()
	for _, text := range []string{
		`CREATE SCHEMA measured`,
		`CREATE FUNCTION measured.pg_total_relation_size(regclass) RETURNS BIGINT LANGUAGE SQL AS
			'SELECT CASE WHEN $1 = ''calls''::regclass THEN 1073741825 ELSE 1073741824 END'`,
		`DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET search_path = measured, public, pg_catalog'', current_database()); END'`,
	} {
		execute(t, database, text)
	}
	first := erase()
	clean(first)
	clean(first)
	second := erase()
	execute(t, database, `VACUUM FULL calls`)
	clean(second)
	clean(second)
	execute(t, database, `VACUUM FULL calls`)
	clean()
}

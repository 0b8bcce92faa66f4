package sqlstore_test

import (
	"errors"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestWorkOf reads the newest operations of a user on the calls of an organization. Newer ones on other calls take no
// place of theirs.
func TestWorkOf(t *testing.T) { each(t, testWorkOf) }

func testWorkOf(t *testing.T, database string) {
	store := reopen(t, database)
	user, mine, other := apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()
	calls := map[apitype.UUID]apitype.UUID{} // By organization.
	update(t, store, func(tx service.Tx) (err error) {
		for _, owner := range []apitype.UUID{mine, other} {
			person := personRow(apitype.NewUUID(), owner)
			call := service.CallRow{
				UUID:        apitype.NewUUID(),
				Owner:       owner,
				Person:      person.UUID,
				RequestedAt: now,
				Private:     []byte("{}"),
				Doc:         []byte("{}"),
				Rev:         1,
			}
			calls[owner] = call.UUID
			err = errors.Join(err, tx.InsertPerson(person, nil), tx.InsertCall(call))
		}
		for i, owner := range []apitype.UUID{mine, mine, mine, other, other} {
			line := service.AuditLine{
				At:        apitype.NewTime(now.Add(time.Duration(i) * time.Second)),
				Operation: service.AuditCallComplete,
				User:      &user,
				Record:    new(calls[owner]),
			}
			err = errors.Join(err, tx.Audit(line))
		}
		return err
	})
	var got []service.WorkRow
	view(t, store, func(r service.Reader) (err error) {
		scope := service.Scope{Organizations: []apitype.UUID{mine}}
		got, err = r.WorkOf(service.WorkQuery{Scope: scope, User: user, Since: now, Limit: 2})
		return err
	})
	servicetest.Same(t, "the newest two", []service.WorkRow{
		{At: apitype.NewTime(now.Add(2 * time.Second)), Operation: apitype.WorkComplete, Call: calls[mine]},
		{At: apitype.NewTime(now.Add(time.Second)), Operation: apitype.WorkComplete, Call: calls[mine]},
	}, got)
}

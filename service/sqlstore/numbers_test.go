package sqlstore_test

import (
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestRowsNameOthers saves rows together that name others among them, and others that were
// saved one by one before; one that names nobody is refused.
func TestRowsNameOthers(t *testing.T) { each(t, testRowsNameOthers) }

func testRowsNameOthers(t *testing.T, database string) {
	store, owner := reopen(t, database), apitype.NewUUID()
	person := func() service.PersonRow {
		return service.PersonRow{UUID: apitype.NewUUID(), Owner: owner, CreatedAt: now, Doc: []byte("{}"), Rev: 1}
	}
	pledge := func(of service.PersonRow) service.PledgeRow {
		return service.PledgeRow{
			UUID: apitype.NewUUID(), Person: of.UUID, Owner: owner, Recruiting: owner, Status: apitype.PledgeLead,
			CreatedAt: now, UpdatedAt: now, Private: []byte("{}"), Doc: []byte("{}"), Rev: 1,
		}
	}
	call := func(of service.PledgeRow) service.CallRow {
		return service.CallRow{UUID: apitype.NewUUID(), Owner: owner, Person: of.Person, Case: &of.UUID, RequestedAt: now, Private: []byte("{}"), Doc: []byte("{}"), Rev: 1}
	}
	old, fresh := person(), person()
	oldPledge := pledge(old)
	update(t, store, func(tx service.Tx) error { return tx.InsertPerson(person(), nil) })
	update(t, store, func(tx service.Tx) error { return tx.InsertPerson(old, nil) })
	update(t, store, func(tx service.Tx) error { return tx.InsertPledge(oldPledge) })
	pledges := []service.PledgeRow{pledge(fresh), pledge(old)}
	rows := service.Rows{Persons: []service.PersonRow{person(), fresh}, Pledges: pledges}
	named := append([]service.PledgeRow{oldPledge}, pledges...)
	for _, l := range named {
		rows.Calls = append(rows.Calls, call(l))
		rows.Transactions = append(rows.Transactions, service.TransactionRow{UUID: apitype.NewUUID(), Pledge: l.UUID, CreatedAt: now, Doc: []byte("{}")})
	}
	update(t, store, func(tx service.Tx) error {
		taken, err := tx.InsertRows(rows)
		if len(taken) > 0 {
			t.Errorf("got %d taken", len(taken))
		}
		return err
	})
	err := store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		for i, want := range named {
			got, err := r.WholePledge(want.UUID, all, service.AnyWeight)
			if err != nil {
				return err
			}
			if len(got.Calls) != 1 || got.Calls[0].UUID != rows.Calls[i].UUID || len(got.Transactions) != 1 || got.Transactions[0].UUID != rows.Transactions[i].UUID {
				t.Errorf("pledge %d: got calls %+v and transactions %+v", i, got.Calls, got.Transactions)
			}
			if plain, err := r.Pledge(want.UUID, all); plain.Person != want.Person || err != nil {
				t.Errorf("pledge %d: got the person %s, %v, want %s", i, plain.Person, err, want.Person)
			}
		}
		return nil
	})
	servicetest.Check(t, err)
	err = store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
		_, err := tx.InsertRows(service.Rows{Pledges: []service.PledgeRow{pledge(person())}})
		return err
	})
	if err == nil {
		t.Error("got a pledge of nobody")
	}
	if err := store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error { return tx.InsertPledge(pledge(person())) }); err == nil {
		t.Error("got a pledge of nobody by itself")
	}
}

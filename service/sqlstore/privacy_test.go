package sqlstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// An erasure waits for a transaction that makes a record about the person, and finds the record then. Spec gap: S63.
// Promise S63: a creation holds the person that it names.
func TestErasureWaitsForCreations(t *testing.T) {
	database := onPostgres(t)
	store := reopen(t, database)
	person, call := apitype.NewUUID(), apitype.NewUUID()
	update(t, store, func(tx service.Tx) error {
		return tx.InsertPerson(personRow(person, person), nil)
	})
	held, create, created, found := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan int, 1)
	go func() {
		created <- store.Write(context.WithoutCancel(t.Context()), service.WriteIsolated, func(tx service.Tx) error {
			if _, err := tx.PersonToRefer(person, service.Scope{All: true}); err != nil {
				return err
			}
			close(held)
			<-create
			return tx.InsertCall(service.CallRow{
				UUID:        call,
				Owner:       person,
				Person:      person,
				RequestedAt: now,
				UpdatedAt:   now,
				Private:     []byte(`{}`),
				Rev:         1,
				Doc:         []byte(`{"status":"requested"}`),
			})
		})
	}()
	<-held
	go func() {
		calls := -1
		err := store.Write(context.WithoutCancel(t.Context()), service.WriteShared, func(tx service.Tx) error {
			kept, err := tx.LockPersonData(person)
			calls = len(kept.Calls)
			return err
		})
		if err != nil {
			t.Errorf("hold what is kept: %v", err)
		}
		found <- calls
	}()
	connection, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	t.Cleanup(func() { _ = connection.Close(context.Background()) })
	for waits := false; !waits && len(found) == 0; { // An erasure that does not wait has found nothing.
		err := connection.QueryRow(
			t.Context(),
			`SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`,
		).Scan(&waits)
		servicetest.Check(t, err)
	}
	close(create)
	servicetest.Check(t, <-created)
	servicetest.Same(t, "calls of the person", 1, <-found)
}

// An erasure takes the queue's data of a person: the waiting calls, and the last contacts. A lease ends.
// Promise K5: an erasure takes when the person was last rung.
func TestErasureTakesPersonFromQueue(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		store := reopen(t, database)
		person, call := apitype.NewUUID(), apitype.NewUUID()
		kept := func() (kept service.Kept) {
			update(t, store, func(tx service.Tx) (err error) {
				kept, err = tx.LockPersonData(person)
				return err
			})
			return kept
		}
		update(t, store, func(tx service.Tx) error {
			return errors.Join(
				tx.InsertPerson(personRow(person, person), nil),
				tx.InsertCall(service.CallRow{
					UUID:        call,
					Owner:       person,
					Person:      person,
					RequestedAt: now,
					UpdatedAt:   now,
					Private:     []byte(`{}`),
					Rev:         1,
					Doc:         []byte(`{"status":"requested"}`),
				}),
				tx.RecordContact(person, now, nil))
		})
		if before := kept(); before.ContactedAt == nil {
			t.Fatal("it is not known that the person was rung")
		}
		update(t, store, func(tx service.Tx) error { return tx.ErasePerson(person, now) })
		if after := kept(); after.ContactedAt != nil || after.Waiting != 0 || after.ErasedAt == nil {
			t.Errorf("got rung at %v, %d calls that wait, erased at %v, want the erasure alone",
				after.ContactedAt, after.Waiting, after.ErasedAt)
		}
	})
}

// A callback that cannot be given, since the donor opted out, is not due: no take has to look for it.
func TestCallbackThatCannotBeGivenIsNotDue(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		store := reopen(t, database)
		past := apitype.NewTime(now.Add(-time.Hour))
		for _, test := range []struct {
			eligible *apitype.Time
			want     bool
		}{{nil, false}, {new(apitype.NewTime(now.Add(time.Hour))), false}, {&past, true}} {
			person, call := apitype.NewUUID(), apitype.NewUUID()
			update(t, store, func(tx service.Tx) error {
				if err := errors.Join(
					tx.InsertPerson(personRow(person, person), nil),
					tx.InsertCall(service.CallRow{UUID: call, Owner: person, Person: person, RequestedAt: past, UpdatedAt: past, Private: []byte(`{}`), Rev: 1, Doc: []byte(`{"status":"requested"}`)}),
					tx.InsertQueueRow(service.QueueRow{Call: call, Person: person, Owner: person, Type: apitype.CallHappy, RequestedAt: past, DueAt: &past, EligibleAt: test.eligible})); err != nil {
					return err
				}
				query := service.QueueQuery{
					Scope:     service.Scope{All: true},
					User:      &person,
					Now:       now,
					KeptUntil: past,
					Returned:  past,
				}
				got, err := tx.QueueRequest(person, person, query)
				if got.Due != test.want {
					t.Errorf("eligible at %v: got due %t, want %t", test.eligible, got.Due, test.want)
				}
				return err
			})
		}
	})
}

// On PostgreSQL an erasure rewrites a table of up to 1 GiB, and names a larger one. A server that measures its tables
// in another way stands for one with large tables. Spec gap: S62.
func TestLargeTableIsNotWrittenAnew(t *testing.T) {
	database := onPostgres(t)
	store := reopen(t, database)
	for _, text := range []string{
		`CREATE SCHEMA measured`,
		`CREATE FUNCTION measured.pg_total_relation_size(regclass) RETURNS BIGINT LANGUAGE SQL AS
			'SELECT CASE WHEN $1 = ''calls''::regclass THEN 1073741825 ELSE 1073741824 END'`,
		`DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET search_path = measured, public, pg_catalog'', current_database()); END'`,
	} {
		execute(t, database, text)
	}
	done, err := store.Scrub(t.Context())
	servicetest.Check(t, err)
	servicetest.Same(t, "the tables that wait", []string{"calls"}, done.Later)
	want := []string{
		"persons", "pledges", "signatures", "transactions", "queue_calls", "donors",
		"queue_numbers", "consents", "search_persons", "search_terms", "pg_statistic",
	}
	servicetest.Same(t, "the tables that were rewritten", want, done.Rewritten)
}

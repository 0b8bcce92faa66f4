package sqlstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/queue"
	"fundesk/service/servicetest"
)

// A call that is marked as ready and is not, as a process marks it whose time is a little ahead, ends no take in a
// search without end: it is left out, and the next call is given.
func TestTakePassesOverWhatIsNotReady(t *testing.T) { each(t, testTakePassesOverWhatIsNotReady) }

func testTakePassesOverWhatIsNotReady(t *testing.T, database string) {
	h := servicetest.NewOn(t, database)
	organization := h.Organization("A")
	var calls []apitype.UUID
	for _, requested := range []time.Duration{time.Minute, -time.Hour} {
		person := service.LoadedPerson{OwningOrganizationUUID: organization, RecruitingOrganizationUUID: organization}
		person.UUID, person.CreatedAt = apitype.NewUUID(), apitype.NewTime(h.Clock.Now())
		var call service.LoadedCall
		call.UUID, call.PersonUUID = apitype.NewUUID(), person.UUID
		call.Status, call.Type = apitype.CallRequested, apitype.CallVerification
		call.RequestedAt = apitype.NewTime(h.Clock.Now().Add(requested))
		call.LastUpdatedAt = call.RequestedAt
		calls = append(calls, call.UUID)
		h.Load(service.LoadRecord{Kind: service.LoadPerson, Data: person}, service.LoadRecord{Kind: service.LoadCall, Data: call})
	}
	servicetest.Check(t, reopen(t, database).Execute(t.Context(), `UPDATE queue_calls SET ready = 1, eligible_at = 0`))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	caller := service.Caller{Account: h.Account()}
	answer, err := queue.New(h.Service, nil).Take(ctx, caller, apitype.TakeRequest{
		RequestUUID: apitype.NewUUID(),
		UserUUID:    apitype.NewUUID(),
		Count:       new(2),
	})
	servicetest.Check(t, err)
	var taken apitype.Taken
	servicetest.Check(t, apitype.DecodeExact(answer.JSON, &taken))
	if len(taken.Leases) != 1 || taken.Leases[0].CallUUID != calls[1] {
		t.Errorf("got %+v, want the call alone whose time has come", taken.Leases)
	}
}

// A take marks the calls whose time has come, and waits for none that another transaction has locked.
func TestMarkingWaitsForNoLock(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	database := servicetest.EmptyDatabase(t)
	store := reopen(t, database)
	person := apitype.NewUUID()
	past := apitype.NewTime(now.Add(-time.Hour))
	rows := calls(2, []apitype.UUID{person})
	update(t, store, func(tx service.Tx) error { return insertCalls(tx, rows...) })
	for _, row := range rows {
		waiting := service.QueueRow{Call: row.UUID, Person: person, Owner: person, RequestedAt: past, EligibleAt: &past}
		update(t, store, func(tx service.Tx) error { return tx.InsertQueueRow(waiting) })
	}
	other, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	t.Cleanup(func() { _ = other.Close(context.Background()) })
	_, err = other.Exec(t.Context(), `BEGIN; UPDATE queue_calls SET ready = 0 WHERE call_uuid = '`+rows[0].UUID.String()+`'`)
	servicetest.Check(t, err)
	execute(t, database, `DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET lock_timeout = 2000'', current_database()); END'`)
	impatient := reopen(t, database)
	err = impatient.Write(t.Context(), service.WriteShared, func(tx service.Tx) error {
		user := apitype.NewUUID()
		query := service.QueueQuery{Scope: all, User: &user, Now: now}
		_, _, err := tx.OpenQueue(user, user, query, func(string) (*service.FloorRules, error) { return nil, nil }) //nolint:nilnil // No rules.
		return err
	})
	servicetest.Check(t, err)
	await(t, database, `SELECT COUNT(*) = 1 FROM queue_calls WHERE ready = 1`)
}

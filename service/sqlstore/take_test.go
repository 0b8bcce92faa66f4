package sqlstore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/queue"
	"fundesk/service/servicetest"
)

// A process with a clock slightly ahead may mark a call as ready too early. A take does not search for it without end:
// it leaves the call out and gives the next one.
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
		h.Load(service.LoadRecord{Kind: service.LoadPerson, Data: person}, service.LoadRecord{
			Kind: service.LoadCall,
			Data: call,
		})
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

// The last pledge of a donor may end in a transaction beside the creation of the call, so that the row of the call does
// not show it. A take looks at the pledges again, and gives nothing to call whose donor may not be called any more.
// Promise S84: the settings of the organization say who may be called.
func TestTakeLooksAtTheEndOfTheLastPledge(t *testing.T) {
	each(t, testTakeLooksAtTheEndOfTheLastPledge)
}

func testTakeLooksAtTheEndOfTheLastPledge(t *testing.T, database string) {
	h := servicetest.NewOn(t, database)
	organization := h.Organization("A")
	token := h.Token(servicetest.May(append(slices.Clone(service.Permissions), service.SettingsWrite)...))
	send := func(method, path, body string) {
		t.Helper()
		if answer := h.Do(token, method, path, body); answer.Status/100 != 2 {
			t.Fatalf("%s %s: got %d %s", method, path, answer.Status, answer.Body)
		}
	}
	of := fmt.Sprintf(`"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q`, organization, organization)
	for _, ended := range []string{"2020-01-01", "2026-01-01"} {
		person := apitype.NewUUID()
		send("POST", "/api/v1/persons", fmt.Sprintf(`{"uuid":%q,%s}`, person, of))
		send("POST", "/api/v1/pledges", fmt.Sprintf(`{%s,"personUuid":%q,"createdAt":"2015-01-01","startsAt":"2015-01-01",
			"initialDonationInterval":"monthly","initialDonationAmount":5,"recruiterUserUuid":%q,
			"externalSource":{"name":"crm","identifier":%q},"status":"cancelled","cancelledAt":%q}`, of, person, person, ended, ended))
		send("POST", "/api/v1/calls",
			fmt.Sprintf(`{"personUuid":%q,"type":"winback","requestedAt":"2026-11-01T09:00:00Z"}`, person))
	}
	send("PUT", "/fundesk/v1/settings/"+organization.String(), `{"yearsAfterEnd":3}`)
	servicetest.Check(t, reopen(t, database).Execute(t.Context(), `UPDATE queue_calls SET ready = 1, ended_at = NULL`))
	take := h.Do(token, "POST", "/fundesk/v1/queue/take",
		fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"count":2}`, apitype.NewUUID(), apitype.NewUUID()))
	var taken apitype.Taken
	servicetest.Check(t, apitype.DecodeExact(take.Body, &taken))
	if len(taken.Leases) != 1 {
		t.Errorf("got %d calls, want the one of the donor whose pledge has ended this year", len(taken.Leases))
	}
}

// A take marks the calls that have become ready, and waits for none that another transaction has locked.
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
	_, err = other.Exec(t.Context(),
		`BEGIN; UPDATE queue_calls SET ready = 0 WHERE call_uuid = '`+rows[0].UUID.String()+`'`)
	servicetest.Check(t, err)
	execute(t, database,
		`DO 'BEGIN EXECUTE format(''ALTER DATABASE %I SET lock_timeout = 2000'', current_database()); END'`)
	impatient := reopen(t, database)
	err = impatient.Write(t.Context(), service.WriteShared, func(tx service.Tx) error {
		user := apitype.NewUUID()
		query := service.QueueQuery{Scope: all, User: &user, Now: now}
		_, _, err := tx.OpenQueue(user, user, query, func(string) (*service.FloorRules, error) {
			return nil, nil
		}) //nolint:nilnil // No rules.
		return err
	})
	servicetest.Check(t, err)
	await(t, database, `SELECT COUNT(*) = 1 FROM queue_calls WHERE ready = 1`)
}

// One process does the periodic work of the queue at a time. When its session is lost in the middle, or is silent,
// another one does the work at once.
func TestOneProcessTendsTheQueue(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	database := servicetest.PostgresDatabase(t)
	h := servicetest.NewOn(t, database)
	person, past := apitype.NewUUID(), apitype.NewTime(now.Add(-time.Hour))
	row := calls(1, []apitype.UUID{person})[0]
	update(t, h.Store, func(tx service.Tx) error { return insertCalls(tx, row) })
	waiting := service.QueueRow{Call: row.UUID, Person: person, Owner: person, RequestedAt: past, EligibleAt: &past}
	update(t, h.Store, func(tx service.Tx) error { return tx.InsertQueueRow(waiting) })

	leads, ended := make(chan bool), make(chan error)
	killed := make(chan struct{})
	go func() {
		ended <- reopen(t, database).Write(t.Context(), service.WriteShared, func(tx service.Tx) error {
			_, isLeader, err := tx.LeadQueue(apitype.NewTime(h.Clock.Now()), 0)
			leads <- isLeader
			<-killed
			return err
		})
	}()
	if !<-leads {
		t.Fatal("no process leads, and this one may not")
	}
	h.Clock.Advance(time.Minute)
	_, err := h.Service.TendQueue(t.Context())
	servicetest.Check(t, err)
	await(t, database, `SELECT COUNT(*) = 1 FROM queue_calls WHERE ready = 0`)
	execute(t, database, `DO 'BEGIN PERFORM pg_terminate_backend(pid, 10000) FROM pg_locks
		WHERE locktype = ''advisory'' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()); END'`)
	_, err = h.Service.TendQueue(t.Context())
	servicetest.Check(t, err)
	await(t, database, `SELECT COUNT(*) = 1 FROM queue_calls WHERE ready = 1`)
	close(killed)
	if err := <-ended; err == nil {
		t.Error("the process whose session was lost says that it did the work")
	}

	h.Clock.Advance(time.Millisecond) // Too early for another round.
	execute(t, database, `UPDATE queue_calls SET ready = 0`)
	_, err = h.Service.TendQueue(t.Context())
	servicetest.Check(t, err)
	await(t, database, `SELECT COUNT(*) = 1 FROM queue_calls WHERE ready = 0`)
}

package sqlstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// TestLoadBatches loads more than is saved at once. Records name others of earlier batches and of their own, and the
// first bad line is reported from any batch.
// Promise S27: records are loaded in parts.
func TestLoadBatches(t *testing.T) {
	servicetest.Slow(t)
	each(t, testLoadBatches)
}

func testLoadBatches(t *testing.T, database string) {
	store := reopen(t, database)
	s, err := service.New(t.Context(), service.Options{Store: store})
	servicetest.Check(t, err)
	records := manyRecords(10_100)
	load := func(records ...service.LoadRecord) error {
		return servicetest.Load(t.Context(), s, func(add func(service.LoadRecord) error) error {
			for i, record := range records {
				record.Line = i + 1
				if err := add(record); err != nil {
					return err
				}
			}
			return nil
		})
	}
	with := func(at int, record service.LoadRecord) []service.LoadRecord {
		return append(append(append([]service.LoadRecord{}, records[:at]...), record), records[at:]...)
	}
	nobody := records[1].Data.(service.LoadedPerson)
	nobody.OwningOrganizationUUID = apitype.NewUUID()
	tests := []struct {
		name    string
		records []service.LoadRecord
		want    string
	}{
		{"twice in one batch", with(50, records[20]), "line 51: a person with this uuid already exists"},
		{
			name:    "a bad one later in the batch",
			records: append(with(10_080, records[20]), service.LoadRecord{Kind: service.LoadPerson, Data: nobody}),
			want:    "line 10081: a person with this uuid already exists",
		},
		{
			name:    "a bad one earlier in the batch",
			records: with(10_070, service.LoadRecord{Kind: service.LoadPerson, Data: nobody}),
			want:    "line 10071: ",
		},
		{
			name:    "no such person",
			records: with(1, records[len(records)-3]),
			want:    "line 2: the request has values that are not valid: person.uuid names no person",
		},
	}
	for _, test := range tests {
		if err := load(test.records...); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
	if err := store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		organizations, err := r.Organizations()
		if len(organizations) > 0 {
			t.Errorf("got %d organizations of loads that were refused", len(organizations))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	servicetest.Check(t, load(records...))
	if err := load(records[30]); err == nil ||
		!strings.Contains(err.Error(), "line 1: a person with this uuid already exists") {
		t.Errorf("again: got %v", err)
	}
	pledge := records[len(records)-3].Data.(service.LoadedPledge).UUID
	later := service.LoadRecord{
		Kind: service.LoadTransaction,
		Data: service.LoadedTransaction{PledgeUUID: pledge, Transaction: transaction()},
	}
	servicetest.Check(t, load(later))
	// A record of another kind may have the uuid of a person that the batch names after it.
	person := records[2].Data.(service.LoadedPerson).UUID
	twin := service.LoadedCall{
		Call: apitype.Call{
			UUID:        person,
			PersonUUID:  records[1].Data.(service.LoadedPerson).UUID,
			Status:      apitype.CallRequested,
			Type:        apitype.CallHappy,
			RequestedAt: now,
		},
	}
	call := twin
	call.UUID, call.PersonUUID = apitype.NewUUID(), person
	servicetest.Check(t, load(service.LoadRecord{Kind: service.LoadCall, Data: twin}, service.LoadRecord{
		Kind: service.LoadCall,
		Data: call,
	}))
	checkLoaded(t, store, pledge)
}

// TestLoadReadsNoTable loads donors whose only pledge has ended and who have a call. Each is looked up by indexes,
// although the server has no statistics yet. Reading whole tables would make the time grow with the donors' square.
func TestLoadReadsNoTable(t *testing.T) {
	const donors = 1_000
	database := servicetest.EmptyDatabase(t)
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}})
	servicetest.Check(t, err)
	s, err := service.New(t.Context(), service.Options{Store: store})
	servicetest.Check(t, err)
	servicetest.Check(t, servicetest.Load(t.Context(), s, func(add func(service.LoadRecord) error) error {
		for i, record := range endedDonors(donors) {
			record.Line = i + 1
			if err := add(record); err != nil {
				return err
			}
		}
		return nil
	}))
	servicetest.Check(t, store.Close())
	// The last figures of a connection are there when the server has ended it.
	await(t, database, `SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = current_database()`)

	connection, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	defer connection.Close(t.Context())
	var read int
	servicetest.Check(t, connection.QueryRow(t.Context(), `SELECT sum(seq_tup_read) FROM pg_stat_user_tables
		WHERE relname IN ('persons', 'pledges', 'calls', 'queue_calls')`).Scan(&read))
	if read > 20*donors {
		t.Errorf("rows read without an index: got %d, want at most %d", read, 20*donors)
	}
}

// endedDonors returns an organization and persons. Each has a cancelled pledge and a call that waits.
func endedDonors(donors int) []service.LoadRecord {
	sample := manyRecords(donors)
	pledge := sample[len(sample)-3].Data.(service.LoadedPledge)
	call := sample[len(sample)-2].Data.(service.LoadedCall)
	records := sample[:1+donors]
	for _, person := range sample[1 : 1+donors] {
		uuid := person.Data.(service.LoadedPerson).UUID
		pledge.UUID, pledge.PersonUUID, pledge.Status = apitype.NewUUID(), &uuid, apitype.PledgeCancelled
		call.UUID, call.PersonUUID, call.RelatedCaseUUID = apitype.NewUUID(), uuid, nil
		records = append(records,
			service.LoadRecord{Kind: service.LoadPledge, Data: pledge},
			service.LoadRecord{Kind: service.LoadCall, Data: call},
		)
	}
	return records
}

func transaction() apitype.Transaction {
	return apitype.Transaction{
		UUID:      apitype.NewUUID(),
		Amount:    apitype.Cents(500),
		Method:    new(apitype.PaymentQRMethod),
		CreatedAt: now,
	}
}

// manyRecords returns an organization, persons, and at the end a pledge of the first person
// and a call and a transaction of that pledge.
func manyRecords(persons int) []service.LoadRecord {
	organization := apitype.OrganizationReference{UUID: apitype.NewUUID(), Name: "A", Abbreviation: "A"}
	records := []service.LoadRecord{
		{Kind: service.LoadOrganization, Data: service.LoadedOrganization{OrganizationReference: organization}},
	}
	for range persons {
		records = append(records, servicetest.Record(servicetest.NewPerson(organization.UUID, now)))
	}
	first := records[1].Data.(service.LoadedPerson).UUID
	pledge := servicetest.NewPledge(first, organization.UUID, now)
	pledge.Signature = []byte("x")
	call := servicetest.NewCall(first, now)
	call.RelatedCaseUUID = &pledge.UUID
	paid := servicetest.NewTransaction(pledge.UUID, first, now)
	paid.Method = new("direct_debit")
	return append(records, servicetest.Record(pledge), servicetest.Record(call), servicetest.Record(paid))
}

func checkLoaded(t *testing.T, store *sqlstore.Store, pledge apitype.UUID) {
	t.Helper()
	err := store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		row, err := r.WholePledge(pledge, all, service.AnyWeight)
		plain, f := r.Pledge(pledge, all)
		if !plain.PaymentQR || !row.HasSignature {
			t.Errorf("got %+v, want a signed pledge that a payment QR began", plain)
		}
		signature, e := r.Signature(pledge)
		if string(signature) != "x" {
			t.Errorf("got signature %q", signature)
		}
		if len(row.Transactions) != 2 || len(row.Calls) != 1 {
			t.Errorf("got %d transactions and %d calls", len(row.Transactions), len(row.Calls))
		}
		return errors.Join(err, e, f)
	})
	servicetest.Report(t, err)
	if found, err := store.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("check: %v %v", found, err)
	}
}

// TestRowsNameOthers saves rows together that name each other, and earlier ones that were saved singly. A row with an
// unknown name is refused.
func TestRowsNameOthers(t *testing.T) { each(t, testRowsNameOthers) }

func testRowsNameOthers(t *testing.T, database string) {
	store, owner := reopen(t, database), apitype.NewUUID()
	person := func() service.PersonRow {
		return personRow(apitype.NewUUID(), owner)
	}
	pledge := func(of service.PersonRow) service.PledgeRow {
		return service.PledgeRow{
			UUID: apitype.NewUUID(), Person: of.UUID, Owner: owner, Recruiting: owner, Status: apitype.PledgeLead,
			CreatedAt: now, UpdatedAt: now, Private: []byte("{}"), Doc: []byte("{}"), Rev: 1,
		}
	}
	call := func(of service.PledgeRow) service.CallRow {
		return service.CallRow{
			UUID:        apitype.NewUUID(),
			Owner:       owner,
			Person:      of.Person,
			Case:        &of.UUID,
			RequestedAt: now,
			Private:     []byte("{}"),
			Doc:         []byte("{}"),
			Rev:         1,
		}
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
		rows.Transactions = append(rows.Transactions, service.TransactionRow{
			UUID:      apitype.NewUUID(),
			Pledge:    l.UUID,
			CreatedAt: now,
			Doc:       []byte("{}"),
		})
	}
	update(t, store, func(tx service.Tx) error {
		taken, err := tx.InsertRows(rows)
		if len(taken) > 0 {
			t.Errorf("got %d taken", len(taken))
		}
		return err
	})
	view(t, store, func(r service.Reader) error {
		for i, want := range named {
			got, err := r.WholePledge(want.UUID, all, service.AnyWeight)
			if err != nil {
				return err
			}
			if len(got.Calls) != 1 ||
				got.Calls[0].UUID != rows.Calls[i].UUID ||
				len(got.Transactions) != 1 ||
				got.Transactions[0].UUID != rows.Transactions[i].UUID {
				t.Errorf("pledge %d: got calls %+v and transactions %+v", i, got.Calls, got.Transactions)
			}
			if plain, err := r.Pledge(want.UUID, all); plain.Person != want.Person || err != nil {
				t.Errorf("pledge %d: got the person %s, %v, want %s", i, plain.Person, err, want.Person)
			}
		}
		return nil
	})

	err := try(t, store, func(tx service.Tx) error {
		_, err := tx.InsertRows(service.Rows{Pledges: []service.PledgeRow{pledge(person())}})
		return err
	})
	if err == nil {
		t.Error("got a pledge of nobody")
	}
	if err := try(t, store, func(tx service.Tx) error { return tx.InsertPledge(pledge(person())) }); err == nil {
		t.Error("got a pledge of nobody by itself")
	}
}

// Statistics after a load also cover what a search reads: without them, a name takes a hundred times as long.
func TestAnalyzeCoversSearch(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	database := servicetest.EmptyDatabase(t)
	store := reopen(t, database)
	servicetest.Check(t, store.Analyze(t.Context()))
	if !holds(t, database, `SELECT COUNT(*) = 2 FROM pg_class WHERE relname IN ('search_persons', 'search_terms') AND reltuples >= 0`) {
		t.Error("search has no statistics")
	}
}

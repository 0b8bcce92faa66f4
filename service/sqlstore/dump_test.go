package sqlstore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/privacy"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// filled returns an SQLite store with sample data of every table.
func filled(t *testing.T, persons int) *sqlstore.Store {
	t.Helper()
	store := open(t)
	s, err := service.New(t.Context(), service.Options{Store: store})
	servicetest.Check(t, err)
	err = servicetest.Load(t.Context(), s, func(add func(service.LoadRecord) error) error {
		return embedded.Sample(embedded.SampleOptions{Persons: persons, Now: now.Time}, add)
	})
	servicetest.Check(t, err)
	account := service.Account{
		UUID:      apitype.NewUUID(),
		Name:      "a <b> & \"c\"",
		CreatedAt: now,
		Scope:     service.Scope{All: true},
	}
	update(t, store, func(tx service.Tx) error {
		entry := apitype.ProcessedEntry{EntityName: "call", EntityUUID: apitype.NewUUID(), ProcessedAt: now}
		return errors.Join(tx.InsertAccount(account), tx.InsertToken(service.IssuedToken{
			UUID:     account.UUID,
			Account:  account.UUID,
			IssuedAt: now,
		}), tx.Mark(account.UUID, entry), tx.SetSetting("kept", "1"), tx.SetRetention(service.Retention{
			Organization: account.UUID,
			Calls:        new(24),
		}),
			tx.RecordContact(entry.EntityUUID, now, []apitype.UUID{apitype.NewUUID()}),
			tx.CountWork([]service.Work{
				{User: account.UUID, Owner: account.UUID, Attempts: 1, SeenAt: now},
			}), endedLease(tx, now), claim(tx, now))
	})
	return store
}

// dump returns a database as lines.
func dump(t *testing.T, store *sqlstore.Store) string {
	t.Helper()
	var lines bytes.Buffer
	err := store.Dump(t.Context(), func(record service.LoadRecord) error {
		line, err := record.Encode()
		lines.Write(line)
		return err
	})
	servicetest.Check(t, err)
	return lines.String()
}

// loadLines loads lines into a store. With missing it skips existing ones.
func loadLines(t *testing.T, store *sqlstore.Store, lines string, missing bool) error {
	t.Helper()
	s, err := service.New(t.Context(), service.Options{Store: store})
	servicetest.Check(t, err)
	_, err = s.LoadRecords(t.Context(), missing, func(add func(service.LoadRecord) error) error {
		for line := range strings.Lines(lines) {
			record, err := service.DecodeLoadRecord([]byte(line))
			if err == nil {
				err = add(record)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// copied puts everything that a store holds into another one.
func copied(t *testing.T, from, to *sqlstore.Store) {
	t.Helper()
	servicetest.Check(t, loadLines(t, to, dump(t, from), false))
}

// The key of a dump is of the same state as its tokens, also if the key is replaced meanwhile.
func TestDumpDuringARotation(t *testing.T) {
	t.Parallel()
	store := filled(t, 1)
	var lines bytes.Buffer
	err := store.Dump(t.Context(), func(record service.LoadRecord) error {
		if record.Kind == service.LoadKey {
			_, err := service.RotateKey(t.Context(), store, func() time.Time { return now.Time })
			servicetest.Check(t, err)
		}
		line, err := record.Encode()
		lines.Write(line)
		return err
	})
	servicetest.Check(t, err)
	if strings.Contains(lines.String(), string(service.AuditKeyRotate)) {
		t.Error("got the key before a rotation, and the tokens after it")
	}
	if !strings.Contains(dump(t, store), string(service.AuditKeyRotate)) {
		t.Error("got no rotation in the next dump")
	}
}

// withoutLoads returns a dump without the audit's lines about its loads.
func withoutLoads(lines string) []string {
	var all []string
	for line := range strings.Lines(lines) {
		if !strings.Contains(line, `"operation":"load"`) {
			all = append(all, line)
		}
	}
	return all
}

// TestDump moves a database into each engine by its lines, and back: what both hold is the same.
// Promise S24: a dump goes into an empty database.
func TestDump(t *testing.T) {
	servicetest.Slow(t)
	each(t, testDump)
}

func testDump(t *testing.T, database string) {
	source, target := filled(t, 400), reopen(t, database)
	update(t, source, func(tx service.Tx) error { return tx.EraseUnknown(apitype.NewUUID(), now) })
	number := apitype.NewUUID()
	block := service.Block{
		Organization: apitype.NewUUID(),
		Number:       number,
		Person:       apitype.NewUUID(),
		At:           now,
		User:         new(apitype.NewUUID()),
	}
	update(t, source, func(tx service.Tx) error { return tx.InsertBlock(block) })
	consent := apitype.Consent{
		Channel: apitype.ChannelPhone,
		Basis:   apitype.BasisConsent,
		Source:  new("a form"),
		At:      now,
	}
	update(t, source, func(tx service.Tx) error {
		some, err := tx.Calls(service.CallFilter{Scope: service.Scope{All: true}}, service.Range{Limit: 1})
		if err != nil {
			return err
		}
		mark := service.MissingChecks{Call: some[0].UUID, Person: block.Person, CompletedAt: now, Names: "objection"}
		return tx.SetMissingChecks(mark)
	})
	update(t, source, func(tx service.Tx) error { return tx.InsertConsent(block.Person, 1, consent) })
	update(t, source, func(tx service.Tx) error {
		dutch := service.Organization{Settings: &apitype.OrganizationSettings{Country: "NL"}}
		dutch.UUID, dutch.Name, dutch.Abbreviation = apitype.NewUUID(), "N", "N"
		return tx.InsertOrganization(dutch)
	})
	update(t, source, func(tx service.Tx) error {
		return tx.RecordContact(apitype.NewUUID(), now, []apitype.UUID{number})
	})
	update(t, source, func(tx service.Tx) error {
		return tx.SetUserState(service.UserStateRow{
			User:    number,
			Account: number,
			State:   apitype.UserPaused,
			Since:   now,
		})
	})
	update(t, source, func(tx service.Tx) error {
		return tx.SetQueueMessage(service.MessageRow{
			QueueMessage: apitype.QueueMessage{Text: "a", At: now},
			EndsAt:       now,
		})
	})
	// A target that was served once has a key of its own, on which nothing hangs.
	if _, err := target.SigningSeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := dump(t, source)
	for _, table := range sqlstore.Tables() {
		if !strings.Contains(lines, `"table":"`+table+`"`) && service.KindOfTable(table) == service.LoadRow {
			t.Errorf("no row of %s: the test does not fill it", table)
		}
	}
	servicetest.Check(t, loadLines(t, target, lines, false))
	there := dump(t, target)
	servicetest.Same(t, "there", withoutLoads(lines), withoutLoads(there))
	if found, err := target.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("check: %v %v", found, err)
	}
	err := loadLines(t, target, lines, false)
	if err == nil || !strings.Contains(err.Error(), "into an empty database") {
		t.Errorf("a dump into a database in use: got %v, want a refusal", err)
	}
	if err := loadLines(t, target, dump(t, filled(t, 1)), true); err == nil ||
		!strings.Contains(err.Error(), "into an empty database") {
		t.Errorf("the dump of another database: got %v, want a refusal", err)
	}
	// The way back ends at the start.
	again := open(t)
	copied(t, target, again)
	servicetest.Same(t, "there and back again", withoutLoads(lines), withoutLoads(dump(t, again)))
	for _, store := range []*sqlstore.Store{source, target, again} {
		err := store.Read(t.Context(), service.ReadRecord, func(r service.Reader) error {
			at, err := r.NumbersContacted([]apitype.UUID{number}, apitype.NewTime(now.Add(-time.Hour)))
			if err == nil && at == nil {
				t.Error("a number that was called lately is not known any more")
			}
			return err
		})
		servicetest.Check(t, err)
	}
	// New records get numbers of their own.
	update(t, target, func(tx service.Tx) error {
		return insertCalls(tx, calls(3, []apitype.UUID{apitype.NewUUID()})...)
	})
}

// TestUnreleasedDump loads a dump of a program from before the first release: contacts are kept, leases and counts
// are not.
func TestUnreleasedDump(t *testing.T) { eachEmpty(t, testUnreleasedDump) }

func testUnreleasedDump(t *testing.T, database string) {
	person, store := apitype.NewUUID(), reopen(t, database)
	lines, _, _ := strings.Cut(dump(t, open(t)), "\n")
	lines = strings.Replace(lines, `,"hasEnd":true`, "", 1) // Its dumps had no last line.
	for table, values := range map[string]string{
		"queue_rings":   fmt.Sprintf(`{"person_uuid":%q,"rung_at":%d}`, person, now.UnixMilli()),
		"queue_leases":  `{"lease_uuid":"x"}`,
		"queue_work":    `{"done_at":1}`,
		"queue_hours":   `{"hour":1,"what":"taken"}`,
		"queue_numbers": `{"digest":"x","rung_at":1}`,
	} {
		lines += fmt.Sprintf("\n"+`{"kind":"row","data":{"table":%q,"values":%s}}`, table, values)
	}
	unfinished := fmt.Sprintf("\n"+`{"kind":"row","data":{"table":"settings","values":{"name":"erasing-%s","value":""}}}`, person)
	err := loadLines(t, store, lines+unfinished, false)
	if err == nil || !strings.Contains(err.Error(), "an erasure that was not finished") {
		t.Errorf("got %v, want that the unfinished erasure is refused", err)
	}
	servicetest.Check(t, loadLines(t, store, lines, false))
	update(t, store, func(tx service.Tx) error {
		busy, err := tx.BusyPersons([]apitype.UUID{person})
		if len(busy) != 1 {
			t.Errorf("got %v, want the contact of %s", busy, person)
		}
		return err
	})
}

// TestLoadMissing continues a load: it skips existing records, and adds the rest.
func TestLoadMissing(t *testing.T) {
	servicetest.Slow(t)
	each(t, testLoadMissing)
}

func testLoadMissing(t *testing.T, database string) {
	source, target := filled(t, 100), reopen(t, database)
	lines := dump(t, source)
	half := len(lines) / 2
	half += strings.IndexByte(lines[half:], '\n') + 1
	for _, part := range []string{lines[:half], lines, lines} {
		servicetest.Check(t, loadLines(t, target, part, true))
	}
	servicetest.Same(t, "got another database", withoutLoads(lines), withoutLoads(dump(t, target)))

	records, other := manyRecords(20), reopen(t, "sqlite:"+t.TempDir()+"/other.db")
	s, err := service.New(t.Context(), service.Options{Store: other})
	servicetest.Check(t, err)
	feed := func(records []service.LoadRecord) func(func(service.LoadRecord) error) error {
		return func(add func(service.LoadRecord) error) (err error) {
			for _, record := range records {
				err = errors.Join(err, add(record))
			}
			return err
		}
	}
	for _, part := range [][]service.LoadRecord{records[:len(records)/2], records} {
		before := len(withoutLoads(dump(t, other)))
		saved, err := s.LoadRecords(t.Context(), true, feed(part))
		servicetest.Check(t, err)
		// A row of the queue, a signature.
		rows := len(withoutLoads(dump(t, other))) - before - saved[service.LoadCall] - saved[service.LoadPledge]
		n := saved[service.LoadOrganization] + saved[service.LoadPerson] + saved[service.LoadPledge] + saved[service.LoadCall] + saved[service.LoadTransaction]
		if n != rows {
			t.Errorf("got %v, want the %d records that were not there", saved, rows)
		}
	}
	whole := reopen(t, "sqlite:"+t.TempDir()+"/whole.db")
	s, err = service.New(t.Context(), service.Options{Store: whole})
	if err == nil {
		err = servicetest.Load(t.Context(), s, feed(records))
	}
	servicetest.Check(t, err)
	if got, want := len(withoutLoads(dump(t, other))), len(withoutLoads(dump(t, whole))); got != want {
		t.Errorf("got %d rows, want %d as of one load", got, want)
	}
	if err := servicetest.Load(t.Context(), s, feed(records)); err == nil {
		t.Error("records that are there were loaded")
	}
}

// TestLoadOfACutDump loads a dump without its last lines, as a broken pipe leaves it. Each line that is there is whole,
// and the load is refused all the same.
func TestLoadOfACutDump(t *testing.T) {
	t.Parallel()
	source, target := filled(t, 2), open(t)
	lines := dump(t, source)
	for _, cut := range []string{lines[:len(lines)/2], lines[:len(lines)-1]} {
		whole := cut[:strings.LastIndexByte(cut, '\n')+1]
		err := loadLines(t, target, whole, false)
		if err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%d of %d bytes: got the error %v, want that the dump is cut short", len(whole), len(lines), err)
		}
	}
	servicetest.Check(t, loadLines(t, target, lines, false))
}

// TestLoadMissingAfterAnErasure loads a dump once more after a donor of it was erased. It would bring back the donor's
// waiting call, which no agent can be given, so the load is refused and changes nothing.
// Promise S24: a dump goes on only in a database that was not changed since.
func TestLoadMissingAfterAnErasure(t *testing.T) {
	each(t, testLoadMissingAfterAnErasure)
}

func testLoadMissingAfterAnErasure(t *testing.T, database string) {
	target := reopen(t, database)
	lines := dump(t, filled(t, 50))
	servicetest.Check(t, loadLines(t, target, lines, true))
	rules, err := service.New(t.Context(), service.Options{Store: target})
	servicetest.Check(t, err)
	erasures := privacy.New(rules, nil)
	_, err = erasures.Erase(t.Context(), waitingPerson(t, lines), apitype.EraseRequest{Reason: "request 17"})
	servicetest.Check(t, err)
	erased := dump(t, target)

	err = loadLines(t, target, lines, true)

	if service.KindOf(err) != service.Conflict {
		t.Errorf("got the error %v, want a conflict", err)
	}
	servicetest.Same(t, "got another database", withoutLoads(erased), withoutLoads(dump(t, target)))
}

// waitingPerson returns a person of a dump who has a waiting call.
func waitingPerson(t *testing.T, lines string) apitype.UUID {
	t.Helper()
	var person apitype.UUID
	for line := range strings.Lines(lines) {
		record, err := service.DecodeLoadRecord([]byte(line))
		servicetest.Check(t, err)
		row, _ := record.Data.(service.LoadedRow)
		if row.Table == "queue_calls" {
			servicetest.Check(t, json.Unmarshal(row.Values["person_uuid"], &person))
			return person
		}
	}
	t.Fatal("no call waits")
	return person
}

func claim(tx service.Tx, now apitype.Time) error {
	lease := apitype.Lease{LeaseUUID: apitype.NewUUID(), TakenAt: now, ExpiresAt: apitype.NewTime(now.Add(time.Minute))}
	_, _, err := tx.Claim([]service.LeaseRow{{Lease: lease, Person: apitype.NewUUID(), Request: apitype.NewUUID()}})
	return err
}

// endedLease leaves a lease that has ended by time.
func endedLease(tx service.Tx, now apitype.Time) error {
	if err := claim(tx, apitype.NewTime(now.Add(-time.Hour))); err != nil {
		return err
	}
	_, err := tx.LogExpired(now, 1)
	return err
}

package sqlstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// TestLightRecords reads a call and its pledge inside a change: where all changes are made by one
// connection, and no more than 64 KiB of documents belong to them, they are what anybody reads
// afterwards; else others would wait, and nothing is read. Spec gap: S32.
func TestLightRecords(t *testing.T) { each(t, testLightRecords) }

func testLightRecords(t *testing.T, database string) {
	store := reopen(t, database)
	for _, c := range []struct {
		name                   string
		person, pledge, call   int // How many bytes more their documents have.
		call2                  int // Of another call of the pledge.
		lightCall, lightPledge bool
	}{
		{name: "little", lightCall: true, lightPledge: true},
		{name: "a person who can just be read", person: 65536 - 3*2, lightCall: true, lightPledge: true},
		{name: "a heavy person", person: 65536 - 2*2 + 1},
		{name: "a call that is counted twice", call: 32768 - 3, lightCall: true, lightPledge: true},
		{name: "a heavy call", call: 65536},
		{name: "another call that can just be read", call2: 65536 - 3*2, lightCall: true, lightPledge: true},
		{name: "a heavy other call", call2: 65536 - 3*2 + 1},
		{name: "a heavy pledge", pledge: 65536},
	} {
		call, pledge := saveLight(t, store, c.person, c.pledge, c.call, c.call2)
		alone := strings.HasPrefix(database, "sqlite:")
		var light *service.WholeCall
		var seenPledge *service.WholePledge
		err := store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) (err error) {
			if light, err = tx.WholeCall(call, all, service.LightOnly); err != nil {
				return err
			}
			seenPledge, err = tx.WholePledge(pledge, all, service.LightOnly)
			return err
		})
		servicetest.Check(t, err)
		err = store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
			whole, err := r.WholeCall(call, all, service.AnyWeight)
			if err != nil {
				return err
			}
			wholePledge, err := r.WholePledge(pledge, all, service.AnyWeight)
			checkLight(t, c.name+": the call", light, whole, alone && c.lightCall)
			checkLight(t, c.name+": the pledge", seenPledge, wholePledge, alone && c.lightPledge)
			return err
		})
		servicetest.Check(t, err)
	}
}

func checkLight[T any](t *testing.T, name string, light, whole *T, want bool) {
	t.Helper()
	switch {
	case (light != nil) != want:
		t.Errorf("%s: was read: %v, want %v", name, light != nil, want)
	case light != nil:
		if diff := cmp.Diff(whole, light); diff != "" {
			t.Errorf("%s, beside what is read afterwards:\n%s", name, diff)
		}
	}
}

// saveLight saves a person, a pledge and two calls of it, whose documents have so many bytes more.
func saveLight(t *testing.T, store *sqlstore.Store, person, pledge, call, call2 int) (saved, of apitype.UUID) {
	t.Helper()
	doc := func(more int) []byte { return []byte("{" + strings.Repeat(" ", more) + "}") }
	owner := apitype.NewUUID()
	donor := service.PersonRow{UUID: apitype.NewUUID(), Owner: owner, CreatedAt: now, Doc: doc(person), Rev: 1}
	l := service.PledgeRow{
		UUID: apitype.NewUUID(), Person: donor.UUID, Owner: owner, Recruiting: owner, Status: apitype.PledgeLead,
		CreatedAt: now, UpdatedAt: now, Private: []byte("{}"), Doc: doc(pledge), Rev: 1,
	}
	row := func(more int) service.CallRow {
		return service.CallRow{UUID: apitype.NewUUID(), Owner: owner, Person: donor.UUID, Case: &l.UUID, RequestedAt: now, Private: []byte("{}"), Doc: doc(more), Rev: 1}
	}
	first, second := row(call), row(call2)
	err := store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
		return errors.Join(tx.InsertPerson(donor, nil), tx.InsertPledge(l), tx.InsertCall(first), tx.InsertCall(second))
	})
	servicetest.Check(t, err)
	return first.UUID, l.UUID
}

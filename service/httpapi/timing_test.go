package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// watched is a store that notes which rows it is asked for, of what kind and in which
// order.
type watched struct {
	service.Store
	asked []string
}

// Read notes what is read.
func (s *watched) Read(ctx context.Context, mode service.ReadMode, read func(service.Reader) error) error {
	what := "ask"
	if mode == service.ReadSnapshot {
		what = "view"
	}
	s.asked = append(s.asked, what)
	return s.Store.Read(ctx, mode, func(r service.Reader) error { return read(watchedReader{r, s}) })
}

// Write notes what is read and written.
func (s *watched) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	s.asked = append(s.asked, "update")
	return s.Store.Write(ctx, mode, func(tx service.Tx) error { return change(watchedTx{tx, watchedReader{tx, s}}) })
}

type watchedReader struct {
	service.Reader
	store *watched
}

func (r watchedReader) note(what string) { r.store.asked = append(r.store.asked, what) }

// Person is noted.
func (r watchedReader) Person(id apitype.UUID, scope service.Scope) (service.PersonRow, error) {
	r.note("person")
	return r.Reader.Person(id, scope)
}

// Call is noted.
func (r watchedReader) Call(id apitype.UUID, scope service.Scope) (service.CallRow, error) {
	r.note("call")
	return r.Reader.Call(id, scope)
}

// Pledge is noted.
func (r watchedReader) Pledge(id apitype.UUID, scope service.Scope) (service.PledgeRow, error) {
	r.note("pledge")
	return r.Reader.Pledge(id, scope)
}

// Transaction is noted.
func (r watchedReader) Transaction(id apitype.UUID, scope service.Scope) (service.TransactionRow, error) {
	r.note("transaction")
	return r.Reader.Transaction(id, scope)
}

// Transactions is noted.
func (r watchedReader) Transactions(pledges []int64) (map[int64][]service.TransactionRow, error) {
	r.note("transactions")
	return r.Reader.Transactions(pledges)
}

// Organization is noted.
func (r watchedReader) Organization(id apitype.UUID) (service.Organization, error) {
	r.note("organization")
	return r.Reader.Organization(id)
}

// FocusArea is noted.
func (r watchedReader) FocusArea(id apitype.UUID) (service.FocusArea, error) {
	r.note("focus area")
	return r.Reader.FocusArea(id)
}

// Persons is noted.
func (r watchedReader) Persons(f service.PersonFilter, part service.Range) ([]service.PersonRow, error) {
	r.note("persons")
	return r.Reader.Persons(f, part)
}

// Calls is noted.
func (r watchedReader) Calls(f service.CallFilter, part service.Range) ([]service.CallRow, error) {
	r.note("calls")
	return r.Reader.Calls(f, part)
}

// WholeCall is noted.
func (r watchedReader) WholeCall(id apitype.UUID, scope service.Scope, w service.Weight) (*service.WholeCall, error) {
	r.note(fmt.Sprint("whole call ", w))
	return r.Reader.WholeCall(id, scope, w)
}

// WholePledge is noted.
func (r watchedReader) WholePledge(id apitype.UUID, scope service.Scope, w service.Weight) (*service.WholePledge, error) {
	r.note(fmt.Sprint("whole pledge ", w))
	return r.Reader.WholePledge(id, scope, w)
}

// Pledges is noted.
func (r watchedReader) Pledges(f service.PledgeFilter, part service.Range) ([]service.PledgeRow, error) {
	r.note("pledges")
	return r.Reader.Pledges(f, part)
}

// watchedTx notes what it reads; what it writes was allowed.
type watchedTx struct {
	service.Tx
	reads watchedReader
}

// Person is noted.
func (tx watchedTx) Person(id apitype.UUID, scope service.Scope) (service.PersonRow, error) {
	return tx.reads.Person(id, scope)
}

// Call is noted.
func (tx watchedTx) Call(id apitype.UUID, scope service.Scope) (service.CallRow, error) {
	return tx.reads.Call(id, scope)
}

// Pledge is noted.
func (tx watchedTx) Pledge(id apitype.UUID, scope service.Scope) (service.PledgeRow, error) {
	return tx.reads.Pledge(id, scope)
}

// Transaction is noted.
func (tx watchedTx) Transaction(id apitype.UUID, scope service.Scope) (service.TransactionRow, error) {
	return tx.reads.Transaction(id, scope)
}

// Organization is noted.
func (tx watchedTx) Organization(id apitype.UUID) (service.Organization, error) {
	return tx.reads.Organization(id)
}

// FocusArea is noted.
func (tx watchedTx) FocusArea(id apitype.UUID) (service.FocusArea, error) {
	return tx.reads.FocusArea(id)
}

// watch puts a watched store below the world's handler.
func (w *world) watch(t testing.TB) *watched {
	t.Helper()
	store := &watched{Store: w.Store}
	s, err := service.New(t.Context(), service.Options{Store: store, Now: w.Clock.Now})
	servicetest.Check(t, err)
	w.Handler = httpapi.New(httpapi.Options{Service: s, Now: w.Clock.Now})
	return store
}

// TestTimingTellsNothing shows that a foreign record costs the same reads as an unknown
// one, in the same order, so that how long an answer takes does not tell them apart.
func TestTimingTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := w.watch(t)
	for _, o := range w.onRecords() {
		asked := func(of owned) []string {
			store.asked = nil
			o.send(of)
			return store.asked
		}
		if diff := cmp.Diff(asked(nobody()), asked(w.b)); diff != "" {
			t.Errorf("%s: a foreign record is read unlike an unknown one: %s", o.name, diff)
		}
	}
}

// TestReadsAreOneQuestion shows that a request which reads asks the store for the account
// and once more: on PostgreSQL each question is a round trip.
func TestReadsAreOneQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := w.watch(t)
	for _, test := range []struct{ path, want string }{
		{"/api/v1/persons/" + w.a.person.String(), "person"},
		{"/api/v1/calls/" + w.a.call.String(), "whole call 1"},
		{"/api/v1/pledges/" + w.a.pledge.String(), "whole pledge 1"},
		{"/api/v1/persons?first=1", "persons"},
		{"/api/v1/calls?first=1&include=person,pledge", "calls"},
		{"/api/v1/calls?first=1&after=" + w.cursor("calls"), "calls"},
		{"/api/v1/calls?last=1&before=" + w.cursor("calls?last=1"), "calls"},
		{"/api/v1/pledges?first=1&after=" + w.cursor("pledges"), "pledges"},
	} {
		store.asked = nil
		if got := w.Do(w.all, "GET", test.path, ""); got.Status != http.StatusOK {
			t.Errorf("%s: got %d", test.path, got.Status)
		}
		servicetest.Same(t, test.path, []string{"ask", "ask", test.want}, store.asked)
	}
}

// cursor is the start of a list, so that a page after or before it has a record.
func (w *world) cursor(list string) string {
	page := w.Do(w.all, "GET", "/api/v1/"+list, "").Object()
	return page["pageInfo"].(map[string]any)["startCursor"].(string)
}

package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
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

// Person notes the read.
func (r watchedReader) Person(id apitype.UUID, scope service.Scope) (service.PersonRow, error) {
	r.note("person")
	return r.Reader.Person(id, scope)
}

// Call notes the read.
func (r watchedReader) Call(id apitype.UUID, scope service.Scope) (service.CallRow, error) {
	r.note("call")
	return r.Reader.Call(id, scope)
}

// Pledge notes the read.
func (r watchedReader) Pledge(id apitype.UUID, scope service.Scope) (service.PledgeRow, error) {
	r.note("pledge")
	return r.Reader.Pledge(id, scope)
}

// Transaction notes the read.
func (r watchedReader) Transaction(id apitype.UUID, scope service.Scope) (service.TransactionRow, error) {
	r.note("transaction")
	return r.Reader.Transaction(id, scope)
}

// Transactions notes the read.
func (r watchedReader) Transactions(pledges []int64) (map[int64][]service.TransactionRow, error) {
	r.note("transactions")
	return r.Reader.Transactions(pledges)
}

// Organization notes the read.
func (r watchedReader) Organization(id apitype.UUID) (service.Organization, error) {
	r.note("organization")
	return r.Reader.Organization(id)
}

// FocusArea notes the read.
func (r watchedReader) FocusArea(id apitype.UUID) (service.FocusArea, error) {
	r.note("focus area")
	return r.Reader.FocusArea(id)
}

// Persons notes the read.
func (r watchedReader) Persons(f service.PersonFilter, part service.Range) ([]service.PersonRow, error) {
	r.note("persons")
	return r.Reader.Persons(f, part)
}

// Calls notes the read.
func (r watchedReader) Calls(f service.CallFilter, part service.Range) ([]service.CallRow, error) {
	r.note("calls")
	return r.Reader.Calls(f, part)
}

// WholeCall notes the read.
func (r watchedReader) WholeCall(id apitype.UUID, scope service.Scope, w service.Weight) (*service.WholeCall, error) {
	r.note(fmt.Sprint("whole call ", w))
	return r.Reader.WholeCall(id, scope, w)
}

// WholePledge notes the read.
func (r watchedReader) WholePledge(
	id apitype.UUID,
	scope service.Scope,
	w service.Weight,
) (*service.WholePledge, error) {
	r.note(fmt.Sprint("whole pledge ", w))
	return r.Reader.WholePledge(id, scope, w)
}

// Pledges notes the read.
func (r watchedReader) Pledges(f service.PledgeFilter, part service.Range) ([]service.PledgeRow, error) {
	r.note("pledges")
	return r.Reader.Pledges(f, part)
}

// watchedTx notes what it reads; what it writes was allowed.
type watchedTx struct {
	service.Tx
	reads watchedReader
}

// Person notes the read.
func (tx watchedTx) Person(id apitype.UUID, scope service.Scope) (service.PersonRow, error) {
	return tx.reads.Person(id, scope)
}

// Call notes the read.
func (tx watchedTx) Call(id apitype.UUID, scope service.Scope) (service.CallRow, error) {
	return tx.reads.Call(id, scope)
}

// Pledge notes the read.
func (tx watchedTx) Pledge(id apitype.UUID, scope service.Scope) (service.PledgeRow, error) {
	return tx.reads.Pledge(id, scope)
}

// Transaction notes the read.
func (tx watchedTx) Transaction(id apitype.UUID, scope service.Scope) (service.TransactionRow, error) {
	return tx.reads.Transaction(id, scope)
}

// Organization notes the read.
func (tx watchedTx) Organization(id apitype.UUID) (service.Organization, error) {
	return tx.reads.Organization(id)
}

// FocusArea notes the read.
func (tx watchedTx) FocusArea(id apitype.UUID) (service.FocusArea, error) {
	return tx.reads.FocusArea(id)
}

// watch puts a watched store below the world's handler.
func (w *world) watch(t testing.TB) *watched {
	t.Helper()
	store := &watched{Store: w.Store}
	w.Serve(w.On(store))
	return store
}

// TestTimingTellsNothing shows that a foreign record costs the same reads as an unknown one, in the same order. So the
// time of an answer does not tell them apart.
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
		servicetest.Same(t, o.name+": a foreign record is read unlike an unknown one", asked(unknownRecords()),
			asked(w.b))
	}
}

// TestReadsAreOneQuestion shows that a request which reads asks the store for the account
// and once more: on PostgreSQL each question is a round trip.
func TestReadsAreOneQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store := w.watch(t)
	for _, test := range []struct{ path, want string }{
		{personPath(w.a.person), "person"},
		{callPath(w.a.call), "whole call 1"},
		{pledgePath(w.a.pledge), "whole pledge 1"},
		{"/api/v1/persons?first=1", "persons"},
		{"/api/v1/calls?first=1&include=person,pledge", "calls"},
		{"/api/v1/calls?first=1&after=" + w.cursor("calls"), "calls"},
		{"/api/v1/calls?last=1&before=" + w.cursor("calls?last=1"), "calls"},
		{"/api/v1/pledges?first=1&after=" + w.cursor("pledges"), "pledges"},
	} {
		store.asked = nil
		w.Want(http.StatusOK, w.all, "GET", test.path, "")
		servicetest.Same(t, test.path, []string{"ask", "ask", test.want}, store.asked)
	}
}

// cursor is the start of a list, so that a page after or before it has a record.
func (w *world) cursor(list string) string {
	page := w.get("/api/v1/" + list).Object()
	return page["pageInfo"].(map[string]any)["startCursor"].(string)
}

// paced is the service under a clock that moves while all callers rest.
type paced struct {
	handler http.Handler
	tokens  map[string]string
	person  apitype.UUID
	calls   []apitype.UUID // That wait, all of this person.
}

func newPaced(t *testing.T, database string) *paced {
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: database})
	servicetest.Check(t, err)
	t.Cleanup(func() {
		servicetest.Report(t, store.Close())
	})
	s, err := service.New(t.Context(), service.Options{Store: store})
	servicetest.Check(t, err)
	p := &paced{handler: httpapi.New(httpapi.Options{Service: s}), tokens: map[string]string{}}
	for _, name := range []string{"agents", "greedy"} {
		account, err := s.AddAccount(t.Context(), service.Account{
			Name:        name,
			Permissions: service.Permissions,
			Scope:       service.Scope{All: true},
		})
		servicetest.Check(t, err)
		p.tokens[name], _, err = s.IssueToken(t.Context(), account.UUID, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
	}
	o, err := s.AddOrganization(t.Context(), service.Organization{
		OrganizationReference: apitype.OrganizationReference{Name: "A", Abbreviation: "A"},
	})
	servicetest.Check(t, err)
	person := servicetest.NewPerson(o.UUID, apitype.NewTime(time.Now()))
	p.person = person.UUID
	records := []service.LoadRecord{servicetest.Record(person)}
	for range 128 {
		call := servicetest.NewCall(person.UUID, person.CreatedAt)
		p.calls, records = append(p.calls, call.UUID), append(records, servicetest.Record(call))
	}
	err = servicetest.Load(t.Context(), s, func(add func(service.LoadRecord) error) error {
		for _, record := range records {
			err = errors.Join(err, add(record))
		}
		return err
	})
	servicetest.Check(t, err)
	return p
}

// do sends a request, and returns its time.
func (p *paced) do(ctx context.Context, name, method, path, body string) (status, size int, took time.Duration) {
	request := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+p.tokens[name])
	request.Header.Set("Content-Type", "application/json")
	answer, begun := httptest.NewRecorder(), time.Now()
	p.handler.ServeHTTP(answer, request)
	return answer.Code, answer.Body.Len(), time.Since(begun)
}

// While others work, the bodies and answers of an account from 64 KiB on are paced at 32 MiB a second. Only that
// account waits. Alone it does not wait. Spec gap: S32.
// Promise S32: large bodies and answers of an account are paced while others are at work.
func TestHeavyRequestsArePaced(t *testing.T) {
	t.Parallel()
	database := servicetest.NewFile(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPaced(t, database)
		const mark, persons = "/api/v1/entity-access/actions/mark-processed", "/api/v1/persons"
		heavyBody := strings.Repeat("x", 64<<10) // Refused at its first byte.
		heavyAnswer := `{"entries":[` + strings.Repeat(`{"entityUuid":"x"},`, 999) + `{}]}`
		send := func(name, path, body string, times int) (bytes int, took time.Duration) {
			t.Helper()
			for range times {
				status, size, one := p.do(t.Context(), name, "POST", path, body)
				if status != http.StatusBadRequest {
					t.Fatalf("%s: got %d, want 400", path, status)
				}
				bytes, took = bytes+size, took+one
			}
			return bytes, took
		}
		if _, took := send("greedy", persons, heavyBody, 65); took != 0 {
			t.Errorf("alone: got %v for 65 bodies of 64 KiB, want no pause", took)
		}
		work := func() {
			t.Helper()
			status, _, took := p.do(t.Context(), "agents", "GET", "/fundesk/v1", "")
			if status != http.StatusOK || took != 0 {
				t.Errorf("agents: got %d after %v, want 200 at once", status, took)
			}
		}
		work()
		if _, took := send("greedy", persons, heavyBody, 65); took != 125*time.Millisecond {
			t.Errorf("beside others: got %v for 65 bodies of 64 KiB, want 125ms", took)
		}
		work()
		lighter := strings.Replace(heavyBody, "x", "", 1)
		for _, body := range []string{`{}`, lighter} {
			if _, took := send("greedy", persons, body, 65); took != 0 {
				t.Errorf("got %v for 65 bodies of %d bytes, which is not heavy, want no pause", took, len(body))
			}
		}
		time.Sleep(time.Second)
		bytes, took := send("greedy", mark, heavyAnswer, 10)
		if took < time.Duration(bytes)*9/10*time.Second/(32<<20)-time.Millisecond || took > time.Second {
			t.Errorf("got %v for 10 answers of %d bytes together, want 32 MiB a second", took, bytes)
		}
		time.Sleep(time.Second)
		if _, took := send("greedy", persons, heavyBody, 1); took != 0 {
			t.Errorf("got %v after a second, want no pause", took)
		}
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, leave)
		if status, _, took := p.do(ctx, "greedy", "POST", persons, heavyBody); status != 499 ||
			took != time.Millisecond {
			t.Errorf("got %d after %v for a caller who left while it was paced, want 499, which is not a failure of the service, at once", status, took)
		}
		time.Sleep(6 * time.Second)
		if _, took := send("greedy", persons, heavyBody, 65); took != 0 {
			t.Errorf("when others have gone: got %v for 65 bodies of 64 KiB, want no pause", took)
		}
	})
}

// All agents of a call centre share an account. After the heavy record of one of them, the others read
// their light ones, by the same route, without a pause. Spec gap: S32.
func TestHeavyAnswerDoesNotSlowColleagues(t *testing.T) {
	t.Parallel()
	database := servicetest.NewFile(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPaced(t, database)
		heavy := apitype.NewUUID().String()
		body := fmt.Sprintf(`{"uuid":%q,"personUuid":%q,"type":"winback","requestedAt":"2026-01-01","notes":%q}`,
			heavy, p.person, strings.Repeat("😀", 20_000))
		read := func(name, call string) (took time.Duration) {
			t.Helper()
			status, _, took := p.do(t.Context(), name, "GET", "/api/v1/calls/"+call, "")
			if status != http.StatusOK {
				t.Fatalf("got %d, want 200", status)
			}
			return took
		}
		if status, _, _ := p.do(t.Context(), "greedy", "POST", "/api/v1/calls", body); status != http.StatusCreated {
			t.Fatalf("got %d, want 201", status)
		}
		read("agents", p.calls[0].String())
		for range 40 {
			read("greedy", heavy)
		}
		if took := read("greedy", heavy); took == 0 {
			t.Error("got no pause for the next heavy answer, want it to be paced")
		}
		for _, call := range p.calls {
			servicetest.Same(t, "a colleague's light call", time.Duration(0), read("greedy", call.String()))
		}
	})
}

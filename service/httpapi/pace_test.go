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

// paced is the service under a clock that moves when nobody has anything to do.
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
		account, err := s.AddAccount(t.Context(), service.Account{Name: name, Permissions: service.Permissions, Scope: service.Scope{All: true}})
		servicetest.Check(t, err)
		if p.tokens[name], _, err = s.IssueToken(t.Context(), account.UUID, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	o, err := s.AddOrganization(t.Context(), service.Organization{OrganizationReference: apitype.OrganizationReference{Name: "A", Abbreviation: "A"}})
	servicetest.Check(t, err)
	person := service.LoadedPerson{OwningOrganizationUUID: o.UUID, RecruitingOrganizationUUID: o.UUID}
	person.UUID, person.CreatedAt = apitype.NewUUID(), apitype.NewTime(time.Now())
	p.person = person.UUID
	records := []service.LoadRecord{{Kind: service.LoadPerson, Data: person}}
	for range 128 {
		var call service.LoadedCall
		call.UUID, call.PersonUUID, call.Status, call.Type = apitype.NewUUID(), person.UUID, apitype.CallRequested, apitype.CallVerification
		call.RequestedAt, call.LastUpdatedAt = person.CreatedAt, person.CreatedAt
		p.calls, records = append(p.calls, call.UUID), append(records, service.LoadRecord{Kind: service.LoadCall, Data: call})
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

// do asks for something, and is how long that took.
func (p *paced) do(ctx context.Context, name, method, path, body string) (status, size int, took time.Duration) {
	request := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+p.tokens[name])
	request.Header.Set("Content-Type", "application/json")
	answer, begun := httptest.NewRecorder(), time.Now()
	p.handler.ServeHTTP(answer, request)
	return answer.Code, answer.Body.Len(), time.Since(begun)
}

// While others are at work, the bodies and answers of an account from 64 KiB on are 32 MiB a
// second: it waits, and nobody else does. Alone it waits for nothing. Spec gap: S32.
// Promise S32: large bodies and answers of an account are paced while others are at work.
func TestHeavyRequestsArePaced(t *testing.T) {
	t.Parallel()
	database := servicetest.NewFile(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPaced(t, database)
		const mark, persons = "/api/v1/entity-access/actions/mark-processed", "/api/v1/persons"
		heavyBody := `{"academicTitle":"` + strings.Repeat("x", 64<<10-20) + `"}`
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
			if status, _, took := p.do(t.Context(), "agents", "GET", "/fundesk/v1", ""); status != http.StatusOK || took != 0 {
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
		if bytes, took := send("greedy", mark, heavyAnswer, 10); took < time.Duration(bytes)*9/10*time.Second/(32<<20)-time.Millisecond || took > time.Second {
			t.Errorf("got %v for 10 answers of %d bytes together, want 32 MiB a second", took, bytes)
		}
		time.Sleep(time.Second)
		if _, took := send("greedy", persons, heavyBody, 1); took != 0 {
			t.Errorf("got %v after a second, want no pause", took)
		}
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, leave)
		if status, _, took := p.do(ctx, "greedy", "POST", persons, heavyBody); status != 499 || took != time.Millisecond {
			t.Errorf("got %d after %v for a caller who left while it was paced, want 499, which is no failure of the service, at once", status, took)
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
		body := fmt.Sprintf(`{"uuid":%q,"personUuid":%q,"type":"winback","requestedAt":"2026-01-01","notes":%q}`, heavy, p.person, strings.Repeat("😀", 20_000))
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
			if took := read("greedy", call.String()); took != 0 {
				t.Fatalf("got %v for a colleague's light call, want no pause", took)
			}
		}
	})
}

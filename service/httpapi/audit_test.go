package httpapi_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// lines are those of the audit that pass a filter.
func (w *world) lines(t *testing.T, f service.AuditFilter) (lines []service.AuditLine) {
	t.Helper()
	err := w.Service.Audit(t.Context(), f, func(line service.AuditLine) error {
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// brief is what an audit line says of a record, its user and its fields.
func brief(lines []service.AuditLine) (texts []string) {
	for _, l := range lines {
		text := string(l.Operation)
		if l.User != nil {
			text += " by " + l.User.String()[:8]
		}
		if l.Fields != "" {
			text += ": " + l.Fields
		}
		if l.Records != nil {
			text += fmt.Sprintf(" (%d)", *l.Records)
		}
		texts = append(texts, text)
	}
	return texts
}

// TestAudit changes what there is to change of a person: each change has one line, with the names
// of what changed and no value, and what was refused or changed nothing has none.
func TestAudit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	since := apitype.NewTime(w.Clock.Now().Add(time.Second))
	o := w.a
	do := func(status int, method, path, body string) servicetest.Answer {
		t.Helper()
		w.Clock.Advance(time.Second)
		got := w.Do(w.all, method, path, body)
		if got.Status != status {
			t.Fatalf("%s %s: got %d %s, want %d", method, path, got.Status, got.Body, status)
		}
		return got
	}
	person := do(201, "POST", "/api/v1/persons", w.personBody(o, `,"iban":"NL91ABNA0417164300","mandate":{"id":"Geheim-7"}`)).Object()["uuid"].(string)
	o.person = apitype.MustParseUUID(person)
	do(200, "PUT", "/api/v1/persons/"+person+"/actions/update", `{"name":{"lastName":"Geheim"},"mandate":{"id":null},"address":{"street":"Geheim","houseNumber":"1","zipCode":"1","city":"U","country":"NL"}}`)
	do(200, "PUT", "/api/v1/persons/"+person+"/actions/update", `{"address":{"city":"Geheim"},"iban":null}`)
	do(200, "PUT", "/api/v1/persons/"+person+"/actions/update", `{"address":{"city":"Geheim"}}`) // Changes nothing.
	do(400, "PUT", "/api/v1/persons/"+person+"/actions/update", `{"iban":"Geheim"}`)
	o.pledge = apitype.MustParseUUID(do(201, "POST", "/api/v1/pledges", w.pledgeBody(o)).Object()["uuid"].(string))
	do(200, "PUT", "/api/v1/pledges/"+o.pledge.String()+"/actions/update", `{"donationAmount":99,"externalMetadata":{"Geheim":"Geheim"}}`)
	do(200, "PUT", "/api/v1/pledges/"+o.pledge.String()+"/actions/drop", "")
	do(200, "PUT", "/api/v1/pledges/"+o.pledge.String()+"/actions/drop", "") // Likewise.
	call := do(201, "POST", "/api/v1/calls", w.callBody(o, `,"notes":"Geheim"`)).Object()["uuid"].(string)
	do(204, "PUT", "/fundesk/v1/queue/calls/"+call+"/later", `{"notBefore":"2026-11-21T08:00:00Z"}`)
	do(200, "PUT", "/api/v1/calls/"+call+"/actions/add-attempt", `{"userUuid":"`+user+`"}`)
	do(200, "PUT", "/api/v1/calls/"+call+"/actions/complete", `{"userUuid":"`+user+`","result":{"resultCode":"G","notes":"Geheim"}}`)
	do(409, "PUT", "/api/v1/calls/"+call+"/actions/cancel", "")
	do(400, "POST", "/api/v1/entity-access/actions/mark-processed",
		`{"entries":[{"entityName":"call","entityUuid":"`+call+`","processedAt":"2026-11-20"},{"entityName":"person","entityUuid":"`+apitype.NewUUID().String()+`","processedAt":"2026-11-20"}]}`)

	about := service.AuditFilter{Person: &o.person}
	lines := w.lines(t, about)
	want := []string{
		"person.create: firstName,lastName,iban,createdAt,mandate.createdAt,owningOrganization,mandate.id",
		"person.update: lastName,address.street,address.houseNumber,address.zipCode,address.city,address.country,mandate.id",
		"person.update: iban,address.city",
		"pledge.create: status,startsAt,createdAt,updatedAt,owningOrganizationUuid,recruitingOrganizationUuid,initialDonationAmount,donationAmount," +
			"initialDonationInterval,donationInterval,recruiterUserUuid,owningOrganization,recruitingOrganization,focusAreas",
		"pledge.update: updatedAt,donationAmount,externalMetadata",
		"pledge.drop: status,updatedAt",
		"call.create: status,requestedAt,attemptsCount,lastUpdatedAt,notes,relatedCaseUuid,type,attempts",
		"call.later",
		"call.add-attempt by 5d0c1f7e: attemptsCount,lastUpdatedAt,attempts",
		"call.complete by 5d0c1f7e: status,lastUpdatedAt,completedAt,result.resultCode,result.completedAt,result.notes",
		"call.mark-processed",
	}
	if diff := cmp.Diff(want, brief(lines)); diff != "" {
		t.Errorf("lines of the person: %s", diff)
	}
	for _, l := range lines {
		if l.Account == nil || *l.Account != w.account.UUID || l.RequestID == "" || l.Record == nil || l.At.Before(since.Time) {
			t.Errorf("got %+v, want account, request, record and time", l)
		}
		if strings.Contains(fmt.Sprintf("%+v", l), "Geheim") {
			t.Errorf("a value is in %+v", l)
		}
	}
	about.Since = &lines[3].At
	if got := w.lines(t, about); len(got) != len(lines)-3 {
		t.Errorf("got %d lines since the fourth of %d", len(got), len(lines))
	}
	if got := w.lines(t, service.AuditFilter{Account: new(apitype.NewUUID())}); len(got) != 0 {
		t.Errorf("got %v of an account that did nothing", got)
	}
}

// TestAuditOfOperators looks at what is done by commands: it has no account.
func TestAuditOfOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Clock.Advance(time.Second)
	since := apitype.NewTime(w.Clock.Now())
	account := w.Account(servicetest.For(w.a.organization))
	w.TokenOf(account)
	if _, err := w.Service.SetAccount(t.Context(), account.UUID, func(a *service.Account) error {
		a.Permissions = a.Permissions[:1]
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Service.RevokeAccount(t.Context(), account.UUID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Service.SetOrganization(t.Context(), w.a.organization, func(o *service.Organization) { o.MaxCallAttempts = new(7) }); err != nil {
		t.Fatal(err)
	}
	w.callIn("requested", true)
	want := []string{
		"account.add: name,permissions,organizations,externalSources", "token.issue", "account.set: permissions", "account.revoke: revokedAt",
		"organization.set: maxCallAttempts", "load (1)",
	}
	lines := w.lines(t, service.AuditFilter{Since: &since})
	if diff := cmp.Diff(want, brief(lines)); diff != "" {
		t.Errorf("lines of commands: %s", diff)
	}
	for _, l := range lines {
		if l.Account != nil || l.RequestID != "" {
			t.Errorf("got %+v, want nobody's", l)
		}
	}
}

// TestAuditReads looks who was shown persons: nobody is told of without --audit-reads.
func TestAuditReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Clock.Advance(time.Second)
	since := apitype.NewTime(w.Clock.Now())
	blind := w.Token(servicetest.MayNot(service.PersonsRead))
	noted, err := service.New(t.Context(), service.Options{Store: w.Store, Now: w.Clock.Now, AuditReads: true})
	if err != nil {
		t.Fatal(err)
	}
	handler := httpapi.New(httpapi.Options{Service: noted, Now: w.Clock.Now})
	read := func(token, path string) {
		t.Helper()
		request := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		request.Header.Set("Authorization", "Bearer "+token)
		answer := httptest.NewRecorder()
		if handler.ServeHTTP(answer, request); answer.Code != 200 {
			t.Fatalf("%s: got %d", path, answer.Code)
		}
	}
	for _, path := range []string{"/api/v1/persons/" + w.a.person.String(), "/api/v1/calls/" + w.a.call.String(), "/api/v1/pledges/" + w.a.pledge.String()} {
		w.Do(w.all, "GET", path, "")
		read(w.all, path)
	}
	for _, path := range []string{"/api/v1/persons?iban=NL91ABNA0417164300", "/api/v1/persons?first=1", "/api/v1/calls?include=person", "/api/v1/calls", "/fundesk/v1/queue/calls"} {
		read(w.all, path)
	}
	read(blind, "/api/v1/calls/"+w.a.call.String())
	var got []service.AuditLine
	for _, l := range w.lines(t, service.AuditFilter{Since: &since}) {
		if l.Account != nil {
			got = append(got, l)
		}
	}
	want := []string{"person.get", "call.get", "pledge.get", "person.list: iban (0)", "person.list: first (1)", "call.list: include (2)", "queue.list (2)"}
	if diff := cmp.Diff(want, brief(got)); diff != "" {
		t.Errorf("lines of reads: %s", diff)
	}
	for i, l := range got[:3] {
		if l.Person == nil || *l.Person != w.a.person {
			t.Errorf("line %d: got %v, want the person who was shown", i, l.Person)
		}
	}
}

// fullAudit is a store whose audit takes no line of a kind of reading.
type fullAudit struct {
	service.Store
	operation service.AuditOperation
}

func (s fullAudit) Update(ctx context.Context, change func(service.Tx) error) error {
	return s.Store.Update(ctx, func(tx service.Tx) error { return change(fullAuditTx{tx, s.operation}) })
}

type fullAuditTx struct {
	service.Tx
	operation service.AuditOperation
}

func (t fullAuditTx) Audit(line service.AuditLine) error {
	if line.Operation == t.operation {
		return &service.Error{Kind: service.Unavailable, Detail: "full"}
	}
	return t.Tx.Audit(line)
}

// Whoever takes several calls is noted with the person of each. What cannot be noted is not shown.
func TestAuditOfTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Clock.Advance(time.Second)
	since := apitype.NewTime(w.Clock.Now())
	take := func(store service.Store) *httptest.ResponseRecorder {
		t.Helper()
		s, err := service.New(t.Context(), service.Options{Store: store, Now: w.Clock.Now, AuditReads: true})
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"count":2}`, apitype.NewUUID(), apitype.NewUUID())
		request := httptest.NewRequestWithContext(t.Context(), "POST", "/fundesk/v1/queue/take", strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+w.all)
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		httpapi.New(httpapi.Options{Service: s, Now: w.Clock.Now}).ServeHTTP(answer, request)
		return answer
	}
	if answer := take(w.Store); answer.Code != 200 {
		t.Fatalf("got %d %s", answer.Code, answer.Body)
	}
	shown := map[apitype.UUID]bool{}
	for _, l := range w.lines(t, service.AuditFilter{Since: &since}) {
		if l.Operation == service.AuditQueueTake && l.Person != nil {
			shown[*l.Person] = true
		}
	}
	if len(shown) != 2 || !shown[w.a.person] || !shown[w.b.person] {
		t.Errorf("got lines of %v, want of both persons who were shown", shown)
	}
	w.Clock.Advance(24 * time.Hour) // No lease is left.
	if answer := take(fullAudit{w.Store, service.AuditQueueTake}); answer.Code != 503 || strings.Contains(answer.Body.String(), w.a.person.String()) {
		t.Errorf("got %d %s, want 503 and nobody", answer.Code, answer.Body)
	}
}

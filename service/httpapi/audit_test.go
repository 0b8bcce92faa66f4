package httpapi_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/privacy"
	"fundesk/service/servicetest"
)

// lines returns the lines of the audit that pass a filter.
func (w *world) lines(t *testing.T, f service.AuditFilter) []service.AuditLine {
	t.Helper()
	var lines []service.AuditLine
	err := w.Privacy.Audit(t.Context(), f, func(line service.AuditLine) error {
		lines = append(lines, line)
		return nil
	})
	servicetest.Check(t, err)
	return lines
}

// brief returns the record, user and fields of an audit line.
func brief(lines []service.AuditLine) []string {
	var texts []string
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
// Promise S44: the names of changed fields are in the audit.
// Promise K7: the audit has the names of changed fields, and no value.
func TestAudit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	since := w.In(time.Second)
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
	person := do(201, "POST", "/api/v1/persons",
		w.personBody(o, `,"iban":"NL91ABNA0417164300","mandate":{"id":"Geheim-7"}`)).Object()["uuid"].(string)
	o.person = apitype.MustParseUUID(person)
	do(
		200,
		"PUT",
		"/api/v1/persons/"+person+"/actions/update",
		`{"name":{"lastName":"Geheim"},"mandate":{"id":null},"address":{"street":"Geheim","houseNumber":"1","zipCode":"1","city":"U","country":"NL"}}`,
	)
	do(200, "PUT", "/api/v1/persons/"+person+"/actions/update", `{"address":{"city":"Geheim"},"iban":null}`)
	do(200, "PUT", "/api/v1/persons/"+person+"/actions/update", `{"address":{"city":"Geheim"}}`) // Changes nothing.
	do(400, "PUT", "/api/v1/persons/"+person+"/actions/update", `{"iban":"Geheim"}`)
	o.pledge = apitype.MustParseUUID(do(201, "POST", "/api/v1/pledges", w.pledgeBody(o)).Object()["uuid"].(string))
	do(200, "PUT", pledgePath(o.pledge)+"/actions/update",
		`{"donationAmount":99,"externalMetadata":{"Geheim":"Geheim"}}`)
	do(200, "PUT", pledgePath(o.pledge)+"/actions/drop", "")
	do(200, "PUT", pledgePath(o.pledge)+"/actions/drop", "") // The same.
	call := do(201, "POST", "/api/v1/calls", w.callBody(o, `,"notes":"Geheim"`)).Object()["uuid"].(string)
	do(204, "PUT", "/fundesk/v1/queue/calls/"+call+"/later", `{"notBefore":"2026-11-21T08:00:00Z"}`)
	do(204, "POST", "/fundesk/v1/queue/calls/"+call+"/notes", `{"text":"Geheim"}`)
	do(204, "POST", "/fundesk/v1/queue/calls/"+call+"/notes", `{"text":"Geheim"}`) // The same.
	do(200, "PUT", "/api/v1/calls/"+call+"/actions/add-attempt", `{"userUuid":"`+user+`"}`)
	do(200, "PUT", "/api/v1/calls/"+call+"/actions/complete",
		`{"userUuid":"`+user+`","result":{"resultCode":"G","notes":"Geheim"}}`)
	do(409, "PUT", "/api/v1/calls/"+call+"/actions/cancel", "")
	do(400, "POST", "/api/v1/entity-access/actions/mark-processed",
		`{"entries":[{"entityName":"call","entityUuid":"`+call+
			`","processedAt":"2026-11-20"},{"entityName":"person","entityUuid":"`+apitype.NewUUID().String()+
			`","processedAt":"2026-11-20"}]}`)

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
		"call.note",
		"call.add-attempt by 5d0c1f7e: attemptsCount,lastUpdatedAt,attempts",
		"call.complete by 5d0c1f7e: status,lastUpdatedAt,completedAt,result.resultCode,result.completedAt,result.notes",
		"call.mark-processed",
	}
	servicetest.Same(t, "lines of the person", want, brief(lines))
	for _, l := range lines {
		if l.Account == nil || *l.Account != w.account.UUID || l.RequestID == "" || l.Record == nil ||
			l.At.Before(since.Time) {
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
	since := w.Now()
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
	if _, err := w.Service.SetOrganization(t.Context(), w.a.organization, func(o *service.Organization) {
		o.MaxCallAttempts = new(7)
	}); err != nil {
		t.Fatal(err)
	}
	w.callIn("requested", true)
	want := []string{
		"account.add: name,permissions,organizations,externalSources", "token.issue", "account.set: permissions",
		"account.revoke: revokedAt",
		"organization.set: maxCallAttempts", "load (1)",
	}
	lines := w.lines(t, service.AuditFilter{Since: &since})
	servicetest.Same(t, "lines of commands", want, brief(lines))
	for _, l := range lines {
		if l.Account != nil || l.RequestID != "" {
			t.Errorf("got %+v, want nobody's", l)
		}
	}
}

// TestAuditReads lists the accounts that were shown persons. Without --audit-reads there are none.
func TestAuditReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Clock.Advance(time.Second)
	since := w.Now()
	blind := w.Token(servicetest.MayNot(service.PersonsRead))
	noted, err := service.New(t.Context(), service.Options{Store: w.Store, Now: w.Clock.Now, AuditReads: true})
	servicetest.Check(t, err)
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
	for _, path := range []string{personPath(w.a.person), callPath(w.a.call), pledgePath(w.a.pledge)} {
		w.get(path)
		read(w.all, path)
	}
	for _, path := range []string{
		"/api/v1/persons?iban=NL91ABNA0417164300",
		"/api/v1/persons?first=1",
		"/api/v1/calls?include=person",
		"/api/v1/calls",
		"/fundesk/v1/queue/calls",
	} {
		read(w.all, path)
	}
	read(blind, callPath(w.a.call))
	var got []service.AuditLine
	for _, l := range w.lines(t, service.AuditFilter{Since: &since}) {
		if l.Account != nil {
			got = append(got, l)
		}
	}
	want := []string{
		"person.get", "call.get", "pledge.get", "person.list: iban (0)", "person.list: first (1)",
		"call.list: include (2)", "queue.list (2)",
	}
	servicetest.Same(t, "lines of reads", want, brief(got))
	for i, l := range got[:3] {
		if l.Person == nil || *l.Person != w.a.person {
			t.Errorf("line %d: got %v, want the person who was shown", i, l.Person)
		}
	}
}

// A take of several calls has a line with each person. If the line cannot be saved, no call is shown.
func TestAuditOfTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Clock.Advance(time.Second)
	since := w.Now()
	take := func(store service.Store) *httptest.ResponseRecorder {
		t.Helper()
		s, err := service.New(t.Context(), service.Options{Store: store, Now: w.Clock.Now, AuditReads: true})
		servicetest.Check(t, err)
		body := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"count":2}`, apitype.NewUUID(), apitype.NewUUID())
		request := httptest.NewRequestWithContext(t.Context(), "POST", "/fundesk/v1/queue/take",
			strings.NewReader(body))
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
	full := &service.Error{Kind: service.Unavailable, Detail: "full"}
	answer := take(hooked{w.Store, failAt("before Audit "+string(service.AuditQueueTake), full)})
	if answer.Code != 503 || strings.Contains(answer.Body.String(), w.a.person.String()) {
		t.Errorf("got %d %s, want 503 and nobody", answer.Code, answer.Body)
	}
}

// TestReadingNeedsTheRight changes records by accounts that may not read them: the answer shows nothing
// but what was sent, the identifier and the revision.
func TestReadingNeedsTheRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	person, call, pledge := personPath(w.a.person), callPath(w.a.call), pledgePath(w.a.pledge)
	secrets := `"iban":"NL91ABNA0417164300","phoneNumber":"+31206543210","socialSecurityNumber":"123456789","email":"a@example.org"`
	w.Want(200, w.all, "PUT", person+"/actions/update", "{"+secrets+"}")
	for _, test := range []struct {
		permission service.Permission
		path, body string
		want       string
	}{
		{service.PersonsUpdate, person + "/actions/update", `{}`, `{"uuid":"%s","revision":2}`},
		{
			permission: service.PersonsUpdate,
			path:       person + "/actions/update",
			body:       `{"name":{"lastName":"B"}}`,
			want:       `{"uuid":"%s","revision":3,"name":{"lastName":"B"}}`,
		},
		{
			permission: service.CallsAttempt,
			path:       call + "/actions/add-attempt",
			body:       `{"attemptAt":"2026-11-20T09:00:00Z"}`,
			want:       `{"uuid":"%s","revision":2,"status":"requested","attemptAt":"2026-11-20T09:00:00.000Z"}`,
		},
		{
			permission: service.CallsComplete,
			path:       call + "/actions/complete",
			body:       `{"result":{"resultCode":"ok"}}`,
			want:       `{"uuid":"%s","revision":3,"status":"completed","result":{"resultCode":"ok"}}`,
		},
		{service.CallsComplete, call + "/actions/complete", `{}`, `{"uuid":"%s","revision":3,"status":"completed"}`},
		{service.PledgesUpdate, pledge + "/actions/update", `{}`, `{"uuid":"%s","revision":2,"status":"lead"}`},
		{service.PledgesAct, pledge + "/actions/drop", ``, `{"uuid":"%s","revision":3,"status":"dropped"}`},
	} {
		answer := w.Do(w.Token(servicetest.May(test.permission)), "PUT", test.path, test.body)
		id := strings.Split(test.path, "/")[4]
		if got, want := string(answer.Body), fmt.Sprintf(test.want, id); answer.Status != 200 || got != want {
			t.Errorf("%s %s by %s: got %d %s, want %s", test.path, test.body, test.permission, answer.Status, got, want)
		}
		if got := answer.Header.Get(apitype.SentHeader); got != "true" {
			t.Errorf("%s by %s: got %s: %q, want true", test.path, test.permission, apitype.SentHeader, got)
		}
	}
	answer := w.Do(w.all, "PUT", call+"/actions/add-attempt", `{}`)
	if got, found := answer.Header[apitype.SentHeader]; found {
		t.Errorf("got %s: %q with a whole call, want none", apitype.SentHeader, got)
	}
}

// TestForeignPledgeTellsNothing refuses a wrong person in the same words, for any owner of the pledge.
func TestForeignPledgeTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pledge := w.create("/api/v1/pledges",
		strings.Replace(w.pledgeBody(w.a, ""), w.a.person.String(), w.b.person.String(), 1))
	var bodies []string
	for _, person := range []apitype.UUID{w.b.person, apitype.NewUUID()} {
		answer := w.Do(
			w.a.token,
			"POST",
			"/api/v1/calls",
			fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-11-20T09:00:00Z","type":"winback"}`,
				person, pledge),
		)
		bodies = append(bodies, fmt.Sprint(answer.Status, answer.Object()["errors"]))
	}
	if bodies[0] != bodies[1] {
		t.Errorf("got %s of the pledge's person, and %s of another one", bodies[0], bodies[1])
	}
}

// TestPrivacyStaysWithinOrganizations exports the visible records, and erases no person with records of another
// organization.
func TestPrivacyStaysWithinOrganizations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	foreign := w.create("/api/v1/pledges",
		strings.Replace(w.pledgeBody(w.b, ""), w.b.person.String(), w.a.person.String(), 1))
	mark := fmt.Sprintf(`{"entries":[{"entityName":"person","entityUuid":%q,"processedAt":"2026-11-20T09:00:00Z","consumerIdentifier":"c0ffee00-0000-4000-8000-000000000001"}]}`, w.a.person)
	w.Want(204, w.all, "POST", "/api/v1/entity-access/actions/mark-processed", mark)
	may := w.Token(servicetest.For(w.a.organization), servicetest.May(service.PersonsErase, service.PersonsRead))
	path := "/fundesk/v1/persons/" + w.a.person.String()
	export := w.Do(may, "GET", path+"/export", "")
	text := string(export.Body)
	if export.Status != 200 || strings.Contains(text, foreign.String()) || strings.Contains(text, "c0ffee00") {
		t.Errorf("got %d with records of another organization: %s", export.Status, text)
	}
	servicetest.Same(t, "elsewhere", fmt.Sprintf("map[%s:1]", w.b.organization),
		fmt.Sprint(export.Object()["elsewhere"]))
	answer := w.Do(may, "POST", path+"/erase", `{"reason":"r"}`)
	if answer.Status != 409 || !strings.Contains(string(answer.Body), "fundeskd person erase "+w.a.person.String()) {
		t.Errorf("got %d %s, want a conflict that names the operator's command", answer.Status, answer.Body)
	}
	w.Want(200, w.all, "GET", personPath(w.a.person), "")
}

// TestAuditIsPruned deletes old lines of the audit on request and by retention. Lines of the last 31 days stay.
func TestAuditIsPruned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	oldest := func() (lines int, at apitype.Time) {
		t.Helper()
		all := w.lines(t, service.AuditFilter{})
		return len(all), all[0].At
	}
	before, begun := oldest()
	w.Clock.Advance(20 * 24 * time.Hour)
	w.create("/api/v1/persons", w.personBody(w.a, ""))
	w.Clock.Advance(20 * 24 * time.Hour)
	now := w.Now()
	deleted, err := w.Privacy.PruneAudit(t.Context(), now, "test")
	servicetest.Check(t, err)
	lines, at := oldest()
	if deleted != before || lines != 2 || !at.After(begun.Time) { // The person and the prune are left.
		t.Fatalf("got %d deleted of %d, and %d lines from %s on, want all but those of 31 days",
			deleted, before, lines, at)
	}

	_, err = w.Privacy.SetRetention(t.Context(), apitype.UUID{}, func(r *service.Retention) { r.Audit = new(1) })
	servicetest.Check(t, err)
	w.Clock.Advance(15 * 24 * time.Hour)
	for _, dry := range []bool{true, false} {
		retired, _, err := w.Privacy.RunRetention(t.Context(), privacy.RetentionRun{Dry: dry, Sure: true})
		servicetest.Check(t, err)
		servicetest.Same(t, "retired", []privacy.Retired{{AuditLines: 1}}, retired)
	}
	if lines, at := oldest(); lines != 3 || at.Before(now.Time) { // The prune, the setting and the run.
		t.Errorf("got %d lines from %s on, want those of 31 days", lines, at)
	}
}

// TestInterruptedPruneIsAudited ends a prune after its first step. The lines that it deleted are in the audit.
func TestInterruptedPruneIsAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := apitype.NewTime(w.Clock.Now())
	servicetest.Check(t, w.Store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
		for range 1500 {
			err := tx.Audit(service.AuditLine{At: at, Operation: service.AuditLoad})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	before := len(w.lines(t, service.AuditFilter{}))
	w.Clock.Advance(40 * 24 * time.Hour)
	interrupted := errors.New("interrupted")
	store := hooked{w.Store, next(func() error { return interrupted })}
	rules, err := service.New(t.Context(), service.Options{Store: store, Now: w.Clock.Now})
	servicetest.Check(t, err)

	deleted, err := privacy.New(rules, nil).PruneAudit(t.Context(), apitype.NewTime(w.Clock.Now()), "test")

	if !errors.Is(err, interrupted) || deleted == 0 {
		t.Fatalf("got %d deleted and %v, want a prune that ended early", deleted, err)
	}
	recorded, left := 0, 0
	for _, line := range w.lines(t, service.AuditFilter{}) {
		if line.Operation == service.AuditPrune {
			recorded += *line.Records
		} else {
			left++
		}
	}
	if recorded != before-left {
		t.Errorf("got %d deleted lines by the audit, want %d", recorded, before-left)
	}
}

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/signin"
)

// An agent who had a user before signs in as that user: calls, leases and callbacks stay theirs.
// Promise P10: a subject that another user has is refused by the name of the user.
func TestSubjectOfUser(t *testing.T) { onEnginesSignedIn(t, testSubjectOfUser) }

func testSubjectOfUser(t *testing.T, s *signedIn) {
	user, err := s.Service.AddUser(t.Context(), service.User{
		RecruiterUser: apitype.RecruiterUser{Name: "Anneke (old)"},
	})
	servicetest.Check(t, err)
	as := `"userUuid":"` + user.UUID.String() + `"`
	call := func() apitype.UUID { return s.call(s.person(`"nl"`), time.Hour, "happy_call") }
	leased, tried, later := call(), call(), call()
	at := s.In(time.Hour).String()
	for _, r := range []struct{ method, path, body string }{
		{
			method: http.MethodPut,
			path:   queuePath(leased) + "/lease",
			body:   `{"requestUuid":"` + apitype.NewUUID().String() + `",` + as + `}`,
		},
		{http.MethodPut, callPath(tried) + "/actions/add-attempt", `{` + as + `}`},
		{http.MethodPut, queuePath(later) + "/later", `{"notBefore":"` + at + `",` + as + `}`},
	} {
		if got := s.Do(s.token, r.method, r.path, r.body); got.Status >= http.StatusMultipleChoices {
			t.Fatalf("%s as the account of a program: got %d %s", r.path, got.Status, got.Body)
		}
	}
	subject := signin.SubjectOf(s.provider.URL, "anneke")
	give := func(id apitype.UUID, subject apitype.Patch[apitype.UUID]) error {
		_, _, err := s.Service.SetUser(t.Context(), id, service.UserChange{Subject: subject})
		return err
	}
	servicetest.Check(t, give(user.UUID, apitype.Set(subject)))
	servicetest.Check(t, give(user.UUID, apitype.Set(subject))) // Again: it changes nothing.
	token := s.provider.Token(t, "anneke", nil)
	if who := s.who(t, token); who.UUID != user.UUID || who.Name != "Anneke (old)" {
		t.Fatalf("got %+v at the first sign-in, want the user %s", who, user.UUID)
	}
	for _, path := range []string{"/fundesk/v1/queue/leases?", "/fundesk/v1/queue/deferrals?"} {
		want := leased
		if strings.Contains(path, "deferrals") {
			want = later
		}
		own := s.Do(token, http.MethodGet, path+"userUuid="+user.UUID.String(), "")
		if own.Status != http.StatusOK || !strings.Contains(string(own.Body), want.String()) {
			t.Errorf("%s: got %d %s, want the call %s", path, own.Status, own.Body, want)
		}
	}
	done := s.Do(token, http.MethodPut, callPath(leased)+"/actions/complete", `{"result":{"resultCode":"A1"}}`)
	if done.Status != http.StatusOK {
		t.Errorf("got %d %s for the completion of the leased call", done.Status, done.Body)
	}
	figures := s.get("/fundesk/v1/queue/agents?userUuid=" + user.UUID.String())
	text := string(figures.Body)
	if !strings.Contains(text, `"completed":1`) || !strings.Contains(text, `"attempts":1`) {
		t.Errorf("got the figures %s, want the completion beside the attempt from before", text)
	}
	other, err := s.Service.AddUser(t.Context(), service.User{RecruiterUser: apitype.RecruiterUser{Name: "Other"}})
	servicetest.Check(t, err)
	err = give(other.UUID, apitype.Set(subject))
	if service.KindOf(err) != service.Conflict || !strings.Contains(err.Error(), user.UUID.String()) {
		t.Errorf("got %v for a subject that a user has, want a refusal with the user", err)
	}
	joost := s.who(t, s.provider.Token(t, "joost", nil))
	taken := signin.SubjectOf(s.provider.URL, "joost")
	err = give(other.UUID, apitype.Set(taken))
	if service.KindOf(err) != service.Conflict || !strings.Contains(err.Error(), joost.UUID.String()) {
		t.Errorf("got %v for a subject that has signed in, want a refusal with the user", err)
	}
	_, _, err = s.Service.SetUser(t.Context(), joost.UUID, service.UserChange{IsEnded: new(true)})
	servicetest.Check(t, err)
	servicetest.Check(t, give(other.UUID, apitype.Set(taken)))
	if who := s.who(t, s.provider.Token(t, "joost", nil)); who.UUID != other.UUID {
		t.Errorf("got %+v, want the user who was given the subject of an ended one", who)
	}
	_, _, err = s.Service.SetUser(t.Context(), user.UUID, service.UserChange{IsEnded: new(true)})
	servicetest.Check(t, err)
	s.Want(http.StatusUnauthorized, token, http.MethodGet, "/api/v1/calls", "")
	servicetest.Check(t, give(user.UUID, apitype.Clear[apitype.UUID]()))
	if who := s.who(t, token); who.UUID != subject {
		t.Errorf("got %+v after the subject was taken away, want a user of its own", who)
	}
	fields := 0
	for _, line := range auditOf(t, s.Harness) {
		if line.Operation == service.AuditUserSet && line.Fields == "subject" {
			fields++
		}
	}
	if fields != 3 {
		t.Errorf("got %d lines of the audit, want one for each change of a subject", fields)
	}
}

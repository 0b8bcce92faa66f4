package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

const (
	settingsPath = "/fundesk/v1/settings"
	floorBody    = `{"results":{"winback":[{"code":"back","label":"gives again","effect":null,"asksNotes":false},` +
		`{"code":"stop","label":"","effect":"opt-out","asksNotes":true}]},` +
		`"scripts":{"winback.nl":"Goedemiddag <naam> & co","winback":"Hello"},"callingHours":{"NL":{"weekday":"09:00-21:00","sunday":"-"}},"maxCallAttempts":%s}`
)

// asked returns the answer of the settings, to a request with an optional header.
func (f *floor) asked(token, method, path, body, header, value string) servicetest.Answer {
	f.t.Helper()
	r := httptest.NewRequestWithContext(f.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if header != "" {
		r.Header.Set(header, value)
	}
	return f.Send(r)
}

// TestSettings puts the settings of an organization and reads them in the same order. An ETag shows whether they still
// hold, and a later change is not overwritten.
// Promise S71: settings are replaced as a whole, where the account has settings:write.
func TestSettings(t *testing.T) { onEngines(t, testSettings) }

func testSettings(t *testing.T, f *floor) {
	other := f.Organization("B")
	path := settingsPath + "/" + f.organization.String()
	mine := servicetest.For(f.organization)
	agent := f.Token(mine, servicetest.May(service.CallsRead))
	lead := f.Token(mine, servicetest.May(service.CallsRead, service.SettingsWrite))
	read := func(token string) (s apitype.Settings, etag string) {
		t.Helper()
		answer := f.Do(token, "GET", settingsPath, "")
		answer.Decode(&s)
		return s, answer.Header.Get("Etag")
	}
	empty := `{"organizations":[{"uuid":"` + f.organization.String() +
		`","maxCallAttempts":3,"results":{},"scripts":{},"callingHours":{}}],"users":[]}`
	servicetest.Same(t, "before any", empty, string(f.Do(agent, "GET", settingsPath, "").Body))
	for _, u := range []service.User{
		{RecruiterUser: apitype.RecruiterUser{Name: "Anneke"}},
		{RecruiterUser: apitype.RecruiterUser{Name: "Joost"}, Organization: &other},
	} {
		u, err := f.Service.AddUser(t.Context(), u)
		servicetest.Check(t, err)
		_, _, err = f.Service.SetUser(t.Context(), u.UUID, service.UserChange{Name: u.Name + " B"})
		servicetest.Check(t, err)
	}
	if all, _ := read(f.token); len(all.Organizations) != 2 || len(all.Users) != 2 {
		t.Errorf("got %+v for an account that sees both organizations", all)
	}
	if s, _ := read(agent); len(s.Users) != 1 || s.Users[0].Name != "Anneke B" {
		t.Errorf("got %+v, want the user of no organization alone", s.Users)
	}
	_, before := read(lead)
	put := f.asked(lead, "PUT", path, fmt.Sprintf(floorBody, "5"), "If-Match", before)
	s, etag := read(agent)
	if put.Status != http.StatusOK || put.Header.Get("Etag") != etag || etag == before || etag == "" {
		t.Fatalf("got %d %s with %s, then %s and before %s", put.Status, put.Body, put.Header.Get("Etag"), etag, before)
	}
	stop := apitype.EffectOptOut
	want := apitype.OrganizationSettings{
		UUID: f.organization,
		Results: map[apitype.CallType][]apitype.ResultChoice{
			"winback": {{Code: "back", Label: "gives again"}, {Code: "stop", Effect: &stop, AsksNotes: true}},
		},
		Scripts: map[string]string{"winback.nl": "Goedemiddag <naam> & co", "winback": "Hello"},
		CallingHours: map[string]apitype.HoursOfDays{
			"NL": {Weekday: "09:00-21:00", Sunday: "-"},
		},
		MaxCallAttempts: new(5),
	}
	servicetest.Same(t, "read what was put", []apitype.OrganizationSettings{want}, s.Organizations)
	same := f.asked(agent, "GET", settingsPath, "", "If-None-Match", etag)
	if same.Status != http.StatusNotModified || len(same.Body) > 0 || same.Header.Get("Etag") != etag {
		t.Errorf("got %d %s %s for the same ETag, want 304", same.Status, same.Header.Get("Etag"), same.Body)
	}
	if got := f.asked(agent, "GET", settingsPath, "", "If-None-Match", before); got.Status != http.StatusOK {
		t.Errorf("got %d with an older ETag, want 200", got.Status)
	}
	got := f.asked(lead, "PUT", path, fmt.Sprintf(floorBody, "9"), "If-Match", before)
	if got.Status != http.StatusPreconditionFailed {
		t.Errorf("got %d over what changed meanwhile, want 412", got.Status)
	}
	refused := []struct {
		token, path, body string
		status            int
		places            string // Separated by spaces.
	}{
		{lead, settingsPath + "/" + other.String(), "{}", 404, ""},
		{lead, settingsPath + "/" + apitype.NewUUID().String(), "{}", 404, ""},
		{lead, path, `{"uuid":"` + other.String() + `"}`, 400, "/uuid"},
		{lead, path, `{"results":{"ring":[]},"maxCallAttempts":-1}`, 400, "/results/ring /maxCallAttempts"},
		{lead, path, `{"colour":"red"}`, 400, "/colour"},
	}
	for _, r := range refused {
		answer := f.Do(r.token, "PUT", r.path, r.body)
		if answer.Status != r.status {
			t.Errorf("PUT %s %s: got %d %s, want %d", r.path, r.body, answer.Status, answer.Body, r.status)
			continue
		}
		_, places := problemOf(t, answer)
		servicetest.Same(t, r.body, r.places, strings.Join(places, " "))
	}
	if _, now := read(agent); now != etag {
		t.Errorf("a refused change changed something")
	}
}

// TestSettingsAreAudited wants one line for each change of settings, with the names of what changed; the same
// settings again have none.
func TestSettingsAreAudited(t *testing.T) { onEngines(t, testSettingsAreAudited) }

func testSettingsAreAudited(t *testing.T, f *floor) {
	path := settingsPath + "/" + f.organization.String()
	account := f.Account(servicetest.May(service.CallsRead, service.SettingsWrite))
	token := f.TokenOf(account)
	for _, attempts := range []string{"5", "5", "4", "null"} {
		f.Want(http.StatusOK, token, "PUT", path, fmt.Sprintf(floorBody, attempts))
	}
	var got []string
	servicetest.Check(t, f.Privacy.Audit(t.Context(), service.AuditFilter{Account: &account.UUID}, func(line service.AuditLine) error {
		if line.Operation != service.AuditOrganizationSet || *line.Record != f.organization || line.RequestID == "" {
			t.Errorf("got the line %+v", line)
		}
		got = append(got, line.Fields)
		return nil
	}))
	want := []string{"maxCallAttempts,results,scripts,callingHours", "maxCallAttempts", "maxCallAttempts"}
	if !cmp.Equal(got, want) {
		t.Errorf("got the lines %q, want %q", got, want)
	}
}

// TestTwoSettingsAtOnce puts two settings over the same version in parallel. One is taken and the other refused.
// Without an ETag the settings are one of them, whole.
func TestTwoSettingsAtOnce(t *testing.T) { onEngines(t, testTwoSettingsAtOnce) }

func testTwoSettingsAtOnce(t *testing.T, f *floor) {
	lead := f.Token(servicetest.For(f.organization), servicetest.May(service.CallsRead, service.SettingsWrite))
	path := settingsPath + "/" + f.organization.String()
	for round := range 10 {
		header, etag, want := "", "", map[int]int{http.StatusOK: 2}
		if round%2 == 0 {
			header, etag = "If-Match", f.Do(lead, "GET", settingsPath, "").Header.Get("Etag")
			want = map[int]int{http.StatusOK: 1, http.StatusPreconditionFailed: 1}
		}
		var bodies [2]string
		var answers [2]servicetest.Answer
		var putting sync.WaitGroup
		for i := range answers {
			bodies[i] = fmt.Sprintf(floorBody, fmt.Sprint(10+2*round+i))
			putting.Go(func() { answers[i] = f.asked(lead, "PUT", path, bodies[i], header, etag) })
		}
		putting.Wait()
		got := map[int]int{answers[0].Status: 1}
		got[answers[1].Status]++
		servicetest.Same(t, "statuses", want, got)
		var now apitype.Settings
		f.Do(lead, "GET", settingsPath, "").Decode(&now)
		var puts [2]apitype.OrganizationSettings
		for i := range puts {
			servicetest.Check(t, json.Unmarshal([]byte(bodies[i]), &puts[i]))
		}
		taken := func(i int) bool { return answers[i].Status == http.StatusOK && puts[i].Equal(now.Organizations[0]) }
		if !taken(0) && !taken(1) {
			t.Errorf("got %+v, want one of the settings that were taken", now.Organizations[0])
		}
	}
}

package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"fundesk/service"
)

// TestAccountSet changes what an account may do while its token is used: it counts from the next
// request on, and what is not named stays.
func TestAccountSet(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var organization struct{ UUID string }
	e.must(&organization, "", "organization", "add", "--name", "A", "--abbreviation", "A")
	var account accountView
	e.must(&account, "", "account", "add", "a", "--all-organizations", "--permission", "persons:read", "--external-source", "crm")
	token, id := account.Token, account.UUID.String()
	s := e.serve()
	statuses := func(persons, calls int) {
		t.Helper()
		for path, want := range map[string]int{"/api/v1/persons": persons, "/api/v1/calls": calls} {
			if status, body := get(t, http.DefaultClient, s.url+path, token); status != want {
				t.Errorf("%s: got %d %s, want %d", path, status, body, want)
			}
		}
	}
	statuses(200, 403)
	account = accountView{}
	e.must(&account, "", "account", "set", id, "--permission", "calls:read")
	statuses(403, 200)
	if !account.AllOrganizations || account.Name != "a" || !slices.Equal(account.ExternalSources, []string{"crm"}) || account.Token != "" {
		t.Errorf("got %+v, want the rest as it was", account)
	}
	e.must(&account, "", "account", "set", id, "--name", "b", "--organization", organization.UUID, "--external-source", "erp,1", "--permission", "calls:read,persons:read")
	statuses(200, 200)
	if account.AllOrganizations || len(account.Organizations) != 1 || account.Name != "b" || !slices.Equal(account.ExternalSources, []string{"erp,1"}) ||
		!slices.Equal(account.Permissions, []service.Permission{service.CallsRead, service.PersonsRead}) {
		t.Errorf("got %+v, want what was named", account)
	}
	for _, test := range []struct {
		want string
		code int
		args []string
	}{
		{"nothing is named", exitUsage, nil},
		{"--permission is empty", exitUsage, []string{"--permission", ""}},
		{"unknown permission", exitUsage, []string{"--permission", "persons:fly"}},
		{"--organization", exitUsage, []string{"--organization", "x"}},
		{"there is no organization", exitUsage, []string{"--organization", id}},
		{"--all-organizations", exitUsage, []string{"--all-organizations", "--organization", organization.UUID}},
		{"name", exitUsage, []string{"--name", " "}},
		{"longer than 200 characters", exitUsage, []string{"--external-source", strings.Repeat("ë", 201)}},
	} {
		if code, out, errs := e.run("", append([]string{"account", "set", id}, test.args...)...); code != test.code || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("%v: got code %d, %s%s, want code %d and %q", test.args, code, out, errs, test.code, test.want)
		}
	}
	statuses(200, 200)
	if code, _, errs := e.run("", "account", "set", organization.UUID, "--name", "c"); code != exitFailure || !strings.Contains(errs, "there is no account") {
		t.Errorf("got code %d, %s, want that there is no such account", code, errs)
	}
	e.must(&account, "", "account", "revoke", id)
	if code, _, errs := e.run("", "account", "set", id, "--all-organizations"); code != exitUsage || !strings.Contains(errs, "is revoked") {
		t.Errorf("got code %d, %s, want that it is revoked", code, errs)
	}
	statuses(401, 401)
}

package main

import (
	"encoding/json"
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

// TestAuditList prints lines in every format, and none.
func TestAuditList(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var account struct{ UUID string }
	e.must(&account, "", "account", "add", "call centre", "--all-organizations")
	var lines []map[string]any
	e.must(&lines, "", "audit", "list")
	if len(lines) != 2 || lines[0]["operation"] != "account.add" || lines[0]["record"] != account.UUID || lines[0]["account"] != nil ||
		lines[1]["operation"] != "token.issue" || strings.Contains(lines[0]["fields"].([]any)[0].(string), ",") {
		t.Errorf("got %v, want the account and its token", lines)
	}
	_, out, errs := e.run("", "audit", "list", "-o", "ndjson", "--since", "1h")
	for line := range strings.Lines(out) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || one["time"] == nil {
			t.Errorf("got %s%s, %v, want a line of JSON", line, errs, err)
		}
	}
	if strings.Count(out, "\n") != 2 {
		t.Errorf("got %s, want two lines", out)
	}
	if _, out, _ := e.run("", "audit", "list"); !strings.Contains(out, "  an operator  account.add  "+account.UUID) {
		t.Errorf("got %s, want a table", out)
	}
	for _, test := range []struct{ format, want string }{{"json", "[]\n"}, {"ndjson", ""}} {
		if code, out, errs := e.run("", "audit", "list", "--account", account.UUID, "-o", test.format); code != exitDone || out != test.want {
			t.Errorf("%s: got code %d, %q%s, want %q", test.format, code, out, errs, test.want)
		}
	}
	for _, args := range [][]string{{"--person", "x"}, {"--since", "soon"}, {"-o", "csv"}} {
		if code, out, errs := e.run("", append([]string{"audit", "list"}, args...)...); code != exitUsage || out != "" || !strings.Contains(errs, args[1]) {
			t.Errorf("%v: got code %d, %s%s, want a mistake that is named", args, code, out, errs)
		}
	}
}

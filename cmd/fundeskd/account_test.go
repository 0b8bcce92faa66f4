package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/floorfile"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestAccountSet changes what an account may do while its token is used: it counts from the next
// request on, and what is not named stays.
func TestAccountSet(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	organization := e.organization("A")
	var account accountView
	e.must(&account, "account add a --all-organizations --permission persons:read --external-source crm")
	token, id := account.Token, account.UUID.String()
	s := e.serve()
	statuses := func(persons, calls int) {
		t.Helper()
		for path, want := range map[string]int{"/api/v1/persons": persons, "/api/v1/calls": calls} {
			s.replies(t, path, token, want)
		}
	}
	statuses(200, 403)
	account = accountView{}
	e.must(&account, "account set", id, "--permission", "calls:read")
	statuses(403, 200)
	if !account.AllOrganizations ||
		account.Name != "a" ||
		!slices.Equal(account.ExternalSources, []string{"crm"}) ||
		account.Token != "" {
		t.Errorf("got %+v, want the rest as it was", account)
	}
	e.must(
		&account,
		"account set",
		id,
		"--name",
		"b",
		"--organization",
		organization.UUID,
		"--external-source",
		"erp,1",
		"--permission",
		"calls:read,persons:read",
	)
	statuses(200, 200)
	if account.AllOrganizations || len(account.Organizations) != 1 || account.Name != "b" ||
		!slices.Equal(account.ExternalSources, []string{"erp,1"}) ||
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
		{"there is no permission", exitUsage, []string{"--permission", "persons:fly"}},
		{`there is no role "boss"; there are agent, supervisor`, exitUsage, []string{"--role", "boss"}},
		{`there is no role ""`, exitUsage, []string{"--role", ""}},
		{"--organization", exitUsage, []string{"--organization", "x"}},
		{"there is no organization", exitUsage, []string{"--organization", id}},
		{"--all-organizations", exitUsage, []string{"--all-organizations", "--organization", organization.UUID}},
		{"name", exitUsage, []string{"--name", " "}},
		{"longer than 200 characters", exitUsage, []string{"--external-source", strings.Repeat("ë", 201)}},
	} {
		e.try("account set", append([]string{id}, test.args...)...).Ends(test.code, test.want).PrintsOnly("")
	}
	statuses(200, 200)
	e.try("account set", organization.UUID, "--name", "c").Ends(exitFailure, "there is no account")
	e.must(&account, "account revoke", id)
	e.try("account set", id, "--all-organizations").Ends(exitUsage, "is revoked")
	statuses(401, 401)
}

// TestAuditList prints lines in every format, and none.
func TestAuditList(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	account := e.account("'call centre' --all-organizations")
	var lines []map[string]any
	e.must(&lines, "audit list")
	if len(lines) != 2 || lines[0]["operation"] != "account.add" || lines[0]["record"] != account.UUID ||
		lines[0]["account"] != nil ||
		lines[1]["operation"] != "token.issue" || strings.Contains(lines[0]["fields"].([]any)[0].(string), ",") {
		t.Errorf("got %v, want the account and its token", lines)
	}
	_, out, errs := e.run("audit list -o ndjson --since 1h")
	for line := range strings.Lines(out) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || one["time"] == nil {
			t.Errorf("got %s%s, %v, want a line of JSON", line, errs, err)
		}
	}
	servicetest.Same(t, "lines", 2, strings.Count(out, "\n"))
	e.try("audit list").Prints("  an operator  -  -  account.add  " + account.UUID)
	for _, test := range []struct{ format, want string }{{"json", "[]\n"}, {"ndjson", ""}} {
		e.try("audit list --account", account.UUID, "-o", test.format).Ends(exitDone).PrintsOnly(test.want)
	}
	for _, args := range [][]string{{"--person", "x"}, {"--since", "soon"}, {"-o", "csv"}} {
		e.try("audit list", args...).Ends(exitUsage, args[1]).PrintsOnly("")
	}
}

// Users are added, listed and renamed. An agent finds the names in the settings, but not those of other organizations.
func TestUsers(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	const anneke, joost = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	const sea, land = "33333333-3333-4333-8333-333333333333", "44444444-4444-4444-8444-444444444444"

	for _, step := range []struct {
		args string
		code int
		want string
	}{
		{"organization add --name Sea --abbreviation S --uuid " + sea, exitDone, ""},
		{"organization add --name Land --abbreviation L --uuid " + land, exitDone, ""},
		{"user add Anneke --uuid " + anneke, exitDone, anneke + "\n"},
		{"user add Anneke --uuid " + anneke, exitFailure, "a user with this uuid already exists"},
		{"user add Joost --uuid " + joost + " --organization " + land, exitDone, joost + "\n"},
		{"user add Joost --organization " + joost, exitUsage, "there is no organization " + joost},
		{"user add ' '", exitUsage, "the name"},
		{"user set " + sea + " Piet", exitFailure, "there is no user " + sea},
		{"user set " + anneke + " 'Anneke de Vries'", exitDone, "changed " + anneke + "\n"},
		{"user set " + anneke + " 'Anneke de Vries'", exitDone, "unchanged " + anneke + "\n"},
		{"user set " + anneke + " --subject ''", exitDone, "unchanged " + anneke + "\n"},
		{"user set " + anneke + " --ended=false", exitDone, "unchanged " + anneke + "\n"},
		{"organization set " + land + " --country nl", exitDone, "changed " + land + "\n"},
		{"organization set " + land + " --country NL", exitDone, "unchanged " + land + "\n"},
		{"user list", exitDone, anneke + "  Anneke de Vries\n" + joost + "  Joost\n"},
		{
			"user list -o json",
			exitDone,
			`[{"uuid":"` + anneke + `","name":"Anneke de Vries","organization":null,"hasSubject":false,"endedAt":null},` +
				`{"uuid":"` + joost + `","name":"Joost","organization":"` + land +
				`","hasSubject":false,"endedAt":null}]`,
		},
	} {
		e.try(step.args).Ends(step.code).Tells(step.want)
	}
	account := e.account("a --organization", sea)
	e.done("account set", account.UUID, "--name", "a")
	var lines []struct{ Operation string }
	e.must(&lines, "audit list")
	noted := ""
	for _, line := range lines {
		if strings.HasPrefix(line.Operation, "user.") || line.Operation == "account.set" {
			noted += line.Operation + " "
		}
	}
	if noted != "user.add user.add user.set " {
		t.Errorf("got the lines %q", noted)
	}
	s := e.serve()
	defer s.stop()
	status, body := s.get(t, "/fundesk/v1/settings", account.Token)
	want := `"users":[{"uuid":"` + anneke + `","name":"Anneke de Vries"}]`
	if status != http.StatusOK || !strings.Contains(body, want) {
		t.Errorf("got %d %s, want %s", status, body, want)
	}
}

// A file of settings is checked as a whole, with its lines, and then replaces what the organization has, but
// for a maximum of attempts that it does not name.
func TestOrganizationSettings(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	const sea = "33333333-3333-4333-8333-333333333333"
	e.done("organization add --name Sea --abbreviation S --uuid", sea, "--max-call-attempts", "6")
	account := e.account("a --all-organizations")
	const good = "[[results.winback]]\ncode = \"back\"\nlabel = \"gives again\"\n\n[calling_hours.NL]\nweekday = \"09:00-21:00\"\n\n[scripts]\n\"winback.nl\" = \"Goedemiddag\"\n"
	wrong := filepath.Join(e.folder, "wrong.toml")
	write(t, wrong, "[calling_hours.NL]\nweekday = \"21:00-09:00\"\n\n[[results.ring]]\ncode = \"back\"\n")
	for _, step := range []struct {
		in   string
		args string
		code int
		want []string
	}{
		{"", "--settings " + wrong, exitUsage, []string{wrong, "calling_hours.NL.weekday", "results.ring"}},
		{"", "--settings " + wrong + "x", exitUsage, []string{wrong + "x"}},
		{
			"organization = \"" + strings.ReplaceAll(sea, "3", "5") + "\"\n",
			"--settings -",
			exitUsage,
			[]string{"of the organization 55555555"},
		},
		{good, "--settings -", exitDone, []string{"changed " + sea}},
		{good, "--settings -", exitDone, []string{"unchanged " + sea}},
	} {
		code, out, errs := e.reading(step.in).run(
			"organization set", append([]string{sea}, servicetest.Words(step.args)...)...,
		)
		for _, want := range step.want {
			if code != step.code || !strings.Contains(out+errs, want) {
				t.Errorf("%q: got code %d, %s%s, want %d and %q", step.args, code, out, errs, step.code, want)
			}
		}
	}
	s := e.serve()
	defer s.stop()
	status, body := s.get(t, "/fundesk/v1/settings", account.Token)
	want := `{"uuid":"` + sea + `","maxCallAttempts":6,"results":{"winback":[{"code":"back","label":"gives again","effect":null,"asksNotes":false}]},` +
		`"scripts":{"winback.nl":"Goedemiddag"},"callingHours":{"NL":{"weekday":"09:00-21:00"}}}`
	if status != http.StatusOK || !strings.Contains(body, want) {
		t.Errorf("got %d %s, want %s", status, body, want)
	}
}

// TestStaleOrganizationSettings sets settings from a file of fundesk queue settings get. If a supervisor changed the
// settings since the file was made, they stay.
func TestStaleOrganizationSettings(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	const sea = "33333333-3333-4333-8333-333333333333"
	e.done("organization add --name Sea --abbreviation S --uuid", sea, "--max-call-attempts", "6")
	account := e.account("a", "--all-organizations")
	e.reading("[scripts]\n\"winback\" = \"Hello\"\n").done("organization set", sea, "--settings", "-")
	s := e.serve()
	defer s.stop()
	current := func() (of apitype.OrganizationSettings) {
		t.Helper()
		var all apitype.Settings
		_, body := s.get(t, "/fundesk/v1/settings", account.Token)
		servicetest.Check(t, json.Unmarshal([]byte(body), &all))
		return all.Organizations[0]
	}
	made := current()
	text, err := floorfile.Write(made)
	servicetest.Check(t, err)
	file := floorfile.RevisionLine(made) + string(text)
	changed := strings.ReplaceAll(file, "Hello", "Good day")
	e.reading("[scripts]\n\"winback\" = \"Good evening\"\n").done("organization set", sea, "--settings", "-")

	e.reading(changed).try("organization set", sea, "--settings", "-").Ends(
		exitFailure, "changed since the file was made",
	)
	if got := current().Scripts["winback"]; got != "Good evening" {
		t.Errorf("got the script %q, want that of the supervisor", got)
	}
	fresh := floorfile.RevisionLine(current()) + string(text)
	e.reading(fresh).done("organization set", sea, "--settings", "-")
	if got := current().Scripts["winback"]; !strings.Contains(got, "Hello") {
		t.Errorf("got the script %q, want that of the file", got)
	}
	e.reading(fresh).done("organization set", sea, "--settings", "-") // It has what the file says.
	e.done("organization set", sea, "--max-call-attempts", "3")
	e.reading(fresh).try("organization set", sea, "--settings", "-").Ends(exitFailure,
		"changed since the file was made")
}

// TestRefusedUserChange gives a user a subject, and a name that is refused. Nothing is saved: no one may sign in as the
// user by a command that failed.
func TestRefusedUserChange(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var user struct{ UUID string }
	e.must(&user, "user add Anneke")

	e.try("user set", user.UUID, strings.Repeat("x", 1000),
		"--subject", "248289761001", "--oidc-issuer", "https://id.example", "--ended").Ends(exitUsage, "too long")
	var users []userView
	e.must(&users, "user list")
	if len(users) != 1 || users[0].HasSubject || users[0].EndedAt != nil {
		t.Errorf("got %+v, want the user as it was", users)
	}
	e.done(
		"user set",
		user.UUID,
		"Joost",
		"--subject",
		"248289761001",
		"--oidc-issuer",
		"https://id.example",
		"--ended",
	)
	e.must(&users, "user list")
	if len(users) != 1 || users[0].Name != "Joost" || !users[0].HasSubject || users[0].EndedAt == nil {
		t.Errorf("got %+v, want all three changes", users)
	}
}

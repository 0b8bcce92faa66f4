package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// Users are added, listed and renamed; an agent finds the names in the settings, those of other organizations
// not.
func TestUsers(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	const anneke, joost = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	const sea, land = "33333333-3333-4333-8333-333333333333", "44444444-4444-4444-8444-444444444444"
	var account struct{ Token string }
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"organization", "add", "--name", "Sea", "--abbreviation", "S", "--uuid", sea}, exitDone, ""},
		{[]string{"organization", "add", "--name", "Land", "--abbreviation", "L", "--uuid", land}, exitDone, ""},
		{[]string{"user", "add", "Anneke", "--uuid", anneke}, exitDone, anneke + "\n"},
		{[]string{"user", "add", "Anneke", "--uuid", anneke}, exitFailure, "a user with this uuid already exists"},
		{[]string{"user", "add", "Joost", "--uuid", joost, "--organization", land}, exitDone, joost + "\n"},
		{[]string{"user", "add", "Joost", "--organization", joost}, exitUsage, "there is no organization " + joost},
		{[]string{"user", "add", " "}, exitUsage, "the name"},
		{[]string{"user", "set", sea, "Piet"}, exitFailure, "there is no user " + sea},
		{[]string{"user", "set", anneke, "Anneke de Vries"}, exitDone, "changed " + anneke + "\n"},
		{[]string{"user", "list"}, exitDone, anneke + "  Anneke de Vries\n" + joost + "  Joost\n"},
		{[]string{"user", "list", "-o", "json"}, exitDone, `[{"uuid":"` + anneke + `","name":"Anneke de Vries","organization":null},{"uuid":"` + joost + `","name":"Joost","organization":"` + land + `"}]`},
	} {
		code, out, errs := e.run("", step.args...)
		if code != step.code || !strings.Contains(out+errs, step.want) {
			t.Errorf("%q: got code %d, %s%s, want %d and %q", step.args, code, out, errs, step.code, step.want)
		}
	}
	e.must(&account, "", "account", "add", "a", "--organization", sea)
	var lines []struct{ Operation string }
	e.must(&lines, "", "audit", "list")
	noted := ""
	for _, line := range lines {
		if strings.HasPrefix(line.Operation, "user.") {
			noted += line.Operation + " "
		}
	}
	if noted != "user.add user.add user.set " {
		t.Errorf("got the lines %q", noted)
	}
	s := e.serve()
	defer s.stop()
	status, body := get(t, http.DefaultClient, s.url+"/fundesk/v1/settings", account.Token)
	if want := `"users":[{"uuid":"` + anneke + `","name":"Anneke de Vries"}]`; status != http.StatusOK || !strings.Contains(body, want) {
		t.Errorf("got %d %s, want %s", status, body, want)
	}
}

// A file of settings is checked as a whole, with its lines, and then replaces what the organization has, but
// for a maximum of attempts that it does not name.
func TestOrganizationSettings(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	const sea = "33333333-3333-4333-8333-333333333333"
	e.done("", "organization", "add", "--name", "Sea", "--abbreviation", "S", "--uuid", sea, "--max-call-attempts", "6")
	var account struct{ Token string }
	e.must(&account, "", "account", "add", "a", "--all-organizations")
	const good = "[[results.winback]]\ncode = \"back\"\nlabel = \"gives again\"\n\n[calling_hours.NL]\nweekday = \"09:00-21:00\"\n\n[scripts]\n\"winback.nl\" = \"Goedemiddag\"\n"
	wrong := filepath.Join(e.folder, "wrong.toml")
	servicetest.Check(t, os.WriteFile(wrong, []byte("[calling_hours.NL]\nweekday = \"21:00-09:00\"\n\n[[results.ring]]\ncode = \"back\"\n"), 0o600))
	for _, step := range []struct {
		in   string
		args []string
		code int
		want []string
	}{
		{"", []string{"--settings", wrong}, exitUsage, []string{wrong, "line 2: calling_hours.NL.weekday", "line 4: results.ring"}},
		{"", []string{"--settings", wrong + "x"}, exitUsage, []string{wrong + "x"}},
		{"organization = \"" + strings.ReplaceAll(sea, "3", "5") + "\"\n", []string{"--settings", "-"}, exitUsage, []string{"of the organization 55555555"}},
		{good, []string{"--settings", "-"}, exitDone, []string{"changed " + sea}},
	} {
		code, out, errs := e.run(step.in, append([]string{"organization", "set", sea}, step.args...)...)
		for _, want := range step.want {
			if code != step.code || !strings.Contains(out+errs, want) {
				t.Errorf("%q: got code %d, %s%s, want %d and %q", step.args, code, out, errs, step.code, want)
			}
		}
	}
	s := e.serve()
	defer s.stop()
	status, body := get(t, http.DefaultClient, s.url+"/fundesk/v1/settings", account.Token)
	want := `{"uuid":"` + sea + `","maxCallAttempts":6,"results":{"winback":[{"code":"back","label":"gives again","effect":null,"asksNotes":false}]},` +
		`"scripts":{"winback.nl":"Goedemiddag"},"callingHours":{"NL":{"weekday":"09:00-21:00"}}}`
	if status != http.StatusOK || !strings.Contains(body, want) {
		t.Errorf("got %d %s, want %s", status, body, want)
	}
}

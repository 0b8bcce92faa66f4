package commands

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// consentsOf returns the consents of a person, newest first.
func (e *exported) consentsOf(person string) []string {
	e.t.Helper()
	var all apitype.Consents
	e.Do(e.token, http.MethodGet, "/fundesk/v1/persons/"+person+"/consents", "").Decode(&all)
	var found []string
	for _, c := range all.Consents {
		source := ""
		if c.Source != nil {
			source = *c.Source
		}
		found = append(found, fmt.Sprintf("%s %s %s", c.Channel, c.Basis, source))
	}
	return found
}

// Consents are added and listed, and what cannot be one is refused by its flag.
func TestConsentCommands(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	person := *cell(e.list("person list"), 1, "uuid")
	add := []string{"person", "consent", "add", person}
	for _, step := range []struct {
		args  string
		code  int
		want  string // In the output or the error.
		added bool
	}{
		{
			args:  "--channel phone --basis consent --source form --at 2026-05-12",
			want:  "phone\tconsent\t2026-05-12T00:00:00.000Z\tform",
			added: true,
		},
		{"--channel email --basis withdrawn --outbox --at 2026-05-13", 0, "email\twithdrawn", true},
		{"--channel sms --basis customer --at 2026-05-12 --dry-run", 0, `"channel":"sms","basis":"customer"`, false},
		{"--channel fax --basis consent --source form", 2, "--channel must be one of", false},
		{"--basis consent --source form", 2, "--channel is required", false},
		{"--channel sms --basis consent", 2, "--source is required", false},
		{"--channel sms --basis customer --at 2030-01-01", 2, "--at must not be more than 5 minutes ahead", false},
	} {
		before := len(e.consentsOf(person))
		e.try(t, "", slices.Concat(add, strings.Fields(step.args))...).Ends(step.code).Tells(step.want)
		servicetest.Same(t, step.args, step.added, len(e.consentsOf(person)) > before)
	}
	out, _, _ := e.run(t, "person consent list", person, "-o", "tsv", "--columns", "channel,basis")
	servicetest.Same(t, "output", "email\twithdrawn\nphone\tconsent\n", out)
}

// A consent that is older than another one of its channel changes no opt-in, such as the day of a withdrawal without
// its time. The person who adds it is told.
func TestOverruledConsentsAreTold(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	persons := [2]string{*cell(e.list("person list"), 1, "uuid"), *cell(e.list("person list"), 2, "uuid")}
	for _, person := range persons {
		e.try(t, "person consent add", person, "--channel", "phone", "--basis", "consent", "--source", "form", "--at",
			"2026-05-12T09:00Z").
			MustEnd(0).Lacks("is later")
	}
	const told = "the opt-in for phone is as before, because the consent of 2026-05-12T09:00:00.000Z is later"
	withdraw := []string{"--channel", "phone", "--basis", "withdrawn", "--at"}
	add := func(at string, persons ...string) servicetest.Ran {
		return e.try(t, "person consent add --yes", slices.Concat(persons, withdraw, []string{at})...).MustEnd(0)
	}
	add("2026-05-12", persons[0]).Tells(persons[0] + ": " + told)
	add("2026-05-11", persons[:]...).Tells(persons[0] + ": " + told).Tells(persons[1] + ": " + told)
	servicetest.Same(t, "opt-in", "true", *cell(e.list("person list"), 1, "optInPhone"))

	file := filepath.Join(t.TempDir(), "withdrawn.csv")
	apply := func(at string) servicetest.Ran {
		writeFile(t, file, "uuid,consents.phone.at,consents.phone.basis\n"+persons[1]+","+at+",withdrawn\n")
		return e.try(t, "person apply", file, "--yes").MustEnd(0)
	}
	apply("2026-05-10").Tells("1 consent will not change the opt-in: the donor has a later one")
	apply("2026-05-12T09:00:01Z").Lacks("will not change")
	add("2026-05-12T09:00:01Z", persons[0]).Lacks("is later")
	for i := range persons {
		servicetest.Same(t, "opt-in", "false", *cell(e.list("person list"), i+1, "optInPhone"))
	}
}

// The columns of consents go in by import and apply, and come out as they went in. Nothing is added twice.
func TestConsentsInFiles(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	organization := *cell(e.list("person list"), 1, "owningOrganization.uuid")
	file := filepath.Join(t.TempDir(), "new.csv")
	text := "name.lastName,owningOrganizationUuid,recruitingOrganizationUuid," +
		"consents.phone.source,consents.phone.wording,consents.phone.at,consents.phone.basis,consents.mail.at,consents.mail.basis\n" +
		"Zz," + organization + "," + organization + ",form,You may.,2026-05-12T10:00:00Z,consent,2026-05-13,withdrawn\n"
	writeFile(t, file, text)
	for _, want := range []string{"1 created, 0 failed", "already done: 1 of 1 line"} {
		e.try(t, "person import", file, "--results", file+".results", "--yes").MustEnd(0, want)
	}
	rows := e.list("person list --limit 1 --consents")
	person := *cell(rows, 1, "uuid")
	for column, want := range map[string]string{
		"optInPhone":             "true",
		"optInMail":              "false",
		"consents.phone.source":  "form",
		"consents.phone.wording": "You may.",
		"consents.phone.at":      "2026-05-12T10:00:00.000Z",
		"consents.phone.basis":   "consent",
		"consents.mail.basis":    "withdrawn",
		"consents.sms.basis":     "",
	} {
		servicetest.Same(t, column, want, *cell(rows, 1, column))
	}
	e.apply("person", rows).Ends(0, "nothing differs")
	*cell(rows, 1, "consents.phone.source") = "letter"
	*cell(rows, 1, "email") = "zz@example.org"
	for _, want := range []string{"1 changed", "nothing differs"} {
		e.apply("person", rows).Ends(0, want)
	}
	want := []string{"mail withdrawn ", "phone consent letter", "phone consent form"}
	servicetest.Same(t, "consents", want, e.consentsOf(person))
	for _, wrong := range []string{
		`{"consents":{"phone":{"basis":"consent","at":"2026-01-01"}}}`,
		`{"consents":{"fax":{"basis":"customer","at":"2026-01-01"}}}`,
		`{"consents":{"phone":{"basis":"customer","source":"x"}}}`,
	} {
		tryWith(t, e.environment, wrong, "person import - --yes").Ends(2, "consents")
	}
}

// A record whose consents are refused is there nevertheless. The mistake says so: a file with the line is not to be
// imported as a new one.
func TestConsentsThatAreRefused(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/consents") {
			status(422, "application/problem+json", `{"status":422,"detail":"no consents today"}`)(w, r)
			return
		}
		e.Handler.ServeHTTP(w, r)
	})
	e.environment["FUNDESK_BASE_URL"] = address
	organization := *cell(e.list("person list"), 1, "owningOrganization.uuid")
	text := "name.lastName,owningOrganizationUuid,recruitingOrganizationUuid,consents.mail.basis,consents.mail.at\n" +
		"Zz," + organization + "," + organization + ",withdrawn,2026-01-01\n"
	_, errs, code := runWith(t, e.environment, text, "person import - --yes")
	rows := e.list("person list --limit 1")
	person := *cell(rows, 1, "uuid")
	for _, want := range []string{
		"0 created, 1 without all consents, 1 failed",
		"created as " + person + ", without all consents: 422 no consents today",
	} {
		if code != 9 || !strings.Contains(errs, want) {
			t.Errorf("import: got %d %q, want %q", code, errs, want)
		}
	}
	text = "uuid,email,consents.mail.basis,consents.mail.at\n" + person + ",zz@example.org,withdrawn,2026-01-01\n"
	_, errs, code = runWith(t, e.environment, text, "person apply - --yes")
	for _, want := range []string{
		"0 changed, 1 without all consents, 1 failed", "changed, without all consents: 422 no consents today",
	} {
		if code != 9 || !strings.Contains(errs, want) {
			t.Errorf("apply: got %d %q, want %q", code, errs, want)
		}
	}
}

// A service that announces no consents is sent none, and nothing else of such a file.
func TestConsentsNeedTheExtension(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/consents") || r.Method != http.MethodGet {
			t.Errorf("got %s %s, want nothing sent", r.Method, r.URL.Path)
		}
		e.Handler.ServeHTTP(&hiding{w, apitype.ExtensionConsents}, r)
	})
	e.environment["FUNDESK_BASE_URL"] = address
	rows := e.list("person list --limit 1")
	person := *cell(rows, 1, "uuid")
	*cell(rows, 1, "email") = "zz@example.org"
	rows[0] = append(rows[0], "consents.sms.basis", "consents.sms.at")
	rows[1] = append(rows[1], "customer", "2026-01-01")
	for name, run := range map[string]func() (string, string, int){
		"add": func() (string, string, int) {
			return e.run(t, "person consent add", person, "--channel", "sms", "--basis", "customer")
		},
		"list":  func() (string, string, int) { return e.run(t, "person list --consents") },
		"apply": func() (string, string, int) { return e.apply("person", rows).All() },
	} {
		if out, errs, code := run(); code == 0 || !strings.Contains(errs, "the service has no consents") {
			t.Errorf("%s: got exit code %d, %q and %q", name, code, out, errs)
		}
	}
}

// The line-by-line Desk reads the newest consent of each channel, in the agent's language.
func TestLineDeskTellsConsents(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	c := newFaultCase(t, h)
	path := "/fundesk/v1/persons/" + c.names.Replace("$PERSON") + "/consents"
	h.Do(c.token, http.MethodPost, path, `{"channel":"phone","basis":"consent","source":"web form","at":"2026-05-12"}`)
	for language, want := range map[string]string{
		"":      "phone: yes, web form, 12 May 2026",
		"nl_NL": "telefoon: ja, web form, 12-05-2026",
		"de_DE": "Telefon: ja, web form, 12.05.2026",
	} {
		environment := homeAt(t, h.URL, c.token, "ACCESSIBLE", "1", "LC_ALL", language)
		var said bytes.Buffer
		workByLines(t, appOf(environment, strings.NewReader("q\n"), &bytes.Buffer{}, &said), 0)
		if !strings.Contains(said.String(), want) {
			t.Errorf("%s: got no %q:\n%s", language, want, said.String())
		}
	}
}

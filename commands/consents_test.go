package commands

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// consentsOf returns the consents of a person, newest first.
func (e *exported) consentsOf(person string) (found []string) {
	e.t.Helper()
	var all apitype.Consents
	e.Do(e.token, http.MethodGet, "/fundesk/v1/persons/"+person+"/consents", "").Decode(&all)
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
	person := *cell(e.list("person", "list"), 1, "uuid")
	add := []string{"person", "consent", "add", person}
	for _, step := range []struct {
		args  string
		code  int
		want  string // In the output or the error.
		added bool
	}{
		{"--channel phone --basis consent --source form --at 2026-05-12", 0, "phone\tconsent\t2026-05-12T00:00:00.000Z\tform", true},
		{"--channel email --basis withdrawn --outbox --at 2026-05-13", 0, "email\twithdrawn", true},
		{"--channel sms --basis customer --at 2026-05-12 --dry-run", 0, `"channel":"sms","basis":"customer"`, false},
		{"--channel fax --basis consent --source form", 2, "--channel must be one of", false},
		{"--basis consent --source form", 2, "--channel is required", false},
		{"--channel sms --basis consent", 2, "--source is required", false},
		{"--channel sms --basis customer --at 2030-01-01", 2, "--at must not be more than 5 minutes ahead", false},
	} {
		before := len(e.consentsOf(person))
		out, errs, code := e.run(t, slices.Concat(add, strings.Fields(step.args))...)
		if code != step.code || !strings.Contains(out+errs, step.want) {
			t.Errorf("%s: got exit code %d, %q and %q, want %d and %q", step.args, code, out, errs, step.code, step.want)
		}
		if added := len(e.consentsOf(person)) > before; added != step.added {
			t.Errorf("%s: got one more %t, want %t", step.args, added, step.added)
		}
	}
	out, _, _ := e.run(t, "person", "consent", "list", person, "-o", "tsv", "--columns", "channel,basis")
	if want := "email\twithdrawn\nphone\tconsent\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// The columns of consents go in by import and apply, and come out as they went in. Nothing is added twice.
func TestConsentsInFiles(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	organization := *cell(e.list("person", "list"), 1, "owningOrganization.uuid")
	file := filepath.Join(t.TempDir(), "new.csv")
	text := "name.lastName,owningOrganizationUuid,recruitingOrganizationUuid," +
		"consents.phone.source,consents.phone.wording,consents.phone.at,consents.phone.basis,consents.mail.at,consents.mail.basis\n" +
		"Zz," + organization + "," + organization + ",form,You may.,2026-05-12T10:00:00Z,consent,2026-05-13,withdrawn\n"
	servicetest.Check(t, os.WriteFile(file, []byte(text), 0o600))
	for _, want := range []string{"1 created, 0 failed", "already done: 1 of 1 line"} {
		if _, errs, code := e.run(t, "person", "import", file, "--results", file+".results", "--yes"); code != 0 || !strings.Contains(errs, want) {
			t.Fatalf("got exit code %d and %q, want %q", code, errs, want)
		}
	}
	rows := e.list("person", "list", "--limit", "1", "--consents")
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
		if got := *cell(rows, 1, column); got != want {
			t.Errorf("%s: got %q, want %q", column, got, want)
		}
	}
	if _, errs, code := e.apply("person", rows); code != 0 || !strings.Contains(errs, "nothing differs") {
		t.Errorf("applied as exported: got exit code %d and %q", code, errs)
	}
	*cell(rows, 1, "consents.phone.source") = "letter"
	*cell(rows, 1, "email") = "zz@example.org"
	for _, want := range []string{"1 changed", "nothing differs"} {
		if _, errs, code := e.apply("person", rows); code != 0 || !strings.Contains(errs, want) {
			t.Errorf("applied with another source: got exit code %d and %q, want %q", code, errs, want)
		}
	}
	want := []string{"mail withdrawn ", "phone consent letter", "phone consent form"}
	if got := e.consentsOf(person); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, wrong := range []string{
		`{"consents":{"phone":{"basis":"consent","at":"2026-01-01"}}}`,
		`{"consents":{"fax":{"basis":"customer","at":"2026-01-01"}}}`,
		`{"consents":{"phone":{"basis":"customer","source":"x"}}}`,
	} {
		out, errs, code := runWith(t, e.environment, wrong, "person", "import", "-", "--yes")
		if code != 2 || !strings.Contains(errs, "consents") {
			t.Errorf("%s: got exit code %d, %q and %q, want 2", wrong, code, out, errs)
		}
	}
}

// A record whose consents are refused is there nevertheless. The mistake says so: a file with the line is not to be
// imported as a new one.
func TestConsentsThatAreRefused(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/consents") {
			status(422, "application/problem+json", `{"status":422,"detail":"no consents today"}`)(w, r)
			return
		}
		e.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	e.environment["FUNDESK_BASE_URL"] = server.URL
	organization := *cell(e.list("person", "list"), 1, "owningOrganization.uuid")
	text := "name.lastName,owningOrganizationUuid,recruitingOrganizationUuid,consents.mail.basis,consents.mail.at\n" +
		"Zz," + organization + "," + organization + ",withdrawn,2026-01-01\n"
	_, errs, code := runWith(t, e.environment, text, "person", "import", "-", "--yes")
	rows := e.list("person", "list", "--limit", "1")
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
	_, errs, code = runWith(t, e.environment, text, "person", "apply", "-", "--yes")
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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/consents") || r.Method != http.MethodGet {
			t.Errorf("got %s %s, want nothing sent", r.Method, r.URL.Path)
		}
		e.Handler.ServeHTTP(&hiding{w, apitype.ExtensionConsents}, r)
	}))
	t.Cleanup(server.Close)
	e.environment["FUNDESK_BASE_URL"] = server.URL
	rows := e.list("person", "list", "--limit", "1")
	person := *cell(rows, 1, "uuid")
	*cell(rows, 1, "email") = "zz@example.org"
	rows[0] = append(rows[0], "consents.sms.basis", "consents.sms.at")
	rows[1] = append(rows[1], "customer", "2026-01-01")
	for name, run := range map[string]func() (string, string, int){
		"add": func() (string, string, int) {
			return e.run(t, "person", "consent", "add", person, "--channel", "sms", "--basis", "customer")
		},
		"list":  func() (string, string, int) { return e.run(t, "person", "list", "--consents") },
		"apply": func() (string, string, int) { return e.apply("person", rows) },
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
	c := &faultCase{T: t, service: h, token: h.Token(), owner: h.Organization("AID")}
	c.load()
	path := "/fundesk/v1/persons/" + c.names.Replace("$PERSON") + "/consents"
	h.Do(c.token, http.MethodPost, path, `{"channel":"phone","basis":"consent","source":"web form","at":"2026-05-12"}`)
	for language, want := range map[string]string{
		"":      "phone: yes, web form, 12 May 2026",
		"nl_NL": "telefoon: ja, web form, 12-05-2026",
		"de_DE": "Telefon: ja, web form, 12.05.2026",
	} {
		environment := map[string]string{
			"HOME":             t.TempDir(),
			"FUNDESK_BASE_URL": h.URL,
			"FUNDESK_TOKEN":    c.token,
			"ACCESSIBLE":       "1",
			"LC_ALL":           language,
		}
		var said bytes.Buffer
		workByLines(t, appOf(environment, strings.NewReader("q\n"), &bytes.Buffer{}, &said), 0)
		if !strings.Contains(said.String(), want) {
			t.Errorf("%s: got no %q:\n%s", language, want, said.String())
		}
	}
}

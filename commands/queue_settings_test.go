package commands

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// settingsService answers with settings like a service, and takes those of its first organization.
type settingsService struct {
	*httptest.Server
	settings   string
	written    string
	extensions string // That it announces.
	asked      string // For calls of this user.
	meanwhile  func() // What another program does while the next request waits. Nil for nothing.
}

const (
	floorOrganization = "11111111-1111-4111-8111-111111111111"
	floorSettings     = `{"organizations":[{"uuid":"` + floorOrganization +
		`","results":{"winback":[{"code":"back","label":"","effect":null,"asksNotes":false}]},` +
		`"scripts":{"winback":"Hello\n"},"callingHours":{"NL":{"weekday":"09:00-20:00"}},"maxCallAttempts":6}],` +
		`"users":[{"uuid":"22222222-2222-4222-8222-222222222222","name":"Anneke"},{"uuid":"33333333-3333-4333-8333-333333333333","name":"Anne"},` +
		`{"uuid":"44444444-4444-4444-8444-444444444444","name":"Joost"}]}`
)

func newSettingsService(t *testing.T) *settingsService {
	t.Helper()
	f := &settingsService{settings: floorSettings, extensions: "settings"}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if meanwhile := f.meanwhile; meanwhile != nil {
			f.meanwhile = nil
			meanwhile()
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Fundesk-Extensions", f.extensions)
		w.Header().Set("ETag", `"1"`)
		switch r.Method + " " + r.URL.Path {
		case "GET /fundesk/v1/settings":
			fmt.Fprint(w, f.settings)
		case "GET /api/v1/calls":
			f.asked = r.URL.Query().Get("completedByUserUuid")
			fmt.Fprint(w, `{"pageInfo":{"hasNextPage":false},"edges":[{"cursor":"c","node":{"uuid":"11111111-2222-4111-8111-111111111111",`+
				`"attempts":[{"userUuid":"44444444-4444-4444-8444-444444444444"}]}}]}`)
		case "PUT /fundesk/v1/settings/" + floorOrganization:
			body, _ := io.ReadAll(r.Body)
			f.written = r.Header.Get("If-Match") + " " + string(body)
			fmt.Fprintf(w, "%s", body)
		default:
			fmt.Fprintf(w, `{"extensions":["%s"]}`, strings.ReplaceAll(f.extensions, ",", `","`))
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// run runs a command on the service.
func (f *settingsService) run(t *testing.T, words string, more ...string) (out, errs string, code int) {
	t.Helper()
	return runWith(t, homeAt(t, f.URL, "token"), "", words, more...)
}

// try runs a command on the service. What it returns says what the test wants of it.
func (f *settingsService) try(t *testing.T, words string, more ...string) servicetest.Ran {
	t.Helper()
	return tryWith(t, homeAt(t, f.URL, "token"), "", words, more...)
}

// set accepts the output of get. It names what changes, and sends nothing if nothing does.
func TestQueueSettings(t *testing.T) {
	t.Parallel()
	f := newSettingsService(t)
	text, errs, code := f.run(t, "queue settings get")
	if code != 0 || !strings.Contains(text, "[[results.winback]]\ncode = \"back\"") {
		t.Fatalf("got %d %q %q, want TOML", code, text, errs)
	}
	file := filepath.Join(t.TempDir(), "settings.toml")
	write := func(text string) {
		t.Helper()
		writeFile(t, file, text)
	}
	write(text)
	f.try(t, "queue settings set", file, "--yes").Ends(0, "has these settings already")
	servicetest.Same(t, "f.written", "", f.written)
	write(strings.Replace(text, "max_attempts = 6\n", "", 1) + "\n[[results.happy_call]]\ncode = \"thanked\"\n")
	f.try(t, "queue settings set", file).Ends(
		2, "change results.happy_call (new), max_attempts of organization "+floorOrganization, "--yes",
	)
	servicetest.Same(t, "f.written", "", f.written)
	f.try(t, "queue settings set", file, "--dry-run").Ends(0).Prints("PUT /fundesk/v1/settings/" + floorOrganization)
	servicetest.Same(t, "f.written", "", f.written)
	if _, errs, code := f.run(
		t, "queue settings set", file, "--yes",
	); code != 0 || !strings.HasPrefix(f.written, `"1" {`) || !strings.Contains(f.written, `"thanked"`) {
		t.Errorf("got %d %q and %q sent, want it written over what was read", code, errs, f.written)
	}
	write("[[results.winback]]\ncode = \"a\"\n[[results.winback]]\ncode = \"a\"\n")
	f.try(
		t, "queue settings set", file, "--organization", floorOrganization, "--yes",
	).Ends(2, "results.winback.1.code is there twice")
	f.try(
		t, "queue settings get 99999999-9999-4999-8999-999999999999",
	).Ends(3, "the account sees no organization 99999999")
	f.try(t, "queue settings get -o json --jq .users[2].name").Ends(0).PrintsLine(`"Joost"`)
}

// The rules for calls are read from the file, checked with their line, and sent only to a service that keeps to them.
func TestQueueSettingsOfWhoMayBeCalled(t *testing.T) {
	t.Parallel()
	const rules = "country = \"NL\"\nrequire_opt_in = [\"winback\"]\nyears_after_end = 3\nholidays = [\"-NL\", \"NL:2026-05-05\"]\n"
	const hours = "[calling_hours.NL]\nweekday = \"00:00-24:00\"\nsaturday = \"-\"\n"
	const sent = `"callingHours":{"NL":{"weekday":"00:00-24:00","saturday":"-"}},"requireOptIn":["winback"],"yearsAfterEnd":3,"country":"NL","holidays":["-NL","NL:2026-05-05"]`
	for _, test := range []struct {
		name, extensions, file string
		code                   int
		says, written          string
	}{
		{"all of it", "settings, rules", rules + hours, 0, "require_opt_in, years_after_end, country, holidays", sent},
		{"a service without rules", "settings", rules + hours, 7, "the service has no rules of who may be called", ""},
		{
			name:       "hours alone",
			extensions: "settings",
			file:       hours,
			says:       "calling_hours.NL",
			written:    `"callingHours":{"NL":{"weekday":"00:00-24:00","saturday":"-"}}}`,
		},
		{
			name:       "an unknown country",
			extensions: "settings, rules",
			file:       "country = \"NLD\"\n",
			code:       2,
			says:       "country must be an ISO 3166-1 country code",
		},
		{
			name:       "hours of no day",
			extensions: "settings, rules",
			file:       rules + "[calling_hours.NL]\nsunday = \"24:00-00:00\"\n",
			code:       2,
			says:       "calling_hours.NL.sunday",
		},
		{
			name:       "rests",
			extensions: "settings, attempts",
			file:       "[not_reached]\nbusy = \"30m\"\n",
			says:       "not_reached.busy (new)",
			written:    `"notReached":{"busy":"30m"}`,
		},
		{
			name:       "a service without rests",
			extensions: "settings",
			file:       "[not_reached]\nbusy = \"30m\"\n",
			code:       7,
			says:       "the service has no reasons of attempts",
		},
		{
			name:       "a rest that is none",
			extensions: "settings, attempts",
			file:       "[not_reached]\nbusy = \"soon\"\n",
			code:       2,
			says:       "not_reached.busy must be a time",
		},
		{
			name:       "a day that is none",
			extensions: "settings, rules",
			file:       "holidays = [\"NL:2027-02-29\"]\n",
			code:       2,
			says:       "holidays.0 is not a change of holidays",
		},
	} {
		f := newSettingsService(t)
		f.extensions = test.extensions
		file := filepath.Join(t.TempDir(), "settings.toml")
		writeFile(t, file, test.file)
		_, errs, code := f.run(t, "queue settings set", file, "--yes")
		if code != test.code ||
			!strings.Contains(errs, test.says) ||
			!strings.Contains(f.written, test.written) ||
			test.written == "" && f.written != "" {
			t.Errorf("%s: got %d %q and %q sent", test.name, code, errs, f.written)
		}
	}
}

// An agent sets up by name: the whole one, or as much of it as no other user's begins with.
func TestAgentByName(t *testing.T) {
	t.Parallel()
	f := newSettingsService(t)
	f.settings = strings.Replace(floorSettings, `"Joost"`, `"Joost de Vries"`, 1)
	for _, test := range []struct{ name, agent, says string }{
		{"Anne", "33333333-3333-4333-8333-333333333333", ""},
		{"Anneke", "22222222-2222-4222-8222-222222222222", ""},
		{"joost", "44444444-4444-4444-8444-444444444444", ""},
		{"An", "", `"An" may be Anne or Anneke`},
		{"Priya", "", `no user "Priya"`},
		{"Priya", "", "users: Anne, Anneke, Joost de Vries"},
	} {
		environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_TOKEN": "token"}
		_, errs, code := runWith(t, environment, "", "profile add work --base-url", f.URL, "--agent-name", test.name)
		if test.agent == "" {
			if code != 2 || !strings.Contains(errs, test.says) {
				t.Errorf("%s: got %d %q, want %s", test.name, code, errs, test.says)
			}
			continue
		}
		out, _, _ := runWith(t, environment, "", "profile show work -o json --jq .agent")
		if code != 0 || strings.TrimSpace(out) != strconv.Quote(test.agent) {
			t.Errorf("%s: got %d %q and the agent %q, want %s", test.name, code, errs, out, test.agent)
		}
	}
	// Calls are chosen by the same names.
	for _, test := range []struct {
		name, out, says string
		code            int
	}{
		{"joost", "11111111-2222-4111-8111-111111111111\n", "", 0},
		{"44444444-4444-4444-8444-444444444444", "11111111-2222-4111-8111-111111111111\n", "", 0},
		{"Anneke", "", "", 0},
		{"An", "", `--attempt-by "An" may be Anne or Anneke`, 2},
		{"Priya", "", "users: Anne, Anneke, Joost de Vries", 2},
	} {
		f.try(t, "call list --attempt-by", test.name, "-o", "id").Ends(test.code, test.says).PrintsOnly(test.out)
	}
	for _, test := range []struct {
		extensions, name, asked, says string
		code                          int
	}{
		{"settings", "joost", "", "for the calls that a user attempted: --attempt-by USER", 2},
		{"settings", "44444444-4444-4444-8444-444444444444", "", "does not say who completed a call", 2},
		{"completed-by", "joost", "", "give the UUID: --completed-by UUID", 2},
		{"settings,completed-by", "An", "", `--completed-by "An" may be Anne or Anneke`, 2},
		{"settings,completed-by", "joost", "44444444-4444-4444-8444-444444444444", "", 0},
		{"completed-by", "22222222-2222-4222-8222-222222222222", "22222222-2222-4222-8222-222222222222", "", 0},
		{"settings,completed-by", "", "", "must not be empty", 2},
	} {
		f.extensions, f.asked = test.extensions, ""
		f.try(t, "call list --completed-by", test.name).Ends(test.code, test.says)
		servicetest.Same(t, "f.asked", test.asked, f.asked)
	}
	tryWith(
		t,
		map[string]string{"HOME": t.TempDir()},
		"",
		"profile add work --base-url",
		f.URL,
		"--agent-name",
		"Anne",
	).Ends(4, "log in first: fundesk auth login --profile work --base-url "+f.URL)
}

// Off a terminal a result code must be one of the settings, or it is refused with the nearest one.
func TestUnknownResultCode(t *testing.T) {
	t.Parallel()
	f := newSettingsService(t)
	f.try(t, "call complete", floorOrganization, "--result-code", "backk").Ends(
		2, `"backk" is not a result`, "did you mean back? add --any-result",
	)
	for _, args := range []string{"--result-code back", "--result-code backk --any-result"} {
		if _, errs, code := f.run(
			t, "call complete", append([]string{floorOrganization}, servicetest.Words(args)...)...,
		); code == 2 {
			t.Errorf("%q: got %q, want it sent", args, errs)
		}
	}
}

// A file without a setting, as a failed get leaves it, does not remove all settings. A file that names the organization
// does.
func TestEmptyQueueSettings(t *testing.T) {
	t.Parallel()
	f := newSettingsService(t)
	for _, file := range []string{"", "\n", "# revision 0123456789abcdef\n", "{}", `{"_revision":"0123456789abcdef"}`} {
		environment := homeAt(t, f.URL, "token")
		tryWith(t, environment, file, "queue settings set - --yes").Ends(2, "stdin has no setting: nothing was sent")
		servicetest.Same(t, "f.written", "", f.written)
	}
	named := "organization = \"" + floorOrganization + "\"\n"
	environment := homeAt(t, f.URL, "token")
	_, errs, code := runWith(t, environment, named, "queue settings set - --yes")
	if code != 0 || f.written == "" {
		t.Errorf("got %d %q, want the settings removed", code, errs)
	}
}

// The real service takes what set writes, and has it again as it was written.
func TestQueueSettingsOfTheService(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	h.Load(service.LoadRecord{Kind: service.LoadOrganization, Data: service.LoadedOrganization{
		OrganizationReference: apitype.OrganizationReference{
			UUID:         apitype.MustParseUUID(floorOrganization),
			Name:         "Helder Water",
			Abbreviation: "SHW",
		},
	}})
	token := h.Token(servicetest.May(service.CallsRead, service.CallsComplete, service.SettingsWrite))
	environment := homeAt(t, h.URL, token)
	file := "max_attempts = 6\n[[results.winback]]\ncode = \"back\"\neffect = \"opt-out\"\n[scripts]\nwinback = \"Hello\"\n[calling_hours.NL]\nsunday = \"-\"\n"
	_, errs, code := runWith(t, environment, file, "queue settings set - --yes")
	if code != 0 ||
		!strings.Contains(errs, "changed: results.winback (new), scripts.winback (new), calling_hours.NL (new), max_attempts") {
		t.Fatalf("got %d %q, want it written", code, errs)
	}
	text, _, code := runWith(t, environment, "", "queue settings get")
	tryWith(t, environment, text, "queue settings set - --yes").Ends(0, "has these settings already")
	servicetest.Same(t, "code", 0, code)
	kind := apitype.CallVerification
	h.Load(service.LoadRecord{Kind: service.LoadPerson, Data: service.LoadedPerson{
		Person: apitype.Person{
			UUID:      apitype.MustParseUUID(testID),
			CreatedAt: apitype.NewTime(servicetest.Start),
		},
		OwningOrganizationUUID:     apitype.MustParseUUID(floorOrganization),
		RecruitingOrganizationUUID: apitype.MustParseUUID(floorOrganization),
	}}, service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
		UUID:          apitype.MustParseUUID(testID),
		PersonUUID:    apitype.MustParseUUID(testID),
		Type:          kind,
		Status:        apitype.CallRequested,
		RequestedAt:   apitype.NewTime(servicetest.Start),
		LastUpdatedAt: apitype.NewTime(servicetest.Start),
	}}})
	file += "[[results.verification]]\ncode = \"confirmed\"\n"
	_, errs, code = runWith(t, environment, file, "queue settings set - --yes")
	if code != 0 {
		t.Fatal(errs)
	}
	for _, args := range []string{"", "--outbox"} { // A result of another type of call.
		tryWith(
			t,
			environment,
			"",
			"call complete",
			append([]string{testID, "--result-code", "back"}, servicetest.Words(args)...)...,
		).Ends(2, "is not a result of the profile or of the service for a verification", "there are confirmed")
	}
	tryWith(t, environment, "", "call complete", testID, "--result-code", "confirmed", "--outbox").Ends(0)
	tryWith(
		t, environment, "", "call complete", floorOrganization, "--result-code", "backk",
	).Ends(2, "did you mean back?")
}

// A file that was made from older settings does not overwrite newer ones, in each form that get prints.
func TestSettingsOfAnOlderFile(t *testing.T) {
	t.Parallel()
	for _, get := range []string{"", floorOrganization + " -o json", "-o json --jq .organizations[0]"} {
		f := newSettingsService(t)
		text, _, code := f.run(t, "queue settings get", servicetest.Words(get)...)
		mine := strings.Replace(text, `"back"`, `"returned"`, 1)
		if code != 0 || mine == text {
			t.Fatalf("get %s: got exit code %d and %s, want the code back", get, code, text)
		}
		file := filepath.Join(t.TempDir(), "settings")
		writeFile(t, file, mine)
		f.settings = strings.Replace(floorSettings, `"maxCallAttempts":6`, `"maxCallAttempts":3`, 1)
		f.try(t, "queue settings set", file, "--yes").Ends(6, "changed since the file was made")
		servicetest.Same(t, "written after "+get, "", f.written)
		f.settings = floorSettings
		f.try(t, "queue settings set", file, "--yes").Ends(0, "changed: results.winback")
		if !strings.Contains(f.written, `"returned"`) || strings.Contains(f.written, "revision") {
			t.Errorf("get %s: got %s sent, want the settings alone", get, f.written)
		}
	}
}

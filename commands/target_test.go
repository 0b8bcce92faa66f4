package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"fundesk/service/servicetest"
)

// counted is a service with one call, which counts the requests with a token.
type counted struct {
	*httptest.Server
	requests atomic.Int64
	token    atomic.Pointer[string]
}

func newCounted(t *testing.T) *counted {
	c := &counted{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		c.token.Store(new(r.Header.Get("Authorization")))
		w.Header().Set("Content-Type", "application/json")
		body := `{"uuid":"` + testID + `","status":"cancelled","cancelledAt":null}`
		if strings.HasSuffix(r.URL.Path, "/calls") {
			body = `{"pageInfo":{"hasNextPage":false},"edges":[]}`
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(c.Close)
	return c
}

// writeConfig writes a configuration of named addresses. The first one is current. The token of each is its name in
// capitals.
func writeConfig(t *testing.T, addresses ...string) string {
	t.Helper()
	dir := t.TempDir()
	text := "current = \"" + addresses[0] + "\"\n"
	for i := 0; i < len(addresses); i += 2 {
		name, address := addresses[i], addresses[i+1]
		text += "[profiles." + name + "]\nbase_url = \"" + address + "\"\ntoken_command = [\"echo\", \"" +
			strings.ToUpper(name) + "\"]\n"
	}
	writeFile(t, filepath.Join(dir, "config.toml"), text)
	return dir
}

// A configuration that cannot be read ends a command with its place, and never with a panic. The demo needs no other
// one.
func TestConfigurationThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"broken = [", "unknown = 1\n", "[profiles.p]\nbase_url = 7\n",
		"current = \"p\"\n[profiles\n", "\xff\n",
	} {
		home := t.TempDir()
		writeFile(t, filepath.Join(home, "config.toml"), text)
		l := line{environment: map[string]string{"HOME": home, "FUNDESK_CONFIG_DIR": home}}
		for _, args := range []string{
			"call list",
			"profile list",
			"profile show",
			"profile set p mouse=true",
			"profile use p",
			"profile add q --base-url https://service.example",
			"profile remove p --yes",
			"auth status",
			"auth logout",
			"queue status",
			"pull call",
			"copy sync",
			"query 'SELECT 1'",
		} {
			l.try(t, args).Ends(2, "config.toml")
		}
		l.try(t, "doctor").Fails().Tells("config.toml")
		kept, err := os.ReadFile(filepath.Join(home, "config.toml"))
		if err != nil || string(kept) != text {
			t.Errorf("%q: got %q, %v, want the file as it was", text, kept, err)
		}
	}
}

// Promise P1: a token goes to the service that it belongs to.
func TestWhichServiceAChangeReaches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		env   string // $prod and $test stand for addresses.
		flags string
		want  string // Empty if there is none.
		token string
		code  int
	}{
		{"the current profile", "", "", "prod", "PROD", 0},
		{"a named profile", "", "--profile test", "test", "TEST", 0},
		{
			"a named profile, beside an address of the environment",
			"FUNDESK_BASE_URL=$prod",
			"--profile test",
			"test",
			"TEST",
			0,
		},
		{
			"a named profile, beside an address and a token",
			"FUNDESK_BASE_URL=$prod FUNDESK_TOKEN=SECRET",
			"--profile test",
			"test",
			"TEST",
			0,
		},
		{
			"a named profile, beside its own address and a token",
			"FUNDESK_BASE_URL=$test FUNDESK_TOKEN=SECRET",
			"--profile test",
			"test",
			"SECRET",
			0,
		},
		{"a named profile, beside a token", "FUNDESK_TOKEN=SECRET", "--profile test", "test", "SECRET", 0},
		{
			"an address and a token of the environment",
			"FUNDESK_BASE_URL=$test FUNDESK_TOKEN=SECRET",
			"",
			"test",
			"SECRET",
			0,
		},
		{
			"an address of the environment, beside a profile of it",
			"FUNDESK_BASE_URL=$test FUNDESK_TOKEN=SECRET FUNDESK_PROFILE=prod",
			"",
			"test",
			"SECRET",
			0,
		},
		{"a profile of the environment", "FUNDESK_PROFILE=test", "", "test", "TEST", 0},
		{"a named address and profile", "FUNDESK_TOKEN=SECRET", "--base-url $test --profile prod", "test", "SECRET", 0},
		{
			"a named address, beside another one with its token",
			"FUNDESK_BASE_URL=$prod FUNDESK_TOKEN=SECRET",
			"--base-url $test",
			"",
			"",
			4,
		},
		{"a named profile that is none", "", "--profile tset", "", "", 2},
		{"a profile of the environment that is none", "FUNDESK_PROFILE=tset", "", "", "", 2},
		{
			"a profile that is none, beside an address",
			"FUNDESK_BASE_URL=$prod FUNDESK_TOKEN=SECRET",
			"--profile tset",
			"",
			"",
			2,
		},
		{
			"a profile that is none, with a named address",
			"FUNDESK_TOKEN=SECRET",
			"--base-url $prod --profile tset",
			"",
			"",
			2,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			services := map[string]*counted{"prod": newCounted(t), "test": newCounted(t)}
			prod, other := services["prod"].URL, services["test"].URL
			config := writeConfig(t, "prod", prod, "test", other)
			l := line{environment: map[string]string{"HOME": t.TempDir(), "FUNDESK_CONFIG_DIR": config}}
			addresses := strings.NewReplacer("$prod", prod, "$test", other)
			for variable := range strings.FieldsSeq(addresses.Replace(test.env)) {
				name, value, _ := strings.Cut(variable, "=")
				l.environment[name] = value
			}
			got := l.try(t, "call cancel "+testID+" --yes "+addresses.Replace(test.flags)).Ends(test.code)
			for name, service := range services {
				isReached := service.requests.Load() > 0
				servicetest.Same(t, "the service of "+name+" was reached", name == test.want, isReached)
				if token := service.token.Load(); token != nil && *token != "Bearer "+test.token {
					t.Errorf("got %q, want the token %s", *token, test.token)
				}
			}
			if test.code == 2 {
				got.Ends(2, "did you mean test?")
			}
		})
	}
}

func TestAProfileThatIsNoneIsAUsageErrorWhereverItIsNamed(t *testing.T) {
	t.Parallel()
	dir := writeConfig(t, "prod", "https://api.example.org")
	for _, args := range []string{
		"profile use prdo",
		"profile show prdo",
		"profile remove prdo --yes",
		"auth logout --profile prdo",
		"auth status --profile prdo",
		"outbox send --profile prdo",
		"call attempt " + testID + " --dry-run --profile prdo",
		"doctor --profile prdo",
	} {
		line{environment: map[string]string{"HOME": t.TempDir(), "FUNDESK_CONFIG_DIR": dir}}.try(t, args).Ends(
			2, "prdo", "did you mean prod?",
		)
	}
}

func TestOneServiceIsNamedEverywhere(t *testing.T) {
	t.Parallel()
	service, other := newCounted(t), newCounted(t)
	u, err := url.Parse(service.URL)
	servicetest.Check(t, err)
	want := service.URL + " (profile test)"
	l := lineAt(t, other.URL, "SECRET", "FUNDESK_CONFIG_DIR", writeConfig(t, "prod", other.URL, "test", service.URL))
	for _, args := range [][]string{
		{"profile", "show"},
		{"auth", "status"},
		{"doctor"},
		{"call", "attempt", testID, "--dry-run"},
		{"person", "import", "-", "--dry-run"},
		{"processed", "mark", "call", testID, "--dry-run"},
	} {
		l.stdin = `{"owningOrganizationUuid":"` + testID + `","recruitingOrganizationUuid":"` + testID + `"}`
		args = append(args, "--profile", "test")
		out, errs, _ := l.run(t, "", append(args, "-o", "json")...)
		text := strings.TrimSpace(out)
		var value struct {
			Service string `json:"service"`
		}
		err := json.Unmarshal([]byte(text), &value)
		if strings.HasPrefix(text, "[") {
			var all []json.RawMessage
			err = json.Unmarshal([]byte(text), &all)
			if err == nil {
				err = json.Unmarshal(all[len(all)-1], &value)
			}
		}
		if err != nil || value.Service != want {
			t.Errorf("%v: got the service %q, want %q: %s%s", args, value.Service, want, out, errs)
		}
		out, errs, _ = l.run(t, "", args...)
		if !strings.Contains(out+errs, want) || strings.Contains(out+errs, other.URL) {
			t.Errorf("%v: got %q and %q, want %s named (%s)", args, out, errs, want, u.Host)
		}
	}
	_, errs, _ := l.run(t, "call cancel", testID, "--profile", "test")
	if !strings.Contains(errs, "cancel 1 call at "+want+": "+testID+": not confirmed") {
		t.Errorf("got the question %q, want the call and the service %s", errs, want)
	}
	id := func(n int) string { return fmt.Sprintf("5c1d0f0e-8f2f-4e0e-b3a5-%012d", n) }
	_, errs, _ = l.run(t, "call attempt", id(1), id(2), id(3), id(4), id(5), "--profile", "test")
	if !strings.Contains(errs, "call attempt for 5 calls at "+want+": "+id(1)+", "+id(2)+", "+id(3)+
		" and 2 more: not confirmed") {
		t.Errorf("got the question %q, want how many, the first three and the service", errs)
	}
	_, errs, code := l.run(t, "call complete", testID, "--profile", "test")
	if code != 2 || !strings.Contains(errs, "without any result, complete 1 call at "+want) {
		t.Errorf("got exit code %d and %q for a call without a result, want to be asked", code, errs)
	}
	l.try(t, "call complete", testID, "--profile", "test", "--dry-run").Ends(0)
	service.Close()
	_, errs, code = l.run(t, "call list --profile test -o json")
	if code != 8 || !strings.Contains(errs, "the service is "+want+"; see: fundesk doctor --profile test") {
		t.Errorf("got exit code %d and %q of a service that is gone, want which one", code, errs)
	}
}

// A folder of ours that depends on the one a command runs in would be anybody's.
func TestWithoutAHomeFolderNothingIsReadFromTheCurrentOne(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	ran := filepath.Join(dir, "ran")
	config := "current = \"planted\"\n[profiles.planted]\nbase_url = \"https://planted.example\"\ntoken_command = [\"touch\", \"" + ran + "\"]\n"
	servicetest.Check(t, os.MkdirAll(filepath.Join(dir, ".config", "fundesk"), 0o700))
	writeFile(t, filepath.Join(dir, ".config", "fundesk", "config.toml"), config)
	complete := map[string]string{
		"FUNDESK_CONFIG_DIR": t.TempDir(),
		"FUNDESK_BASE_URL":   "https://api.example.org",
		"FUNDESK_TOKEN":      "t",
	}
	tests := []struct {
		environment map[string]string
		args        string
		variable    string
	}{
		{nil, "call list", "FUNDESK_CONFIG_DIR"},
		{nil, "profile list", "FUNDESK_CONFIG_DIR"},
		{nil, "profile add x --base-url https://api.example.org", "FUNDESK_CONFIG_DIR"},
		{nil, "auth token", "FUNDESK_CONFIG_DIR"},
		{nil, "call list --profile demo", "FUNDESK_CONFIG_DIR"},
		{map[string]string{"HOME": "."}, "auth token", "FUNDESK_CONFIG_DIR"},
		{nil, "outbox list", "FUNDESK_STATE_DIR"},
		{complete, "outbox send", "FUNDESK_STATE_DIR"},
		{complete, "pull call", "FUNDESK_STATE_DIR"},
		{complete, "call attempt " + testID + " --outbox", "FUNDESK_STATE_DIR"},
		{complete, "call list --profile demo", "FUNDESK_DATA_DIR"},
	}
	for _, test := range tests {
		_, errs, code := line{environment: test.environment, homeless: true}.run(t, test.args)
		if want := "no home folder: set HOME or " + test.variable; code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%v: got exit code %d, %q, want 2 and %q", test.args, code, errs, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("the current folder holds %v, want its .config alone", left)
	}
}

// A profile's settings of records and of the connection go to its own service alone. The user's habits stay.
func TestSettingsOfAnotherServiceStayAtHome(t *testing.T) {
	t.Parallel()
	const agent, owner = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	c := newCounted(t)
	dir := writeConfig(t, "prod", "https://prod.example")
	environment := map[string]string{"FUNDESK_CONFIG_DIR": dir, "FUNDESK_STATE_DIR": dir}
	for key, value := range map[string]string{
		"agent":                   agent,
		"owning_organization":     owner,
		"recruiting_organization": owner,
		"external_source_name":    "Src",
		"unpaged":                 "call",
		"proxy":                   "http://127.0.0.1:1",
		"theme":                   "calm",
	} {
		(line{environment: environment}).try(t, "profile set prod", key+"="+value).MustEnd(0)
	}
	elsewhere := map[string]string{
		"FUNDESK_CONFIG_DIR": dir,
		"FUNDESK_STATE_DIR":  dir,
		"FUNDESK_BASE_URL":   c.URL,
		"FUNDESK_TOKEN":      "x",
	}
	for args, want := range map[string]string{
		"call attempt " + testID + " --dry-run": agent,
		"person create --owning-organization 33333333-3333-4333-8333-333333333333 --last-name A --dry-run --recruiting-organization 33333333-3333-4333-8333-333333333333": "33333333",
		"profile show": "calm",
	} {
		home, _, _ := line{environment: environment}.run(t, args)
		away, errs, code := line{environment: elsewhere}.run(t, args)
		if !strings.Contains(home, want) || strings.Contains(away, agent) || strings.Contains(away, owner) ||
			strings.Contains(away, "Src") || code != 0 {
			t.Errorf("%s: at home %q, elsewhere %q %s, want settings of records at home only", args, home, away, errs)
		}
	}
	if out, errs, code := (line{environment: elsewhere}).run(
		t, "call list",
	); code != 0 { // By the proxy nothing is reached.
		t.Errorf("got %d %q %q, want the way of the environment", code, out, errs)
	}
}

// What a token without an account's name has left belongs to the profile or, without one, to the service: the
// next such token sends it.
func TestARenewedOpaqueTokenSendsWhatWaits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "p"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			renewed(t, name)
		})
	}
}

func renewed(t *testing.T, name string) {
	var down atomic.Bool
	down.Store(true)
	address := serving(t, readsThen(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			status(503, "application/json", `{}`)(w, r)
			return
		}
		status(200, "application/json", `{"uuid":"`+testID+`","status":"requested","attempts":[{}]}`)(w, r)
	}))
	home := t.TempDir()
	config := "[profiles.p]\nbase_url = \"" + address + "\"\n"
	writeFile(t, filepath.Join(home, "config.toml"), config)
	l := lineAt(t, address, "abc", "HOME", home, "FUNDESK_CONFIG_DIR", home, "FUNDESK_PROFILE", name)
	l.try(t, "call cancel "+testID+" --yes --outbox").MustEnd(10)
	down.Store(false)
	l.environment["FUNDESK_TOKEN"] = "renewed"
	l.try(t, "outbox send").Ends(0).Hides("kept")
	l.try(t, "outbox send -o json").Ends(0)
}

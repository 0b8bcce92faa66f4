package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/service/signin/signintest"
)

// signInFiles writes a map, and returns the flags of sign-in with it.
func signInFiles(t *testing.T, provider *signintest.Provider, table string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "map.toml")
	write(t, path, table)
	return []string{
		"--oidc-issuer", provider.URL,
		"--oidc-audience", signintest.Audience,
		"--oidc-map", path,
		"--oidc-client-id", signintest.ClientID,
	}
}

const agentsMap = "[[map]]\nclaim = \"groups\"\nvalue = \"agents\"\nrole = \"agent\"\nall_organizations = true\n"

// A person signs in while fundeskd serves, and user set --ended ends the access at once.
func TestServeWithSignIn(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	provider := signintest.Start(t)
	provider.AddUser("anneke", map[string]any{"name": "Anneke de Vries", "groups": "agents"})
	provider.SetDown(true) // The start waits for no issuer.
	s := e.serve(signInFiles(t, provider, agentsMap)...)
	token := provider.Token(t, "anneke", nil)
	status := func() int {
		got, _ := s.get(t, "/api/v1/calls", token)
		return got
	}
	servicetest.Same(t, "before the issuer was read", http.StatusServiceUnavailable, status())
	s.replies(t, "/readyz", "", http.StatusOK)
	provider.SetDown(false)
	for status() == http.StatusServiceUnavailable { // It reads the issuer again within a second or two.
		if t.Context().Err() != nil {
			t.Fatal("the issuer was not read")
		}
	}
	if got := status(); got != http.StatusOK {
		t.Fatalf("got %d for a signed-in person, want 200", got)
	}
	var users []userView
	e.must(&users, "user list")
	if len(users) != 1 || users[0].Name != "Anneke de Vries" || users[0].EndedAt != nil {
		t.Fatalf("got the users %+v, want the person", users)
	}
	id := users[0].UUID.String()
	e.done("user set", id, "--ended")
	servicetest.Same(t, "for an ended user", http.StatusUnauthorized, status())
	e.try("user list").Prints("ended")
	e.done("user set", id, "--ended=false")
	servicetest.Same(t, "for a user whose access was restored", http.StatusOK, status())
	s.stop()
	if log := s.log.String(); strings.Contains(log, token) || strings.Contains(log, "Anneke") {
		t.Error("the log has the token, or the name")
	}
}

// Scopes may have blanks beside their commas, or instead of them.
func TestScopesWithBlanks(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	provider := signintest.Start(t)
	s := e.serve(append(signInFiles(t, provider, agentsMap), "--oidc-scopes", "openid, profile offline_access")...)
	status, body := s.get(t, "/.well-known/oauth-protected-resource", "")
	if want := `"scopes_supported":["openid","profile","offline_access"]`; !strings.Contains(body, want) {
		t.Errorf("got %d %s, want %s", status, body, want)
	}
}

// A wrong map ends the start with its entries, and half of the flags is refused.
func TestSignInMistakes(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	provider := signintest.Start(t)
	unknown := strings.Replace(agentsMap, "all_organizations = true", `organizations = ["`+apitype.ExampleUUID+`"]`, 1)
	for _, test := range []struct {
		args []string
		want string
	}{
		{
			args: signInFiles(t, provider, strings.Replace(agentsMap, `"agent"`, `"boss"`, 1)),
			want: `entry 1 (groups = "agents"): there is no role "boss"`,
		},
		{signInFiles(t, provider, unknown), "entry 1: there is no organization " + apitype.ExampleUUID},
		{[]string{"--oidc-issuer", provider.URL}, "go together"},
		{[]string{"--oidc-client-id", "x"}, "needs --oidc-issuer"},
		{append(signInFiles(t, provider, agentsMap), "--oidc-issuer", "http://login.example"), "plain http"},
	} {
		e.try("serve --listen 127.0.0.1:0", test.args...).Ends(exitUsage, test.want)
	}
}

// oidc check prints what a token allows, and the reason if it is refused.
func TestOIDCCheck(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	provider := signintest.Start(t)
	provider.AddUser("anneke", map[string]any{"name": "Anneke", "groups": "agents"})
	provider.AddUser("other", map[string]any{"name": "Other"})
	flags := append([]string{"oidc", "check", "-"}, signInFiles(t, provider, agentsMap)...)
	for _, test := range []struct {
		token, out, errs string
		code             int
	}{
		{provider.Token(t, "anneke", nil), "Anneke", "", exitDone},
		{provider.Token(t, "other", nil), "Other", "no entry of the map matches", exitFailure},
		{
			token: provider.Token(t, "anneke", map[string]any{"aud": "x"}),
			errs:  `the audience "fundesk", but for ["x"]`,
			code:  exitFailure,
		},
		{provider.Token(t, "anneke", map[string]any{"exp": 1}), "", "has ended, at 1970", exitFailure},
		{"x", "", "not a JWT", exitFailure},
	} {
		code, out, errs := e.reading(test.token+"\n").run("", flags...)
		if code != test.code || !strings.Contains(out, test.out) || !strings.Contains(errs, test.errs) {
			t.Errorf("got %d %s %s, want %d with %q and %q", code, out, errs, test.code, test.out, test.errs)
		}
		if strings.Contains(errs, test.token) && len(test.token) > 1 {
			t.Error("the error has the token")
		}
	}
	var checked checkedToken
	code, out, _ := e.reading(provider.Token(t, "anneke", nil)).run("", append(flags, "-o", "json")...)
	servicetest.Check(t, json.Unmarshal([]byte(out), &checked))
	if code != exitDone || !checked.Accepted || !checked.All || len(checked.Permissions) == 0 {
		t.Errorf("got %d %+v, want what the token is allowed", code, checked)
	}
}

// An operator gives a stored user the subject of a person. It moves with dump and load, and a second holder is refused.
func TestUserSubject(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	provider := signintest.Start(t)
	provider.AddUser("anneke", map[string]any{"name": "Anneke de Vries", "groups": "agents"})
	_, out, _ := e.run("user add 'Anneke (old)'")
	id := strings.TrimSpace(out)
	_, out, _ = e.run("user add Joost")
	joost := strings.TrimSpace(out)
	e.try("user set", id, "--subject", "anneke").Ends(exitUsage, "FUNDESKD_OIDC_ISSUER")
	of := []string{"--oidc-issuer", provider.URL}
	for word, args := range map[string][]string{
		"257 bytes":              append([]string{strings.Repeat("é", 128) + "a"}, of...),
		"a blank":                append([]string{"anneke "}, of...),
		`"ann\neke"`:             append([]string{"ann\neke"}, of...),
		"plain http":             {"anneke", "--oidc-issuer", "http://login.example"},
		"must be a URL such as ": {"anneke", "--oidc-issuer", "login.example"},
	} {
		e.try("user set", append([]string{id, "--subject"}, args...)...).Ends(exitUsage, word)
	}
	e.done("user set", append([]string{id, "Anneke", "--subject", "anneke"}, of...)...)
	e.try(
		"user set", append([]string{joost, "--subject", "anneke"}, of...)...,
	).Ends(exitFailure, "is that of user "+id+" (Anneke)")
	file := filepath.Join(e.folder, "all.ndjson")
	e.done("dump", file)
	moved := "sqlite:" + filepath.Join(e.folder, "moved.db")
	if servicetest.OnPostgres() {
		moved = servicetest.EmptyDatabase(t)
	}
	e.done("load", file, "--database", moved)
	s := e.serve(append(signInFiles(t, provider, agentsMap), "--database", moved)...)
	token := provider.Token(t, "anneke", nil)
	status, body := s.get(t, "/fundesk/v1", token)
	for status == http.StatusServiceUnavailable && t.Context().Err() == nil { // The issuer is being read.
		status, body = s.get(t, "/fundesk/v1", token)
	}
	if status != http.StatusOK || !strings.Contains(body, id) {
		t.Errorf("got %d %s at the first sign-in, want the user %s", status, body, id)
	}
	var users []userView
	e.must(&users, "user list --database", moved)
	for _, u := range users {
		if u.HasSubject != (u.UUID.String() == id) {
			t.Errorf("got %+v, want that only %s has a subject", u, id)
		}
	}
	servicetest.Same(t, "users", 2, len(users))
}

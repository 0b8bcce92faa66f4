package signin

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fundesk/service"
)

// Every wrong entry of a map is named, all of them at once.
func TestWrongMaps(t *testing.T) {
	t.Parallel()
	_, err := ParseMap(`
nameclaim = "x"
[[map]]
claim = "groups"
value = "a"
role = "boss"
all_organizations = true
[[map]]
claim = "realm..roles"
role = "agent"
organizations = ["3f2a"]
permissions = ["calls:fly"]
[[map]]
claim = "groups"
value = "c"
colour = "red"
`)
	if err == nil {
		t.Fatal("a wrong map was read")
	}
	for _, want := range []string{
		`"nameclaim" is not a setting`,
		`"map.colour" is not a setting`,
		`entry 1 (groups = "a"): there is no role "boss"`,
		`entry 2 (realm..roles = ""): claim must name a claim`,
		`entry 2 (realm..roles = ""): value is missing`,
		`entry 2 (realm..roles = ""): there is no permission "calls:fly"`,
		`entry 2 (realm..roles = ""): the organization "3f2a"`,
		`entry 3 (groups = "c"): role or permissions is missing`,
		`entry 3 (groups = "c"): name organizations, or all_organizations = true`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %s, want also %s", err, want)
		}
	}
	if _, err := ParseMap(``); err == nil || !strings.Contains(err.Error(), "no [[map]] entry") {
		t.Errorf("got %v for an empty map, want that nobody could sign in", err)
	}
}

// A claim is a text or a list, by its name or by a path; the first entry that matches counts.
func TestMappedClaims(t *testing.T) {
	t.Parallel()
	m, err := ParseMap(`
name_claim = "profile.display"
[[map]]
claim = "realm_access.roles"
value = "lead"
role = "supervisor"
permissions = ["changes:read"]
all_organizations = true
[[map]]
claim = "https://charity.example/role"
value = "agent"
role = "agent"
organizations = ["3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c"]
`)
	if err != nil {
		t.Fatal(err)
	}
	for claims, want := range map[string]string{
		`{"realm_access":{"roles":["x","lead"]},"https://charity.example/role":"agent"}`: "supervisor",
		`{"https://charity.example/role":"agent"}`:                                       "agent",
		`{"realm_access.roles":"lead"}`:                                                  "supervisor",
		`{"realm_access":{"roles":"leader"}}`:                                            "",
		`{"realm_access":["roles","lead"]}`:                                              "",
		`{"realm_access":{"roles":[{"lead":true},7,null]}}`:                              "",
		`{"roles":["lead"]}`:                                                             "",
		`{}`:                                                                             "",
	} {
		var read map[string]any
		if err := json.Unmarshal([]byte(claims), &read); err != nil {
			t.Fatal(err)
		}
		person := m.person(read)
		got := ""
		if person.IsMapped {
			got = "agent"
			if slices.Contains(person.Permissions, service.SettingsWrite) {
				got = "supervisor"
			}
		}
		if got != want || person.IsMapped && person.Scope.All != (want == "supervisor") {
			t.Errorf("%s: got %q with %+v, want %q", claims, got, person.Scope, want)
		}
	}
	named := m.person(map[string]any{"profile": map[string]any{"display": "Anneke"}})
	if named.Name != "Anneke" {
		t.Errorf("got the name %q, want that of the path", named.Name)
	}
}

// An issuer with keys that could be replaced on the way is refused.
func TestIssuerAddresses(t *testing.T) {
	t.Parallel()
	for issuer, isGood := range map[string]bool{
		"https://login.example/realms/charity": true,
		"http://127.0.0.1:8080":                true,
		"http://localhost":                     true,
		"http://login.example":                 false,
		"http://localhost.evil.example":        false,
		"login.example":                        false,
		"https://user@login.example":           false,
		"https://login.example?x=1":            false,
	} {
		if _, err := New(Options{Issuer: issuer}); (err == nil) != isGood {
			t.Errorf("%s: got %v, want good %v", issuer, err, isGood)
		}
	}
}

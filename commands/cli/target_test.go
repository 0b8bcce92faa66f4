package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/profile"
)

// Of an address only what cannot be secret is shown.
func TestShownURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://example.org/base":                  "https://example.org/base",
		"https://example.org/p?iban=NL91":           "https://example.org/p…",
		"https://example.org/p#NL91":                "https://example.org/p…",
		"https://anna:secret@example.org/p/q":       "https://…@example.org/p/q",
		"https://anna:secret@example.org":           "https://…@example.org",
		"https://anna:se@cret@example.org/?iban=NL": "https://…@example.org…",
		"/api/v1/persons/a@b?iban=NL91":             "/api/v1/persons/a@b…",
		"embedded:demo":                             "embedded:demo",
	} {
		if got := ShownURL(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// A service is named with its port and its profile.
func TestWhatIsToldOfAService(t *testing.T) {
	t.Parallel()
	at := profile.Profile{BaseURL: "https://a.example"}
	for _, test := range []struct{ got, want string }{
		{(&Target{BaseURL: "https://a.example"}).Service(), "https://a.example:443"},
		{(&Target{BaseURL: "http://localhost/x"}).Service(), "http://localhost:80/x"},
		{(&Target{BaseURL: "https://a.example:444"}).Service(), "https://a.example:444"},
		{(&Target{BaseURL: "https://a.example:444/"}).Service(), "https://a.example:444"},
		{
			got:  (&Target{BaseURL: "embedded:demo", Name: "demo", FromProfile: true}).Service(),
			want: "embedded:demo (profile demo)",
		},
		{
			got:  (&Target{BaseURL: "https://b.example", Name: "p", Profile: at}).Service(),
			want: "https://b.example:443 (settings of profile p)",
		},
		{LoginHint(nil), "log in: fundesk auth login; or try the demo: fundesk demo"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// A refused token is replaced at its source.
func TestAnotherTokenComesFromWhereItCame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from Target
		want string
	}{
		{Target{Name: "prod", EnvToken: "x"}, "Quit, and start again with another FUNDESK_TOKEN"},
		{
			from: Target{Name: "prod", Profile: profile.Profile{TokenCommand: []string{"pass", "show"}}},
			want: "The token_command of profile prod must print another token",
		},
		{
			from: Target{Name: "prod", FromProfile: true, Profile: profile.Profile{TokenStorage: "keyring"}},
			want: "Log in from another terminal: fundesk auth login --profile prod",
		},
	} {
		if got := AnotherToken(&test.from); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// A verb behind its noun is built alone, and otherwise with all others.
func TestChosenVerb(t *testing.T) {
	t.Parallel()
	build := func(*Session) *cobra.Command { return nil }
	for _, args := range [][]string{
		{"call"},
		{"call", "lst"},
		{"call", "--status", "list"},
		{"help", "call"},
		{"--profile", "list", "call"},
		{"__complete", "call", "list"},
		{"__complete"},
		{"__complete", "list", "list", ""},
	} {
		if got := chosenVerb(args, "call", Verbs{"list": build}); got != "" {
			t.Errorf("%v: got only %s built, want all", args, got)
		}
	}
	for _, args := range [][]string{
		{"calls", "list"},
		{"call", "list", "--status"},
		{"__complete", "call", "list", "--st"},
		{"__completeNoDesc", "call", "list", ""},
	} {
		if got := chosenVerb(args, "call", Verbs{"list": build, "get": build}); got != "list" {
			t.Errorf("%v: got %q, want list alone", args, got)
		}
	}
}

// Errors are JSON, whichever option asked for the format.
func TestWantsJSON(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"call list":                   false,
		"call list -o json":           true,
		"call list -ojson":            true,
		"call list -o=ndjson":         true,
		"call list -qo json":          true,
		"call list -qojson":           true,
		"call list --output ndjson":   true,
		"call list --output=json":     true,
		"call list --jq .":            true,
		"call list --jq=.":            true,
		"call list --jq . -o tsv":     false,
		"call list -o json -o csv":    false,
		"call list -- -o json":        false,
		"call list --quiet -o id":     false,
		"call list -o":                false,
		"call list --other-o json":    false,
		"outbox show o json":          false,
		"call list -q":                false,
		"call list -o csv --no-input": false,
	} {
		if got := WantsJSON(strings.Fields(line)); got != want {
			t.Errorf("%s: got %t, want %t", line, got, want)
		}
	}
}

// What could not be read is counted once, however often it is read.
func TestOmissions(t *testing.T) {
	t.Parallel()
	var o omissions
	o.add("call 1", "/person")
	o.add("call 2", "")
	o.add("call 1", "/person")
	if n, first := o.Read(); n != 2 || first != "/person of call 1" {
		t.Errorf("got %d, %q, want two, the first of call 1", n, first)
	}
	for n := range 10_001 {
		o.add(fmt.Sprint(n), "")
	}
	if n, _ := o.Read(); n != 10_000 {
		t.Errorf("got %d, want no more than ten thousand", n)
	}
}

// The beginning of a UUID, as a table shows it, is refused as such with the way out, in arguments and flags.
func TestBeginningsOfUUIDs(t *testing.T) {
	t.Parallel()
	const whole = "f966357f-cbb6-4f0e-8b0e-1c2d3e4f5a6b"
	var person *apitype.UUID
	for text, isBeginning := range map[string]bool{
		whole[:8]: true, whole[:9]: true, whole[:13] + "…": true, whole[:35]: true, strings.ToUpper(whole[:18]): true,
		whole[:7]: false, "jansen": false, "f966357fcbb6": false, "": false, whole + "0": false,
	} {
		_, err := ParseID(text)
		got := err != nil && strings.Contains(err.Error(), "only the beginning of a UUID; -o id")
		if got != isBeginning {
			t.Errorf("%q: got %v, want a beginning: %v", text, err, isBeginning)
		}
		err = UUIDValue(&person).Set(text)
		if got := err != nil && strings.Contains(err.Error(), "only the beginning of a UUID"); got != isBeginning {
			t.Errorf("the flag %q: got %v, want a beginning: %v", text, err, isBeginning)
		}
	}
	if id, err := ParseID(whole); err != nil || id.String() != whole {
		t.Errorf("got %s, %v", id, err)
	}
}

package cli

import (
	"testing"

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

// A service is told with its port and its profile.
func TestWhatIsToldOfAService(t *testing.T) {
	t.Parallel()
	at := profile.Profile{BaseURL: "https://a.example"}
	for _, test := range []struct{ got, want string }{
		{(&Target{BaseURL: "https://a.example"}).Service(), "https://a.example:443"},
		{(&Target{BaseURL: "http://localhost/x"}).Service(), "http://localhost:80/x"},
		{(&Target{BaseURL: "https://a.example:444"}).Service(), "https://a.example:444"},
		{(&Target{BaseURL: "embedded:demo", Name: "demo", FromProfile: true}).Service(), "embedded:demo (profile demo)"},
		{(&Target{BaseURL: "https://b.example", Name: "p", Profile: at}).Service(), "https://b.example:443 (settings of profile p)"},
		{LoginHint(nil), "log in: fundesk auth login; or try the demo: fundesk demo"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// A refused token is replaced where it comes from.
func TestAnotherTokenComesFromWhereItCame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from Target
		want string
	}{
		{Target{Name: "prod", EnvToken: "x"}, "Quit, and start again with another FUNDESK_TOKEN"},
		{Target{Name: "prod", Profile: profile.Profile{TokenCommand: []string{"pass", "show"}}}, "The token_command of profile prod must print another token"},
		{Target{Name: "prod", FromProfile: true, Profile: profile.Profile{TokenStorage: "keyring"}}, "Log in from another terminal: fundesk auth login --profile prod"},
	} {
		if got := AnotherToken(&test.from); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

package profile

import (
	"errors"
	"strings"
	"testing"
)

func TestTokenFitsTheKeyring(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		system  string
		bytes   int
		problem string
	}{
		{"windows", 2560, ""},
		{"windows", 2561, "it has 2561 bytes, and an entry in the keyring of Windows holds 2560"},
		{"darwin", 2900, ""},
		{"darwin", 3100, "it has 3100 bytes, and an entry in the keyring of macOS holds 2900"},
		{"linux", 60000, ""},
	} {
		err := fitsKeyring(test.system, strings.Repeat("a", test.bytes))
		if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%d bytes on %s: got %v, want %q", test.bytes, test.system, err, test.problem)
		}
	}
}

// A token command gets no token, and a token is for the scheme, host and port of an address.
func TestWhatATokenIsFor(t *testing.T) {
	t.Parallel()
	got := withoutToken([]string{"A=1", "FUNDESK_TOKEN=secret", "FUNDESK_TOKENS=2", "B="})
	if strings.Join(got, " ") != "A=1 FUNDESK_TOKENS=2 B=" {
		t.Errorf("got %q, want everything but the token", got)
	}
	for address, want := range map[string]string{
		"https://A.example:443/x": "https://a.example",
		"http://a.example:80":     "http://a.example",
		"http://a.example:443":    "http://a.example:443",
		"embedded:demo":           "",
		"https://%zz":             "",
	} {
		if got := originOf(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
	failed := errors.New("exit status 3")
	for said, want := range map[string]string{
		"":                                "exit status 3",
		" \n\n":                           "exit status 3",
		" no way\nnor that":               "exit status 3: no way",
		strings.Repeat("no ", 66) + "no":  "exit status 3: " + strings.Repeat("no ", 66) + "no",
		strings.Repeat("no ", 66) + "not": "exit status 3: " + strings.Repeat("no ", 66) + "no…",
	} {
		if got := withComplaint(failed, []byte(said)).Error(); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}

// A command that is named needs no storage.
func TestWhatAProfileSaysByItself(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]Profile{
		"command": {TokenCommand: []string{"pass"}},
		"file":    {TokenCommand: []string{"pass"}, TokenStorage: "file"},
		"":        {},
	} {
		if got := p.Storage(); got != want {
			t.Errorf("%+v: got %q, want %q", p, got, want)
		}
	}
}

package profile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zalando/go-keyring"

	"fundesk/apiclient/durable"
	"fundesk/commands/profile"
)

// withBus returns the environment of a desktop session.
func withBus(name string) string {
	return map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}[name]
}

// A stored token goes only to its own service, even if the address was edited by hand. Not parallel: the keyring
// library keeps its provider in a variable.
func TestTokenStaysWithItsService(t *testing.T) {
	tests := []struct {
		name, stored, now string
		goes              bool
	}{
		{"the same address", "https://a.example", "https://a.example", true},
		{"another path", "https://a.example/one", "https://a.example/two/", true},
		{"the port that is meant anyway", "https://a.example", "https://A.example:443", true},
		{"another host", "https://a.example", "https://b.example", false},
		{"a longer name", "https://a.example", "https://a.example.org", false},
		{"another port", "http://localhost:8080", "http://localhost:8081", false},
		{"another scheme", "http://localhost", "https://localhost", false},
		{"the port of the other scheme", "https://localhost", "https://localhost:80", false},
		{"a user before another host", "https://a.example", "https://a.example@b.example", false},
	}
	for _, storage := range []string{profile.StorageFile, profile.StorageKeyring} {
		for _, test := range tests {
			t.Run(storage+", "+test.name, func(t *testing.T) {
				keyring.MockInit()
				tokens := profile.Tokens{Dir: t.TempDir(), Getenv: withBus}
				p := profile.Profile{BaseURL: test.stored, TokenStorage: storage}
				if _, err := tokens.Set("prod", p, "abc", storage == profile.StorageFile); err != nil {
					t.Fatalf("Set: %v", err)
				}
				if kept, err := keyring.Get("fundesk", "prod"); storage == profile.StorageKeyring && kept != "abc" {
					t.Errorf("got the entry %q, %v, want the token as other programs read it", kept, err)
				}
				p.BaseURL = test.now
				got, err := tokens.Get(t.Context(), "prod", p)
				_, elsewhere := errors.AsType[*profile.OriginError](err)
				if test.goes != (got == "abc") || test.goes == elsewhere {
					t.Errorf("got %q, %v, want that it goes there: %v", got, err, test.goes)
				}
			})
		}
	}
}

// Tokens that an earlier version or another program stored have no address: they get that
// of their next use.
func TestTokenOfAnEarlierVersion(t *testing.T) {
	for _, storage := range []string{profile.StorageFile, profile.StorageKeyring} {
		t.Run(storage, func(t *testing.T) {
			keyring.MockInit()
			tokens := profile.Tokens{Dir: t.TempDir(), Getenv: withBus}
			if err := profile.WriteFile(filepath.Join(tokens.Dir, "tokens", "prod"), []byte("abc\n")); err != nil {
				t.Fatal(err)
			}
			if err := keyring.Set("fundesk", "prod", "abc"); err != nil {
				t.Fatal(err)
			}
			p := profile.Profile{BaseURL: "https://a.example", TokenStorage: storage}
			for range 2 { // The second time it is known.
				if got, err := tokens.Get(t.Context(), "prod", p); err != nil || got != "abc" {
					t.Errorf("got %q, %v, want the token", got, err)
				}
			}
			p.BaseURL = "https://b.example"
			got, err := tokens.Get(t.Context(), "prod", p)
			elsewhere, ok := errors.AsType[*profile.OriginError](err)
			if !ok || elsewhere.Stored != "https://a.example" || elsewhere.Named != p.BaseURL {
				t.Errorf("got %q, %v, want that it belongs to a.example", got, err)
			}
		})
	}
}

// A keyring that fails keeps the token of a profile that moves to a file. The token goes to no other service when the
// profile names the keyring again. Not parallel: the keyring library keeps its provider in a variable.
func TestTokenThatAKeyringKept(t *testing.T) {
	for _, isFormer := range []bool{false, true} { // Stored by 0.2.0.
		keyring.MockInit()
		tokens := profile.Tokens{Dir: t.TempDir(), Getenv: withBus}
		inKeyring := profile.Profile{BaseURL: "https://a.example", TokenStorage: profile.StorageKeyring}
		if _, err := tokens.Set("prod", inKeyring, "abc", false); err != nil {
			t.Fatal(err)
		}
		if note := filepath.Join(tokens.Dir, "origins", "prod"); isFormer {
			if err := os.Rename(note+".keyring", note); err != nil {
				t.Fatal(err)
			}
		}
		keyring.MockInitWithError(errors.New("locked"))
		if err := tokens.Delete("prod", inKeyring); !errors.Is(err, profile.ErrNoKeyring) {
			t.Fatalf("got %v, want no keyring", err)
		}
		inFile := profile.Profile{BaseURL: "https://a.example", TokenStorage: profile.StorageFile}
		if err := tokens.Delete("prod", inFile); err != nil { // The profile gets another address.
			t.Fatal(err)
		}
		keyring.MockInit()
		if err := keyring.Set("fundesk", "prod", "abc"); err != nil { // It is unlocked again.
			t.Fatal(err)
		}
		inKeyring.BaseURL = "https://b.example"
		got, err := tokens.Get(t.Context(), "prod", inKeyring)
		if _, isElsewhere := errors.AsType[*profile.OriginError](err); !isElsewhere {
			t.Errorf("got %q, %v, want that the token belongs to a.example", got, err)
		}
		if err := tokens.Delete("prod", inKeyring); err != nil {
			t.Fatal(err)
		}
		if left, err := filepath.Glob(filepath.Join(tokens.Dir, "*")); err != nil || len(left) > 0 {
			t.Errorf("got %v, %v, want no file after the removal", left, err)
		}
	}
}

func TestTokenFileOfOthers(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text string }{
		{"nothing", ""},
		{"blanks", " \n\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tokens := profile.Tokens{Dir: t.TempDir(), Getenv: os.Getenv}
			if err := profile.WriteFile(filepath.Join(tokens.Dir, "tokens", "prod"), []byte(test.text)); err != nil {
				t.Fatal(err)
			}
			got, err := tokens.Get(t.Context(), "prod", profile.Profile{
				BaseURL:      "https://a.example",
				TokenStorage: profile.StorageFile,
			})
			if got != "" || !errors.Is(err, profile.ErrNoToken) {
				t.Errorf("got %q, %v, want none", got, err)
			}
		})
	}
}

// A token that is half stored goes nowhere: not to the service of the token before, nor to the next one of the profile.
// Not parallel: there is one watcher of files.
func TestHalfStoredTokenGoesNowhere(t *testing.T) {
	at := func(address string) profile.Profile {
		return profile.Profile{BaseURL: address, TokenStorage: profile.StorageFile}
	}
	tokens := profile.Tokens{Dir: t.TempDir(), Getenv: os.Getenv}
	if _, err := tokens.Set("prod", at("https://a.example"), "old", true); err != nil {
		t.Fatal(err)
	}
	if err := tokens.Delete("prod", at("https://a.example")); err != nil {
		t.Fatal(err)
	}
	// A terminal that began before the profile got another service reads the token after each step.
	got := map[string]bool{}
	isReading := false
	durable.Watch(func(durable.Change) {
		if isReading {
			return
		}
		isReading = true
		token, _ := tokens.Get(t.Context(), "prod", at("https://a.example"))
		got[token] = true
		isReading = false
	})
	t.Cleanup(func() { durable.Watch(func(durable.Change) {}) })
	if _, err := tokens.Set("prod", at("https://b.example"), "new", true); err != nil {
		t.Fatal(err)
	}
	if got["new"] {
		t.Error("the token of b.example went to a.example while it was stored")
	}
	if token, err := tokens.Get(t.Context(), "prod", at("https://b.example")); err != nil || token != "new" {
		t.Errorf("got %q, %v, want the token at its service", token, err)
	}
}

// A token that could not be stored with its service is not used.
func TestTokenWithoutItsService(t *testing.T) {
	t.Parallel()
	tokens := profile.Tokens{Dir: t.TempDir(), Getenv: os.Getenv}
	origins := filepath.Join(tokens.Dir, "origins")
	if err := os.WriteFile(origins, nil, 0o600); err != nil { // A file where the folder should be.
		t.Fatal(err)
	}
	p := profile.Profile{BaseURL: "https://b.example", TokenStorage: profile.StorageFile}
	if _, err := tokens.Set("prod", p, "new", true); err == nil {
		t.Fatal("got no error")
	}
	if err := os.Remove(origins); err != nil {
		t.Fatal(err)
	}
	p.BaseURL = "https://a.example"
	if got, err := tokens.Get(t.Context(), "prod", p); got != "" || !errors.Is(err, profile.ErrNoToken) {
		t.Errorf("got %q, %v at another service, want no token", got, err)
	}
}

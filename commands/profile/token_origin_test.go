package profile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zalando/go-keyring"

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
			if elsewhere, ok := errors.AsType[*profile.OriginError](err); !ok || elsewhere.Stored != "https://a.example" || elsewhere.Named != p.BaseURL {
				t.Errorf("got %q, %v, want that it belongs to a.example", got, err)
			}
		})
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
			got, err := tokens.Get(t.Context(), "prod", profile.Profile{BaseURL: "https://a.example", TokenStorage: profile.StorageFile})
			if got != "" || !errors.Is(err, profile.ErrNoToken) {
				t.Errorf("got %q, %v, want none", got, err)
			}
		})
	}
}

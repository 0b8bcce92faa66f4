package profile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zalando/go-keyring"

	"fundesk/commands/profile"
)

func TestStore(t *testing.T) {
	t.Parallel()
	store := profile.Store{Dir: filepath.Join(t.TempDir(), "a", "b")}
	empty, err := store.Load()
	if err != nil || len(empty.Profiles) != 0 {
		t.Fatalf("got %+v, %v, want an empty configuration", empty, err)
	}
	want := profile.Config{Current: "prod", Profiles: map[string]profile.Profile{
		"prod": {
			BaseURL:      "https://a.example",
			Agent:        "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10",
			ResultCodes:  []string{"a", "b"},
			MaxAttempts:  6,
			TokenStorage: profile.StorageCommand,
			TokenCommand: []string{"pass", "show", `with "quotes"`},
		},
		"demo2": {BaseURL: "embedded:demo2"},
	}}
	if err := store.Change(to(want)); err != nil {
		t.Fatalf("Change: %v", err)
	}
	got, err := store.Load()
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	info, err := os.Stat(store.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(store.Dir, "*.toml*"))
	if hidden, _ := filepath.Glob(filepath.Join(store.Dir, ".*")); err != nil || len(left) != 1 || len(hidden) > 0 {
		t.Errorf("got %v and %v, %v, want no temporary file left", left, hidden, err)
	}
}

// A user with the configuration in another place, linked from here, finds the changes there.
func TestSaveFollowsALink(t *testing.T) {
	t.Parallel()
	kept := filepath.Join(t.TempDir(), "fundesk.toml")
	if err := os.WriteFile(kept, []byte("# Ours.\ncurrent = \"old\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := profile.Store{Dir: t.TempDir()}
	if err := os.Symlink(kept, store.Path()); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if err := store.Change(to(profile.Config{Current: "new"})); err != nil {
		t.Fatalf("Change: %v", err)
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "# Ours.\ncurrent = \"new\"\n" {
		t.Errorf("got %q, %v, want the new configuration below the comment", text, err)
	}
	if target, err := os.Readlink(store.Path()); err != nil || target != kept {
		t.Errorf("got a link to %q, %v, want it as it was", target, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"broken TOML", "current = ", "config.toml"},
		{"an unknown key", "[profiles.a]\nbase_ur = \"x\"", "there is no key profiles.a.base_ur"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := profile.Store{Dir: t.TempDir()}
			if err := os.WriteFile(store.Path(), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Load(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, profile string
		ok            bool
	}{
		{"a word", "prod", true},
		{"digits and dashes", "prod-2_b", true},
		{"nothing", "", false},
		{"a path", "../prod", false},
		{"a dot", "a.b", false},
		{"a space", "a b", false},
		{"too long", strings.Repeat("a", 65), false},
		{"as long as it may be", strings.Repeat("a", 64), true},
		{"all letters and digits to their ends", "AZaz09", true},
		{"a dash behind one letter", "a-", true},
		{"a dash first", "-a", false},
		{"what stands beside letters and digits", "a@", false},
		{"what stands behind them", "a[", false},
		{"small ones", "a`", false},
		{"what stands behind those", "a{", false},
		{"what stands before digits", "a/", false},
		{"what stands behind digits", "a:", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if err := profile.CheckName(test.profile); (err == nil) != test.ok {
				t.Errorf("got %v, want ok %v", err, test.ok)
			}
		})
	}
}

func TestTokenCommand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		command []string
		want    string
		problem string
	}{
		{"prints a token", []string{"sh", "-c", "echo '  abc  '"}, "abc", ""},
		{"does not see a token", []string{"sh", "-c", "echo seen${FUNDESK_TOKEN}"}, "seen", ""},
		{"fails", []string{"sh", "-c", "echo secret; echo locked >&2; exit 3"}, "", "locked"},
		{"prints nothing", []string{"true"}, "", "printed nothing"},
		{"is not there", []string{"no-such-program-at-all"}, "", "not found"},
		{"is not configured", nil, "", "no token is stored"},
	}
	tokens := profile.Tokens{Dir: t.TempDir(), Getenv: os.Getenv}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := tokens.Get(t.Context(), "prod", profile.Profile{
				TokenStorage: profile.StorageCommand,
				TokenCommand: test.command,
			})
			if got != test.want || (err == nil) != (test.problem == "") {
				t.Fatalf("got %q, %v, want %q", got, err, test.want)
			}
			if err != nil && (!strings.Contains(err.Error(), test.problem) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("got %v, want %q and not what it printed", err, test.problem)
			}
		})
	}
}

func TestTokenFile(t *testing.T) {
	t.Parallel()
	tokens := profile.Tokens{Dir: t.TempDir(), Getenv: os.Getenv}
	p := profile.Profile{BaseURL: "https://a.example", TokenStorage: profile.StorageFile}
	storage, err := tokens.Set("prod", p, "abc", true)
	if err != nil || storage != profile.StorageFile {
		t.Fatalf("got %s, %v, want a file", storage, err)
	}
	if got, err := tokens.Get(t.Context(), "prod", p); err != nil || got != "abc" {
		t.Errorf("got %q, %v, want the token", got, err)
	}
	if _, err := tokens.Get(t.Context(), "prod", profile.Profile{BaseURL: p.BaseURL, TokenStorage: profile.StorageKeyring}); err == nil {
		t.Error("got a token for a profile that is pinned to the keyring, want none from the file")
	}
	if err := tokens.Delete("prod", p); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if _, err := tokens.Get(t.Context(), "prod", p); !errors.Is(err, profile.ErrNoToken) {
		t.Errorf("got %v, want no token", err)
	}
}

// Not parallel: the keyring library keeps its provider in a variable.
func TestKeyring(t *testing.T) {
	keyring.MockInit()
	tokens := profile.Tokens{Dir: t.TempDir(), Getenv: withBus}
	p := profile.Profile{BaseURL: "https://a.example", TokenStorage: profile.StorageKeyring}
	storage, err := tokens.Set("prod", p, "abc", false)
	if err != nil || storage != profile.StorageKeyring {
		t.Fatalf("got %s, %v, want the keyring", storage, err)
	}
	if got, err := tokens.Get(t.Context(), "prod", p); err != nil || got != "abc" {
		t.Errorf("got %q, %v, want the token", got, err)
	}
	if err := tokens.Delete("prod", p); err != nil {
		t.Errorf("Delete: %v", err)
	}
	if _, err := tokens.Get(t.Context(), "prod", p); !errors.Is(err, profile.ErrNoToken) {
		t.Errorf("got %v, want no token", err)
	}
	if err := tokens.Delete("prod", p); err != nil {
		t.Errorf("delete again: got %v, want nothing", err)
	}
	keyring.MockInitWithError(errors.New("locked"))
	if _, err := tokens.Set("prod", p, "abc", false); !errors.Is(err, profile.ErrNoKeyring) {
		t.Errorf("got %v, want no keyring", err)
	}
	keyring.MockInitWithError(keyring.ErrSetDataTooBig)
	if _, err := tokens.Set("prod", p, strings.Repeat("a", 5000), false); err == nil ||
		errors.Is(err, profile.ErrNoKeyring) ||
		!strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v, want that the token is too large", err)
	}
	if entries, _ := os.ReadDir(tokens.Dir); len(entries) != 0 {
		t.Errorf("got %v in the folder, want nothing in plain text", entries)
	}
}

// Without a session bus the keyring is not asked: the library would start a daemon without an end.
func TestNoBus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		environment map[string]string
	}{
		{"nothing", nil},
		{"a folder without a bus", map[string]string{"XDG_RUNTIME_DIR": t.TempDir()}},
		{"a bus that would be started", map[string]string{"DBUS_SESSION_BUS_ADDRESS": "autolaunch:"}},
		{
			name:        "a bus that would be started, with a place",
			environment: map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere;autolaunch:scope=*user"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tokens := profile.Tokens{
				Dir:    t.TempDir(),
				Getenv: func(name string) string { return test.environment[name] },
			}
			_, err := tokens.Get(t.Context(), "prod", profile.Profile{TokenStorage: profile.StorageKeyring})
			if !errors.Is(err, profile.ErrNoKeyring) || !strings.Contains(err.Error(), "no session bus") {
				t.Errorf("got %v, want no session bus", err)
			}
		})
	}
}

// A configuration is read, written and read again as it was, or refused.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"current = \"prod\"\n[profiles.prod]\nbase_url = \"https://a.example\"\nresult_codes = [\"a\"]\nmax_attempts = 3\n",
		"[profiles.\"a b\"]\n", "current = 7", "[profiles]", "\x00", "[profiles.prod]\ntoken_command = \"x\"",
		"[[profiles]]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		store := profile.Store{Dir: t.TempDir()}
		if err := os.WriteFile(store.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		config, err := store.Load()
		if err != nil {
			return
		}
		if err := store.Change(to(config)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := store.Load()
		if diff := cmp.Diff(config, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%q: got another configuration: %v\n%s", text, err, diff)
		}
	})
}

// to returns the change to a configuration.
func to(want profile.Config) func(*profile.Config) error {
	return func(config *profile.Config) error {
		*config = want
		return nil
	}
}

// Programs that change the configuration at once lose none of what the others did.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	store := profile.Store{Dir: filepath.Join(t.TempDir(), "fundesk")}
	const programs = 20
	var group sync.WaitGroup
	for i := range programs {
		group.Go(func() {
			err := store.Change(func(config *profile.Config) error {
				config.Keep(fmt.Sprintf("p%d", i), profile.Profile{BaseURL: "https://a.example"})
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	config, err := store.Load()
	if _, named := config.Profiles[config.Current]; err != nil || len(config.Profiles) != programs || !named {
		t.Errorf("got %d profiles, the current one %q, %v, want all %d",
			len(config.Profiles), config.Current, err, programs)
	}
}

// A configuration that cannot be read, or a change that fails, stays as it is.
func TestChangeThatFails(t *testing.T) {
	t.Parallel()
	store := profile.Store{Dir: t.TempDir()}
	for _, text := range []string{"current = ", "current = \"prod\"\n"} {
		if err := os.WriteFile(store.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := store.Change(func(config *profile.Config) error {
			config.Current = "other"
			return errors.New("no")
		})
		if kept, _ := os.ReadFile(store.Path()); err == nil || string(kept) != text {
			t.Errorf("got %q, %v, want %q as it was", kept, err, text)
		}
	}
}

// A file that another user could have written is not obeyed.
func TestConfigurationThatOthersCanWrite(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the folders of a Windows profile are closed to others")
	}
	store := profile.Store{Dir: t.TempDir()}
	err := os.WriteFile(store.Path(), []byte("[profiles.a]\nbase_url = \"https://a.example\"\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if config, err := store.Load(); err != nil || len(config.Profiles) != 1 {
		t.Fatalf("got %+v, %v, want one profile", config, err)
	}
	if err := os.Chmod(store.Path(), 0o666); err != nil {
		t.Fatal(err)
	}
	if config, err := store.Load(); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("got %+v, %v, want it refused with the way out", config, err)
	}
}

// The file has dial as a word, or as a program with its arguments.
func TestDialIsAWordOrAList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]profile.Dial{
		`dial = "tel"`:                     {"tel"},
		`dial = ["softphone", "{number}"]`: {"softphone", "{number}"},
		`dial = 7`:                         nil,
		`dial = [7]`:                       nil,
	} {
		store := profile.Store{Dir: t.TempDir()}
		if err := os.WriteFile(store.Path(), []byte("[profiles.p]\nbase_url = \"https://example.org\"\n"+text+
			"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		config, err := store.Load()
		if (err == nil) != (want != nil) || err == nil && !slices.Equal(config.Profiles["p"].Dial, want) {
			t.Errorf("%s: got %q, %v, want %q", text, config.Profiles["p"].Dial, err, want)
		}
	}
}

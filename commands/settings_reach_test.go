package commands

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/commands/cli"
	"fundesk/commands/desk"
	"fundesk/service/servicetest"
)

// settingsSession is a session with an environment, and a profile p in its configuration.
func settingsSession(t *testing.T, environment map[string]string, settings string) *cli.Session {
	t.Helper()
	dir := t.TempDir()
	config := "[profiles.p]\nbase_url = \"https://api.example.org\"\n" + settings
	servicetest.Check(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600))
	all := map[string]string{"HOME": t.TempDir(), "FUNDESK_CONFIG_DIR": dir, "FUNDESK_PROFILE": "p", "FUNDESK_TOKEN": "secret"}
	maps.Copy(all, environment)
	return cli.NewSession(cli.App{
		In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Now: time.Now, Getenv: func(name string) string { return all[name] },
	}, nil)
}

// What a profile says of calls reaches the Desk.
func TestProfileReachesTheDesk(t *testing.T) {
	t.Parallel()
	s := settingsSession(t, nil, "result_codes = [\"later\", \"yes\"]\nmax_attempts = 7\n")
	screen, err := desk.ScreenOptions(t.Context(), s, "desk", false)
	servicetest.Check(t, err)
	if got := screen.ResultCodes; !slices.Equal(got, []string{"later", "yes"}) {
		t.Errorf("result codes: got %q, want those of the profile", got)
	}
	if screen.MaxAttempts != 7 {
		t.Errorf("attempts: got %d, want the 7 of the profile", screen.MaxAttempts)
	}
}

// The screen begins with the end of a token that is near.
func TestTokenEndReachesTheScreen(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]string{13*24*time.Hour + time.Hour: "the token ends in 13 days, on 20", 15 * 24 * time.Hour: ""} {
		s := settingsSession(t, map[string]string{"FUNDESK_TOKEN": tokenOf(left)}, "")
		screen, err := desk.ScreenOptions(t.Context(), s, "desk", false)
		if err != nil || !strings.HasPrefix(screen.Notice, want) || (want == "") != (screen.Notice == "") {
			t.Errorf("with %s left: got %q, %v, want %q", left, screen.Notice, err, want)
		}
	}
}

// Nobody who asked for no colours gets any, on the whole screen.
func TestNoColorReachesTheScreen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		environment map[string]string
		flag, want  bool
	}{
		{"nobody asked", nil, false, false},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, false, true},
		{"--no-color", nil, true, true},
	} {
		s := settingsSession(t, test.environment, "")
		s.Flags.NoColor = test.flag
		screen, err := desk.ScreenOptions(t.Context(), s, "desk", false)
		servicetest.Check(t, err)
		if screen.NoColor != test.want {
			t.Errorf("%s: got no colours %v, want %v", test.name, screen.NoColor, test.want)
		}
	}
}

// Cells that a spreadsheet would take for formulas are guarded where that is asked for, and
// nowhere else.
func TestSpreadsheetSafeReachesTheFile(t *testing.T) {
	t.Parallel()
	page := `{"edges":[{"node":{"uuid":"` + testID + `","lastName":"=1+1"},"cursor":"c"}],"pageInfo":{"hasNextPage":false,"hasPreviousPage":false,"startCursor":"c","endCursor":"c"}}`
	list := []string{"person", "list", "-o", "csv", "--no-header", "--columns", "lastName"}
	for flag, want := range map[string]string{"": "=1+1\r\n", "--spreadsheet-safe": "'=1+1\r\n"} {
		out, errs, code := against(t, status(200, "application/json", page), append(slices.Clone(list), strings.Fields(flag)...)...)
		if out != want || code != 0 {
			t.Errorf("%s: got exit code %d, %q and %q, want %q", flag, code, out, errs, want)
		}
	}
}

// A folder is where its variable says, else where XDG says, else below the home folder.
func TestFoldersOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ variable, xdg, below, command string }{
		{"FUNDESK_CONFIG_DIR", "XDG_CONFIG_HOME", ".config/fundesk", "profile add q --base-url https://q.example.org"},
		{"FUNDESK_STATE_DIR", "XDG_STATE_HOME", ".local/state/fundesk", "call attempt " + testID + " --outbox --base-url http://127.0.0.1:1 --retry 0"},
		{"FUNDESK_DATA_DIR", "XDG_DATA_HOME", ".local/share/fundesk", "person list --base-url embedded:q"},
	} {
		root := t.TempDir()
		environment := map[string]string{"HOME": filepath.Join(root, "home"), "FUNDESK_TOKEN": "secret"}
		used := func() string {
			var data string
			Run(t.Context(), strings.Fields(test.command), cli.App{
				In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Now: time.Now,
				Getenv: func(name string) string { return environment[name] },
				Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
				OpenEmbedded: func(_ context.Context, _, dataDir string) (cli.Embedded, error) {
					data = dataDir
					return nil, errors.New("not here")
				},
			})
			return data
		}
		for _, step := range []struct{ variable, value, want string }{
			{"", "", filepath.Join(root, "home", filepath.FromSlash(test.below))},
			{test.xdg, filepath.Join(root, "xdg"), filepath.Join(root, "xdg", "fundesk")},
			{test.variable, filepath.Join(root, "own"), filepath.Join(root, "own")},
		} {
			environment[step.variable] = step.value
			data := used()
			if test.variable == "FUNDESK_DATA_DIR" {
				if data != step.want {
					t.Errorf("%s=%s: got data in %q, want %q", step.variable, step.value, data, step.want)
				}
			} else if _, err := os.Stat(step.want); err != nil {
				t.Errorf("%s=%s: got nothing in %s: %v", step.variable, step.value, step.want, err)
			}
		}
	}
}

package commands

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// A command changes of a profile only what it was given: another program may change the rest meanwhile.
func TestProfileChangedByTwoPrograms(t *testing.T) {
	t.Parallel()
	f := newSettingsService(t)
	for name, test := range map[string]struct{ other, show, want, says string }{
		"another setting": {
			other: "set work languages=nl,fy",
			show:  ".agent, .languages[]",
			want:  "44444444-4444-4444-8444-444444444444\nnl\nfy",
		},
		"another service": {
			other: "set work base_url=https://b.example --yes",
			show:  ".base_url, .agent",
			want:  "https://b.example\nnull",
			says:  `profile "work" was for ` + f.URL + ` and is for https://b.example now`,
		},
		"removed": {
			other: "remove work --yes",
			says:  `profile "work" was removed meanwhile`,
		},
	} {
		environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_TOKEN": "token"}
		profile := func(args string) (out, errs string, code int) {
			t.Helper()
			return runWith(t, environment, "", "profile "+args)
		}
		profile("add work --base-url " + f.URL)
		f.meanwhile = func() {
			if _, errs, code := profile(test.other); code != 0 {
				t.Errorf("%s: got %d %q from the other program", name, code, errs)
			}
		}
		_, errs, code := profile("add work --agent-name joost")
		isRefused := code == 6 && strings.Contains(errs, test.says)
		if test.says == "" && code != 0 || test.says != "" && !isRefused {
			t.Errorf("%s: got %d %q, want %q", name, code, errs, test.says)
		}
		out, _, _ := runWith(t, environment, "", "profile show work -o tsv --jq", test.show)
		servicetest.Same(t, name, test.want, strings.TrimSpace(out))
	}
}

// A login does not point a profile to its service that another program has made for another one meanwhile.
func TestProfileMadeDuringLogin(t *testing.T) {
	t.Parallel()
	f := newSettingsService(t)
	environment := map[string]string{"HOME": t.TempDir()}
	f.meanwhile = func() {
		tryWith(t, environment, "", "profile add work --base-url https://b.example").Ends(0)
	}
	tryWith(t, environment, "token",
		"auth login --profile work --base-url", f.URL, "--with-token", "--insecure-storage",
	).Ends(2, `profile "work" is for https://b.example, not for `+f.URL)
	out, _, _ := runWith(t, environment, "", "profile show work -o tsv --jq '.base_url, .token_storage'")
	if got := strings.TrimSpace(out); got != "https://b.example\nnull" {
		t.Errorf("got the profile %q, want it as it was made", got)
	}
	stored, _ := filepath.Glob(filepath.Join(environment["HOME"], ".config", "fundesk", "tokens", "*"))
	if len(stored) > 0 {
		t.Errorf("got %q, want no stored token", stored)
	}
}

// A pull does not move a position that another one uses: what --reset has begun again would never be read.
func TestPullBesideAnother(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"call", "changes"} {
		h, l := copyHome(t)
		l.environment["FUNDESK_TOKEN"] = h.Token(servicetest.May("calls:read", "changes:read"))
		isFirst := true
		address := serving(t, func(w http.ResponseWriter, r *http.Request) {
			isPage := strings.HasSuffix(r.URL.Path, "/calls") || strings.HasSuffix(r.URL.Path, "/changes")
			if isPage && isFirst {
				isFirst = false
				l.try(t, "pull", kind, "--reset").Ends(1, "another pull uses the position")
				if kind == "call" {
					l.must(t, "pull", kind, "--since", "7d", "-q")
				}
			}
			h.Handler.ServeHTTP(w, r)
		})
		l.environment["FUNDESK_BASE_URL"] = address
		l.must(t, "pull", kind, "-q")
		l.must(t, "pull", kind, "--reset", "-q")
		if isFirst {
			t.Errorf("%s: got no request of a page", kind)
		}
	}
}

// A logout and the removal of a profile say that changes wait, and what sends them.
func TestUnsentChangesAreNamed(t *testing.T) {
	t.Parallel()
	address := serving(t, readsThen(status(http.StatusServiceUnavailable, "text/plain", "down")))
	for _, line := range []string{"auth logout --profile work", "profile remove work --yes -q"} {
		environment := map[string]string{"HOME": t.TempDir()}
		fundesk := func(stdin, line string) string {
			_, errs, _ := runWith(t, environment, stdin, line)
			return errs
		}
		fundesk("token", "auth login --profile work --base-url "+address+" --with-token --insecure-storage")
		fundesk("", "profile add idle --base-url https://b.example")
		fundesk("", "call attempt "+testID+" --profile work --outbox --yes")
		fundesk("", "profile set idle token_storage=file")
		if errs := fundesk("", strings.ReplaceAll(line, "work", "idle")); strings.Contains(errs, "not sent") {
			t.Errorf("%s: got %q for another service, want nothing of changes", line, errs)
		}
		if errs := fundesk("", line); !strings.Contains(errs, "1 change for ") || !strings.Contains(errs, "not sent") {
			t.Errorf("%s: got %q, want the unsent change named", line, errs)
		}
	}
}

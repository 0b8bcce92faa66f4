package commands

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"fundesk/commands/account"
	"fundesk/commands/cli"
)

func TestWelcome(t *testing.T) {
	t.Parallel()
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	expired := part(`{"alg":"EdDSA"}`) + "." + part(`{"sub":"a","exp":`+strconv.FormatInt(
		time.Now().Add(-49*time.Hour).Unix(),
		10,
	)+`}`) + ".c2ln"
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/other"):
			http.NotFound(w, r)
			return
		case strings.HasPrefix(r.URL.Path, "/page"):
			status(200, "text/html", "<h1>Welcome</h1>")(w, r)
			return
		}
		if r.Header.Get("Authorization") != "Bearer good" {
			status(401, "application/json", `{}`)(w, r)
			return
		}
		status(200, "application/json", `{"edges":[]}`)(w, r)
	})
	tests := []struct {
		name, profile, url, token string
		want, next                string
	}{
		{"nothing is set up", "", "", "", "No service is set up yet.", "fundesk auth login --profile NAME"},
		{"a profile that is not there", "nowhere", "", "", "", "fundesk demo"},
		{"the demo", "demo", "", "", "nothing needs to be set up", "fundesk tui --profile demo"},
		{"no token", "", address, "", "no token", "fundesk auth login"},
		{"an expired token", "", address, expired, "expired 2d ago", "unset FUNDESK_TOKEN"},
		{"a refused token", "", address, "bad", "does not accept", "unset FUNDESK_TOKEN"},
		{"another interface", "", address + "/other", "good", "not with version 1", "fundesk profile show"},
		{"a page of somebody else", "", address + "/page", "good", "not with version 1", "fundesk doctor"},
		{"offline", "", nowhere, "good", "not in reach: cannot reach 127.0.0.1:1: connect: ", "fundesk outbox list"},
		{"ready", "", address, "good", "the service answers", "fundesk tui"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			environment := homeAt(t, test.url, test.token, "FUNDESK_PROFILE", test.profile)
			var out bytes.Buffer
			s := cli.NewSession(appOf(environment, strings.NewReader(""), &out, &out), nil)
			s.Flags.Timeout = time.Minute // A busy machine is not what is tested.
			if test.name != "ready" && test.name != "the demo" && test.profile == "" {
				code := Run(t.Context(), []string{"doctor", "--timeout", "1m"}, s.App)
				if code == 0 ||
					!strings.Contains(out.String(), "wrong") ||
					!strings.Contains(out.String(), "hint: ") ||
					strings.Contains(out.String(), expired) {
					t.Errorf("doctor: got exit code %d and %q, want what is wrong and the way out", code, out.String())
				}
				out.Reset()
			}
			if err := account.Welcome(t.Context(), s); err != nil {
				t.Fatalf("welcome: %v", err)
			}
			got := out.String()
			if !strings.Contains(got, test.want) ||
				!strings.Contains(got, test.next) ||
				strings.Contains(got, expired) {
				t.Errorf("got %q, want %q and %q", got, test.want, test.next)
			}
		})
	}
}

package commands

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// complete names an effect on the donor only if the service confirmed it.
func TestEffectsAreConfirmed(t *testing.T) {
	t.Parallel()
	for effect, want := range map[string]string{
		"opt-out":    "no more phone calls to this donor: saved",
		"no-contact": "no more contact with this donor: saved",
		"":           "",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if effect != "" {
				w.Header().Set("Fundesk-Effects", effect)
			}
			fmt.Fprintf(w, `{"uuid":%q,"status":"completed"}`, testID)
		}))
		environment := homeAt(t, server.URL, "token")
		_, errs, code := runWith(
			t, environment, "", "call complete", testID, "--result-code", "stop", "--any-result", "-o", "id",
		)
		server.Close()
		if code != 0 || !strings.Contains(errs, want) || strings.Contains(errs, "saved") != (want != "") {
			t.Errorf("%q: got exit code %d and %q, want %q", effect, code, errs, want)
		}
	}
}

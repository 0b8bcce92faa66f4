package commands

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// What a token without an account's name has left belongs to the profile or, without one, to the service: the
// next such token sends it.
func TestARenewedOpaqueTokenSendsWhatWaits(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "p"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			renewed(t, name)
		})
	}
}

func renewed(t *testing.T, name string) {
	var down atomic.Bool
	down.Store(true)
	server := httptest.NewServer(readsThen(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			status(503, "application/json", `{}`)(w, r)
			return
		}
		status(200, "application/json", `{"uuid":"`+testID+`","status":"requested","attempts":[{}]}`)(w, r)
	}))
	defer server.Close()
	home := t.TempDir()
	config := "[profiles.p]\nbase_url = \"" + server.URL + "\"\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(token string, args ...string) (errs string, code int) {
		environment := map[string]string{"HOME": home, "FUNDESK_CONFIG_DIR": home, "FUNDESK_PROFILE": name, "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": token}
		var stderr bytes.Buffer
		code = Run(t.Context(), args, hasty(appOf(environment, strings.NewReader(""), io.Discard, &stderr)))
		return stderr.String(), code
	}
	if errs, code := run("abc", "call", "cancel", testID, "--yes", "--outbox"); code != 10 {
		t.Fatalf("got %d %q, want that it waits", code, errs)
	}
	down.Store(false)
	if errs, code := run("renewed", "outbox", "send"); code != 0 || strings.Contains(errs, "kept") {
		t.Errorf("got %d %q, want it sent", code, errs)
	}
	if errs, code := run("renewed", "outbox", "send", "-o", "json"); code != 0 {
		t.Errorf("got %d %q, want nothing left", code, errs)
	}
}

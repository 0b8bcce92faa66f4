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

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// What was kept with a token that names no account is the profile's: with the next token it is
// listed and sent, as are the entries and drafts of the version that went by the token itself. The
// profile keeps its name meanwhile.
func TestARenewedOpaqueTokenFindsItsOutbox(t *testing.T) {
	t.Parallel()
	down, tokens := true, []string(nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			status(200, "application/json", `{"uuid":"`+testID+`","status":"requested","attempts":[]}`)(w, r)
			return
		}
		if down {
			status(503, "application/json", `{}`)(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		tokens = append(tokens, r.Header.Get("Authorization"))
		status(200, "application/json", `{"uuid":"`+testID+`","status":"requested","attempts":[{}]}`)(w, r)
	}))
	defer server.Close()
	home := t.TempDir()
	config := "[profiles.p]\nbase_url = \"" + server.URL + "\"\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(token string, args ...string) (out, errs string, code int) {
		environment := map[string]string{"HOME": home, "FUNDESK_CONFIG_DIR": home, "FUNDESK_STATE_DIR": home, "FUNDESK_PROFILE": "p", "FUNDESK_TOKEN": token}
		var stdout, stderr bytes.Buffer
		code = Run(t.Context(), args, hasty(appOf(environment, strings.NewReader(""), &stdout, &stderr)))
		return stdout.String(), stderr.String(), code
	}
	const former = "token-ba7816bf8f01cfea" // Of the token abc.
	box, err := outbox.Open(filepath.Join(home, "outbox"), outbox.Options{BaseURL: server.URL, Account: former})
	if err != nil {
		t.Fatal(err)
	}
	call := apitype.MustParseUUID(testID)
	if err := box.SaveDraft(call, outbox.Draft{Notes: "precious"}); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := run("abc", "call", "attempt", testID, "--outbox"); code != 10 {
		t.Fatalf("attempt: got %d %q, want that it waits", code, errs)
	}
	now, err := outbox.Open(filepath.Join(home, "outbox"), outbox.Options{BaseURL: server.URL, Account: "profile-p", Former: former})
	if err != nil {
		t.Fatal(err)
	}
	if d, found, err := now.Draft(call); err != nil || !found || d.Notes != "precious" {
		t.Errorf("draft: got %+v %t %v, want the notes", d, found, err)
	}
	change, err := apiclient.AddAttemptChange(call, apitype.AddAttemptRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Add(outbox.NewEntry(change)); err != nil {
		t.Fatal(err)
	}
	down = false
	for _, step := range []struct {
		token string
		want  int
	}{{"renewed", 0}, {"abc", 0}} {
		if _, errs, code := run(step.token, "outbox", "send"); code != step.want {
			t.Errorf("send with %s: got %d %q, want %d", step.token, code, errs, step.want)
		}
	}
	if got := strings.Join(tokens, ","); got != "Bearer renewed,Bearer abc" {
		t.Errorf("sent with %s, want the profile's entry with the new token, and the earlier one with its own", got)
	}
}

// Without a profile what a token without an account's name has left belongs to the service: the
// next such token sends it.
func TestARenewedTokenWithoutAProfileSendsWhatWaits(t *testing.T) {
	t.Parallel()
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
	run := func(token string, args ...string) (errs string, code int) {
		environment := map[string]string{"HOME": home, "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": token}
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

package commands

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// A result waits for a refused correction. With --without-refused outbox send sends it alone, and the correction stays.
func TestOutboxSendWithoutRefused(t *testing.T) {
	t.Parallel()
	call := apitype.NewUUID()
	attempts := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if !strings.Contains(r.URL.Path, "/calls/") {
			status(http.StatusForbidden, "application/json", `{"message":"not allowed"}`)(w, r)
			return
		}
		if r.Method == http.MethodPut {
			attempts++
		}
		status(http.StatusOK, "application/json", `{"uuid":"`+call.String()+`","status":"requested","attempts":[]}`)(w, r)
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	run := func(args ...string) (code int, text string) {
		environment := map[string]string{"HOME": home, "FUNDESK_STATE_DIR": home, "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "token"}
		var stderr bytes.Buffer
		code = Run(t.Context(), args, appOf(environment, strings.NewReader(""), io.Discard, &stderr))
		return code, stderr.String()
	}
	box, err := outbox.Open(filepath.Join(home, "outbox"), outbox.Options{BaseURL: server.URL, Account: "profile-"})
	servicetest.Check(t, err)
	fix, err := apiclient.UpdatePersonChange(apitype.NewUUID(), apitype.UpdatePersonRequest{})
	servicetest.Check(t, err)
	first, err := box.Add(outbox.Entry{Change: fix})
	servicetest.Check(t, err)
	attempt, err := apiclient.AddAttemptChange(call, apitype.AddAttemptRequest{})
	servicetest.Check(t, err)
	_, err = box.Add(outbox.Entry{Change: attempt, After: first.ID})
	servicetest.Check(t, err)
	for range 2 {
		code, text := run("outbox", "send")
		if code != 9 || attempts != 0 {
			t.Fatalf("got exit code %d and %d attempts (%s), want 9 while the correction is refused", code, attempts, text)
		}
	}
	code, text := run("outbox", "send", "--without-refused")
	entries, _, err := box.List()
	servicetest.Check(t, err)
	if code != 9 || attempts != 1 || len(entries) != 1 || entries[0].ID != first.ID {
		t.Errorf("got exit code %d, %d attempts and %+v (%s), want the attempt sent alone", code, attempts, entries, text)
	}
}

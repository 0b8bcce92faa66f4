package commands

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// A result waits for a refused correction. With --without-refused outbox send sends it alone, and the correction stays.
// --yes is the answer to the question that send asks on a terminal.
func TestOutboxSendWithoutRefused(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--without-refused", "--yes"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			sendWithoutRefused(t, flag)
		})
	}
}

func sendWithoutRefused(t *testing.T, flag string) {
	t.Helper()
	call := apitype.NewUUID()
	attempts := 0
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if !strings.Contains(r.URL.Path, "/calls/") {
			status(http.StatusForbidden, "application/json", `{"message":"not allowed"}`)(w, r)
			return
		}
		if r.Method == http.MethodPut {
			attempts++
		}
		status(http.StatusOK, "application/json",
			`{"uuid":"`+call.String()+`","status":"requested","attempts":[]}`)(w, r)
	})
	home := t.TempDir()
	l := lineAt(t, address, "token", "HOME", home, "FUNDESK_STATE_DIR", home)
	box, err := outbox.Open(filepath.Join(home, "outbox"), outbox.Options{BaseURL: address, Account: "profile-"})
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
		l.try(t, "outbox send").MustEnd(9)
		servicetest.Same(t, "attempts while the correction is refused", 0, attempts)
	}
	l.try(t, "outbox send "+flag).Ends(9)
	servicetest.Same(t, "attempts without the correction", 1, attempts)
	entries, _, err := box.List()
	servicetest.Check(t, err)
	if len(entries) != 1 || entries[0].ID != first.ID {
		t.Errorf("got %+v, want the correction alone", entries)
	}
}

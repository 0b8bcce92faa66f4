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

// A result waits for a refused correction, with --yes, too. With --without-refused outbox send sends it alone, and the
// correction stays.
func TestOutboxSendWithoutRefused(t *testing.T) {
	t.Parallel()
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
	for _, line := range []string{"outbox send", "outbox send --yes", "outbox send"} {
		l.try(t, line).MustEnd(9)
		servicetest.Same(t, "attempts while the correction is refused", 0, attempts)
	}
	l.try(t, "outbox send --without-refused").Ends(9)
	servicetest.Same(t, "attempts without the correction", 1, attempts)
	entries, _, err := box.List()
	servicetest.Check(t, err)
	if len(entries) != 1 || entries[0].ID != first.ID {
		t.Errorf("got %+v, want the correction alone", entries)
	}
}

package commands

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A change that has ended is shown for a day, without what was typed: its text is erased from the disk.
func TestOutboxShowOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	for outcome, line := range map[string]string{"accepted": "outbox send", "dropped": "outbox drop --all --yes"} {
		var isUp atomic.Bool
		server := httptest.NewServer(readsThen(func(w http.ResponseWriter, r *http.Request) {
			answer := status(http.StatusServiceUnavailable, "text/plain", "down")
			if isUp.Load() {
				answer = status(http.StatusOK, "application/json", `{"uuid":"`+testID+`","status":"completed"}`)
			}
			answer(w, r)
		}))
		t.Cleanup(server.Close)
		environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "token"}
		now := time.Date(2026, 6, 17, 13, 0, 0, 0, time.UTC)
		fundesk := func(line string) (out, errs string, code int) {
			var stdout, stderr bytes.Buffer
			app := appOf(environment, strings.NewReader(""), &stdout, &stderr)
			app.Now = func() time.Time { return now }
			app.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
			code = Run(t.Context(), strings.Fields(line), app)
			return stdout.String(), stderr.String(), code
		}
		if _, errs, code := fundesk("call complete " + testID + " --result-code reached --notes typed-words --outbox --yes"); code != 10 {
			t.Fatalf("%s: got exit code %d and %s, want the change in the outbox", outcome, code, errs)
		}
		id, _, _ := fundesk("outbox list -o id")
		show := "outbox show " + strings.TrimSpace(id)
		if out, errs, code := fundesk(show); code != 0 || !strings.Contains(out, "typed-words") {
			t.Fatalf("%s: got exit code %d, %q and %q, want the change as it will be sent", outcome, code, out, errs)
		}
		isUp.Store(true)
		now = now.Add(time.Hour)
		if out, errs, code := fundesk(line); code != 0 {
			t.Fatalf("%s: got exit code %d, %q and %q", line, code, out, errs)
		}
		now = now.Add(23*time.Hour + 50*time.Minute)
		for _, format := range []string{"", " -o json"} {
			out, errs, code := fundesk(show + format)
			for _, want := range []string{outcome, testID, strings.TrimSpace(id), server.URL, "2026-06-17T14:00:00"} {
				if code != 0 || !strings.Contains(out, want) || strings.Contains(out, "typed-words") {
					t.Errorf("%s: got exit code %d, %q and %q, want %q and nothing of what was typed", outcome, code, out, errs, want)
				}
			}
		}
		now = now.Add(20 * time.Minute)
		if out, errs, code := fundesk(show); code != 3 || !strings.Contains(errs, "there is no entry") {
			t.Errorf("%s, after a day: got exit code %d, %q and %q, want no entry", outcome, code, out, errs)
		}
	}
}

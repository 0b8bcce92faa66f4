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

	"fundesk/commands/cli"
)

// A round of sending that ends with a change refused says so, exits with 9, and keeps its text.
func TestOutboxSendTellsWhatIsRefused(t *testing.T) {
	t.Parallel()
	var refuses atomic.Bool
	server := httptest.NewServer(readsThen(func(w http.ResponseWriter, r *http.Request) {
		answer := status(503, "text/plain", "down")
		if refuses.Load() {
			answer = status(409, "application/problem+json", `{"title":"no","detail":"the call is completed"}`)
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "secret-token"}
	now := time.Date(2026, 6, 17, 13, 0, 0, 0, time.UTC)
	fundesk := func(line string) (out, errs string, code int) {
		var stdout, stderr bytes.Buffer
		code = Run(t.Context(), strings.Fields(line), cli.App{
			In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: func() time.Time { return now },
			Getenv: func(name string) string { return environment[name] },
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
		return stdout.String(), stderr.String(), code
	}
	if _, errs, code := fundesk("call attempt " + testID + " --outbox"); code != 10 {
		t.Fatalf("got exit code %d and %s, want 10 from a service that is down", code, errs)
	}
	refuses.Store(true)
	now = now.Add(time.Hour)
	if out, errs, code := fundesk("outbox send"); code != 9 || !strings.Contains(out, "refused\t1") || !strings.Contains(errs, "the call is completed") {
		t.Errorf("got exit code %d, %q and %q, want 9 and why it was refused", code, out, errs)
	}
	if out, _, _ := fundesk("outbox list -o ndjson --jq .state"); !strings.Contains(out, "rejected") {
		t.Errorf("got %q in the outbox, want the change with its text", out)
	}
}

package commands

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// An import that was interrupted goes on with its results file: no line is created
// twice, and none is lost, even when the last result was cut.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	const total = 100
	h := servicetest.New(t)
	organization := h.Organization("AID")
	token := h.Token()
	dir := t.TempDir()
	var lines strings.Builder
	for n := range total {
		fmt.Fprintf(&lines, `{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"lastName":"P%d"}}`+"\n", organization, organization, n)
	}
	file, results := filepath.Join(dir, "persons.ndjson"), filepath.Join(dir, "results.ndjson")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(stopAfter int64) (errs string, code int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var seen atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.Handler.ServeHTTP(w, r)
			if r.Method == http.MethodPost && seen.Add(1) == stopAfter {
				cancel() // After the record was saved, before its answer is read.
			}
		}))
		defer server.Close()
		environment := map[string]string{"HOME": dir, "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": token}
		var stderr bytes.Buffer
		code = Run(ctx, []string{"person", "import", file, "--results", results, "--yes"}, App{
			In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &stderr, Now: time.Now,
			Getenv: func(name string) string { return environment[name] },
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
		return stderr.String(), code
	}
	for _, stopAfter := range []int64{20, 30} {
		if errs, code := run(stopAfter); code != 130 || !strings.Contains(errs, "interrupted") {
			t.Fatalf("got exit code %d and %q, want 130", code, errs)
		}
		data, err := os.ReadFile(results)
		if err != nil {
			t.Fatal(err)
		}
		// A crash may cut the line that is being written; what it announces was not sent.
		if err := os.WriteFile(results, append(data, data[:9]...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if errs, code := run(0); code != 0 {
		t.Fatalf("got exit code %d and %q, want 0", code, errs)
	}
	out, errs, code := against(t, func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		h.Handler.ServeHTTP(w, r)
	}, "person", "list", "--all", "--columns", "lastName", "-o", "tsv")
	names := map[string]bool{}
	for name := range strings.Lines(out) {
		names[name] = true
	}
	if code != 0 || len(names) != total || strings.Count(out, "\n") != total {
		t.Errorf("got %d persons with %d names (exit code %d, %s), want %d", strings.Count(out, "\n"), len(names), code, errs, total)
	}
}

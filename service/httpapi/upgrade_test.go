package httpapi_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/sqlstore"
)

// earlier reads a file that a program of 0.1.0 left: a database with its key, the token of an
// account, and each record as it was answered then.
func earlier(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "0.1.0", name))
	if err == nil && strings.HasSuffix(name, ".gz") {
		var packed *gzip.Reader
		if packed, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(packed)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDatabaseOfTheFirstVersion serves a database that 0.1.0 made: tokens are good, each record is
// answered as it was, and what waits is in the queue.
func TestDatabaseOfTheFirstVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fundeskd.db")
	for name, content := range map[string][]byte{path: earlier(t, "fundeskd.db.gz"), path + ".key": earlier(t, "fundeskd.db.key")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: "sqlite:" + path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	now := func() time.Time { return time.Date(2026, 11, 22, 14, 34, 0, 0, time.UTC) } // A minute later.
	rules, err := service.New(t.Context(), service.Options{Store: store, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	handler := httpapi.New(httpapi.Options{Service: rules, Now: now})
	ask := func(path string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(earlier(t, "token"))))
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer
	}
	get := func(path string) (record map[string]any) {
		t.Helper()
		answer := ask(path)
		if err := json.Unmarshal(answer.Body.Bytes(), &record); answer.Code != http.StatusOK || err != nil {
			t.Fatalf("%s: got %d %.300s, %v", path, answer.Code, answer.Body, err)
		}
		return record
	}
	records, waiting := 0, 0
	lines := bufio.NewScanner(bytes.NewReader(earlier(t, "records.ndjson.gz")))
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); records++ {
		var want map[string]any
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		kind := "persons"
		switch {
		case want["requestedAt"] != nil:
			kind = "calls"
		case want["startsAt"] != nil:
			kind = "pledges"
		}
		if want["status"] == "requested" {
			waiting++
		}
		got := get(fmt.Sprintf("/api/v1/%s/%v", kind, want["uuid"]))
		if diff := cmp.Diff(want, got, cmp.FilterPath(isLink, cmp.Ignore())); diff != "" {
			t.Errorf("%s %v (-0.1.0 +now):\n%s", kind, want["uuid"], diff)
		}
	}
	if records != 52 || waiting == 0 {
		t.Errorf("got %d records, %d of them waiting, want 52 and some", records, waiting)
	}
	// One of them was tried a minute ago.
	if queue := get("/fundesk/v1/queue"); queue["waiting"] != float64(waiting-1) {
		t.Errorf("got %v in the queue, want %d calls that wait", queue, waiting-1)
	}
	if found, err := store.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("check: got %v, %v", found, err)
	}
	// Its token is found among those of the account, and can be replaced.
	if err := rules.SaveTokenUse(t.Context()); err != nil {
		t.Fatal(err)
	}
	tokens, err := rules.Tokens(t.Context())
	if len(tokens) != 1 || err != nil || tokens[0].ExpiresAt == nil || fmt.Sprint(tokens[0].LastUsedOn) != "2026-11-22" {
		t.Fatalf("got %+v, %v, want the token, with its end and when it was used", tokens, err)
	}
	_, _, ended, err := rules.ReplaceTokens(t.Context(), tokens[0].Account, time.Hour, 0)
	if answer := ask("/api/v1/calls"); len(ended) != 1 || err != nil || answer.Code != http.StatusUnauthorized {
		t.Errorf("got %v ended, %v, and %d, want it refused", ended, err, answer.Code)
	}
}

// isLink is a link to a signature file, which is signed anew each time.
func isLink(p cmp.Path) bool { return strings.Contains(p.GoString(), `"signatureSignedUrl"`) }

package commands

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A record that cannot be read is named, and everything that walks lists goes around it: the
// others come, and the end is exit code 8.
func TestOneRecordHidesNoOther(t *testing.T) {
	t.Parallel()
	const times = `"requestedAt":"2026-11-20T09:15:00.000Z","createdAt":"2026-11-20T09:15:00.000Z","lastUpdatedAt":"2026-11-20T09:15:00.000Z","updatedAt":"2026-11-20T09:15:00.000Z"`
	good := func(id string) string {
		return `{"cursor":"` + id + `","node":{"uuid":"00000000-0000-4000-8000-00000000000` + id + `","status":"requested","type":"winback",` + times + `}}`
	}
	const badID = "00000000-0000-4000-8000-0000000000ff"
	bad := strings.NewReplacer("00000000-0000-4000-8000-000000000002", badID, `"requestedAt":"2026-11-20T09:15:00.000Z"`, `"requestedAt":5`,
		`"createdAt":"2026-11-20T09:15:00.000Z"`, `"createdAt":{}`).Replace(good("2"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		second := bad
		if strings.HasPrefix(r.URL.Path, "/null") {
			second = `{"cursor":"2","node":null}`
		}
		_, _ = io.WriteString(w, `{"pageInfo":{"hasNextPage":false,"endCursor":"3"},"edges":[`+good("1")+`,`+second+`,`+good("3")+`]}`)
	}))
	t.Cleanup(server.Close)
	for _, test := range []struct {
		line, base string
		code       int
		lines      int // On stdout.
		stderr     string
		moved      bool // The position of the pull.
	}{
		{"call list --all -o csv --no-header", "", 8, 2, badID, false},
		{"call list --all -o ndjson", "", 0, 3, "", false},
		{"call list --all -o ndjson", "/null", 8, 2, `the element at the cursor \"2\" is not a record`, false},
		{"call list --first 3 -o id", "/null", 8, 2, `the element at the cursor "2" is not a record`, false},
		{"person list --all -o tsv", "", 8, 2, badID, false},
		{"call stats -o csv --no-header", "", 8, 5, badID, false},
		{"call stats -o csv --no-header", "/null", 8, 5, "is not a record", false},
		{"call list --watch --updated-after 2026-11-01 --limit 2 -o id", "", 8, 2, badID, false},
		{"pull call", "", 0, 3, "3 records", true}, // As it was sent: nothing of it is lost.
		{"pull call -o csv --no-header", "", 8, 2, badID, false},
		{"pull call", "/null", 8, 2, "is not a record", false},
	} {
		t.Run(test.line+test.base, func(t *testing.T) {
			t.Parallel()
			environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL + test.base, "FUNDESK_TOKEN": "token"}
			var stdout, stderr bytes.Buffer
			code := Run(t.Context(), strings.Fields(test.line), hasty(appOf(environment, strings.NewReader(""), &stdout, &stderr)))
			if got := strings.Count(stdout.String(), "\n"); code != test.code || got != test.lines || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("got exit %d, %q and %q, want %d, %d lines and %q", code, stdout.String(), stderr.String(), test.code, test.lines, test.stderr)
			}
			kept, err := os.ReadDir(filepath.Join(environment["HOME"], ".local", "state", "fundesk", "pull"))
			if moved := err == nil && len(kept) > 0; moved != test.moved {
				t.Errorf("the position of a pull: got moved %v, want %v", moved, test.moved)
			}
		})
	}
}

// An erasure after which tables wait for their operator is told with what the operator does;
// so is one whose files could not be cleaned at all.
func TestPersonEraseTellsWhatIsNotClean(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status       int
		answer, want string
		code         int
	}{
		{200, `{"scrubbed":{"rewritten":["persons"],"later":["calls","audit"]}}`, "(calls, audit) until its next cleaning: fundeskd clean", 0},
		{200, `{"scrubbed":{"rewritten":["persons"],"later":[]}}`, "", 0},
		{503, `{"title":"Unavailable","status":503,"detail":"it is erased, but the files could not be cleaned; ask for the same again"}`, "ask for the same again", 10},
	} {
		_, errs, code := against(t, func(w http.ResponseWriter, r *http.Request) {
			answer := status(200, "application/json", `{"uuid":"`+testID+`","extensions":["erase"]}`)
			if r.Method == http.MethodPost {
				answer = status(test.status, "application/json", test.answer)
			}
			answer(w, r)
		}, "person", "erase", testID, "--reason", "request 17", "--yes")
		if code != test.code || !strings.Contains(errs, test.want) || test.want == "" && errs != "" {
			t.Errorf("%d %s: got %d %q, want %d %q", test.status, test.answer, code, errs, test.code, test.want)
		}
	}
}

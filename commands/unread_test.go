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
		{"call list --all -o csv", "", 8, 3, badID, false},
		{"call list --all -o ndjson", "", 0, 3, "", false},
		{"call list --all -o ndjson", "/null", 8, 2, `the element at the cursor \"2\" is not a record`, false},
		{"call list --limit 3 -o id", "/null", 8, 2, `the element at the cursor "2" is not a record`, false},
		{"person list --all -o tsv", "", 8, 2, badID, false},
		{"call stats -o csv", "", 8, 6, badID, false},
		{"call stats -o csv", "/null", 8, 6, "is not a record", false},
		{"pull call", "", 0, 3, "3 records", true}, // As it was sent: nothing of it is lost.
		{"pull call -o csv", "", 8, 3, badID, false},
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

func TestAListPrintsTheRecordsBesideOneThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const odd = "11111111-1111-4111-8111-111111111111"
	page := `[{"uuid":"` + odd + `","attemptsCount":"7"},{"uuid":"` + testID + `","attemptsCount":7}]`
	for _, args := range [][]string{{"call", "list", "-o", "csv", "--columns", "uuid,attemptsCount"}} {
		out, errs, code := against(t, status(200, "application/json", page), args...)
		if out != "uuid,attemptsCount\r\n"+testID+",7\r\n" || code != 8 || !strings.Contains(errs, odd) {
			t.Errorf("%v: got %q, %q and exit code %d, want %s, that %s is missing, and 8", args, out, errs, code, testID, odd)
		}
	}
}

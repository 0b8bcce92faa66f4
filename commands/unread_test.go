package commands

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// A record that cannot be read is named, and everything that walks lists goes around it: the
// others come, and the end is exit code 8.
func TestOneRecordHidesNoOther(t *testing.T) {
	t.Parallel()
	const times = `"requestedAt":"2026-11-20T09:15:00.000Z","createdAt":"2026-11-20T09:15:00.000Z","lastUpdatedAt":"2026-11-20T09:15:00.000Z","updatedAt":"2026-11-20T09:15:00.000Z"`
	good := func(id string) string {
		return `{"cursor":"` + id + `","node":{"uuid":"00000000-0000-4000-8000-00000000000` + id +
			`","status":"requested","type":"winback",` + times + `}}`
	}
	const badID = "00000000-0000-4000-8000-0000000000ff"
	bad := strings.NewReplacer("00000000-0000-4000-8000-000000000002", badID,
		`"requestedAt":"2026-11-20T09:15:00.000Z"`, `"requestedAt":5`,
		`"createdAt":"2026-11-20T09:15:00.000Z"`, `"createdAt":{}`).Replace(good("2"))
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		second := bad
		if strings.HasPrefix(r.URL.Path, "/null") {
			second = `{"cursor":"2","node":null}`
		}
		_, _ = io.WriteString(w,
			`{"pageInfo":{"hasNextPage":false,"endCursor":"3"},"edges":[`+good("1")+`,`+second+`,`+good("3")+`]}`)
	})
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
			l := lineAt(t, address+test.base, "token")
			got := l.try(t, test.line).Ends(test.code, test.stderr)
			servicetest.Same(t, "lines", test.lines, strings.Count(got.Stdout, "\n"))
			kept, err := os.ReadDir(filepath.Join(l.environment["HOME"], ".local", "state", "fundesk", "pull"))
			servicetest.Same(t, "the position of a pull", test.moved, err == nil && len(kept) > 0)
		})
	}
}

func TestAListPrintsTheRecordsBesideOneThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const odd = "11111111-1111-4111-8111-111111111111"
	page := `[{"uuid":"` + odd + `","attemptsCount":"7"},{"uuid":"` + testID + `","attemptsCount":7}]`
	for _, args := range []string{"call list -o csv --columns uuid,attemptsCount"} {
		tryAgainst(
			t, status(200, "application/json", page), args,
		).Ends(8, odd).PrintsOnly("uuid,attemptsCount\r\n" + testID + ",7\r\n")
	}
}

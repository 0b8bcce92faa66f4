package commands

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// onePage returns a page of two records that no other page has.
func onePage(n int, info string) string {
	record := func(i int) string {
		return fmt.Sprintf(`{"cursor":"c%d","node":{"uuid":"00000000-0000-4000-8000-%012d","status":"requested","type":"winback","requestedAt":"2026-11-20T09:15:00.000Z","createdAt":"2026-11-20T09:15:00.000Z","lastUpdatedAt":"2026-11-20T09:15:00.000Z"}}`, i, i)
	}
	return `{"pageInfo":` + info + `,"edges":[` + record(2*n) + "," + record(2*n+1) + `]}`
}

// An incomplete list never looks complete: in every format, and in every command that walks lists.
func TestNeverSilentlyShort(t *testing.T) {
	t.Parallel()
	lines := []string{
		"call list --all --jq length", "call list --all --jq .uuid -o ndjson", "call list --limit 9 -o json",
		"call list --status requested --limit 9 -o id",
		"call stats", "call stats -o json", "pull call", "pull person --mark-processed",
		"api GET /api/v1/calls --paginate", "person list --limit 100 --page-size 2",
	}
	for _, noun := range []string{"person", "call", "pledge"} {
		for _, format := range []string{"table", "tsv", "csv", "json", "ndjson", "id"} {
			lines = append(lines, noun+" list --all -o "+format)
		}
	}
	for name, list := range brokenLists {
		for _, line := range lines {
			t.Run(name+"/"+line, func(t *testing.T) {
				t.Parallel()
				walkBroken(t, list, line)
			})
		}
	}
}

func walkBroken(t *testing.T, list func(http.ResponseWriter, *http.Request, int), line string) {
	t.Helper()
	var pages atomic.Int64
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		page := int(pages.Add(1)) - 1
		if r.URL.Query().Get("after") != "" {
			page = max(page, 1)
		}
		list(w, r, page)
	})
	home := t.TempDir()
	got := lineAt(t, address, "token", "HOME", home).try(t, line).Ends(8)
	if got.Stderr == "" {
		t.Errorf("%s, want the reason", got)
	}
	if strings.Contains(line, "-o json") && json.Valid([]byte(got.Stdout)) {
		t.Errorf("%s, want nothing that is taken for a whole list", got)
	}
	if strings.Contains(line, "--jq length") {
		got.PrintsOnly("")
	}
	if kept, err := os.ReadDir(filepath.Join(home, ".local", "state", "fundesk", "pull")); err == nil && len(kept) > 0 {
		t.Errorf("got a position %v after a pull that failed", kept)
	}
	if got := pages.Load(); got > 60 {
		t.Errorf("got %d requests, want an end", got)
	}
}

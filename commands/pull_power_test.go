package commands

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fundesk/apiclient/durable"
	"fundesk/service/servicetest"
)

// output is a file that a command writes to, as the shell's > gives one, and how much of it a power cut would leave.
type output struct {
	*os.File
	mu      sync.Mutex
	flushed int64
}

func newOutput(t *testing.T) *output {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "calls.ndjson"))
	servicetest.Check(t, err)
	t.Cleanup(func() { servicetest.Report(t, file.Close()) })
	return &output{File: file}
}

func (o *output) size() int64 {
	info, err := o.Stat()
	if err != nil {
		return -1
	}
	return info.Size()
}

// isSafe reports whether a power cut would leave the whole output.
func (o *output) isSafe() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.flushed == o.size()
}

func (o *output) note(change durable.Change) {
	if change.Kind == durable.Flushed && change.Path == o.Name() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.flushed = o.size()
	}
}

// What a pull wrote to a file is on disk before its position moves, and before it is marked: after a power cut the next
// pull would not bring it again. Not parallel: there is one watcher of files.
func TestPullFlushesBeforeThePositionMoves(t *testing.T) {
	for _, line := range []string{"pull call", "pull call --mark-processed", "pull changes"} {
		out := newOutput(t)
		check := func(what string) {
			if !out.isSafe() {
				t.Errorf("%s: %s, and the output is not on disk", line, what)
			}
		}
		address := serving(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Fundesk-Extensions", "changes")
			switch {
			case r.Method == http.MethodPost:
				check("marked")
				w.WriteHeader(http.StatusNoContent)
			case strings.HasSuffix(r.URL.Path, "/changes"):
				status(200, "application/json", `{"changes":[{"position":"a","time":"2026-11-20T09:15:00.000Z","entity":"call","uuid":"`+
					testID+`","operation":"call.create","fields":[]}],"next":"a"}`)(w, r)
			case strings.HasSuffix(r.URL.Path, "/v1"):
				status(200, "application/json", `{"extensions":["changes"]}`)(w, r)
			default:
				status(200, "application/json", onePage(1, `{"hasNextPage":false,"endCursor":"a"}`))(w, r)
			}
		})
		home, moves := t.TempDir(), 0
		durable.Watch(func(change durable.Change) {
			out.note(change)
			if change.Kind == durable.Renamed && strings.HasPrefix(change.To, home) {
				moves++
				check("the position moved")
			}
		})
		environment := homeAt(t, address, "token", "HOME", home)
		var errs bytes.Buffer
		code := Run(t.Context(), strings.Fields(line),
			hasty(appOf(environment, strings.NewReader(""), out.File, &errs)))
		durable.Watch(func(durable.Change) {})
		if code != 0 || out.size() == 0 || moves == 0 {
			t.Errorf("%s: got exit code %d, %d bytes, %d moves and %s, want an output and a position",
				line, code, out.size(), moves, &errs)
		}
	}
}

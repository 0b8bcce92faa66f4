package bulk_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable/powercut"
	"fundesk/commands/bulk"
)

// After a power cut at any moment of an import, the uuid of every record whose request has
// come to the service is in the results file: the next run finds the record, and makes no
// second one. Once the run has ended, so is what became of it.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	disk := powercut.Record(t, folder)
	var mu sync.Mutex
	asked := map[string]int{} // When, by the uuid.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		id := path.Base(r.URL.Path)
		asked[id] = disk.Now()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"uuid":"`+id+`"}`)
	}))
	t.Cleanup(server.Close)
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	results, err := bulk.OpenResults(filepath.Join(folder, "results"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var lines []bulk.Line
	for n := range 6 {
		id := apitype.NewUUID()
		change := apiclient.Change{UUID: id, Method: http.MethodPut, Path: "/api/v1/x/" + id.String(), Body: []byte(`{}`)}
		lines = append(lines, bulk.Line{Row: bulk.Row{Line: n + 1}, Change: change})
	}
	job := bulk.Job{Lines: slices.Values(lines), Concurrency: 2, Results: results, Client: client, Each: func(_ bulk.Line, _ bulk.Result, err error) {
		if err != nil {
			t.Error(err)
		}
	}}
	if err := job.Plan(); err != nil {
		t.Fatal(err)
	}
	if err := job.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := disk.Now()
	if err := results.Close(); err != nil || len(asked) != len(lines) {
		t.Fatalf("got %d requests, %v, want %d", len(asked), err, len(lines))
	}
	disk.Replay(t, func(t *testing.T, left string, moment int) {
		file := filepath.Join(left, "results")
		known, err := bulk.ReadResults(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range lines {
			past := known.Lines[n+1]
			if asked[line.Change.UUID.String()] <= moment && past.UUID != line.Change.UUID {
				t.Errorf("line %d: got %+v, want the uuid that was sent", n+1, past)
			}
			if ended <= moment && !past.Done {
				t.Errorf("line %d: got %+v, want it done", n+1, past)
			}
		}
		again, err := bulk.OpenResults(file, known.Size)
		if err != nil {
			t.Fatal(err)
		}
		_ = again.Close()
	})
}

package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// failingWriter takes some bytes and then breaks, as a full disk or a killed reader
// does.
type failingWriter struct {
	bytes.Buffer
	left int
}

var errFull = errors.New("no space left")

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		n, _ := w.Buffer.Write(p[:w.left])
		w.left = 0
		return n, errFull
	}
	w.left -= len(p)
	return w.Buffer.Write(p)
}

// pullOnce pulls calls into a writer that breaks after some bytes.
func pullOnce(t *testing.T, url, token, home string, limit int) (out string, code int) {
	t.Helper()
	environment := map[string]string{"HOME": home, "FUNDESK_BASE_URL": url, "FUNDESK_TOKEN": token}
	writer := &failingWriter{left: limit}
	code = Run(t.Context(), []string{"pull", "call", "--updated", "-q"}, cli.App{
		In: strings.NewReader(""), Out: writer, Err: &bytes.Buffer{}, Now: time.Now,
		Getenv: func(name string) string { return environment[name] },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	return writer.String(), code
}

// uuids are those of the whole lines of an output.
func uuids(out string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(out) {
		var record struct {
			UUID string `json:"uuid"`
		}
		if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &record) == nil {
			found[record.UUID] = true
		}
	}
	return found
}

// Wherever a pull breaks, the next ones give everything: nothing is lost.
func TestPullLosesNothing(t *testing.T) {
	t.Parallel()
	h := plain(t)
	h.Sample(60)
	token := h.Token()
	whole, code := pullOnce(t, h.URL, token, t.TempDir(), 1<<30)
	want := uuids(whole)
	if code != 0 || len(want) == 0 {
		t.Fatalf("got exit code %d and %d calls, want all of them", code, len(want))
	}
	for part := range 8 {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			first, code := pullOnce(t, h.URL, token, home, len(whole)*part/8)
			if code == 0 {
				t.Fatalf("got exit code 0 from a pull that broke")
			}
			if kept, _ := filepath.Glob(filepath.Join(home, ".local/state/fundesk/pull/*")); len(kept) != 0 {
				t.Errorf("got a position %v after a pull that broke", kept)
			}
			second, code := pullOnce(t, h.URL, token, home, 1<<30)
			got := uuids(first + second)
			if code != 0 || len(uuids(second)) != len(want) || len(got) < len(want) {
				t.Errorf("got exit code %d and %d calls, want %d", code, len(got), len(want))
			}
			if third, code := pullOnce(t, h.URL, token, home, 1<<30); code != 0 || third != "" {
				t.Errorf("got exit code %d and %q, want nothing new", code, third)
			}
		})
	}
}

// Clocks that differ, and records of one time at the border, lose nothing either.
func TestPullWithAnotherClock(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-2 * time.Minute, 0, 2 * time.Minute} {
		t.Run(skew.String(), func(t *testing.T) {
			t.Parallel()
			served := time.Now().Add(skew)
			var calls []string
			add := func(n int, at time.Time) {
				calls = append(calls, `{"uuid":"00000000-0000-4000-8000-00000000000`+strconv.Itoa(n)+`","status":"requested","lastUpdatedAt":"`+apitype.NewTime(at).String()+`"}`)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				after, _ := apitype.ParseTime(r.URL.Query().Get("updatedAfter"))
				var edges []string
				for _, call := range calls {
					var record struct{ LastUpdatedAt apitype.Time }
					if err := json.Unmarshal([]byte(call), &record); err != nil {
						t.Error(err)
					}
					if record.LastUpdatedAt.After(after.Time) {
						edges = append(edges, `{"cursor":"c","node":`+call+`}`)
					}
				}
				w.Header().Set("Date", served.UTC().Format(http.TimeFormat))
				status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[`+strings.Join(edges, ",")+`]}`)(w, r)
			}))
			defer server.Close()
			home := t.TempDir()
			add(1, served)
			if out, code := pullOnce(t, server.URL, "token", home, 1<<30); code != 0 || len(uuids(out)) != 1 {
				t.Fatalf("got exit code %d and %q, want the first call", code, out)
			}
			add(2, served)                   // The same time, visible only now.
			add(3, served.Add(-time.Minute)) // Earlier, visible only now.
			if out, code := pullOnce(t, server.URL, "token", home, 1<<30); code != 0 || len(uuids(out)) != 2 {
				t.Errorf("got exit code %d and %q, want the two others and no repeat", code, out)
			}
		})
	}
}

// A pull goes on where the service says that its changes are settled, and never past that: a change that
// is committed late has a time after it.
func TestPullUntilSettled(t *testing.T) {
	t.Parallel()
	now := time.Now()
	settled := apitype.NewTime(now.Add(-10 * time.Minute))
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("updatedAfter"))
		w.Header().Set("Fundesk-Settled", settled.String())
		edges := ""
		if len(asked) > 1 { // Committed only now.
			edges = `{"cursor":"c","node":{"uuid":"` + testID + `","lastUpdatedAt":"` + apitype.NewTime(now.Add(-9*time.Minute)).String() + `"}}`
		}
		status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[`+edges+`]}`)(w, r)
	}))
	defer server.Close()
	home := t.TempDir()
	for n, want := range []int{0, 1, 0} {
		if out, code := pullOnce(t, server.URL, "token", home, 1<<30); code != 0 || len(uuids(out)) != want {
			t.Errorf("pull %d: got exit code %d and %q, want %d calls", n, code, out, want)
		}
	}
	if want := []string{"", settled.String(), settled.String()}; !slices.Equal(asked, want) {
		t.Errorf("got %q asked for, want %q", asked, want)
	}
	settled = apitype.NewTime(now.Add(-time.Hour)) // Another process, with an older transaction.
	for range 2 {
		pullOnce(t, server.URL, "token", home, 1<<30)
	}
	if got, want := asked[len(asked)-1], apitype.NewTime(now.Add(-10*time.Minute)).String(); got != want {
		t.Errorf("got a position of %s, want that it stays at %s", got, want)
	}
}

// Without that, a position lies 120 s before the newest record: nothing says that more was seen.
func TestPullWithoutSettled(t *testing.T) {
	t.Parallel()
	newest := apitype.NewTime(time.Now().Add(-time.Hour))
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("updatedAfter"))
		w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
		status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[{"cursor":"c","node":{"uuid":"`+testID+`","lastUpdatedAt":"`+newest.String()+`"}}]}`)(w, r)
	}))
	defer server.Close()
	home := t.TempDir()
	for n, want := range []int{1, 0} {
		if out, code := pullOnce(t, server.URL, "token", home, 1<<30); code != 0 || len(uuids(out)) != want {
			t.Errorf("pull %d: got exit code %d and %q, want %d calls", n, code, out, want)
		}
	}
	if want := apitype.NewTime(newest.Add(-120 * time.Second)).String(); asked[1] != want {
		t.Errorf("got %s asked for, want %s", asked[1], want)
	}
}

// A watch from now on means the service's now: this machine's clock is ten minutes ahead.
func TestWatchWithAnotherClock(t *testing.T) {
	t.Parallel()
	served := time.Now().Add(-10 * time.Minute).Truncate(time.Second)
	var polls atomic.Int32
	out, errs, code := against(t, func(w http.ResponseWriter, r *http.Request) {
		changed := apitype.NewTime(served.Add(time.Second))
		after, _ := apitype.ParseTime(r.URL.Query().Get("updatedAfter"))
		edges := ""
		switch n := polls.Add(1); {
		case n > 1 && changed.After(after.Time):
			edges = `{"cursor":"c","node":{"uuid":"` + testID + `","status":"requested","lastUpdatedAt":"` + changed.String() + `"}}`
		case n > 1: // It would go on for ever.
			status(404, "application/json", `{"detail":"the change is not asked for"}`)(w, r)
			return
		}
		w.Header().Set("Date", served.UTC().Format(http.TimeFormat))
		status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[`+edges+`]}`)(w, r)
	}, "call", "watch", "--interval", "1s", "--count", "1", "-o", "id")
	if code != 0 || out != testID+"\n" {
		t.Errorf("got exit code %d, %q and %q, want the change", code, out, errs)
	}
}

// A service that restarts ends no watch, and what changed meanwhile is printed: also what
// stood on a page that came before the one that broke.
func TestWatchOverARestart(t *testing.T) {
	t.Parallel()
	edge := `{"cursor":"c","node":{"uuid":"` + testID + `","status":"requested","lastUpdatedAt":"2026-11-20T09:15:00.000Z"}}`
	var polls atomic.Int32
	out, errs, code := against(t, func(w http.ResponseWriter, r *http.Request) {
		switch n := polls.Add(1); {
		case n == 1:
			status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[]}`)(w, r)
		case n == 2:
			status(200, "application/json", `{"pageInfo":{"hasNextPage":true,"endCursor":"c"},"edges":[`+edge+`]}`)(w, r)
		case n < 12: // Two polls of four tries.
			status(503, "text/plain", "restarting")(w, r)
		case n == 12:
			status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[`+edge+`]}`)(w, r)
		default:
			status(403, "application/json", `{"detail":"no more"}`)(w, r)
		}
	}, "call", "watch", "--interval", "1s", "-o", "id")
	if code != 5 || out != testID+"\n" {
		t.Errorf("got exit code %d and %q, want 5 after the change was printed once", code, out)
	}
	if strings.Count(errs, "restarting; trying on") != 1 || !strings.Contains(errs, "no more") {
		t.Errorf("got %s, want one note for the restart, and the refusal", errs)
	}
}

// Where a service keeps times in whole seconds, a second change within one is a change.
func TestChangesWithinASecond(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	var polls atomic.Int32
	service := func(w http.ResponseWriter, r *http.Request) {
		n := polls.Add(1)
		if n > 2 { // It would go on for ever.
			status(404, "application/json", `{"detail":"both were seen"}`)(w, r)
			return
		}
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[{"cursor":"c","node":{"uuid":"`+testID+`","status":"requested",`+
			`"attemptsCount":`+strconv.Itoa(int(n))+`,"lastUpdatedAt":"`+now.UTC().Format(time.RFC3339)+`"}}]}`)(w, r)
	}
	out, errs, code := against(t, service, "call", "watch", "--interval", "1s", "--since", "1h", "--count", "2", "-o", "id")
	if code != 0 || out != testID+"\n"+testID+"\n" {
		t.Errorf("watch: got exit code %d, %q and %q, want both changes", code, out, errs)
	}
	polls.Store(0)
	server := httptest.NewServer(http.HandlerFunc(service))
	defer server.Close()
	home := t.TempDir()
	for range 2 {
		if out, code := pullOnce(t, server.URL, "token", home, 1<<30); code != 0 || len(uuids(out)) != 1 {
			t.Errorf("pull: got exit code %d and %q, want the change", code, out)
		}
	}
}

// A time that is nobody's does not hide what comes until then.
func TestPullWithAnImpossibleClock(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		changed := apitype.NewTime(time.Now().Add(time.Minute))
		edges := `{"cursor":"c","node":{"uuid":"` + testID + `","lastUpdatedAt":"` + changed.String() + `"}}`
		if after, err := apitype.ParseTime(r.URL.Query().Get("updatedAfter")); err == nil && after.After(changed.Time) {
			edges = ""
		}
		w.Header().Set("Date", "Thu, 01 Jan 2099 00:00:00 GMT")
		status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[`+edges+`]}`)(w, r)
	}))
	defer server.Close()
	home := t.TempDir()
	for range 2 {
		if out, code := pullOnce(t, server.URL, "token", home, 1<<30); code != 0 || len(uuids(out)) != 1 {
			t.Errorf("got exit code %d and %q, want the change", code, out)
		}
	}
}

// A call without the time of its last change is a change as well.
func TestWatchWithoutTimes(t *testing.T) {
	t.Parallel()
	var polls atomic.Int32
	out, errs, code := against(t, func(w http.ResponseWriter, r *http.Request) {
		if polls.Add(1) > 1 { // It would go on for ever.
			status(404, "application/json", `{"detail":"it was seen"}`)(w, r)
			return
		}
		status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[{"node":{"uuid":"`+testID+`"}}]}`)(w, r)
	}, "call", "watch", "--interval", "1s", "--count", "1", "-o", "id")
	if code != 0 || out != testID+"\n" {
		t.Errorf("got exit code %d, %q and %q, want the call", code, out, errs)
	}
}

// A record of which a query leaves nothing was not written, and is not marked.
func TestPullMarksWhatWasWritten(t *testing.T) {
	t.Parallel()
	other := "00000000-0000-4000-8000-000000000001"
	var marked atomic.Pointer[string]
	marked.Store(new(""))
	out, errs, code := against(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[{"node":{"uuid":"`+testID+`","status":"completed"}},{"node":{"uuid":"`+other+`","status":"requested"}}]}`)(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		marked.Store(new(string(body)))
		w.WriteHeader(http.StatusNoContent)
	}, "pull", "call", "--mark-processed", "--jq", `select(.status == "completed") | .uuid`)
	if code != 0 || out != `"`+testID+`"`+"\n" {
		t.Fatalf("got exit code %d, %q and %q, want one call", code, out, errs)
	}
	if body := *marked.Load(); !strings.Contains(body, testID) || strings.Contains(body, other) {
		t.Errorf("got the marks %s, want that of the call that was written", body)
	}
}

// A page that is broken in its middle: what stands before the fault is printed, the
// command fails, and the next pull begins where this one did.
func TestPullOfABrokenPage(t *testing.T) {
	t.Parallel()
	var tail atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[{"node":{"uuid":"00000000-0000-4000-8000-000000000001"}}`+*tail.Load())(w, r)
	}))
	defer server.Close()
	home := t.TempDir()
	tail.Store(new(`,{"node":7}]}`))
	out, code := pullOnce(t, server.URL, "token", home, 1<<30)
	if code != 8 || len(uuids(out)) != 1 {
		t.Errorf("got exit code %d and %q, want 8 after one call", code, out)
	}
	if kept, _ := filepath.Glob(filepath.Join(home, ".local/state/fundesk/pull/*")); len(kept) != 0 {
		t.Errorf("got a position %v after a pull that broke", kept)
	}
	tail.Store(new(`]}`))
	if out, code = pullOnce(t, server.URL, "token", home, 1<<30); code != 0 || len(uuids(out)) != 1 {
		t.Errorf("got exit code %d and %q, want the call again", code, out)
	}
}

// ctrl+c while marks are sent is an interrupt, not a part that failed.
func TestPullInterruptedWhileMarking(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body) // Only then the server sees that the client went away.
			cancel()
			<-r.Context().Done()
			return
		}
		status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[{"node":{"uuid":"`+testID+`"}}]}`)(w, r)
	}))
	defer server.Close()
	home := t.TempDir()
	environment := map[string]string{"HOME": home, "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "secret-token"}
	code := Run(ctx, []string{"pull", "person", "--mark-processed"}, cli.App{
		In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Now: time.Now,
		Getenv: func(name string) string { return environment[name] },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if kept, _ := filepath.Glob(filepath.Join(home, ".local/state/fundesk/pull/*")); code != 130 || len(kept) > 0 {
		t.Errorf("got exit code %d and %v kept, want 130 and no position", code, kept)
	}
}

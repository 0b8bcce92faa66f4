package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
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
func pullOnce(t *testing.T, url, token, home string, limit int) (string, int) {
	t.Helper()
	environment := homeAt(t, url, token, "HOME", home)
	writer := &failingWriter{left: limit}
	code := Run(t.Context(), []string{"pull", "call", "--updated", "-q"},
		hasty(appOf(environment, strings.NewReader(""), writer, &bytes.Buffer{})))
	return writer.String(), code
}

// uuids returns the uuids of the whole lines of an output.
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

// A first pull that broke off has given records. If the account sees other records by the next pull, the consumer has
// to begin again.
func TestBrokenPullKnowsItsEpoch(t *testing.T) {
	t.Parallel()
	h := plain(t)
	h.Sample(60)
	account := h.Account()
	token, home := h.TokenOf(account), t.TempDir()
	whole, _ := pullOnce(t, h.URL, token, t.TempDir(), 1<<30)
	if first, code := pullOnce(t, h.URL, token, home, len(whole)/2); code == 0 || len(uuids(first)) == 0 {
		t.Fatalf("got exit code %d and %d calls from a pull that broke", code, len(uuids(first)))
	}
	scope := service.Scope{Organizations: []apitype.UUID{h.Organization("another")}}
	_, err := h.Service.SetAccount(t.Context(), account.UUID, func(a *service.Account) error {
		a.Scope = scope
		return nil
	})
	servicetest.Check(t, err)
	if more, code := pullOnce(t, h.URL, token, home, 1<<30); code != 8 {
		t.Errorf("got exit code %d and %q, want 8", code, more)
	}
}

// A pull that follows writes each record once under one header, keeps its position after each round, and
// outlasts a service that restarts.
func TestPullFollows(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	other := "00000000-0000-4000-8000-000000000001"
	node := func(id, at string) string {
		return `{"cursor":"` + id + `","node":{"uuid":"` + id + `","requestedAt":"` + at + `"}}`
	}
	var polls atomic.Int32
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		edges := node(testID, "2026-11-20T09:15:00.000Z")
		switch n := polls.Add(1); {
		case n == 2:
			status(503, "text/plain", "restarting")(w, r)
			return
		case n == 3:
			edges = node(other, "2026-11-20T09:16:00.000Z") + "," + edges
		case n > 3:
			status(403, "application/json", `{"detail":"no more"}`)(w, r)
			return
		}
		status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[`+edges+`]}`)(w, r)
	})
	l := lineAt(t, address, "t")
	out, errs, code := l.run(t, "pull call --follow --interval 1s --retry 0 -o csv --columns uuid")
	if want := "uuid\r\n" + testID + "\r\n" + other + "\r\n"; code != 5 || out != want {
		t.Errorf("got exit code %d and %q, want 5 after %q", code, out, want)
	}
	if strings.Count(errs, "still trying") != 1 || strings.Count(errs, "the next pull begins at") != 2 {
		t.Errorf("got %s, want one note for the restart and one for each record", errs)
	}
	polls.Store(2)
	l.try(t, "pull call -o id").PrintsOnly("")
}

// A record of which a query leaves nothing was not written, and is not marked.
func TestPullMarksWhatWasWritten(t *testing.T) {
	t.Parallel()
	other := "00000000-0000-4000-8000-000000000001"
	var marked atomic.Pointer[string]
	marked.Store(new(""))
	tryAgainst(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			status(
				200,
				"application/json",
				`{"pageInfo":{"hasNextPage":false},"edges":[{"node":{"uuid":"`+testID+
					`","status":"completed"}},{"node":{"uuid":"`+other+`","status":"requested"}}]}`,
			)(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		marked.Store(new(string(body)))
		w.WriteHeader(http.StatusNoContent)
	}, "pull call --mark-processed --jq", `select(.status == "completed") | .uuid`).MustEnd(0).PrintsOnly(
		`"` + testID + `"` + "\n",
	)
	if body := *marked.Load(); !strings.Contains(body, testID) || strings.Contains(body, other) {
		t.Errorf("got the marks %s, want that of the call that was written", body)
	}
}

// At a service without a settled time, pledges of which none is released yet are written once, and no time is named.
func TestPullOfPledgesThatAreNotReleased(t *testing.T) {
	t.Parallel()
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		status(
			200,
			"application/json",
			`{"pageInfo":{"hasNextPage":false},"edges":[{"node":{"uuid":"`+testID+
				`","status":"lead","createdAt":"2026-11-20T09:00:00Z","releasedAt":null}}]}`,
		)(w, r)
	})
	l := lineAt(t, address, "t")
	first := l.try(t, "pull pledge -o id").MustEnd(0).PrintsOnly(testID + "\n")
	second := l.try(t, "pull pledge -o id").MustEnd(0).PrintsOnly("")
	servicetest.Same(t, "first note", "fundesk: 1 record; the next pull begins at the start\n", first.Stderr)
	servicetest.Same(t, "second note", "fundesk: 0 records; the next pull begins at the start\n", second.Stderr)
}

// A page breaks in its middle. The part before the fault is printed, the command fails, and the next pull begins at the
// same place.
func TestPullOfABrokenPage(t *testing.T) {
	t.Parallel()
	var tail atomic.Pointer[string]
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		status(
			200,
			"application/json",
			`{"pageInfo":{"hasNextPage":false},"edges":[{"node":{"uuid":"00000000-0000-4000-8000-000000000001"}}`+
				*tail.Load(),
		)(w, r)
	})
	home := t.TempDir()
	tail.Store(new(`,{"node":7}]}`))
	out, code := pullOnce(t, address, "token", home, 1<<30)
	if code != 8 || len(uuids(out)) != 1 {
		t.Errorf("got exit code %d and %q, want 8 after one call", code, out)
	}
	if kept, _ := filepath.Glob(filepath.Join(home, ".local/state/fundesk/pull/*")); len(kept) != 0 {
		t.Errorf("got a position %v after a pull that broke", kept)
	}
	tail.Store(new(`]}`))
	out, code = pullOnce(t, address, "token", home, 1<<30)
	if code != 0 || len(uuids(out)) != 1 {
		t.Errorf("got exit code %d and %q, want the call again", code, out)
	}
}

// ctrl+c while marks are sent is an interrupt, not a part that failed.
func TestPullInterruptedWhileMarking(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body) // Only then the server sees that the client went away.
			cancel()
			<-r.Context().Done()
			return
		}
		status(200, "application/json",
			`{"pageInfo":{"hasNextPage":false},"edges":[{"node":{"uuid":"`+testID+`"}}]}`)(w, r)
	})
	home := t.TempDir()
	environment := homeAt(t, address, "secret-token", "HOME", home)
	code := Run(ctx, []string{"pull", "person", "--mark-processed"},
		hasty(appOf(environment, strings.NewReader(""), io.Discard, io.Discard)))
	if kept, _ := filepath.Glob(filepath.Join(home, ".local/state/fundesk/pull/*")); code != 130 || len(kept) > 0 {
		t.Errorf("got exit code %d and %v kept, want 130 and no position", code, kept)
	}
}

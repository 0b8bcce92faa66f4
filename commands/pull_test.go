package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
func pullOnce(t *testing.T, url, token, home string, limit int) (out string, code int) {
	t.Helper()
	environment := map[string]string{"HOME": home, "FUNDESK_BASE_URL": url, "FUNDESK_TOKEN": token}
	writer := &failingWriter{left: limit}
	code = Run(t.Context(), []string{"pull", "call", "--updated", "-q"}, hasty(appOf(environment, strings.NewReader(""), writer, &bytes.Buffer{})))
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

// A first pull that broke has given records. If the account sees other records by the next one, the consumer is told to
// begin again.
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
	}, "call", "list", "--watch", "--interval", "1s", "--limit", "1", "-o", "id")
	if code != 0 || out != testID+"\n" {
		t.Errorf("got exit code %d, %q and %q, want the change", code, out, errs)
	}
}

// A service that restarts ends no watch, and what changed meanwhile is printed: also what
// stood on a page that came before the one that broke.
func TestWatchOverARestart(t *testing.T) {
	servicetest.Slow(t)
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
	}, "call", "list", "--watch", "--interval", "1s", "-o", "id")
	if code != 5 || out != testID+"\n" {
		t.Errorf("got exit code %d and %q, want 5 after the change was printed once", code, out)
	}
	if strings.Count(errs, "restarting; trying on") != 1 || !strings.Contains(errs, "no more") {
		t.Errorf("got %s, want one note for the restart, and the refusal", errs)
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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))
	defer server.Close()
	l := line{environment: map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "t"}}
	out, errs, code := l.run(t, "pull", "call", "--follow", "--interval", "1s", "--retry", "0", "-o", "csv", "--columns", "uuid")
	if want := "uuid\r\n" + testID + "\r\n" + other + "\r\n"; code != 5 || out != want {
		t.Errorf("got exit code %d and %q, want 5 after %q", code, out, want)
	}
	if strings.Count(errs, "trying on") != 1 || strings.Count(errs, "the next pull begins at") != 2 {
		t.Errorf("got %s, want one note for the restart and one for each record", errs)
	}
	polls.Store(2)
	if out, _, _ := l.run(t, "pull", "call", "-o", "id"); out != "" {
		t.Errorf("got %q from the next pull, want nothing that was written before", out)
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
	code := Run(ctx, []string{"pull", "person", "--mark-processed"}, hasty(appOf(environment, strings.NewReader(""), io.Discard, io.Discard)))
	if kept, _ := filepath.Glob(filepath.Join(home, ".local/state/fundesk/pull/*")); code != 130 || len(kept) > 0 {
		t.Errorf("got exit code %d and %v kept, want 130 and no position", code, kept)
	}
}

// copying is a program that keeps a copy of persons by pulls, and the service that it copies.
type copying struct {
	*testing.T
	service *servicetest.Harness
	token   string
	owner   apitype.UUID
	env     map[string]string
	random  *rand.Rand
	persons []string          // Not erased.
	copied  map[string]string // Last names by uuid.
}

// ServeHTTP answers as the service, through front ends whose clocks differ and that drop headers of the service.
func (c *copying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recorded := httptest.NewRecorder()
	c.service.Handler.ServeHTTP(recorded, r)
	maps.Copy(w.Header(), recorded.Header())
	shift := time.Duration(c.random.IntN(7*24*60)-5*24*60) * time.Minute
	w.Header().Set("Date", c.service.Clock.Now().Add(shift).UTC().Format(http.TimeFormat))
	if c.random.IntN(2) == 0 {
		w.Header().Del(apitype.SettledHeader)
	}
	w.WriteHeader(recorded.Code)
	_, _ = recorded.Body.WriteTo(w)
}

// pull runs a pull on a machine with a wrong clock; it may break after some bytes, as one that is killed.
func (c *copying) pull(limit int, args ...string) (lines []map[string]any) {
	out := &failingWriter{left: limit}
	app := hasty(appOf(c.env, strings.NewReader(""), out, io.Discard))
	now := c.service.Clock.Now().Add(time.Duration(c.random.IntN(120)-60) * time.Minute)
	app.Now = func() time.Time { return now }
	code := Run(c.Context(), append([]string{"pull", "-q"}, args...), app)
	if isBroken := out.left == 0; code != 0 && !isBroken {
		c.Fatalf("pull %v: got exit code %d", args, code)
	}
	for line := range strings.Lines(out.String()) {
		var record map[string]any
		if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &record) == nil {
			lines = append(lines, record)
		}
	}
	return lines
}

// nightly brings the copy up to date.
func (c *copying) nightly(limit int) {
	for _, person := range c.pull(limit, "person", "--updated") {
		c.copied[person["uuid"].(string)], _ = person["lastName"].(string)
	}
	for _, erased := range c.pull(limit, "erased") {
		delete(c.copied, erased["uuid"].(string))
	}
}

func (c *copying) step(n int) {
	name := fmt.Sprintf("Name%d", n)
	pick := func() string { return c.persons[c.random.IntN(len(c.persons))] }
	switch kind := c.random.IntN(12); {
	case kind < 4 || len(c.persons) == 0:
		id := apitype.NewUUID().String()
		body := fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%[2]q,"name":{"lastName":%q}}`, id, c.owner, name)
		c.do(http.MethodPost, "/api/v1/persons", body)
		c.persons = append(c.persons, id)
	case kind < 6:
		c.do(http.MethodPut, "/api/v1/persons/"+pick()+"/actions/update", `{"name":{"lastName":"`+name+`"}}`)
	case kind < 7:
		i := c.random.IntN(len(c.persons))
		id, _ := apitype.ParseUUID(c.persons[i])
		if _, err := c.service.Privacy.Erase(c.Context(), id, apitype.EraseRequest{Reason: "r"}); err != nil {
			c.Fatal(err)
		}
		c.persons = append(c.persons[:i], c.persons[i+1:]...)
	case kind < 8:
		c.pull(1<<20, "person", "--updated", "--since", []string{"now", "1h", "2000-01-01"}[c.random.IntN(3)])
	case kind < 9:
		c.nightly(c.random.IntN(600))
	case kind < 10:
		c.nightly(1 << 20)
	default:
		c.service.Clock.Advance(time.Duration(c.random.IntN(300)) * time.Second)
	}
}

func (c *copying) do(method, path, body string) {
	if a := c.service.Do(c.token, method, path, body); a.Status >= 300 {
		c.Fatalf("%s %s: got %d %s", method, path, a.Status, a.Body)
	}
}

// A copy that is kept by pull equals the service, whatever is created, corrected, erased, looked at by --since,
// killed, and whatever the clocks of the front end and of this machine say.
func TestACopyEqualsTheService(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := plain(t)
			c := &copying{
				T: t, service: h, token: h.Token(), owner: h.Organization("AID"), random: rand.New(rand.NewPCG(seed, 40)), copied: map[string]string{},
			}
			server := httptest.NewServer(c)
			defer server.Close()
			c.env = map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": c.token}
			for n := range 60 {
				c.step(n)
			}
			c.nightly(1 << 20)
			var out bytes.Buffer
			Run(t.Context(), []string{"person", "list", "--all", "-o", "ndjson"}, hasty(appOf(c.env, strings.NewReader(""), &out, io.Discard)))
			want := map[string]string{}
			for line := range strings.Lines(out.String()) {
				var person struct{ UUID, LastName string }
				servicetest.Check(t, json.Unmarshal([]byte(line), &person))
				want[person.UUID] = person.LastName
			}
			if diff := cmp.Diff(want, c.copied); diff != "" || len(want) != len(c.persons) {
				t.Errorf("got %d persons of %d; the copy differs (-service +copy):\n%s", len(want), len(c.persons), diff)
			}
		})
	}
}

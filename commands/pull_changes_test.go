package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// feedWorld is a service whose pages of the feed have three changes, and a program that follows it.
type feedWorld struct {
	*servicetest.Harness
	t     *testing.T
	admin string
	token string // Of the program.
	line  line
	fault func() int // Of the next page of the feed: 1 is a refusal, 2 is half of an answer. Nil means none.
	count int        // Persons so far.
	owner apitype.UUID
}

func newFeedWorld(t *testing.T, database string) *feedWorld {
	t.Helper()
	w := &feedWorld{Harness: servicetest.NewOn(t, database), t: t}
	w.owner, w.admin = w.Organization("AID"), w.Token()
	may := append(slices.Clone(service.Permissions), service.ChangesRead)
	w.token = w.Token(servicetest.May(may...))
	address := serving(t, w.serve)
	w.line = lineAt(t, address, w.token)
	w.settle()
	return w
}

func (w *feedWorld) serve(out http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/fundesk/v1/changes" {
		w.Handler.ServeHTTP(out, r)
		return
	}
	query := r.URL.Query()
	query.Set("first", "3")
	r.URL.RawQuery = query.Encode()
	fault := 0
	if w.fault != nil {
		fault = w.fault()
	}
	switch fault {
	case 1:
		out.WriteHeader(http.StatusServiceUnavailable)
	case 2:
		recorded := httptest.NewRecorder()
		w.Handler.ServeHTTP(recorded, r)
		out.Header().Set("Content-Type", "application/json")
		out.Header().Set("Content-Length", fmt.Sprint(recorded.Body.Len()))
		_, _ = out.Write(recorded.Body.Bytes()[:recorded.Body.Len()/2])
	default:
		w.Handler.ServeHTTP(out, r)
	}
}

// change creates persons.
func (w *feedWorld) change(persons int) {
	w.t.Helper()
	for range persons {
		w.count++
		body := fmt.Sprintf(
			`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"lastName":"N%d"}}`, w.owner, w.owner, w.count,
		)
		if got := w.Do(w.admin, http.MethodPost, "/api/v1/persons", body); got.Status != http.StatusCreated {
			w.t.Fatalf("create: got %d %s", got.Status, got.Body)
		}
	}
	w.settle()
}

// settle waits until the feed shows all changes so far.
func (w *feedWorld) settle() {
	w.t.Helper()
	w.Clock.Advance(3 * time.Second)
	least := w.Clock.Now().Add(-2 * time.Second)
	for deadline := time.Now().Add(20 * time.Second); ; {
		header := w.Do(w.admin, http.MethodGet, "/api/v1/calls?first=1", "").Header.Get(apitype.SettledHeader)
		at, err := apitype.ParseTime(header)
		if err == nil && !at.Before(least) {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("got the header %q for 20 s, want %s or later", header, least)
		}
	}
}

// all returns the positions of the whole feed.
func (w *feedWorld) all() []string {
	w.t.Helper()
	query := url.Values{"first": {"500"}}
	var positions []string
	for hasMore := true; hasMore; {
		var page apitype.Changes
		answer := w.Do(w.token, http.MethodGet, "/fundesk/v1/changes?"+query.Encode(), "")
		servicetest.Check(w.t, json.Unmarshal(answer.Body, &page))
		for _, c := range page.Changes {
			positions = append(positions, c.Position)
		}
		query.Set("after", page.Next)
		hasMore = page.HasMore
	}
	return positions
}

// positionsIn returns the positions of the whole lines of an output.
func positionsIn(out string) []string {
	var positions []string
	for line := range strings.Lines(out) {
		var c apitype.Change
		if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &c) == nil && c.Position != "" {
			positions = append(positions, c.Position)
		}
	}
	return positions
}

func onFeeds(t *testing.T, test func(*testing.T, *feedWorld)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newFeedWorld(t, servicetest.NewFile(t)))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedPostgres(t)
		test(t, newFeedWorld(t, servicetest.PostgresDatabase(t)))
	})
}

// A pull prints each change once, in order, and the next one goes on after it.
func TestPullChanges(t *testing.T) {
	onFeeds(t, func(t *testing.T, w *feedWorld) {
		w.change(8)
		out, errs, code := w.line.run(t, "pull changes")
		if code != 0 || !strings.Contains(errs, "8 changes; the next pull begins at 2026-") {
			t.Fatalf("got exit code %d and %s", code, errs)
		}
		servicetest.Same(t, "changes", w.all(), positionsIn(out))
		w.line.try(t, "pull changes").Ends(0).PrintsOnly("")
		w.change(4)
		out, _, code = w.line.run(t, "pull changes -o csv --columns entity,operation,fields")
		row := "person,create,\"lastName,createdAt,owningOrganization\"\r\n"
		if want := "entity,operation,fields\r\n" + strings.Repeat(row, 4); code != 0 || out != want {
			t.Errorf("got exit code %d and %q, want %q", code, out, want)
		}
		state := filepath.Join(t.TempDir(), "state")
		out, _, code = w.line.run(t, "pull changes --state", state, "-q")
		if code != 0 || len(positionsIn(out)) != 12 {
			t.Errorf("--state: got exit code %d and %d changes, want all 12", code, len(positionsIn(out)))
		}
		out, _, code = w.line.run(t, "pull changes --reset -q --jq", "select(.entity == \"call\")")
		if code != 0 || out != "" {
			t.Errorf("--jq: got exit code %d and %q", code, out)
		}
		out, _, code = w.line.run(t, "pull status -o csv --columns entity,query")
		if code != 0 || out != "entity,query\r\nchanges,changes\r\n" {
			t.Errorf("status: got exit code %d and %q", code, out)
		}
	})
}

// A position that the service does not know any more is exit code 8, until the program begins again.
func TestPullChangesLosesItsPosition(t *testing.T) {
	onFeeds(t, func(t *testing.T, w *feedWorld) {
		lose := map[string]func(){
			"31 days": func() { w.Clock.Advance(32 * 24 * time.Hour) },
			"a load":  func() { w.LoadForChanges(w.owner) },
		}
		for what, lost := range lose {
			w.change(1)
			w.line.try(t, "pull changes --reset").MustEnd(0)
			lost()
			w.change(1)
			for range 2 {
				w.line.try(t, "pull changes --follow -o ndjson").Ends(8, "fundesk pull changes --reset").PrintsOnly("")
			}
			out, errs, code := w.line.run(t, "pull changes --reset")
			if code != 0 || len(positionsIn(out)) == 0 {
				t.Errorf("--reset after %s: got exit code %d, %q and %s", what, code, out, errs)
			}
		}
	})
}

// The same for records, if the service is away before the first of them.
func TestPullRepeatsAReset(t *testing.T) {
	t.Parallel()
	w := newFeedWorld(t, servicetest.NewFile(t))
	w.change(5)
	var isAway atomic.Bool
	address := serving(t, func(out http.ResponseWriter, r *http.Request) {
		if isAway.Load() {
			out.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.serve(out, r)
	})
	w.line.environment["FUNDESK_BASE_URL"] = address
	first, errs, code := w.line.run(t, "pull person")
	if code != 0 || first == "" {
		t.Fatalf("got exit code %d, %q and %s", code, first, errs)
	}
	isAway.Store(true)
	w.line.try(t, "pull person --reset --retry 0").MustEnd(8)
	isAway.Store(false)
	again, errs, code := w.line.run(t, "pull person")
	if code != 0 || again != first {
		t.Errorf("got exit code %d, %q and %s, want %q again", code, again, errs, first)
	}
}

// A --reset that fails is repeated by the next pull. Promise S70: every change reaches a consumer that pulls.
func TestPullChangesRepeatsAReset(t *testing.T) {
	t.Parallel()
	w := newFeedWorld(t, servicetest.NewFile(t))
	w.change(5)
	w.line.try(t, "pull changes").MustEnd(0)
	w.fault = func() int { return 2 }
	w.line.try(t, "pull changes --reset --retry 0").Fails()
	w.fault = nil
	out, errs, code := w.line.run(t, "pull changes")
	if code != 0 {
		t.Fatalf("got exit code %d and %s", code, errs)
	}
	servicetest.Same(t, "changes", w.all(), positionsIn(out))
}

// An account without changes:read, and a service without the feed, are refused, and no position is kept.
func TestPullChangesIsRefused(t *testing.T) {
	t.Parallel()
	w := newFeedWorld(t, servicetest.NewFile(t))
	home := w.line.environment["HOME"]
	w.line.environment["FUNDESK_TOKEN"] = w.admin
	_, errs, code := w.line.run(t, "pull changes")
	if code != 5 || !strings.Contains(errs, "changes:read") {
		t.Errorf("got exit code %d and %s, want 5 and the permission", code, errs)
	}
	w.InterfaceOnly()
	w.line.environment["FUNDESK_TOKEN"] = w.token
	_, errs, code = w.line.run(t, "pull changes")
	if code != 7 || !strings.Contains(errs, "the service has no feed of changes") {
		t.Errorf("got exit code %d and %s, want 7 and what is missing", code, errs)
	}
	if kept, _ := filepath.Glob(filepath.Join(home, ".local/state/fundesk/pull/*")); len(kept) != 0 {
		t.Errorf("got the position %v", kept)
	}
}

// A pull that follows outlasts a service that is away for a while, and ends with the error that does not pass.
func TestPullChangesFollows(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	w := newFeedWorld(t, servicetest.NewFile(t))
	w.change(4)
	ctx, stop := context.WithCancel(t.Context())
	pages := 0
	w.fault = func() int {
		pages++
		switch pages {
		case 3:
			w.change(2)
		case 4, 5:
			return 1
		case 9:
			stop()
		}
		return 0
	}
	var stdout, stderr bytes.Buffer
	code := Run(ctx, []string{"pull", "changes", "--follow", "--interval", "1s", "--retry", "0"},
		hasty(appOf(w.line.environment, strings.NewReader(""), &stdout, &stderr)))
	if code != 130 || strings.Count(stderr.String(), "still trying") != 1 {
		t.Errorf("got exit code %d and %s, want 130 after one note", code, &stderr)
	}
	servicetest.Same(t, "changes", w.all(), positionsIn(stdout.String()))
}

// takingProgram adds each page to a file in one step. If a file says so, it fails before or after that.
const takingProgram = `#!/bin/sh
fault=$(cat "$0.fault")
test "$fault" = before && exit 3
cat > "$0.page" && cat "$0.page" >> "$0.taken"
test "$fault" = after && exit 3
exit 0
`

// TestPullChangesModel lets a program follow the changes while chance breaks its output, its answers, and the program
// that takes the pages. The program has each change, in order. Without a failure between taking a page and keeping the
// position it has none twice, and by their positions it can drop those that it has.
func TestPullChangesModel(t *testing.T) {
	onFeeds(t, func(t *testing.T, w *feedWorld) {
		for seed := range servicetest.Times(1, max(2, *pullSeeds/50)) {
			for _, takes := range []string{"stdout", "program"} {
				t.Run(fmt.Sprintf("%s %d", takes, seed), func(t *testing.T) {
					w.t = t
					w.line.environment["HOME"] = t.TempDir()
					random := rand.New(rand.NewPCG(seed, 17))
					follower := &feedFollower{feedWorld: w, random: random, isProgram: takes == "program"}
					follower.play()
				})
			}
		}
	})
}

// feedFollower keeps the changes that it got.
type feedFollower struct {
	*feedWorld
	random    *rand.Rand
	isProgram bool
	isSure    bool // No page was cut after it was taken.
	got       []string
}

func (f *feedFollower) play() {
	f.t.Helper()
	program := filepath.Join(f.t.TempDir(), "take")
	servicetest.Check(f.t, os.WriteFile(program, []byte(takingProgram), 0o700))
	f.isSure = true
	for range 8 {
		f.change(f.random.IntN(6))
		f.pull(program, true)
	}
	f.pull(program, false)
	if f.isProgram {
		taken, err := os.ReadFile(program + ".taken")
		servicetest.Check(f.t, err)
		f.got = positionsIn(string(taken))
	}
	seen := map[string]bool{}
	once := slices.DeleteFunc(slices.Clone(f.got), func(position string) bool {
		isKnown := seen[position]
		seen[position] = true
		return isKnown
	})
	servicetest.Same(f.t, "changes without repeats", f.all(), once)
	if f.isSure && len(once) != len(f.got) {
		f.t.Errorf("got %d changes, %d of them twice", len(f.got), len(f.got)-len(once))
	}
}

// pull runs one pull, which may break.
func (f *feedFollower) pull(program string, isFaulty bool) {
	f.t.Helper()
	limit, fault := 1<<20, "none"
	f.fault = nil
	if isFaulty {
		f.fault = func() int { return f.random.IntN(6) }
		fault = []string{"none", "none", "before", "after"}[f.random.IntN(4)]
		limit = f.random.IntN(3000)
	}
	args := []string{"pull", "changes", "-q"}
	if f.isProgram {
		writeFile(f.t, program+".fault", fault)
		args = append(args, "--exec", program)
		f.isSure = f.isSure && fault != "after"
	}
	out, errs := &failingWriter{left: limit}, &bytes.Buffer{}
	code := Run(f.t.Context(), args, hasty(appOf(f.line.environment, strings.NewReader(""), out, errs)))
	f.got = append(f.got, positionsIn(out.String())...)
	f.isSure = f.isSure && (f.isProgram || out.left > 0)
	if code != 0 && !isFaulty {
		f.t.Errorf("got exit code %d and %s", code, errs)
	}
}

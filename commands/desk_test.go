package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/commands/desk"
	"fundesk/service/servicetest"
)

// What waits in the outbox is not asked for again: it would be made twice.
func TestLineDeskWithoutService(t *testing.T) {
	t.Parallel()
	other := "00000000-0000-4000-8000-000000000001"
	call := func(id string) string {
		return `{"uuid":"` + id + `","status":"requested","type":"winback","attempts":[]}`
	}
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		switch id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; {
		case r.Method != http.MethodGet:
			reset(w, r)
		case id == "calls":
			status(200, "application/json",
				`{"pageInfo":{"hasNextPage":false},"edges":[{"node":`+call(testID)+`},{"node":`+call(other)+`}]}`)(w, r)
		default:
			status(200, "application/json", call(id))(w, r)
		}
	})
	environment := homeAt(t, address, "token", "ACCESSIBLE", "1")
	var said bytes.Buffer
	s := workByLines(t, hasty(appOf(environment, strings.NewReader("a\na\n"), &bytes.Buffer{}, &said)), 0)
	box, err := s.AnyOutbox()
	servicetest.Check(t, err)
	entries, _, err := box.List()
	if err != nil ||
		len(entries) != 2 ||
		entries[0].UUID == entries[1].UUID ||
		!strings.Contains(said.String(), "2 changes stay in the outbox") {
		t.Errorf("got %d entries, %v and:\n%s\nwant one for each call", len(entries), err, said.String())
	}
}

// A call is offered once, as it is now, and not where its change waits.
func TestLineDeskOffersACallOnce(t *testing.T) {
	t.Parallel()
	const twice, ended, waits, gone = testID, "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003"
	call := func(id, state, person string) string {
		return `{"uuid":"` + id + `","status":"` + state + `","type":"winback","attempts":[]` + person + `}`
	}
	person := func(id string) string { return `,"person":{"uuid":"` + id + `","firstName":"Name of ` + id[35:] + `"}` }
	var edges []string
	for _, id := range []string{twice, ended, waits, gone, twice} {
		edges = append(edges, `{"node":`+call(id, "requested", person(id))+`}`)
	}
	attempts := map[string]int{}
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		id, isCall := strings.CutPrefix(r.URL.Path, "/api/v1/calls")
		id = strings.TrimPrefix(id, "/")
		if !isCall {
			status(404, "application/json", `{}`)(w, r)
			return
		}
		if r.Method != http.MethodGet {
			id = strings.TrimSuffix(id, "/actions/add-attempt")
			if id == waits {
				reset(w, r)
				return
			}
			attempts[id]++
		}
		switch id {
		case "":
			status(200, "application/json",
				`{"pageInfo":{"hasNextPage":false},"edges":[`+strings.Join(edges, ",")+`]}`)(w, r)
		case ended:
			status(200, "application/json", call(id, "completed", ""))(w, r)
		case gone:
			status(404, "application/json", `{}`)(w, r)
		default:
			status(200, "application/json", call(id, "requested", person(id)))(w, r)
		}
	})
	environment := homeAt(t, address, "token", "ACCESSIBLE", "1")
	var said bytes.Buffer
	s := cli.NewSession(hasty(appOf(environment, strings.NewReader("a\na\na\n"), &bytes.Buffer{}, &said)), nil)
	s.Flags.Timeout = time.Minute
	if _, err := s.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	attempt, err := apiclient.AddAttemptChange(apitype.MustParseUUID(waits), apitype.AddAttemptRequest{})
	servicetest.Check(t, err)
	queued, err := change.Enqueue(t.Context(), s, []apiclient.Change{attempt}, 0)
	if err != nil || apiclient.KindOf(queued[0].Err) != apiclient.KindUnknownOutcome {
		t.Fatalf("got %v, %v, want that the attempt waits", queued, err)
	}
	if err := desk.ByLines(t.Context(), s, 0); err != nil {
		t.Fatalf("lineDesk: %v\n%s", err, said.String())
	}
	if attempts[twice] != 1 ||
		strings.Count(said.String(), "win-back call for") != 1 ||
		!strings.Contains(said.String(), "Name of "+twice[35:]) {
		t.Errorf("got %v and:\n%s\nwant one call, one attempt", attempts, said.String())
	}
}

// What cannot be kept is not asked for, and what the disk does not take is not lost.
func TestLineDeskWithoutADisk(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	c := newFaultCase(t, h)
	id := c.names.Replace("$CALL")
	state := t.TempDir()
	environment := homeAt(t, h.URL, c.token, "FUNDESK_STATE_DIR", state, "ACCESSIBLE", "1")
	queued := filepath.Join(state, "outbox", "queued")
	desk := func(answers string, said *heard) error {
		s := cli.NewSession(appOf(environment, strings.NewReader(answers), &bytes.Buffer{}, said), nil)
		s.Flags.Timeout = time.Minute
		return desk.ByLines(t.Context(), s, 0)
	}
	writeFile(t, filepath.Join(state, "outbox"), "")
	var early heard
	if err := desk("a\n", &early); err == nil || strings.Contains(early.String(), "not reached") {
		t.Errorf("got %v and %q, want an error before anything is asked", err, early.String())
	}
	servicetest.Check(t, os.Remove(filepath.Join(state, "outbox")))
	// The folder cannot be written while the call is worked, and can when it is tried again.
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	said := &heard{on: map[string]func(){
		"notes, empty": func() {
			must(os.Rename(queued, queued+".away"))
			must(os.WriteFile(queued, nil, 0o600))
		},
		"not saved": func() {
			must(os.Remove(queued))
			must(os.Rename(queued+".away", queued))
		},
	}}
	err := desk("S\nc\nreached\n8\nprecious\nS\n", said)
	if err != nil ||
		!strings.Contains(said.String(), "nothing to send again") ||
		!strings.Contains(said.String(), "S to send what you entered") {
		t.Errorf("got %v and:\n%s", err, said.String())
	}
	call := c.get("/api/v1/calls/" + id)
	if result, ok := call["result"].(map[string]any); !ok || result["notes"] != "precious" {
		t.Errorf("call: got %v, want the notes", call["result"])
	}
}

// An agent who answers questions keeps the call, however long a question takes. Without a call the desk waits for one,
// and earlier typing does nothing to it.
func TestLineDeskKeepsTheCallAndWaits(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	c := newFaultCase(t, h)
	environment := homeAt(t, h.URL, c.token, "ACCESSIBLE", "1")
	in, keys := io.Pipe()
	var ahead atomic.Int64 // Of the clock.
	say := func(texts ...string) func() {
		return func() {
			ahead.Add(int64(time.Minute)) // It took so long to answer.
			text := "q"
			if len(texts) > 0 {
				text, texts = texts[0], texts[1:]
			}
			go func() { _, _ = io.WriteString(keys, text+"\n") }()
		}
	}
	said := &heard{on: map[string]func(){
		"a not reached":            say("K", "a"),
		"No other call is waiting": c.load,
		"A call has arrived":       say("a"), // No agent has seen the call.
	}}
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	workByLines(
		t,
		cli.App{In: in, Out: io.Discard, Err: said, Now: now, Getenv: func(name string) string {
			return environment[name]
		}},
		time.Millisecond,
	)
	text := said.String()
	if strings.Contains(text, "given back") || strings.Count(text, "Enter shows it") != 1 {
		t.Errorf("got:\n%s\nwant the call kept, and the next one said", text)
	}
	if strings.Count(text, "No other call is waiting; 1 call shown. A message appears when one arrives.") != 1 {
		t.Errorf("got:\n%s\nwant it said once that none waits", text)
	}
	call := c.get("/api/v1/calls/$CALL")
	if attempts := call["attempts"].([]any); len(attempts) != 0 {
		t.Errorf("the call that came: got %d attempts, want none", len(attempts))
	}
}

// During a question, the lease of a working agent is kept. That of an absent agent is given back, and no other call is
// taken in its place.
func TestLineDeskTendsTheLeaseWhileAQuestionStands(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	h := servicetest.New(t)
	c := newFaultCase(t, h)
	expiry := func() string {
		leases, _ := h.Do(c.token, http.MethodGet, "/fundesk/v1/queue/leases", "").Object()["leases"].([]any)
		if len(leases) != 1 {
			return ""
		}
		text, _ := leases[0].(map[string]any)["expiresAt"].(string)
		return text
	}
	var passes atomic.Bool // The time, with each request: a longer step would be taken for sleep.
	target, err := url.Parse(h.URL)
	servicetest.Check(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if passes.Load() {
			h.Clock.Advance(2 * time.Second)
		}
		proxy.ServeHTTP(w, r)
	})
	environment := homeAt(t, address, c.token, "ACCESSIBLE", "1")
	in, keys := io.Pipe()
	answer := func(text string) { _, _ = io.WriteString(keys, text+"\n") }
	until := func(ok func() bool) {
		for deadline := time.Now().Add(time.Minute); !ok() && time.Now().Before(deadline); {
			runtime.Gosched()
		}
	}
	var taken, kept, after string
	asked := 0
	said := &heard{on: map[string]func(){
		"a not reached": func() {
			switch asked++; asked {
			case 1:
				go func() {
					taken = expiry()
					begun := h.Clock.Now()
					passes.Store(true)
					until(func() bool { return h.Clock.Now().Sub(begun) >= 4*time.Minute })
					answer("g")
				}()
			case 2:
				go until(func() bool { kept = expiry(); return kept != taken })
			}
		},
		"is no longer reserved for you": func() {
			passes.Store(false)
			go func() {
				after = expiry()
				answer("q") // The card has stayed.
			}()
		},
	}}
	workByLines(
		t,
		cli.App{In: in, Out: io.Discard, Err: said, Now: h.Clock.Now, Getenv: func(name string) string {
			return environment[name]
		}},
		5*time.Millisecond,
	)
	if taken == "" || kept <= taken || after != "" {
		t.Errorf("the lease ended at %q, then at %q, then at %q; want it kept, then given back:\n%s",
			taken, kept, after, said.String())
	}
	if attempts := c.get("/api/v1/calls/$CALL")["attempts"].([]any); len(attempts) != 0 {
		t.Errorf("got %d attempts, want none", len(attempts))
	}
}

// workByLines works the accessible desk to its end.
func workByLines(t *testing.T, app cli.App, look time.Duration) *cli.Session {
	t.Helper()
	s := cli.NewSession(app, nil)
	s.Flags.Timeout = time.Minute
	if err := desk.ByLines(t.Context(), s, look); err != nil {
		t.Fatalf("the desk ended with %v:\n%s", err, app.Err)
	}
	return s
}

// answerDesk works the accessible desk with answers to its end, and returns what it said.
func answerDesk(t *testing.T, environment map[string]string, answers string) string {
	t.Helper()
	var said bytes.Buffer
	workByLines(t, appOf(environment, strings.NewReader(answers), io.Discard, &said), 0)
	return said.String()
}

// heard collects the output, and acts when it hears a text.
type heard struct {
	bytes.Buffer
	on map[string]func()
}

func (h *heard) Write(p []byte) (int, error) {
	for text, do := range h.on {
		if strings.Contains(string(p), text) {
			do()
		}
	}
	return h.Buffer.Write(p)
}

// An interrupt while sample data is prepared is one, and no failure.
func TestDemoInterruptedWhileItIsPrepared(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	code := Run(ctx, []string{"call", "list", "--profile", "demo"}, cli.App{
		In:     strings.NewReader(""),
		Out:    io.Discard,
		Err:    &stderr,
		Now:    time.Now,
		Getenv: func(string) string { return "" },
		OpenEmbedded: func(ctx context.Context, _, _ string) (cli.Embedded, error) {
			cancel()
			return nil, fmt.Errorf("fill the database: %w", ctx.Err())
		},
	})
	if code != 130 ||
		!strings.Contains(stderr.String(), "interrupted") ||
		strings.Contains(stderr.String(), "context") {
		t.Errorf("got %d and %q, want 130 and that it was interrupted", code, stderr.String())
	}
}

// The desk by questions is the whole desk: it corrects details, schedules callbacks, narrows calls and finds a donor
// who calls back. An action that the profile removes is gone.
func TestLineDeskIsTheWholeDesk(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	c := newFaultCase(t, h)
	a := h.Do(c.token, http.MethodPut, "/api/v1/persons/"+c.names.Replace("$PERSON")+"/actions/update",
		`{"name":{"lastName":"Janssen"}}`)
	if a.Status != http.StatusOK {
		t.Fatalf("name: got %d %s", a.Status, a.Body)
	}
	first := c.names.Replace("$CALL")
	for range 3 { // The desk ends when no call is waiting.
		c.load()
	}
	home := t.TempDir()
	environment := map[string]string{
		"HOME":               home,
		"FUNDESK_CONFIG_DIR": home,
		"FUNDESK_PROFILE":    "p",
		"FUNDESK_TOKEN":      c.token,
		"ACCESSIBLE":         "1",
	}
	config := "[profiles.p]\nbase_url = \"" + h.URL +
		"\"\nhidden_actions = [\"cancel\"]\n[[profiles.p.results.verification]]\ncode = \"fixed\"\neffect = \"corrected\"\n"
	writeFile(t, filepath.Join(home, "config.toml"), config)
	desk := func(answers ...string) string {
		t.Helper()
		var said bytes.Buffer
		workByLines(
			t,
			cli.App{In: strings.NewReader(strings.Join(answers, "\n") +
				"\n"), Out: &bytes.Buffer{}, Err: &said, Now: h.Clock.Now, Getenv: func(name string) string {
				return environment[name]
			}},
			0,
		)
		return said.String()
	}
	call := func() map[string]any { return h.Do(c.token, http.MethodGet, "/api/v1/calls/"+first, "").Object() }
	has := func(said string, all ...string) {
		t.Helper()
		for _, want := range all {
			if !strings.Contains(said, want) {
				t.Errorf("got no %q:\n%s", want, said)
			}
		}
	}

	said := desk("help", "?", "q")
	n := strings.Count(said, "\nu undo (not now)\n")
	if n != 2 || !strings.Contains(said, "\na not reached\n") || strings.Contains(said, "there is no") {
		t.Errorf("got %q, want each answer on its line, twice", said)
	}
	said = desk("X", "g", "F", "3", "", "F", "3", "", "q")
	has(said, `there is no "X"`, "e-mail: old@example.org", "contact: phone unknown, e-mail unknown", "attempt 1",
		"3 win-back, chosen", "x everything", "F types and languages")
	if strings.Contains(said, "X cancel") {
		t.Errorf("got %q, want no cancel", said)
	}
	has(desk("t", "3", "", "g", "t", "3", "", "q"), "what was checked", "3 e-mail: old@example.org, checked",
		"q to end: e-mail: old@example.org, checked")
	has(desk("d", ".", "q"), "no number is known", "there is no script for this call")
	script := filepath.Join(home, "scripts", "verification.md")
	servicetest.Check(t, os.Mkdir(filepath.Dir(script), 0o700))
	text := "Good evening.\n\n## letter\nDo you want a letter?\n- [ ] yes -> end\n- [ ] no\n\nGoodbye."
	writeFile(t, script, text)
	said = desk(".", ".", "2", "<", "q")
	has(said, ": Good evening.\n", "Do you want a letter?\n1 yes\n2 no\n", ": Goodbye.\n", "< a step back",
		": letter\n")
	servicetest.Check(t, os.Remove(script))
	has(desk("/nobodyatall", "q"), "no donor was found")
	has(desk("/jansen", "1", "f", "3", "x", "3", "new@example.org", "", "c", "1", "8", "", "q"),
		"e-mail must be", "3 e-mail: old@example.org, to be new@example.org", ", sent")
	if after := call(); is("status", "completed")(after) != 1 {
		t.Errorf("call: got %v, want it completed", after["status"])
	} else if now, _ := after["person"].(map[string]any); now["email"] != "new@example.org" {
		t.Errorf("e-mail: got %v, want it corrected", now["email"])
	}
	writeFile(t, filepath.Join(home, "config.toml"), strings.Replace(config, "cancel", "skip", 1))
	// An empty answer skips nothing here, and ends nothing.
	has(desk("", "zz", "q"), "that is not available now", `there is no "zz"`)
	writeFile(t, filepath.Join(home, "config.toml"), config)
	has(desk("b", "9.10", "", "", "q"), "Which time do you mean, empty to leave it: ")
	has(desk("b", "someday", "tomorrow 18:00 after dinner", "m", "l", "", "q"), "is not a time",
		"m for you\na for any agent\n", "later: ", "u undoes it")
	h.Clock.Advance(36 * time.Hour)
	has(desk("q"), "callback: after dinner\n")
}

// TestLineDeskFindsADonor asks the service for a donor, who gets a new call if none is open.
func TestLineDeskFindsADonor(t *testing.T) {
	t.Parallel()
	var created atomic.Pointer[string]
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		answer := func(text string) { status(200, "application/json", text)(w, r) }
		search := r.URL.Query().Get("search")
		switch noun := filepath.Base(r.URL.Path); {
		case r.Method == http.MethodPost:
			body, _ := io.ReadAll(r.Body)
			created.Store(new(string(body)))
			answer(`{}`)
		case noun == "persons" && search == "zed":
			answer(`{"pageInfo":{"hasNextPage":false,"hasPreviousPage":false},"edges":[{"cursor":"z","node":{"uuid":"` + testID + `","firstName":"Zed","createdAt":"2026-01-02T00:00:00Z"}}]}`)
		case noun == "persons" && search == "berg":
			var edges []string
			for n := range 50 {
				edges = append(
					edges,
					fmt.Sprintf(`{"cursor":"%[1]d","node":{"uuid":"00000000-0000-4000-8000-%012[1]d","lastName":"Berg"}}`, n+1),
				)
			}
			answer(`{"pageInfo":{"hasNextPage":true,"hasPreviousPage":false,"endCursor":"c"},"edges":[` +
				strings.Join(edges, ",") + `]}`)
		case noun == testID:
			answer(`{"uuid":"` + testID + `","firstName":"Zed"}`)
		case noun == "v1":
			answer(`{"extensions":["search"]}`)
		default:
			answer(`{"pageInfo":{"hasNextPage":false,"hasPreviousPage":false},"edges":[]}`)
		}
	})
	environment := homeAt(t, address, "token", "ACCESSIBLE", "1")
	said := answerDesk(t, environment, "/berg\n\n/nobody\n/zed\n1\n\n/zed\n1\n7\n2\nq\n")
	const question = "/ find a donor, F types and languages, ? help, empty to look again, q to end: "
	const newCall = "1 Zed\nnumber of the donor, empty to leave it: looking for an open call of Zed…\nZed has no open call\n" +
		"1 a new call: verification\n2 a new call: happy call\n3 a new call: win-back\nnumber, empty to leave it: "
	const bergs = "1 Berg\n2 Berg\n3 Berg\n4 Berg\n5 Berg\n6 Berg\n7 Berg\n8 Berg\n9 Berg\nnumber of the donor, empty to leave it: "
	want := question + bergs + question + "no donor was found\n" + question + newCall + question + newCall +
		`there is no "7"` + "\nnumber, empty to leave it: "
	_, text, _ := strings.Cut(said, "when one arrives.\n")
	if !strings.HasPrefix(text, want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	body := created.Load()
	if body == nil ||
		!strings.Contains(*body, `"personUuid":"`+testID+`"`) ||
		!strings.Contains(*body, `"type":"happy_call"`) {
		t.Errorf("got %v created, want a happy call to the donor\n%s", body, text)
	}
}

// A detail that was changed elsewhere after it was corrected is asked about, before it is sent.
func TestLineDeskAsksAboutWhatWasChangedElsewhere(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"k": "theirs@example.org", "o": "ours@example.org"} {
		h := servicetest.New(t)
		c := newFaultCase(t, h)
		environment := homeAt(t, h.URL, c.token, "ACCESSIBLE", "1")
		answerDesk(t, environment, "f\n3\nours@example.org\n\nq\n")
		person := "/api/v1/persons/" + c.names.Replace("$PERSON")
		a := h.Do(c.token, http.MethodPut, person+"/actions/update", `{"email":"theirs@example.org"}`)
		if a.Status != http.StatusOK {
			t.Fatalf("colleague: got %d %s", a.Status, a.Body)
		}
		said := answerDesk(t, environment, "c\nfixed\n\n\n"+answer+"\n\n")
		if !strings.Contains(said, "k theirs: theirs@example.org") {
			t.Errorf("%s: got no question:\n%s", answer, said)
		}
		if got := h.Do(c.token, http.MethodGet, person, "").Object()["email"]; got != want {
			t.Errorf("%s: got %v, want %s:\n%s", answer, got, want, said)
		}
		servicetest.Same(t, answer, "completed", c.get("/api/v1/calls/$CALL")["status"])
	}
}

package tui

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service"
	"fundesk/service/servicetest"
)

func TestNotReachedIsOneKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := start(t, w.options, 100, 30)
	m.see("take the next call")
	m.press("n")
	m.see("Anna Jansen", onCard(1))
	w.seen()
	m.sent = 0
	m.press("a")
	// Bert has opted out and Carla was called an hour ago, so Dmitri is next.
	m.see("Dmitri 世界", onCard(4))
	servicetest.Same(t, "keys", 1, m.sent)
	m.press("q")
	m.ended()
	call := w.call(t, callID(1))
	if call.AttemptsCount != 1 {
		t.Fatalf("attempts: got %d, want 1", call.AttemptsCount)
	}
	if user := call.Attempts.Value()[0].UserUUID; user == nil || *user != *w.options.Agent {
		t.Errorf("attempt by: got %v, want %v", user, w.options.Agent)
	}
}

// An agent who types ahead loses nothing: all keys, q included, arrive in one read.
func TestQuitAtOnceSendsWhatWasDone(t *testing.T) {
	t.Parallel()
	for range 5 {
		w := newWorld(t)
		m := start(t, w.options, 80, 24)
		m.press("n")
		m.see("Anna Jansen", onCard(1))
		w.seen()
		m.press("c1r4i" + "typed ahead" + "\x13q")
		m.ended()
		call := w.call(t, callID(1))
		if call.Status != apitype.CallCompleted || deref(call.Result.Value().Notes) != "typed ahead" {
			t.Fatalf("call: got %s %+v, want completed with the notes", call.Status, call.Result.Value())
		}
	}
}

func TestNotesReachTheServiceAsTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := start(t, w.options, 120, 36)
	m.press("n")
	m.see(onCard(1), "Anna Jansen")
	m.press("i")
	m.see("leave notes")
	m.press("Grüße, 世界! q1?", "enter", "second line")
	m.see("second line")
	m.press("esc")
	m.gone("leave notes")
	m.press("c", "2")
	m.see("sends refused")
	m.press("ctrl+s")
	m.see("refused: Anna Jansen")
	m.press("q")
	m.ended()
	if got, want := deref(w.call(t, callID(1)).Result.Value().Notes), "Grüße, 世界! q1?\nsecond line"; got != want {
		t.Errorf("notes: got %q, want %q", got, want)
	}
	if drafts, err := w.box.Drafts(); err != nil || len(drafts) != 0 {
		t.Errorf("drafts: got %v %v, want none", drafts, err)
	}
}

func TestUndoGivesCallAndTextBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := start(t, w.options, 100, 30)
	m.press("n")
	m.see(onCard(1), "Anna Jansen")
	m.press("i")
	m.press("typed with care")
	m.see("typed with care", "leave notes")
	m.press("esc")
	m.gone("leave notes")
	m.press("c", "1", "ctrl+s")
	m.see("u undoes it", "Dmitri")
	m.press("u")
	m.see("Anna Jansen", "typed with care", "[1 reached]", "undone")
	m.press("q")
	m.see("Quit?")
	m.press("enter")
	m.press("y")
	m.ended()
	servicetest.Same(t, "status", apitype.CallRequested, w.call(t, callID(1)).Status)
	draft, found, err := w.box.Draft(callID(1))
	if err != nil || !found || draft.Notes != "typed with care" || draft.ResultCode != "reached" {
		t.Errorf("draft: got %+v %v %v, want the text", draft, found, err)
	}
}

func TestDraftIsOfferedAtStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	servicetest.Check(t, w.box.SaveDraft(callID(5), outbox.Draft{ResultCode: "moved", Notes: "half a sentence"}))
	m := start(t, w.options, 80, 24)
	m.see("go on with 1 draft")
	m.press("D")
	m.see("Zoë van der Straaten", "half a sentence", "[3 moved]")
}

func TestCancelAndExpireAskAndEnterDoesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := start(t, w.options, 80, 24)
	m.press("n")
	m.see(onCard(1), "Anna Jansen")
	w.seen()
	m.press("X")
	m.see("Cancel the call")
	m.press("enter")
	m.press("n")
	m.gone("Cancel the call")
	m.see("Anna Jansen")
	m.press("e")
	m.see("Expire the call")
	m.press("y")
	m.see(onCard(4), "expire: Anna Jansen")
	w.seen()
	m.press("X")
	m.see("Cancel the call")
	m.press("y")
	m.see("Zoë van der Straaten")
	m.press("q")
	m.ended()
	servicetest.Same(t, "first", apitype.CallExpired, w.call(t, callID(1)).Status)
	servicetest.Same(t, "second", apitype.CallCancelled, w.call(t, callID(4)).Status)
}

// A call that another agent completes after it was listed is not shown.
func TestCallTakenByAnotherAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := start(t, w.options, 100, 30)
	m.see("Anna Jansen")
	answer := w.Do(w.Token(), http.MethodPut, "/api/v1/calls/"+callID(1).String()+"/actions/complete", `{}`)
	if answer.Status != http.StatusOK {
		t.Fatalf("complete: got %d, want 200", answer.Status)
	}
	m.press("n")
	m.see(onCard(4))
}

func TestWarningsBeforeDialling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := start(t, w.options, 80, 24)
	m.press("n")
	m.see("low data quality: 50 %", "The number was not reachable.")
	m.press("K")
	m.see("Passed over", "an attempt 1 h 0 min ago")
	m.press("esc")
	m.gone("Passed over")
	m.press("2")
	m.see("Bert")
	m.press("/", "Opgegeven")
	m.see("Filter calls", "Bert Opgegeven")
	m.press("enter")
	m.gone("Filter calls") // The list is read again. From now on the screen shows that reading.
	m.see("Bert Opgegeven")
	m.press("w")
	m.see("opted out of phone calls")
}

func TestWithoutKnownCodesOneIsTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.ResultCodes = nil
	m := start(t, w.options, 80, 24)
	m.press("n")
	m.see(onCard(1), "Anna Jansen")
	m.press("c")
	m.see("1 reached", "/ another") // The code of an earlier call.
	m.press("/")
	m.see("Result code")
	m.press("own_code", "enter")
	m.see("A new result code", "own_code")
	m.press("y", "esc")
	m.see("sends own code")
}

// flaky loses the network on demand.
type flaky struct {
	http.RoundTripper
	down atomic.Bool
}

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.down.Load() {
		return nil, http.ErrServerClosed
	}
	return f.RoundTripper.RoundTrip(r)
}

// through makes the interface reach the service over a network of the test's own.
func (w *world) through(t *testing.T, network http.RoundTripper) {
	t.Helper()
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   w.URL,
		Token:     staticToken(w.token),
		Transport: network,
		Now:       w.Clock.Now,
	})
	servicetest.Check(t, err)
	w.options.Client = client
}

// lapsed refuses the token while it is set.
type lapsed struct {
	http.RoundTripper
	token atomic.Bool
}

func (l *lapsed) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.token.Load() {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer lapsed")
	}
	return l.RoundTripper.RoundTrip(r)
}

// A token that is refused stops all sending for a minute, or until the service takes one
// again.
func TestSendingGoesOnAfterLogin(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	w := newWorld(t)
	network := &lapsed{RoundTripper: w.Transport()}
	w.through(t, network)
	m := start(t, w.options, 100, 30)
	m.press("n")
	m.see("Anna Jansen", onCard(1))
	m.gone("checking")
	w.seen()
	m.press("a")
	m.see("not reached: Anna Jansen ▰▰▰▰▰, sent in")
	network.token.Store(true)
	w.Clock.Advance(5 * time.Second)
	m.see("not logged in", "401")
	m.press("O")
	m.see("queued    not reached", "     1 401") // It was tried once.
	if entries, _, err := w.box.List(); err != nil || len(entries) != 1 || entries[0].State != outbox.StateQueued {
		t.Fatalf("outbox: got %+v %v, want the attempt that waits", entries, err)
	}
	network.token.Store(false)
	w.Clock.Advance(10 * time.Second) // The change itself waits a moment before it is tried again.
	m.press("R")
	m.gone("not logged in")
	m.press("O")
	m.see("Everything you did has reached the service")
	servicetest.Same(t, "attempts", 1, len(w.call(t, callID(1)).Attempts.Value()))
}

func TestOfflineChangesStayInTheOutbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	network := &flaky{RoundTripper: w.Transport()}
	w.through(t, network)
	w.options.ConfigDir = t.TempDir()
	if err := os.WriteFile(filepath.Join(w.options.ConfigDir, "keys.toml"), []byte("[everywhere]\nundo = [\"f9\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := start(t, w.options, 80, 24)
	m.press("n")
	m.see(onCard(1), "Anna Jansen", "VERIFICATION · requested 4 days ago · attempt 1")
	network.down.Store(true)
	m.press("c", "1", "i", "kept", "ctrl+s")
	m.see("◷ reached: Anna Jansen, sent when the service answers, f9 undoes it")
	m.press("q")
	if out := m.ended(); !strings.Contains(out, "1 change stays in the outbox") {
		t.Errorf("farewell: got %q, want the change that stays", out)
	}
	entries, _, err := w.box.List()
	if err != nil || len(entries) != 1 || !strings.Contains(string(entries[0].Body), "kept") {
		t.Fatalf("outbox: got %v %v, want the completion with its notes", entries, err)
	}
	network.down.Store(false)
	if _, err := w.box.Sender(w.options.Client, outbox.SenderOptions{}).SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.call(t, callID(1)); got.Status != apitype.CallCompleted || deref(got.Result.Value().Notes) != "kept" {
		t.Errorf("call: got %s %v, want completed with the notes", got.Status, got.Result)
	}
}

// The queue reports who is called, and asks for no more calls than allowed.
func TestQueueNamesWhoComesNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := start(t, w.options, 120, 36)
	m.see("Anna Jansen", "Zoë van der")
	m.press("n")
	m.see(onCard(1))
	m.press("s")
	m.see(onCard(4))
	m.press(":", "skipped", "enter")
	m.see("skipped by you", "Bert Opgegeven", "opted out of phone calls", "Carla Gebeld", "less than 4 hours")
}

func TestQueueWithoutPersonsWhereTheyMayNotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.token = w.Token(servicetest.MayNot(service.PersonsRead))
	w.through(t, w.Transport())
	d := newDriver(t, w.options)
	d.size(120, 36)
	if screen := strings.Join(d.app.screen(), "\n"); !strings.Contains(screen, "name not read") {
		t.Errorf("screen: got no call without its person:\n%s", screen)
	}
	d.press("n")
	screen := strings.Join(d.app.screen(), "\n")
	if !strings.Contains(screen, "the person is not shown to this account") {
		t.Errorf("screen: got no word that the person is hidden:\n%s", screen)
	}
}

package tui

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/page"
)

// fault replaces the service's answer to a request. With neither field, the service answers.
type fault func(r *http.Request) (*http.Response, error)

// faultyWay is the way to a service with a fault on it.
type faultyWay struct {
	http.RoundTripper
	now *fault
}

func (f faultyWay) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if f.now != nil && *f.now != nil {
		if answer, err := (*f.now)(r); answer != nil || err != nil {
			return answer, err
		}
	}
	return f.RoundTripper.RoundTrip(r)
}

// faulty puts a fault, which may change, on the agent's way to the service.
func (w *world) faulty(t *testing.T, now *fault) {
	w.options.Client = w.clientOf(t, faultyWay{w.Transport(), now}, w.Clock.Now)
}

// withStatus returns a fault that answers with a status.
func withStatus(status int) fault {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {"application/problem+json"}}, Request: r,
			Body: io.NopCloser(strings.NewReader(`{"title":"as the test wants it"}`)),
		}, nil
	}
}

// overNetwork puts a server of its own before the world's service; end closes it.
func (w *world) overNetwork(t *testing.T) func() {
	t.Helper()
	server := httptest.NewServer(w.Handler)
	w.URL = server.URL
	w.connect(t, t.TempDir())
	var err error
	w.options.Client, err = apiclient.New(apiclient.Options{
		BaseURL: w.URL,
		Token:   staticToken(w.token),
		Now:     w.Clock.Now,
		Sleep:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server.Close
}

// ofPath returns a fault of requests with paths that end in one way.
func ofPath(end string, f fault) fault {
	return func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, end) {
			return nil, nil
		}
		return f(r)
	}
}

// What was done while the service is away can be taken back for as long as it has not gone out, also
// after it was tried.
func TestUndoWhileTheServiceIsAway(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"no connection", "login refused"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, now := newWorld(t), fault(nil)
			end := func() { now = withStatus(http.StatusUnauthorized) }
			if name == "no connection" {
				end = w.overNetwork(t)
			} else {
				w.faulty(t, &now)
			}
			d := fixerOf(t, w)
			end()
			d.enter("c", "1", "8", "ctrl+s")
			d.sendHeld(w)
			d.send(ticked{})
			if !slices.Contains(footerKeys(d), "u") ||
				!strings.Contains(d.app.Day.Changes.HeldText("u"), "confirmed: Anna Jansen, sent when the service answers, u undoes it") {
				t.Errorf("got %q and %q, want what can be taken back", footerKeys(d), d.app.Day.Changes.HeldText("u"))
			}
			if d.press("u"); !d.app.Day.IsOn(callID(1)) ||
				d.app.Day.Form().ResultCode != "confirmed" ||
				len(w.entries(t)) != 0 {
				t.Errorf("after u: got %+v and %q, want the call and its form", d.app.Day.Form(), w.entries(t))
			}
		})
	}
}

// Without a login every reading fails. The Desk says so once, above the page and in one error, and both go when the
// service takes a token again.
func TestErrorsOfAnEndedLoginEndWithIt(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"n"}, {"2", "n", "1"}, {"n", "7", "2", "3", "1"}} {
		w, now := newQueueWorld(t), fault(nil)
		w.faulty(t, &now)
		d := newDriver(t, w.options)
		d.press("n")
		now = withStatus(http.StatusUnauthorized)
		d.enter(keys...)
		for range 5 {
			d.untilPoll(w)
		}
		d.sees("has ended", "401")
		d.lacks("errors")
		servicetest.Same(t, "errors without a login", 1, len(d.app.Messages.Errors))
		now = nil
		d.untilPoll(w)
		servicetest.Same(t, "errors with a login", 0, len(d.app.Messages.Errors))
		d.lacks("has ended", "401")
	}
}

// A call that cannot be read for another reason says so until it is read.
func TestErrorAboutACallEndsWhenItIsRead(t *testing.T) {
	t.Parallel()
	w, now := newQueueWorld(t), fault(nil)
	w.faulty(t, &now)
	d := newDriver(t, w.options)
	d.press("n")
	now = ofPath(callID(1).String(), withStatus(http.StatusForbidden))
	d.press("R")
	d.sees("cannot read call")
	now = nil
	d.untilPoll(w)
	d.press("R")
	d.lacks("cannot read call")
}

// A call that could not be read when it came on the card is read once the service answers again.
func TestUncheckedCallIsReadAgain(t *testing.T) {
	t.Parallel()
	w, now := newQueueWorld(t), ofPath(callID(1).String(), lost(syscall.ECONNREFUSED))
	w.faulty(t, &now)
	d := newDriver(t, w.options)
	d.press("n")
	d.sees(onCard(1), "checking…")
	now = nil
	d.untilPoll(w)
	d.lacks("checking…")
}

// lost returns a fault with a broken answer.
func lost(err error) fault {
	return func(r *http.Request) (*http.Response, error) {
		if err != nil {
			return nil, err
		}
		return &http.Response{
			StatusCode:    http.StatusOK,
			Header:        http.Header{"Content-Type": {"application/json"}},
			Request:       r,
			ContentLength: 100,
			Body:          io.NopCloser(io.MultiReader(strings.NewReader(`{"uuid":`), errorReader{})),
		}, nil
	}
}

// errorReader is a body that breaks.
type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Whatever went wrong before, the line shows the send that can be taken back, whole, with its time and
// its key. Read the frames as code.
func TestHeldSendIsSeenAfterEveryFault(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	faults := []struct {
		name string
		of   fault // Of the completion before.
		do   func(w *world, d *driver, now *fault)
	}{
		{name: "401", of: withStatus(401)},
		{name: "403", of: withStatus(403)},
		{name: "404", of: withStatus(404)},
		{name: "409", of: withStatus(409)},
		{name: "412", of: withStatus(412)},
		{name: "422", of: withStatus(422)},
		{name: "429", of: withStatus(429)},
		{name: "500", of: withStatus(500)},
		{name: "503", of: withStatus(503)},
		{name: "no connection", of: lost(syscall.ECONNREFUSED)},
		{name: "a time-out", of: lost(context.DeadlineExceeded)},
		{name: "a cut body", of: lost(nil)},
		{name: "completed by another agent", do: func(w *world, d *driver, _ *fault) {
			d.enter("i", "h", "i", "esc")
			w.change(t, "/api/v1/calls/"+d.app.Day.Call.UUID.String()+"/actions/complete")
			d.enter("R", "n")
		}},
		{name: "a lease that ended", do: func(w *world, d *driver, _ *fault) {
			d.enter("i", "h", "i", "esc")
			w.Clock.Advance(16 * time.Minute) // The lease ends, and another agent takes the call.
			a := w.Do(
				w.Token(),
				http.MethodPost,
				"/fundesk/v1/queue/take",
				`{"requestUuid":"`+apitype.NewUUID().String()+`","userUuid":"`+apitype.NewUUID().String()+
					`","count":10}`,
			)
			if a.Status != http.StatusOK {
				t.Fatalf("take: got %d %s", a.Status, a.Body)
			}
			d.send(ticked{})
			d.run(d.app.Perform(d.app.Day.Poll()), 0)
			d.run(d.app.Perform(d.app.Day.KeepLeases()), 0)
		}},
		{name: "a refused correction", do: func(w *world, d *driver, now *fault) {
			*now = ofPath("/actions/update", withStatus(422))
			d.enter("f", "9", "n", "ctrl+s")
			d.sendHeld(w)
		}},
	}
	var frames strings.Builder
	blanks := regexp.MustCompile("(?m) +$")
	for _, f := range faults {
		w, now := newQueueWorld(t), fault(nil)
		w.faulty(t, &now)
		d := fixerOf(t, w)
		d.size(80, 24)
		if f.do != nil {
			f.do(w, d, &now)
		} else {
			now = ofPath("/actions/complete", f.of)
			d.enter("c", "1", "8", "ctrl+s")
			d.sendHeld(w)
		}
		d.send(ticked{})
		onCard := strings.Contains(d.text(), "another agent has this donor")
		if len(d.app.Messages.Past) == 0 && d.app.Day.Offline == "" && len(w.entries(t)) == 0 && !onCard {
			t.Errorf("%s: got no trace of it:\n%s", f.name, d.text())
		}
		now = nil
		d.enter("R", "c")
		if _, asks := d.app.Dialog.(*page.Confirm); asks { // Another agent has the donor.
			d.press("y")
		}
		d.enter("1", "8", "ctrl+s")
		status := ansi.Strip(d.app.status())
		if !strings.Contains(status, ", sent in 5 s, u undoes it") || !strings.HasPrefix(status, "◷ confirmed: ") {
			t.Errorf("%s: got %q, want the send that is held", f.name, status)
		}
		frame := strings.ReplaceAll(d.text(), w.URL, "https://service.example")
		frames.WriteString("== " + f.name + "\n" + blanks.ReplaceAllString(frame, "") + "\n")
	}
	golden(t, "held-after-faults", strings.TrimRight(frames.String(), "\n"))
}

// A long name does not push the key that takes a send back off the line, in any language.
func TestHeldSendFitsItsLine(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{
		"":   "…, 5 s, u undo",
		"nl": "…, 5 s, u ongedaan",
		"de": "…, 5 s, u rückgängig",
	} {
		w := newWorld(t)
		w.options.Language = language
		d := fixerOf(t, w)
		p := d.app.Day.Call.Person.Value()
		p.LastName = new(strings.Repeat("van der Straaten-", 6) + "Jansen")
		d.app.Day.Call.Person = apitype.Embed(p)
		d.size(60, 20)
		d.enter("c", "1", "8", "ctrl+s")
		status := ansi.Strip(d.app.status())
		if !strings.HasSuffix(status, want) || !strings.Contains(status, ": Anna") {
			t.Errorf("%q: got %q, want the name cut and %q whole", language, status, want)
		}
	}
}

// hide takes a folder of the spool away, as a disk that does not take writes would,
// and returns what brings it back.
func hide(t *testing.T, dir, folder string) func() {
	t.Helper()
	path := filepath.Join(dir, folder)
	servicetest.Check(t, os.Rename(path, path+".away"))
	return func() {
		t.Helper()
		servicetest.Check(t, os.Rename(path+".away", path))
	}
}

// onDisk returns a world with the folder of its spool, and a terminal of some columns with the first call on it.
func onDisk(t *testing.T, width int) (w *world, dir string, m *terminal) {
	t.Helper()
	w, dir = newWorld(t), t.TempDir()
	w.connect(t, dir)
	m = start(t, w.options, width, 30)
	m.press("n")
	m.see("Anna Jansen", onCard(1))
	m.gone("checking")
	return w, dir, m
}

func TestDraftThatCannotBeSavedIsSaid(t *testing.T) {
	t.Parallel()
	w, dir, m := onDisk(t, 100)
	back := hide(t, dir, "drafts")
	m.press("i", "precious")
	m.see("draft not saved", "precious")
	m.press(" words")
	m.see("precious words")
	back()
	m.gone("draft not saved") // The latest text is on disk when the program has ended: an earlier one may be the first.
	m.press("esc")
	m.gone("leave notes")
	m.press("q")
	m.see("Quit?")
	m.press("y")
	m.ended()
	draft, found, err := w.box.Draft(callID(1))
	if err != nil || !found || draft.Notes != "precious words" {
		t.Errorf("draft: got %+v %v %v, want all of it", draft, found, err)
	}
}

func TestChangeThatCannotBeSavedGivesTheTextBack(t *testing.T) {
	t.Parallel()
	w, dir, m := onDisk(t, 100)
	m.press("c", "1", "i", "precious")
	m.see("precious", "sends reached")
	back := hide(t, dir, "queued")
	m.press("ctrl+s")
	m.see("not saved", onCard(1), "precious", "[1 reached]")
	back()
	w.seen()
	m.press("ctrl+s")
	m.see(onCard(4))
	m.press("q")
	m.ended()
	call := w.call(t, callID(1))
	if call.Status != apitype.CallCompleted || deref(call.Result.Value().Notes) != "precious" {
		t.Errorf("call: got %s %+v, want completed with the notes", call.Status, call.Result.Value())
	}
}

// A change that is on disk is not called lost because its draft stays.
func TestDraftThatCannotBeErasedIsSaid(t *testing.T) {
	t.Parallel()
	_, dir, m := onDisk(t, 140)
	m.press("c", "1", "i", "precious")
	m.see("precious", "sends reached")
	hide(t, dir, "drafts")
	writeFile(t, filepath.Join(dir, "drafts"), "")
	m.press("ctrl+s")
	m.see("u undoes it", "▲", onCard(4))
	m.press("!")
	if screen := m.see("its draft could not"); strings.Contains(screen, "nothing was sent") {
		t.Errorf("screen: got that nothing was sent of what is in the outbox:\n%s", screen)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "queued", "*.json")); err != nil || len(files) != 1 {
		t.Errorf("outbox: got %v, %v, want the one change", files, err)
	}
}

// An agent who quits while the disk does not take typed text reads that it is lost, for any call.
func TestQuittingWhileDraftsCannotBeSaved(t *testing.T) {
	t.Parallel()
	w, dir, m := onDisk(t, 100)
	back := hide(t, dir, "drafts")
	m.press("i", "precious")
	m.see("draft not saved", "precious")
	m.press("esc", "n")
	m.see(onCard(4), "draft not saved")
	m.press("q")
	m.see("Quit?", "could not be saved and is lost")
	m.press("n")
	m.gone("Quit?")
	back()
	m.gone("draft not saved")
	m.press("q")
	m.ended()
	if draft, _, err := w.box.Draft(callID(1)); err != nil || draft.Notes != "precious" {
		t.Errorf("draft: got %+v, %v, want what was typed", draft, err)
	}
}

// Drafts that cannot be read do not keep the agent from the calls.
func TestUnreadableDraftIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	w.connect(t, dir)
	m := start(t, w.options, 100, 30)
	m.see("take the next call", "Anna Jansen")
	hide(t, dir, "drafts")
	writeFile(t, filepath.Join(dir, "drafts"), "")
	m.press("n")
	m.see(onCard(1), "attempt 1")
	m.until(func(screen string) bool { // Others complain of the folder, too, perhaps after it.
		return strings.Contains(screen, "cannot read what was typed for call") ||
			strings.Contains(screen, "errors, x dismisses")
	}, []string{"that the draft cannot be read"})
	m.gone("checking")
}

// A change that went out while the agent was asked about it is not dropped as one that never reached the service.
func TestDropOfAChangeThatWentOutMeanwhile(t *testing.T) {
	t.Parallel()
	w, now := newWorld(t), fault(nil)
	w.faulty(t, &now)
	d := newDriver(t, w.options)
	d.enter("n")
	w.seen()
	d.enter("a", "O", "D")
	d.sees("It does not reach the service")
	now = func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			return nil, nil
		}
		return nil, io.ErrUnexpectedEOF // Its answer is lost.
	}
	w.Clock.Advance(6 * time.Second)
	d.deliverOutbox(w)
	d.press("y")
	if got := w.entries(t); len(got) != 1 {
		t.Errorf("outbox: got %q, want the attempt\n%s", got, d.text())
	}
	d.press("D")
	d.lacks("It does not reach the service")
	d.sees("it may have taken effect")
	d.press("y")
	if got := w.entries(t); len(got) != 0 {
		t.Errorf("outbox: got %q, want it dropped", got)
	}
}

package tui

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// matrixTimeout is how long the client waits for an answer.
const matrixTimeout = 2 * time.Second

// preciousNotes are notes that must always be in some place.
const preciousNotes = "precious words"

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// The agent's messages about a completion on a faulty line, and the place of its notes at every moment: the service,
// the outbox or a draft. The outbox's tests show that it takes effect exactly once.
func TestCompletionThroughFaults(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	for _, fault := range []servicetest.Fault{
		servicetest.FaultRefused,
		servicetest.FaultResetAfter,
		servicetest.FaultRedirect,
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			c := &deedCase{T: t, w: newWorld(t), fault: fault}
			c.play()
		})
	}
}

// deedCase is a completion and a fault, with a service of its own.
type deedCase struct {
	*testing.T
	w      *world
	fault  servicetest.Fault
	faulty *servicetest.Faulty
}

func (c *deedCase) play() {
	c.faulty = &servicetest.Faulty{Inner: c.w.Handler}
	c.w.behind(c.T, c.faulty, c.T.TempDir())
	m := start(c.T, c.w.options, 100, 30)
	m.press("n")
	m.see("Anna Jansen", onCard(1))
	m.gone("checking")
	m.press("j") // The call was seen.
	m.press("c", "1", "i", preciousNotes)
	m.see("sends reached, 14 characters")
	m.press("ctrl+s")
	m.see("sent in")
	c.mustBeSomewhere()
	c.faulty.Arm(c.fault, 0)
	m.press("O")
	m.see("Last answer")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(3 * patience)
	for ; ; <-tick.C {
		c.mustBeSomewhere()
		left := c.left()
		if len(left) == 0 || left[0].State == outbox.StateRejected {
			break
		}
		if time.Now().After(deadline) {
			c.Fatalf("still in the outbox: %+v\n%s", left[0], m.text())
		}
		if left[0].State == outbox.StateUnsure {
			c.faulty.DeliverLate()
		}
		c.w.Clock.Advance(c.step(left[0]))
		m.press("R")
	}
	c.faulty.DeliverLate()
	c.mustBeSomewhere()
	c.judge(m)
	m.press("q")
	m.ended()
}

// step is the longest jump of time. Waiting changes need not wait for us, but one that comes more than half a minute
// after it was sent cannot be told from another.
func (c *deedCase) step(e outbox.Entry) time.Duration {
	switch {
	case e.State == outbox.StateSending:
		return 0
	case c.faulty.Delayed():
		return time.Second / 2
	default:
		return 8 * time.Second
	}
}

func (c *deedCase) left() []outbox.Entry {
	c.Helper()
	entries, damaged, err := c.w.box.List()
	if err != nil || len(damaged) > 0 {
		c.Fatalf("outbox: got %v %v, want whole entries", damaged, err)
	}
	return entries
}

// mustBeSomewhere looks for the notes in their places, in the order of their way.
func (c *deedCase) mustBeSomewhere() {
	c.Helper()
	draft, _, err := c.w.box.Draft(callID(1))
	if err == nil && draft.Notes == preciousNotes {
		return
	}
	for _, e := range c.left() {
		if strings.Contains(string(e.Body), preciousNotes) {
			return
		}
	}
	if c.effects() != 1 {
		c.Fatal("the notes are nowhere")
	}
}

func (c *deedCase) judge(m *terminal) {
	c.Helper()
	left, want := c.left(), 1
	switch {
	case c.fault == servicetest.FaultRefused:
		want = 0
		if len(left) != 1 || !strings.Contains(left[0].LastError, "not today") {
			c.Errorf("outbox: got %+v, want the refused change with its reason", left)
		}
		m.see("was refused, its text is kept", "rejected")
	case len(left) != 0:
		c.Errorf("outbox: got %+v, want none", left)
	default:
		m.see("Everything you did has reached the service")
	}
	if drafts, err := c.w.box.Drafts(); err != nil || len(drafts) != 0 {
		c.Errorf("drafts: got %v %v, want none", drafts, err)
	}
	servicetest.Same(c, "effects", want, c.effects())
}

// effects returns 1 if the service has the notes.
func (c *deedCase) effects() int {
	c.Helper()
	return count(deref(c.w.call(c.T, callID(1)).Result.Value().Notes) == preciousNotes)
}

// behind puts a server that spoils changes between the interface and the service.
func (w *world) behind(t *testing.T, faulty *servicetest.Faulty, dir string) {
	t.Helper()
	url := faulty.Serve(t)
	var err error
	w.options.Client, err = apiclient.New(apiclient.Options{
		BaseURL:   url,
		Token:     staticToken(w.token),
		Now:       w.Clock.Now,
		Timeout:   matrixTimeout,
		Transport: &http.Transport{DisableKeepAlives: true},
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	account, err := w.options.Client.Identity(t.Context())
	servicetest.Check(t, err)
	w.box, err = outbox.Open(dir, outbox.Options{BaseURL: url, Account: account, Now: w.Clock.Now})
	servicetest.Check(t, err)
	w.options.Outbox = w.box
}

package tui

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

var (
	matrixWhole = flag.Bool("matrix", false, "every change that the interface makes through every fault, in place of completions and one fault for each other")
	matrixSeeds = flag.Int("seeds", 1, "how many variants of each fault are tried with each change")
	matrixSeats = flag.Int("seats", 4, "how many cases of the matrix are played at once: they mostly wait")
)

// matrixTimeout is when the client gives up on an answer.
const matrixTimeout = 2 * time.Second

// preciousNotes is what must never be nowhere.
const preciousNotes = "precious words"

// deed is a change as an agent makes it: what is pressed and seen for it, or what another
// shell has queued; and how often it shows at the service.
type deed struct {
	name    string
	press   func(m *terminal)
	effects func(t *testing.T, w *world) int
	notes   bool
	queue   func(w *world) (apiclient.Change, error)
}

func deeds() []deed {
	next := func(m *terminal) {
		m.press("n")
		m.see("Anna Jansen", onCard(1))
		m.gone("checking")
		m.press("j") // The call was seen.
	}
	status := func(want apitype.CallStatus) func(*testing.T, *world) int {
		return func(t *testing.T, w *world) int { t.Helper(); return count(w.call(t, callID(1)).Status == want) }
	}
	return []deed{
		{name: "complete", press: func(m *terminal) {
			next(m)
			m.press("c", "1", "i", preciousNotes)
			m.see("sends reached, 14 characters")
			m.press("ctrl+s")
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return count(deref(w.call(t, callID(1)).Result.Value().Notes) == preciousNotes)
		}, notes: true},
		{name: "not reached", press: func(m *terminal) { next(m); m.press("a") }, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return len(w.call(t, callID(1)).Attempts.Value())
		}},
		{name: "cancel", press: func(m *terminal) { next(m); m.press("X"); m.see("Cancel the call"); m.press("y") }, effects: status(apitype.CallCancelled)},
		{name: "expire", press: func(m *terminal) { next(m); m.press("e"); m.see("Expire the call"); m.press("y") }, effects: status(apitype.CallExpired)},
		{name: "mark processed", press: func(m *terminal) { next(m); m.press("m") }}, // Nothing shows marks.
		{name: "status action", press: func(m *terminal) {
			m.press("4")
			m.see("6 pledges")
			m.press("G", "t", "3")
			m.see("cancel: 1 record")
			m.press("y")
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			cancelled := 0
			for n := range 6 {
				pledge, err := apiclient.Decoded(w.client.Pledges.Get(t.Context(), pledgeID(n+1)))
				servicetest.Check(t, err)
				cancelled += count(pledge.Status == apitype.PledgeCancelled)
			}
			return cancelled
		}},
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// What an agent does takes effect exactly once, whatever happens to it on its way, or
// was refused and is kept; and what was typed is at the service, in the outbox or a
// draft at every moment.
func TestMatrixOfDeeds(t *testing.T) {
	t.Parallel()
	all := slices.Concat(deeds(), queuedDeeds())
	cases := servicetest.NewCases(t, *matrixSeats) // The time-outs are of one service that is not overrun.
	defer cases.Wait()
	for i, fault := range servicetest.Faults {
		for j, d := range all {
			if !*matrixWhole && !d.notes && i != 2*j%len(servicetest.Faults) {
				continue
			}
			for seed := range *matrixSeeds {
				cases.Run(fmt.Sprintf("%s/%s/%d", d.name, fault, seed), func(t *testing.T) {
					c := &deedCase{T: t, w: newWorld(t), deed: d, fault: fault, seed: seed + i + j}
					c.play()
				})
			}
		}
	}
}

// deedCase is one deed and one fault, with a service of its own.
type deedCase struct {
	*testing.T
	w      *world
	deed   deed
	fault  servicetest.Fault
	seed   int
	faulty *servicetest.Faulty
	dir    string // The state folder, which other shells share.
}

func (c *deedCase) play() {
	c.faulty = &servicetest.Faulty{Inner: c.w.Handler}
	c.dir = c.T.TempDir()
	c.w.behind(c.T, c.faulty, c.dir)
	m := start(c.T, c.w.options, 100, 30)
	if c.deed.queue != nil {
		c.queue(m)
	} else {
		c.deed.press(m)
		m.see("sent in")
	}
	c.mustBeSomewhere()
	c.faulty.Arm(c.fault, c.seed)
	m.press("O")
	m.see("Last answer")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(3 * patience)
	for lookedFor := 0; ; <-tick.C {
		c.mustBeSomewhere()
		left := c.left()
		if len(left) == 0 || left[0].State == outbox.StateRejected {
			break
		}
		if time.Now().After(deadline) {
			c.Fatalf("still in the outbox: %+v\n%s", left[0], m.text())
		}
		if left[0].State == outbox.StateUnsure {
			if lookedFor++; lookedFor == 1+c.seed%2*4 { // At once, or after some looks.
				c.faulty.DeliverLate()
			}
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

// step is how much time may pass at once: what waits need not wait for us, but what comes
// later than half a minute after it went out cannot be told from another.
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

// mustBeSomewhere looks for the notes where they go, in the order in which they go.
func (c *deedCase) mustBeSomewhere() {
	c.Helper()
	if !c.deed.notes {
		return
	}
	draft, _, err := c.w.box.Draft(callID(1))
	if err == nil && draft.Notes == preciousNotes {
		return
	}
	for _, e := range c.left() {
		if strings.Contains(string(e.Body), preciousNotes) {
			return
		}
	}
	if c.deed.effects(c.T, c.w) != 1 {
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
	if c.deed.name == "not reached" && c.fault == servicetest.FaultDuplicated {
		want = 2 // Attempts are never recognised as repeats, whoever repeats them. Spec gap: C4.
	}
	if c.deed.effects == nil {
		if got := min(c.faulty.Applied(), 1); got != want {
			c.Errorf("marks: got %d, want %d", got, want)
		}
		return
	}
	if got := c.deed.effects(c.T, c.w); got != want {
		c.Errorf("effects: got %d, want %d", got, want)
	}
}

// behind puts a server that spoils changes between the interface and the service.
func (w *world) behind(t *testing.T, faulty *servicetest.Faulty, dir string) {
	t.Helper()
	url := faulty.Serve(t)
	var err error
	w.options.Client, err = apiclient.New(apiclient.Options{
		BaseURL: url, Token: staticToken(w.token), Now: w.Clock.Now, Timeout: matrixTimeout,
		Transport: &http.Transport{DisableKeepAlives: true}, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	account, err := w.options.Client.Identity(t.Context())
	servicetest.Check(t, err)
	w.box, err = outbox.Open(dir, outbox.Options{BaseURL: url, Account: account, Now: w.Clock.Now})
	servicetest.Check(t, err)
	w.options.Outbox = w.box
}

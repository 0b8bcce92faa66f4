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
	"fundesk/tui/desk"
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

// newID is of what a deed creates.
var newID = ids(0xd0, 1)

// queuedDeeds are the changes that have no screen: another shell's `fundesk … --outbox`
// has put them into the outbox that all share, and this terminal sends them.
func queuedDeeds() []deed {
	generated := func(change apiclient.Change, err error) (apiclient.Change, error) {
		change.Generated = true // As where nobody has chosen the uuid.
		return change, err
	}
	return []deed{
		{name: "create person", queue: func(*world) (apiclient.Change, error) {
			return generated(apiclient.CreatePersonChange(apitype.CreatePersonRequest{
				UUID: &newID, OwningOrganizationUUID: organizationID, RecruitingOrganizationUUID: organizationID, Email: new("new@example.org"),
			}))
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Persons.Get, newID, func(p apitype.Person) bool { return deref(p.Email) == "new@example.org" })
		}},
		{name: "update person", queue: func(*world) (apiclient.Change, error) {
			return apiclient.UpdatePersonChange(personID(1), apitype.UpdatePersonRequest{Email: apitype.Set("changed@example.org")})
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Persons.Get, personID(1), func(p apitype.Person) bool { return deref(p.Email) == "changed@example.org" })
		}},
		{name: "create call", queue: func(w *world) (apiclient.Change, error) {
			return generated(apiclient.CreateCallChange(apitype.CreateCallRequest{
				UUID: &newID, RequestedAt: w.ago(time.Minute), PersonUUID: personID(1), Type: new(apitype.CallWinback), Notes: new("Ask again."),
			}))
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Calls.Get, newID, func(c apitype.Call) bool { return deref(c.Notes) == "Ask again." })
		}},
		{name: "create pledge", queue: func(w *world) (apiclient.Change, error) {
			return generated(apiclient.CreatePledgeChange(apitype.CreatePledgeRequest{
				UUID: &newID, PersonUUID: personID(1), CreatedAt: w.ago(time.Minute), OwningOrganizationUUID: organizationID, RecruitingOrganizationUUID: organizationID,
				InitialDonationInterval: "monthly", InitialDonationAmount: apitype.Cents(700), RecruiterUserUUID: ids(0xe0, 2), StartsAt: w.ago(time.Minute),
			}))
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Pledges.Get, newID, func(p apitype.Pledge) bool { return p.DonationAmount == apitype.Cents(700) })
		}},
		{name: "update pledge", queue: func(*world) (apiclient.Change, error) {
			return apiclient.UpdatePledgeChange(pledgeID(1), apitype.UpdatePledgeRequest{DonationAmount: apitype.Set(apitype.Cents(4321))})
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Pledges.Get, pledgeID(1), func(p apitype.Pledge) bool { return p.DonationAmount == apitype.Cents(4321) })
		}},
	}
}

// shows is 1 where a record is there and as it is wanted, else 0.
func shows[T any](t *testing.T, get func(context.Context, apitype.UUID) (apiclient.Record[T], error), id apitype.UUID, as func(T) bool) int {
	t.Helper()
	record, err := apiclient.Decoded(get(t.Context(), id))
	if err != nil && apiclient.KindOf(err) != apiclient.KindNotFound {
		t.Fatal(err)
	}
	return count(err == nil && as(record))
}

// queue is what another process does with the same folder: its change has been tried,
// and waits.
func (c *deedCase) queue(m *terminal) {
	c.Helper()
	client := c.w.options.Client
	account, err := client.Identity(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	other, err := outbox.Open(c.dir, outbox.Options{BaseURL: client.BaseURL(), Account: account, Now: c.w.Clock.Now})
	if err != nil {
		c.Fatal(err)
	}
	change, err := c.deed.queue(c.w)
	if err != nil {
		c.Fatal(err)
	}
	entry := outbox.Entry{Change: change}
	entry.NotBefore = c.w.Clock.Now().Add(5 * time.Second)
	if _, err = other.Add(entry); err != nil {
		c.Fatal(err)
	}
	m.press("O", "R")
	m.see("Last answer", desk.OpLabel(change.Op))
}

package desk_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/event"
)

var (
	floorSeeds = flag.Uint64("seeds", 200, "how many seeds TestFloorModel has; by night 5000")
	floorFrom  = flag.Uint64("from", 0, "the first seed of TestFloorModel")
	floorSteps = flag.Int("steps", 12, "how many steps each seed of TestFloorModel has; by night 220")
)

// restTime is how long a donor rests after an attempt or a completion.
const restTime = 4 * time.Hour

// modelAgent is an agent with answers in any order, a line that may be cut, and absences.
type modelAgent struct {
	*scattered
	line  *faultyLine
	user  apitype.UUID
	ended map[apitype.UUID]time.Time // Calls that a key ended, with the time, except those that came back.
	blind map[apitype.UUID]bool      // The mark could not be made: the line was cut, or a colleague had the donor.
	sees  apitype.UUID               // The call on the desk. Zero if there is none.
}

// floorModel is a floor of two agents and a back office.
type floorModel struct {
	*floor
	random   *rand.Rand
	agents   []*modelAgent
	accepted map[string]outbox.Entry // By id.
	attempts map[string]apitype.UUID // Entries of attempts, by id.
	reasons  map[string]apitype.UUID // Entries of the reasons of attempts, by id.
	numbers  map[apitype.UUID]string // What was written last and accepted, by person.
	broken   []string
	history  []string
}

func (m *floorModel) breaks(format string, args ...any) {
	m.broken = append(m.broken, fmt.Sprintf(format, args...))
	m.note(format, args...)
}

func (m *floorModel) note(format string, args ...any) {
	m.history = append(m.history, m.Clock.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func newFloorModel(t *testing.T, seed uint64) *floorModel {
	m := &floorModel{
		floor:    newFloor(t, 14),
		random:   rand.New(rand.NewPCG(seed, 77)),
		accepted: map[string]outbox.Entry{},
		attempts: map[string]apitype.UUID{},
		reasons:  map[string]apitype.UUID{},
		numbers:  map[apitype.UUID]string{},
	}
	// Other tests hold each answer against openapi.json: this one asks too often for that.
	m.Handler = httpapi.New(httpapi.Options{Service: m.Service, Now: m.Clock.Now})
	for range 2 {
		dir := t.TempDir()
		user := apitype.NewUUID()
		m.user = &user
		a, line := m.agentOn(dir)
		h := &modelAgent{
			scattered: &scattered{agent: a, random: m.random, dir: dir},
			line:      line,
			user:      user,
			ended:     map[apitype.UUID]time.Time{},
			blind:     map[apitype.UUID]bool{},
		}
		h.TellJoined(func(r event.Result) { h.results = append(h.results, r) })
		h.Changes.Sender = h.Leases.NewSender(outbox.SenderOptions{Notify: func(e outbox.Event) { m.hear(h, e) }})
		m.agents = append(m.agents, h)
	}
	return m
}

// hear notes what was accepted, and hands it to the desk later.
func (m *floorModel) hear(h *modelAgent, e outbox.Event) {
	h.results = append(h.results, h.Told(e))
	if e.Outcome != outbox.OutcomeAccepted || e.IsForeign {
		return
	}
	if _, known := m.accepted[e.Entry.ID+h.dir]; known {
		m.breaks("an entry was accepted twice")
	}
	m.accepted[e.Entry.ID+h.dir] = e.Entry
	if e.Entry.Op != apiclient.OpUpdatePerson {
		return
	}
	before, isWritten := m.numbers[e.Entry.UUID]
	shown := apiclient.SeenOf(e.Entry.Change, apitype.Person{MobilePhoneNumber: &before})
	if isWritten && !bytes.Equal(e.Entry.Seen, shown) {
		m.breaks("a correction was written over %s, which the agent had not seen", before)
	}
	m.numbers[e.Entry.UUID] = m.mobile(e.Entry.UUID)
}

// start does the work of a key at once; its answers come in any order.
func (m *floorModel) start(h *modelAgent, events []event.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case event.Job:
			h.results = append(h.results, e(h.f.t.Context()))
		case event.Notice:
			h.told = append(h.told, e.Text)
		}
	}
	h.Changes.Written()
	entries, _, _ := h.Outbox.List()
	for _, e := range entries {
		switch e.Op {
		case apiclient.OpAddAttempt:
			m.attempts[e.ID+h.dir] = e.UUID
		case apiclient.OpDescribeAttempt:
			m.reasons[e.ID+h.dir] = e.UUID
		}
	}
}

// ends notes that a key ends the call on the desk.
func (m *floorModel) ends(n int, what string) {
	h := m.agents[n]
	id := h.Call.UUID
	m.Clock.Advance(time.Millisecond) // An attempt is known by its time: no two keys have the same.
	m.note("agent %d: %s of %v, cut %t", n, what, id, h.line.isCut)
	isTaken := m.agents[1-n].sees == id
	for _, l := range m.leases() {
		isTaken = isTaken || l.CallUUID == id && l.UserUUID != h.user
	}
	h.ended[id], h.blind[id] = m.Clock.Now(), h.line.isCut || isTaken
}

// look notes the call on a desk, and fails if its donor was called.
func (m *floorModel) look(n int) {
	h := m.agents[n]
	var now apitype.UUID
	if h.Call != nil {
		now = h.Call.UUID
	}
	if now == h.sees || now.IsZero() {
		h.sees = now
		return
	}
	h.sees = now
	m.note("agent %d sees %v", n, now)
	for of, other := range m.agents {
		at, isEnded := other.ended[now]
		if !isEnded || m.Clock.Now().Sub(at) >= restTime || other.blind[now] {
			continue
		}
		entries, _, _ := other.Outbox.List()
		state := "sent"
		for _, e := range entries {
			if e.UUID == now {
				state = string(e.State)
			}
		}
		m.breaks("agent %d is given the donor whose call agent %d ended %v ago, and the change is %s", n, of,
			m.Clock.Now().Sub(at), state)
	}
}

// drain lets all come that is under way.
func (m *floorModel) drain(n int) {
	for i := 0; i < 400 && m.agents[n].bring(); i++ {
		m.look(n)
	}
}

// send sends what is due of an agent.
func (m *floorModel) send(n int) {
	h := m.agents[n]
	h.Changes.Release()
	_, err := h.Changes.Sender.SendDue(m.t.Context())
	servicetest.Check(m.t, err)
}

// step does one thing that may happen on a floor.
func (m *floorModel) step() {
	n := m.random.IntN(2)
	h := m.agents[n]
	switch m.random.IntN(16) {
	case 0, 1, 2, 3:
		h.Keys.Press("x", false, false, m.Clock.Now())
		m.act(n)
	case 4:
		for _, other := range m.agents {
			other.note(other.Poll())
		}
	case 5:
		m.Clock.Advance(time.Duration(m.random.IntN(4000)) * time.Millisecond)
	case 6:
		m.send(n)
	case 7:
		if m.random.IntN(3) == 0 {
			h.line.isCut = !h.line.isCut
			m.note("agent %d: cut %t", n, h.line.isCut)
		}
	case 8:
		if m.random.IntN(6) == 0 {
			m.goAway(n)
		}
	case 9:
		if m.random.IntN(3) == 0 {
			person := m.call(m.calls[m.random.IntN(len(m.calls))]).PersonUUID
			number := fmt.Sprintf("+3169%07d", m.random.IntN(10_000_000))
			m.officeWrites(person, number)
			m.numbers[person] = number
			m.note("the office writes %s of %v", number, person)
		}
	default:
		h.bring()
	}
	m.look(n)
}

// act presses a key of an agent.
func (m *floorModel) act(n int) {
	h := m.agents[n]
	switch {
	case h.Pause.IsOn():
		m.note("agent %d: any key", n)
		m.start(h, h.Pause.End())
		return
	case m.random.IntN(8) == 0:
		m.note("agent %d: P, cut %t", n, h.line.isCut)
		m.start(h, h.Pause.Start(apitype.PauseLunch))
		return
	case h.Call == nil:
		m.start(h, h.Next())
		return
	}
	switch m.random.IntN(7) {
	case 0, 1:
		m.notReached(n)
	case 2, 3:
		m.complete(n)
	case 4:
		m.start(h, h.Skip())
	default:
		m.undo(n)
	}
}

func (m *floorModel) notReached(n int) {
	h := m.agents[n]
	if h.Form().Ended() != "" {
		return
	}
	m.ends(n, "a")
	reason := slices.Concat([]apitype.NotReached{""}, apitype.NotReachedReasons)[m.random.IntN(5)]
	if m.random.IntN(3) > 0 {
		m.start(h, h.Finish(disposition.NotReached(reason)))
		return
	}
	h.Form().SetNotes("ask for " + h.Call.UUID.String())
	m.start(h, h.Finish(disposition.NotReachedWithNote(reason)))
}

func (m *floorModel) complete(n int) {
	h := m.agents[n]
	h.Form().SetNotes("spoke about " + h.Call.UUID.String())
	if m.random.IntN(2) == 0 {
		h.correctMobile(fmt.Sprintf("+3161%07d", m.random.IntN(10_000_000)))
	}
	h.Form().SetResult("reached")
	_, _, asks := h.Overtaken()
	if h.Form().WhyNotComplete() != "" || asks {
		return
	}
	m.ends(n, "ctrl+s")
	m.start(h, h.Finish(disposition.Complete))
}

// undo takes back what is held, and forgets that those calls were ended which come back: no change of them is left.
func (m *floorModel) undo(n int) {
	h := m.agents[n]
	m.drain(n)
	if !h.Changes.CanUndo() {
		return
	}
	m.note("agent %d: u", n)
	before := h.entryIDs()
	m.start(h, h.Changes.Undo())
	h.Changes.Written()
	after := h.entryIDs()
	for id, call := range before {
		if _, isLeft := after[id]; !isLeft {
			delete(h.ended, call)
		}
	}
	for h.bring() {
	}
	h.sees = apitype.UUID{}
	if h.Call != nil {
		h.sees = h.Call.UUID // It came back: the queue did not give it.
	}
}

// entryIDs returns the entries of an agent's outbox, each with its record.
func (h *modelAgent) entryIDs() map[string]apitype.UUID {
	ids := map[string]apitype.UUID{}
	entries, _, _ := h.Outbox.List()
	for _, e := range entries {
		ids[e.ID] = e.UUID
	}
	return ids
}

// goAway lets a quarter of an hour pass in which an agent presses no key. Both desks run.
func (m *floorModel) goAway(n int) {
	m.note("agent %d is away for a quarter of an hour", n)
	for range 63 {
		m.Clock.Advance(15 * time.Second)
		for of, h := range m.agents {
			h.note(h.Poll())
			if of != n {
				h.Keys.Press("x", false, false, m.Clock.Now())
			}
			m.drain(of)
			m.send(of)
		}
	}
}

// settle mends all lines and lets everything be sent, also what the Desk tries again with each poll.
func (m *floorModel) settle() {
	for n, h := range m.agents {
		h.line.isCut = false
		for range 4 {
			h.note(h.Poll())
			m.drain(n)
			m.Clock.Advance(time.Minute)
			m.send(n)
		}
		m.drain(n)
	}
}

// check compares the service with what was accepted.
func (m *floorModel) check() {
	attempts := map[apitype.UUID]int{}
	for id, call := range m.attempts {
		if _, isAccepted := m.accepted[id]; isAccepted {
			attempts[call]++
		}
	}
	for _, id := range m.calls {
		if got := m.call(id).AttemptsCount; got != attempts[id] {
			m.breaks("call %v has %d attempts, want %d: those that were not taken back", id, got, attempts[id])
		}
	}
	m.checkReasons()
	m.checkPauses()
	for person, number := range m.numbers {
		if got := m.mobile(person); got != number {
			m.breaks("person %v has %s, want %s, which was written last", person, got, number)
		}
	}
	pending := m.pending()
	for _, call := range pending {
		waits := func(h *modelAgent) bool {
			return slices.Contains(slices.Collect(maps.Values(h.entryIDs())), call)
		}
		if !slices.ContainsFunc(m.agents, waits) {
			m.breaks("the lease of %v is pending, and no change of it waits", call)
		}
	}
}

// checkReasons compares the reasons of attempts with those that were accepted. The reason of an attempt that was taken
// back goes with it.
func (m *floorModel) checkReasons() {
	want := map[apitype.UUID]int{}
	for id, call := range m.reasons {
		if _, isAccepted := m.accepted[id]; isAccepted {
			want[call]++
		}
	}
	for _, id := range m.calls {
		var all apitype.DescribedAttempts
		m.Do(m.token, http.MethodGet, "/fundesk/v1/calls/"+id.String()+"/attempts", "").Decode(&all)
		got := 0
		for _, a := range all.Attempts {
			if a.Reason != nil {
				got++
			}
		}
		if got != want[id] {
			m.breaks("call %v has %d attempts with a reason, want %d", id, got, want[id])
		}
	}
	for n, h := range m.agents {
		entries, _, _ := h.Outbox.List()
		for _, e := range entries {
			if e.Op == apiclient.OpDescribeAttempt && e.State == outbox.StateRejected {
				m.breaks("agent %d: the reason of an attempt was refused: %s", n, e.LastError)
			}
		}
	}
}

// checkPauses compares the pauses of the agents with the service. A paused agent has no call and holds no donor, but
// for changes that wait.
func (m *floorModel) checkPauses() {
	var all apitype.QueueAgents
	m.Do(m.token, http.MethodGet, "/fundesk/v1/queue/agents", "").Decode(&all)
	for n, h := range m.agents {
		isPaused := slices.ContainsFunc(all.Agents, func(a apitype.QueueAgent) bool {
			return a.UserUUID == h.user && a.State == apitype.UserPaused
		})
		if isPaused != h.Pause.IsOn() {
			m.breaks("agent %d: the Desk is paused %t, and the service %t", n, h.Pause.IsOn(), isPaused)
		}
		if h.Pause.IsOn() && h.Call != nil {
			m.breaks("agent %d is paused with a call on the desk", n)
		}
		for _, l := range m.leases() {
			if isPaused && l.UserUUID == h.user && !l.Pending {
				m.breaks("agent %d is paused and holds %v", n, l.CallUUID)
			}
		}
	}
}

// Two agents take donors from the queue, end their calls, undo, pause, go away, and lose their lines, while the back
// office corrects numbers. A donor is given to neither of them within four hours after the call ended, whatever
// happens to the change. A lasting attempt counts once with its reason, the last value is not overwritten unseen, no
// lease stays pending without a change, and a paused agent holds no donor.
func TestFloorModel(t *testing.T) {
	t.Parallel()
	for seed := *floorFrom; seed < *floorFrom+servicetest.Times(10, *floorSeeds); seed++ {
		m := newFloorModel(t, seed)
		for range *floorSteps {
			m.step()
		}
		m.settle()
		m.check()
		if len(m.broken) > 0 {
			t.Errorf("-from %d -seeds 1 -steps %d: %s\n%s", seed, *floorSteps, strings.Join(m.broken, "\n"),
				strings.Join(m.history, "\n"))
		}
	}
}

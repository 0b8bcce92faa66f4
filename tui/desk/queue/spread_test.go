package queue_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/queue"
)

func callsOf(random *rand.Rand, n int) []apitype.UUID {
	ids := make([]apitype.UUID, n)
	for i := range ids {
		for j := range ids[i] {
			ids[i][j] = byte(random.Uint32())
		}
	}
	return ids
}

func self(id apitype.UUID) apitype.UUID { return id }

func TestSpread(t *testing.T) {
	t.Parallel()
	calls := callsOf(rand.New(rand.NewPCG(1, 1)), 50)
	before := slices.Clone(calls)
	anneke, joost := queue.Spread("anneke", calls, self), queue.Spread("joost", calls, self)
	servicetest.Same(t, "the calls themselves were moved", before, calls)
	if slices.Equal(anneke, joost) || !slices.Equal(anneke, queue.Spread("anneke", calls, self)) {
		t.Error("got the same order for two agents, or two for one")
	}
	gone := slices.DeleteFunc(slices.Clone(calls), func(id apitype.UUID) bool { return id == anneke[7] })
	want := slices.Delete(slices.Clone(anneke), 7, 8)
	servicetest.Same(t, "the others were moved when one went", want, queue.Spread("anneke", gone, self))
	if got := queue.Spread[apitype.UUID]("anneke", nil, self); len(got) != 0 {
		t.Errorf("got %v of no calls", got)
	}
}

// independentRings returns how many calls of a day reach a donor whom another agent has on the line, if each agent has
// any of the fifty at random. A real floor is not far from it.
func independentRings(agents, ringsEach int) float64 {
	return float64(agents*ringsEach) * (1 - math.Pow(1-1.0/50, float64(agents-1)))
}

// simulatedRings plays a day of a floor with calls of four minutes on average.
func simulatedRings(random *rand.Rand, agents, ringsEach int) int {
	type work struct {
		call apitype.UUID
		ends float64
	}
	waiting := callsOf(random, agents*ringsEach+100)
	floor := make([]work, agents)
	for i := range floor {
		floor[i].ends = random.Float64() * 4
	}
	var double int
	for range agents * ringsEach {
		next := 0
		for i := range floor {
			if floor[i].ends < floor[next].ends {
				next = i
			}
		}
		waiting = slices.DeleteFunc(waiting, func(id apitype.UUID) bool { return id == floor[next].call })
		call := queue.Spread(fmt.Sprint("agent ", next), waiting[:50], self)[0]
		if slices.ContainsFunc(floor, func(w work) bool { return w.call == call }) {
			double++
		}
		floor[next] = work{call, floor[next].ends + random.ExpFloat64()*4}
	}
	return double
}

// The figures of docs/supervisor.md for floors with 120 calls a day and agent. Many agents prefer new calls, so a small
// floor has twice the collisions of random choice. A large one has fewer, because agents with the same donor hold one
// call.
func TestSpreadOnAFloor(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct{ agents, independent, simulated int }{
		{5, 47, 100},
		{20, 765, 700},
		{50, 3770, 2450},
	} {
		if got := independentRings(test.agents, 120); math.Round(got) != float64(test.independent) {
			t.Errorf("%d agents who choose at random: computed %.0f, want %d", test.agents, got, test.independent)
		}
		got := simulatedRings(random, test.agents, 120)
		if math.Abs(float64(got-test.simulated)) > 0.25*float64(test.simulated)+30 {
			t.Errorf("%d agents: got %d rings of two, want about %d", test.agents, got, test.simulated)
		}
	}
}

// Without a queue, a donor who was called on another call, by any agent, is left alone for 4 hours.
func TestSpreadLeavesWhoWasCalledAlone(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *apitype.Call, at apitype.Time){
		"completed": func(c *apitype.Call, at apitype.Time) { c.Status, c.CompletedAt = apitype.CallCompleted, &at },
		"attempted": func(c *apitype.Call, at apitype.Time) {
			c.Attempts = apitype.Embed([]apitype.CallAttempt{{AttemptAt: at}})
		},
	} {
		q := newWalk(morning)
		waits, other := requested(1), requested(2)
		waits.PersonUUID, other.PersonUUID = callID(50), callID(50)
		change(&other, apitype.NewTime(morning.Add(-time.Hour)))
		q.Learn(waits)
		q.Learn(other) // As the walk of all calls brings it.
		offered := func(now time.Time) bool {
			q.Now = func() time.Time { return now }
			return isOffered(q, waits.UUID)
		}
		if offered(morning) || !offered(morning.Add(3*time.Hour)) {
			t.Errorf("%s: got it offered %t after 1 hour and %t after 4, want it then",
				name, offered(morning), offered(morning.Add(3*time.Hour)))
		}
		q.Now = func() time.Time { return morning }
		reasons := q.PassedOver()
		if !slices.ContainsFunc(reasons, func(p queue.PassedOver) bool {
			return p.ID == waits.UUID && strings.HasPrefix(p.Reason, "called 1 h 0 min ago on another call")
		}) {
			t.Errorf("%s: got %+v, want the reason", name, reasons)
		}
	}
}

// A call with as many attempts as the profile allows is passed over, however many they are.
func TestTheMostAttempts(t *testing.T) {
	t.Parallel()
	q := newWalk(morning)
	q.MaxAttempts = 3
	call := requested(1)
	call.AttemptsCount = 4
	q.Learn(call)
	want := []queue.PassedOver{{ID: callID(1), Reason: "4 attempts, the maximum is 3"}}
	servicetest.Same(t, "passed over", want, q.PassedOver())
	if offered := q.Offers(1); len(offered) != 0 {
		t.Errorf("got %v offered, want none", offered)
	}
}

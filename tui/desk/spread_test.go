package desk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
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
	calls := callsOf(rand.New(rand.NewPCG(1, 1)), 60)
	before := slices.Clone(calls)
	anneke, joost := Spread("anneke", calls, self), Spread("joost", calls, self)
	if diff := cmp.Diff(before, calls); diff != "" {
		t.Errorf("the calls themselves were moved: %s", diff)
	}
	if slices.Equal(anneke, joost) || !slices.Equal(anneke, Spread("anneke", calls, self)) {
		t.Error("got the same order for two agents, or two for one")
	}
	if diff := cmp.Diff(calls[50:], anneke[50:]); diff != "" {
		t.Errorf("calls after the fiftieth were moved: %s", diff)
	}
	gone := slices.DeleteFunc(slices.Clone(calls[:50]), func(id apitype.UUID) bool { return id == anneke[7] })
	want := slices.Delete(slices.Clone(anneke[:50]), 7, 8)
	if diff := cmp.Diff(want, Spread("anneke", gone, self)); diff != "" {
		t.Errorf("the others were moved when one went: %s", diff)
	}
	if got := Spread[apitype.UUID]("anneke", nil, self); len(got) != 0 {
		t.Errorf("got %v of no calls", got)
	}
}

// independentRings is how many rings of a day go to a donor whom another agent has on the
// line, if each agent had any of the fifty at random: what a floor has is not far from it.
func independentRings(agents, ringsEach int) float64 {
	return float64(agents*ringsEach) * (1 - math.Pow(1-1.0/50, float64(agents-1)))
}

// simulatedRings plays a day of a floor whose agents take four minutes a call in the mean.
func simulatedRings(random *rand.Rand, agents, ringsEach int) (double int) {
	type work struct {
		call apitype.UUID
		ends float64
	}
	waiting := callsOf(random, agents*ringsEach+100)
	floor := make([]work, agents)
	for i := range floor {
		floor[i].ends = random.Float64() * 4
	}
	for range agents * ringsEach {
		next := 0
		for i := range floor {
			if floor[i].ends < floor[next].ends {
				next = i
			}
		}
		waiting = slices.DeleteFunc(waiting, func(id apitype.UUID) bool { return id == floor[next].call })
		call := Spread(fmt.Sprint("agent ", next), waiting[:60], self)[0]
		if slices.ContainsFunc(floor, func(w work) bool { return w.call == call }) {
			double++
		}
		floor[next] = work{call, floor[next].ends + random.ExpFloat64()*4}
	}
	return double
}

// What docs/supervisor.md says of floors whose agents ring 120 donors a day each. New calls are
// liked by many, so that a small floor rings twice more often than agents who choose at
// random; a large one less often, because those who ring the same donor hold one call.
func TestSpreadOnAFloor(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct{ agents, independent, simulated int }{{5, 47, 100}, {20, 765, 700}, {50, 3770, 2450}} {
		if got := independentRings(test.agents, 120); math.Round(got) != float64(test.independent) {
			t.Errorf("%d agents who choose at random: computed %.0f, want %d", test.agents, got, test.independent)
		}
		if got := simulatedRings(random, test.agents, 120); math.Abs(float64(got-test.simulated)) > 0.25*float64(test.simulated)+30 {
			t.Errorf("%d agents: got %d rings of two, want about %d", test.agents, got, test.simulated)
		}
	}
}

// Where the service has no queue, a donor who was called on another call, by whichever agent, is left
// alone for 4 hours.
func TestSpreadLeavesWhoWasCalledAlone(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *apitype.Call, at apitype.Time){
		"completed": func(c *apitype.Call, at apitype.Time) { c.Status, c.CompletedAt = apitype.CallCompleted, &at },
		"attempted": func(c *apitype.Call, at apitype.Time) {
			c.Attempts = apitype.Embed([]apitype.CallAttempt{{AttemptAt: at}})
		},
	} {
		q := newQueue(morning, new(Codes))
		waits, other := requested(1), requested(2)
		waits.PersonUUID, other.PersonUUID = callID(50), callID(50)
		change(&other, apitype.NewTime(morning.Add(-time.Hour)))
		q.record(newListed(waits))
		q.record(newListed(other)) // As the walk of all calls brings it.
		offered := func(now time.Time) bool {
			return slices.ContainsFunc(q.allowed(now, 0, 10, func(Candidate) bool { return false }), func(c Candidate) bool { return c.ID == waits.UUID })
		}
		if offered(morning) || !offered(morning.Add(3*time.Hour)) {
			t.Errorf("%s: got it offered %t after 1 hour and %t after 4, want it then", name, offered(morning), offered(morning.Add(3*time.Hour)))
		}
		reasons := q.reasons(morning, 0)
		if !slices.ContainsFunc(reasons, func(p PassedOver) bool {
			return p.ID == waits.UUID && strings.HasPrefix(p.Reason, "called 1 h 0 min ago on another call")
		}) {
			t.Errorf("%s: got %+v, want the reason", name, reasons)
		}
	}
}

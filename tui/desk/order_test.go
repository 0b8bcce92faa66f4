package desk_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/event"
)

var orders = flag.Uint64("orders", 12, "how many `seeds` answers come in the order of")

// badLine loses one request in five, before or after it was done, until it is mended.
type badLine struct {
	http.RoundTripper
	mu       *sync.Mutex // A desk that ends gives its leases back side by side.
	random   *rand.Rand
	isMended *bool
}

// RoundTrip implements http.RoundTripper.
func (l badLine) RoundTrip(r *http.Request) (*http.Response, error) {
	lost := errors.New("connection reset by peer")
	l.mu.Lock()
	kind := l.random.IntN(10)
	l.mu.Unlock()
	if kind == 0 && !*l.isMended {
		return nil, lost
	}
	answer, err := l.RoundTripper.RoundTrip(r)
	if err == nil && kind == 1 && !*l.isMended {
		return nil, errors.Join(lost, answer.Body.Close())
	}
	return answer, err
}

// scattered is an agent with work and answers in any order.
type scattered struct {
	*agent
	random  *rand.Rand
	again   bool // It was started again: what was under way is lost.
	dir     string
	jobs    []event.Job
	results []event.Result
	words   map[apitype.UUID][]string // Typed for a call.
	chosen  map[apitype.UUID][]string // Results for which a call was completed.
	rung    map[apitype.UUID]int      // Attempts that were recorded.
	named   map[apitype.UUID]string   // The last name as it was corrected last.
}

func (f *floor) scattered(random *rand.Rand, dir string) *scattered {
	s := &scattered{
		random: random,
		dir:    dir,
		words:  map[apitype.UUID][]string{},
		chosen: map[apitype.UUID][]string{},
		rung:   map[apitype.UUID]int{},
		named:  map[apitype.UUID]string{},
	}
	s.start(f)
	return s
}

// start begins with nothing but what is on disk.
func (s *scattered) start(f *floor) {
	s.agent, s.jobs, s.results = f.agent(s.dir), nil, nil
	s.TellJoined(func(r event.Result) { s.results = append(s.results, r) })
	s.Changes.Sender = s.Leases.NewSender(outbox.SenderOptions{
		Notify: func(e outbox.Event) { s.results = append(s.results, s.Told(e)) },
	})
}

func (s *scattered) note(events []event.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case event.Job:
			s.jobs = append(s.jobs, e)
		case event.Notice:
			s.told = append(s.told, e.Text)
		}
	}
}

// pull takes one of some things out, any one.
func pull[T any](random *rand.Rand, all *[]T) T {
	i := random.IntN(len(*all))
	one := (*all)[i]
	*all = append((*all)[:i:i], (*all)[i+1:]...)
	return one
}

// bring does some work, or takes in an answer. It returns false if there is neither.
func (s *scattered) bring() bool {
	switch n := len(s.jobs) + len(s.results); {
	case n == 0:
		return false
	case s.random.IntN(n) < len(s.jobs):
		job := pull(s.random, &s.jobs)
		s.results = append(s.results, job(s.f.t.Context()))
	default:
		s.note(s.Receive(pull(s.random, &s.results)))
	}
	return true
}

// act does what an agent may do now.
func (s *scattered) act(mayTake, mayUndo bool) {
	s.Keys.Press("x", false, false, s.f.Clock.Now())
	if s.Call == nil {
		if mayTake && s.random.IntN(3) == 0 {
			s.note(s.Take(s.f.calls[s.random.IntN(len(s.f.calls))]))
		} else {
			s.note(s.Next())
		}
		return
	}
	id := s.Call.UUID
	switch s.random.IntN(10) {
	case 9:
		for _, f := range s.Form().Fixes() {
			if f.Key == "name/lastName" {
				s.named[id] = fmt.Sprintf("n%d-%s.", s.random.IntN(1000), id)
				if wrong := s.Form().Correct(f, s.named[id]); wrong != "" {
					s.f.t.Fatal(wrong)
				}
			}
		}
	case 0, 1, 2:
		word := fmt.Sprintf("w%d-%s.", len(s.words[id]), id)
		s.words[id] = append(s.words[id], word)
		s.Form().SetNotes(s.Form().Notes + word)
	case 3, 4:
		code := []string{"reached", "refused"}[s.random.IntN(2)]
		if s.Form().SetResult(code); s.Form().WhyNotComplete() == "" {
			s.chosen[id] = append(s.chosen[id], code)
			s.note(s.Finish(disposition.Complete))
		}
	case 5:
		if s.Form().Ended() == "" {
			s.rung[id]++
			s.note(s.Finish(disposition.NotReached("")))
		}
	case 6:
		s.note(s.Skip())
	case 7:
		s.note(s.Finish(disposition.Later(card.At(s.f.Clock.Now().Add(time.Hour)), s.random.IntN(2) == 0)))
	case 8:
		if mayUndo && s.Changes.CanUndo() {
			s.note(s.Changes.Undo())
		} else if mayTake {
			s.note(s.Take(s.f.calls[s.random.IntN(len(s.f.calls))]))
		}
	}
}

// beside acts while the agent works.
func (s *scattered) beside() {
	switch s.random.IntN(5) {
	case 4:
		if s.random.IntN(4) > 0 {
			return
		}
		s.Changes.Written()
		servicetest.Check(s.f.t, s.Changes.Drafts.Flush())
		s.End()
		s.again = true
		s.start(s.f)
	case 0:
		s.note(s.Poll())
	case 1:
		s.f.Clock.Advance(time.Duration(s.random.IntN(4000)) * time.Millisecond)
		s.Changes.Release()
	case 2:
		_, _ = s.Changes.Sender.SendDue(s.f.t.Context())
	case 3:
		servicetest.Check(s.f.t, s.Changes.Drafts.Flush())
	}
}

// settle lets all that is under way come to its end.
func (s *scattered) settle() {
	for round := 0; ; round++ {
		for steps := 0; s.bring(); steps++ {
			if steps > 5000 {
				s.f.t.Fatalf("the desk asks for ever: %q", s.told[max(len(s.told)-10, 0):])
			}
		}
		s.f.Clock.Advance(time.Minute)
		s.Changes.Release()
		if report, err := s.Changes.Sender.SendDue(s.f.t.Context()); err != nil || report.Err != nil {
			s.f.t.Fatal(err, report.Err)
		}
		if len(s.results) == 0 && round > 1 {
			break
		}
	}
	servicetest.Check(s.f.t, s.Changes.Drafts.Flush())
}

// TestAnswersInAnyOrder lets two agents work while their requests are done, and answered, in any order. No typed word
// is lost, or ends up with another call. No result is saved that no agent chose for the call. An attempt counts once,
// no two agents have one call, and no request repeats without end.
func TestAnswersInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range servicetest.Times(2, *orders) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 12))
			f := newFloor(t, 12)
			mayTake, mayUndo := seed%2 == 1, seed%4 > 1
			if seed%3 == 2 {
				f.InterfaceOnly()
			}
			var mu sync.Mutex
			isMended := seed%7 != 6
			f.line = func(line http.RoundTripper) http.RoundTripper {
				return badLine{line, &mu, rand.New(rand.NewPCG(seed, 13)), &isMended}
			}
			dirs := []string{t.TempDir(), t.TempDir()}
			if seed%5 == 4 {
				dirs[1] = dirs[0] // Two terminals of one agent.
			}
			agents := []*scattered{f.scattered(random, dirs[0]), f.scattered(random, dirs[1])}
			for range 150 {
				s := agents[random.IntN(2)]
				switch random.IntN(8) {
				case 0, 1:
					s.act(mayTake, mayUndo)
				case 2:
					s.beside()
				default:
					s.bring()
				}
				a, b := agents[0].Call, agents[1].Call
				if !mayTake && a != nil && b != nil && a.UUID == b.UUID && agents[0].Leases.HasQueue {
					t.Fatalf("call %s is on two desks: %q, %q", a.UUID, agents[0].told, agents[1].told)
				}
			}
			isMended = true
			for _, s := range agents {
				s.settle()
			}
			f.judge(agents, mayUndo)
			// What was taken back, or is lost, is leased for longer.
			if seed%4 < 2 && seed%7 != 6 && !agents[0].again && !agents[1].again {
				f.wantLeases(4)
			}
		})
	}
}

var typedWord = regexp.MustCompile(`[wn]\d+-(\S{36})\.`)

// lastName returns the last name of a person at the service, or "" if there is none.
func (f *floor) lastName(person apitype.UUID) string {
	f.t.Helper()
	var p apitype.Person
	f.Do(f.Token(), http.MethodGet, "/api/v1/persons/"+person.String(), "").Decode(&p)
	return apitype.TextOf(p.LastName)
}

// judge holds what the service and the folders of agents have against what was done.
func (f *floor) judge(agents []*scattered, mayUndo bool) {
	f.t.Helper()
	for _, id := range f.calls {
		call := f.call(id)
		result, notes := call.Result.Value(), ""
		if result.Notes != nil {
			notes = *result.Notes
		}
		kept, rung, isChosen := notes+f.lastName(call.PersonUUID), 0, false
		for i, s := range agents {
			draft, _, err := s.Outbox.Draft(id)
			servicetest.Check(f.t, err)
			kept += draft.Notes + draft.Corrections["name/lastName"]
			rung += s.rung[id]
			for _, code := range s.chosen[id] {
				isChosen = isChosen || result.ResultCode != nil && *result.ResultCode == code
			}
			if i == 1 && s.dir == agents[0].dir {
				continue
			}
			entries, _, err := s.Outbox.List()
			servicetest.Check(f.t, err)
			for _, e := range entries {
				isRefused := e.State == outbox.StateRejected
				// Or it waits behind one.
				if (e.UUID == id || e.UUID == call.PersonUUID) && (isRefused || e.After != "") {
					kept += string(e.Body)
					if isRefused && e.Op == apiclient.OpAddAttempt {
						rung--
					}
				}
			}
		}
		for _, s := range agents {
			for _, word := range s.words[id] {
				if !strings.Contains(kept, word) {
					f.t.Errorf("%s was typed for the call, and is neither at the service nor in a draft or the outbox: %q; it said %q", word, kept, s.told)
				}
			}
		}
		a, b := agents[0].named[id], agents[1].named[id]
		if a+b != "" && (a == "" || b == "") && !strings.Contains(kept, a+b) {
			f.t.Errorf("the last name %s is neither at the service nor in a draft or the outbox: %q", a+b, kept)
		}
		for _, found := range typedWord.FindAllStringSubmatch(kept, -1) {
			if found[1] != id.String() {
				f.t.Errorf("call %s has words of another one: %q", id, kept)
			}
		}
		if call.Status == apitype.CallCompleted && !isChosen {
			f.t.Errorf("call %s is completed as %v, which nobody chose", id, result.ResultCode)
		}
		if call.AttemptsCount > rung || !mayUndo && call.AttemptsCount < rung {
			f.t.Errorf("call %s has %d attempts, want %d", id, call.AttemptsCount, rung)
		}
	}
}

// wantLeases expects no more leases than those of the calls on the desks, and one ahead of each.
func (f *floor) wantLeases(most int) {
	f.t.Helper()
	var state apitype.QueueState
	if answer := f.Do(f.Token(), http.MethodGet, "/fundesk/v1/queue", ""); answer.Status == http.StatusOK {
		answer.Decode(&state)
	}
	if state.Leased > most {
		f.t.Errorf("got %d leases, want %d at most", state.Leased, most)
	}
}

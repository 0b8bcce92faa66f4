//go:build unix

package httpapi_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/queue"
	"fundesk/service/servicetest"
)

// BenchmarkTake lets 50 agents take calls, each with its own lease, from a long queue. Processor time counts this
// process alone: on PostgreSQL it is without the server's.
// Promise S37: what counting the queue costs is bounded.
func BenchmarkTake(b *testing.B) {
	f := newTakeBench(b, servicetest.New(b), apitype.OrganizationSettings{})
	f.run(b, nil, []*queue.Queue{queue.New(f.Service, nil)})
}

// BenchmarkTakeUnderRules is BenchmarkTake where most of the oldest calls may not be given: their donors sleep, did not
// opt in, or ended their last pledge long ago.
func BenchmarkTakeUnderRules(b *testing.B) {
	f := newTakeBench(b, servicetest.New(b), benchRules)
	f.run(b, nil, []*queue.Queue{queue.New(f.Service, nil)})
}

var benchRules = apitype.OrganizationSettings{
	Country:       "NL",
	RequireOptIn:  []apitype.CallType{apitype.CallHappy},
	YearsAfterEnd: 3,
}

// BenchmarkTakePostgres is BenchmarkTake with three services on one PostgreSQL server.
func BenchmarkTakePostgres(b *testing.B) { takePostgres(b, apitype.OrganizationSettings{}) }

// BenchmarkTakeUnderRulesPostgres is BenchmarkTakeUnderRules with three services on one PostgreSQL server.
func BenchmarkTakeUnderRulesPostgres(b *testing.B) { takePostgres(b, benchRules) }

func takePostgres(b *testing.B, rules apitype.OrganizationSettings) {
	b.Helper()
	servicetest.NeedPostgres(b)
	server := servicetest.NewServer(b)
	database := servicetest.Clusters("", server)
	f := newTakeBench(b, servicetest.NewOn(b, database), rules)
	queues := []*queue.Queue{queue.New(f.Service, nil)}
	for range 2 {
		queues = append(queues, queue.New(servicetest.NewOn(b, database).Service, nil))
	}
	f.run(b, server, queues)
}

// takeBench is a service with waiting calls.
type takeBench struct {
	*servicetest.Harness
	caller service.Caller
	held   map[apitype.UUID]bool
}

// How many calls wait, and lie in the history.
const (
	waitingCalls = 60_000
	oldCalls     = 10_000
)

func newTakeBench(b *testing.B, h *servicetest.Harness, rules apitype.OrganizationSettings) *takeBench {
	b.Helper()
	f := &takeBench{Harness: h, caller: service.Caller{Account: h.Account()}, held: map[apitype.UUID]bool{}}
	owner := h.OrganizationWith(service.Organization{
		OrganizationReference: apitype.OrganizationReference{Name: "A", Abbreviation: "A"},
		Settings:              &rules,
	})
	now := h.Clock.Now()
	err := servicetest.Load(b.Context(), h.Service, func(add func(service.LoadRecord) error) error {
		for i := range waitingCalls + oldCalls {
			if err := f.load(add, owner, now, i); err != nil {
				return err
			}
		}
		return nil
	})
	servicetest.Check(b, err)
	servicetest.Check(b, h.Store.Analyze(b.Context()))
	return f
}

// load adds a person with a call: the first ones wait, the others are long done.
func (f *takeBench) load(add func(service.LoadRecord) error, owner apitype.UUID, now time.Time, i int) error {
	at := apitype.NewTime(now.Add(-time.Duration(i) * time.Minute))
	person := servicetest.NewPerson(owner, at)
	call := servicetest.NewCall(person.UUID, at)
	if i >= waitingCalls {
		call.Status, call.CompletedAt = apitype.CallCompleted, &at
	}
	if i%3 > 0 { // False would keep the call out of the queue altogether.
		person.OptInPhone = new(true)
	}
	country := []string{"US", "NL"}[i%2]
	address := apitype.Address{Street: "A", HouseNumber: "1", ZipCode: "1", City: "B", Country: country}
	person.Address = apitype.Embed(address)
	if err := add(servicetest.Record(person)); err != nil {
		return err
	}
	if i%5 == 0 {
		pledge := servicetest.NewPledge(person.UUID, owner, at)
		pledge.Status, pledge.EndsAt = apitype.PledgeCancelled, new(apitype.NewTime(now.AddDate(-9, 0, 0)))
		if err := add(servicetest.Record(pledge)); err != nil {
			return err
		}
	}
	return add(servicetest.Record(call))
}

func (f *takeBench) run(b *testing.B, server *servicetest.Cluster, queues []*queue.Queue) {
	b.Helper()
	used := func() time.Duration {
		if server == nil {
			return 0
		}
		return server.ProcessorTime(b)
	}
	f.takes(b, queues, 3000) // The rest of the load is done in between.
	b.ResetTimer()
	begun, before := processorTime(b), used()
	took := f.takes(b, queues, b.N)
	b.ReportMetric(float64((processorTime(b)-begun).Microseconds())/float64(b.N), "cpu-µs/take")
	b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N), "server-µs/take")
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "takes/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(0, "ns/op")
}

// takes returns the time of each of n takes, by 50 agents.
func (f *takeBench) takes(b *testing.B, queues []*queue.Queue, n int) []time.Duration {
	b.Helper()
	var mu sync.Mutex
	next := make(chan struct{}, n)
	for range n {
		next <- struct{}{}
	}
	close(next)
	var agents sync.WaitGroup
	var took []time.Duration
	for range 50 {
		agents.Go(func() {
			s := queues[rand.IntN(len(queues))]
			for range next {
				begun := time.Now()
				// One user may hold ten.
				answer, err := s.Take(context.Background(), f.caller, apitype.TakeRequest{
					RequestUUID: apitype.NewUUID(),
					UserUUID:    apitype.NewUUID(),
				})
				duration := time.Since(begun)
				var taken apitype.Taken
				if err == nil {
					err = json.Unmarshal(answer.JSON, &taken)
				}
				mu.Lock()
				took = append(took, duration)
				if err != nil || len(taken.Leases) != 1 || f.held[taken.Leases[0].CallUUID] {
					b.Errorf("got %d leases, %v", len(taken.Leases), err)
				} else {
					f.held[taken.Leases[0].CallUUID] = true
				}
				mu.Unlock()
			}
		})
	}
	agents.Wait()
	return took
}

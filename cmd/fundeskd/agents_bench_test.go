//go:build unix

package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// The sizes of BenchmarkAgents.
var (
	agentsAtWork = flag.Int("agents", 1000, "agents at work in BenchmarkAgents")
	agentsQueue  = flag.Int("waiting", 20_000, "waiting calls of BenchmarkAgents")
	agentsFor    = flag.Duration("work-time", 20*time.Second, "how long the agents of BenchmarkAgents work")
	agentsCall   = flag.Duration("call-time", time.Minute, "how long an agent of BenchmarkAgents speaks with a donor")
)

// BenchmarkAgents prints how long takes, other changes and polls of many Desks last. Two programs serve one PostgreSQL
// server that pg_dump reads all the time. A Desk polls each 15 s as the real one does. The goal: p99 of takes ≤ 25 ms.
//
//	go test ./cmd/fundeskd -run '^$' -bench BenchmarkAgents -benchtime 1x -waiting 300000 -work-time 2m -timeout 1h
func BenchmarkAgents(b *testing.B) {
	servicetest.NeedPostgres(b)
	cluster := servicetest.NewServer(b)
	database := servicetest.Clusters("", cluster)
	e := environment{t: b, folder: b.TempDir(), database: database}
	owner := fillForAgents(b, database)
	account := e.account("a --organization", owner.String(), "--role", "agent")
	programs := []child{e.child(), e.child()}
	defer func() {
		for _, program := range programs {
			_ = program.command.Process.Kill()
			_ = program.command.Wait()
		}
	}()
	f := &floorAtWork{b: b, token: account.Token, took: map[string][]time.Duration{}}
	f.client.Transport = &http.Transport{MaxIdleConnsPerHost: *agentsAtWork}
	for b.Loop() {
		begun, server := time.Now(), cluster.ProcessorTime(b)
		f.until = begun.Add(*agentsFor)
		var work sync.WaitGroup
		work.Go(func() { dumpUntil(b, database, f.until) })
		for range *agentsAtWork {
			work.Go(f.agent(programs[rand.IntN(len(programs))].url))
		}
		work.Wait()
		f.print(time.Since(begun), cluster.ProcessorTime(b)-server)
	}
	b.ReportMetric(0, "ns/op")
}

// fillForAgents makes an organization with waiting calls, each of its own donor.
func fillForAgents(b *testing.B, database string) apitype.UUID {
	b.Helper()
	h := servicetest.NewOn(b, database)
	h.Clock.Set(time.Now())
	owner := h.OrganizationWith(service.Organization{
		OrganizationReference: apitype.OrganizationReference{Name: "A", Abbreviation: "A"},
	})
	err := servicetest.Load(b.Context(), h.Service, func(add func(service.LoadRecord) error) error {
		for i := range *agentsQueue {
			person := apitype.NewUUID()
			at := apitype.NewTime(time.Now().Add(-time.Duration(i+1) * time.Second))
			phone, last := fmt.Sprintf("+316%08d", i), fmt.Sprint("Name", i%9000)
			language := []string{"nl", "en", "fr"}[i%3]
			err := add(service.LoadRecord{Kind: service.LoadPerson, Data: service.LoadedPerson{
				Person: apitype.Person{
					UUID: person, PersonUUID: person, CreatedAt: at,
					LastName: &last, MobilePhoneNumber: &phone, Language: &language,
				},
				OwningOrganizationUUID: owner, RecruitingOrganizationUUID: owner,
			}})
			if err != nil {
				return err
			}
			err = add(service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
				UUID: apitype.NewUUID(), Status: apitype.CallRequested, RequestedAt: at, LastUpdatedAt: at,
				PersonUUID: person, Type: []apitype.CallType{apitype.CallHappy, apitype.CallWinback}[i%2],
			}}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	servicetest.Check(b, err)
	servicetest.Check(b, h.Store.Analyze(b.Context()))
	return owner
}

// dumpUntil lets pg_dump read a database again and again.
func dumpUntil(b *testing.B, database string, until time.Time) {
	for time.Now().Before(until) {
		dump := exec.CommandContext(b.Context(), servicetest.Program("pg_dump"), "-Fc", "-Z0", database)
		dump.Stdout = io.Discard
		if err := dump.Run(); err != nil {
			b.Error(err)
			return
		}
	}
}

// floorAtWork is the agents of a floor.
type floorAtWork struct {
	b      *testing.B
	token  string
	client http.Client
	until  time.Time
	mu     sync.Mutex
	took   map[string][]time.Duration
	failed atomic.Int64
}

// agent works as a Desk does: takes a call, polls while the agent speaks, saves, and takes the next call.
func (f *floorAtWork) agent(url string) func() {
	return func() {
		user := apitype.NewUUID().String()
		spread := func(d time.Duration) time.Duration { return rand.N(2 * d) }
		poll, next := time.Now().Add(spread(15*time.Second)), time.Now().Add(spread(*agentsCall/2))
		since := apitype.NewTime(time.Now().Add(-8 * time.Hour)).String()
		call := ""
		for turn := 0; ; {
			at := poll
			if next.Before(poll) {
				at = next
			}
			if at.After(f.until) {
				return
			}
			if service.Pause(f.b.Context(), time.Until(at)) != nil {
				return
			}
			if at.Equal(next) {
				call = f.next(url, user, call)
				next = time.Now().Add(spread(*agentsCall))
				continue
			}
			poll = poll.Add(15 * time.Second)
			turn++
			f.poll(url, user, call, since, turn)
		}
	}
}

// next saves the outcome of a call, and takes the next one.
func (f *floorAtWork) next(url, user, call string) string {
	if call != "" {
		action := []string{"add-attempt", "complete"}[rand.IntN(2)]
		f.ask("change", "PUT", url+"/api/v1/calls/"+call+"/actions/"+action, `{"userUuid":"`+user+`"}`)
	}
	body := `{"requestUuid":"` + apitype.NewUUID().String() + `","userUuid":"` + user + `"}`
	answer := f.ask("take", "POST", url+"/fundesk/v1/queue/take", body)
	_, rest, found := strings.Cut(answer, `"callUuid":"`)
	if !found {
		f.failed.Add(1)
		return ""
	}
	return rest[:36]
}

// poll asks what a Desk asks in its turn.
func (f *floorAtWork) poll(url, user, call, since string, turn int) {
	if turn%2 == 0 && call != "" {
		f.ask("poll", "GET", url+"/api/v1/calls/"+call, "")
		return
	}
	f.ask("poll", "GET", url+"/fundesk/v1/queue/leases?userUuid="+user, "")
	paths := []string{
		"/api/v1/calls?first=50&updatedAfter=" + apitype.NewTime(time.Now().Add(-time.Minute)).String(),
		"/fundesk/v1/queue/calls?first=5&userUuid=" + user,
		"/fundesk/v1/queue?userUuid=" + user,
		"/fundesk/v1/queue/agents?userUuid=" + user + "&since=" + since,
	}
	f.ask("poll", "GET", url+paths[turn/2%len(paths)], "")
}

func (f *floorAtWork) ask(kind, method, url, body string) string {
	begun := time.Now()
	request, err := http.NewRequestWithContext(f.b.Context(), method, url, strings.NewReader(body))
	servicetest.Report(f.b, err)
	request.Header.Set("Authorization", "Bearer "+f.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := f.client.Do(request)
	if err != nil {
		f.b.Error(err)
		return ""
	}
	answer, err := io.ReadAll(response.Body)
	servicetest.Report(f.b, err)
	servicetest.Report(f.b, response.Body.Close())
	took := time.Since(begun)
	if response.StatusCode >= http.StatusBadRequest {
		f.b.Errorf("%s: got %d %s", url, response.StatusCode, answer)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.took[kind] = append(f.took[kind], took)
	return string(answer)
}

func (f *floorAtWork) print(elapsed, server time.Duration) {
	fmt.Println("| what | number | p50 | p95 | p99 | longest |\n|---|---|---|---|---|---|")
	for _, kind := range []string{"take", "change", "poll"} {
		took := f.took[kind]
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		at := func(percent int) time.Duration {
			return took[min(len(took)*percent/100, len(took)-1)].Round(100 * time.Microsecond)
		}
		fmt.Printf("| %s | %d | %v | %v | %v | %v |\n", kind, len(took), at(50), at(95), at(99), at(100))
	}
	fmt.Printf("takes without a call: %d; server's processor time: %.0f %% of one\n",
		f.failed.Load(), 100*server.Seconds()/elapsed.Seconds())
}

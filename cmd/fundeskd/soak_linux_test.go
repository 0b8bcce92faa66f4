package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The long form, by night: -soak 10m -soak-idle 5000 -soak-p99 3, on a machine with nothing else to
// do; one minute of it is go test ./cmd/fundeskd -run Soak -soak 1m -v.
var (
	soakFor  = flag.Duration("soak", 3*time.Second, "how long TestSoak goes on")
	soakIdle = flag.Int("soak-idle", 200, "how many idle connections the hostile account has")
	soakP99  = flag.Float64("soak-p99", 0,
		"how many times as long the slowest hundredth of the agents' answers may take; 0: any time")
)

const (
	soakAgents = 20
	soakPause  = 250 * time.Millisecond // Of an agent, before each request.
	soakMemory = 256 << 20              // What the program may have, in bytes.
)

// TestSoak lets a hostile account try everything while 20 agents work. No other account is refused, no work of the
// agents is lost or counted twice, and the program keeps to its memory, under a hard limit if the system can set one.
func TestSoak(t *testing.T) {
	servicetest.Slow(t)
	e := newFileEnvironment(t)
	var organization, agents, hostile struct{ UUID, Token string }
	e.must(&organization, "organization add --name A --abbreviation A")
	e.must(&agents, "account add agents --all-organizations")
	e.must(&hostile, "account add hostile --all-organizations")
	heavy := e.loadSoak(organization.UUID)
	program := e.child()
	limitMemory(t, program.command.Process.Pid)
	stop, peak := make(chan struct{}), make(chan int64, 1)
	go func() { peak <- peakMemory(program.command.Process.Pid, stop) }()

	l := &soakLedger{
		t:      t,
		client: clientOf(soakAgents),
		url:    program.url,
		token:  agents.Token,
		done:   map[apitype.UUID]soakWork{},
	}
	alone := l.work(*soakFor / 4)
	enemy := startHostile(t, program.url, hostile.Token, heavy)
	beside := l.work(*soakFor * 3 / 4)
	told := enemy()
	l.judge()
	close(stop)
	most := <-peak
	servicetest.Report(t, program.command.Process.Signal(os.Interrupt))
	if err := program.command.Wait(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
	t.Logf("%d answers to the agents alone, p99 %v; %d beside the hostile account, p99 %v; it got %v; %d MB at most",
		len(alone), hundredth(alone), len(beside), hundredth(beside), told, most>>20)
	if most > soakMemory && !servicetest.IsRaced {
		t.Errorf("got %d MB, want %d at most", most>>20, soakMemory>>20)
	}
	if ratio := float64(hundredth(beside)) / float64(hundredth(alone)); *soakP99 > 0 && ratio > *soakP99 {
		t.Errorf("the slowest hundredth took %.1f times as long as alone, want %.1f", ratio, *soakP99)
	}
	for status, n := range told {
		if status >= "5" && status != "503 with Retry-After" {
			t.Errorf("the hostile account got %s %d times", status, n)
		}
	}
	if told["503 with Retry-After"] == 0 {
		t.Errorf("the hostile account got %v, want some refused", told)
	}
}

func hundredth(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)*99/100].Round(100 * time.Microsecond)
}

// loadSoak loads the agents' records, and a pledge of 301 calls with notes of 20 kB. It returns the calls.
func (e environment) loadSoak(organization string) []string {
	e.t.Helper()
	var lines strings.Builder
	line := func(kind, form string, args ...any) {
		fmt.Fprintf(&lines, `{"kind":%q,"data":{%s}}`+"\n", kind, fmt.Sprintf(form, args...))
	}
	donor, pledge := apitype.NewUUID(), apitype.NewUUID()
	const person = `"uuid":%q,"createdAt":"2026-01-01","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q`
	line("person", person, donor, organization, organization)
	line("pledge",
		`"uuid":%q,"personUuid":%q,"status":"active","createdAt":"2026-01-01","startsAt":"2026-01-01","releasedAt":"2026-02-01","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"initialDonationAmount":10,"donationAmount":10,"initialDonationInterval":"monthly","donationInterval":"monthly","recruiterUserUuid":%q`,
		pledge, donor, organization, organization, apitype.NewUUID())
	var heavy []string
	for i := range 301 {
		call := apitype.NewUUID().String()
		heavy = append(heavy, call)
		line("call",
			`"uuid":%q,"personUuid":%q,"relatedCaseUuid":%q,"status":"requested","type":"happy_call","requestedAt":%q,"notes":%q`,
			call, donor, pledge, apitype.NewTime(
				time.Now().Add(time.Duration(i)*time.Minute+time.Hour),
			), strings.Repeat("x", 20_000))
	}
	for i := range int(soakFor.Seconds()*2*soakAgents) + 200 { // An agent works on one in three quarters of a second.
		donor := apitype.NewUUID()
		line("person", person, donor, organization, organization)
		line("call", `"uuid":%q,"personUuid":%q,"status":"requested","type":"happy_call","requestedAt":%q`,
			apitype.NewUUID(), donor, apitype.NewTime(time.Now().Add(-time.Duration(i)*time.Minute)))
	}
	e.reading(lines.String()).done("load -")
	return heavy
}

// soakLedger holds what the service confirmed to the agents.
type soakLedger struct {
	t          *testing.T
	client     *http.Client
	url, token string

	mu   sync.Mutex
	done map[apitype.UUID]soakWork
	took []time.Duration
}

type soakWork struct {
	attempts int
	status   string
}

// work lets the agents work for a while, and returns the time of each answer.
func (l *soakLedger) work(duration time.Duration) []time.Duration {
	l.took = nil
	ctx, cancel := context.WithTimeout(l.t.Context(), duration)
	defer cancel()
	var agents sync.WaitGroup
	for i := range soakAgents {
		agents.Go(func() {
			begin := time.NewTimer(soakPause * time.Duration(i) / soakAgents) // Not all at the same moment.
			<-begin.C
			pace := time.NewTicker(soakPause)
			defer pace.Stop()
			user := apitype.NewUUID()
			for n := i; ctx.Err() == nil && !l.t.Failed(); n++ {
				l.callOne(user, n%3 == 0, pace.C)
			}
		})
	}
	agents.Wait()
	return l.took
}

// callOne takes a call, looks at it, and records an attempt or a result.
func (l *soakLedger) callOne(user apitype.UUID, reached bool, pace <-chan time.Time) {
	<-pace
	var taken apitype.Taken
	l.ask("POST", "/fundesk/v1/queue/take", fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q}`, apitype.NewUUID(), user),
		&taken)
	if len(taken.Leases) != 1 {
		l.t.Errorf("got %d leases, want one: calls wait", len(taken.Leases))
		return
	}
	id := taken.Leases[0].CallUUID
	path := "/api/v1/calls/" + id.String()
	<-pace
	l.ask("GET", path, "", nil)
	<-pace
	work := soakWork{status: "requested"}
	if reached {
		l.ask("PUT", path+"/actions/complete", fmt.Sprintf(`{"userUuid":%q,"result":{"resultCode":"reached"}}`, user),
			nil)
		work.status = "completed"
	} else {
		l.ask("PUT", path+"/actions/add-attempt", fmt.Sprintf(`{"userUuid":%q}`, user), nil)
		work.attempts = 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, twice := l.done[id]; twice {
		l.t.Errorf("call %s was given twice", id)
	}
	l.done[id] = work
}

// ask asks the service for something that it must answer with 200.
func (l *soakLedger) ask(method, path, body string, value any) {
	begun := time.Now()
	status, _, answer, err := request(context.WithoutCancel(l.t.Context()), l.client, method, l.url+path, l.token, body)
	took := time.Since(begun)
	if err != nil || status != http.StatusOK {
		l.t.Errorf("%s %s: got %d %.300s %v, want 200", method, path, status, answer, err)
		return
	}
	if value != nil {
		servicetest.Report(l.t, json.Unmarshal(answer, value))
	}
	l.mu.Lock()
	l.took = append(l.took, took)
	l.mu.Unlock()
}

// judge compares each call at the service with the ledger.
func (l *soakLedger) judge() {
	for id, want := range l.done {
		var call apitype.Call
		l.ask("GET", "/api/v1/calls/"+id.String(), "", &call)
		if got := (soakWork{call.AttemptsCount, string(call.Status)}); got != want {
			l.t.Errorf("call %s: got %+v, want %+v", id, got, want)
		}
	}
}

// startHostile starts the hostile account in a process of its own, with the lowest priority: its programs would not run
// on the service's processors. The function ends it and returns its answers.
func startHostile(t *testing.T, url, token string, heavy []string) func() map[string]int {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), beHostile+"="+url, "TOKEN="+token, "CALLS="+strings.Join(heavy, ","),
		"IDLE="+strconv.Itoa(*soakIdle))
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	servicetest.Check(t, err)
	out, err := command.StdoutPipe()
	servicetest.Check(t, err)
	servicetest.Check(t, command.Start())
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, command.Process.Pid, 19); err != nil {
		t.Log(err)
	}
	return func() (told map[string]int) {
		servicetest.Report(t, in.Close())
		if err := json.NewDecoder(out).Decode(&told); err != nil {
			t.Errorf("the hostile account said nothing: %v", err)
		}
		_ = command.Wait()
		return told
	}
}

// limitMemory puts a process under a hard limit, if the system lets the test set one.
func limitMemory(t *testing.T, pid int) {
	t.Helper()
	if servicetest.IsRaced {
		return // Which takes several times as much.
	}
	for parent, file := range map[string]string{
		"/sys/fs/cgroup":        "memory.max",
		"/sys/fs/cgroup/memory": "memory.limit_in_bytes",
	} {
		group := filepath.Join(parent, fmt.Sprintf("fundesk-soak-%d", pid))
		if os.Mkdir(group, 0o700) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		if os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(soakMemory)), 0o600) == nil &&
			os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600) == nil {
			t.Logf("under a hard limit of %d MB", soakMemory>>20)
			return
		}
	}
	t.Log("no hard limit can be set here")
}

// peakMemory returns the most that a process was seen to have until the end, in bytes.
func peakMemory(pid int, stop <-chan struct{}) int64 {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	var most int64
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, after, _ := strings.Cut(string(status), "VmHWM:")
		var kilobytes int64
		if _, err := fmt.Sscanf(after, "%d kB", &kilobytes); err == nil {
			most = max(most, kilobytes<<10)
		}
		select {
		case <-stop:
			return most
		case <-look.C:
		}
	}
}

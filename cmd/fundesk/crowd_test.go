//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

var crowdLong = flag.Bool("crowd", false,
	"the crowd makes 400 changes and is killed 40 times, and the history is a month")

// crowd is several programs that share one state folder, and a network that flaps.
type crowd struct {
	*testing.T
	home    home
	service *servicetest.Harness
	random  *rand.Rand // Under mu.

	mu       sync.Mutex
	flapping bool
	token    string
	// "uuid verb" of what the service accepted, in the order of its coming; "" of the rest.
	applied []string
	history map[string][]string // Of each call, what was sent for it, and answered.
	kills   int
	sure    map[string]bool // Changes that a program has confirmed.
	maybe   map[string]bool // Changes of programs that were killed before they confirmed them.
	typed   map[string]bool // Calls that were completed at a terminal.
}

// commandPatience is how long a program may take.
const commandPatience = patience

func crowdCall(n int) apitype.UUID {
	id := apitype.MustParseUUID("00000000-0000-4000-8000-000000000000")
	id[0], id[14], id[15] = 0xc0, byte(n>>8), byte(n)
	return id
}

// Two terminals and six command lines share a state folder. They are killed again and again, over a flapping network.
// Each change takes effect once, and those of a call in order.
func TestCrowdOnOneStateFolder(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	changes, kills := 30, 5
	if *crowdLong {
		changes, kills = 400, 40
	}
	c := &crowd{
		T:        t,
		home:     newHome(t),
		service:  servicetest.New(t),
		random:   rand.New(rand.NewPCG(6, 8)),
		flapping: true,
		kills:    kills,
		history:  map[string][]string{},
		sure:     map[string]bool{},
		maybe:    map[string]bool{},
		typed:    map[string]bool{},
	}
	deskCalls := changes / 10
	calls := (changes-deskCalls)/2 + deskCalls + 1
	c.load(calls)
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.token = c.service.Token()
	c.home.env = append(c.home.env, "FUNDESK_BASE_URL="+server.URL, "FUNDESK_TOKEN="+c.token)
	c.service.Clock.Set(time.Now())

	var workers sync.WaitGroup
	work := make(chan int)
	for range 6 {
		workers.Go(func() {
			for n := range work {
				c.workCall(crowdCall(n).String())
			}
		})
	}
	desks, stop := context.WithCancel(t.Context())
	var terminals, completions sync.WaitGroup
	atDesks := make(chan int, deskCalls)
	for n := range deskCalls {
		completions.Add(1)
		atDesks <- n + 1
	}
	for range 2 {
		terminals.Go(func() { c.sit(desks, atDesks, completions.Done) })
	}
	for n := deskCalls + 1; n < calls; n++ {
		work <- n
	}
	close(work)
	workers.Wait()
	completions.Wait()
	stop()
	terminals.Wait()
	c.drain()
	c.judge()
}

// crowdName returns the last name of a call's person, by which messages of the terminal name the call.
func crowdName(id apitype.UUID) string { return fmt.Sprintf("Menge%d", id[15]) }

// load makes calls. The terminals look at the first one first.
func (c *crowd) load(calls int) {
	c.Helper()
	owner := c.service.Organization("Sea Rescue")
	at := apitype.NewTime(c.service.Clock.Now().Add(-48 * time.Hour))
	var records []service.LoadRecord
	for n := range calls {
		at, id, person := apitype.NewTime(at.Add(time.Duration(n)*time.Second)), crowdCall(n), apitype.NewUUID()
		records = append(records, service.LoadRecord{Kind: service.LoadPerson, Data: service.LoadedPerson{
			Person: apitype.Person{
				UUID:       person,
				PersonUUID: person,
				CreatedAt:  at,
				LastName:   new(crowdName(id)),
			},
			OwningOrganizationUUID: owner, RecruitingOrganizationUUID: owner,
		}}, service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
			UUID:          id,
			Status:        apitype.CallRequested,
			RequestedAt:   at,
			LastUpdatedAt: at,
			PersonUUID:    person,
			Type:          apitype.CallVerification,
		}}})
	}
	c.service.Load(records...)
}

// ServeHTTP is the network: now and then it loses a request or its answer.
func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	luck := 100
	if c.flapping {
		luck = c.random.IntN(12)
	}
	c.mu.Unlock()
	switch {
	case luck == 0: // Lost on its way.
		hangUp(w)
		return
	case luck == 1:
		w.Header().Set("Retry-After", "0")
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	// Another program may see what was accepted, and go on from there, before we do: its
	// place in the order is taken as it comes.
	c.mu.Lock()
	place := len(c.applied)
	c.applied = append(c.applied, "")
	c.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	// An applied change is reported even if its program was killed.
	c.service.Handler.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context())))
	parts := strings.Split(r.URL.Path, "/")
	if r.Method != http.MethodGet && len(parts) > 3 {
		c.mu.Lock()
		key := parts[len(parts)-3]
		c.history[key] = append(c.history[key],
			fmt.Sprintf("%d: %s %s, network's luck %d, answer %d", place, r.URL.Path, body, luck, answer.Code))
		c.mu.Unlock()
	}
	if r.Method != http.MethodGet && answer.Code == http.StatusOK {
		c.mu.Lock()
		c.applied[place] = parts[len(parts)-3] + " " + parts[len(parts)-1]
		c.mu.Unlock()
	}
	if luck == 2 { // Its answer is lost.
		hangUp(w)
		return
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func hangUp(w http.ResponseWriter) {
	if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = connection.Close()
	}
}

// workCall records an attempt and then completes the call, each by a program of its own.
func (c *crowd) workCall(id string) {
	c.command(id+" add-attempt", "call", "attempt", id, "--attempted-at", "now", "--outbox")
	c.command(id+" complete", "call", "complete", id, "--result-code", "reached", "--notes", "spoke with "+id,
		"--outbox")
}

// command runs fundesk, and now and then kills it.
func (c *crowd) command(change string, args ...string) {
	ctx, cancel := context.WithTimeout(c.Context(), commandPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "fundesk"), args...)
	cmd.Env, cmd.Dir = c.home.env, c.home.dir
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		c.Error(err)
		return
	}
	if after, ok := c.mayKill(); ok {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	_ = cmd.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		c.Errorf("%s: the program does not end", change)
	}
	switch code := cmd.ProcessState.ExitCode(); code {
	case 0, 10: // Done, or safe in the outbox.
		c.sure[change] = true
	case -1:
		c.maybe[change] = true
	default:
		c.maybe[change] = true
		c.Errorf("%s: exit %d\n%s", change, code, out.String())
	}
}

// mayKill decides whether the next program is killed, and when.
func (c *crowd) mayKill() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kills == 0 || c.random.IntN(5) > 0 {
		return 0, false
	}
	c.kills--
	return time.Duration(c.random.IntN(80)) * time.Millisecond, true
}

// drain repairs the network and sends until nothing is left. Attempts with lost answers wait until they can no longer
// arrive.
func (c *crowd) drain() {
	c.Helper()
	c.mu.Lock()
	c.flapping = false
	c.mu.Unlock()
	deadline := time.Now().Add(2 * patience)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ; ; <-tick.C {
		_, stderr, _ := c.home.run(c.T, "fundesk outbox send")
		left := c.home.must(c.T, "fundesk outbox list -o ndjson")
		if strings.TrimSpace(left) == "" {
			return
		}
		if time.Now().After(deadline) {
			c.Fatalf("still in the outbox:\n%s\n%s", left, stderr)
		}
	}
}

// judge compares what the service accepted with what the programs reported.
func (c *crowd) judge() {
	c.Helper()
	for change := range c.sure {
		if n := countOf(c.applied, change); n != 1 && !strings.HasSuffix(change, "complete") {
			c.Errorf("%s: took effect %d times, want once", change, n)
		}
	}
	for change := range c.maybe {
		if n := countOf(c.applied, change); n > 1 && !strings.HasSuffix(change, "complete") {
			c.Errorf("%s: took effect %d times, want once at most", change, n)
		}
	}
	for change := range c.sure {
		id, isCompletion := strings.CutSuffix(change, " complete")
		if !isCompletion {
			continue
		}
		answer := c.service.Do(c.service.Token(), http.MethodGet, "/api/v1/calls/"+id, "")
		var call apitype.Call
		answer.Decode(&call)
		want := "spoke with " + id
		if c.typed[id] {
			want = deskNotes(id)
		}
		if got := call.Result.Value().Notes; call.Status != apitype.CallCompleted || got == nil || *got != want {
			c.Errorf("call %s: got %s, want it completed with its notes", id, call.Status)
		}
		if c.typed[id] {
			continue // No agent recorded an attempt.
		}
		first, last := slices.Index(c.applied, id+" add-attempt"), slices.Index(c.applied, id+" complete")
		if first > last {
			c.Errorf("call %s: completed before its attempt:\n%s", id, strings.Join(c.history[id], "\n"))
		}
	}
	if len(c.sure) < len(c.maybe) {
		c.Errorf("changes: got %d that were said to be safe and %d that were not", len(c.sure), len(c.maybe))
	}
	err := filepath.WalkDir(c.home.dir, func(path string, file os.DirEntry, err error) error {
		if err != nil || !file.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(content), c.token) {
			return fmt.Errorf("%s holds a token", path)
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.Error(err)
	}
}

func countOf(all []string, one string) int {
	n := 0
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

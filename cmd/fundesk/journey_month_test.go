//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// monthJourney is a service that is worked on by day and copied from by night.
type monthJourney struct {
	*testing.T
	home     home
	service  *servicetest.Harness
	token    string
	owner    apitype.UUID
	random   *rand.Rand
	requests atomic.Int64
	open     []string                  // Calls that wait.
	known    map[string]map[string]any // What the copy has of each call.
}

// ServeHTTP answers by the service's own clock.
func (j *monthJourney) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	j.requests.Add(1)
	w.Header().Set("Date", j.service.Clock.Now().UTC().Format(http.TimeFormat))
	j.service.Handler.ServeHTTP(w, r)
}

// TestMonthOfHistory plays two weeks, with -crowd a month: calls come in, some of them with old request times, and are
// worked on; each night what has changed is pulled and marked, but for nights on which the machine
// is off and nights on which the reader of the pull goes away in the middle. In the end the copy has
// every call as the service has it, and no night asked for all that there was.
func TestMonthOfHistory(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	j := &monthJourney{
		T:       t,
		home:    newHome(t),
		service: servicetest.New(t),
		random:  rand.New(rand.NewPCG(19, 30)),
		known:   map[string]map[string]any{},
	}
	j.owner, j.token = j.service.Organization("Sea Rescue"), j.service.Token()
	server := httptest.NewServer(j)
	t.Cleanup(server.Close)
	j.home.env = append(j.home.env, "FUNDESK_BASE_URL="+server.URL, "FUNDESK_TOKEN="+j.token)
	days := 14
	if *crowdLong {
		days = 30
	}
	for day := range days {
		j.callsComeIn(12)
		j.service.Clock.Advance(8 * time.Hour)
		j.work(day)
		j.service.Clock.Advance(16 * time.Hour)
		switch {
		case day%7 == 5: // The machine is off.
		case day%7 == 2:
			j.take(j.home.must(t, "fundesk pull call --updated --mark-processed --page-size 5 | head -n 3"))
		default:
			if n := j.pull(); n > 8 { // Of two days at most, one page and its mark.
				t.Errorf("night %d: got %d requests, want 8 at most", day, n)
			}
		}
	}
	j.pull()
	j.judge(12 * days)
}

// pull copies what has changed, and returns the number of requests.
func (j *monthJourney) pull() int64 {
	j.Helper()
	before := j.requests.Load()
	j.take(j.home.must(j.T, "fundesk pull call --updated --mark-processed"))
	return j.requests.Load() - before
}

// take takes lines into the copy.
func (j *monthJourney) take(lines string) {
	j.Helper()
	for line := range strings.Lines(lines) {
		var call map[string]any
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			j.Fatalf("%v: %.200q", err, line)
		}
		j.known[call["uuid"].(string)] = call
	}
}

// callsComeIn makes calls, each third of them with a request time of long ago.
func (j *monthJourney) callsComeIn(n int) {
	j.Helper()
	created := func(path, body string) string {
		answer := j.service.Do(j.token, http.MethodPost, path, body)
		if answer.Status != http.StatusCreated {
			j.Fatalf("%s: got %d %s", path, answer.Status, answer.Body)
		}
		return answer.Object()["uuid"].(string)
	}
	for i := range n {
		j.service.Clock.Advance(time.Minute)
		person := created("/api/v1/persons",
			fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, j.owner, j.owner))
		age := time.Hour
		if i%3 == 0 {
			age = time.Duration(j.random.IntN(9000)) * time.Hour
		}
		requested := apitype.NewTime(j.service.Clock.Now().Add(-age))
		j.open = append(
			j.open,
			created("/api/v1/calls",
				fmt.Sprintf(`{"personUuid":%q,"requestedAt":%q,"type":"happy_call"}`, person, requested)),
		)
	}
}

// work records attempts or ends on some of the calls that wait.
func (j *monthJourney) work(day int) {
	j.Helper()
	j.random.Shuffle(len(j.open), func(a, b int) { j.open[a], j.open[b] = j.open[b], j.open[a] })
	some := strings.Join(j.open[:8], `\n`)
	verb := []string{"attempt", "cancel", "expire"}[day%3]
	j.home.must(j.T, "printf '"+some+"' | fundesk call "+verb+" - --yes -q")
	if verb != "attempt" {
		j.open = j.open[8:]
	}
}

// judge compares the copy with the service and its number of calls.
func (j *monthJourney) judge(want int) {
	j.Helper()
	lines := strings.Split(j.home.must(j.T, "fundesk call list --all -o ndjson"), "\n")
	if len(lines) != want || len(j.known) != want {
		j.Errorf("got %d calls and %d in the copy, want %d and all", len(lines), len(j.known), want)
	}
	for _, line := range lines {
		var call map[string]any
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			j.Fatal(err)
		}
		if diff := cmp.Diff(call, j.known[call["uuid"].(string)]); diff != "" {
			j.Errorf("call %s in the copy: %s", call["uuid"], diff)
		}
	}
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

var (
	pulledChanges = flag.Int("pulled-changes", 48, "how many changes TestEveryChangeIsPulled makes")
	pulledAway    = flag.Duration("pulled-away", time.Second, "how long the standby is away")
)

// TestEveryChangeIsPulled makes random changes through two processes, with clocks 40 minutes apart, while the standby
// goes away and comes back, and pulls all the time. The last pull of each record equals the record: a consumer loses no
// change, whatever its time.
// Promise S70: every change reaches a consumer that pulls.
func TestEveryChangeIsPulled(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	a := newAwaiting(t) // Its process only lends the server; the standby is away.
	back := func() {
		a.server.Execute(t, `ALTER SYSTEM RESET synchronous_standby_names`)
		a.server.Execute(t, `SELECT pg_reload_conf()`)
	}
	away := func() {
		a.server.Execute(t, `ALTER SYSTEM SET synchronous_standby_names = 'away'`)
		a.server.Execute(t, `SELECT pg_reload_conf()`)
	}
	back()
	a.server.Await(t, `SELECT current_setting('synchronous_standby_names') = ''`)
	var urls []string
	for _, ahead := range []time.Duration{20 * time.Minute, -20 * time.Minute} {
		e := a.e
		e.ahead = ahead
		urls = append(urls, e.serve("--database-answer-timeout", commitPatience.String()).url)
	}
	// As a load balancer is.
	front := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		to, err := url.Parse(urls[rand.IntN(2)])
		if err != nil {
			panic(err)
		}
		r.SetURL(to)
	}})
	t.Cleanup(front.Close)
	p := &pulled{
		front:   front.URL,
		t:       t,
		w:       a.writing,
		program: buildClient(t),
		home:    t.TempDir(),
		seen:    map[string]map[string]string{},
	}
	records := p.records(urls[0])

	random := rand.New(rand.NewPCG(1, uint64(*pulledChanges)))
	var changes sync.WaitGroup
	begun := time.Now()
	for n := range *pulledChanges {
		switch n {
		case *pulledChanges / 4:
			away()
		case *pulledChanges / 4 * 3:
			for time.Since(begun) < *pulledAway {
				p.pull()
			}
			back()
		}
		kind := []string{"call", "person"}[random.IntN(2)]
		id, at := records[kind][random.IntN(len(records[kind]))], urls[random.IntN(2)]
		changes.Go(func() { p.change(at, kind, id, n) })
		if n%12 == 0 {
			p.pull()
		}
	}
	changes.Wait()
	a.server.Await(t, `SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep')`)
	for range 4 {
		p.pull()
	}
	p.compare(urls[0], records)
}

// pulled holds the records of one consumer.
type pulled struct {
	t             *testing.T
	w             *writing
	program, home string
	front         string                       // Where both processes are reached.
	seen          map[string]map[string]string // By kind and uuid: the record as it was pulled last.
}

// buildClient builds fundesk.
func buildClient(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fundesk")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", program,
		"fundesk/cmd/fundesk").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// records makes persons with a call each.
func (p *pulled) records(url string) map[string][]string {
	p.t.Helper()
	all := map[string][]string{}
	make := func(kind, path, body string) string {
		status, answer := send(p.t, http.MethodPost, url+path, p.w.token, body)
		var record struct{ UUID string }
		if err := json.Unmarshal([]byte(answer), &record); err != nil || status != http.StatusCreated {
			p.t.Fatalf("%s: got %d %s", path, status, answer)
		}
		all[kind] = append(all[kind], record.UUID)
		return record.UUID
	}
	for range 20 {
		person := make("person", "/api/v1/persons",
			fmt.Sprintf(`{"owningOrganizationUuid":%[1]q,"recruitingOrganizationUuid":%[1]q}`, p.w.organization))
		make("call", "/api/v1/calls",
			fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20T09:00:00Z","type":"winback"}`, person))
	}
	return all
}

// change changes a record. It may be refused while the standby is away, and kept anyway.
func (p *pulled) change(url, kind, id string, n int) {
	path, body := "/api/v1/calls/"+id+"/actions/add-attempt", `{}`
	if kind == "person" {
		path, body = "/api/v1/persons/"+id+"/actions/update", fmt.Sprintf(`{"name":{"lastName":"Name %d"}}`, n)
	}
	status, answer := send(p.t, http.MethodPut, url+path, p.w.token, body)
	if status != http.StatusOK && status != http.StatusServiceUnavailable && status != http.StatusConflict {
		p.t.Errorf("%s: got %d %s", path, status, answer)
	}
}

// pull runs fundesk pull for each kind, as cron does.
func (p *pulled) pull() {
	p.t.Helper()
	for _, kind := range []string{"call", "person"} {
		command := exec.CommandContext(context.WithoutCancel(p.t.Context()), p.program, "pull", kind, "--updated",
			"--state", filepath.Join(p.home, kind))
		command.Env = append(os.Environ(), "FUNDESK_BASE_URL="+p.front, "FUNDESK_TOKEN="+p.w.token, "HOME="+p.home,
			"XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
		var errs bytes.Buffer
		command.Stderr = &errs
		out, err := command.Output()
		if err != nil && !strings.Contains(errs.String(), "503") {
			p.t.Errorf("pull %s: %v: %s", kind, err, errs.String())
		}
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			var record struct{ UUID string }
			servicetest.Check(p.t, json.Unmarshal(lines.Bytes(), &record))
			if p.seen[kind] == nil {
				p.seen[kind] = map[string]string{}
			}
			p.seen[kind][record.UUID] = versionOf(lines.Bytes())
		}
	}
}

// versionOf returns the parts of a record that change: attempts, and the name.
func versionOf(record []byte) string {
	var r struct {
		AttemptsCount int
		LastUpdatedAt string
		LastName      *string
	}
	_ = json.Unmarshal(record, &r) // It was read before.
	name := ""
	if r.LastName != nil {
		name = *r.LastName
	}
	return fmt.Sprint(r.AttemptsCount, " ", r.LastUpdatedAt, " ", name)
}

// compare wants what was pulled last of each record to be the record.
func (p *pulled) compare(url string, records map[string][]string) {
	p.t.Helper()
	for _, kind := range []string{"call", "person"} {
		for _, id := range records[kind] {
			status, body := get(p.t, http.DefaultClient, url+"/api/v1/"+kind+"s/"+id, p.w.token)
			if want := versionOf([]byte(body)); status != http.StatusOK || p.seen[kind][id] != want {
				p.t.Errorf("%s %s: got %q by pulls, want %q (%d)", kind, id, p.seen[kind][id], want, status)
			}
		}
	}
}

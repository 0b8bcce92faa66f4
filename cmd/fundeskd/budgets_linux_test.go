package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// The long form, by night, on a machine with nothing else to do: -long -budget-round 5s -budget-ratios.
var (
	budgetRound = flag.Duration("budget-round", 50*time.Millisecond,
		"how long each route is asked by TestEveryRouteHasABudget")
	budgetRatios = flag.Bool("budget-ratios", false,
		"whether others may take no longer than three times as long, their writes twice and colleagues 1.5 times")
)

const (
	busyClients = 4
	busyPause   = 20 * time.Millisecond // From one request to the next, at least.
	floorAgents = 50
)

// ask is a request of a route.
type ask struct{ path, body string }

// asks returns the heaviest requests of each route that is legal, by method and path of openapi.json.
func (h *heavyPerson) asks() map[string]func(n int) ask {
	long := `"` + h.note + `"`
	metadata := `{"x":"` + strings.Repeat("x", 61<<10) + `"}`
	at := func(path, body string) func(int) ask { return func(int) ask { return ask{path, body} } }
	body := func(path string, body func(n int) string) func(int) ask {
		return func(n int) ask { return ask{path, body(n)} }
	}
	waiting := func(verb, body string) func(int) ask {
		return func(n int) ask {
			return ask{"/fundesk/v1/queue/calls/" + h.waiting[n%len(h.waiting)|1] + "/" + verb, body}
		}
	}
	call, person, pledge := "/api/v1/calls/"+h.call, "/api/v1/persons/"+h.person, "/api/v1/pledges/"+h.pledge
	user := apitype.NewUUID().String()
	block := fmt.Sprintf(`{"number":"+31600000000","organizationUuid":%q}`, h.organization)
	return map[string]func(n int) ask{
		"GET /api/v1/persons": at("/api/v1/persons?first=500", ""),
		"POST /api/v1/persons": at(
			"/api/v1/persons",
			fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"academicTitle":%q}`,
				h.organization, h.organization, strings.Repeat("😀", 1000)),
		),
		"GET /api/v1/persons/{uuid}": at(person, ""),
		"PUT /api/v1/persons/{uuid}/actions/update": body(person+"/actions/update", func(n int) string {
			return fmt.Sprintf(`{"academicTitle":"%d"}`, n)
		}),
		"GET /api/v1/calls": at("/api/v1/calls?first=500&include=person,pledge,transactions",
			""),
		"POST /api/v1/calls": body("/api/v1/calls", func(int) string {
			return fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-01-01","status":"completed","completedAt":"2026-01-01","notes":%s,"externalMetadata":{"applicationName":"d","referenceId":"r","additionalProperties":%s}}`, h.person, h.pledge, long, metadata)
		}),
		"GET /api/v1/calls/{uuid}":                     at(call, ""),
		"PUT /api/v1/calls/{uuid}/actions/add-attempt": at(call+"/actions/add-attempt", "{}"),
		"PUT /api/v1/calls/{uuid}/actions/complete":    at(call+"/actions/complete", "{}"),
		"PUT /api/v1/calls/{uuid}/actions/cancel": func(int) ask {
			return ask{"/api/v1/calls/" + h.waiting[0] + "/actions/cancel", "{}"}
		},
		"PUT /api/v1/calls/{uuid}/actions/expire": func(int) ask {
			return ask{"/api/v1/calls/" + h.waiting[2] + "/actions/expire", "{}"}
		},
		"GET /api/v1/pledges": at("/api/v1/pledges?first=500&include=transactions", ""),
		"POST /api/v1/pledges": at("/api/v1/pledges", fmt.Sprintf(`{"personUuid":%q,"createdAt":"2026-01-01","startsAt":"2026-01-01","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"initialDonationAmount":10,"initialDonationInterval":"monthly","recruiterUserUuid":%q,"externalMetadata":%s}`,
			h.person, h.organization, h.organization, user, metadata)),
		"GET /api/v1/pledges/{uuid}": at(pledge, ""),
		"PUT /api/v1/pledges/{uuid}/actions/update": body(pledge+"/actions/update", func(n int) string {
			return fmt.Sprintf(`{"recruitingLocationLabel":"%d"}`, n)
		}),
		"PUT /api/v1/pledges/{uuid}/actions/{statusUpdateAction}": at(pledge+"/actions/cancel", "{}"),
		"POST /api/v1/entity-access/actions/mark-processed": at("/api/v1/entity-access/actions/mark-processed",
			`{"entries":[`+strings.Repeat(
				fmt.Sprintf(`{"entityName":"call","entityUuid":%q,"processedAt":"2026-01-01"},`, h.call),
				apitype.MaxEntries-1,
			)+fmt.Sprintf(`{"entityName":"call","entityUuid":%q,"processedAt":"2026-01-01"}]}`, h.call)),
		"GET /fundesk/v1":                 at("/fundesk/v1", ""),
		"GET /fundesk/v1/queue":           at("/fundesk/v1/queue", ""),
		"GET /fundesk/v1/queue/calls":     at("/fundesk/v1/queue/calls?first=500", ""),
		"GET /fundesk/v1/queue/leases":    at("/fundesk/v1/queue/leases", ""),
		"GET /fundesk/v1/queue/deferrals": at("/fundesk/v1/queue/deferrals?first=500", ""),
		"GET /fundesk/v1/queue/agents": body(
			"/fundesk/v1/queue/agents?since="+apitype.NewTime(time.Now().Add(-apitype.MaxAgents+time.Hour)).String(),
			func(int) string { return "" },
		),
		"POST /fundesk/v1/queue/take": body("/fundesk/v1/queue/take", func(int) string {
			return fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"count":10,"leaseSeconds":30,"types":["verification"]}`,
				apitype.NewUUID(), apitype.NewUUID())
		}),
		"POST /fundesk/v1/queue/release": at("/fundesk/v1/queue/release",
			fmt.Sprintf(`{"userUuid":%q,"deferrals":true}`, user)),
		"POST /fundesk/v1/queue/leases/{uuid}/extend": func(int) ask {
			return ask{"/fundesk/v1/queue/leases/" + h.lease + "/extend", `{"leaseSeconds":3600}`}
		},
		"POST /fundesk/v1/queue/leases/{uuid}/release": func(int) ask {
			return ask{
				path: "/fundesk/v1/queue/leases/" + h.ended + "/release",
				body: `{}`,
			}
		},
		"PUT /fundesk/v1/queue/calls/{uuid}/later": waiting("later",
			fmt.Sprintf(`{"notBefore":%q}`, apitype.NewTime(time.Now().Add(24*time.Hour)))),
		"POST /fundesk/v1/queue/calls/{uuid}/notes": waiting("notes", fmt.Sprintf(`{"text":%s}`, long)),
		"PUT /fundesk/v1/queue/calls/{uuid}/lease": func(n int) ask {
			return ask{
				path: "/fundesk/v1/queue/calls/" + h.waiting[1] + "/lease",
				body: fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":30}`, apitype.NewUUID(), user),
			}
		},
		"GET /fundesk/v1/calls/missing-checks": at("/fundesk/v1/calls/missing-checks?first=500", ""),
		"GET /fundesk/v1/calls/{uuid}/checks":  at("/fundesk/v1/calls/"+h.call+"/checks", ""),
		"PUT /fundesk/v1/calls/{uuid}/checks": at("/fundesk/v1/calls/"+h.call+"/checks",
			`{"items":[{"name":"mobile","at":"2026-01-01"}]}`),
		"GET /fundesk/v1/calls/{uuid}/attempts": at("/fundesk/v1/calls/"+h.call+"/attempts", ""),
		"PUT /fundesk/v1/calls/{uuid}/attempts/{attemptAt}": body(
			"/fundesk/v1/calls/"+h.call+"/attempts/2026-01-01T00:00:00Z",
			func(n int) string { return fmt.Sprintf(`{"reason":%q}`, apitype.NotReachedReasons[n%4]) }),
		"GET /fundesk/v1/queue/agents/{uuid}/work": at("/fundesk/v1/queue/agents/"+user+"/work", ""),
		"PUT /fundesk/v1/queue/users/{uuid}/state": at("/fundesk/v1/queue/users/"+apitype.NewUUID().String()+"/state",
			`{"state":"paused","reason":"lunch"}`),
		"GET /fundesk/v1/queue/message": at("/fundesk/v1/queue/message", ""),
		"PUT /fundesk/v1/queue/message": at("/fundesk/v1/queue/message",
			fmt.Sprintf(`{"organizationUuid":%q,"text":%q}`, h.organization, strings.Repeat("x", 200))),
		"GET /fundesk/v1/persons/{uuid}/consents": at("/fundesk/v1/persons/"+h.person+"/consents", ""),
		"POST /fundesk/v1/persons/{uuid}/consents": at("/fundesk/v1/persons/"+h.person+"/consents",
			fmt.Sprintf(`{"channel":"mail","basis":"customer","wording":%q,"at":"2026-01-01"}`,
				strings.Repeat("x", 2000))),
		"POST /fundesk/v1/do-not-call/check":  at("/fundesk/v1/do-not-call/check", `{"number":"+31600000000"}`),
		"POST /fundesk/v1/do-not-call":        at("/fundesk/v1/do-not-call", block),
		"POST /fundesk/v1/do-not-call/remove": at("/fundesk/v1/do-not-call/remove", block),
		"GET /fundesk/v1/settings":            at("/fundesk/v1/settings", ""),
		"PUT /fundesk/v1/settings/{uuid}": body("/fundesk/v1/settings/"+h.organization, func(n int) string {
			return fmt.Sprintf(`{"scripts":{"winback":"%d","winback.nl":%[2]q,"winback.de":%[2]q}}`,
				n, strings.Repeat("x", 250<<10))
		}),
		"GET /fundesk/v1/changes":               at("/fundesk/v1/changes?first=500", ""),
		"GET /fundesk/v1/erasures":              at("/fundesk/v1/erasures?first=500", ""),
		"GET /fundesk/v1/persons/{uuid}/export": at("/fundesk/v1/persons/"+h.person+"/export", ""),
		// What it does once is TestErasureOfManyCalls.
		"POST /fundesk/v1/persons/{uuid}/erase": at("/fundesk/v1/persons/"+h.person+"/erase",
			`{"reason":"r","dryRun":true}`),
	}
}

// TestEveryRouteHasABudget sends the heaviest request of an account to each route of openapi.json, while another
// account and a colleague work. The program keeps to its memory, and nothing else fails. The test names a new route
// without a request.
func TestEveryRouteHasABudget(t *testing.T) {
	servicetest.Slow(t)
	h := newHeavyPerson(t)
	h.fillFloor(t)
	busy := h.account("busy --all-organizations", permissions("persons:erase", "settings:write", "changes:read")...)
	h.token = busy.Token
	h.lease, h.ended = h.take(t), h.take(t)
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	servicetest.Check(t, json.Unmarshal(httpapi.OpenAPI, &document))
	asks, routes := h.asks(), []string{}
	for path, methods := range document.Paths {
		for method := range methods {
			if method != "parameters" && !strings.HasPrefix(path, "/signatures") {
				routes = append(routes, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(routes)
	reads, writes, colleagues := h.beAtWork(t, nil)
	t.Logf("alone: reads %v, writes %v, colleagues %v", reads, writes, colleagues)
	for _, route := range routes {
		next := asks[route]
		if next == nil {
			t.Errorf("%s has no request here", route)
			continue
		}
		method, _, _ := strings.Cut(route, " ")
		h.budget(t, route, method, next, [3]time.Duration{reads, writes, colleagues})
	}
	h.environment.ended(h.running)
}

// budget asks for one route while others work.
func (h *heavyPerson) budget(t *testing.T, route, method string, next func(int) ask, alone [3]time.Duration) {
	t.Helper()
	most := anonymous(h.running.command.Process.Pid)
	var asked, answered, refused atomic.Int64
	reads, writes, colleagues := h.beAtWork(t, func(client *http.Client) {
		a := next(int(asked.Add(1)))
		status, header, answer, err := request(context.WithoutCancel(t.Context()), client, method, h.running.url+a.path,
			h.token, a.body)
		switch {
		case err == nil && status/100 == 2:
			answered.Add(1)
		case err == nil &&
			(status == http.StatusConflict ||
				status == http.StatusServiceUnavailable && header.Get("Retry-After") != ""):
			refused.Add(1)
		default:
			t.Errorf("%s: got %d %.300s %v", route, status, answer, err)
		}
	})
	peak := most()
	t.Logf("%-56s %5d answered, %4d refused, %3d MB; reads %v, writes %v, colleagues %v",
		route, answered.Load(), refused.Load(), peak>>20, reads, writes, colleagues)
	if answered.Load() == 0 {
		t.Errorf("%s: none of %d requests was answered", route, asked.Load())
	}
	if peak > anonymousMost {
		t.Errorf("%s: got %d MB of memory of its own, want %d at most", route, peak>>20, anonymousMost>>20)
	}
	if *budgetRatios && (reads > 3*alone[0] || writes > 2*alone[1] || colleagues > alone[2]*3/2) {
		t.Errorf("%s: others' reads took %v, their writes %v, colleagues %v; alone %v",
			route, reads, writes, colleagues, alone)
	}
}

// beAtWork lets another account read and write, and a colleague of the busy one read, while busy clients do something
// (or nothing, if nil). It returns the median time of each.
func (h *heavyPerson) beAtWork(t *testing.T, do func(*http.Client)) (reads, writes, colleagues time.Duration) {
	t.Helper()
	end := time.Now().Add(*budgetRound)
	var group sync.WaitGroup
	loop := func(median *time.Duration, method, path, token, body string) {
		group.Go(func() {
			client, took := clientOf(1), []time.Duration{}
			for time.Now().Before(end) || len(took) == 0 {
				begun := time.Now()
				status, header, answer, err := request(context.WithoutCancel(t.Context()), client, method,
					h.running.url+path, token, body)
				if err != nil ||
					status/100 != 2 &&
						(token != h.token ||
							status != http.StatusServiceUnavailable ||
							header.Get("Retry-After") == "") {
					t.Errorf("%s %s: got %d %.200s %v", method, path, status, answer, err)
				}
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			*median = took[len(took)/2].Round(time.Microsecond)
		})
	}
	loop(&reads, http.MethodGet, "/api/v1/persons?first=1", h.others, "")
	loop(&writes, http.MethodPost, "/api/v1/persons", h.others,
		fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, h.organization, h.organization))
	loop(&colleagues, http.MethodGet, "/api/v1/persons/"+h.person, h.token, "")
	for range busyClients {
		if do != nil {
			group.Go(func() {
				client := clientOf(1)
				pause := time.NewTicker(busyPause)
				defer pause.Stop()
				for do(client); time.Now().Before(end); do(client) {
					<-pause.C // What is light is not a flood.
				}
			})
		}
	}
	group.Wait()
	return reads, writes, colleagues
}

// take takes a call, and is the lease.
func (h *heavyPerson) take(t *testing.T) string {
	t.Helper()
	_, _, answer, err := request(
		t.Context(), http.DefaultClient, http.MethodPost, h.running.url+"/fundesk/v1/queue/take",
		h.token,
		fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"types":["verification"]}`, apitype.NewUUID(), apitype.NewUUID()),
	)
	var taken apitype.Taken
	if json.Unmarshal(answer, &taken) != nil || len(taken.Leases) != 1 {
		t.Fatalf("got %.300s, %v, want a lease", answer, err)
	}
	return taken.Leases[0].LeaseUUID.String()
}

// permissions returns flags that name all that an account has by default, and more.
func permissions(more ...string) []string {
	var flags []string
	for _, name := range append([]string{
		"persons:read", "persons:create", "persons:update", "calls:read", "calls:create", "calls:attempt",
		"calls:complete", "calls:cancel",
		"calls:expire", "pledges:read", "pledges:create", "pledges:update", "pledges:act", "entities:mark",
	}, more...) {
		flags = append(flags, "--permission", name)
	}
	return flags
}

// fillFloor gives the database the counts of the work of a floor of agents in 9 days, or in 92 by night.
func (h *heavyPerson) fillFloor(t *testing.T) {
	t.Helper()
	driver := "sqlite"
	source := "file:" + filepathOf(h.environment) + "?_pragma=busy_timeout(5000)"
	series := `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)`
	user := `unhex(printf('%%032x', i %% 50 + 1))`
	if h.database != "" {
		driver, source, series = "pgx", h.database, `WITH n AS (SELECT generate_series(0::BIGINT, %d) AS i)`
		user = `lpad(to_hex(i %% 50 + 1), 32, '0')::uuid`
	}
	db, err := sql.Open(driver, source)
	servicetest.Check(t, err)
	defer func() { _ = db.Close() }()
	hour := time.Now().Truncate(time.Hour)
	const codes = 5 // The first is the empty one.
	days := inShort(9, 92)
	rows := days * 10 * floorAgents * codes
	text := fmt.Sprintf(series+` INSERT INTO queue_hours
			(hour, user_uuid, owner, code, taken, attempts, completed, cancelled, expired, released, seen_at)
		SELECT %d - (i / 50 / 5 / 10 * 24 + i / 50 / 5 %% 10) * 3600000, `+user+
		`, (SELECT uuid FROM organizations LIMIT 1),
			CASE WHEN i / 50 %% 5 > 0 THEN 'code' || (i / 50 %% 5) ELSE '' END, 13, 13, 13, 0, 0, 13, %d FROM n WHERE i < %d`,
		rows-1, hour.Add(-time.Hour).UnixMilli(), hour.UnixMilli(), rows)
	_, err = db.ExecContext(t.Context(), text)
	servicetest.Check(t, err)
}

package httpapi_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// TestMain lets the model be compared less often than rapid's 100 times, unless the
// command line says how often: each time takes a hundred requests.
func TestMain(m *testing.M) {
	flag.Parse()
	const checks = "rapid.checks"
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == checks })
	if !chosen {
		if err := flag.Set(checks, "15"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// modelCall and modelPledge are what the rules say of a record, kept apart from the
// service in the plainest form.
type modelCall struct {
	external bool
	status   string
	attempts int
	code     string // The result's, empty without one.
}

type modelPledge struct {
	external bool
	status   string
	created  time.Time
	ends     *time.Time
	amount   string
}

// model drives random operations against the service and a model of the rules.
type model struct {
	*world
	maximum int
	calls   map[string]*modelCall
	pledges map[string]*modelPledge
}

// TestModel compares the service with the model over random operations.
func TestModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t).unchecked()
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{world: w, maximum: rapid.IntRange(0, 3).Draw(rt, "maximum"), calls: map[string]*modelCall{}, pledges: map[string]*modelPledge{}}
		limited := service.Organization{MaxCallAttempts: &m.maximum, CoolingOff: time.Hour}
		limited.Name, limited.Abbreviation = "L", "L"
		o := owned{organization: w.OrganizationWith(limited), focusArea: apitype.NewUUID()}
		w.Load(service.LoadRecord{Kind: service.LoadFocusArea, Data: service.LoadedFocusArea{
			FocusArea: apitype.FocusArea{UUID: o.focusArea, Name: "F"}, OrganizationUUID: o.organization,
		}})
		o.person = w.create("/api/v1/persons", w.personBody(o))
		rt.Repeat(map[string]func(*rapid.T){
			"create call":   func(rt *rapid.T) { m.createCall(rt, o) },
			"create pledge": func(rt *rapid.T) { m.createPledge(rt, o) },
			"move call":     m.moveCall,
			"attempt":       m.attempt,
			"act":           m.act,
			"update pledge": m.updatePledge,
			"wait": func(rt *rapid.T) {
				w.Clock.Advance(time.Duration(rapid.IntRange(1, 90).Draw(rt, "minutes")) * time.Minute)
			},
			"compare": m.compare,
		})
	})
}

func (m *model) createCall(t *rapid.T, o owned) {
	external := rapid.Bool().Draw(t, "external")
	body := fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, o.person)
	status := "requested"
	if external {
		status = rapid.SampledFrom([]string{"requested", "completed", "cancelled", "expired"}).Draw(t, "status")
		body = fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20","externalMetadata":{},"status":%q}`, o.person, status)
	}
	id := m.create("/api/v1/calls", body).String()
	m.calls[id] = &modelCall{external: external, status: status}
}

func (m *model) createPledge(t *rapid.T, o owned) {
	p := &modelPledge{external: rapid.Bool().Draw(t, "external"), status: "lead", created: m.Clock.Now(), amount: "12.5"}
	more := ""
	if rapid.Bool().Draw(t, "ends") {
		p.ends = new(m.Clock.Now().Truncate(time.Second).Add(2 * time.Hour))
		more = `,"endsAt":"` + p.ends.Format(time.RFC3339) + `"`
	}
	if p.external {
		more += `,"externalSource":{"name":"x","identifier":"y"}`
	}
	body := fmt.Sprintf(`{"personUuid":%q,"createdAt":"2026-11-20","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"initialDonationInterval":"once","initialDonationAmount":12.5,"recruiterUserUuid":%q,"startsAt":"2026-11-01"%s}`,
		o.person, o.organization, o.organization, user, more)
	m.pledges[m.create("/api/v1/pledges", body).String()] = p
}

// pick is one of the records there are.
func pick[T any](t *rapid.T, records map[string]T) (string, T) {
	ids := make([]string, 0, len(records))
	for id := range records {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		t.Skip("no record yet")
	}
	id := rapid.SampledFrom(ids).Draw(t, "uuid")
	return id, records[id]
}

func (m *model) moveCall(t *rapid.T) {
	id, call := pick(t, m.calls)
	move := rapid.SampledFrom([]struct{ action, status string }{{"complete", "completed"}, {"cancel", "cancelled"}, {"expire", "expired"}}).Draw(t, "move")
	body, code := "", ""
	if move.action == "complete" && rapid.Bool().Draw(t, "result") {
		code = rapid.SampledFrom([]string{"yes", "no"}).Draw(t, "code")
		body = `{"result":{"resultCode":"` + code + `"}}`
	}
	repeated := call.status == move.status && (code == "" || code == call.code)
	want := http.StatusOK
	switch {
	case repeated:
	case call.external || call.status == "requested":
		call.status, call.code = move.status, code
	default:
		want = http.StatusConflict
	}
	m.expect(t, "PUT", "/api/v1/calls/"+id+"/actions/"+move.action, body, want)
}

func (m *model) attempt(t *rapid.T) {
	id, call := pick(t, m.calls)
	want := http.StatusConflict
	if call.external || (call.status == "requested" && call.attempts < m.maximum) {
		want = http.StatusOK
		call.attempts++
	}
	m.expect(t, "PUT", "/api/v1/calls/"+id+"/actions/add-attempt", "", want)
}

func (m *model) act(t *rapid.T) {
	id, pledge := pick(t, m.pledges)
	action := rapid.SampledFrom([]struct{ name, status string }{
		{"activate", "active"}, {"drop", "dropped"}, {"cancel", "cancelled"}, {"fulfill", "fulfilled"},
	}).Draw(t, "action")
	now := m.Clock.Now()
	released := !now.Before(pledge.created.Add(time.Hour))
	allowed := map[string]bool{
		"lead activate": released, "lead cancel": released, "lead drop": !released,
		"active cancel": true, "active fulfill": pledge.ends != nil && !now.Before(*pledge.ends),
	}
	want := http.StatusOK
	switch {
	case pledge.status == action.status:
	case pledge.external || allowed[pledge.status+" "+action.name]:
		pledge.status = action.status
	default:
		want = http.StatusConflict
	}
	m.expect(t, "PUT", "/api/v1/pledges/"+id+"/actions/"+action.name, "", want)
}

func (m *model) updatePledge(t *rapid.T) {
	id, pledge := pick(t, m.pledges)
	amount := rapid.SampledFrom([]string{"1", "7.25", "100"}).Draw(t, "amount")
	want := http.StatusOK
	if pledge.external {
		want = http.StatusBadRequest
	} else {
		pledge.amount = amount
	}
	m.expect(t, "PUT", "/api/v1/pledges/"+id+"/actions/update", `{"donationAmount":`+amount+`}`, want)
}

func (m *model) expect(t *rapid.T, method, path, body string, want int) {
	if got := m.Do(m.all, method, path, body); got.Status != want {
		t.Fatalf("%s %s %s: got %d %s, want %d", method, path, body, got.Status, got.Body, want)
	}
}

// compare reads every record of the model.
func (m *model) compare(t *rapid.T) {
	for id, want := range m.calls {
		call := m.Do(m.all, "GET", "/api/v1/calls/"+id, "").Object()
		code := ""
		if result, ok := call["result"].(map[string]any); ok {
			code, _ = result["resultCode"].(string)
		}
		if call["status"] != want.status || call["attemptsCount"] != float64(want.attempts) || code != want.code {
			t.Fatalf("got call %v %v %q, want %+v", call["status"], call["attemptsCount"], code, want)
		}
	}
	for id, want := range m.pledges {
		pledge := m.Do(m.all, "GET", "/api/v1/pledges/"+id, "").Object()
		if pledge["status"] != want.status || fmt.Sprint(pledge["donationAmount"]) != want.amount {
			t.Fatalf("got pledge %v %v, want %+v", pledge["status"], pledge["donationAmount"], want)
		}
	}
}

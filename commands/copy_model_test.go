package commands

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

var copySeeds = flag.Uint64("copy-seeds", 9, "how many seeds TestCopyModel runs; by night 300")

// copyModel is a service with small pages, with answers that may break off between two of them, and a copy of it.
type copyModel struct {
	*testing.T
	random  *rand.Rand
	service *servicetest.Harness
	env     map[string]string
	engines []func(testing.TB) string // Make databases. A load may move the service to another engine.
	left    int                       // Answers until one breaks off. Below zero for never.
	// isEarlier is a service whose lists bring no details.
	isEarlier bool
	persons   []string
	calls     []string
	pledges   []string
	history   []string
}

func newCopyModel(t *testing.T, seed uint64, engines ...func(testing.TB) string) *copyModel {
	m := &copyModel{
		T:         t,
		random:    rand.New(rand.NewPCG(seed, 59)),
		service:   servicetest.NewOn(t, engines[0](t)),
		engines:   engines,
		left:      -1,
		isEarlier: seed%2 == 1,
	}
	m.service.Sample(12)
	address := serving(t, m.ServeHTTP)
	m.env = homeAt(t, address, m.service.Token())
	m.persons = strings.Fields(m.must("person", "list", "--all", "-q", "-o", "id"))
	m.calls = strings.Fields(m.must("call", "list", "--all", "-q", "-o", "id"))
	m.pledges = strings.Fields(m.must("pledge", "list", "--all", "-q", "-o", "id"))
	return m
}

// ServeHTTP answers with pages of three records. A killed sync gets nothing from some answer on.
func (m *copyModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if m.left == 0 {
		w.WriteHeader(http.StatusForbidden) // It is not repeated.
		return
	}
	m.left--
	query := r.URL.Query()
	if query.Has("first") {
		query.Set("first", "3")
		r.URL.RawQuery = query.Encode()
	}
	if m.isEarlier && (query.Has("checks") || query.Has("consents")) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	recorded := httptest.NewRecorder()
	m.service.Handler.ServeHTTP(recorded, r)
	maps.Copy(w.Header(), recorded.Header())
	body := recorded.Body.Bytes()
	if m.isEarlier {
		announced := strings.Replace(w.Header().Get(apitype.ExtensionsHeader), ", details", "", 1)
		w.Header().Set(apitype.ExtensionsHeader, announced)
		body = bytes.Replace(body, []byte(`,"details"`), nil, 1)
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(body)
}

func (m *copyModel) run(args ...string) (out, errs string, code int) {
	var stdout, stderr bytes.Buffer
	app := hasty(appOf(m.env, strings.NewReader(""), &stdout, &stderr))
	app.Now = m.service.Clock.Now
	code = Run(m.Context(), args, app)
	m.history = append(m.history, fmt.Sprintf("%v: %d %s", args, code, stderr.String()))
	return stdout.String(), stderr.String(), code
}

func (m *copyModel) must(args ...string) string {
	m.Helper()
	out, errs, code := m.run(args...)
	if code != 0 {
		m.Fatalf("%v: got exit code %d and %s", args, code, errs)
	}
	return out
}

func (m *copyModel) pick(ids []string) string { return ids[m.random.IntN(len(ids))] }

// step does one thing, by chance. A refused change is not a fault of the copy.
func (m *copyModel) step(n int) {
	switch kind := m.random.IntN(17); kind {
	case 0, 1:
		m.run("person", "update", m.pick(m.persons), "--last-name", fmt.Sprintf("Name%d", n))
	case 2:
		m.run("person", "consent", "add", m.pick(m.persons), "--channel", "phone", "--basis", "consent", "--source",
			fmt.Sprintf("form %d", n))
	case 3:
		id, _, code := m.run("call", "create", "--person", m.pick(m.persons), "--type", "happy_call", "--notes",
			"please", "-o", "id")
		if code == 0 {
			m.calls = append(m.calls, strings.TrimSpace(id))
		}
	case 4, 5:
		m.run("call", "attempt", m.pick(m.calls), "--yes")
	case 6, 7:
		m.run("call", "complete", m.pick(m.calls), "--result-code", "reached", "--notes", fmt.Sprintf("note %d", n),
			"--user", apitype.NewUUID().String(), "--without-checks", "--any-result", "--yes")
	case 8:
		m.run("pledge", "update", m.pick(m.pledges), "--donation-amount", fmt.Sprintf("%d.25", n+1))
	case 9:
		id := m.pick(m.calls)
		answer := m.service.Do(m.env["FUNDESK_TOKEN"], http.MethodPut, "/fundesk/v1/calls/"+id+"/checks",
			`{"items":[{"name":"iban","at":"2026-11-01T10:00:00Z"}]}`)
		m.history = append(m.history, fmt.Sprintf("checks of %s: %d", id, answer.Status))
	case 10:
		_, err := m.service.Privacy.Erase(m.Context(), apitype.MustParseUUID(m.pick(m.persons)),
			apitype.EraseRequest{Reason: "r"})
		m.history = append(m.history, fmt.Sprintf("erase: %v", err))
	case 11:
		servicetest.Check(m.T, m.service.Service.ChangeEpoch(m.Context()))
		m.history = append(m.history, "another epoch")
	case 12:
		longest := 10 * time.Minute
		if m.random.IntN(3) == 0 {
			longest = 20 * 24 * time.Hour // Pledges are released.
		}
		m.service.Clock.Advance(time.Duration(m.random.Int64N(int64(longest))))
	case 13:
		m.load(m.random.IntN(len(m.engines)))
	default:
		m.left = m.random.IntN(30)
		m.sync()
		m.left = -1
	}
}

// load moves the service to a new database, as fundeskd dump and fundeskd load do.
func (m *copyModel) load(engine int) {
	var records []service.LoadRecord
	servicetest.Check(m.T, m.service.Store.Dump(m.Context(), func(record service.LoadRecord) error {
		records = append(records, record)
		return nil
	}))
	now := m.service.Clock.Now()
	servicetest.Check(m.T, m.service.Store.Close())
	database := m.engines[engine](m.T)
	loaded := servicetest.NewOn(m.T, database)
	loaded.Load(records...)
	servicetest.Check(m.T, loaded.Store.Close())
	m.service = servicetest.NewOn(m.T, database)
	m.service.Clock.Set(now)
	m.history = append(m.history, fmt.Sprintf("loaded into database %d", engine))
}

// sync reads changes. It begins again if the error asks for it.
func (m *copyModel) sync() {
	_, errs, code := m.run("copy", "sync")
	if code == 8 && strings.Contains(errs, "--anew") {
		_, errs, code = m.run("copy", "sync", "--anew")
	}
	if code != 0 && m.left != 0 {
		m.Fatalf("copy sync: got exit code %d and %s", code, errs)
	}
}

// lines reads NDJSON.
func (m *copyModel) lines(text string) []map[string]any {
	var all []map[string]any
	for line := range strings.Lines(text) {
		var record map[string]any
		servicetest.Check(m.T, json.Unmarshal([]byte(line), &record))
		all = append(all, record)
	}
	return all
}

// list reads a list of the service.
func (m *copyModel) list(noun string, args ...string) []map[string]any {
	return m.lines(m.must(append([]string{noun, "list", "--all", "-q", "-o", "ndjson"}, args...)...))
}

// same wants a question to give these rows, in any order.
func (m *copyModel) same(query string, want []string) {
	m.Helper()
	var got []string
	for _, row := range m.lines(m.must("query", query, "--offline", "-o", "ndjson")) {
		got = append(got, fmt.Sprint(row["line"]))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		m.Errorf("%s: the copy differs (-service +copy):\n%s\nwhat was done:\n%s",
			query, diff, strings.Join(m.history, "\n"))
	}
}

// joined returns values as a line. Nothing is "-".
func joined(values ...any) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = "-"
		if value != nil {
			texts[i] = fmt.Sprint(value)
		}
	}
	return strings.Join(texts, "|")
}

// line returns the SQL of a line of columns.
func lineOf(columns string) string {
	var parts []string
	for column := range strings.SplitSeq(columns, " ") {
		parts = append(parts, "coalesce("+column+", '-')")
	}
	return "SELECT " + strings.Join(parts, " || '|' || ") + " AS line FROM "
}

// compare wants every table to hold what the service has.
func (m *copyModel) compare() {
	var persons, calls, results, attempts, pledges, transactions, consents, checks []string
	for _, p := range m.list("person") {
		address, _ := p["address"].(map[string]any)
		persons = append(persons,
			joined(p["uuid"], p["lastName"], p["iban"], p["email"], p["dateOfBirth"], address["city"], p["createdAt"]))
		id := p["uuid"].(string)
		for _, c := range m.lines(m.must("person", "consent", "list", id, "-o", "ndjson")) {
			consents = append(consents, joined(id, c["channel"], c["basis"], c["source"], c["at"]))
		}
	}
	for _, c := range m.list("call") {
		calls = append(
			calls,
			joined(c["uuid"], c["status"], c["type"], c["personUuid"], c["notes"], c["attemptsCount"],
				c["lastUpdatedAt"], c["completedAt"]),
		)
		if r, ok := c["result"].(map[string]any); ok {
			results = append(results, joined(c["uuid"], r["resultCode"], r["notes"], r["completedAt"]))
		}
		made, _ := c["attempts"].([]any)
		for _, a := range made {
			a := a.(map[string]any)
			attempts = append(attempts, joined(c["uuid"], a["attemptAt"], a["userUuid"]))
		}
	}
	for _, c := range m.lines(m.must(append([]string{"call", "checks", "-o", "ndjson"}, m.calls...)...)) {
		checks = append(checks, joined(c["callUuid"], c["name"], c["at"]))
	}
	for _, p := range m.list("pledge", "--include", "transactions", "--include", "person") {
		person, _ := p["person"].(map[string]any)
		cents := fmt.Sprint(int64(p["donationAmount"].(float64)*100 + 0.5))
		pledges = append(pledges,
			joined(p["uuid"], p["status"], cents, p["updatedAt"], p["releasedAt"], person["uuid"]))
		paid, _ := p["transactions"].([]any)
		for _, x := range paid {
			x := x.(map[string]any)
			transactions = append(
				transactions,
				joined(x["uuid"], p["uuid"], x["personUuid"], x["name"], x["iban"], x["description"], x["status"],
					x["createdAt"]),
			)
		}
	}
	m.same(lineOf("uuid lastName iban email dateOfBirth address_city createdAt")+"persons", persons)
	m.same(lineOf("uuid status type personUuid notes attemptsCount lastUpdatedAt completedAt")+"calls", calls)
	m.same(lineOf("callUuid resultCode notes completedAt")+"results", results)
	m.same(lineOf("callUuid attemptAt userUuid")+"attempts", attempts)
	m.same(lineOf("uuid status donationAmount_cents updatedAt releasedAt personUuid")+"pledges", pledges)
	m.same(lineOf("uuid pledgeUuid personUuid name iban description status createdAt")+"transactions", transactions)
	m.same(lineOf("personUuid channel basis source at")+"consents", consents)
	m.same(lineOf("callUuid name at")+"checks", checks)
}

// TestCopyModel lets chance change, complete and erase records, let weeks pass, load them into another database,
// change the epoch, and kill syncs between pages. The copy holds what the service has after the next whole sync.
func TestCopyModel(t *testing.T) {
	runCopyModel(t, servicetest.Times(4, *copySeeds), servicetest.NewFile)
}

// TestCopyModelOnPostgres is TestCopyModel with loads from one engine into the other.
func TestCopyModelOnPostgres(t *testing.T) {
	servicetest.NeedPostgres(t)
	runCopyModel(t, servicetest.Times(2, *copySeeds/3), servicetest.PostgresDatabase, servicetest.NewFile)
}

func runCopyModel(t *testing.T, seeds uint64, engines ...func(testing.TB) string) {
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newCopyModel(t, seed, engines...)
			for n := range 40 {
				m.step(n)
			}
			m.sync()
			m.compare()
		})
	}
}

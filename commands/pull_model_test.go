package commands

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

var (
	pullSeeds = flag.Uint64("seeds", 200, "how many seeds TestPullModel runs; by night 5000")
	pullSteps = flag.Int("steps", 10, "how many steps each seed of TestPullModel has; by night 60")
	pullFrom  = flag.Uint64("seeds-from", 1, "the first seed of TestPullModel")
)

// pullModel is a service with faults, kills and a clock that goes both ways. Its database is restored, its account
// narrowed and widened, and a program keeps a copy of its persons by pulls.
type pullModel struct {
	*testing.T
	random        *rand.Rand
	service       *servicetest.Harness
	admin, token  string
	account       apitype.UUID // Of the program.
	organizations []apitype.UUID
	env           map[string]string
	history       []string

	persons []string // Not erased.
	erased  []service.ErasedPerson
	backup  string   // The file of the last backup. Empty if there is none. On PostgreSQL pg_dump writes it.
	then    []string // The persons at that time.
	backups int

	isFaulty bool
	failed   bool              // A request of the present pull got a fault.
	begins   map[string]bool   // The kinds of which the program has to begin again, and has not done so.
	copied   map[string]string // Last names by uuid, as the program knows them.
}

func newPullModel(t *testing.T, seed uint64, database string) *pullModel {
	m := &pullModel{
		T:       t,
		random:  rand.New(rand.NewPCG(seed, 53)),
		service: servicetest.NewOn(t, database),
		copied:  map[string]string{},
		begins:  map[string]bool{},
	}
	m.admin = m.service.Token()
	account := m.service.Account()
	m.account, m.token = account.UUID, m.service.TokenOf(account)
	m.organizations = []apitype.UUID{m.service.Organization("AID"), m.service.Organization("SEA")}
	address := serving(t, m.ServeHTTP)
	m.env = homeAt(t, address, m.token)
	return m
}

// ServeHTTP answers as the service that is there now, or with a fault: a refusal, or half of an answer.
func (m *pullModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := 0
	if m.isFaulty {
		fault = m.random.IntN(8)
	}
	if fault == 1 {
		m.failed = true
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	recorded := httptest.NewRecorder()
	m.service.Handler.ServeHTTP(recorded, r)
	maps.Copy(w.Header(), recorded.Header())
	if m.random.IntN(4) == 0 { // A front end drops what it does not know, and has a clock of its own.
		w.Header().Del(apitype.SettledHeader)
		shift := time.Duration(m.random.IntN(7*24*60)-5*24*60) * time.Minute
		w.Header().Set("Date", m.service.Clock.Now().Add(shift).UTC().Format(http.TimeFormat))
	}
	if fault != 2 {
		w.WriteHeader(recorded.Code)
		_, _ = recorded.Body.WriteTo(w)
		return
	}
	m.failed = true
	w.Header().Set("Content-Length", fmt.Sprint(recorded.Body.Len()))
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(recorded.Body.Bytes()[:recorded.Body.Len()/2])
}

// pull runs one pull, which may be killed after some bytes. A copy of another epoch begins again, until that was done.
func (m *pullModel) pull(kind string, limit int, begin func(), each func(map[string]any)) {
	args := []string{"pull", kind, "-q"}
	if kind == "person" {
		args = append(args, "--updated")
	}
	for range 2 {
		if m.begins[kind] {
			begin()
			args = append(slices.Clone(args), "--reset")
		}
		out, errs := &failingWriter{left: limit}, &bytes.Buffer{}
		m.failed = false
		app := hasty(appOf(m.env, strings.NewReader(""), out, errs))
		now := m.service.Clock.Now().Add(time.Duration(m.random.IntN(120)-60) * time.Minute)
		app.Now = func() time.Time { return now } // The clock of the program's machine is wrong.
		code := Run(m.Context(), args, app)
		for line := range strings.Lines(out.String()) {
			var record map[string]any
			if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &record) == nil {
				each(record)
			}
		}
		m.history = append(m.history,
			fmt.Sprintf("pull %v at %s: %d %s", args[1:], m.service.Service.Now(), code, errs))
		isBroken := out.left == 0
		switch {
		case code == 8 && strings.Contains(errs.String(), "--reset"): // A service that is away is 8, too.
			m.begins[kind] = true
		case code != 0 && !isBroken && !m.failed:
			m.Fatalf("pull %v: got exit code %d, %s", args, code, errs)
		default:
			m.begins[kind] = m.begins[kind] && code != 0
			return
		}
	}
	m.Fatalf("pull %s: got exit code 8 after a reset\n%s", kind, strings.Join(m.history, "\n"))
}

func (m *pullModel) nightly(limit int) {
	m.pull("person", limit, func() { clear(m.copied) }, func(person map[string]any) {
		m.copied[person["uuid"].(string)], _ = person["lastName"].(string)
	})
	m.pull("erased", limit, func() {}, func(person map[string]any) { delete(m.copied, person["uuid"].(string)) })
}

func (m *pullModel) do(method, path, body string) servicetest.Answer {
	m.Helper()
	a := m.service.Do(m.admin, method, path, body)
	if a.Status >= 300 {
		m.Fatalf("%s %s: got %d %s", method, path, a.Status, a.Body)
	}
	return a
}

// step does one thing, by chance.
func (m *pullModel) step(n int) {
	kind := m.random.IntN(21)
	m.history = append(m.history, fmt.Sprintf("step %d: %d", n, kind))
	switch {
	case kind < 5 || len(m.persons) == 0:
		m.create(n)
	case kind < 9:
		m.correct(n)
	case kind < 10:
		m.erase()
	case kind < 11:
		m.scope()
	case kind < 13:
		m.service.Clock.Advance(time.Duration(m.random.IntN(7200)-3600) * time.Second)
	case kind < 14:
		m.reopen(m.service.Database)
	case kind < 15:
		m.backUp()
	case kind < 16 && m.backup != "":
		m.restore(m.random.IntN(2) == 1)
	case kind < 18:
		m.nightly(m.random.IntN(2000))
	case kind < 19: // A look at some of them moves no position.
		args := []string{
			"pull", "person", "-q", "--updated", "--since",
			[]string{"now", "1h", "2000-01-01"}[m.random.IntN(3)],
		}
		Run(m.Context(), args, hasty(appOf(m.env, strings.NewReader(""), io.Discard, io.Discard)))
	default:
		m.nightly(1 << 20)
	}
}

func (m *pullModel) create(n int) {
	id, owner := apitype.NewUUID().String(), m.organizations[m.random.IntN(2)]
	m.do(
		http.MethodPost,
		"/api/v1/persons",
		fmt.Sprintf(`{"uuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%[2]q,"name":{"lastName":"Name%[3]d"}}`, id, owner, n),
	)
	m.persons = append(m.persons, id)
}

// correct gives a person a new name, and returns its entity tag.
func (m *pullModel) correct(n int) string {
	person := "/api/v1/persons/" + m.persons[m.random.IntN(len(m.persons))]
	m.do(http.MethodPut, person+"/actions/update", fmt.Sprintf(`{"name":{"lastName":"Name%d"}}`, n))
	return m.do(http.MethodGet, person, "").Header.Get("ETag")
}

func (m *pullModel) erase() {
	i := m.random.IntN(len(m.persons))
	erasure, err := m.service.Privacy.Erase(m.Context(), apitype.MustParseUUID(m.persons[i]),
		apitype.EraseRequest{Reason: "r"})
	servicetest.Check(m.T, err)
	m.erased = append(m.erased, service.ErasedPerson{UUID: erasure.PersonUUID, ErasedAt: erasure.ErasedAt})
	m.persons = slices.Delete(m.persons, i, i+1)
	m.history = append(m.history,
		fmt.Sprintf("erased %s at %s, the clock at %s", erasure.PersonUUID, erasure.ErasedAt, m.service.Service.Now()))
}

// scope lets the account see one organization, or all.
func (m *pullModel) scope() {
	scope := service.Scope{All: true}
	if n := m.random.IntN(3); n < 2 {
		scope = service.Scope{Organizations: m.organizations[n : n+1]}
	}
	_, err := m.service.Service.SetAccount(m.Context(), m.account, func(a *service.Account) error {
		a.Scope = scope
		return nil
	})
	servicetest.Check(m.T, err)
}

// reopen ends the service and starts another one on a database.
func (m *pullModel) reopen(database string) {
	now := m.service.Clock.Now()
	servicetest.Check(m.T, m.service.Store.Close())
	m.service = servicetest.NewOn(m.T, database)
	m.service.Clock.Set(now)
}

func (m *pullModel) isOnPostgres() bool { return strings.HasPrefix(m.service.Database, "postgres:") }

func (m *pullModel) backUp() {
	m.backups++
	m.backup = filepath.Join(m.TempDir(), fmt.Sprintf("backup-%d.db", m.backups))
	if m.isOnPostgres() {
		m.program("pg_dump", "--format", "custom", "--file", m.backup, m.service.Database)
	} else {
		_, err := m.service.Store.Backup(m.Context(), m.backup)
		servicetest.Check(m.T, err)
	}
	m.then = slices.Clone(m.persons)
}

// program runs a program of PostgreSQL.
func (m *pullModel) program(name string, args ...string) {
	m.Helper()
	if out, err := exec.CommandContext(m.Context(), servicetest.Program(name), args...).CombinedOutput(); err != nil {
		m.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// restore puts the last backup in the place of the database or to a new path, and repeats the erasures. The tokens
// are kept: the program goes on.
func (m *pullModel) restore(isInPlace bool) {
	now := m.service.Clock.Now()
	servicetest.Check(m.T, m.service.Store.Close())
	var database string
	if m.isOnPostgres() {
		database = m.restoreDump(isInPlace)
	} else {
		database = m.restoreFile(isInPlace)
	}
	m.service = servicetest.NewOn(m.T, database)
	m.service.Clock.Set(now)
	_, err := m.service.Privacy.ReplayErasures(m.Context(), m.erased)
	servicetest.Check(m.T, err)
	isErased := func(id string) bool {
		return slices.ContainsFunc(m.erased, func(e service.ErasedPerson) bool { return e.UUID.String() == id })
	}
	m.persons = slices.DeleteFunc(slices.Clone(m.then), isErased)
}

// restoreFile restores a backup as fundeskd restore does.
func (m *pullModel) restoreFile(isInPlace bool) string {
	database := m.service.Database
	if !isInPlace {
		database = "sqlite:" + filepath.Join(m.TempDir(), "restored.db")
	}
	_, err := sqlstore.Restore(m.Context(), m.backup, database, func(store *sqlstore.Store) error {
		s, err := service.New(m.Context(), service.Options{Store: store, Now: m.service.Clock.Now})
		if err != nil {
			return err
		}
		return s.ChangeEpoch(m.Context())
	})
	servicetest.Check(m.T, err)
	return database
}

// restoreDump restores a backup with pg_restore, as in docs/operator.md.
func (m *pullModel) restoreDump(isInPlace bool) string {
	var database string
	if !isInPlace {
		database = servicetest.EmptyDatabase(m.T)
		m.program("pg_restore", "--dbname", database, m.backup)
		return database
	}
	m.program("psql", "--quiet", "--dbname", m.service.Database, "--command", "DROP TABLE IF EXISTS audit")
	m.program("pg_restore", "--clean", "--if-exists", "--dbname", m.service.Database, m.backup)
	return m.service.Database
}

// compare wants the copy to hold what the account sees.
func (m *pullModel) compare() {
	var out bytes.Buffer
	Run(m.Context(), []string{"person", "list", "--all", "-o", "ndjson"},
		hasty(appOf(m.env, strings.NewReader(""), &out, io.Discard)))
	want := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var person struct{ UUID, LastName string }
		servicetest.Check(m.T, json.Unmarshal([]byte(line), &person))
		want[person.UUID] = person.LastName
	}
	if diff := cmp.Diff(want, m.copied); diff != "" {
		m.Errorf("the copy differs (-service +copy):\n%s\nwhat was done:\n%s", diff, strings.Join(m.history, "\n"))
	}
}

// TestPullModel creates, corrects and erases persons at random, moves all clocks both ways, kills the service, narrows
// and widens the account, and restores backups in place and to new paths, while a program pulls through faults. Each
// change and each erasure reaches its copy, or exit code 8 asks it to begin again.
func TestPullModel(t *testing.T) {
	if servicetest.OnPostgres() {
		t.Skip("it restores SQLite files")
	}
	runPullModel(t, servicetest.Times(4, *pullSeeds), servicetest.NewFile)
}

// TestDumpIsRestoredInPlace pulls before and after a dump of pg_dump is restored into the database of the service. No
// change gets the revision of one that the restore lost.
func TestDumpIsRestoredInPlace(t *testing.T) {
	servicetest.NeedPostgres(t)
	m := newPullModel(t, 1, servicetest.PostgresDatabase(t))
	m.create(0)
	m.nightly(1 << 20)
	m.backUp()
	lost := m.correct(2)
	m.create(1)
	m.restore(true)
	if got := m.correct(3); got == lost {
		t.Errorf("a change has revision %s, as one before the restore", got)
	}
	m.nightly(1 << 20)
	m.compare()
}

// TestPullModelOnPostgres is TestPullModel with backups of pg_dump, in a tenth of the seeds.
func TestPullModelOnPostgres(t *testing.T) {
	servicetest.NeedPostgres(t)
	runPullModel(t, servicetest.Times(2, *pullSeeds/10), servicetest.PostgresDatabase)
}

func runPullModel(t *testing.T, seeds uint64, newDatabase func(testing.TB) string) {
	for seed := *pullFrom; seed < *pullFrom+seeds; seed++ {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newPullModel(t, seed, newDatabase(t))
			m.isFaulty = true
			for n := range *pullSteps {
				m.step(n)
			}
			m.isFaulty = false
			m.nightly(1 << 20)
			m.compare()
		})
		if !ok {
			test, _, _ := strings.Cut(t.Name(), "/")
			t.Fatalf("seed %d failed: go test ./commands -run ^%s$ -seeds 10 -seeds-from %[1]d -steps %[3]d",
				seed, test, *pullSteps)
		}
	}
}

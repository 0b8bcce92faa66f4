//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// The size of a week.
const (
	weekDesks   = 6
	weekScripts = 50
	weekDonors  = 1200
)

// week is a floor for a week, with the programs as they are.
type week struct {
	*testing.T
	clock    *weekClock
	front    *front
	url      string
	programs string // Their folder.
	operator home   // The machine of the service.
	lead     home   // That of the supervisor.
	consumer home   // That which pulls by night.
	importer home

	service *exec.Cmd // Nil while it is away.
	owner   apitype.UUID
	desks   []*weekDesk
	scripts []*weekScript
	tokens  map[string]*weekAccount

	mu       sync.Mutex
	random   *rand.Rand
	donors   map[string]*weekDonor // By uuid of the person.
	ofCall   map[string]*weekDonor
	byName   map[string]*weekDonor
	keys     []*keyPress
	letters  []letter
	hours    []hoursOfWeek
	lostOf   [2]int64 // From the backup to the restore, in the order of all that happened.
	awayOf   [2]time.Time
	feed     feedOfWeek
	gone     map[string]bool // Persons that were erased.
	refusals []refusal
	pairs    int // Donors called twice because an earlier call arrived late.
}

// weekAccount is an account of the service with its present token.
type weekAccount struct{ uuid, token string }

// weekDonor is a donor with one call or two.
type weekDonor struct {
	name     string
	id, call string // The uuids of the person and of the first call.
	number   string
	country  string
}

// luck returns a random number below n.
func (w *week) luck(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

func newWeek(t *testing.T, seed uint64) *week {
	t.Helper()
	folder := t.TempDir()
	buildWithClock(t, folder)
	w := &week{
		T:        t,
		clock:    newWeekClock(t, filepath.Join(folder, "clock"), weekDay(0, "07:00")),
		programs: folder,
		tokens:   map[string]*weekAccount{},
		random:   rand.New(rand.NewPCG(seed, 62)),
		donors:   map[string]*weekDonor{},
		ofCall:   map[string]*weekDonor{},
		byName:   map[string]*weekDonor{},
		gone:     map[string]bool{},
	}
	w.front = &front{clock: w.clock, desks: map[string]bool{}, random: rand.New(rand.NewPCG(seed, 63))}
	server := httptest.NewServer(w.front)
	t.Cleanup(server.Close)
	w.url = server.URL
	w.operator, w.lead, w.consumer, w.importer = w.machine(), w.machine(), w.machine(), w.machine()
	w.fill()
	w.startService()
	w.hire()
	return w
}

// machine returns an empty machine with the programs of this week.
func (w *week) machine() home {
	w.Helper()
	h := newHome(w.T)
	h.env = append(h.env,
		"PATH="+w.programs+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"TZ=Europe/Amsterdam",
		"FUNDESK_TEST_CLOCK="+w.clock.file,
	)
	return h
}

// fill makes the organization and its records.
func (w *week) fill() {
	w.Helper()
	w.owner = apitype.NewUUID()
	w.operator.must(w.T, "fundeskd organization add --name 'Sea Rescue' --abbreviation SR --uuid "+w.owner.String())
	file, err := os.Create(filepath.Join(w.operator.dir, "records.ndjson"))
	servicetest.Check(w.T, err)
	for n := range weekDonors {
		for _, record := range w.newDonor(n) {
			line, err := record.Encode()
			servicetest.Check(w.T, err)
			_, err = file.Write(append(line, '\n'))
			servicetest.Check(w.T, err)
		}
	}
	servicetest.Check(w.T, file.Close())
	w.operator.must(w.T, "fundeskd load records.ndjson")
	w.writeSettings(1, "09:00-21:00", "")
	w.operator.must(w.T, "fundeskd organization set "+w.owner.String()+" --settings "+w.settingsFile())
}

// newDonor returns a donor and the donor's calls. Some live in another country, and some share a number.
func (w *week) newDonor(n int) []service.LoadRecord {
	person, call := apitype.NewUUID(), apitype.NewUUID()
	d := &weekDonor{name: fmt.Sprintf("Quist%04d", n), id: person.String(), call: call.String(), country: "NL"}
	d.number = fmt.Sprintf("+3161%07d", n)
	if n%6 == 5 {
		d.country = "GB"
		d.number = fmt.Sprintf("+4477001%05d", n)
	}
	if before := w.byName[fmt.Sprintf("Quist%04d", n-6)]; before != nil && w.luck(20) == 0 {
		d.number = before.number
	}
	w.donors[d.id], w.ofCall[d.call], w.byName[d.name] = d, d, d
	at := apitype.NewTime(w.clock.now().Add(-time.Duration(48*60+n) * time.Minute))
	kind := apitype.CallHappy
	if n%3 == 0 {
		kind = apitype.CallVerification
	}
	records := []service.LoadRecord{{Kind: service.LoadPerson, Data: service.LoadedPerson{
		Person: apitype.Person{
			UUID:              person,
			PersonUUID:        person,
			CreatedAt:         at,
			FirstName:         new("Anna"),
			LastName:          new(d.name),
			MobilePhoneNumber: new(d.number),
			Email:             new(d.name + "@example.org"),
			OptInPhone:        new(true),
			Language:          new("nl"),
		},
		OwningOrganizationUUID:     w.owner,
		RecruitingOrganizationUUID: w.owner,
	}}, newCall(call, person, at, kind)}
	if n%3 == 1 {
		second := apitype.NewUUID()
		w.ofCall[second.String()] = d
		records = append(records, newCall(second, person, at, apitype.CallWinback))
	}
	return records
}

// newCall returns a call that waits.
func newCall(id, person apitype.UUID, at apitype.Time, kind apitype.CallType) service.LoadRecord {
	return service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
		UUID:          id,
		Status:        apitype.CallRequested,
		RequestedAt:   at,
		LastUpdatedAt: at,
		PersonUUID:    person,
		Type:          kind,
	}}}
}

// startService starts fundeskd behind the front.
func (w *week) startService() {
	w.Helper()
	cmd := exec.Command(w.programs+"/fundeskd", "serve", "--listen", "127.0.0.1:0", "--log-level", "warn")
	cmd.Env, cmd.Dir = w.operator.env, w.operator.dir
	log, err := os.OpenFile(w.operator.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	servicetest.Check(w.T, err)
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	servicetest.Check(w.T, err)
	servicetest.Check(w.T, cmd.Start())
	servicetest.Check(w.T, log.Close())
	w.service = cmd
	w.front.serve(nextLine(w.T, bufio.NewReader(out)))
}

// stopService ends fundeskd; until the next start it is away.
func (w *week) stopService() {
	w.Helper()
	if w.service == nil {
		return
	}
	w.front.serve("")
	_ = w.service.Process.Signal(syscall.SIGTERM)
	if err := w.service.Wait(); err != nil {
		w.Errorf("fundeskd: %v\n%s", err, w.operator.log(w.T))
	}
	w.service = nil
}

// account makes an account.
func (w *week) account(name, flags string) *weekAccount {
	w.Helper()
	line := fmt.Sprintf("fundeskd account add %s --organization %s %s -o json", name, w.owner, flags)
	var added struct{ UUID, Token string }
	servicetest.Check(w.T, json.Unmarshal([]byte(w.operator.must(w.T, line)), &added))
	a := &weekAccount{uuid: added.UUID, token: added.Token}
	w.tokens[name] = a
	return a
}

// issue gives an account a new token.
func (w *week) issue(name, flags string) {
	w.Helper()
	a := w.tokens[name]
	a.token = w.operator.must(w.T, "fundeskd token issue "+a.uuid+" "+flags)
}

// hire makes the accounts and the machines of all.
func (w *week) hire() {
	w.Helper()
	w.account("lead", "--role supervisor")
	w.account("import", "--role importer")
	w.account("consumer", "--role consumer")
	w.account("dialer", "--role agent --ttl 72h") // It ends on Thursday.
	for n := range weekDesks {
		name := fmt.Sprintf("desk%d", n)
		w.account(name, "--role agent")
		d := &weekDesk{
			week:         w,
			deskTerminal: deskTerminal{patience: weekLook},
			name:         name,
			home:         w.machine(),
			agent: w.operator.must(w.T,
				fmt.Sprintf("fundeskd user add 'Agent %d' -o json --organization %s", n, w.owner)),
		}
		d.agent = callOnScreen.FindString(d.agent)
		w.desks = append(w.desks, d)
		w.logIn(d.home, name)
		d.home.must(w.T, fmt.Sprintf("fundesk profile add work --base-url %s --agent-name 'Agent %d'", w.url, n))
	}
	for range weekScripts {
		w.scripts = append(w.scripts, &weekScript{week: w, agent: apitype.NewUUID().String()})
	}
	w.logIn(w.lead, "lead")
	w.logIn(w.importer, "import")
	w.logIn(w.consumer, "consumer")
}

// logIn stores the present token of an account on a machine.
func (w *week) logIn(h home, account string) {
	w.Helper()
	token := w.tokens[account].token
	line := "printf %s " + token + " | fundesk auth login --profile work --base-url " + w.url
	h.must(w.T, line+" --with-token --insecure-storage")
	w.front.mu.Lock()
	defer w.front.mu.Unlock()
	w.front.desks[token] = len(account) > 4 && account[:4] == "desk"
}

// send sends a request of a script, with the present token of an account.
func (w *week) send(account, method, path, body string) (int, string) {
	w.mu.Lock()
	token := w.tokens[account].token
	w.mu.Unlock()
	return sendOnce(w.T, method, w.url+path, token, body)
}

var weekClient = http.Client{Timeout: patience}

package outbox

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

var (
	thirdSeeds = flag.Uint64("third-seeds", 200, "seeds of TestThirdWriter; by night 5000")
	thirdFrom  = flag.Uint64("third-from", 0, "first seed of TestThirdWriter")
	thirdSteps = flag.Int("third-steps", 12, "steps of each seed of TestThirdWriter; by night 60")
)

// No entry takes effect twice, undoes a change that another writer made after it, or is reported as accepted
// without having been done: whatever requests are lost, late or repeated by a program that starts again, on
// records of the service and of another system.
func TestThirdWriter(t *testing.T) {
	t.Parallel()
	for seed := *thirdFrom; seed < *thirdFrom+servicetest.Times(8, *thirdSeeds); seed++ {
		w := newThirdWriter(t, seed)
		for range *thirdSteps {
			w.step()
		}
		w.settle()
		if len(w.broken) > 0 {
			t.Fatalf("seed %d: %s\n%s", seed, strings.Join(w.broken, "; "), strings.Join(w.history, "\n"))
		}
	}
}

// thirdWriter is an outbox on a bad line, and another writer of the same records.
type thirdWriter struct {
	*testing.T
	h      *servicetest.Harness
	random *rand.Rand
	token  string
	line   *badLine
	box    *Outbox
	sender *Sender
	start  func()

	person       apitype.UUID
	calls        []apitype.UUID // Of the service and of another system.
	pledges      []apitype.UUID // The same.
	emails       int
	firstEmail   string
	theirs       map[string]int    // How often the other writer changed a record.
	effects      map[string]int    // How often an entry changed its record, by path and body.
	theirsAtDone map[string]int    // What theirs was when the entry took effect.
	shownAtEntry map[string]string // The record when the entry was made.
	broken       []string
	history      []string
}

func newThirdWriter(t *testing.T, seed uint64) *thirdWriter {
	t.Helper()
	w := &thirdWriter{
		T:            t,
		h:            servicetest.New(t),
		random:       rand.New(rand.NewPCG(seed, 5)),
		theirs:       map[string]int{},
		effects:      map[string]int{},
		theirsAtDone: map[string]int{},
		shownAtEntry: map[string]string{},
		firstEmail:   "first@example.org",
	}
	// Other tests hold each answer against openapi.json: this one asks too often for that.
	w.h.Handler = httpapi.New(httpapi.Options{Service: w.h.Service, Now: w.h.Clock.Now})
	w.token = w.h.Token()
	w.load()
	w.line = &badLine{w: w}
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   w.h.URL,
		Token:     func(context.Context) (string, error) { return w.token, nil },
		Transport: w.line,
		Now:       w.h.Clock.Now,
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(t, err)
	account, err := client.Identity(t.Context())
	servicetest.Check(t, err)
	folder := folderInMemory(t)
	w.start = func() {
		w.box, err = Open(folder, Options{BaseURL: w.h.URL, Account: account, Now: w.h.Clock.Now})
		servicetest.Check(t, err)
		w.sender = w.box.Sender(client, SenderOptions{InFlight: 1}) // So that a seed repeats the same run.
	}
	w.start()
	return w
}

// folderInMemory returns a folder whose files need no flush to a disk, if the system has one. Other tests cover power
// cuts.
func folderInMemory(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "fundesk-outbox-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { servicetest.Check(t, os.RemoveAll(folder)) })
	return folder
}

// load makes a person with a call and a pledge of the service, and with ones of another system.
func (w *thirdWriter) load() {
	w.Helper()
	owner := w.h.Organization("A")
	person, call, pledge := w.h.LoadForChanges(owner)
	externalCall, externalPledge := apitype.NewUUID(), apitype.NewUUID()
	at := apitype.NewTime(servicetest.Start.Add(-24 * time.Hour))
	var loadedPledge service.LoadedPledge
	loadedPledge.Pledge = apitype.Pledge{
		UUID:                       externalPledge,
		Status:                     apitype.PledgeLead,
		StartsAt:                   at,
		CreatedAt:                  at,
		UpdatedAt:                  at,
		Person:                     apitype.Embed(apitype.Person{UUID: person}),
		OwningOrganizationUUID:     owner,
		RecruitingOrganizationUUID: owner,
		RecruiterUserUUID:          person,
		InitialDonationAmount:      apitype.Cents(1250),
		DonationAmount:             apitype.Cents(1250),
		InitialDonationInterval:    "monthly",
		DonationInterval:           "monthly",
		ExternalSource:             apitype.Embed(apitype.ExternalSource{Name: "crm", Identifier: "7"}),
	}
	var loadedCall service.LoadedCall
	loadedCall.Call = apitype.Call{
		UUID:          externalCall,
		Status:        apitype.CallRequested,
		RequestedAt:   at,
		LastUpdatedAt: at,
		PersonUUID:    person,
		Type:          apitype.CallVerification,
		ExternalMetadata: apitype.Embed(apitype.CallExternalMetadata{
			ApplicationName: new("crm"),
			ReferenceID:     new("7"),
		}),
	}
	w.h.Load(service.LoadRecord{Kind: service.LoadPledge, Data: loadedPledge}, service.LoadRecord{
		Kind: service.LoadCall,
		Data: loadedCall,
	})
	w.person = person
	w.calls = []apitype.UUID{call, externalCall}
	w.pledges = []apitype.UUID{pledge, externalPledge}
	w.h.Do(w.token, http.MethodPut, w.updatePath(), `{"email":"`+w.firstEmail+`"}`)
}

func (w *thirdWriter) updatePath() string {
	return "/api/v1/persons/" + w.person.String() + "/actions/update"
}

func pick[T any](w *thirdWriter, values ...T) T { return values[w.random.IntN(len(values))] }

func (w *thirdWriter) note(format string, args ...any) {
	w.history = append(w.history, w.h.Clock.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (w *thirdWriter) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.note("BROKEN: %s", text)
	w.broken = append(w.broken, text)
}

// state returns the fields of a record that the changes touch, by the path of the change.
func (w *thirdWriter) state(path string) string {
	parts := strings.Split(path, "/") // /api/v1/NOUN/UUID/…
	var record map[string]any
	w.h.Do(w.token, http.MethodGet, strings.Join(parts[:5], "/"), "").Decode(&record)
	return fmt.Sprint(record["status"], " ", record["attemptsCount"], " ", record["email"])
}

func idIn(path string) string { return strings.Split(path, "/")[4] }

// step does one random thing.
func (w *thirdWriter) step() {
	w.h.Clock.Advance(time.Duration(1+w.random.IntN(900)) * time.Millisecond) // No two changes have the same time.
	switch w.random.IntN(9) {
	case 0:
		w.addAction()
	case 1:
		w.add(apiclient.AddAttemptChange(pick(w, w.calls...), apitype.AddAttemptRequest{AttemptAt: w.now()}))
	case 2:
		w.addMove()
	case 3:
		w.addUpdate()
	case 4:
		w.other()
	case 5:
		w.h.Clock.Advance(time.Duration(w.random.IntN(20)) * time.Second)
	case 6:
		w.start()
	default:
		w.h.Clock.Advance(time.Duration(w.random.IntN(5)) * time.Second)
		w.line.deliverLate(false)
		_, err := w.sender.SendDue(w.Context())
		servicetest.Check(w, err)
	}
	w.line.deliverLate(false)
}

// settle mends the line, sends what waits, and compares the outcomes with what was done.
func (w *thirdWriter) settle() {
	w.line.deliverLate(true)
	w.line.isMended = true
	for range 6 {
		w.h.Clock.Advance(time.Minute)
		_, err := w.sender.SendDue(w.Context())
		servicetest.Check(w, err)
	}
	endings, err := w.box.Endings()
	servicetest.Check(w, err)
	for _, e := range endings {
		path := "/api/v1/calls/" + e.UUID.String() + "/actions/add-attempt"
		isAttempt := e.Op == apiclient.OpAddAttempt && e.Outcome == OutcomeAccepted
		if isAttempt && w.effects[path+" "+string(e.Attempt)] == 0 {
			w.fail("an attempt is reported as accepted and was never done")
		}
	}
}

func (w *thirdWriter) now() *apitype.Time { return new(apitype.NewTime(w.h.Clock.Now())) }

// add puts a change into the outbox.
func (w *thirdWriter) add(ch apiclient.Change, err error) {
	servicetest.Check(w, err)
	_, err = w.box.Add(Entry{Change: ch})
	servicetest.Check(w, err)
	key := ch.Path + " " + string(ch.Body)
	if _, isKnown := w.shownAtEntry[key]; !isKnown {
		w.shownAtEntry[key] = w.state(ch.Path)
	}
	w.note("entry %s %s", ch.Path, ch.Body)
}

func (w *thirdWriter) addAction() {
	pledge := pick(w, w.pledges...)
	var shown apitype.Pledge
	w.h.Do(w.token, http.MethodGet, "/api/v1/pledges/"+pledge.String(), "").Decode(&shown)
	ch := apiclient.PledgeActionChange(pledge, pick(w, apitype.ActionActivate, apitype.ActionCancel), shown.Status)
	if _, isKnown := w.shownAtEntry[ch.Path+" "]; !isKnown { // Two entries with the same request look alike here.
		w.add(ch, nil)
	}
}

func (w *thirdWriter) addMove() {
	call := pick(w, w.calls...)
	switch w.random.IntN(3) {
	case 0:
		result := &apitype.CallResultRequest{CompletedAt: w.now(), ResultCode: new("x")}
		w.add(apiclient.CompleteCallChange(call, apitype.CompleteCallRequest{Result: result}))
	case 1:
		w.add(apiclient.CancelCallChange(call, apitype.CancelCallRequest{CancelledAt: w.now()}))
	case 2:
		w.add(apiclient.ExpireCallChange(call, apitype.ExpireCallRequest{ExpiredAt: w.now()}))
	}
}

func (w *thirdWriter) addUpdate() {
	w.emails++
	email := fmt.Sprintf("mine%d@example.org", w.emails)
	ch, err := apiclient.UpdatePersonChange(w.person, apitype.UpdatePersonRequest{Email: apitype.Set(email)})
	var shown map[string]any
	w.h.Do(w.token, http.MethodGet, "/api/v1/persons/"+w.person.String(), "").Decode(&shown)
	ch.Seen = apiclient.SeenOf(ch, shown)
	w.add(ch, err)
}

// other changes a record as another writer, sometimes back to an earlier value.
func (w *thirdWriter) other() {
	path, body := w.updatePath(), `{"email":"`+w.firstEmail+`"}`
	switch w.random.IntN(4) {
	case 0:
		action := pick(w, "activate", "cancel", "drop")
		path, body = "/api/v1/pledges/"+pick(w, w.pledges...).String()+"/actions/"+action, "{}"
	case 1:
		move := pick(w, "complete", "cancel", "expire")
		path, body = "/api/v1/calls/"+w.calls[1].String()+"/actions/"+move, "{}"
	case 2:
		body = fmt.Sprintf(`{"email":"theirs%d@example.org"}`, w.random.IntN(1000))
	}
	before := w.state(path)
	answer := w.h.Do(w.token, http.MethodPut, path, body)
	if after := w.state(path); answer.Status/100 == 2 && after != before {
		w.theirs[idIn(path)]++
		w.note("other %s %s: %s -> %s", path, body, before, after)
	}
}

// done checks what a request of an entry did.
func (w *thirdWriter) done(path, body, before, after string) {
	key, id := path+" "+body, idIn(path)
	isChanged := before != after
	isRepeat := isChanged && w.effects[key] > 0
	w.note("done %s: %s -> %s", key, before, after)
	if isRepeat && w.theirs[id] > w.theirsAtDone[key] {
		w.fail("%s undid a change that was made after it", path)
	} else if isRepeat {
		w.fail("%s took effect twice", path)
	}
	isUpdate := strings.HasSuffix(path, "/update")
	if isUpdate && isChanged && w.effects[key] == 0 && before != w.shownAtEntry[key] {
		w.fail("%s overwrote a value that was not shown", path)
	}
	if isChanged || w.effects[key] == 0 {
		w.effects[key]++
		w.theirsAtDone[key] = w.theirs[id]
	}
}

// badLine loses requests before or after they are done, and delivers some late.
type badLine struct {
	w        *thirdWriter
	isMended bool
	late     []lateRequest
}

type lateRequest struct {
	request *http.Request
	body    []byte
	at      time.Time
}

var errReset = errors.New("connection reset by peer")

// RoundTrip implements http.RoundTripper.
func (l *badLine) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	if l.isMended {
		return l.deliver(r, body)
	}
	isLate := false
	switch l.w.random.IntN(7) {
	case 0:
		return nil, errReset
	case 1:
		answer, err := l.deliver(r, body)
		if err != nil {
			return nil, err
		}
		return nil, errors.Join(errReset, answer.Body.Close())
	case 2:
		isLate = r.Method == http.MethodPut && l.w.random.IntN(2) == 0
	}
	if isLate {
		l.late = append(l.late, lateRequest{r.Clone(context.WithoutCancel(r.Context())), body, l.w.h.Clock.Now()})
		return nil, errReset
	}
	return l.deliver(r, body)
}

func (l *badLine) deliver(r *http.Request, body []byte) (*http.Response, error) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method == http.MethodGet {
		return l.w.h.Transport().RoundTrip(r)
	}
	before := l.w.state(r.URL.Path)
	answer, err := l.w.h.Transport().RoundTrip(r)
	if err == nil && answer.StatusCode/100 == 2 {
		l.w.done(r.URL.Path, string(body), before, l.w.state(r.URL.Path))
	}
	return answer, err
}

// deliverLate delivers some of the late requests, and all that are 8 seconds late: within the outbox's patience.
func (l *badLine) deliverLate(all bool) {
	waiting := l.late
	l.late = nil
	for _, r := range waiting {
		isDue := l.w.h.Clock.Now().Sub(r.at) >= 8*time.Second
		if !all && !isDue && l.w.random.IntN(3) > 0 {
			l.late = append(l.late, r)
			continue
		}
		if answer, err := l.deliver(r.request, r.body); err == nil {
			_ = answer.Body.Close()
		}
	}
}

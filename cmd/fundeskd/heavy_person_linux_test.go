package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

const (
	heavyWaiting  = 60
	anonymousMost = 256 << 20 // Bytes of memory of the program's own, whatever is asked of it.
)

// heavyCalls returns how many calls a heavy person has: 29 MB of them exceed each batch and what one account may
// have in memory, and 135 MB what there is.
func heavyCalls() int { return inShort(130, 601) }

// heavyPerson is a service with one person with many calls. Each is as large as a call with one attempt may be: about
// 225 kB.
type heavyPerson struct {
	environment
	person, call  string // Of the calls, one.
	pledge        string // Of all these calls.
	waiting       []string
	lease, ended  string // Leases: a live one, and another.
	token, others string
	organization  string
	note          string
	running       child
}

func newHeavyPerson(t *testing.T) *heavyPerson {
	t.Helper()
	if servicetest.IsRaced {
		t.Skip("memory and time are measured without -race")
	}
	if !*long { // Only memory is measured.
		t.Parallel()
	}
	h := &heavyPerson{
		environment: newEnvironment(t),
		person:      apitype.NewUUID().String(),
		note:        strings.Repeat("😀", 20_000),
	}
	var organization, officer, others struct{ UUID, Token string }
	h.must(&organization, "organization add --name A --abbreviation A")
	h.must(
		&officer,
		"account add officer --all-organizations --permission persons:erase --permission persons:read --permission calls:read",
	)
	h.pledge = apitype.NewUUID().String()
	h.must(&others, "account add others --all-organizations")
	h.token, h.others, h.organization = officer.Token, others.Token, organization.UUID
	var lines strings.Builder
	fmt.Fprintf(&lines, `{"kind":"person","data":{"uuid":%q,"createdAt":"2026-01-01","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}}`+"\n", h.person, organization.UUID, organization.UUID)
	metadata := fmt.Sprintf(`{"applicationName":"d","referenceId":"r","agentReferenceId":"a","statusCode":"s","statusDescription":"d","additionalProperties":{"x":%q}}`, strings.Repeat("x", 61<<10))
	fmt.Fprintf(&lines,
		`{"kind":"pledge","data":{"uuid":%q,"personUuid":%q,"status":"active","createdAt":"2026-01-01","startsAt":"2026-01-01","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"initialDonationAmount":10,"donationAmount":10,"initialDonationInterval":"monthly","donationInterval":"monthly","recruiterUserUuid":%q}}`+"\n",
		h.pledge, h.person, organization.UUID, organization.UUID, apitype.NewUUID())
	for i := range heavyWaiting { // Calls that wait, each of a person of its own.
		person, call := apitype.NewUUID(), apitype.NewUUID().String()
		h.waiting = append(h.waiting, call)
		fmt.Fprintf(&lines, `{"kind":"person","data":{"uuid":%q,"createdAt":"2026-01-02","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}}`+"\n", person, organization.UUID, organization.UUID)
		fmt.Fprintf(&lines,
			`{"kind":"call","data":{"uuid":%q,"personUuid":%q,"status":"requested","type":%q,"requestedAt":%q,"notes":%q}}`+"\n",
			call, person, []string{"verification", "winback"}[i%2], apitype.NewTime(
				time.Now().Add(-time.Duration(i+1)*time.Hour),
			), h.note)
	}
	for i := range heavyCalls() {
		h.call = apitype.NewUUID().String()
		fmt.Fprintf(&lines,
			`{"kind":"call","data":{"uuid":%q,"personUuid":%q,"relatedCaseUuid":%q,"status":"completed","type":"verification","requestedAt":%q,"completedAt":"2026-02-01","attempts":[{"userUuid":null,"attemptAt":"2026-01-01","createdAt":"2026-01-01"}],"notes":%q,"result":{"resultCode":"reached","completedAt":"2026-02-01","notes":%q},"externalMetadata":%s}}`+"\n",
			h.call, h.person, h.pledge, apitype.NewTime(
				time.Now().Add(-time.Duration(i)*time.Minute),
			), h.note, h.note, metadata)
	}
	h.reading(lines.String()).done("load -")
	h.running = h.child()
	return h
}

// anonymous returns the most memory of its own that a process was seen to have, in bytes, when it is asked.
func anonymous(pid int) func() int64 {
	stop, done := make(chan struct{}), make(chan int64, 1)
	go func() {
		peak, look := int64(0), time.NewTicker(5*time.Millisecond)
		defer look.Stop()
		for {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, after, _ := strings.Cut(string(status), "RssAnon:")
			var kilobytes int64
			if _, err := fmt.Sscanf(after, "%d kB", &kilobytes); err == nil {
				peak = max(peak, kilobytes<<10)
			}
			select {
			case <-stop:
				done <- peak
				return
			case <-look.C:
			}
		}
	}()
	return func() int64 { close(stop); return <-done }
}

// export returns how many calls an export has, and whether it is a whole JSON object with their notes.
func (h *heavyPerson) export(t *testing.T) (status, calls int) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		h.running.url+"/fundesk/v1/persons/"+h.person+"/export", nil)
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("got %d %.200s %v, want the export", response.StatusCode, body, err)
	}
	if response.StatusCode == http.StatusOK && !json.Valid(body) {
		t.Error("the export is not JSON")
	}
	return response.StatusCode, bytes.Count(body, []byte(`"notAnswered"`)) - 2 // And the person's, and the pledge's.
}

// audited counts the lines of the audit of an operation on the person.
func (h *heavyPerson) audited(operation string) int {
	h.t.Helper()
	_, out, _ := h.environment.run("audit list --person", h.person, "-o", "ndjson")
	return strings.Count(out, `"`+operation+`"`)
}

// beside creates persons as another account until stop, which returns the time of each.
func (h *heavyPerson) beside(t *testing.T) func() []time.Duration {
	var group sync.WaitGroup
	var stopped atomic.Bool
	var took []time.Duration
	body := fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, h.organization, h.organization)
	client := clientOf(1)
	group.Go(func() {
		for !stopped.Load() {
			begun := time.Now()
			status, _, answer, err := request(context.WithoutCancel(t.Context()), client, http.MethodPost,
				h.running.url+"/api/v1/persons", h.others, body)
			if err != nil || status != http.StatusCreated {
				t.Errorf("a creation: got %d %s %v", status, answer, err)
				return
			}
			took = append(took, time.Since(begun))
		}
	})
	return func() []time.Duration { stopped.Store(true); group.Wait(); return took }
}

// TestExportOfManyCalls exports a person with documents of 29 MB, or 135 MB by night, once, and four times at once,
// within the memory limit. A refusal leaves no line in the audit.
func TestExportOfManyCalls(t *testing.T) {
	servicetest.Slow(t)
	h := newHeavyPerson(t)
	for _, atOnce := range []int{1, 4} {
		most := anonymous(h.running.command.Process.Pid)
		before := h.audited("person.export")
		var group sync.WaitGroup
		for range atOnce {
			group.Go(func() {
				if status, calls := h.export(t); status != http.StatusOK || calls != heavyCalls() {
					t.Errorf("%d at once: got %d with %d calls, want 200 with %d", atOnce, status, calls, heavyCalls())
				}
			})
		}
		group.Wait()
		peak := most()
		t.Logf("%d at once: %d MB of its own", atOnce, peak>>20)
		if peak > anonymousMost {
			t.Errorf("%d at once: got %d MB, want %d at most", atOnce, peak>>20, anonymousMost>>20)
		}
		servicetest.Same(t, "lines of exports", atOnce, h.audited("person.export")-before)
	}
	h.environment.ended(h.running)
}

// TestErasureOfManyCalls erases a person with many large calls while another account creates persons, which do
// not wait for its end. From the moment when the person is gone, no answer shows a note of theirs.
func TestErasureOfManyCalls(t *testing.T) {
	servicetest.Slow(t)
	h := newHeavyPerson(t)
	stop := h.beside(t)
	time.Sleep(inShort(time.Millisecond, time.Second)) // What is measured, not waited for.
	alone := stop()
	most := anonymous(h.running.command.Process.Pid)
	stop = h.beside(t)
	erased := make(chan string, 1)
	go func() {
		status, _, answer, err := request(context.WithoutCancel(t.Context()), http.DefaultClient, http.MethodPost,
			h.running.url+"/fundesk/v1/persons/"+h.person+"/erase", h.token, `{"reason":"r"}`)
		erased <- fmt.Sprint(status, " ", string(answer), " ", err)
	}()
	begun, shown := time.Now(), 0
	var answer string
	for answer == "" {
		status, _ := get(t, http.DefaultClient, h.running.url+"/api/v1/persons/"+h.person, h.token)
		_, call := get(t, http.DefaultClient, h.running.url+"/api/v1/calls/"+h.call, h.token)
		_, page := get(t, http.DefaultClient, h.running.url+"/api/v1/calls?last=10&personUuid="+h.person, h.token)
		if status == http.StatusNotFound && (strings.Contains(call, "😀") || strings.Contains(page, "😀")) {
			t.Error("the person is erased, and a note is shown")
		} else if status == http.StatusNotFound {
			shown++
		}
		select {
		case answer = <-erased:
		default:
		}
	}
	took := time.Since(begun)
	during, peak := stop(), most()
	if !strings.HasPrefix(answer, `200 {`) || !strings.Contains(answer, fmt.Sprintf(`"calls":%d`, heavyCalls())) {
		t.Errorf("got %s, want the erasure", answer)
	}
	slices.Sort(alone)
	slices.Sort(during)
	t.Logf("the erasure took %v; creations alone %v, beside it %v, %v at most; %d MB of its own; %d looks",
		took, alone[len(alone)/2], during[len(during)/2], during[len(during)-1], peak>>20, shown)
	if peak > anonymousMost {
		t.Errorf("got %d MB, want %d at most", peak>>20, anonymousMost>>20)
	}
	if len(during) < 5 {
		t.Errorf("got %d creations during the erasure, want some: they do not wait for it", len(during))
	}
	if slowest := during[len(during)-1]; *soakP99 > 0 && slowest > time.Second {
		t.Errorf("a creation took %v beside the erasure", slowest)
	}
	if *soakP99 > 0 && during[len(during)/2] > 2*alone[len(alone)/2] {
		t.Errorf("creations took %v beside the erasure, want twice %v at most",
			during[len(during)/2], alone[len(alone)/2])
	}
	h.environment.ended(h.running)
}

// TestErasureCutShort kills the program in the middle of an erasure, when the first notes are gone: the program goes on
// with it when it starts again.
func TestErasureCutShort(t *testing.T) {
	servicetest.Slow(t)
	h := newHeavyPerson(t)
	go func() {
		_, _, _, _ = request(context.WithoutCancel(t.Context()), http.DefaultClient, http.MethodPost,
			h.running.url+"/fundesk/v1/persons/"+h.person+"/erase", h.token, `{"reason":"r"}`)
	}()
	all := h.left(t)
	for h.left(t) > all-3 { // The plan is one more.
	}
	servicetest.Check(t, h.running.command.Process.Signal(syscall.SIGKILL))
	_ = h.running.command.Wait()
	if h.left(t) == 0 {
		t.Error("the erasure was complete before it was cut short")
	}
	h.running = h.child()
	for begun := time.Now(); h.left(t) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("%d calls are not erased a minute after the start", h.left(t))
		}
	}
	replies(t, h.running.url+"/api/v1/persons/"+h.person, h.token, http.StatusNotFound)
	h.environment.ended(h.running)
	h.environment.try("person erase", h.person, "--reason", "r", "--yes").Ends(exitDone)
	servicetest.Same(t, "lines of erasures", 1, h.audited("person.erase"))
}

func filepathOf(e environment) string { return filepath.Join(e.folder, "fundeskd.db") }

// left counts the calls that are not blanked, and the erasures that are not finished.
func (h *heavyPerson) left(t *testing.T) int {
	t.Helper()
	driver, source := "sqlite", filepathOf(h.environment)
	if h.database != "" {
		driver, source = "pgx", h.database
	}
	db, err := sql.Open(driver, source)
	servicetest.Check(t, err)
	defer func() { _ = db.Close() }()
	var left int
	servicetest.Check(
		t,
		db.QueryRowContext(
			t.Context(),
			`SELECT (SELECT COUNT(*) FROM calls WHERE LENGTH(doc) > 100000) + (SELECT COUNT(*) FROM settings WHERE name LIKE 'erasing-%')`,
		).Scan(&left),
	)
	return left
}

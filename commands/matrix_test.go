package commands

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

var matrixLong = flag.Bool("matrix", false, "every changing command through every variant of every fault, in place of each command and each fault once")

// changingCommand is a command that changes something, and how often its change shows.
type changingCommand struct {
	name  string
	line  string // With $PERSON, $CALL, $PLEDGE, $NEW and $OWNER.
	shows string // Path of the record that tells; "": the marks that went out.
	count func(record map[string]any) int
}

func is(name string, want any) func(map[string]any) int {
	return func(record map[string]any) int {
		if record[name] == want {
			return 1
		}
		return 0
	}
}

func changingCommands() []changingCommand {
	const creation = " --uuid $NEW --owning-organization $OWNER --recruiting-organization $OWNER "
	return []changingCommand{
		{"create person", "person create" + creation + "--email new@example.org", "persons/$NEW", is("email", "new@example.org")},
		{"create call", "call create --uuid $NEW --person $PERSON --requested-at 2026-11-20T09:00:00Z --type winback", "calls/$NEW", is("type", "winback")},
		{"create pledge", "pledge create --person $PERSON --created-at 2026-11-20T09:00:00Z --initial-donation-interval monthly --initial-donation-amount 7" +
			" --recruiter-user $PERSON --starts-at 2026-11-20T09:00:00Z" + creation, "pledges/$NEW", is("donationInterval", "monthly")},
		{"update person", "person update $PERSON --email changed@example.org", "persons/$PERSON", is("email", "changed@example.org")},
		{"update pledge", "pledge update $PLEDGE --donation-amount 43.21", "pledges/$PLEDGE", is("donationAmount", 43.21)},
		{"attempt", "call attempt $CALL --attempted-at 2026-11-20T09:00:00Z", "calls/$CALL", func(record map[string]any) int {
			attempts, _ := record["attempts"].([]any)
			return len(attempts)
		}},
		{"complete", "call complete $CALL --result-code reached --notes precious", "calls/$CALL", func(record map[string]any) int {
			result, _ := record["result"].(map[string]any)
			return is("notes", "precious")(result)
		}},
		{"cancel", "call cancel $CALL --yes", "calls/$CALL", is("status", "cancelled")},
		{"expire", "call expire $CALL --yes", "calls/$CALL", is("status", "expired")},
		{"action", "pledge action cancel $PLEDGE --yes", "pledges/$PLEDGE", is("status", "cancelled")},
		{"mark processed", "processed mark call $CALL", "", nil},
	}
}

// The faults that the harness leaves to others.
const (
	faultNeverSent  servicetest.Fault = "never sent"
	faultLimited    servicetest.Fault = "429 once"
	faultAllLimited servicetest.Fault = "429 for ever"
)

// Every change through every fault ends with its effect applied exactly once, or with an
// exit code and a message that say what is known. What is said to be in the outbox takes effect
// exactly once in the end.
func TestChangesThroughEveryFault(t *testing.T) {
	t.Parallel()
	h := plain(t)
	owner, token := h.Organization("Sea Rescue"), h.Token()
	variants := 1
	if *matrixLong {
		variants = 8
	}
	all, faults := changingCommands(), append([]servicetest.Fault{faultNeverSent, faultLimited, faultAllLimited}, servicetest.Faults...)
	for i, command := range all {
		for j, fault := range faults {
			if !*matrixLong && j%len(all) != i && i%len(faults) != j { // The outbox and what settles an outcome are tested with every pair.
				continue
			}
			for v := range variants {
				t.Run(fmt.Sprintf("%s/%s/%d", command.name, fault, v), func(t *testing.T) {
					t.Parallel()
					c := &faultCase{T: t, service: h, token: token, owner: owner, command: command, fault: fault}
					c.play(i + j + v)
				})
				if fault == faultNeverSent || fault == faultAllLimited {
					continue // It waits as long as that lasts.
				}
				t.Run(fmt.Sprintf("%s/%s/%d/outbox", command.name, fault, v), func(t *testing.T) {
					t.Parallel()
					c := &faultCase{T: t, service: h, token: token, owner: owner, command: command, fault: fault, isQueued: true}
					c.play(i + j + v)
				})
			}
		}
	}
}

// plain starts the service without holding each answer against openapi.json: tests of
// thousands of requests have no time for it, and others do it.
func plain(t *testing.T) *servicetest.Harness {
	t.Helper()
	h := servicetest.New(t)
	h.Handler = httpapi.New(httpapi.Options{Service: h.Service, Now: h.Clock.Now})
	server := httptest.NewServer(h.Handler)
	t.Cleanup(server.Close)
	h.URL = server.URL
	return h
}

// faultCase is one command and one fault, with records of its own.
type faultCase struct {
	*testing.T
	service *servicetest.Harness
	token   string
	owner   apitype.UUID
	command changingCommand
	fault   servicetest.Fault
	names   *strings.Replacer

	isQueued bool // It goes through the outbox.
}

func (c *faultCase) play(variant int) {
	c.load()
	faulty := &servicetest.Faulty{Inner: c.service.Handler}
	var limited atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isChange := r.Method != http.MethodGet
		if isChange && (c.fault == faultAllLimited || c.fault == faultLimited && limited.Add(1) == 1) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		}
		faulty.ServeHTTP(w, r)
	}))
	defer server.Close()
	faulty.Kill = server.CloseClientConnections
	faulty.Arm(c.fault, variant)
	url := server.URL
	if c.fault == faultNeverSent {
		url = "http://127.0.0.1:1"
	}
	environment := map[string]string{"HOME": c.TempDir(), "FUNDESK_BASE_URL": url, "FUNDESK_TOKEN": c.token}
	timeout := "1m"
	if c.fault == servicetest.FaultDelayed || c.fault == servicetest.FaultDrip {
		timeout = "2s" // Not less: a busy machine needs as much for an honest answer.
	}
	var late time.Duration // By how much the clock is ahead.
	run := func(line string) (said string, code int) {
		var stdout, stderr bytes.Buffer
		app := hasty(appOf(environment, strings.NewReader(""), &stdout, &stderr))
		app.Now = func() time.Time { return time.Now().Add(late) }
		code = Run(c.Context(), append(strings.Fields(c.names.Replace(line)), "--timeout", timeout), app)
		return stderr.String(), code
	}
	if !c.isQueued {
		said, code := run(c.command.line)
		before := c.effects(faulty)
		faulty.DeliverLate()
		c.judge(code, said, before, c.effects(faulty))
		return
	}
	said, code := run(c.command.line + " --outbox")
	if c.fault == servicetest.FaultRefused {
		if code != 7 || !strings.Contains(said, "not today") {
			c.Errorf("got exit %d, want 7 with the reason:\n%s", code, said)
		}
		return
	}
	faulty.DeliverLate()
	for range 5 { // What must not be done twice waits until it can no longer arrive.
		if code == 10 {
			late += time.Minute
			said, code = run("outbox send")
		}
	}
	// The caller chose the uuid of a creation: somebody else may have done so too. It is there once.
	isTaken := code == 6 && strings.Contains(c.command.line, "$NEW") && c.fault == servicetest.FaultDuplicated
	most := 1
	if c.command.shows == "" || c.command.name == "attempt" && c.fault == servicetest.FaultDuplicated {
		most = 2 // Spec gap: C4. Marks may be repeated.
	}
	if n := c.effects(faulty); code != 0 && !isTaken || n < 1 || n > most {
		c.Errorf("got exit %d with %d effects, want the change done:\n%s", code, n, said)
	}
}

// judge holds the outcome to what was said: before and after are the effects when the
// command ended, and when nothing can arrive any more.
func (c *faultCase) judge(code int, said string, before, after int) {
	c.Helper()
	most := 1
	if c.command.name == "attempt" && c.fault == servicetest.FaultDuplicated {
		most = 2 // Attempts are never recognised as repeats, whoever repeats them. Spec gap: C4.
	}
	if c.command.shows == "" {
		most = 2 // Marks may be repeated.
	}
	isCreate := strings.Contains(c.command.line, "$NEW")
	switch code {
	case 0:
		if before < 1 || after > most {
			c.Errorf("got exit 0 with %d and then %d effects, want the change exactly once", before, after)
		}
	case 6: // The caller chose the uuid: somebody else may have done so too.
		if !isCreate || c.fault != servicetest.FaultDuplicated || after != 1 {
			c.Errorf("got exit 6 with %d effects:\n%s", after, said)
		}
	case 7:
		if c.fault != servicetest.FaultRefused || after != 0 || !strings.Contains(said, "not today") {
			c.Errorf("got exit 7 with %d effects, want a refusal with its reason:\n%s", after, said)
		}
	case 8:
		certain := c.fault == faultNeverSent || c.fault == faultAllLimited || c.fault == servicetest.FaultRedirect
		if !certain || after != 0 {
			c.Errorf("got exit 8 with %d effects, want it for what was surely not applied:\n%s", after, said)
		}
	case 10:
		if c.fault == faultLimited || after > most || !strings.Contains(said, "unknown") || !strings.Contains(said, "hint: ") {
			c.Errorf("got exit 10 with %d effects, want a doubt that is told:\n%s", after, said)
		}
		if recognised := c.command.name != "attempt" && c.command.name != "action"; recognised { // A repeat of them may add up.
			c.Errorf("got exit 10 for a change that can be recognised:\n%s", said)
		}
	default:
		c.Errorf("got exit %d:\n%s", code, said)
	}
	if want := map[servicetest.Fault]int{faultNeverSent: 8, faultAllLimited: 8, faultLimited: 0, servicetest.FaultRefused: 7, servicetest.FaultRedirect: 8, servicetest.Fault503: 0, servicetest.FaultResetAfter: 0}; code != want[c.fault] {
		if _, fixed := want[c.fault]; fixed {
			c.Errorf("got exit %d, want %d:\n%s", code, want[c.fault], said)
		}
	}
}

func (c *faultCase) effects(faulty *servicetest.Faulty) int {
	if c.command.shows == "" {
		return faulty.Applied()
	}
	answer := c.service.Do(c.token, http.MethodGet, "/api/v1/"+c.names.Replace(c.command.shows), "")
	if answer.Status != http.StatusOK {
		return 0
	}
	return c.command.count(answer.Object())
}

// load makes the records of the case.
func (c *faultCase) load() {
	person, call, pledge := c.service.LoadForChanges(c.owner)
	c.names = strings.NewReplacer("$PERSON", person.String(), "$CALL", call.String(), "$PLEDGE", pledge.String(),
		"$NEW", apitype.NewUUID().String(), "$OWNER", c.owner.String())
}

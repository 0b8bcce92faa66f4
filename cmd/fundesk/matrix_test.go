package main

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

var (
	matrixLong  = flag.Bool("matrix", false, "every changing command through every fault, in place of each command and each fault once")
	matrixSeeds = flag.Int("seeds", 1, "how many variants of each fault are tried with each command")
)

// queuedCommand is a changing command, and how often its change shows afterwards.
type queuedCommand struct {
	name    string
	line    string // With $PERSON, $CALL, $PLEDGE, $NEW and $OWNER.
	shows   string // Path of the record that tells.
	effects func(record map[string]any) int
}

func field(name string, want any) func(map[string]any) int {
	return func(record map[string]any) int {
		if record[name] == want {
			return 1
		}
		return 0
	}
}

func queuedCommands() []queuedCommand {
	const person, call, pledge, created = "persons/$PERSON", "calls/$CALL", "pledges/$PLEDGE", "/$NEW"
	return []queuedCommand{
		{"complete", "call complete $CALL --result-code reached --notes precious", call, func(record map[string]any) int {
			result, _ := record["result"].(map[string]any)
			return field("notes", "precious")(result)
		}},
		{"attempt", "call attempt $CALL --attempted-at 2026-11-20T09:00:00Z", call, func(record map[string]any) int {
			attempts, _ := record["attempts"].([]any)
			return len(attempts)
		}},
		{"cancel", "call cancel $CALL --yes", call, field("status", "cancelled")},
		{"expire", "call expire $CALL --yes", call, field("status", "expired")},
		{"call create", "call create --uuid $NEW --person $PERSON --requested-at 2026-11-20T09:00:00Z --type winback", "calls" + created, field("type", "winback")},
		{"person create", "person create --uuid $NEW --owning-organization $OWNER --recruiting-organization $OWNER --email new@example.org", "persons" + created, field("email", "new@example.org")},
		{"person update", "person update $PERSON --email changed@example.org", person, field("email", "changed@example.org")},
		{"pledge create", "pledge create --uuid $NEW --person $PERSON --created-at 2026-11-20T09:00:00Z --owning-organization $OWNER --recruiting-organization $OWNER " +
			"--initial-donation-interval monthly --initial-donation-amount 7 --recruiter-user $PERSON --starts-at 2026-11-20T09:00:00Z", "pledges" + created, field("donationInterval", "monthly")},
		{"pledge update", "pledge update $PLEDGE --donation-amount 43.21", pledge, field("donationAmount", 43.21)},
		{"pledge action", "pledge action cancel $PLEDGE --yes", pledge, field("status", "cancelled")},
		{"processed mark", "processed mark call $CALL", call, nil}, // Nothing shows marks.
	}
}

// What is said to be in the outbox takes effect exactly once, whatever happens to it on
// its way; what was refused is kept.
func TestMatrixOfQueuedCommands(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	owner, token := h.Organization("Sea Rescue"), h.Token()
	commands := queuedCommands()
	seat := make(chan struct{}, 6)        // Of a program that runs.
	cases := servicetest.NewCases(t, 100) // Most of them wait between two.
	defer cases.Wait()
	for i, command := range commands {
		for j, fault := range servicetest.Faults {
			if !*matrixLong && j%len(commands) != i && i%len(servicetest.Faults) != j {
				continue
			}
			for seed := range *matrixSeeds {
				cases.Run(fmt.Sprintf("%s/%s/%d", command.name, fault, seed), func(t *testing.T) {
					c := &queuedCase{T: t, service: h, token: token, owner: owner, command: command, fault: fault, seat: seat}
					c.play(i + j + seed)
				})
			}
		}
	}
}

// queuedCase is one command and one fault, with records and a state folder of its own.
type queuedCase struct {
	*testing.T
	service *servicetest.Harness
	token   string
	owner   apitype.UUID
	command queuedCommand
	fault   servicetest.Fault
	seat    chan struct{}
	names   *strings.Replacer
}

func (c *queuedCase) play(variant int) {
	c.load()
	faulty := &servicetest.Faulty{Inner: c.service.Handler}
	home := newHome(c.T)
	home.env = append(home.env, "FUNDESK_BASE_URL="+faulty.Serve(c.T), "FUNDESK_TOKEN="+c.token)
	faulty.Arm(c.fault, variant)
	run := func(line string) (string, int) {
		c.seat <- struct{}{}
		defer func() { <-c.seat }()
		// Some faults leave a request without an answer; a slow machine answers late.
		out, errOut, code := home.run(c.T, "fundesk --timeout 5s "+line)
		return out + errOut, code
	}
	said, code := run(c.names.Replace(c.command.line) + " --outbox")
	if c.fault == servicetest.FaultRefused {
		if code != 7 || !strings.Contains(said, "not today") {
			c.Errorf("%s: got exit %d, want 7 with the reason:\n%s", c.command.line, code, said)
		}
		return
	}
	if code == 6 && strings.Contains(c.command.line, "$NEW") && c.fault == servicetest.FaultDuplicated {
		// The caller chose the uuid: somebody else may have done so too. It is there once.
		c.judge()
		return
	}
	if code != 0 && code != 10 {
		c.Fatalf("%s: got exit %d, want 0 or 10:\n%s", c.command.line, code, said)
	}
	faulty.DeliverLate()
	// What must not be done twice waits until it can no longer arrive: half a minute.
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for waiting := code == 10; waiting; <-tick.C {
		said, code = run("outbox send")
		if waiting = code != 0; waiting && time.Now().After(deadline) {
			c.Fatalf("outbox send: got exit %d, want 0:\n%s", code, said)
		}
	}
	if left := home.must(c.T, "fundesk outbox list -o ndjson"); left != "" {
		c.Errorf("outbox: got %s, want nothing", left)
	}
	c.judge()
}

func (c *queuedCase) judge() {
	if c.command.effects == nil {
		return
	}
	want := 1
	if c.command.name == "attempt" && c.fault == servicetest.FaultDuplicated {
		want = 2 // Attempts are never recognised as repeats, whoever repeats them. Spec gap: C4.
	}
	answer := c.service.Do(c.token, http.MethodGet, "/api/v1/"+c.names.Replace(c.command.shows), "")
	if got := c.command.effects(answer.Object()); got != want {
		c.Errorf("effects: got %d, want %d", got, want)
	}
}

// load makes the records of the case.
func (c *queuedCase) load() {
	person, call, pledge := c.service.LoadForChanges(c.owner)
	c.names = strings.NewReplacer("$PERSON", person.String(), "$CALL", call.String(), "$PLEDGE", pledge.String(),
		"$NEW", apitype.NewUUID().String(), "$OWNER", c.owner.String())
}

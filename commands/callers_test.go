package commands

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/commands/cli"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/event"
)

var everyRole = flag.Bool("every-role", false, "let TestCallersLeaveTheSame try every role, not each in its turn")

// callerOutcome is the state that a completed call leaves at the service.
type callerOutcome struct {
	OptIns           callerOptIns // All were true.
	Revision         string       // Of the donor's record. It was 1.
	Blocked          bool         // The check confirms it for the donor's number.
	Again, Neighbour bool         // The queue offers another call of the donor, and one of the other with the number.
	Audit            []string
}

type callerOptIns struct{ OptInPhone, OptInEmail, OptInMail, OptInSms bool }

// The outcome depends on the effect of the result alone.
var (
	unchanged = callerOutcome{
		OptIns:    callerOptIns{true, true, true, true},
		Revision:  `"1"`,
		Again:     true,
		Neighbour: true,
		Audit:     []string{"call.complete of the call by the agent"},
	}
	optedOut = callerOutcome{
		OptIns:   callerOptIns{false, true, true, true},
		Revision: `"2"`,
		Blocked:  true,
		Audit:    []string{"call.complete of the call by the agent", "person.opt-out of the call by the agent"},
	}
	noContact = callerOutcome{ // A household may share the number.
		Revision:  `"2"`,
		Neighbour: true,
		Audit:     []string{"call.complete of the call by the agent", "person.no-contact of the call by the agent"},
	}
)

// callerResults are the results of the settings: those of each type of call, then the common ones.
var callerResults = []struct {
	code string
	want callerOutcome
}{
	{"own_none", unchanged},
	{"own_fixed", unchanged}, // A correction is a change of its own.
	{"own_stop", optedOut},
	{"own_died", noContact},
	{"all_none", unchanged},
	{"all_fixed", unchanged},
	{"all_stop", optedOut},
	{"all_died", noContact},
}

// callerSettings give two codes of the type another effect for all types. The type's own effect counts.
const callerSettings = `{"results":{%q:[
	{"code":"own_none"}, {"code":"own_fixed","effect":"corrected"},
	{"code":"own_stop","effect":"opt-out"}, {"code":"own_died","effect":"no-contact"}
], "all":[
	{"code":"own_none","effect":"opt-out"}, {"code":"own_stop"},
	{"code":"all_none"}, {"code":"all_fixed","effect":"corrected"},
	{"code":"all_stop","effect":"opt-out"}, {"code":"all_died","effect":"no-contact"}
]}}`

// callers complete the call of a case with a result.
var callers = map[string]func(c *callCase, code string){
	"Desk":            (*callCase).completeAtDesk,
	"accessible Desk": func(c *callCase, code string) { workByLines(c.t, c.app("c\n"+code+"\n\n\nq\n"), 0) },
	"complete UUID":   func(c *callCase, code string) { c.complete("", c.call.String(), code) },
	"complete -":      func(c *callCase, code string) { c.complete(c.call.String(), "-", code) },
	"HTTP client": func(c *callCase, code string) {
		path := "/api/v1/calls/" + c.call.String() + "/actions/complete"
		c.must(c.token, http.MethodPut, path, fmt.Sprintf(`{"userUuid":%q,"result":{"resultCode":%q}}`, c.agent, code))
	},
}

// A completed call leaves the same at the service, whatever program and role completed it.
// Promise S78: the effect of a result is stored with the completion.
// Promise S79: an opt-out is by number.
func TestCallersLeaveTheSame(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"SQLite", "PostgreSQL"} {
		for name, complete := range callers {
			t.Run(engine+"/"+name, func(t *testing.T) {
				t.Parallel()
				database := servicetest.NewFile
				if engine == "PostgreSQL" {
					servicetest.Slow(t)
					servicetest.NeedPostgres(t)
					database = servicetest.PostgresDatabase
				}
				h := servicetest.NewOn(t, database(t))
				for i, result := range callerResults {
					for j, kind := range apitype.CallTypes {
						for k, role := range []string{"agent", "supervisor", "back-office"} {
							// SQLite shows each type.
							isTypeSkipped := engine == "PostgreSQL" && (i+2*j)%len(apitype.CallTypes) != 0
							if *everyRole || !isTypeSkipped && (i+j+k)%3 == 0 {
								c := newCallCase(t, h, kind, role)
								complete(c, result.code)
								servicetest.Same(t, result.code+", "+string(kind)+", "+role, result.want, c.outcome())
							}
						}
					}
				}
			})
		}
	}
}

// callCase is a donor with the call that a caller completes.
type callCase struct {
	*servicetest.Harness
	t                *testing.T
	token            string
	agent, donor     apitype.UUID
	call             apitype.UUID // The oldest.
	again, neighbour apitype.UUID // Calls of the donor, and of another donor with the number.
	env              map[string]string
}

// newCallCase makes an organization of its own for a case: the queue has no other calls then.
func newCallCase(t *testing.T, h *servicetest.Harness, kind apitype.CallType, role string) *callCase {
	c := &callCase{Harness: h, t: t, agent: apitype.NewUUID()}
	organization := h.Organization("A")
	named, _ := service.RoleNamed(role)
	admin := h.Token(servicetest.May(append(slices.Clone(service.Permissions), service.SettingsWrite)...))
	c.token = h.Token(servicetest.For(organization), servicetest.May(named.Permissions...))
	c.must(admin, http.MethodPut, "/fundesk/v1/settings/"+organization.String(), fmt.Sprintf(callerSettings, kind))
	made := func(path, body string, values ...any) apitype.UUID {
		made := c.must(admin, http.MethodPost, path, fmt.Sprintf(body, values...)).Object()
		return apitype.MustParseUUID(made["uuid"].(string))
	}
	const person = `{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%[1]q,%q:"+31612345678",` +
		`"optIns":{"phone":true,"email":true,"mail":true,"sms":true}}`
	c.donor = made("/api/v1/persons", person, organization, "mobilePhoneNumber")
	neighbour := made("/api/v1/persons", person, organization, "phoneNumber")
	waiting := func(person apitype.UUID, age time.Duration) apitype.UUID {
		const call = `{"personUuid":%q,"requestedAt":%q,"type":%q}`
		return made("/api/v1/calls", call, person, apitype.NewTime(h.Clock.Now().Add(-age)), kind)
	}
	c.call = waiting(c.donor, 9*time.Hour)
	c.again = waiting(c.donor, 8*time.Hour)
	c.neighbour = waiting(neighbour, 7*time.Hour)
	home := t.TempDir()
	config := fmt.Sprintf("[profiles.p]\nbase_url = %q\nagent = %q\n", h.URL, c.agent)
	writeFile(t, filepath.Join(home, "config.toml"), config)
	c.env = map[string]string{
		"HOME":               home,
		"FUNDESK_CONFIG_DIR": home,
		"FUNDESK_PROFILE":    "p",
		"FUNDESK_TOKEN":      c.token,
	}
	return c
}

// must sends a request that the service must accept.
func (c *callCase) must(token, method, path, body string) servicetest.Answer {
	c.t.Helper()
	answer := c.Do(token, method, path, body)
	if answer.Status/100 != 2 {
		c.t.Fatalf("%s %s: got %d %s", method, path, answer.Status, answer.Body)
	}
	return answer
}

// app returns fundesk by the clock of the service.
func (c *callCase) app(in string) cli.App {
	app := hasty(appOf(c.env, strings.NewReader(in), new(bytes.Buffer), new(bytes.Buffer)))
	app.Now = c.Clock.Now
	return app
}

func (c *callCase) complete(in, calls, code string) {
	app := c.app(in)
	if got := Run(c.t.Context(), []string{"call", "complete", calls, "--yes", "--result-code", code}, app); got != 0 {
		c.t.Fatalf("call complete %s: got exit code %d: %s", calls, got, app.Err)
	}
}

func (c *callCase) completeAtDesk(code string) {
	s := cli.NewSession(c.app(""), nil)
	client, err := s.Connect(c.t.Context())
	servicetest.Check(c.t, err)
	box, err := s.Outbox(c.t.Context())
	servicetest.Check(c.t, err)
	client.Pin(box.Account())
	day := desk.New(desk.Options{Client: client, Outbox: box, Now: c.Clock.Now, Agent: &c.agent})
	defer day.End()
	day.Changes.Sender = day.Leases.NewSender(outbox.SenderOptions{})
	perform := func(events []event.Event) {
		for ; len(events) > 0; events = events[1:] {
			if job, isJob := events[0].(event.Job); isJob {
				events = append(events, day.Receive(job(c.t.Context()))...)
			}
		}
	}
	perform(day.Begin())
	perform(day.Next())
	if !day.IsOn(c.call) {
		c.t.Fatalf("got %+v on the Desk, want the oldest call", day.Call)
	}
	day.Form().SetResult(code)
	perform(day.Finish(disposition.Complete))
	day.Changes.Written()
	c.Clock.Advance(6 * time.Second) // u could undo it for 5 s.
	_, err = day.Changes.Sender.SendDue(c.t.Context())
	servicetest.Check(c.t, err)
}

// outcome returns what the service has two days later, when no donor rests and no lease is live.
func (c *callCase) outcome() callerOutcome {
	_ = Run(c.t.Context(), []string{"outbox", "send"}, c.app("")) // Left there by a Desk on a slow machine.
	c.Clock.Advance(48 * time.Hour)
	answer := c.must(c.token, http.MethodGet, "/api/v1/persons/"+c.donor.String(), "")
	var got callerOutcome
	got.Revision = answer.Header.Get("Etag")
	answer.Decode(&got.OptIns)
	check := c.must(c.token, http.MethodPost, "/fundesk/v1/do-not-call/check", `{"number":"+31612345678"}`)
	got.Blocked = check.Object()["blocked"].(bool)
	var taken apitype.Taken
	take := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"count":10}`, apitype.NewUUID(), c.agent)
	c.must(c.token, http.MethodPost, "/fundesk/v1/queue/take", take).Decode(&taken)
	for _, lease := range taken.Leases {
		got.Again = got.Again || lease.CallUUID == c.again
		got.Neighbour = got.Neighbour || lease.CallUUID == c.neighbour
	}
	names := strings.NewReplacer(c.call.String(), "the call", c.agent.String(), "the agent")
	err := c.Privacy.Audit(c.t.Context(), service.AuditFilter{Person: &c.donor}, func(line service.AuditLine) error {
		if !strings.HasSuffix(string(line.Operation), ".create") {
			got.Audit = append(got.Audit,
				names.Replace(fmt.Sprintf("%s of %s by %s", line.Operation, line.Record, line.User)))
		}
		return nil
	})
	servicetest.Check(c.t, err)
	slices.Sort(got.Audit)
	return got
}

package commands

import (
	"net/http"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

func is(name string, want any) func(map[string]any) int {
	return func(record map[string]any) int {
		if record[name] == want {
			return 1
		}
		return 0
	}
}

// The exit code of a change states what is known of it. The client's tests cover every fault, and the outbox's tests
// the rounds of sending.
func TestExitCodesOfChangesThroughFaults(t *testing.T) {
	t.Parallel()
	h := plain(t)
	owner, token := h.Organization("Sea Rescue"), h.Token()
	const (
		attempt  = "call attempt $CALL --attempted-at 2026-11-20T09:00:00Z"
		complete = "call complete $CALL --result-code reached --notes precious"
		create   = "person create --uuid $NEW --owning-organization $OWNER --recruiting-organization $OWNER --email new@example.org"
		unknown  = "unknown"
	)
	for _, test := range []struct {
		line    string
		fault   servicetest.Fault // Empty if nothing listens at the address.
		code    int
		said    string
		queued  int // The exit code with --outbox.
		applied int
	}{
		{complete, "", 8, "fundesk doctor", 10, 0},
		{complete, servicetest.FaultRefused, 7, "not today", 7, 0},
		{complete, servicetest.FaultRedirect, 8, "hint: ", 10, 0},
		{complete, servicetest.Fault503, 0, "", 10, 1},
		{complete, servicetest.FaultResetAfter, 0, "", 10, 1},
		{complete, servicetest.FaultHTML, 0, "", 0, 1},
		{attempt, servicetest.FaultResetAfter, 0, "", 10, 1},
		{attempt, servicetest.FaultResetBefore, 10, unknown, 10, 0},
		{create, servicetest.FaultResetAfter, 0, "", 10, 1},
		// The caller chose the uuid, and another program may have chosen the same.
		{create, servicetest.FaultDuplicated, 6, "", 6, 1},
	} {
		for _, flag := range []string{"", " --outbox"} {
			t.Run(strings.Fields(test.line)[1]+"/"+string(test.fault)+flag, func(t *testing.T) {
				t.Parallel()
				c := &faultCase{T: t, service: h, token: token, owner: owner}
				c.load()
				faulty := &servicetest.Faulty{Inner: h.Handler}
				url := nowhere
				if test.fault != "" {
					url = faulty.Serve(t)
				}
				faulty.Arm(test.fault, 0)
				want, said := test.code, test.said
				if flag != "" {
					want = test.queued
					said = ""
				}
				got := lineAt(t, url, token).try(t, c.names.Replace(test.line)+flag+" --timeout 1m").Ends(want, said)
				if want == 10 {
					got.Ends(10, "hint: ")
				}
				if got := min(faulty.Applied(), 1); flag == "" && got != test.applied {
					t.Errorf("got the change applied %d times, want %d", got, test.applied)
				}
			})
		}
	}
}

// plain starts the service without holding each answer against openapi.json: tests of
// thousands of requests have no time for it, and others do it.
func plain(t *testing.T) *servicetest.Harness {
	t.Helper()
	h := servicetest.New(t)
	h.Handler = httpapi.New(httpapi.Options{Service: h.Service, Now: h.Clock.Now})
	address := serving(t, h.Handler.ServeHTTP)
	h.URL = address
	return h
}

// faultCase is a service with the records of one case.
type faultCase struct {
	*testing.T
	service *servicetest.Harness
	token   string
	owner   apitype.UUID
	names   *strings.Replacer
}

// newFaultCase returns the service with the records of one case.
func newFaultCase(t *testing.T, h *servicetest.Harness) *faultCase {
	c := &faultCase{T: t, service: h, token: h.Token(), owner: h.Organization("AID")}
	c.load()
	return c
}

// get returns a record as it is now. $CALL and the like stand for identifiers.
func (c *faultCase) get(path string) map[string]any {
	return c.service.Do(c.token, http.MethodGet, c.names.Replace(path), "").Object()
}

// load makes the records of the case.
func (c *faultCase) load() {
	person, call, pledge := c.service.LoadForChanges(c.owner)
	c.names = strings.NewReplacer("$PERSON", person.String(), "$CALL", call.String(), "$PLEDGE", pledge.String(),
		"$NEW", apitype.NewUUID().String(), "$OWNER", c.owner.String())
}

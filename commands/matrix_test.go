package commands

import (
	"bytes"
	"io"
	"net/http/httptest"
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
		{create, servicetest.FaultDuplicated, 6, "", 6, 1}, // The caller chose the uuid, and another program may have chosen the same.
	} {
		for _, flag := range []string{"", " --outbox"} {
			t.Run(strings.Fields(test.line)[1]+"/"+string(test.fault)+flag, func(t *testing.T) {
				t.Parallel()
				c := &faultCase{T: t, service: h, token: token, owner: owner}
				c.load()
				faulty := &servicetest.Faulty{Inner: h.Handler}
				url := "http://127.0.0.1:1"
				if test.fault != "" {
					url = faulty.Serve(t)
				}
				faulty.Arm(test.fault, 0)
				environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": url, "FUNDESK_TOKEN": token}
				var stderr bytes.Buffer
				app := hasty(appOf(environment, strings.NewReader(""), io.Discard, &stderr))
				code := Run(t.Context(), append(strings.Fields(c.names.Replace(test.line)+flag), "--timeout", "1m"), app)
				want, said := test.code, test.said
				if flag != "" {
					want = test.queued
					said = ""
				}
				if code != want || !strings.Contains(stderr.String(), said) || want == 10 && !strings.Contains(stderr.String(), "hint: ") {
					t.Errorf("got exit code %d, want %d with %q:\n%s", code, want, said, stderr.String())
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
	server := httptest.NewServer(h.Handler)
	t.Cleanup(server.Close)
	h.URL = server.URL
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

// load makes the records of the case.
func (c *faultCase) load() {
	person, call, pledge := c.service.LoadForChanges(c.owner)
	c.names = strings.NewReplacer("$PERSON", person.String(), "$CALL", call.String(), "$PLEDGE", pledge.String(),
		"$NEW", apitype.NewUUID().String(), "$OWNER", c.owner.String())
}

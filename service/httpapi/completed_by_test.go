package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// TestCompletedBy lists the calls that a user completed, even if others tried or took them, and counts them for that
// user.
// Promise S86: a completion belongs to the user whom it names.
func TestCompletedBy(t *testing.T) { onEngines(t, testCompletedBy) }

func testCompletedBy(t *testing.T, f *floor) {
	person, other := f.person("null"), f.person("null")
	act := func(call apitype.UUID, action, body string) {
		t.Helper()
		f.want(http.StatusOK, "PUT", callPath(call)+"/actions/"+action, body)
	}
	by := func(user apitype.UUID) string { return fmt.Sprintf(`{"userUuid":%q}`, user) }
	var mine []string
	for i := range 5 {
		call := f.call([]apitype.UUID{person, other}[i%2], time.Duration(i+1)*time.Hour, "winback")
		if i == 0 { // Taken and tried by a colleague.
			f.choose(f.users[1], call)
			act(call, "add-attempt", by(f.users[1]))
		}
		act(call, "complete", by(f.users[0]))
		mine = append(mine, call.String())
	}
	act(f.call(person, time.Minute, "winback"), "complete", by(f.users[1]))
	act(f.call(person, time.Minute, "winback"), "complete", `{}`)
	external := f.created("/api/v1/calls",
		fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2020-01-01","externalMetadata":{}}`, person))
	act(external, "complete", by(f.users[0]))

	list := "/api/v1/calls?completedByUserUuid=" + f.users[0].String()
	at := f.In(-210 * time.Minute)
	for query, want := range map[string][]string{
		"":                  append(slices.Clone(mine), external.String()),
		"&status=requested": nil,
		"&status=completed&updatedAfter=2020-01-01&requestedAfter=" + at.String():          mine[:3],
		"&personUuid=" + other.String():                                                    {mine[1], mine[3]},
		"&requestedAfter=" + at.String():                                                   mine[:3],
		"&externalApplicationName=null&externalReferenceId=null&requestedAfter=2021-01-01": mine,
		"&owningOrganizationUuid=" + apitype.NewUUID().String():                            nil,
	} {
		servicetest.Same(t, query, want, f.listed(f.token, list+query))
	}
	if got := f.listed(f.Token(servicetest.For(f.Organization("Elsewhere"))), list); got != nil {
		t.Errorf("got %v for an account that does not see the calls", got)
	}
	for _, filter := range []string{
		"first=500",
		"status=completed",
		"personUuid=" + person.String(),
		"completedByUserUuid=" + f.users[0].String(),
	} {
		f.completers(filter, mine[0], f.users[0].String())
	}
	f.want(http.StatusBadRequest, "GET", "/api/v1/calls?completedByUserUuid=x", "")
	f.want(http.StatusBadRequest, "GET", "/api/v1/calls?completedBy="+f.users[0].String(), "")

	var answer struct{ Agents []apitype.QueueAgent }
	f.get("/fundesk/v1/queue/agents").Decode(&answer)
	completed := map[apitype.UUID]int{}
	for _, agent := range answer.Agents {
		completed[agent.UserUUID] = agent.Completed
	}
	if want := map[apitype.UUID]int{f.users[0]: 6, f.users[1]: 1}; !cmp.Equal(want, completed) {
		t.Errorf("the queue counts %v, want %v", completed, want)
	}

	// Another program may complete an external call again, and take the completion back. An erasure leaves it.
	act(external, "complete", fmt.Sprintf(`{"userUuid":%q,"result":{"notes":"again"}}`, f.users[2]))
	hers := "/api/v1/calls?completedByUserUuid=" + f.users[2].String()
	if got := f.listed(f.token, hers); !slices.Equal(got, []string{external.String()}) {
		t.Errorf("completed again: got %v", got)
	}
	act(external, "expire", `{}`)
	if got := f.listed(f.token, hers); got != nil {
		t.Errorf("expired: got %v", got)
	}
	f.erase(person)
	if got := f.listed(f.token, list); !slices.Equal(got, mine) {
		t.Errorf("after an erasure: got %v, want %v", got, mine)
	}
}

// completers lists calls with the users of their completions, and expects one of them. A waiting call, and a completion
// without a user, have none.
func (f *floor) completers(filter, call, user string) {
	f.t.Helper()
	var page struct {
		Edges []struct {
			Node                struct{ UUID, Status string }
			CompletedByUserUUID *string
		}
	}
	f.get("/api/v1/calls?completers=true&" + filter).Decode(&page)
	found := ""
	for _, edge := range page.Edges {
		isWaiting := edge.Node.Status == "requested"
		if isWaiting && edge.CompletedByUserUUID != nil {
			f.t.Errorf("%s: a call that waits is completed by %s", filter, *edge.CompletedByUserUUID)
		}
		if edge.Node.UUID == call && edge.CompletedByUserUUID != nil {
			found = *edge.CompletedByUserUUID
		}
	}
	if found != user {
		f.t.Errorf("%s: got the call completed by %q, want %q", filter, found, user)
	}
	plain := f.get("/api/v1/calls?" + filter)
	if strings.Contains(string(plain.Body), "completedByUserUuid") {
		f.t.Errorf("%s: a list shows users of completions without being asked", filter)
	}
}

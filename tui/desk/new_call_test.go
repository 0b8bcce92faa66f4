package desk_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/donors"
)

// transportFunc is a line to the service.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestNewCallStaysWithItsAgent lets a colleague ask for work between the creation of a call and its opening: the donor
// is on the line with the agent.
func TestNewCallStaysWithItsAgent(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 1)
	person := f.call(f.calls[0]).PersonUUID
	got := f.Do(f.token, http.MethodPut, "/api/v1/calls/"+f.calls[0].String()+"/actions/cancel", "{}")
	if got.Status != 200 {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	var given apitype.Taken
	f.line = func(service http.RoundTripper) http.RoundTripper {
		return transportFunc(func(r *http.Request) (*http.Response, error) {
			answer, err := service.RoundTrip(r)
			if err == nil && r.Method == http.MethodPost && r.URL.Path == "/api/v1/calls" {
				f.Do(f.token, http.MethodPost, "/fundesk/v1/queue/take",
					fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q}`,
						apitype.NewUUID(), apitype.NewUUID())).Decode(&given)
			}
			return answer, err
		})
	}
	f.user = new(apitype.NewUUID())
	a := f.agent(t.TempDir())
	a.perform(a.NewCall(donors.Caller{Donor: donors.Donor{ID: person, Name: "Bos"}}, apitype.CallWinback))
	a.Changes.Written()
	_, err := a.Changes.Sender.SendDue(t.Context())
	servicetest.Check(t, err)
	if len(given.Leases) != 0 {
		t.Error("a colleague was given the donor who is on the line")
	}
	if leases := f.leases(); !slices.ContainsFunc(leases, func(l apitype.Lease) bool { return l.UserUUID == *f.user }) {
		t.Errorf("got the leases %+v, want one of the agent", leases)
	}
}

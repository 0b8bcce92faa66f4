package desk_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// Each Desk of an agent says once that a callback comes.
func TestCallbackIsToldOncePerDesk(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 5)
	own := apitype.NewUUID()
	due := apitype.NewTime(f.Clock.Now().Add(10 * time.Minute))
	f.must(http.MethodPut, "/fundesk/v1/queue/calls/"+f.calls[4].String()+"/later",
		fmt.Sprintf(`{"notBefore":%q,"userUuid":%q,"reason":"after work"}`, due, own))
	f.user = &own
	agents := []*agent{f.agent(t.TempDir()), f.agent(t.TempDir())}
	for _, a := range agents {
		a.perform(a.Next())
	}
	for range 9 * 60 {
		f.Clock.Advance(time.Second)
		for _, a := range agents {
			a.perform(a.Tick())
		}
	}
	for i, a := range agents {
		if got := strings.Count(strings.Join(a.told, "\n"), "after work"); got != 1 {
			t.Errorf("Desk %d told of the callback %d times, want once: %q", i, got, a.told)
		}
	}
}

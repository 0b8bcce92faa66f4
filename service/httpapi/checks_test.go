package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// What was checked in a call is kept with its agent, replaced as a whole, exported, and erased with the donor.
// Promise S80: the checks of a call are kept, exported and erased.
func TestChecksOfCalls(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		donor := f.person("null")
		call := f.call(donor, time.Hour, "verification")
		path := "/fundesk/v1/calls/" + call.String() + "/checks"
		read := func() string { return string(f.get(path).Body) }
		if got, want := read(), `{"userUuid":null,"items":[]}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		at := f.Now().String()
		items := func(names ...string) string {
			var all []string
			for _, name := range names {
				all = append(all, fmt.Sprintf(`{"name":%q,"at":%q}`, name, at))
			}
			return fmt.Sprintf(`{"userUuid":%q,"items":[%s]}`, f.users[0], strings.Join(all, ","))
		}
		before := f.get(callPath(call)).Header.Get("Etag")
		for _, body := range []string{items("mobile", "script:greeting"), items("objection"), items("objection")} {
			for _, may := range []service.Permission{service.CallsAttempt, service.CallsComplete} {
				token := f.Token(servicetest.For(f.organization), servicetest.May(may))
				if got := f.Do(token, "PUT", path, body); got.Status != 200 {
					t.Errorf("%s with %s: got %d %s", body, may, got.Status, got.Body)
				}
			}
			servicetest.Same(t, "the checks", body, read())
		}
		now := at
		at = f.In(time.Hour).String() // The clock of an agent may be fast.
		got, body := f.Do(f.token, "PUT", path, items("contact")), items("contact")
		if got.Status != 200 || read() != body {
			t.Errorf("got %d %s for a check that is dated ahead, want it kept", got.Status, got.Body)
		}
		at = now
		f.want(200, "PUT", path, items("objection"))
		if after := f.get(callPath(call)).Header.Get("Etag"); after == before {
			t.Error("the call has the revision of before its checks")
		}
		reader := f.Token(servicetest.May(service.CallsRead))
		for _, wrong := range []struct {
			token, body string
			want        int
		}{
			{reader, items("mobile"), 403},
			{f.token, `{}`, 400},
			{f.token, items("shoe size"), 400},
			{f.token, items("script:"), 400},
			{f.token, items("script:two words"), 400},
			{f.token, items(strings.Split(strings.Repeat("mobile ", 51), " ")[:51]...), 400},
			{f.token, `{"items":[{"name":"mobile"}]}`, 400},
		} {
			f.Want(wrong.want, wrong.token, "PUT", path, wrong.body)
		}
		if got := f.export(donor); !strings.Contains(got, `"objection"`) {
			t.Errorf("the export has no checks: %s", got)
		}
		f.act(call, "cancel", `{}`)
		f.erase(donor)
		if got := f.export(donor); strings.Contains(got, `"objection"`) {
			t.Errorf("the checks outlive the donor: %s", got)
		}
	})
}

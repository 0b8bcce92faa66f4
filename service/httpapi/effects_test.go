package httpapi_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// effectsBody has a result with each effect. The code shared has another effect for winback than for every type.
const effectsBody = `{"results":{
	"all":[{"code":"stop","effect":"opt-out"},{"code":"died","effect":"no-contact"},{"code":"shared","effect":"opt-out"}],
	"winback":[{"code":"back","effect":null},{"code":"shared","effect":"corrected"}]},
	"scripts":{},"callingHours":{},"maxCallAttempts":null}`

// optIns returns the opt-ins of a person.
type optIns struct {
	Phone *bool `json:"optInPhone"`
	Email *bool `json:"optInEmail"`
	Mail  *bool `json:"optInMail"`
	SMS   *bool `json:"optInSms"`
}

func (f *floor) setEffects() {
	f.t.Helper()
	path := settingsPath + "/" + f.organization.String()
	token := f.Token(servicetest.For(f.organization), servicetest.May(service.CallsRead, service.SettingsWrite))
	if got := f.Do(token, "PUT", path, effectsBody); got.Status != 200 {
		f.t.Fatalf("got %d %s", got.Status, got.Body)
	}
}

// Completing a call carries out the effect of its result, for every account that may complete calls.
// Promise S78: the effect of a result is stored with the completion.
func TestEffectsOfResults(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.setEffects()
		no := new(false)
		stopped := optIns{Phone: no}
		died := optIns{Phone: no, Email: no, Mail: no, SMS: no}
		tests := []struct {
			name, kind, code, effect string
			permissions              []service.Permission
			want                     optIns
		}{
			{name: "opt-out", kind: "happy_call", code: "stop", effect: "opt-out", want: stopped},
			{
				name: "opt-out by an account with nothing else", kind: "happy_call", code: "stop", effect: "opt-out",
				permissions: []service.Permission{service.CallsComplete}, want: stopped,
			},
			{name: "no contact", kind: "verification", code: "died", effect: "no-contact", want: died},
			{name: "a type's own result wins", kind: "winback", code: "shared"},
			{name: "the result of every type", kind: "happy_call", code: "shared", effect: "opt-out", want: stopped},
			{name: "a result without an effect", kind: "winback", code: "back"},
			{name: "an unknown result", kind: "winback", code: "other"},
		}
		for _, test := range tests {
			token := f.token
			if test.permissions != nil {
				token = f.Token(servicetest.For(f.organization), servicetest.May(test.permissions...))
			}
			person := f.person(`"nl"`)
			call := f.call(person, time.Hour, test.kind)
			path := "/api/v1/calls/" + call.String() + "/actions/complete"
			body := fmt.Sprintf(`{"userUuid":%q,"result":{"completedAt":%q,"resultCode":%q}}`,
				f.users[0], apitype.NewTime(f.Clock.Now()), test.code)
			var after optIns
			etag := func() string {
				answer := f.Do(f.token, "GET", "/api/v1/persons/"+person.String(), "")
				answer.Decode(&after)
				return answer.Header.Get("Etag")
			}
			first := etag()
			for _, try := range []string{"first", "repeat"} {
				answer := f.Do(token, "PUT", path, body)
				if answer.Status != 200 || answer.Header.Get("Fundesk-Effects") != test.effect {
					t.Errorf("%s, %s: got %d and the effect %q, want %q", test.name, try, answer.Status, answer.Header.Get("Fundesk-Effects"), test.effect)
				}
				var shown struct{ Person optIns }
				answer.Decode(&shown)
				if diff := cmp.Diff(test.want, shown.Person); test.permissions == nil && diff != "" {
					t.Errorf("%s, %s: the person of the answer (-want +got):\n%s", test.name, try, diff)
				}
			}
			last := etag()
			if diff := cmp.Diff(test.want, after); diff != "" {
				t.Errorf("%s: the opt-ins (-want +got):\n%s", test.name, diff)
			}
			want := first
			if test.effect != "" {
				want = `"2"`
			}
			if last != want {
				t.Errorf("%s: got revision %s, want %s: it rises once", test.name, last, want)
			}
			if test.effect == "" {
				continue
			}
			f.Clock.Advance(48 * time.Hour)
			again := f.call(person, time.Hour, "winback")
			for _, lease := range f.take(f.users[1], "").Leases {
				if lease.CallUUID == again {
					t.Errorf("%s: the queue gave a call to a donor who wants none", test.name)
				}
			}
		}
	})
}

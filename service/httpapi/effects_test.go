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
	f.Want(200, token, "PUT", path, effectsBody)
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
			path := callPath(call) + "/actions/complete"
			body := fmt.Sprintf(`{"userUuid":%q,"result":{"completedAt":%q,"resultCode":%q}}`,
				f.users[0], f.Now(), test.code)
			var after optIns
			etag := func() string {
				answer := f.get(personPath(person))
				answer.Decode(&after)
				return answer.Header.Get("Etag")
			}
			first := etag()
			for _, try := range []string{"first", "repeat"} {
				answer := f.Do(token, "PUT", path, body)
				if answer.Status != 200 || answer.Header.Get("Fundesk-Effects") != test.effect {
					t.Errorf("%s, %s: got %d and the effect %q, want %q", test.name, try, answer.Status,
						answer.Header.Get("Fundesk-Effects"), test.effect)
				}
				var shown struct{ Person optIns }
				answer.Decode(&shown)
				if diff := cmp.Diff(test.want, shown.Person); test.permissions == nil && diff != "" {
					t.Errorf("%s, %s: the person of the answer (-want +got):\n%s", test.name, try, diff)
				}
			}
			last := etag()
			servicetest.Same(t, test.name+": the opt-ins", test.want, after)
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

// A program that reports an ended call creates it as completed: the effect of the result is stored as by a completion,
// if the account may complete calls. A file of old calls, by an importer, changes no donor.
// Promise S78: the effect of a result is stored with the completion.
func TestEffectsOfReportedCalls(t *testing.T) {
	const number = "+31612345678"
	onEngines(t, func(t *testing.T, f *floor) {
		f.setRules(apitype.OrganizationSettings{
			Results: map[apitype.CallType][]apitype.ResultChoice{apitype.AllTypes: {
				{Code: "stop", Effect: new(apitype.EffectOptOut)},
				{Code: "died", Effect: new(apitype.EffectNoContact)},
			}},
			RequiredChecks: map[apitype.CallType][]string{apitype.CallVerification: {"objection"}},
		})
		role := func(name string) string {
			named, _ := service.RoleNamed(name)
			return f.Token(servicetest.For(f.organization), servicetest.May(named.Permissions...))
		}
		missing := func() int { return len(page(t, f.get("/fundesk/v1/calls/missing-checks")).Edges) }
		no := new(false)
		for _, test := range []struct {
			role, status, code, effect string
			want                       optIns
			marked                     bool
		}{
			{"agent", "completed", "stop", "opt-out", optIns{Phone: no}, true},
			{"back-office", "completed", "died", "no-contact", optIns{Phone: no, Email: no, Mail: no, SMS: no}, true},
			{"agent", "completed", "other", "", optIns{}, true},
			{"importer", "completed", "stop", "", optIns{}, false},
			{"agent", "requested", "", "", optIns{}, false},
		} {
			name := test.role + ", " + test.status + ", " + test.code
			person := f.donor(number)
			marks, result := missing(), ""
			if test.code != "" {
				result = fmt.Sprintf(`,"result":{"resultCode":%q}`, test.code)
			}
			answer := f.Do(role(test.role), "POST", "/api/v1/calls", fmt.Sprintf(`{"personUuid":%q,"requestedAt":%q,"status":%q%s,
				"externalMetadata":{"applicationName":"dialer"}}`, person, f.Now(), test.status, result))
			if got := answer.Header.Get("Fundesk-Effects"); answer.Status != 201 || got != test.effect {
				t.Errorf("%s: got %d %s with the effect %q, want %q",
					name, answer.Status, answer.Body, got, test.effect)
			}
			var shown struct{ Person optIns }
			answer.Decode(&shown)
			var after optIns
			f.get(personPath(person)).Decode(&after)
			servicetest.Same(t, name+": the donor", test.want, after)
			servicetest.Same(t, name+": the donor of the answer", test.want, shown.Person)
			servicetest.Same(t, name+": the number is blocked", test.effect == "opt-out", f.isBlocked(number))
			servicetest.Same(t, name+": the call is marked", test.marked, missing() > marks)
			f.optIn(person, "true")
		}
	})
}

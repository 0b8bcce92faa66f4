package service

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

// TestChecksOfOperators lists values that an organization and an account must not have, and accepts close ones.
func TestChecksOfOperators(t *testing.T) {
	t.Parallel()
	organization := func(change func(*Organization)) error {
		o := Organization{CoolingOff: time.Hour}
		o.Name, o.Abbreviation = "Sea Rescue", "SR"
		change(&o)
		return o.check()
	}
	account := func(change func(*Account)) error {
		a := Account{Name: "a", Scope: Scope{All: true}}
		change(&a)
		return a.check()
	}
	const (
		noName   = "an organization needs a name and an abbreviation"
		noYears  = "the cooling-off must be from 0 to 100 years"
		noScope  = "an account sees named organizations, or all of them"
		notValid = "the request has values that are not valid: "
		years    = 876_000 * time.Hour
	)
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"an organization", organization(func(*Organization) {}), ""},
		{"no name", organization(func(o *Organization) { o.Name = " " }), noName},
		{"no abbreviation", organization(func(o *Organization) { o.Abbreviation = "" }), noName},
		{"a name with a NUL", organization(func(o *Organization) {
			o.Name = "a\x00"
		}), `the name "a\x00" must not contain a NUL character`},
		{"an abbreviation with a NUL", organization(func(o *Organization) {
			o.Abbreviation = "a\x00"
		}), `the name "a\x00" must not contain a NUL character`},
		{"no attempts at all", organization(func(o *Organization) { o.MaxCallAttempts = new(0) }), ""},
		{"less", organization(func(o *Organization) {
			o.MaxCallAttempts = new(-1)
		}), "the maximum of call attempts must not be negative"},
		{"released at once", organization(func(o *Organization) { o.CoolingOff = 0 }), ""},
		{"released before", organization(func(o *Organization) { o.CoolingOff = -1 }), noYears},
		{"released in 100 years", organization(func(o *Organization) { o.CoolingOff = years }), ""},
		{"released later", organization(func(o *Organization) { o.CoolingOff = years + 1 }), noYears},
		{"an account", account(func(*Account) {}), ""},
		{"an account without a name", account(func(a *Account) { a.Name = "\t" }), "an account needs a name"},
		{"an account of nobody", account(func(a *Account) { a.Scope = Scope{} }), noScope},
		{"an account of all and one", account(func(a *Account) {
			a.Scope.Organizations = []apitype.UUID{{1}}
		}), noScope},
		{"an account of one", account(func(a *Account) { a.Scope = Scope{Organizations: []apitype.UUID{{1}}} }), ""},
		{"a long source", account(func(a *Account) { a.ExternalSources = []string{strings.Repeat("é", 200)} }), ""},
		{"a longer source", account(func(a *Account) {
			a.ExternalSources = []string{"a", strings.Repeat("é", 201)}
		}), `the name "` + strings.Repeat("é", 201) + `" is longer than 200 characters`},
		{"a long name", account(func(a *Account) { a.Name = strings.Repeat("é", 201) }), ""},
		{"no source", account(func(a *Account) {
			a.ExternalSources = []string{""}
		}), `the name "" must not be empty; use null for no value`},
		{"the permission to erase", account(func(a *Account) {
			a.Permissions = []Permission{PersonsErase, CallsRead}
		}), ""},
		{
			"another permission", account(func(a *Account) { a.Permissions = []Permission{CallsRead, "calls:fly"} }),
			`there is no permission "calls:fly"; there are persons:read, persons:create, persons:update, calls:read, calls:create, calls:attempt, calls:complete, calls:cancel, calls:expire, pledges:read, pledges:create, pledges:update, pledges:act, entities:mark, persons:erase, settings:write, changes:read`,
		},
		{"settings that hold", organization(func(o *Organization) {
			o.Settings = &apitype.OrganizationSettings{}
		}), ""},
		{
			"settings with a wrong country", organization(func(o *Organization) {
				o.Settings = &apitype.OrganizationSettings{CallingHours: map[string]apitype.HoursOfDays{"nl": {}}}
			}), notValid + "callingHours.nl must be an ISO 3166-1 country code of two capital letters, such as NL",
		},
		{
			name: "an organization again",
			err:  taken("organization"),
			want: "an organization with this uuid already exists: uuid is already taken",
		},
		{"a call again", taken("call"), "a call with this uuid already exists: uuid is already taken"},
	} {
		got := ""
		if test.err != nil {
			got = test.err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestSizesOfCreations takes the largest of each part, and refuses what is larger by one.
func TestSizesOfCreations(t *testing.T) {
	t.Parallel()
	object := func(n int) apitype.Object { return apitype.Object(strings.Repeat(" ", n)) }
	call := func(bytes, attempts int) string {
		return sizesOfCall(apitype.CreateCallRequest{
			ExternalMetadata: &apitype.CallExternalMetadataRequest{
				AdditionalProperties: apitype.EncodedObject(object(bytes)),
			},
			Attempts: make([]apitype.CallAttemptRequest, attempts),
		}).Error()
	}
	pledge := func(bytes, areas int) string {
		return sizesOfPledge(apitype.CreatePledgeRequest{
			ExternalMetadata: new(object(bytes)),
			FocusAreaUUIDs:   make([]apitype.UUID, areas),
		}).Error()
	}
	for _, test := range []struct{ name, got, want string }{
		{"a call", sizesOfCall(apitype.CreateCallRequest{}).Error(), ""},
		{"the largest call", call(65_536, 1000), ""},
		{
			name: "a larger call",
			got:  call(65_537, 1001),
			want: "externalMetadata.additionalProperties must have 65536 bytes at most; attempts must have 1000 items at most",
		},
		{"a pledge", sizesOfPledge(apitype.CreatePledgeRequest{}).Error(), ""},
		{"the largest pledge", pledge(65_536, 100), ""},
		{
			name: "a larger pledge",
			got:  pledge(65_537, 101),
			want: "focusAreaUuids must have 100 items at most; externalMetadata must have 65536 bytes at most",
		},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, test.got, test.want)
		}
	}
}

// TestPatchPerson updates each field of a person, and takes each away again.
func TestPatchPerson(t *testing.T) {
	t.Parallel()
	var person apitype.Person
	var mandate *string
	patch := func(body string) string {
		t.Helper()
		var r apitype.UpdatePersonRequest
		if v := DecodeStrict([]byte(body), &r); len(v) > 0 {
			t.Fatal(v)
		}
		violations := patchPerson(&person, &mandate, r, testNow)
		doc, err := json.Marshal(person)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(doc, &all); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"uuid", "personUuid", "createdAt", "owningOrganization", "qualityResult"} {
			delete(all, name)
		}
		for name, value := range all {
			if value == nil {
				delete(all, name)
			}
		}
		if mandate != nil {
			all["mandateId"] = *mandate
		}
		doc, _ = json.Marshal(all)
		return string(doc) + violations.Error()
	}
	const address = `{"street":"S","houseNumber":"1","houseNumberExtension":"a","zipCode":"1234 AB","city":"C","country":"NL"}`
	for _, step := range []struct{ name, body, want string }{
		{
			"all",
			`{"academicTitle":"Dr.","dateOfBirth":"1980-05-17","socialSecurityNumber":"123","gender":"other","phoneNumber":"+31201234567","mobilePhoneNumber":"+31612345678","email":"a@example.org","language":"nl","iban":"NL91ABNA0417164300",
				"name":{"initials":"A.","firstName":"A","lastNamePrefix":"van","lastName":"B"},"optIns":{"email":true,"mail":false,"phone":true,"sms":false},"mandate":{"id":"M"},"address":` + address + `}`,
			`{"academicTitle":"Dr.","address":{"city":"C","country":"NL","houseNumber":"1","houseNumberExtension":"a","street":"S","zipCode":"1234 AB"},"dateOfBirth":"1980-05-17","email":"a@example.org","firstName":"A","gender":"other","iban":"NL91ABNA0417164300","initials":"A.","language":"nl","lastName":"B","lastNamePrefix":"van","mandate":{"createdAt":"2026-11-20T09:15:00.000Z"},"mandateId":"M","mobilePhoneNumber":"+31612345678","optInEmail":true,"optInMail":false,"optInPhone":true,"optInSms":false,"phoneNumber":"+31201234567","socialSecurityNumber":"123"}`,
		},
		{
			"fields",
			`{"academicTitle":null,"dateOfBirth":null,"socialSecurityNumber":null,"gender":null,"phoneNumber":null,"mobilePhoneNumber":null,"email":null,"language":null,"iban":null,"address":{"city":"D","houseNumberExtension":null},"optIns":{},"name":{}}`,
			`{"address":{"city":"D","country":"NL","houseNumber":"1","houseNumberExtension":null,"street":"S","zipCode":"1234 AB"},"firstName":"A","initials":"A.","lastName":"B","lastNamePrefix":"van","mandate":{"createdAt":"2026-11-20T09:15:00.000Z"},"mandateId":"M","optInEmail":true,"optInMail":false,"optInPhone":true,"optInSms":false}`,
		},
		{
			"nothing", `{"address":{},"mandate":{}}`,
			`{"address":{"city":"D","country":"NL","houseNumber":"1","houseNumberExtension":null,"street":"S","zipCode":"1234 AB"},"firstName":"A","initials":"A.","lastName":"B","lastNamePrefix":"van","mandate":{"createdAt":"2026-11-20T09:15:00.000Z"},"mandateId":"M","optInEmail":true,"optInMail":false,"optInPhone":true,"optInSms":false}`,
		},
		{"objects", `{"name":null,"optIns":null,"mandate":null,"address":null}`, `{}`},
		{
			name: "a mandate of another day",
			body: `{"mandate":{"id":"N","createdAt":"2026-11-19"}}`,
			want: `{"mandate":{"createdAt":"2026-11-19T00:00:00.000Z"},"mandateId":"N"}`,
		},
		{
			name: "another mandate",
			body: `{"mandate":{"id":"O"}}`,
			want: `{"mandate":{"createdAt":"2026-11-19T00:00:00.000Z"},"mandateId":"O"}`,
		},
		{"no mandate, and an empty one", `{"mandate":null}`, `{}`},
		{"an empty mandate", `{"mandate":{}}`, `{}`},
		{"a mandate whose identifier is taken away", `{"mandate":{"id":null}}`, `{}`},
		{
			name: "half an address",
			body: `{"address":{"street":"S"}}`,
			want: `{"address":{"city":"","country":"","houseNumber":"","houseNumberExtension":null,"street":"S","zipCode":""}}address.houseNumber is required; address.zipCode is required; address.city is required; address.country is required`,
		},
	} {
		if diff := cmp.Diff(step.want, patch(step.body)); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
	}
}

func TestNarrow(t *testing.T) {
	t.Parallel()
	a, b, c := apitype.UUID{1}, apitype.UUID{2}, apitype.UUID{3}
	tests := []struct {
		name   string
		scope  Scope
		filter []apitype.UUID
		want   Scope
		ok     bool
	}{
		{"all", Scope{All: true}, nil, Scope{All: true}, true},
		{"all, filtered", Scope{All: true}, []apitype.UUID{b, a, b}, Scope{Organizations: []apitype.UUID{a, b}}, true},
		{"some", Scope{Organizations: []apitype.UUID{b, a}}, nil, Scope{Organizations: []apitype.UUID{a, b}}, true},
		{
			name:   "some, filtered",
			scope:  Scope{Organizations: []apitype.UUID{b, a}},
			filter: []apitype.UUID{c, b},
			want:   Scope{Organizations: []apitype.UUID{b}},
			ok:     true,
		},
		{"only foreign ones", Scope{Organizations: []apitype.UUID{a}}, []apitype.UUID{c}, Scope{}, false},
		{"none", Scope{}, nil, Scope{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before := Scope{
				All:           test.scope.All,
				Organizations: append([]apitype.UUID(nil), test.scope.Organizations...),
			}
			got, ok := test.scope.Narrow(test.filter)
			if diff := cmp.Diff(test.want, got); diff != "" || ok != test.ok {
				t.Errorf("got ok %v, want %v; %s", ok, test.ok, diff)
			}
			if diff := cmp.Diff(before, test.scope); diff != "" {
				t.Errorf("the account's own scope changed: %s", diff)
			}
		})
	}
}

// TestChanged compares documents with values that look like the end of others.
func TestChanged(t *testing.T) {
	t.Parallel()
	tests := []struct{ before, after, want string }{
		{``, `{}`, ``},
		{``, `{"uuid":"1","personUuid":"1","a":"x","b":null,"c":[],"d":{}}`, `a,c,d`},
		{`{"a":1,"b":"2"}`, `{"a":1,"b":"2"}`, ``},
		{`{"a":"x\\","b":"\"c\":1,"}`, `{"a":"x\\\"","b":"\"c\":1,"}`, `a`},
		{`{"a":[1,{"b":"]}"}],"c":1}`, `{"a":[1,{"b":"]}"}],"c":2}`, `c`},
		{`{"a":1}`, `{}`, `a`},
		{`{"c":1,"a":1,"b":1}`, `{"a":1,"b":2,"c":1}`, `b`},
		{`{"address":{"street":"S","city":"C"}}`, `{"address":null}`, `address.street,address.city`},
		{`{"address":null}`, `{"address":{"street":"S","city":null}}`, `address.street`},
		{`{"address":{"city":"C"},"city":1}`, `{"address":{"city":"D"},"city":1}`, `address.city`},
		{`{"result":null}`, `{"result":{"notes":"}"}}`, `result.notes`},
		{`{"externalMetadata":{"a@b.nl":1}}`, `{"externalMetadata":{"a@b.nl":2}}`, `externalMetadata`},
	}
	for i, test := range tests {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			if got := changed([]byte(test.before), []byte(test.after)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A text of up to 500 bytes is in its index as it is. A longer one has its beginning and a digest, which differs for
// another text, and no character is cut. Spec gap: L5.
func TestIndexedText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", strings.Repeat("x", 500), strings.Repeat("世", 166) + "ab"} {
		if got := IndexedText(text); got != text {
			t.Errorf("%d bytes: got %q, want the text itself", len(text), got)
		}
	}
	const digest = len("…") + 64
	for text, want := range map[string]string{
		strings.Repeat("x", 501):            strings.Repeat("x", 500),
		"ab" + strings.Repeat("世", 200):     "ab" + strings.Repeat("世", 166),
		"abc" + strings.Repeat("世", 200):    "abc" + strings.Repeat("世", 165),
		strings.Repeat("x", 500) + "\x00…y": strings.Repeat("x", 500),
	} {
		got := IndexedText(text)
		beginning, ok := strings.CutPrefix(got, want+"…")
		if !ok || len(beginning) != 64 || len(got) != len(want)+digest {
			t.Errorf("%d bytes: got %q, want %d bytes and a digest", len(text), got, len(want))
		}
		if IndexedText(text+"z") == got || IndexedText(got) == got {
			t.Errorf("%d bytes: another text stands for the same", len(text))
		}
	}
}

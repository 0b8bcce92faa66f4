package apitype

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// validated returns the violations of a body in the words of a refusal.
func validated(t *testing.T, kind, body string) string {
	t.Helper()
	const id = "6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10"
	for n, long := range map[string]int{
		"@100":   100,
		"@101":   101,
		"@200":   200,
		"@201":   201,
		"@1000":  1000,
		"@1001":  1001,
		"@20000": 20000,
		"@20001": 20001,
	} {
		body = strings.ReplaceAll(body, `"`+n+`"`, `"`+strings.Repeat("é", long)+`"`)
	}
	read := func(whole string, request any) {
		t.Helper()
		members := map[string]jsontext.Value{}
		for _, part := range []string{whole, body} { // What is tested takes the place of what is well.
			if err := json.Unmarshal([]byte(part), &members); err != nil {
				t.Fatalf("%s %s: %v", kind, part, err)
			}
		}
		text, err := json.Marshal(members)
		if err == nil {
			err = json.Unmarshal(text, request)
		}
		if err != nil {
			t.Fatalf("%s %s: %v", kind, text, err)
		}
	}
	var v Violations
	switch kind {
	case "person":
		var r CreatePersonRequest
		read(`{"owningOrganizationUuid":"`+id+`","recruitingOrganizationUuid":"`+id+`"}`, &r)
		v = r.Validate(testNow)
	case "person update":
		var r UpdatePersonRequest
		read(`{}`, &r)
		v = r.Validate(testNow)
	case "call":
		var r CreateCallRequest
		read(`{"personUuid":"`+id+`","requestedAt":"2026-11-20T09:00:00Z","type":"winback"}`, &r)
		v = r.Validate()
	case "external call":
		var r CreateCallRequest
		read(`{"personUuid":"`+id+`","requestedAt":"2026-11-20T09:00:00Z","externalMetadata":{}}`, &r)
		v = r.Validate()
	case "completion":
		var r CompleteCallRequest
		read(`{}`, &r)
		v = r.Validate()
	case "pledge", "external pledge":
		var r CreatePledgeRequest
		whole := `{"personUuid":"` + id + `","createdAt":"2026-11-20T09:00:00Z","startsAt":"2026-12-01","owningOrganizationUuid":"` + id + `","recruitingOrganizationUuid":"` + id +
			`","recruiterUserUuid":"` + id + `","initialDonationInterval":"monthly","initialDonationAmount":25`
		if kind == "external pledge" {
			whole += `,"externalSource":{"name":"crm","identifier":"7"}`
		}
		read(whole+"}", &r)
		v = r.Validate(testNow)
	case "pledge update":
		var r UpdatePledgeRequest
		read(`{}`, &r)
		v = r.Validate()
	case "take":
		var r TakeRequest
		read(`{"requestUuid":"`+id+`","userUuid":"`+id+`"}`, &r)
		v = r.Validate()
	case "extension":
		var r ExtendRequest
		read(`{}`, &r)
		v = r.Validate()
	case "entry":
		var r UncheckedEntry
		read(`{"entityName":"call","entityUuid":"`+id+`","processedAt":"2026-11-20T09:00:00Z"}`, &r)
		_, problem := r.Check()
		return problem
	default:
		t.Fatalf("nobody knows %s", kind)
	}
	return v.Error()
}

// Each bound of each field, and the sentence that refuses what lies beyond it.
func TestViolations(t *testing.T) {
	t.Parallel()
	const zero = "00000000-0000-0000-0000-000000000000"
	forbidden := func(names ...string) string {
		for i, name := range names {
			names[i] = name + " is not allowed for a service-managed call; external calls carry externalMetadata"
		}
		return strings.Join(names, "; ")
	}
	tests := []struct{ kind, body, want string }{
		{"person", `{"name":{"firstName":"a\u0000b"}}`, "name.firstName must not contain a NUL character"},
		{
			kind: "person",
			body: `{"mobilePhoneNumber":"+31 612345678"}`,
			want: "mobilePhoneNumber must be in international format, such as +31612345678",
		},
		{"person", `{"uuid":"` + zero + `"}`, "uuid must be a version 4 UUID"},
		{
			kind: "person",
			body: `{"owningOrganizationUuid":"` + zero + `","recruitingOrganizationUuid":"` + zero + `"}`,
			want: "owningOrganizationUuid is required; recruitingOrganizationUuid is required",
		},
		{"person", `{"academicTitle":"@1000"}`, ""},
		{"person", `{"academicTitle":"@1001"}`, "academicTitle must have at most 1000 characters"},
		{"person", `{"academicTitle":""}`, "academicTitle must not be empty; use null for no value"},
		{"person", `{"dateOfBirth":"1900-01-01"}`, ""},
		{"person", `{"dateOfBirth":"1899-12-31"}`, "dateOfBirth must be a day from 1900-01-01 to today"},
		{"person", `{"dateOfBirth":"2026-11-20"}`, ""},
		{"person", `{"dateOfBirth":"2026-11-21"}`, "dateOfBirth must be a day from 1900-01-01 to today"},
		{"person", `{"socialSecurityNumber":"1234"}`, ""},
		{"person", `{"socialSecurityNumber":"123"}`, "socialSecurityNumber must be 4 to 15 digits without separators"},
		{"person", `{"socialSecurityNumber":"123456789012345"}`, ""},
		{
			kind: "person",
			body: `{"socialSecurityNumber":"1234567890123456"}`,
			want: "socialSecurityNumber must be 4 to 15 digits without separators",
		},
		{"person", `{"socialSecurityNumber":"123a"}`, "socialSecurityNumber must be 4 to 15 digits without separators"},
		{"person", `{"gender":"f"}`, "gender must be one of male, female, other, unknown"},
		{"person", `{"phoneNumber":"+1234567","mobilePhoneNumber":"+123456789012345"}`, ""},
		{
			kind: "person",
			body: `{"phoneNumber":"+123456","mobilePhoneNumber":"+1234567890123456"}`,
			want: "phoneNumber must be in international format, such as +31612345678; mobilePhoneNumber must be in international format, such as +31612345678",
		},
		{
			kind: "person",
			body: `{"phoneNumber":"+0234567","mobilePhoneNumber":"1234567890"}`,
			want: "phoneNumber must be in international format, such as +31612345678; mobilePhoneNumber must be in international format, such as +31612345678",
		},
		{"person", `{"phoneNumber":"+12345a7"}`, "phoneNumber must be in international format, such as +31612345678"},
		{"person", `{"email":"a@b.nl"}`, ""},
		{"person", `{"email":"A <a@b.nl>"}`, "email must be one e-mail address, such as name@example.org"},
		{"person", `{"email":"a@b"}`, "email must be one e-mail address, such as name@example.org"},
		{"person", `{"email":"a@-b.nl"}`, "email must be one e-mail address, such as name@example.org"},
		{"person", `{"email":"a@b-.nl"}`, "email must be one e-mail address, such as name@example.org"},
		{"person", `{"email":"a@[1.2.3.4]"}`, "email must be one e-mail address, such as name@example.org"},
		{"person", `{"email":""}`, "email must not be empty; use null for no value"},
		{"person", `{"email":"@1001"}`, "email is too long"},
		{"person", `{"language":"NL"}`, ""},
		{"person", `{"language":"nld"}`, "language must be an ISO 639-1 language code, such as nl"},
		{"person", `{"language":"aa"}`, ""},
		{"person", `{"language":"zu"}`, ""},
		{"person", `{"language":"xx"}`, "language must be an ISO 639-1 language code, such as nl"},
		{"person", `{"language":"a "}`, "language must be an ISO 639-1 language code, such as nl"},
		{"person", `{"iban":"NL9"}`, "iban is not a valid IBAN: too short"},
		{"person", `{"iban":"NL91"}`, "iban is not a valid IBAN: wrong length for its country"},
		{
			kind: "person",
			body: `{"iban":"ZZ91ABNA0417164300"}`,
			want: "iban is not a valid IBAN: the first two letters are not a country that has them",
		},
		{"person", `{"iban":"NL91ABNA041716430!"}`, "iban is not a valid IBAN: letters and digits only"},
		{"person", `{"iban":"NL91ABNA041716430/"}`, "iban is not a valid IBAN: letters and digits only"},
		{"person", `{"iban":"NL91ABNA041716430:"}`, "iban is not a valid IBAN: letters and digits only"},
		{"person", `{"iban":"NL91ABNA041716430@"}`, "iban is not a valid IBAN: letters and digits only"},
		{"person", `{"iban":"NL91ABNA041716430["}`, "iban is not a valid IBAN: letters and digits only"},
		{"person", `{"iban":"NL91ABNA0417164301"}`, "iban is not a valid IBAN: its check digits do not match"},
		{"person", `{"iban":"GB82 WEST 1234 5698 7654 32"}`, ""},
		{"person", `{"iban":"MT84MALT011000012345MTLCAST001S"}`, ""},
		{"person", `{"iban":""}`, "iban must not be empty; use null for no value"},
		{
			kind: "person",
			body: `{"name":{"initials":"@1001","firstName":"@1001","lastNamePrefix":"@1001","lastName":"@1001"}}`,
			want: "name.initials must have at most 1000 characters; name.firstName must have at most 1000 characters; name.lastNamePrefix must have at most 1000 characters; name.lastName must have at most 1000 characters",
		},
		{
			kind: "person",
			body: `{"address":{}}`,
			want: "address.street is required; address.houseNumber is required; address.zipCode is required; address.city is required; address.country is required",
		},
		{
			kind: "person",
			body: `{"address":{"street":"@200","houseNumber":"@200","houseNumberExtension":"@200","zipCode":"@200","city":"@200","country":"zw"}}`,
		},
		{
			kind: "person",
			body: `{"address":{"street":"@201","houseNumber":"@201","houseNumberExtension":"@201","zipCode":"@201","city":"@201","country":"XX"}}`,
			want: "address.street must have at most 200 characters; address.houseNumber must have at most 200 characters; address.houseNumberExtension must have at most 200 characters; address.zipCode must have at most 200 characters; address.city must have at most 200 characters; address.country must be an ISO 3166-1 country code of two letters, such as NL",
		},
		{"person", `{"mandate":{"id":"@1001"}}`, "mandate.id must have at most 1000 characters"},

		{"person update", `{}`, ""},
		{
			kind: "person update",
			body: `{"academicTitle":"@1001","dateOfBirth":"1899-12-31","socialSecurityNumber":"1","gender":"f","phoneNumber":"1"}`,
			want: "academicTitle must have at most 1000 characters; dateOfBirth must be a day from 1900-01-01 to today; socialSecurityNumber must be 4 to 15 digits without separators; gender must be one of male, female, other, unknown; phoneNumber must be in international format, such as +31612345678",
		},
		{
			kind: "person update",
			body: `{"mobilePhoneNumber":"1","email":"a","language":"a","iban":"NL"}`,
			want: "mobilePhoneNumber must be in international format, such as +31612345678; email must be one e-mail address, such as name@example.org; language must be an ISO 639-1 language code, such as nl; iban is not a valid IBAN: too short",
		},
		{
			kind: "person update",
			body: `{"name":{"initials":"","firstName":"","lastNamePrefix":"","lastName":""}}`,
			want: "name.initials must not be empty; use null for no value; name.firstName must not be empty; use null for no value; name.lastNamePrefix must not be empty; use null for no value; name.lastName must not be empty; use null for no value",
		},
		{"person update", `{"name":null,"address":null,"mandate":null,"optIns":null,"iban":null}`, ""},
		{
			kind: "person update",
			body: `{"address":{"street":null,"houseNumber":null,"houseNumberExtension":null,"zipCode":null,"city":null,"country":null}}`,
			want: "address.street cannot be cleared alone; clear the address; address.houseNumber cannot be cleared alone; clear the address; address.zipCode cannot be cleared alone; clear the address; address.city cannot be cleared alone; clear the address; address.country cannot be cleared alone; clear the address",
		},
		{
			kind: "person update",
			body: `{"address":{"street":"@201","houseNumberExtension":"@201","country":"XX"}}`,
			want: "address.street must have at most 200 characters; address.houseNumberExtension must have at most 200 characters; address.country must be an ISO 3166-1 country code of two letters, such as NL",
		},
		{"person update", `{"address":{"country":""}}`, "address.country must not be empty; use null for no value"},
		{
			kind: "person update",
			body: `{"mandate":{"id":"@1001","createdAt":null}}`,
			want: "mandate.id must have at most 1000 characters; mandate.createdAt cannot be cleared alone; clear the mandate",
		},

		{
			kind: "call",
			body: `{"uuid":"` + zero + `","personUuid":"` + zero + `","requestedAt":null,"type":"x","status":"y"}`,
			want: "uuid must be a version 4 UUID; requestedAt is required; personUuid is required; type must be one of verification, happy_call, winback; status must be one of requested, completed, cancelled, expired; status is not allowed for a service-managed call; external calls carry externalMetadata",
		},
		{"call", `{"notes":"@20000"}`, ""},
		{"call", `{"notes":"@20001"}`, "notes must have at most 20000 characters"},
		{
			kind: "call",
			body: `{"cancelledAt":"2026-11-20","completedAt":"2026-11-20","externalSource":{},"attempts":[],"result":{}}`,
			want: forbidden("cancelledAt", "completedAt", "externalSource", "attempts", "result"),
		},
		{"call", `{"type":null}`, "type is required for a service-managed call"},
		{"external call", `{"status":"completed","completedAt":"2026-11-20","result":{}}`, ""},
		{"external call", `{"status":"cancelled","cancelledAt":"2026-11-20"}`, ""},
		{
			kind: "external call",
			body: `{"completedAt":"2026-11-20","cancelledAt":"2026-11-20","result":{}}`,
			want: "completedAt does not fit the status; cancelledAt does not fit the status; result does not fit the status",
		},
		{"external call", `{"status":"completed","cancelledAt":"2026-11-20"}`, "cancelledAt does not fit the status"},
		{"external call", `{"status":"cancelled","result":{}}`, "result does not fit the status"},
		{
			kind: "external call",
			body: `{"externalSource":{}}`,
			want: "externalSource.name is required; externalSource.identifier is required",
		},
		{
			kind: "external call",
			body: `{"externalSource":{"name":"@1001","identifier":"@1001"}}`,
			want: "externalSource.name must have at most 1000 characters; externalSource.identifier must have at most 1000 characters",
		},
		{
			kind: "external call",
			body: `{"externalMetadata":{"applicationName":"@1001","referenceId":"@1001","agentReferenceId":"@1001","statusCode":"@1001","statusDescription":"@1001"}}`,
			want: "externalMetadata.applicationName must have at most 1000 characters; externalMetadata.referenceId must have at most 1000 characters; externalMetadata.agentReferenceId must have at most 1000 characters; externalMetadata.statusCode must have at most 1000 characters; externalMetadata.statusDescription must have at most 1000 characters",
		},
		{"external call", `{"attempts":[{"createdAt":"2026-11-20"},{}]}`, "attempts.1.createdAt is required"},
		{
			kind: "external call",
			body: `{"type":"winback"}`,
			want: "type is not allowed for an external call, which becomes a verification",
		},

		{"completion", `{}`, ""},
		{"completion", `{"result":{"donorRetentionRating":0,"resultCode":"@100","notes":"@20000"}}`, ""},
		{"completion", `{"result":{"donorRetentionRating":10}}`, ""},
		{
			kind: "completion",
			body: `{"result":{"donorRetentionRating":10.1}}`,
			want: "result.donorRetentionRating must be a number from 0 to 10",
		},
		{
			kind: "completion",
			body: `{"result":{"donorRetentionRating":-0.1}}`,
			want: "result.donorRetentionRating must be a number from 0 to 10",
		},
		{"completion", `{"result":{"donorRetentionRating":7.` + strings.Repeat("5", 30) + `}}`, ""},
		{
			kind: "completion",
			body: `{"result":{"donorRetentionRating":7.` + strings.Repeat("5", 31) + `}}`,
			want: "result.donorRetentionRating must be written with 32 characters at most",
		},
		{
			kind: "external call",
			body: `{"status":"completed","result":{"donorRetentionRating":1.` + strings.Repeat("0", 31) + `}}`,
			want: "result.donorRetentionRating must be written with 32 characters at most",
		},
		{
			kind: "completion",
			body: `{"result":{"resultCode":"@101","notes":"@20001"}}`,
			want: "result.notes must have at most 20000 characters; result.resultCode must be 1 to 100 printable characters",
		},
		{"completion", `{"result":{"resultCode":""}}`, "result.resultCode must be 1 to 100 printable characters"},
		{"completion", `{"result":{"resultCode":"a\tb"}}`, "result.resultCode must be 1 to 100 printable characters"},

		{
			kind: "pledge",
			body: `{"uuid":"` + zero + `","personUuid":"` + zero +
				`","createdAt":null,"startsAt":null,"owningOrganizationUuid":"` + zero +
				`","recruitingOrganizationUuid":"` + zero + `","recruiterUserUuid":"` + zero + `"}`,
			want: "uuid must be a version 4 UUID; personUuid is required; createdAt is required; owningOrganizationUuid is required; recruitingOrganizationUuid is required; recruiterUserUuid is required; startsAt is required",
		},
		{"pledge", `{"createdAt":"2026-11-21T09:00:00Z"}`, ""},
		{"pledge", `{"createdAt":"2026-11-21T09:00:00.001Z"}`, "createdAt must not be in the future"},
		{
			kind: "pledge",
			body: `{"recruitingLocationLabel":"@1001","recruitmentType":"x","initialDonationInterval":"x","initialDonationAmount":0}`,
			want: "recruitingLocationLabel must have at most 1000 characters; initialDonationInterval must be one of once, monthly, quarterly, half-yearly, yearly; initialDonationAmount is required and must be greater than 0; recruitmentType must be one of d2d, street",
		},
		{"pledge", `{"initialDonationInterval":""}`, "initialDonationInterval is required"},
		{"pledge", `{"initialDonationAmount":0.01,"preferredPaymentDay":1}`, ""},
		{"pledge", `{"initialDonationAmount":9999999.99,"preferredPaymentDay":28}`, ""},
		{
			kind: "pledge",
			body: `{"initialDonationAmount":10000000,"preferredPaymentDay":29}`,
			want: "initialDonationAmount must be greater than 0 and at most 9999999.99 euros; preferredPaymentDay must be a whole number from 1 to 28",
		},
		{
			kind: "pledge",
			body: `{"initialDonationAmount":-0.01,"preferredPaymentDay":0}`,
			want: "initialDonationAmount must be greater than 0 and at most 9999999.99 euros; preferredPaymentDay must be a whole number from 1 to 28",
		},
		{"pledge", `{"initialDonationAmount":0.001}`, "initialDonationAmount must have at most two decimals"},
		{
			kind: "pledge",
			body: `{"initialDonationAmount":-0.001}`,
			want: "initialDonationAmount must be greater than 0 and at most 9999999.99 euros",
		},
		{"pledge", `{"initialDonationAmount":9999999.989}`, "initialDonationAmount must have at most two decimals"},
		{
			kind: "pledge",
			body: `{"initialDonationAmount":9999999.991}`,
			want: "initialDonationAmount must be greater than 0 and at most 9999999.99 euros",
		},
		{
			kind: "pledge",
			body: `{"status":"lead","donationInterval":"once","donationAmount":1,"cancelledAt":"2026-11-20","droppedAt":"2026-11-20","releasedAt":"2026-11-20"}`,
			want: "status is not allowed for a service-managed pledge; it starts as lead; donationInterval is not allowed for a service-managed pledge; use initialDonationInterval; donationAmount is not allowed for a service-managed pledge; use initialDonationAmount; cancelledAt is not allowed for a service-managed pledge; use the status action; droppedAt is not allowed for a service-managed pledge; use the status action; releasedAt is not allowed for a service-managed pledge; it follows from the cooling-off period",
		},
		{"pledge", `{"endsAt":"2026-12-01"}`, ""},
		{"pledge", `{"endsAt":"2026-11-30"}`, "endsAt must not be before startsAt"},
		{"external pledge", `{"status":"cancelled","cancelledAt":"2026-11-20","endsAt":"2026-11-30"}`, ""},
		{
			kind: "external pledge",
			body: `{"status":"dropped","droppedAt":"2026-11-20","donationInterval":"once","donationAmount":1}`,
		},
		{
			kind: "external pledge",
			body: `{"cancelledAt":"2026-11-20","droppedAt":"2026-11-20","donationInterval":"x","donationAmount":0,"status":"x"}`,
			want: "status must be one of lead, active, dropped, cancelled, fulfilled; donationInterval must be one of once, monthly, quarterly, half-yearly, yearly; donationAmount is required and must be greater than 0; cancelledAt does not fit the status; droppedAt does not fit the status",
		},
		{"external pledge", `{"cancelledAt":"2026-11-20"}`, "cancelledAt does not fit the status"},
		{
			kind: "external pledge",
			body: `{"externalSource":{}}`,
			want: "externalSource.name is required; externalSource.identifier is required",
		},
		{
			kind: "pledge update",
			body: `{"recruitingLocationLabel":"@1001","donationInterval":"x","donationAmount":0,"recruiterUserUuid":"` + zero + `"}`,
			want: "recruitingLocationLabel must have at most 1000 characters; donationInterval must be one of once, monthly, quarterly, half-yearly, yearly; donationAmount is required and must be greater than 0; recruiterUserUuid is required",
		},
		{
			kind: "pledge update",
			body: `{"donationInterval":null,"donationAmount":null,"recruiterUserUuid":null,"startsAt":null,"endsAt":null,"recruitingLocationLabel":null}`,
			want: "donationInterval cannot be cleared; donationAmount cannot be cleared; recruiterUserUuid cannot be cleared; startsAt cannot be cleared",
		},

		{
			kind: "take",
			body: `{"requestUuid":"` + zero + `","userUuid":"` + zero +
				`","count":0,"leaseSeconds":29,"types":["winback","x"],"languages":["NL","yy"]}`,
			want: "requestUuid is required; userUuid is required; count must be a whole number from 1 to 10; leaseSeconds must be a whole number from 30 to 3600; types.1 must be one of verification, happy_call, winback; languages.1 must be an ISO 639-1 language code, such as nl",
		},
		{"take", `{"count":1,"leaseSeconds":30}`, ""},
		{"take", `{"count":10,"leaseSeconds":3600}`, ""},
		{
			kind: "take",
			body: `{"count":11,"leaseSeconds":3601}`,
			want: "count must be a whole number from 1 to 10; leaseSeconds must be a whole number from 30 to 3600",
		},
		{
			kind: "take",
			body: `{"types":["winback"` + strings.Repeat(`,"winback"`, 199) + `],"languages":["nl"` +
				strings.Repeat(`,"nl"`, 199) + `],"owningOrganizationUuids":["` + zero + `"` +
				strings.Repeat(`,"`+zero+`"`, 199) + `]}`,
		},
		{
			kind: "take",
			body: `{"types":["winback"` + strings.Repeat(`,"winback"`, 200) + `],"languages":["nl"` +
				strings.Repeat(`,"nl"`, 200) + `],"owningOrganizationUuids":["` + zero + `"` +
				strings.Repeat(`,"`+zero+`"`, 200) + `]}`,
			want: "types must have 200 items at most; languages must have 200 items at most; owningOrganizationUuids must have 200 items at most",
		},
		{"extension", `{}`, ""},
		{"extension", `{"leaseSeconds":29}`, "leaseSeconds must be a whole number from 30 to 3600"},

		{"entry", `{"externalSourceName":"@1000","consumerIdentifier":"` + zero + `"}`, ""},
		{
			kind: "entry",
			body: `{"entityName":"x","entityUuid":"y","processedAt":"z","externalSourceName":"@1001","consumerIdentifier":"c"}`,
			want: "entityName must be one of person, pledge, call, transaction; entityUuid is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits); processedAt is not an RFC 3339 time such as 2026-11-20T09:15:00Z, nor a date such as 2026-11-20; externalSourceName must have at most 1000 characters; consumerIdentifier is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits)",
		},
		{"entry", `{"entityName":null}`, "entityName, entityUuid and processedAt are required"},
		{"entry", `{"entityUuid":null}`, "entityName, entityUuid and processedAt are required"},
		{"entry", `{"processedAt":null}`, "entityName, entityUuid and processedAt are required"},
		{"entry", `{"entityName":""}`, "entityName is required"},
	}
	for _, test := range tests {
		if got := validated(t, test.kind, test.body); got != test.want {
			t.Errorf("%s %.200s:\ngot  %s\nwant %s", test.kind, test.body, got, test.want)
		}
	}
}

// The parameters of the lists, as they are refused.
func TestRefusedParameters(t *testing.T) {
	t.Parallel()
	persons := func(q url.Values) string { _, v := ParsePersonListOptions(q); return v.Error() }
	calls := func(q url.Values) string { _, v := ParseCallListOptions(q); return v.Error() }
	pledges := func(q url.Values) string { _, v := ParsePledgeListOptions(q); return v.Error() }
	queue := func(q url.Values) string { _, v := ParseQueueOptions(q); return v.Error() }
	waiting := func(q url.Values) string { _, v := ParseQueueCallListOptions(q); return v.Error() }
	agents := func(q url.Values) string { _, v := ParseQueueAgentsOptions(q); return v.Error() }
	for _, test := range []struct {
		parse       func(url.Values) string
		query, want string
	}{
		{persons, "first=0", ""},
		{persons, "first=500", ""},
		{persons, "first=501", "first must be a whole number from 0 to 500"},
		{persons, "last=-1", "last must be a whole number from 0 to 500"},
		{persons, "first=%2B7", "first must be a whole number from 0 to 500"},
		{persons, "first=x", "first must be a whole number from 0 to 500"},
		{persons, "first=1&last=1", "last cannot be combined with first"},
		{persons, "after=", "after must not be empty"},
		{persons, "after=a&after=b", "after must be given once"},
		{persons, "after=" + strings.Repeat("x", 1000), ""},
		{persons, "after=" + strings.Repeat("x", 1001), "after is too long"},
		{persons, "before=%00", "before must not contain a NUL character"},
		{persons, "before=%ff", "before must be valid UTF-8"},
		{
			parse: persons,
			query: "createdAfter=then",
			want:  "createdAfter is not an RFC 3339 time such as 2026-11-20T09:15:00Z, nor a date such as 2026-11-20",
		},
		{
			parse: persons,
			query: "owningOrganizationUuids=x",
			want:  "owningOrganizationUuids is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits)",
		},
		{
			parse: persons,
			query: "owningOrganizationUuids=6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10,6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e11&owningOrganizationUuids=6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e12",
		},
		{persons, "owningOrganizationUuids=,", "owningOrganizationUuids must not be empty"},
		{
			parse: persons,
			query: "x=1",
			want:  "x is not a parameter of this list; there are owningOrganizationUuids, createdAfter, iban, updatedAfter, search, revisions, consents, before, last, after, first",
		},
		{
			parse: calls,
			query: "include=person,x&status=y",
			want:  "include must be one of person, personQualityResult, pledge, transactions, recruiterFullName; status must be one of requested, completed, cancelled, expired",
		},
		{calls, "requestedFrom=2026-11-20", "requestedFrom must be used with requestedUntil"},
		{calls, "requestedUntil=2026-11-20", "requestedFrom must be used with requestedUntil"},
		{calls, "requestedUntil=2026-11-20&requestedFrom=2026-11-20", ""},
		{calls, "externalApplicationName=a", "externalApplicationName must be used with externalReferenceId"},
		{calls, "externalReferenceId=a", "externalApplicationName must be used with externalReferenceId"},
		{
			parse: calls,
			query: "externalReferenceId=null&externalApplicationName=a",
			want:  "externalApplicationName must be null together with externalReferenceId",
		},
		{
			parse: calls,
			query: "externalReferenceId=a&externalApplicationName=null",
			want:  "externalApplicationName must be null together with externalReferenceId",
		},
		{calls, "externalReferenceId=null&externalApplicationName=null", ""},
		{calls, "externalReferenceId=a&externalApplicationName=b", ""},
		{calls, "include=recruiterFullName,person", ""},
		{
			parse: pledges,
			query: "include=x&status=y&withPaymentQr=z&personUuid=u",
			want:  "include must be one of person, transactions; personUuid is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits); status must be one of lead, active, dropped, cancelled, fulfilled; withPaymentQr must be true or false",
		},
		{
			parse: queue,
			query: "types=x&languages=yy&userUuid=z",
			want:  "languages must be an ISO 639-1 language code, such as nl; types must be one of verification, happy_call, winback; userUuid is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits)",
		},
		{
			parse: waiting,
			query: "first=501&after=&last=1",
			want:  "after must not be empty; first must be a whole number from 0 to 500; last is not a parameter of this list; there are types, languages, owningOrganizationUuids, userUuid, first, after",
		},
		{
			parse: agents,
			query: "since=then&x=1",
			want:  "since is not an RFC 3339 time such as 2026-11-20T09:15:00Z, nor a date such as 2026-11-20; x is not a parameter of this list; there are since, userUuid",
		},
	} {
		values, err := url.ParseQuery(test.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := test.parse(values); got != test.want {
			t.Errorf("%.100s:\ngot  %s\nwant %s", test.query, got, test.want)
		}
	}
}

// Each filter is set as it is typed and sent as it was set.
func TestFiltersAsTyped(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	const id = "6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10"
	for _, test := range []struct{ name, text, sent, wrong string }{
		{"status", "completed,expired", "completed,expired", ""},
		{"status", "x", "", "must be one of requested, completed, cancelled, expired"},
		{"status", "", "", "must not be empty; leave it out for everything"},
		{"type", "winback", "winback", ""},
		{"person", id, id, ""},
		{"person", "x", "", "is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits)"},
		{"resultCode", "reached", "reached", ""},
		{"attempts", "0,9,10+", "0,9,10+", ""},
		{"attempts", "3+", "3+", ""},
		{"attempts", "10", "", "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10+, 1+, 2+, 3+, 4+, 5+, 6+, 7+, 8+, 9+"},
		{"attemptBy", id, id, ""},
		{"completedOn", "1h", "2026-11-20T08:15:00.000Z", ""},
	} {
		all := CallSelections()
		f := all[slices.IndexFunc(all, func(f Filter[CallSelection]) bool { return f.Name == test.name })]
		var s CallSelection
		err := f.Set(&s, test.text, now)
		if test.wrong != "" {
			if err == nil || err.Error() != test.wrong || !s.IsEmpty() {
				t.Errorf("%s %q: got %v, want %q", test.name, test.text, err, test.wrong)
			}
		} else if err != nil || f.Text(&s) != test.sent || s.IsEmpty() {
			t.Errorf("%s %q: got %q, %v, want %q", test.name, test.text, f.Text(&s), err, test.sent)
		}
	}
	names := map[string]string{}
	for _, f := range PersonFilters() {
		names[f.FlagName()] = f.Kind() + " " + strings.Join(f.Values(), " ")
	}
	for _, f := range CallFilters() {
		names[f.FlagName()] = f.Kind() + " " + strings.Join(f.Values(), " ")
	}
	for _, f := range PledgeFilters() {
		names[f.FlagName()] = f.Kind() + " " + strings.Join(f.Values(), " ")
	}
	want := map[string]string{
		"owning-organization":       "uuid ",
		"created-after":             "time ",
		"iban":                      "string ",
		"external-status-code":      "string ",
		"external-reference-id":     "string ",
		"external-application-name": "string ",
		"requested-from":            "time ",
		"requested-until":           "time ",
		"requested-after":           "time ",
		"updated-after":             "time ",
		"include":                   "strings person transactions",
		"person":                    "uuid ",
		"with-payment-qr":           "bool true false",
		"status":                    "string lead active dropped cancelled fulfilled",
		"released-after":            "time ",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

// A call is chosen when it passes each filter that is set.
func TestCallSelection(t *testing.T) {
	t.Parallel()
	person, user := NewUUID(), NewUUID()
	ended := NewTime(time.Date(2026, 11, 20, 9, 0, 0, 0, time.Local))
	call := Call{
		Status: CallCompleted, Type: CallWinback, PersonUUID: person, AttemptsCount: 9, CompletedAt: &ended,
		Attempts: Embed([]CallAttempt{{}, {UserUUID: &user}}), Result: Embed(CallResult{ResultCode: new("reached")}),
	}
	another := NewUUID()
	for name, test := range map[string]struct {
		selection CallSelection
		want      bool
	}{
		"nothing":        {CallSelection{}, true},
		"its status":     {CallSelection{Statuses: []CallStatus{CallExpired, CallCompleted}}, true},
		"another status": {CallSelection{Statuses: []CallStatus{CallExpired}}, false},
		"its type":       {CallSelection{Types: []CallType{CallWinback}}, true},
		"another type":   {CallSelection{Types: []CallType{CallHappy}}, false},
		"its person":     {CallSelection{PersonUUID: &person}, true},
		"another person": {CallSelection{PersonUUID: &another}, false},
		"its result":     {CallSelection{ResultCode: "reached"}, true},
		"another result": {CallSelection{ResultCode: "refused"}, false},
		"its attempts":   {CallSelection{Attempts: []string{"8", "9"}}, true},
		"other attempts": {CallSelection{Attempts: []string{"10+"}}, false},
		"its agent":      {CallSelection{AttemptBy: &user}, true},
		"another agent":  {CallSelection{AttemptBy: &another}, false},
		"its day": {
			selection: CallSelection{CompletedOn: new(NewTime(time.Date(2026, 11, 20, 23, 0, 0, 0, time.Local)))},
			want:      true,
		},
		"another day": {
			selection: CallSelection{CompletedOn: new(NewTime(time.Date(2026, 11, 21, 1, 0, 0, 0, time.Local)))},
		},
		"one of two that differ": {
			selection: CallSelection{Types: []CallType{CallWinback}, Statuses: []CallStatus{CallExpired}},
		},
	} {
		if got := test.selection.Passes(call); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
	for name, s := range map[string]CallSelection{
		"result": {ResultCode: "reached"}, "agent": {AttemptBy: &user}, "day": {CompletedOn: &ended},
	} {
		if s.Passes(Call{}) {
			t.Errorf("a call without any passes a filter for its %s", name)
		}
	}
	for n, want := range map[int]string{0: "0", 9: "9", 10: "10+", 11: "10+"} {
		if got := AttemptsGroup(n); got != want {
			t.Errorf("%d attempts: got %s, want %s", n, got, want)
		}
	}
}

// The forms of the interface that hold other JSON: objects as they are, or as text.
func TestObjects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{}`:                       1,
		`7`:                        0,
		`[[{}]]`:                   3,
		`{"a":[1,{"b":2}],"c":{}}`: 3,
		`{"a":"[[\"{"}`:            1,
		`{"\\":[]}`:                2,
		`[[],[[]]]`:                3,
	} {
		if got := Depth([]byte(text)); got != want {
			t.Errorf("%s: got depth %d, want %d", text, got, want)
		}
	}
	nested := func(n int) string { return strings.Repeat(`{\"a\":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }
	for text, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, `"{\"a\":1}"`: `{"a":1}`, `null`: `{}`, `7`: "", `"7"`: "", `"{"`: "", `[]`: "",
		`"` + nested(64) + `"`: strings.ReplaceAll(nested(64), `\`, ""), `"` + nested(65) + `"`: "",
	} {
		var o EncodedObject
		err := o.UnmarshalJSON([]byte(text))
		got := ""
		if err == nil {
			written, _ := Object(o).MarshalJSON()
			got = string(written)
		}
		if got != want {
			t.Errorf("%.100s: got %q, %v, want %q", text, got, err, want)
		}
	}
	written, err := EncodedObject(nil).MarshalJSON()
	if err != nil || string(written) != `"{}"` {
		t.Errorf("got %s, %v, want an object as text", written, err)
	}
	for raw, want := range map[string]string{
		`{"uuid":"6F1D4C2E-8A55-4B0E-9C39-0D2F3B6A7E10","x":`:              "6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10",
		`{"a":{"uuid":"x"},"uuid":"6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10"}`: "6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10",
		`{"uuid":7}`:        "",
		`{"uuid":"x"}`:      "",
		`[]`:                "",
		``:                  "",
		`{`:                 "",
		`{"a":`:             "",
		`{"a`:               "",
		`{"uuid":"6f1d4c2e`: "",
	} {
		got, err := RecordUUID([]byte(raw))
		if want == "" && err == nil || want != "" && got.String() != want {
			t.Errorf("%s: got %s, %v, want %q", raw, got, err, want)
		}
	}
}

package apitype

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var testNow = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func TestCreatePersonRequestValidate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*CreatePersonRequest)
		want   []string // Pointers of the violations.
	}{
		{"all is well", func(*CreatePersonRequest) {}, nil},
		{"no organizations", func(r *CreatePersonRequest) {
			r.OwningOrganizationUUID, r.RecruitingOrganizationUUID = UUID{}, UUID{}
		}, []string{"/owningOrganizationUuid", "/recruitingOrganizationUuid"}},
		{"uuid of another version", func(r *CreatePersonRequest) {
			r.UUID = new(MustParseUUID("6f1d4c2e-8a55-1b0e-9c39-0d2f3b6a7e10"))
		}, []string{"/uuid"}},
		{"check digits", func(r *CreatePersonRequest) { r.IBAN = new("NL92ABNA0417164300") }, []string{"/iban"}},
		{"shorter than the country's", func(r *CreatePersonRequest) { r.IBAN = new("NL58ABNA041716430") }, []string{"/iban"}},
		{"longer than the country's", func(r *CreatePersonRequest) { r.IBAN = new("NL33ABNA04171643000") }, []string{"/iban"}},
		{"country without IBANs", func(r *CreatePersonRequest) { r.IBAN = new("ZZ91ABNA0417164300") }, []string{"/iban"}},
		{"phone without plus", func(r *CreatePersonRequest) { r.PhoneNumber = new("0612345678") }, []string{"/phoneNumber"}},
		{"phone with spaces", func(r *CreatePersonRequest) { r.MobilePhoneNumber = new("+31 612345678") }, []string{"/mobilePhoneNumber"}},
		{"phone of 16 digits", func(r *CreatePersonRequest) { r.PhoneNumber = new("+3161234567812345") }, []string{"/phoneNumber"}},
		{"mailbox with a name", func(r *CreatePersonRequest) { r.Email = new("A <a@example.org>") }, []string{"/email"}},
		{"domain without a dot", func(r *CreatePersonRequest) { r.Email = new("a@localhost") }, []string{"/email"}},
		{"language of three letters", func(r *CreatePersonRequest) { r.Language = new("nld") }, []string{"/language"}},
		{"language that is none", func(r *CreatePersonRequest) { r.Language = new("xx") }, []string{"/language"}},
		{"gender of another list", func(r *CreatePersonRequest) { r.Gender = new(Gender("f")) }, []string{"/gender"}},
		{"letters in the social security number", func(r *CreatePersonRequest) { r.SocialSecurityNumber = new("12345678A") }, []string{"/socialSecurityNumber"}},
		{"born tomorrow", func(r *CreatePersonRequest) { r.DateOfBirth = &Date{2026, 11, 22} }, []string{"/dateOfBirth"}},
		{"born before 1900", func(r *CreatePersonRequest) { r.DateOfBirth = &Date{1899, 12, 31} }, []string{"/dateOfBirth"}},
		{"empty text", func(r *CreatePersonRequest) { r.AcademicTitle = new("") }, []string{"/academicTitle"}},
		{"NUL in a name", func(r *CreatePersonRequest) { r.Name = &Name{FirstName: new("a\x00b")} }, []string{"/name/firstName"}},
		{"name of 1,001 characters", func(r *CreatePersonRequest) { r.Name = &Name{LastName: new(strings.Repeat("é", 1001))} }, []string{"/name/lastName"}},
		{"name of 1,000 characters", func(r *CreatePersonRequest) { r.Name = &Name{LastName: new(strings.Repeat("é", 1000))} }, nil},
		{"half an address", func(r *CreatePersonRequest) { r.Address = &Address{Street: "Dorpsstraat", Country: "XX"} }, []string{"/address/houseNumber", "/address/zipCode", "/address/city", "/address/country"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			request := CreatePersonRequest{OwningOrganizationUUID: NewUUID(), RecruitingOrganizationUUID: NewUUID()}
			test.change(&request)
			if diff := cmp.Diff(test.want, pointers(request.Validate(testNow))); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateStoresTheNormalForm(t *testing.T) {
	t.Parallel()
	request := CreatePersonRequest{
		OwningOrganizationUUID: NewUUID(), RecruitingOrganizationUUID: NewUUID(),
		IBAN:     new("nl91 abna 0417 1643 00"),
		Language: new("NL"),
		Address:  &Address{Street: "Dorpsstraat", HouseNumber: "1", ZipCode: "1234 AB", City: "Utrecht", Country: "nl"},
	}
	if v := request.Validate(testNow); len(v) > 0 {
		t.Fatal(v)
	}
	if *request.IBAN != "NL91ABNA0417164300" || *request.Language != "nl" || request.Address.Country != "NL" {
		t.Errorf("got %s, %s, %s", *request.IBAN, *request.Language, request.Address.Country)
	}
	update := UpdatePersonRequest{IBAN: Set("de89 3704 0044 0532 0130 00"), Address: Set(AddressPatch{Country: Set("de")})}
	if v := update.Validate(testNow); len(v) > 0 {
		t.Fatal(v)
	}
	iban, _ := update.IBAN.Value()
	address, _ := update.Address.Value()
	country, _ := address.Country.Value()
	if iban != "DE89370400440532013000" || country != "DE" {
		t.Errorf("got %s, %s", iban, country)
	}
}

func TestUpdatePersonRequestValidate(t *testing.T) {
	t.Parallel()
	request := UpdatePersonRequest{
		Email: Set("nobody"), IBAN: Clear[string](), Language: Set(""),
		Address: Set(AddressPatch{City: Clear[string](), HouseNumberExtension: Clear[string](), Country: Set("XX")}),
		Mandate: Set(MandatePatch{CreatedAt: Clear[Time]()}),
	}
	want := []string{"/email", "/language", "/address/city", "/address/country", "/mandate/createdAt"}
	if diff := cmp.Diff(want, pointers(request.Validate(testNow))); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

func TestCreateCallRequestValidate(t *testing.T) {
	t.Parallel()
	at := NewTime(testNow)
	external := func(change func(*CreateCallRequest)) CreateCallRequest {
		request := CreateCallRequest{PersonUUID: NewUUID(), RequestedAt: at, ExternalMetadata: &CallExternalMetadataRequest{}}
		change(&request)
		return request
	}
	managed := func(change func(*CreateCallRequest)) CreateCallRequest {
		request := CreateCallRequest{PersonUUID: NewUUID(), RequestedAt: at, Type: new(CallWinback)}
		change(&request)
		return request
	}
	tests := []struct {
		name    string
		request CreateCallRequest
		want    []string
	}{
		{"managed", managed(func(*CreateCallRequest) {}), nil},
		{"managed without type", managed(func(r *CreateCallRequest) { r.Type = nil }), []string{"/type"}},
		{"managed with all that is forbidden", managed(func(r *CreateCallRequest) {
			r.Status, r.CancelledAt, r.CompletedAt = new(CallExpired), &at, &at
			r.ExternalSource, r.Attempts, r.Result = &ExternalSource{}, []CallAttemptRequest{}, &CallResultRequest{}
		}), []string{"/status", "/cancelledAt", "/completedAt", "/externalSource", "/attempts", "/result"}},
		{"nothing", CreateCallRequest{}, []string{"/requestedAt", "/personUuid", "/type"}},
		{"external", external(func(*CreateCallRequest) {}), nil},
		{"external with type", external(func(r *CreateCallRequest) { r.Type = new(CallHappy) }), []string{"/type"}},
		{"external, time of another state", external(func(r *CreateCallRequest) {
			r.Status, r.CompletedAt = new(CallCancelled), &at
		}), []string{"/completedAt"}},
		{"external, unknown status", external(func(r *CreateCallRequest) { r.Status = new(CallStatus("parked")) }), []string{"/status"}},
		{"external, rating of 11", external(func(r *CreateCallRequest) {
			r.Status, r.Result = new(CallCompleted), &CallResultRequest{DonorRetentionRating: new(NumberFromInt(11)), ResultCode: new("a\nb")}
		}), []string{"/result/donorRetentionRating", "/result/resultCode"}},
		{"external, attempt without time", external(func(r *CreateCallRequest) { r.Attempts = []CallAttemptRequest{{}} }), []string{"/attempts/0/createdAt"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, pointers(test.request.Validate())); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCreatePledgeRequestValidate(t *testing.T) {
	t.Parallel()
	at := NewTime(testNow)
	pledge := func(change func(*CreatePledgeRequest)) CreatePledgeRequest {
		request := CreatePledgeRequest{
			PersonUUID: NewUUID(), CreatedAt: at, OwningOrganizationUUID: NewUUID(), RecruitingOrganizationUUID: NewUUID(),
			InitialDonationInterval: "monthly", InitialDonationAmount: Cents(1000), RecruiterUserUUID: NewUUID(), StartsAt: at,
		}
		change(&request)
		return request
	}
	early := NewTime(testNow.Add(-time.Hour))
	tests := []struct {
		name    string
		request CreatePledgeRequest
		want    []string
	}{
		{"managed", pledge(func(*CreatePledgeRequest) {}), nil},
		{"managed with all that is forbidden", pledge(func(r *CreatePledgeRequest) {
			r.Status, r.DonationInterval, r.DonationAmount = new(PledgeActive), new(DonationInterval("yearly")), new(Cents(1))
			r.CancelledAt, r.DroppedAt, r.ReleasedAt = &at, &at, &at
		}), []string{"/status", "/donationInterval", "/donationAmount", "/cancelledAt", "/droppedAt", "/releasedAt"}},
		{"managed, end before start", pledge(func(r *CreatePledgeRequest) { r.EndsAt = &early }), []string{"/endsAt"}},
		{"external, end before start", pledge(func(r *CreatePledgeRequest) {
			r.EndsAt, r.ExternalSource = &early, &ExternalSource{Name: "crm", Identifier: "1"}
		}), nil},
		{"external, dropped and cancelled at once", pledge(func(r *CreatePledgeRequest) {
			r.ExternalSource, r.Status, r.CancelledAt, r.DroppedAt = &ExternalSource{Name: "crm", Identifier: "1"}, new(PledgeDropped), &at, &at
		}), []string{"/cancelledAt"}},
		{"three decimals", pledge(func(r *CreatePledgeRequest) { r.InitialDonationAmount, _ = ParseAmount("12.345") }), []string{"/initialDonationAmount"}},
		{"too much", pledge(func(r *CreatePledgeRequest) { r.InitialDonationAmount = Cents(1000000000) }), []string{"/initialDonationAmount"}},
		{"nothing at all", pledge(func(r *CreatePledgeRequest) { r.InitialDonationAmount = Amount{} }), []string{"/initialDonationAmount"}},
		{"payment day 29", pledge(func(r *CreatePledgeRequest) { r.PreferredPaymentDay = new(29) }), []string{"/preferredPaymentDay"}},
		{"created in two days", pledge(func(r *CreatePledgeRequest) { r.CreatedAt = NewTime(testNow.Add(48 * time.Hour)) }), []string{"/createdAt"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, pointers(test.request.Validate(testNow))); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpdatePledgeRequestValidate(t *testing.T) {
	t.Parallel()
	cleared := UpdatePledgeRequest{
		DonationInterval: Clear[DonationInterval](), DonationAmount: Clear[Amount](),
		RecruiterUserUUID: Clear[UUID](), StartsAt: Clear[Time](), EndsAt: Clear[Time](),
	}
	if diff := cmp.Diff([]string{"/donationInterval", "/donationAmount", "/recruiterUserUuid", "/startsAt"}, pointers(cleared.Validate())); diff != "" {
		t.Errorf("cleared (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/donationInterval", "/donationAmount", "/endsAt"}, pointers(cleared.ValidateFor(Pledge{}, true))); diff != "" {
		t.Errorf("external (-want +got):\n%s", diff)
	}
	ends := NewTime(testNow)
	late := UpdatePledgeRequest{StartsAt: Set(NewTime(testNow.Add(time.Hour)))}
	if diff := cmp.Diff([]string{"/endsAt"}, pointers(late.ValidateFor(Pledge{EndsAt: &ends}, false))); diff != "" {
		t.Errorf("start moved behind the stored end (-want +got):\n%s", diff)
	}
}

func TestUncheckedEntryCheck(t *testing.T) {
	t.Parallel()
	const id = "6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10"
	tests := []struct {
		name  string
		entry UncheckedEntry
		ok    bool
	}{
		{"good", UncheckedEntry{EntityName: new("call"), EntityUUID: new(id), ProcessedAt: new("2026-11-20")}, true},
		{"unknown name", UncheckedEntry{EntityName: new("user"), EntityUUID: new(id), ProcessedAt: new("2026-11-20")}, false},
		{"malformed uuid", UncheckedEntry{EntityName: new("call"), EntityUUID: new("1"), ProcessedAt: new("2026-11-20")}, false},
		{"bad time", UncheckedEntry{EntityName: new("call"), EntityUUID: new(id), ProcessedAt: new("soon")}, false},
		{"missing time", UncheckedEntry{EntityName: new("call"), EntityUUID: new(id)}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, problem := test.entry.Check(); (problem == "") != test.ok {
				t.Errorf("got %q, want accepted %v", problem, test.ok)
			}
		})
	}
}

func TestListOptionsRefuse(t *testing.T) {
	t.Parallel()
	persons := func(v url.Values) Violations { _, violations := ParsePersonListOptions(v); return violations }
	calls := func(v url.Values) Violations { _, violations := ParseCallListOptions(v); return violations }
	pledges := func(v url.Values) Violations { _, violations := ParsePledgeListOptions(v); return violations }
	tests := []struct {
		name  string
		parse func(url.Values) Violations
		query string
		want  []string // Parameters of the violations.
	}{
		{"nothing", persons, "", nil},
		{"unknown parameter", persons, "colour=red", []string{"colour"}},
		{"key given twice", persons, "first=1&first=2", []string{"first"}},
		{"empty value", persons, "iban=", []string{"iban"}},
		{"array both ways", persons, "owningOrganizationUuids=6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10,6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e11&owningOrganizationUuids=6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e12", nil},
		{"array with a bad element", persons, "owningOrganizationUuids=x", []string{"owningOrganizationUuids"}},
		{"page of 501", persons, "first=501", []string{"first"}},
		{"page of -1", persons, "last=-1", []string{"last"}},
		{"page of 1.5", persons, "first=1.5", []string{"first"}},
		{"page of 0", persons, "first=0", nil},
		{"first and last", persons, "first=1&last=1", []string{"last"}},
		{"bad time", calls, "requestedAfter=soon", []string{"requestedAfter"}},
		{"lone start of a range", calls, "requestedFrom=2026-11-20", []string{"requestedFrom"}},
		{"lone end of a range", calls, "requestedUntil=2026-11-20", []string{"requestedFrom"}},
		{"lone reference", calls, "externalReferenceId=1", []string{"externalApplicationName"}},
		{"half a null pair", calls, "externalReferenceId=null&externalApplicationName=a", []string{"externalApplicationName"}},
		{"null pair", calls, "externalReferenceId=null&externalApplicationName=null", nil},
		{"unknown include", calls, "include=person,mother", []string{"include"}},
		{"deprecated include", calls, "include=recruiterFullName,person", nil},
		{"include of pledges", pledges, "include=person", []string{"include"}},
		{"truth of another form", pledges, "withPaymentQr=1", []string{"withPaymentQr"}},
		{"unknown status", pledges, "status=parked", []string{"status"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			values, err := url.ParseQuery(test.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range test.parse(values) {
				got = append(got, v.Parameter)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzListOptions(f *testing.F) {
	f.Add("first=10&after=abc&include=person,pledge&requestedAfter=2026-11-20&externalStatusCode=a")
	f.Add("owningOrganizationUuids=6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10&iban=nl91+abna&createdAfter=2026-11-20T10:00:00Z")
	f.Add("include=transactions&withPaymentQr=false&status=lead&releasedAfter=2026-11-20&last=0")
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		roundTrip(t, values, ParsePersonListOptions)
		roundTrip(t, values, ParseCallListOptions)
		roundTrip(t, values, ParsePledgeListOptions)
	})
}

// roundTrip checks that options which were accepted are the same after they were
// written and read again.
func roundTrip[T interface{ Query() url.Values }](t *testing.T, values url.Values, parse func(url.Values) (T, Violations)) {
	t.Helper()
	options, violations := parse(values)
	if len(violations) > 0 {
		return
	}
	again, violations := parse(options.Query())
	if len(violations) > 0 || again.Query().Encode() != options.Query().Encode() {
		t.Errorf("%v written as %v and read as %v, %v", values, options.Query(), again.Query(), violations)
	}
}

// pointers are the places of violations, nil when there are none.
func pointers(v Violations) []string {
	var places []string
	for _, violation := range v {
		places = append(places, violation.Pointer)
	}
	return slices.Clip(places)
}

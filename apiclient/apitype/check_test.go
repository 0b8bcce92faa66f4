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
	update := UpdatePersonRequest{
		IBAN:    Set("de89 3704 0044 0532 0130 00"),
		Address: Set(AddressPatch{Country: Set("de")}),
	}
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

func TestUpdatePledgeRequestValidate(t *testing.T) {
	t.Parallel()
	cleared := UpdatePledgeRequest{
		DonationInterval: Clear[DonationInterval](), DonationAmount: Clear[Amount](),
		RecruiterUserUUID: Clear[UUID](), StartsAt: Clear[Time](), EndsAt: Clear[Time](),
	}
	diff := cmp.Diff([]string{"/donationInterval", "/donationAmount", "/recruiterUserUuid", "/startsAt"},
		pointers(cleared.Validate()))
	if diff != "" {
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
func roundTrip[T interface{ Query() url.Values }](
	t *testing.T,
	values url.Values,
	parse func(url.Values) (T, Violations),
) {
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

// pointers returns the places of violations. It is empty if there are none.
func pointers(v Violations) []string {
	var places []string
	for _, violation := range v {
		places = append(places, violation.Pointer)
	}
	return slices.Clip(places)
}

// The examples of the IBAN registry (SWIFT), one of each country.
const registeredIBANs = `
AD1200012030200359100100 AE070331234567890123456 AL47212110090000000235698741 AT611904300234573201 AZ21NABZ00000000137010001944
BA391290079401028494 BE68539007547034 BG80BNBG96611020345678 BH67BMAG00001299123456 BI4210000100010000332045181
BR1800360305000010009795493C1 BY13NBRB3600900000002Z00AB00 CH9300762011623852957 CR05015202001026284066 CY17002001280000001200527600
CZ6508000000192000145399 DE89370400440532013000 DJ2100010000000154000100186 DK5000400440116243 DO28BAGR00000001212453611324
EE382200221020145685 EG380019000500000000263180002 ES9121000418450200051332 FI2112345600000785 FK88SC123456789012
FO6264600001631634 FR1420041010050500013M02606 GB29NWBK60161331926819 GE29NB0000000101904917 GI75NWBK000000007099453
GL8964710001000206 GR1601101250000000012300695 GT82TRAJ01020000001210029690 HN88CABF00000000000250005469 HR1210010051863000160
HU42117730161111101800000000 IE29AIBK93115212345678 IL620108000000099999999 IQ98NBIQ850123456789012 IS140159260076545510730339
IT60X0542811101000000123456 JO94CBJO0010000000000131000302 KW81CBKU0000000000001234560101 KZ86125KZT5004100100 LB62099900000001001901229114
LC55HEMM000100010012001200023015 LI21088100002324013AA LT121000011101001000 LU280019400644750000 LV80BANK0000435195001
LY83002048000020100120361 MC5811222000010123456789030 MD24AG000225100013104168 ME25505000012345678951 MK07250120000058984
MN121234123456789123 MR1300020001010000123456753 MT84MALT011000012345MTLCAST001S MU17BOMM0101101030300200000MUR NI45BAPR00000013000003558124
NL91ABNA0417164300 NO9386011117947 OM810180000001299123456 PK36SCBL0000001123456702 PL61109010140000071219812874
PS92PALS000000000400123456702 PT50000201231234567890154 QA58DOHB00001234567890ABCDEFG RO49AAAA1B31007593840000 RS35260005601001611379
RU0304452522540817810538091310419 SA0380000000608010167519 SC18SSCB11010000000000001497USD SD8811123456789012 SE4550000000058398257466
SI56263300012039086 SK3112000000198742637541 SM86U0322509800000000270100 SO211000001001000100141 ST23000100010051845310146
SV62CENR00000000000000700025 TL380080012345678910157 TN5910006035183598478831 TR330006100519786457841326 UA213223130000026007233566001
VA59001123000012345678 VG96VPVG0000012345678901 XK051212012345678906 YE15CBYE0001018861234567891234
`

// Each country's length matches the registry.
func TestIBANsOfTheRegistry(t *testing.T) {
	t.Parallel()
	countries := map[string]bool{}
	for iban := range strings.FieldsSeq(registeredIBANs) {
		countries[iban[:2]] = true
		if stored, problem := checkIBAN(iban); stored != iban || problem != "" {
			t.Errorf("%s: got %q, %s", iban, stored, problem)
		}
		for _, other := range []string{iban[:len(iban)-1], iban + "0"} {
			if _, problem := checkIBAN(other); problem != "is not a valid IBAN: wrong length for its country" {
				t.Errorf("%s: got %q, want that its length is wrong", other, problem)
			}
		}
	}
	for country := range ibanLengths {
		if !countries[country] {
			t.Errorf("%s: there is no example", country)
		}
	}
}

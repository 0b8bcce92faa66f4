package render

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

// env returns an environment of the pairs of a line: LANG=nl_NL.UTF-8 LC_TIME=C.
func env(line string) func(string) string {
	return func(name string) string {
		for pair := range strings.FieldsSeq(line) {
			if value, found := strings.CutPrefix(pair, name+"="); found {
				return value
			}
		}
		return ""
	}
}

func TestLocale(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 15, 4, 5, 0, time.UTC)
	type shown struct{ Amount, Small, Date, DateTime, Phone string }
	tests := []struct {
		name string
		env  string
		want shown
	}{
		{"nothing set", "", shown{"1234567.50", "12.00", "2026-11-20", "2026-11-20 15:04", "+31627084034"}},
		{
			name: "C",
			env:  "LANG=nl_NL LC_ALL=C.UTF-8",
			want: shown{"1234567.50", "12.00", "2026-11-20", "2026-11-20 15:04", "+31627084034"},
		},
		{"POSIX", "LANG=POSIX", shown{"1234567.50", "12.00", "2026-11-20", "2026-11-20 15:04", "+31627084034"}},
		{
			name: "a language that we do not know",
			env:  "LANG=tlh_QO",
			want: shown{"1234567.50", "12.00", "2026-11-20", "2026-11-20 15:04", "+31 627084034"},
		},
		{"Dutch", "LANG=nl_NL.UTF-8", shown{"1.234.567,50", "12,00", "20-11-2026", "20-11-2026 15:04", "06 27084034"}},
		{
			name: "Dutch in Belgium",
			env:  "LANG=nl_BE.UTF-8",
			want: shown{"1.234.567,50", "12,00", "20/11/2026", "20/11/2026 15:04", "+31 627084034"},
		},
		{
			name: "German",
			env:  "LANG=de_DE.UTF-8",
			want: shown{"1.234.567,50", "12,00", "20.11.2026", "20.11.2026 15:04", "+31 627084034"},
		},
		{
			name: "German in Switzerland",
			env:  "LANG=de_CH.UTF-8",
			want: shown{"1’234’567.50", "12.00", "20.11.2026", "20.11.2026 15:04", "+31 627084034"},
		},
		{
			name: "French",
			env:  "LANG=fr_FR.UTF-8@euro",
			want: shown{"1\u00a0234\u00a0567,50", "12,00", "20/11/2026", "20/11/2026 15:04", "+31 627084034"},
		},
		{
			name: "English of the United States",
			env:  "LANG=en_US.UTF-8",
			want: shown{"1,234,567.50", "12.00", "11/20/2026", "11/20/2026 3:04 PM", "+31 627084034"},
		},
		{
			name: "British English",
			env:  "LANG=en_GB.UTF-8",
			want: shown{"1,234,567.50", "12.00", "20/11/2026", "20/11/2026 15:04", "+31 627084034"},
		},
		{
			name: "each category its own",
			env:  "LANG=en_GB LC_TIME=C LC_MONETARY=de_DE LC_NUMERIC=en_US LC_TELEPHONE=nl_NL",
			want: shown{"1.234.567,50", "12,00", "2026-11-20", "2026-11-20 15:04", "06 27084034"},
		},
		{
			name: "all at once",
			env:  "LC_ALL=nl_NL LC_TIME=en_US LANG=C",
			want: shown{"1.234.567,50", "12,00", "20-11-2026", "20-11-2026 15:04", "06 27084034"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := LocaleFrom(env(test.env))
			got := shown{
				l.Amount(apitype.Cents(123456750)), l.Amount(apitype.Cents(1200)), l.Date(at, time.DateOnly),
				l.DateTime(at, "2006-01-02 15:04"), l.Phone("+31627084034"),
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("locale of %q (-want +got):\n%s", test.env, diff)
			}
		})
	}
}

// Amounts keep all of their digits. Without a locale, thousands are grouped as in English. A time of a detail has its
// seconds and its zone.
func TestLocaleIsExact(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 0, 4, 5, 0, time.FixedZone("CET", 3600))
	grouped := func(l Locale, _ string) string { return l.Grouped(apitype.Cents(19004500)) }
	detailed := func(l Locale, _ string) string { return l.DateTime(at, "2006-01-02 15:04:05 MST") }
	amount := func(l Locale, text string) string {
		amount, err := apitype.ParseAmount(text)
		if err != nil {
			t.Fatalf("amount %s: %v", text, err)
		}
		return l.Amount(amount)
	}
	checkWritten(t, amount, []writtenTest{
		{"cents", "nl_NL", "0.1", "0,10"},
		{"thousands", "nl_NL", "1000", "1.000,00"},
		{"hundreds", "nl_NL", "999.99", "999,99"},
		{"below zero", "nl_NL", "-1234.5", "-1.234,50"},
		{"finer than cents", "nl_NL", "12.345", "12.345"},
		{"a power of ten", "nl_NL", "1e-7", "1e-7"},
		{"four digits in Spanish", "es_ES", "1234.50", "1234,50"},
		{"five digits in Spanish", "es_ES", "12345", "12.345,00"},
		{"four digits in Polish", "pl_PL", "1234.50", "1234,50"},
		{"five digits in Polish", "pl_PL", "12345", "12\u00a0345,00"},
	})
	checkWritten(t, grouped, []writtenTest{
		{"none", "C", "", "190,045.00"},
		{"British", "en_GB", "", "190,045.00"},
		{"Dutch", "nl_NL", "", "190.045,00"},
		{"German", "de_DE", "", "190.045,00"},
		{"Swiss", "de_CH", "", "190’045.00"},
	})
	euros := func(l Locale, _ string) string { return l.Euros(apitype.Cents(1250)) }
	checkWritten(t, euros, []writtenTest{
		{"none", "C", "", "€ 12.50"},
		{"British", "en_GB", "", "€ 12.50"},
		{"Dutch", "nl_NL", "", "€ 12,50"},
		{"German", "de_DE", "", "12,50 €"},
		{"of a script", "de", "", "12,50 €"},
		{"Austrian", "de_AT", "", "€ 12,50"},
		{"French", "fr_FR", "", "12,50 €"},
	})
	checkWritten(t, detailed, []writtenTest{
		{"none", "", "", "2026-11-20 00:04:05 CET"},
		{"American", "en_US", "", "11/20/2026 12:04:05 AM CET"},
		{"Dutch", "nl_NL", "", "20-11-2026 00:04:05 CET"},
	})
}

func TestLocalePhones(t *testing.T) {
	t.Parallel()
	tests := []writtenTest{
		{"Dutch mobile", "nl_NL", "+31627084034", "06 27084034"},
		{"Amsterdam", "nl_NL", "+31201234567", "020 1234567"},
		{"a town with a long area code", "nl_NL", "+31182123456", "0182 123456"},
		{"Paris", "fr_FR", "+33142345678", "01 42 34 56 78"},
		{"London", "en_GB", "+442079460958", "020 7946 0958"},
		{"Brussels", "fr_BE", "+3221234567", "02 123 45 67"},
		{"no trunk prefix", "es_ES", "+34612345678", "612 345 678"},
		{"one code of two countries", "en_CA", "+12125550123", "212 555 0123"},
		{"a code of three digits", "nl_NL", "+351912345678", "+351 912345678"},
		{"a country that the table lacks", "nl_NL", "+5511912345678", "+5511912345678"},
		{"a language without a region", "nl", "+31627084034", "+31627084034"},
		{"not E.164", "nl_NL", "06 27 08 40 34", "06 27 08 40 34"},
		{"letters", "nl_NL", "+31 call me", "+31 call me"},
		{"hostile", "nl_NL", "+31\x1b]0;x\x07", "+31\x1b]0;x\x07"},
		{"nothing", "nl_NL", "", ""},
		{"the shortest", "nl_NL", "+3162708", "06 2708"},
		{"too short", "nl_NL", "+316270", "+316270"},
		{"of one group", "nl_NL", "+31800123", "0800 123"},
	}
	checkWritten(t, Locale.Phone, tests)
}

// Each country groups its numbers as it does on paper.
func TestPhonesAtHome(t *testing.T) {
	t.Parallel()
	checkWritten(t, Locale.Phone, []writtenTest{
		{"United States", "en_US", "+12125550123", "212 555 0123"},
		{"Netherlands, free", "nl_NL", "+318001234", "0800 1234"},
		{"Belgium, mobile", "nl_BE", "+32470123456", "0470 12 34 56"},
		{"Belgium, a large town", "nl_BE", "+3221234567", "02 123 45 67"},
		{"Belgium, another town", "nl_BE", "+3281234567", "081 23 45 67"},
		{"France", "fr_FR", "+33142345678", "01 42 34 56 78"},
		{"Spain", "es_ES", "+34912345678", "912 345 678"},
		{"Portugal", "pt_PT", "+351912345678", "912 345 678"},
		{"Ireland, Dublin", "en_IE", "+35312345678", "01 234 5678"},
		{"Ireland, mobile", "en_IE", "+353871234567", "087 123 4567"},
		{"Romania", "ro_RO", "+40212345678", "0212 345 678"},
		{"Switzerland", "de_CH", "+41441234567", "044 123 45 67"},
		{"Czechia", "cs_CZ", "+420601234567", "601 234 567"},
		{"Britain, mobile", "en_GB", "+447911123456", "07911 123456"},
		{"Britain, Manchester", "en_GB", "+441614960123", "0161 496 0123"},
		{"Denmark", "da_DK", "+4512345678", "12 34 56 78"},
		{"Norway", "nb_NO", "+4712345678", "12 34 56 78"},
		{"Poland", "pl_PL", "+48123456789", "123 456 789"},
		{"Germany, mobile", "de_DE", "+4915112345678", "0151 12345678"},
		{"Germany, Berlin", "de_DE", "+4930123456", "030 123456"},
		{"Germany, Cologne", "de_DE", "+492211049260", "0221 1049260"},
		{"Germany, a small town", "de_DE", "+492241123456", "02241 123456"},
		{"Germany, a town in the east", "de_DE", "+493375123456", "03375123456"},
		{"Australia, mobile", "en_AU", "+61412345678", "0412 345 678"},
		{"Australia", "en_AU", "+61212345678", "02 1234 5678"},
	})
}

// On the card a number is read and dialled: in groups that are read in one go.
func TestSpokenPhones(t *testing.T) {
	t.Parallel()
	tests := []writtenTest{
		{"Dutch mobile", "nl_NL", "+31627084034", "06 27 08 40 34"},
		{"Amsterdam", "nl_NL", "+31201234567", "020 123 45 67"},
		{"a town with a long area code", "nl_NL", "+31182123456", "0182 12 34 56"},
		{"London", "en_GB", "+442079460958", "020 7946 0958"},
		{"abroad", "nl_NL", "+4915149602135", "+49 151 49 60 21 35"},
		{"Cologne", "de_DE", "+492211049260", "0221 104 92 60"},
		{"Cologne from abroad", "C", "+492211049260", "+49 221 104 92 60"},
		{"no region", "C", "+31627084034", "+31 6 27 08 40 34"},
		{"a country without groups", "C", "+436641234567", "+43 66 41 23 45 67"},
		{"a country that the table lacks", "nl_NL", "+5511912345678", "+5511912345678"},
		{"hostile", "nl_NL", "+31\x1b]0;x\x07", "+31\x1b]0;x\x07"},
		{"nothing", "C", "", ""},
	}
	checkWritten(t, Locale.Spoken, tests)
}

// writtenTest is a value in the form of a locale.
type writtenTest struct{ name, lang, value, want string }

func checkWritten(t *testing.T, written func(Locale, string) string, tests []writtenTest) {
	t.Helper()
	for _, test := range tests {
		if got := written(LocaleFrom(env("LANG="+test.lang)), test.value); got != test.want {
			t.Errorf("%s: %q in %s: got %q, want %q", test.name, test.value, test.lang, got, test.want)
		}
	}
}

// A number is read in the form of its country. An unreadable one stays, without its blanks.
func TestInternational(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ typed, country, want string }{
		{"06-27 08.40/34", "NL", "+31627084034"},
		{"+31 (0)6 27084034", "NL", "+31627084034"},
		{"0031 6 27084034", "BE", "+31627084034"},
		{"+31 06 27084034", "NL", "+31627084034"},
		{"0031 06 27084034", "", "+31627084034"},
		{"+49 0151 12345678", "NL", "+4915112345678"},
		{"+39 06 123456", "NL", "+3906123456"},
		{"+352 06 123456", "NL", "+35206123456"},
		{"06 27084034", "", "0627084034"},
		{"06 27084034", "XX", "0627084034"},
		{"6 27084034", "NL", "+31627084034"},
		{"31627084034", "NL", "+31627084034"},
		{"3906123456", "IT", "+393906123456"},
		{"34612345678", "ES", "+34612345678"},
		{"393331234567", "IT", "+393331234567"},
		{"12345", "NL", "12345"},
		{"06 call", "NL", "06call"},
		{"+31 (0)20 (0)1", "NL", "+312001"},
		{" ", "ES", ""},
		{"612 345 678", "ES", "+34612345678"},
		{"(212) 555-0123", "US", "+12125550123"},
		{"1 212 555 0123", "CA", "+12125550123"},
		{"2 212 555 0123", "CA", "+122125550123"},
		{"1 212 555 01234", "US", "+1121255501234"},
	} {
		if got := International(test.typed, test.country); got != test.want {
			t.Errorf("%q in %q: got %q, want %q", test.typed, test.country, got, test.want)
		}
	}
	got := strings.Join(PhoneCountries(), " ")
	want := "AT AU BE CA CH CZ DE DK ES FI FR GB GR IE IT LU NL NO NZ PL PT RO SE SK US"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !HasDecimalComma("NL") || HasDecimalComma("CH") {
		t.Error("got another decimal sign, want a comma in the Netherlands and none in Switzerland")
	}
}

// No calling code may be the beginning of another one, else the order would decide.
func TestLocaleTables(t *testing.T) {
	t.Parallel()
	for i, a := range phoneCountries {
		for j, b := range phoneCountries {
			if i != j && strings.HasPrefix(b.code, a.code) {
				t.Errorf("calling code %s is the beginning of %s", a.code, b.code)
			}
		}
	}
	names := map[string]int{}
	for _, row := range amountForms {
		for name := range strings.FieldsSeq(row.names) {
			names["amounts "+name]++
		}
	}
	for _, row := range dateForms {
		for name := range strings.FieldsSeq(row.names) {
			names["dates "+name]++
		}
	}
	for name, n := range names {
		if n != 1 {
			t.Errorf("got %d rows for %s, want 1", n, name)
		}
	}
}

// What a person reads follows the locale; what a program reads never does.
func TestLocaleIsForTablesAlone(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"uuid":"3f2a1c9e-0000-4000-8000-000000000001","status":"active","donationAmount":1234.5,"startsAt":"2026-01-02T12:00:00.000Z",` +
		`"person":{"uuid":"3f2a1c9e-0000-4000-8000-000000000002","mobilePhoneNumber":"+31627084034","dateOfBirth":"1980-05-31"}}`)
	nl := LocaleFrom(env("LANG=nl_NL.UTF-8"))
	write := func(format Format, l Locale) string {
		var out strings.Builder
		o := Options{Format: format, Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), Locale: l}
		if err := Record(&out, PledgeColumns(), o, raw, func() (apitype.Pledge, error) {
			var p apitype.Pledge
			return p, json.Unmarshal(raw, &p)
		}); err != nil {
			t.Fatalf("write %s: %v", format, err)
		}
		return out.String()
	}
	detail := write(Table, nl)
	for _, want := range []string{"1.234,50", "06 27084034", "31-05-1980", "02-01-2026 12:00:00 UTC (321d ago)"} {
		if !strings.Contains(detail, want) {
			t.Errorf("detail in Dutch: got %s, want %q in it", detail, want)
		}
	}
	for _, format := range []Format{TSV, CSV, JSON, NDJSON, ID} {
		if diff := cmp.Diff(write(format, Locale{}), write(format, nl)); diff != "" {
			t.Errorf("%s depends on the locale (-without +with):\n%s", format, diff)
		}
	}
}

// An age takes four cells at most, whatever it is.
func TestAges(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, test := range []struct {
		age  time.Duration
		want string
	}{
		{-1, "soon"},
		{0, "0m"},
		{time.Hour - 1, "59m"},
		{time.Hour, "1h"},
		{2*day - 1, "47h"},
		{2 * day, "2d"},
		{1000*day - 1, "999d"},
		{1000 * day, "2y"},
		{200 * 365 * day, "200y"},
		{200*365*day + 1, "-"},
	} {
		if got := string(AppendAge(nil, test.age)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.age, got, test.want)
		}
	}
}

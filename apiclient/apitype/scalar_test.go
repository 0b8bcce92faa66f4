package apitype

import (
	stdjson "encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	// The text, and the instant by the strict and by the lenient rule. Empty if the text is refused.
	for _, test := range rowsOf(`
UTC                                               | 2026-11-20T09:15:00Z            | 2026-11-20T09:15:00.000Z | 2026-11-20T09:15:00.000Z
offset                                            | 2026-11-20T09:15:00+01:00       | 2026-11-20T08:15:00.000Z | 2026-11-20T08:15:00.000Z
no offset is UTC                                  | 2026-11-20T09:15:00             | 2026-11-20T09:15:00.000Z | 2026-11-20T09:15:00.000Z
date is midnight                                  | 2026-11-20                      | 2026-11-20T00:00:00.000Z | 2026-11-20T00:00:00.000Z
cut to the millisecond                            | 2026-11-20T09:15:00.1239999Z    | 2026-11-20T09:15:00.123Z | 2026-11-20T09:15:00.123Z
small letters                                     | 2026-11-20t09:15:00z            | 2026-11-20T09:15:00.000Z | 2026-11-20T09:15:00.000Z
first year                                        | 1900-01-01                      | 1900-01-01T00:00:00.000Z | 1900-01-01T00:00:00.000Z
before the first year                             | 1899-12-31                      |                          | 1899-12-31T00:00:00.000Z
basic form                                        | 20261120T091500Z                |                          | 2026-11-20T09:15:00.000Z
comma and short offset                            | 2026-11-20T09:15:00,25+01       |                          | 2026-11-20T08:15:00.250Z
to the minute                                     | 2026-11-20T09:15Z               |                          | 2026-11-20T09:15:00.000Z
to the hour with a fraction                       | 2026-11-20T09.5Z                |                          | 2026-11-20T09:30:00.000Z
end of the day                                    | 2026-11-20T24:00:00Z            |                          | 2026-11-21T00:00:00.000Z
ordinal date                                      | 2026-324                        |                          | 2026-11-20T00:00:00.000Z
week date                                         | 2026-W47-5                      |                          | 2026-11-20T00:00:00.000Z
week without a day                                | 2026W47                         |                          | 2026-11-16T00:00:00.000Z
space for T                                       | 2026-11-20 09:15:00Z            |                          | 2026-11-20T09:15:00.000Z
the largest offset                                | 2026-11-20T09:15:00-23:59       | 2026-11-21T09:14:00.000Z | 2026-11-21T09:14:00.000Z
an offset of 24 hours                             | 2026-11-20T09:15:00+24:00       |                          |
an offset of 60 minutes                           | 2026-11-20T09:15:00+01:60       |                          |
the last year                                     | 9999-12-31T23:59:59Z            | 9999-12-31T23:59:59.000Z | 9999-12-31T23:59:59.000Z
a year that the offset moves                      | 1900-01-01T00:30:00+01:00       |                          | 1899-12-31T23:30:00.000Z
a small letter alone                              | 2026-11-20T09:15:00z            | 2026-11-20T09:15:00.000Z | 2026-11-20T09:15:00.000Z
another small letter alone                        | 2026-11-20t09:15:00             | 2026-11-20T09:15:00.000Z | 2026-11-20T09:15:00.000Z
a comma before the fraction                       | 2026-11-20T09:15:00,5Z          |                          | 2026-11-20T09:15:00.500Z
a lone digit for the hour                         | 2026-11-20T9:15:00Z             |                          |
an offset east to the minute                      | 2026-11-20T0915+0130            |                          | 2026-11-20T07:45:00.000Z
an offset west to the hour                        | 2026-11-20T09-01                |                          | 2026-11-20T10:00:00.000Z
an offset of three digits                         | 2026-11-20T09:15+130            |                          |
a zone and an offset                              | 2026-11-20T09:15Z+01            |                          |
a leap second                                     | 2026-11-20T23:59:60Z            |                          | 2026-11-21T00:00:00.000Z
61 seconds                                        | 2026-11-20T23:58:61Z            |                          |
60 minutes                                        | 2026-11-20T22:60Z               |                          |
after the end of the day                          | 2026-11-20T24:00:01Z            |                          |
five digits                                       | 2026-11-20T09151Z               |                          |
a minute with a fraction                          | 2026-11-20T09:15,5Z             |                          | 2026-11-20T09:15:30.000Z
a fraction that is rounded                        | 2026-11-20T0915.00001Z          |                          | 2026-11-20T09:15:00.000Z
a third of a minute                               | 2026-11-20T09:15.3333333333333Z |                          | 2026-11-20T09:15:20.000Z
a fraction that is none                           | 2026-11-20T09:15.xZ             |                          |
a month                                           | 2026-11                         |                          | 2026-11-01T00:00:00.000Z
a year                                            | 2026                            |                          | 2026-01-01T00:00:00.000Z
a basic ordinal date                              | 2026324                         |                          | 2026-11-20T00:00:00.000Z
the first week, of a year that begins within it   | 2026-W01-1                      |                          | 2025-12-29T00:00:00.000Z
the first week, of a year that begins on a Sunday | 2023-W01-7                      |                          | 2023-01-08T00:00:00.000Z
the last week                                     | 2026-W53-7                      |                          | 2027-01-03T00:00:00.000Z
week 0                                            | 2026-W00-1                      |                          |
week 54                                           | 2026-W54-1                      |                          |
day 0 of a week                                   | 2026-W47-0                      |                          |
day 8 of a week                                   | 2026-W47-8                      |                          |
a week of one digit                               | 2026W4                          |                          |
a week of four digits                             | 2026W4711                       |                          |
a week of a short year                            | 202W47                          |                          |
a week that is none                               | 2026Wxx                         |                          |
impossible day                                    | 2026-02-30                      |                          |
impossible hour                                   | 2026-11-20T25:00:00Z            |                          |
day first                                         | 20-11-2026                      |                          |
number                                            | 1763630100                      |                          |
empty                                             |                                 |                          |
`) {
		name, text, strict, open := test[0], test[1], test[2], test[3]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(parsed Time, err error) string {
				if err != nil {
					return ""
				}
				return parsed.String()
			}
			if got := read(ParseTime(text)); got != strict {
				t.Errorf("strict: got %q, want %q", got, strict)
			}
			var parsed Time
			err := parsed.UnmarshalText([]byte(text))
			if got := read(parsed, err); got != open {
				t.Errorf("open: got %q, want %q", got, open)
			}
		})
	}
}

func TestParseDateNeverShifts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1980-05-17":                "1980-05-17",
		"1980-05-17T23:30:00-05:00": "1980-05-17",
		"1980-05-17T00:30:00+14:00": "1980-05-17",
		"2000-02-29":                "2000-02-29",
		"2001-02-29":                "",
		"1980-05-17x":               "",
		"1980-05-17T25:00:00Z":      "",
		"17-05-1980":                "",
	} {
		day, err := ParseDate(text)
		got := ""
		if err == nil {
			got = day.String()
		}
		if got != want {
			t.Errorf("%s: got %q (%v), want %q", text, got, err, want)
		}
	}
}

// The days of births, and what JSON may hold in their place.
func TestScalarsOfJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"1980-05-17"`:                "1980-05-17",
		`"1980-137"`:                  "1980-05-16",
		`"17-05-1980"`:                "",
		`7`:                           "",
		`"1980-05-17T23:30:00-05:00"`: "1980-05-17",
	} {
		day := Date{1, 1, 1}
		err := json.Unmarshal([]byte(text), &day)
		if got := day.String(); err != nil && want != "" || err == nil && got != want {
			t.Errorf("%s: got %s, %v, want %q", text, got, err, want)
		}
	}
	type both struct {
		At  Time `json:"at"`
		Day Date `json:"day"`
	}
	for text, want := range map[string]string{
		`{"at":null,"day":null}`:                           `{"at":null,"day":"0001-01-01"}`,
		`{"at":"2026-11-20T09:15:00Z","day":"1980-05-17"}`: `{"at":"2026-11-20T09:15:00.000Z","day":"1980-05-17"}`,
		`{"at":"20261120T0915Z"}`:                          "",
		`{"at":7}`:                                         "",
		`{"day":[]}`:                                       "",
		`{"day":"1980-137"}`:                               "",
		`{"at":"2026-11-20T09:15:00Z","day":"1980-05-17T00:00:00Z"}`: `{"at":"2026-11-20T09:15:00.000Z","day":"1980-05-17"}`,
	} {
		value := both{Day: Date{1, 1, 1}}
		err := json.Unmarshal([]byte(text), &value, StrictDecoding())
		written, _ := json.Marshal(value)
		if err != nil && want != "" || err == nil && string(written) != want {
			t.Errorf("%s, strictly: got %s, %v, want %q", text, written, err, want)
		}
	}
	at := NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	for text, want := range map[string]Time{
		`null`:                   at,
		`"2026-11-20T09:16:00Z"`: NewTime(at.Add(time.Minute)),
		`"then"`:                 {},
		`7`:                      {},
	} {
		got := at
		if err := got.UnmarshalJSON([]byte(text)); (err != nil) != want.IsZero() || err == nil && !got.Equal(want) {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{`12.50`: "12.50", `null`: "7"} {
		n := NumberFromInt(7)
		if err := n.UnmarshalJSON([]byte(text)); err != nil || n.String() != want {
			t.Errorf("%s: got %s, %v, want %s", text, n, err, want)
		}
	}
	if f := (Number{}).Float64(); f != 0 || (Number{}).String() != "0" {
		t.Errorf("got %v, want 0", f)
	}
	for text, want := range map[string]int64{
		"7":                   7,
		"-7.0":                -7,
		"1e2":                 100,
		"7.5":                 -1,
		"1e18":                -1,
		"999999999999999999":  999999999999999999,
		"1000000000000000000": -1,
		"1e-999999999999":     -1,
		"0e-5":                0,
	} {
		n, err := ParseNumber(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := n.Int(); ok && got != want || ok != (want != -1) {
			t.Errorf("%s: got %d, %t, want %d", text, got, ok, want)
		}
	}
}

func TestAmountIsExact(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, written, fixed string
		cents                int64 // -1 when it is not a whole number of cents
	}{
		{"25", "25", "25.00", 2500},
		{"12.5", "12.5", "12.50", 1250},
		{"0.1", "0.1", "0.10", 10},
		{"12.500", "12.5", "12.50", 1250},
		{"1e2", "100", "100.00", 10000},
		{"1E-2", "0.01", "0.01", 1},
		{"-3.05", "-3.05", "-3.05", -305},
		{"0", "0", "0.00", 0},
		{"9999999.99", "9999999.99", "9999999.99", 999999999},
		{"12.345", "12.345", "12.345", -1},
		{"1e400000000", "1e400000000", "1e400000000", -1},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			var amount Amount
			if err := stdjson.Unmarshal([]byte(test.text), &amount); err != nil {
				t.Fatal(err)
			}
			written, err := json.Marshal(amount)
			if err != nil || string(written) != test.written || amount.Fixed() != test.fixed {
				t.Errorf("got %s and %s, %v, want %s and %s", written, amount.Fixed(), err, test.written, test.fixed)
			}
			if cents, ok := amount.Cents(); (test.cents >= 0) != ok && test.cents != -305 || ok && cents != test.cents {
				t.Errorf("got %d cents, %v, want %d", cents, ok, test.cents)
			}
		})
	}
	for _, text := range []string{`"25"`, `true`, `{}`, `01`, `.5`, `+1`, `NaN`} {
		var amount Amount
		if err := stdjson.Unmarshal([]byte(text), &amount); err == nil {
			t.Errorf("%s: got %v, want an error", text, amount)
		}
	}
}

func TestNumberKeepsItsDigitsAndComparesByValue(t *testing.T) {
	t.Parallel()
	number := func(text string) Number {
		t.Helper()
		n, err := ParseNumber(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got := number("9007199254740993.10").String(); got != "9007199254740993.10" {
		t.Errorf("got %s, want the digits as sent", got)
	}
	texts := []string{
		"-1e3", "-10.5", "-0.5", "0", "1e-99999999999999999999", "0.05", "1.0", "9.99", "10",
		"1e2", "123456789012345678901", "1e99", "1e99999999999999999999",
	}
	for i, a := range texts {
		for j, b := range texts {
			if got := number(a).Compare(number(b)); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s against %s: got %d", a, b, got)
			}
		}
	}
	if number("4").Compare(number("4.000")) != 0 || number("-0").Compare(number("0e5")) != 0 {
		t.Error("equal values of other digits: got different, want equal")
	}
	for _, text := range []string{"", "-", "1e", "01", "8 ", "1.5\n", " 1", "true"} {
		if n, err := ParseNumber(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, n)
		}
	}
}

func TestParseUUID(t *testing.T) {
	t.Parallel()
	const want = "6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10"
	for text, ok := range map[string]bool{
		want:                                     true,
		"6F1D4C2E-8A55-4B0E-9C39-0D2F3B6A7E10":   true,
		"{6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10}": false,
		"urn:uuid:6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e10": false,
		"6f1d4c2e8a554b0e9c390d2f3b6a7e10":              false,
		"6f1d4c2e-8a55-4b0e-9c39-0d2f3b6a7e1g":          false,
		"":                                              false,
	} {
		id, err := ParseUUID(text)
		if (err == nil) != ok || ok && id.String() != want {
			t.Errorf("%q: got %s, %v, want accepted %v", text, id, err, ok)
		}
	}
	if !MustParseUUID(want).IsNew() ||
		MustParseUUID("6f1d4c2e-8a55-1b0e-9c39-0d2f3b6a7e10").IsNew() ||
		(UUID{}).IsNew() {
		t.Error("version 4 alone identifies a new record")
	}
}

func FuzzTime(f *testing.F) {
	for _, seed := range []string{
		"2026-11-20T09:15:00.5+01:00", "2026-W47-5T24", "20261120T0915", "2026-324 10,5-03",
		"9999-12-31T23:59:59Z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strict, err := ParseTime(text); err == nil {
			again, err := ParseTime(strict.String())
			if err != nil || !again.Equal(strict) {
				t.Errorf("%q: written as %s, read again as %s, %v", text, strict, again, err)
			}
			var open Time
			if err := open.UnmarshalText([]byte(text)); err != nil || !open.Equal(strict) {
				t.Errorf("%q: open reading gives %s, %v, want %s", text, open, err, strict)
			}
		}
		var open Time
		_ = open.UnmarshalText([]byte(text))
		_, _ = ParseDate(text)
	})
}

func FuzzAmount(f *testing.F) {
	for _, seed := range []string{"25", "12.345", "1e2", "-0.10", "1e400000000", "99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := ParseAmount(text)
		if err != nil {
			return
		}
		again, err := ParseAmount(amount.String())
		if err != nil || again != amount {
			t.Fatalf("%q: written as %s, read again as %v, %v", text, amount, again, err)
		}
		if cents, ok := amount.Cents(); ok && len(text) < 40 {
			exact, valid := new(big.Rat).SetString(text)
			if valid && exact.Cmp(big.NewRat(cents, 100)) != 0 {
				t.Errorf("%q: got %d cents", text, cents)
			}
		}
	})
}

func FuzzPatch(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"iban":null}`,
		`{"name":{"firstName":"a"},"optIns":null}`,
		`{"dateOfBirth":"1980-05-17T10:00:00Z"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var request UpdatePersonRequest
		if json.Unmarshal(data, &request, json.RejectUnknownMembers(true), StrictDecoding()) != nil {
			return
		}
		request.Validate(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
		written, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		var again UpdatePersonRequest
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(written) {
			t.Errorf("got %s, %v, want %s", twice, err, written)
		}
	})
}

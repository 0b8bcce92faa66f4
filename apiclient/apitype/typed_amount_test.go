package apitype

import (
	"errors"
	"testing"
)

// An amount is read as it is written in a country, refused, or has both of its meanings told.
func TestParseTypedAmount(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text                   string
		unknown, comma, points string // As it is read; "" where it is refused, "?" where it is asked back.
	}{
		{"12.50", "12.50", "12.50", "12.50"},
		{"12,5", "12.50", "12.50", "12.50"},
		{"20", "20.00", "20.00", "20.00"},
		{" 007 ", "7.00", "7.00", "7.00"},
		{"€ 30", "30.00", "30.00", "30.00"},
		{"€30,-", "30.00", "30.00", "30.00"},
		{"30,-", "30.00", "30.00", "30.00"},
		{"30,--", "30.00", "30.00", "30.00"},
		{"30 EUR", "30.00", "30.00", "30.00"},
		{"1.250", "?", "1250.00", "1.25"},
		{"1,250", "?", "1.25", "1250.00"},
		{"1.000", "?", "1000.00", "1.00"},
		{"€ 2.500", "?", "2500.00", "2.50"},
		{"1.250,00", "1250.00", "1250.00", ""},
		{"1,250.00", "1250.00", "", "1250.00"},
		{"1.250.000", "1250000.00", "1250000.00", "1250000.00"},
		{"1 250", "1250.00", "1250.00", "1250.00"},
		{"1 250,50", "1250.50", "1250.50", ""},
		{"0.125", "0.125", "", "0.125"},
		{"1250.000", "1250.00", "", "1250.00"},
		{"0,50", "0.50", "0.50", "0.50"},
		{"-5", "-5.00", "-5.00", "-5.00"},
		{"2e2", "", "", ""},
		{"1e3", "", "", ""},
		{"1.2.3", "", "", ""},
		{"1,2,3", "", "", ""},
		{"much", "", "", ""},
		{"", "", "", ""},
		{"€", "", "", ""},
		{"12.", "", "", ""},
		{".5", "", "", ""},
		{"1.25,000", "", "", ""},
		{"0x10", "", "", ""},
	} {
		for sign, want := range map[byte]string{0: test.unknown, ',': test.comma, '.': test.points} {
			amount, err := ParseTypedAmount(test.text, sign)
			got := amount.Fixed()
			if _, asked := errors.AsType[*AmbiguousAmount](err); asked {
				got = "?"
			} else if err != nil {
				got = ""
			}
			if got != want {
				t.Errorf("%q, %q: got %q, %v, want %q", test.text, sign, got, err, want)
			}
		}
	}
	_, err := ParseTypedAmount("1.250", 0)
	if want := `"1.250" can be read as 1250.00 or 1.25: write which one is meant`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

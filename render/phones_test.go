package render_test

import (
	"strings"
	"testing"

	"fundesk/render"
)

// A number without a plus sign has a length that its country has, or it is refused.
func TestDialledNumbers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ country, typed, want string }{
		{"NL", "0612345678", "+31612345678"},
		{"NL", "612345678", "+31612345678"}, // A spreadsheet dropped the zero.
		{"NL", "061234567", "has 8 digits"},
		{"NL", "06123456789", "has 10 digits"},
		{"NL", "06-1234567x", "must be a phone number"},
		{"NL", "06‑12345678", "must be a phone number"}, // Another hyphen.
		{"NL", "no phone", "must be a phone number"},
		{"BE", "0471 23 45 67", "+32471234567"},
		{"BE", "0471 23 45 6", "has 8 digits"},
		{"BE", "04 221 23 45", "+3242212345"},
		{"BE", "04 221 23 456", "has 9 digits"},
		{"BE", "02 123 45 67", "+3221234567"},
		{"DE", "0221 3212383", "+492213212383"},
		{"DE", "2213212383", "+492213212383"},
		{"DE", "3212383", "has no area code"},
		{"DE", "12345678", "has no area code"},
		{"DE", "0151 123456", "has 9 digits"},
		{"AT", "0664 1234567", "+436641234567"},
		{"AT", "0664 123456", "has 9 digits"},
		{"AT", "0662 123456", "+43662123456"},
		{"AT", "58801", "has no area code"},
		{"FR", "01 42 68 53", "has 7 digits"},
		{"LU", "26 12 34", "+352261234"},
		{"LU", "621 123 456", "+352621123456"},
		{"LU", "621 123 45", "has 8 digits"},
		{"IT", "06 1234 5678", "+390612345678"},
		{"IT", "612345678", "does not begin as a number of IT"}, // Rome without its zero.
		{"IT", "347 1234567", "+393471234567"},
		{"ES", "912 345 678", "+34912345678"},
		{"ES", "91 234 567", "has 8 digits"},
		{"GB", "020 7946 0000", "+442079460000"},
		{"GB", "020 7946 00001", "has 11 digits"},
		{"CH", "044 668 18 00", "+41446681800"},
		{"CH", "044 668 18 000", "has 10 digits"},
		{"PL", "22 123 45 67", "must begin with +"},
		{"PL", "+48 22 123 45 67", "+48221234567"},
	} {
		got, err := render.Dialled(test.typed, test.country)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s %q: got %q, want %q", test.country, test.typed, got, test.want)
		}
	}
}

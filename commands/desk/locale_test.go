package desk

import (
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// Amounts are written as in the language of the profile, unless the computer has a locale.
func TestLocaleOfTheProfile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ computer, language, want string }{
		{"C", "nl", "1.250,00"},
		{"", "de", "1.250,00"},
		{"", "en", "1250.00"},
		{"en_GB", "nl", "1,250.00"},
		{"de_DE", "en", "1.250,00"},
	} {
		computer := render.LocaleFrom(func(string) string { return test.computer })
		if got := localeOf(test.language, computer).Amount(apitype.Cents(125_000)); got != test.want {
			t.Errorf("%s on %q: got %s, want %s", test.language, test.computer, got, test.want)
		}
	}
}

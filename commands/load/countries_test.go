package load

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

var update = flag.Bool("update", false, "rewrite the table of countries")

// The table has the names of the library for every country of the interface.
func TestTableOfCountries(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	for _, code := range apitype.CountryCodes() {
		region, err := language.ParseRegion(code)
		servicetest.Check(t, err)
		names := []string{strings.ToLower(region.ISO3())}
		for _, in := range []language.Tag{
			language.English, language.Dutch, language.German, language.French, language.Spanish,
		} {
			if name := foldName(display.Regions(in).Name(region)); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		table.WriteString(code + " " + strings.Join(names, " ") + "\n")
	}
	if *update {
		servicetest.Check(t, os.WriteFile("countries.txt", []byte(table.String()), 0o600))
		return
	}
	servicetest.Same(t, "table", table.String(), countryTable)
}

// Names of countries are read in five languages, and so are their codes.
func TestNamesOfCountries(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"NL": "NL", "nl": "NL", "NLD": "NL", "Netherlands": "NL", "The Netherlands": "NL", "Nederland": "NL",
		"Niederlande": "NL", "Pays-Bas": "NL", "Países Bajos": "NL", "Belgie": "BE", "België": "BE", "Belgique": "BE",
		"Belgien": "BE", "Deutschland": "DE", "Duitsland": "DE", "Allemagne": "DE", "Alemania": "DE", "GERMANY": "DE",
		"United Kingdom": "GB", "UK": "GB", "U.K.": "GB", "Österreich": "AT", "Oostenrijk": "AT", "Autriche": "AT",
		"Suisse": "CH", "Schweiz": "CH", "España": "ES", "Spanje": "ES", "U.S.A.": "US", "Italien": "IT",
		"Luxemburg": "LU", "Frankrijk": "FR", "Narnia": "", "": "", "EN": "", "Großbritannien": "GB",
	} {
		if got := countryOf(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

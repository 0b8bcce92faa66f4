package load

import "testing"

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

package postal

import (
	"strings"
	"testing"
)

// A line of an address is split by the form of its country, or refused.
func TestAddressesAreSplit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, country, want string }{
		{"Kerkstraat 12", "NL", "Kerkstraat|12|"},
		{"Kerkstraat 12a", "NL", "Kerkstraat|12|a"},
		{"Kerkstraat 12-II", "NL", "Kerkstraat|12|II"},
		{"Kerkstraat 12 hs", "NL", "Kerkstraat|12|hs"},
		{"Plein 1944 7", "NL", ""},
		{"2e Jan Steenstraat 14", "NL", "2e Jan Steenstraat|14|"},
		{"Meir 100 bus 3", "BE", "Meir|100|bus 3"},
		{"Hauptstr. 5a", "DE", "Hauptstr.|5|a"},
		{"Straße des 17. Juni 135", "DE", "Straße des 17. Juni|135|"},
		{"Via Roma, 12", "IT", "Via Roma|12|"},
		{"1 High St", "GB", "High St|1|"},
		{"12 bis, rue de la Paix", "FR", "rue de la Paix|12|bis"},
		{"12B High Street", "GB", "High Street|12|B"},
		{"Flat 2, 12 High St", "GB", ""},
		{"Postbus", "NL", ""},
		{"Kerkstraat", "NL", ""},
		{"Kerkstraat 12 3", "NL", ""},
		{"Calle Mayor, 12, 3º B", "ES", "Calle Mayor|12|3º B"},
		{"12 Kerkstraat", "NL", ""},
		{"Dorpsstraat 12 bis, 1234 AB Utrecht", "NL", ""},
		{"Dorpsstraat 12 bis 1234 AB Utrecht", "NL", ""},
		{"Hauptstr. 5 Hinterhaus, 10115 Berlin", "DE", ""},
		{"Meir 100 bus 3, 2000 Antwerpen", "BE", ""},
		{"Meir 100 app links, 2000 Antwerpen", "BE", ""},
		{"Hauptstr. 5 links, 10115", "DE", ""},
		{"Rue du 8 Mai 12", "BE", "Rue du 8 Mai|12|"},
		{"Kerkstraat 12", "", ""},
		{"Kerkstraat 12", "JP", ""},
		{"", "NL", ""},
	} {
		street, number, extension, err := Split(test.text, test.country)
		got := street + "|" + number + "|" + extension
		if err != nil {
			got = ""
		}
		if got != test.want {
			t.Errorf("%q in %q: got %q, %v, want %q", test.text, test.country, got, err, test.want)
		}
	}
}

// A pasted address is split into all its parts by the form of its country, or not at all.
func TestWholeAddressesAreSplit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, country, want string }{
		{"Kerkstraat 61a, 8094 RA Zwolle", "NL", "Kerkstraat|61|a|8094 RA|Zwolle"},
		{"Kerkstraat 61 a\n8094ra  Zwolle", "NL", "Kerkstraat|61|a|8094RA|Zwolle"},
		{"Plein 12 1234 AB Den Haag", "NL", "Plein|12||1234 AB|Den Haag"},
		{"Meir 100 bus 3, 2000 Antwerpen", "BE", "Meir|100|bus 3|2000|Antwerpen"},
		{"Domstraße 12 b, 50667 Köln", "DE", "Domstraße|12|b|50667|Köln"},
		{"Hauptstr. 12, D-50667 Köln", "DE", "Hauptstr.|12||50667|Köln"},
		{"Mariahilfer Straße 5, 1060 Wien", "AT", "Mariahilfer Straße|5||1060|Wien"},
		{"Mariahilfer Straße 12/3/4, 1060 Wien", "AT", "Mariahilfer Straße|12|3/4|1060|Wien"},
		{"Flat 3, 10 High Street, Oxford OX1 4BJ", "GB", "High Street|10|Flat 3|OX1 4BJ|Oxford"},
		{"14, rue du Fort, L-1499 Luxembourg", "LU", "rue du Fort|14||1499|Luxembourg"},
		{"12 bis, rue de la Paix, 75002 Paris", "FR", "rue de la Paix|12|bis|75002|Paris"},
		{"12B High Street, London SW1A 1AA", "GB", "High Street|12|B|SW1A 1AA|London"},
		{"Dorpsstraat 12 bis, 1234 AB Utrecht", "NL", "Dorpsstraat|12|bis|1234 AB|Utrecht"},
		{"Hauptstr. 5 Hinterhaus, 10115 Berlin", "DE", "Hauptstr.|5|Hinterhaus|10115|Berlin"},
		{"Hauptstr. 12, 50667 Köln", "NL", ""},
		{"Kerkstraat 61a, Zwolle", "NL", ""},
		{"Kerkstraat", "NL", ""},
		{"Kerkstraat 12, 8094 RA Zwolle", "JP", ""},
		{"", "NL", ""},
	} {
		a, found := SplitWhole(test.text, test.country)
		got := strings.Join([]string{a.Street, a.Number, a.Extension, a.Code, a.City}, "|")
		if !found {
			got = ""
		}
		if got != test.want {
			t.Errorf("%q in %q: got %q, want %q", test.text, test.country, got, test.want)
		}
	}
}

// The countries by whose form a line is an address are found, and a country at its end is cut.
func TestCountriesOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, named, countries string }{
		{"Kerkstraat 61 a 8094 RA Zwolle", "", "NL"},
		{"Domstraße 12 b, 50667 Köln", "", "DE ES IT"},
		{"Domstraße 12 b, 50667 Köln, Duitsland", "DE", "DE ES IT"},
		{"12 rue de la Paix, 75002 Paris, FR", "FR", "FR"},
		{"12B High Street, London SW1A 1AA, United Kingdom", "GB", "GB"},
		{"Mariahilfer Straße 5, 1060 Wien\nÖsterreich", "AT", "AT BE CH"},
		{"Kerkstraat 61a, Zwolle", "", ""},
		{"Kerkstraat", "", ""},
	} {
		line, named := CutCountry(test.text)
		if got := strings.Join(Countries(line), " "); got != test.countries || named != test.named {
			t.Errorf("%q: got %q, named %q, want %q, named %q", test.text, got, named, test.countries, test.named)
		}
	}
}

// What stands behind a house number is a part of a house, not the rest of a sentence.
func TestExtensions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "bis A", "bus 3", "hs", "Hinterhaus", "2. OG links", "3º B", "III", "zw",
		"boîte 4", "rood",
	} {
		if !IsExtension(text) {
			t.Errorf("%q: got it refused", text)
		}
	}
	for _, text := range []string{"now", "last week", "since May", "is right, she says", "euro"} {
		if IsExtension(text) {
			t.Errorf("%q: got it taken for an extension", text)
		}
	}
}

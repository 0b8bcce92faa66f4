package service

import (
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
)

// finds reports whether a search finds a person with some terms, as a store does.
func finds(search Search, terms []string) bool {
	if len(search) == 0 {
		return false
	}
	for _, part := range search {
		found := slices.ContainsFunc(terms, func(term string) bool {
			return slices.ContainsFunc(part, func(wanted string) bool { return strings.HasPrefix(term, wanted) })
		})
		if !found {
			return false
		}
	}
	return true
}

// TestSearchedPersons searches persons by what an agent types. A text finds the persons that are named, and no other.
func TestSearchedPersons(t *testing.T) {
	t.Parallel()
	address := func(street, number string, extension *string, zip, country string) apitype.Embedded[apitype.Address] {
		return apitype.Embed(apitype.Address{
			Street:               street,
			HouseNumber:          number,
			HouseNumberExtension: extension,
			ZipCode:              zip,
			City:                 "X",
			Country:              country,
		})
	}
	persons := map[string]apitype.Person{
		"renee": {
			AcademicTitle:     new("dr."),
			Initials:          new("R.J."),
			FirstName:         new("Renée-Joan"),
			LastNamePrefix:    new("van den"),
			LastName:          new("IJssel"),
			MobilePhoneNumber: new("+31612345678"),
			PhoneNumber:       new("+31201234567"),
			Email:             new("Renee_IJ%ssel@Example.org"),
			IBAN:              new("NL91ABNA0417164300"),
			Address:           address("Dorpsstraat", "12", new("bis"), "1234 AB", "NL"),
		},
		"jürgen": {
			FirstName:         new("Ju\u0308rgen"),
			LastName:          new("Weiß-Müller"),
			MobilePhoneNumber: new("+4915112345678"),
			Email:             new("j.weiss@example.de"),
			IBAN:              new("DE89370400440532013000"),
			Address:           address("Straße", "118", nil, "10115", "DE"),
		},
		"neill": {
			Initials: new("A.B.C."), LastName: new("O'Neill"), PhoneNumber: new("+3222345678"),
			Address: address("High Street", "10", new("a"), "LS12 3AB", "GB"),
		},
		"digits": {
			LastName:          new("Studio 54 \u0132mker"),
			MobilePhoneNumber: new("+31698765432"),
			Address:           address("Weg", "1", nil, "1234AB", "NL"),
		},
		"empty": {},
	}
	for _, test := range []struct {
		texts string // Separated by |.
		want  []string
	}{
		{
			texts: "renée|RENEE|re renee|renee re|r v|v r d|rene|Rene\u0301e|renee ijs|IJSSEL van|van ren den|dr ijssel|renee-joan|reneejoan|joan|r.j. ijssel|rj|yssel|\u0132ssel",
			want:  []string{"renee"},
		},
		{"ijs|\u0132s", []string{"renee"}},
		{"ij", []string{"renee", "digits"}},
		{
			texts: "juergen|Jürgen MUELLER|müller|jurgen|Jürgen|ju\u0308rgen|weiss|weiß|WEISS müll|weissmuller|muller weiss",
			want:  []string{"jürgen"},
		},
		{"oneill|o'neill|O’Neill|neill|a.b. o'neill|abc|c. oneill", []string{"neill"}},
		{"studio 54|54 \u0132m|54 ijmker", []string{"digits"}},
		{
			texts: "0612345678|06 12345678|06-1234 5678|+31612345678|+31 6 12 34 56 78|+31(0)612345678|0031612345678|31612345678|612345678|5678 renee",
			want:  []string{"renee"},
		},
		{"0612|06 1234|06-1234 56|+31612|+31 6 12|0031 612|3161234567|0612 renee|+316 renee", []string{"renee"}},
		{"06", []string{"renee", "digits"}},
		{"+316|+31(0)6", []string{"renee", "digits"}},
		{"020 12|+31201", []string{"renee"}},
		{"0151|+49151|0049 151 1", []string{"jürgen"}},
		{"345678", []string{"renee", "jürgen", "neill"}},
		{"+49 151 12345678|004915112345678|015112345678", []string{"jürgen"}},
		{"020 1234567|(020) 123 45 67|020/1234567 van", []string{"renee"}},
		{"renee_ij%ssel@example.org|RENEE_IJ%ssel@", []string{"renee"}},
		{"j.weiss@", []string{"jürgen"}},
		{
			texts: "NL91ABNA0417164300|nl91 abna 0417 1643 00|NL91 ABNA|NL91ABNA ijssel|nl91 abna 0417 1643 00 renee",
			want:  []string{"renee"},
		},
		{"DE89 3704 0044 0532 0130 00", []string{"jürgen"}},
		{"1234 AB|1234ab", []string{"renee", "digits"}},
		{"1234 AB 12|1234ab 12|1234AB12|1234 ab 12bis|1234 AB 12 bis|1234ab-12|ijssel 1234 AB 12", []string{"renee"}},
		{"1234 AB 1|1234ab1", []string{"digits"}},
		{"10115 118|10115", []string{"jürgen"}},
		{"ls12 3ab 10|LS123AB 10 a|LS12 3AB", []string{"neill"}},
		{
			texts: "renee jurgen|1234 AB 118|10115 11|0612345679|renee@|nl92|xx|+32612345678|1234 AB 12 x|0613|+31 613|+32 612|+49612|612|0612345678 1|+49612345678",
		},
	} {
		for text := range strings.SplitSeq(test.texts, "|") {
			var found []string
			for name, p := range persons {
				if finds(ParseSearch(text), TermsOf(p)) {
					found = append(found, name)
				}
			}
			slices.Sort(found)
			want := slices.Sorted(slices.Values(test.want))
			if !slices.Equal(found, want) {
				t.Errorf("%q: got %v, want %v (%q)", text, found, want, ParseSearch(text))
			}
		}
	}
}

// FuzzParseSearch reads any text that is allowed: it has a part, and terms hold what the store keeps them by.
// Unicode calls some accents letters, such as U+037A. A text of these alone finds no one.
func FuzzParseSearch(f *testing.F) {
	for _, text := range []string{
		"a", "+31 6", "1234 AB 12 a", "NL91 ABNA 0417", "a@b", "0", "\u0301x", "é.-", "1234 AB",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if apitype.CheckSearch(text) != nil || plainText(text) == "" {
			return
		}
		person := apitype.Person{FirstName: &text, Email: &text, IBAN: &text, PhoneNumber: &text}
		for _, term := range TermsOf(person) {
			if strings.ContainsAny(term, "\"\\ \n") {
				t.Errorf("got the term %q", term)
			}
		}
		if search := ParseSearch(text); len(search) == 0 {
			t.Errorf("%q: got no part", text)
		}
	})
}

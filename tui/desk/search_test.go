package desk

import "testing"

func TestFinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, search string
		want         bool
	}{
		{"Hanna Weiß", "weiss", true},
		{"Zoë van der Straaten", "ZOE straa", true},
		{"Zoe\u0308 Bos", "zoë", true},
		{"Moritz Müller", "muller", true},
		{"Moritz Müller", "mueller", true},
		{"Andreas Zimmermann", "zimmremann", true},
		{"Andreas Zimmermann", "zimermn", false},
		{"Andreas Zimmermann", "simmerman andraes", true},
		{"Bas Mulder", "bos", false}, // Too short for a slip.
		{"c0010000 Anna", "c0020000", false},
		{"Anna", "anna bos", false},
		{"Anna", "", true},
	}
	for _, test := range tests {
		if got := Finds(test.text, SearchTerms(test.search)); got != test.want {
			t.Errorf("%q in %q: got %v, want %v", test.search, test.text, got, test.want)
		}
	}
}

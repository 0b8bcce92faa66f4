package donors

import (
	"testing"

	"fundesk/apiclient/apitype"
)

// callID returns an identifier that readers can tell apart.
func callID(n int) apitype.UUID {
	id := apitype.MustParseUUID("c0000000-0000-4000-8000-000000000000")
	id[1], id[15] = byte(n), byte(n)
	return id
}

// TestFindDonors searches the donors of the newest calls of a service that cannot search: by any number, as whatever
// phone shows it, and by a name that was heard.
func TestFindDonors(t *testing.T) {
	t.Parallel()
	search := Search{isKnown: true}
	add := func(n int, name, mobile, home string) {
		p := apitype.Person{UUID: callID(100 + n), LastName: &name, MobilePhoneNumber: &mobile, PhoneNumber: &home}
		p.Address = apitype.Embed(apitype.Address{City: "Stad"})
		search.ofCalls = append(search.ofCalls, newDonor(p))
	}
	add(1, "Müller", "+491713920000", "+492212718129")
	add(2, "Veenstra", "+31627646660", "+31201234567")
	add(3, "Meijer", "+31686271619", "")
	open := []Open{{Call: callID(3), Person: callID(103), Name: "Meijer", Numbers: [2]string{"31686271619"}}}
	isPending := func(apitype.UUID) bool { return false }
	tests := []struct{ search, want string }{
		{"mueller", "Müller"},
		{"06 27 64 66 60", "Veenstra"},
		{"0031 6 27646660", "Veenstra"},
		{"+31 (0)20-123 45 67", "Veenstra"},
		{"0627", "Veenstra"}, // And not in the middle of another number.
		{"6 27", "Meijer Veenstra"},
		{"0221/2718129", "Müller"},
		{"meyer", "Meijer"},
		{"stad", "Meijer Müller Veenstra"},
		{"  ", ""},
		{"nobody", ""},
	}
	for _, test := range tests {
		got := ""
		search.typed = test.search
		for _, donor := range search.Among(open, isPending, 9) {
			if got != "" {
				got += " "
			}
			got += donor.Name
			if (donor.OpenCall == callID(3)) != (donor.Name == "Meijer") {
				t.Errorf("%q: the open call of %s: got %s", test.search, donor.Name, donor.OpenCall)
			}
		}
		if got != test.want {
			t.Errorf("%q: got %q, want %q", test.search, got, test.want)
		}
		if got := len(search.Among(open, isPending, 2)); got > 2 {
			t.Errorf("%q: got %d of at most 2", test.search, got)
		}
	}
}

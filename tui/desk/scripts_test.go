package desk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// A script speaks to the donor of the call, in its own language; a file comes before the
// settings, and a field that there is not is named.
func TestScriptsAreFilledIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	servicetest.Check(t, os.Mkdir(filepath.Join(dir, "scripts"), 0o700))
	text := "Dag {{.Person.FirstName}}, u geeft {{ .Pledge.Amount }} {{.Pledge.Interval}} aan {{.Pledge.Charity}}.\n{{.Person.Shoe}} {{"
	servicetest.Check(t, os.WriteFile(filepath.Join(dir, "scripts", "happy_call.nl.md"), []byte(text), 0o600))
	if err := os.WriteFile(filepath.Join(dir, "scripts", "happy_call.md"), []byte("Hello {{.Person.FirstName}}, {{.Pledge.Interval}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	scripts, err := readScripts(dir)
	if err == nil || !strings.Contains(err.Error(), "scripts/happy_call.nl.md, line 2: there is no {{.Person.Shoe}}; there are Person.Name, ") {
		t.Errorf("got %v, want the field named", err)
	}
	d := newDay()
	d.Card.scripts = scripts
	d.floor.kept.Store(&keptSettings{Settings: apitype.Settings{Organizations: []apitype.OrganizationSettings{{Scripts: map[string]string{"happy_call.nl": "not this one"}}}}})
	person := apitype.Person{FirstName: new("Anna"), Language: new("NL")}
	pledge := apitype.Pledge{DonationAmount: apitype.Cents(123450), DonationInterval: "half-yearly", OwningOrganization: apitype.Embed(apitype.OrganizationReference{Name: "Helder Water"})}
	d.Call = &apitype.Call{Type: apitype.CallHappy, Person: apitype.Embed(person), PledgeCase: apitype.Embed(pledge)}
	d.Card.pickScript()
	want := []string{"Dag Anna, u geeft € 1.234,50 per halfjaar aan Helder Water.", "{{.Person.Shoe}} {{"}
	servicetest.Same(t, "script", want, d.Card.Script)
	// Of a pledge that has ended nothing is collected: the script says so first, but for a donor who is
	// asked to come back.
	for _, ended := range []struct {
		kind   apitype.CallType
		status apitype.PledgeStatus
		says   string
		gives  string
	}{
		{apitype.CallHappy, apitype.PledgeDropped, "The pledge is dropped: nothing is collected", "promised"},
		{apitype.CallHappy, apitype.PledgeCancelled, "The pledge is cancelled: nothing is collected", "gave"},
		{apitype.CallHappy, apitype.PledgeFulfilled, "The pledge is fulfilled: nothing is collected", "gave"},
		{apitype.CallHappy, apitype.PledgeActive, "Dag Anna", "gives"},
		{apitype.CallWinback, apitype.PledgeCancelled, "Hello Anna", "gave"},
	} {
		d.Card.scripts["winback"] = []string{"Hello {{.Person.FirstName}}"}
		pledge.Status = ended.status
		d.Call = &apitype.Call{Type: ended.kind, Person: apitype.Embed(person), PledgeCase: apitype.Embed(pledge)}
		if d.Card.pickScript(); !strings.Contains(d.Card.Script[0], ended.says) || GivesWord(ended.status) != ended.gives {
			t.Errorf("%s, %s: got %q and %q, want %q and %q", ended.kind, ended.status, d.Card.Script[0], GivesWord(ended.status), ended.says, ended.gives)
		}
	}
	d.Call = &apitype.Call{Type: apitype.CallHappy}
	d.Card.pickScript()
	servicetest.Same(t, "nothing known", []string{"Hello …, …"}, d.Card.Script)
}

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

// A donor is found by any number, as whatever phone shows it, and by a name that was heard.
func TestFindDonors(t *testing.T) {
	t.Parallel()
	d := newDay()
	add := func(n int, name, mobile, home string) {
		p := apitype.Person{UUID: callID(100 + n), LastName: &name, MobilePhoneNumber: &mobile, PhoneNumber: &home}
		d.Search.all = append(d.Search.all, newDonor(p))
	}
	add(1, "Müller", "+491713920000", "+492212718129")
	add(2, "Veenstra", "+31627646660", "+31201234567")
	add(3, "Meijer", "+31686271619", "")
	open := apitype.Person{UUID: callID(103), LastName: new("Meijer"), MobilePhoneNumber: new("+31686271619")}
	d.queue.learn(apitype.Call{UUID: callID(3), PersonUUID: open.UUID, Status: apitype.CallRequested, Person: apitype.Embed(open)})
	tests := []struct{ search, want string }{
		{"mueller", "Müller"},
		{"06 27 64 66 60", "Veenstra"},
		{"0031 6 27646660", "Veenstra"},
		{"+31 (0)20-123 45 67", "Veenstra"},
		{"0627", "Veenstra"}, // And not in the middle of another number.
		{"6 27", "Meijer Veenstra"},
		{"0221/2718129", "Müller"},
		{"meyer", "Meijer"},
		{"  ", ""},
		{"nobody", ""},
	}
	for _, test := range tests {
		got := ""
		for _, donor := range d.Search.FindDonors(test.search, 9) {
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
	}
}

// A search does not walk every person that there is: it reads the newest 5,000, and more when
// it is asked to.
func TestDonorSearchIsBounded(t *testing.T) {
	t.Parallel()
	d := newDay()
	if d.Search.HasMoreDonors() {
		t.Error("before anybody searches: got more donors to read")
	}
	events := d.Search.SearchDonors()
	for n := 500; n <= 10_000; n += 500 {
		if len(events) != 1 || d.Search.HasMoreDonors() {
			t.Fatalf("after %d donors: got %d requests, want one", n-500, len(events))
		}
		d.Search.onDonors(donorsRead{donors: make([]Donor, 500), more: true, cursor: "c", size: 500}, nil)
		events = d.drain()
		if n%5000 != 0 {
			continue
		}
		if len(events) != 0 || !d.Search.HasMoreDonors() {
			t.Fatalf("after %d donors: got %d requests, want none before somebody asks", n, len(events))
		}
		d.Search.LeaveSearch()
		if events = d.Search.SearchDonors(); len(events) != 0 {
			t.Fatalf("opened again after %d donors: got %d requests, want none", n, len(events))
		}
		events = d.Search.SearchOn()
	}
	d.Search.onDonors(donorsRead{}, nil)
	if n, all := d.Search.DonorsRead(); n != 10_000 || !all || d.Search.HasMoreDonors() {
		t.Errorf("got %d donors, all %v, more %v; want all 10,000", n, all, d.Search.HasMoreDonors())
	}
}

// The list of persons finds a number as the Desk does, however it is written.
func TestNumbersAreFoundInLists(t *testing.T) {
	t.Parallel()
	text := "0b1d5a4e Anna Bos 06 87 66 93 94 +31687669394 +31201234567"
	for search, want := range map[string]bool{
		"0687669394": true, "06 87669394": true, "0031687669394": true, "+31687669394": true, "020-1234567": true, "669394": true,
		"bos": true, "0787669394": false, "066": false, "12": true,
	} {
		if got := FindsInList(text, SearchTerms(search)); got != want {
			t.Errorf("%q: got %t, want %t", search, got, want)
		}
	}
}

func TestLanguagesOfTheLocale(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		environment map[string]string
		want        []string
	}{
		{"a locale", map[string]string{"LANG": "nl_NL.UTF-8"}, []string{"nl"}},
		{"several languages", map[string]string{"LANGUAGE": "nl_NL:de:nl", "LANG": "en_US.UTF-8"}, []string{"nl", "de"}},
		{"messages come before the rest", map[string]string{"LC_MESSAGES": "de_DE", "LANG": "en_US"}, []string{"de"}},
		{"no language", map[string]string{"LC_ALL": "C.UTF-8", "LANG": "en_US"}, nil},
		{"nothing", nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := localeLanguages(func(name string) string { return test.environment[name] }); !slices.Equal(got, test.want) {
				t.Errorf("languages: got %v, want %v", got, test.want)
			}
		})
	}
}

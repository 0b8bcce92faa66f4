package desk

import (
	"os"
	"path/filepath"
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

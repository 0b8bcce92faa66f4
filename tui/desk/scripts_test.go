package desk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/find"
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
	scripts, err := card.ReadScripts(dir)
	if err == nil ||
		!strings.Contains(err.Error(), "scripts/happy_call.nl.md, line 2: there is no {{.Person.Shoe}}; there are Person.Name, ") {
		t.Errorf("got %v, want the field named", err)
	}
	d := newDay()
	d.scripts = scripts
	d.floor.Put(floor.Kept{
		Settings: apitype.Settings{
			Organizations: []apitype.OrganizationSettings{
				{Scripts: map[string]string{"happy_call.nl": "not this one"}},
			},
		},
	})
	person := apitype.Person{FirstName: new("Anna"), Language: new("NL")}
	pledge := apitype.Pledge{
		DonationAmount:     apitype.Cents(123450),
		DonationInterval:   "half-yearly",
		OwningOrganization: apitype.Embed(apitype.OrganizationReference{Name: "Helder Water"}),
	}
	d.Call = &apitype.Call{Type: apitype.CallHappy, Person: apitype.Embed(person), PledgeCase: apitype.Embed(pledge)}
	d.pickScript()
	want := []string{"Dag Anna, u geeft € 1.234,50 per halfjaar aan Helder Water.", "{{.Person.Shoe}} {{"}
	servicetest.Same(t, "script", want, d.Card().Script.Lines)
	// Nothing is collected of an ended pledge. A remark above the script says so, unless the donor is asked to come
	// back.
	for _, ended := range []struct {
		kind   apitype.CallType
		status apitype.PledgeStatus
		says   string
		gives  string
	}{
		{apitype.CallHappy, apitype.PledgeDropped, "The pledge is dropped: nothing is collected", "promised"},
		{apitype.CallHappy, apitype.PledgeCancelled, "The pledge is cancelled: nothing is collected", "donated"},
		{apitype.CallHappy, apitype.PledgeFulfilled, "The pledge is fulfilled: nothing is collected", "donated"},
		{apitype.CallHappy, apitype.PledgeActive, "Dag Anna", "donates"},
		{apitype.CallWinback, apitype.PledgeCancelled, "Hello Anna", "donated"},
	} {
		d.scripts["winback"] = []string{"Hello {{.Person.FirstName}}"}
		pledge.Status = ended.status
		d.Call = &apitype.Call{Type: ended.kind, Person: apitype.Embed(person), PledgeCase: apitype.Embed(pledge)}
		d.pickScript()
		said := strings.TrimSpace(d.Card().Script.Remark + "\n" + d.Card().Script.Lines[0])
		if !strings.HasPrefix(said, ended.says) || card.GivesWord(ended.status) != ended.gives {
			t.Errorf("%s, %s: got %q and %q, want %q and %q", ended.kind, ended.status, said,
				card.GivesWord(ended.status), ended.says, ended.gives)
		}
	}
	d.Call = &apitype.Call{Type: apitype.CallHappy}
	d.pickScript()
	servicetest.Same(t, "nothing known", []string{"Hello …, …"}, d.Card().Script.Lines)
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
		if got := find.In(test.text, find.Terms(test.search)); got != test.want {
			t.Errorf("%q in %q: got %v, want %v", test.search, test.text, got, test.want)
		}
	}
}

// TestSearchedDonors types while the service searches: there is one request at a time, an answer counts for its text
// alone, and nothing is asked that cannot be searched. At a service that cannot search, the newest calls are read once.
func TestSearchedDonors(t *testing.T) {
	t.Parallel()
	page := func(edges string) string { return `200 {"pageInfo":{"hasNextPage":false},"edges":[` + edges + `]}` }
	person := func(n int, name string) string {
		return fmt.Sprintf(`{"uuid":%q,"lastName":%q}`, callID(n), name)
	}
	bos, berg := `{"node":`+person(101, "Bos")+`}`, `{"node":`+person(102, "Berg")+`}`
	found := func(d *Day) string {
		var names []string
		for _, donor := range d.FindDonors(9) {
			names = append(names, donor.Name)
		}
		return strings.Join(names, " ")
	}
	d := dayAt(t, answers{
		"GET /fundesk/v1":     `200 {"extensions":["search"]}`,
		"GET /api/v1/persons": page(bos + "," + berg),
	})
	first := d.Search.SearchFor("b")
	if more := d.Search.SearchFor("bo"); len(first) != 1 || len(more) != 0 || found(d) != "" {
		t.Fatalf("got %d and %d requests, %q found, want one and nobody", len(first), len(more), found(d))
	}
	second := d.Receive(first[0].(event.Job)(t.Context()))
	if got := found(d); len(second) != 1 || got != "Bos" {
		t.Fatalf("after the first answer: got %d requests, %q, want one for the longer text, and whom it fits",
			len(second), got)
	}
	last := d.Receive(second[0].(event.Job)(t.Context()))
	if len(last) != 0 || found(d) != "Bos Berg" || d.Search.IsSearchedHere() {
		t.Errorf("after the second: got %d requests, %q, want what the service found", len(last), found(d))
	}
	for _, text := range []string{"", " .", strings.Repeat("x", 300)} {
		if asked := d.Search.SearchFor(text); len(asked) != 0 {
			t.Errorf("%q: got a request", text)
		}
	}
	d.Search.LeaveSearch()
	call := `{"node":{"uuid":"` + callID(1).String() + `","status":"requested","person":` + person(101, "Bos") + `}}`
	d = dayAt(t, answers{
		"GET /fundesk/v1":   `404 {}`,
		"GET /api/v1/calls": page(call + "," + strings.Replace(call, "requested", "completed", 1)),
	})
	work(t, d, d.Search.SearchFor(""))
	asked := d.Search.SearchFor("bos")
	if len(asked) != 0 || found(d) != "Bos" || !d.Search.IsSearchedHere() || d.FindDonors(9)[0].OpenCall != callID(1) {
		t.Errorf("of the newest calls: got %d requests, %q, want Bos with the open call", len(asked), found(d))
	}
	d = dayAt(t, answers{
		"GET /fundesk/v1":     `200 {"extensions":["search"]}`,
		"GET /api/v1/persons": `422 {"detail":"no"}`,
	})
	texts := work(t, d, d.Search.SearchFor("bos"))
	if !slices.Equal(texts, []string{"cannot look for donors: 422 no"}) {
		t.Errorf("got %q, want it said, and no more asked", texts)
	}
}

package desk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

// A script speaks to the donor of the call, in its own language; a file comes before what
// was given, and a field that there is not is named.
func TestScriptsAreFilledIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "scripts"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "Dag {{.Person.FirstName}}, u geeft {{ .Pledge.Amount }} {{.Pledge.Interval}} aan {{.Pledge.Charity}}.\n{{.Person.Shoe}} {{"
	if err := os.WriteFile(filepath.Join(dir, "scripts", "happy_call.nl.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	scripts, err := readScripts(dir, map[string]string{"happy_call.nl": "not this one", "happy_call": "Hello {{.Person.FirstName}}, {{.Pledge.Interval}}"})
	if err == nil || !strings.Contains(err.Error(), "scripts/happy_call.nl.md, line 2: there is no {{.Person.Shoe}}; there are Person.Name, ") {
		t.Errorf("got %v, want the field named", err)
	}
	d := newDay()
	d.scripts = scripts
	person := apitype.Person{FirstName: new("Anna"), Language: new("NL")}
	pledge := apitype.Pledge{DonationAmount: apitype.Cents(123450), DonationInterval: "half-yearly", OwningOrganization: apitype.Embed(apitype.OrganizationReference{Name: "Helder Water"})}
	d.Call = &apitype.Call{Type: apitype.CallHappy, Person: apitype.Embed(person), PledgeCase: apitype.Embed(pledge)}
	d.pickScript()
	want := []string{"Dag Anna, u geeft € 1.234,50 per halfjaar aan Helder Water.", "{{.Person.Shoe}} {{"}
	if diff := cmp.Diff(want, d.Script); diff != "" {
		t.Errorf("script (-want +got):\n%s", diff)
	}
	d.Call = &apitype.Call{Type: apitype.CallHappy}
	d.pickScript()
	if diff := cmp.Diff([]string{"Hello …, …"}, d.Script); diff != "" {
		t.Errorf("nothing known (-want +got):\n%s", diff)
	}
}

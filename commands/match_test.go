package commands

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// matchFloor is a service with donors, and a folder for files about them.
type matchFloor struct {
	*servicetest.Harness
	line
	t      *testing.T
	token  string
	owner  string
	folder string
}

func newMatchFloor(t *testing.T) *matchFloor {
	t.Helper()
	h := servicetest.New(t)
	f := &matchFloor{Harness: h, t: t, token: h.Token(), owner: h.Organization("AID").String(), folder: t.TempDir()}
	f.line = lineAt(t, h.URL, f.token)
	return f
}

// donor creates a person with some members of JSON, and returns its uuid.
func (f *matchFloor) donor(members string) string {
	f.t.Helper()
	body := fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,%s}`, f.owner, f.owner, members)
	answer := f.Do(f.token, http.MethodPost, "/api/v1/persons", body)
	if answer.Status != http.StatusCreated {
		f.t.Fatalf("got %d %s", answer.Status, answer.Body)
	}
	return answer.Object()["uuid"].(string)
}

func (f *matchFloor) apply(csv string, more ...string) servicetest.Ran {
	f.t.Helper()
	path := filepath.Join(f.folder, "donors.csv")
	writeFile(f.t, path, csv)
	return f.try(f.t, "person apply --country NL", append([]string{path}, more...)...)
}

func (f *matchFloor) member(id, name string) any {
	f.t.Helper()
	return f.Do(f.token, http.MethodGet, "/api/v1/persons/"+id, "").Object()[name]
}

// Rows without a uuid find their records by the fields of --match, in their order: a later field settles what an
// earlier one leaves open. New, ambiguous and second rows are left out and named.
func TestApplyMatch(t *testing.T) {
	t.Parallel()
	f := newMatchFloor(t)
	anna := f.donor(`"email":"anna@example.org","mobilePhoneNumber":"+31611111111","language":"nl"`)
	bert := f.donor(`"email":"family@example.org","mobilePhoneNumber":"+31622222222","language":"nl"`)
	carl := f.donor(`"email":"family@example.org","mobilePhoneNumber":"+31633333333","language":"nl"`)
	file := "email,mobilePhoneNumber,language\n" +
		"ANNA@example.org,,de\n" + // Found by the address, in any case.
		"family@example.org,06 33333333,de\n" + // The number settles it.
		"family@example.org,,de\n" + // Ambiguous.
		"anna@example.org,,fr\n" + // A second row for one record.
		"new@example.org,,de\n"
	out, errs, code := f.apply(file, "--match", "email,phone", "--plan-only", "--empty", "keep").All()
	for _, want := range []string{
		"plan: 1 new, 2 changed, 0 same, 1 ambiguous, 1 for a record of another row",
		"line 4: the row matches several records",
	} {
		if code != 9 || !strings.Contains(errs, want) {
			t.Errorf("plan: got exit code %d and %s, want %q", code, errs, want)
		}
	}
	if !strings.Contains(out, anna) ||
		!strings.Contains(out, carl) ||
		strings.Contains(out, bert) ||
		f.member(anna, "language") != "nl" {
		t.Errorf("plan: got %s, want the changes of two records, and nothing sent", out)
	}
	f.apply(file, "--match", "email,phone", "--empty", "keep", "--yes").Ends(9).Hides("not sent")
	for id, want := range map[string]string{anna: "de", bert: "nl", carl: "de"} {
		servicetest.Same(t, id, want, f.member(id, "language"))
	}
	f.apply(file, "--match", "email,phone", "--empty", "keep", "--plan-only").Ends(9, "1 new, 0 changed, 2 same")
}

// An address in one cell replaces street, number and addition: nothing of the old house stays.
func TestApplyOfAnAddressInOneCell(t *testing.T) {
	t.Parallel()
	f := newMatchFloor(t)
	anna := f.donor(`"email":"anna@example.org","address":{"street":"Dorpsstraat","houseNumber":"12",
		"houseNumberExtension":"a","zipCode":"3511 AB","city":"Utrecht","country":"NL"}`)
	const row = "email,address\nanna@example.org,Nieuwstraat 3\n"
	f.apply(row, "--match", "email", "--yes").Ends(0, "1 changed, 0 failed").
		Prints("address.houseNumberExtension\ta\t")
	want := map[string]any{
		"street":               "Nieuwstraat",
		"houseNumber":          "3",
		"houseNumberExtension": nil,
		"zipCode":              "3511 AB",
		"city":                 "Utrecht",
		"country":              "NL",
	}
	servicetest.Same(t, "address", f.member(anna, "address"), any(want))
	f.apply(row, "--match", "email", "--yes").Ends(0, "nothing differs")
}

// With --create rows without a record are created, and the same file changes nothing the second time.
func TestApplyMatchCreates(t *testing.T) {
	t.Parallel()
	f := newMatchFloor(t)
	jan := f.donor(`"name":{"firstName":"Jan","lastName":"Smit"},"dateOfBirth":"1967-12-02","iban":"NL91ABNA0417164300"`)
	file := "name.firstName,name.lastName,dateOfBirth,iban,language,email\n" +
		"jan,smit,2-12-1967,,de,jan@example.org\n" +
		"Piet,Bakker,3-1-1970,NL20INGB0001234567,nl,piet@example.org\n"
	args := []string{
		"--match", "iban,name+born", "--create", "--empty", "keep", "--yes", "--default",
		"owningOrganizationUuid=" + f.owner, "--default", "recruitingOrganizationUuid=" + f.owner,
	}
	f.apply(file, args...).Ends(0, "plan: 1 new, 1 changed, 0 same, 0 ambiguous")
	servicetest.Same(t, "language", "de", f.member(jan, "language"))
	f.apply(file, args...).Ends(0).Hides("1 new")
}

// Two rows for one donor who is not there yet create one record, also when an interrupted run planned the first of
// them.
func TestApplyMatchCreatesOnce(t *testing.T) {
	t.Parallel()
	f := newMatchFloor(t)
	file := "name.lastName,email,mobilePhoneNumber\n" +
		"Bakker,piet@example.org,+31611111111\n" +
		"Bakker,PIET@example.org,+31622222222\n" +
		"Visser,other@example.org,+31611111111\n"
	results := filepath.Join(f.folder, "results.ndjson")
	args := []string{
		"--match", "email,phone", "--create", "--yes", "--results", results,
		"--default", "owningOrganizationUuid=" + f.owner, "--default", "recruitingOrganizationUuid=" + f.owner,
	}
	count := func() int {
		list := f.Do(f.token, http.MethodGet, "/api/v1/persons", "")
		return strings.Count(string(list.Body), `"personUuid"`)
	}
	isKilled := true
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && isKilled { // The uuid of the first row is planned, and nothing is sent.
			w.WriteHeader(http.StatusForbidden)
			return
		}
		f.Handler.ServeHTTP(w, r)
	})
	f.environment["FUNDESK_BASE_URL"] = address
	f.apply(file, args...)
	isKilled = false
	if got := count(); got != 0 {
		t.Fatalf("got %d persons, want none yet", got)
	}
	want := "plan: 1 new, 0 changed, 0 same, 0 ambiguous, 2 for a record of another row"
	f.apply(file, args...).Ends(9, want)
	servicetest.Same(t, "count()", 1, count())
}

// A record that another program corrects after the persons were read is no longer that of the row.
func TestApplyMatchOfAChangedRecord(t *testing.T) {
	t.Parallel()
	f := newMatchFloor(t)
	anna := f.donor(`"email":"anna@example.org","language":"nl"`)
	path, isFirst := "/api/v1/persons/"+anna, true
	address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path && isFirst {
			isFirst = false
			answer := f.Do(f.token, http.MethodPut, path+"/actions/update", `{"email":"new@example.org"}`)
			if answer.Status != http.StatusOK {
				t.Errorf("got %d %s", answer.Status, answer.Body)
			}
		}
		f.Handler.ServeHTTP(w, r)
	})
	f.environment["FUNDESK_BASE_URL"] = address
	f.apply(
		"email,language\nanna@example.org,de\n", "--match", "email", "--yes",
	).Ends(9, "line 2: the record of the row was changed meanwhile")
	for name, want := range map[string]string{"email": "new@example.org", "language": "nl"} {
		if got := f.member(anna, name); got != want {
			t.Errorf("got the %s %v, want %s", name, got, want)
		}
	}
}

// Another field, another noun, and --plan-only alone are refused with a hint.
func TestApplyMatchIsRefused(t *testing.T) {
	t.Parallel()
	f := newMatchFloor(t)
	for want, args := range map[string]string{
		`--match must be one of email, iban, phone, name+born, not "shoe"`: "--match shoe",
		"--plan-only needs --match":                                        "--plan-only",
	} {
		f.apply("uuid,language\n", servicetest.Words(args)...).Ends(2, want)
	}
}

// A row with the number of another program is refused with the way to find its record.
func TestRowsOfAnotherProgramsNumbers(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	file := filepath.Join(t.TempDir(), "own.csv")
	writeFile(t, file, "uuid,language\n12345,de\n")
	l.try(t, "person apply", file, "--yes").Ends(2, "hint: --match email,iban,phone,name+born finds")
	l.try(t, "pledge apply", file, "--yes").Hides("--match")
}

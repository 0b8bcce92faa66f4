package commands

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// exported is a service with persons and pledges, of which files were exported.
type exported struct {
	*servicetest.Harness
	line
	t     *testing.T
	token string
}

func newExported(t *testing.T) *exported {
	t.Helper()
	h := servicetest.New(t) // It may hide its extensions.
	e := &exported{Harness: h, t: t, token: h.Token()}
	h.Sample(20)
	e.line = lineAt(t, h.URL, e.token)
	return e
}

// list returns the rows of a list as CSV, the header first.
func (e *exported) list(words string, more ...string) [][]string {
	e.t.Helper()
	out := e.must(e.t, words+" -o csv", more...)
	reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(out, hasMark)))
	if strings.Contains(words, "--for-excel") {
		reader.Comma = ';'
	}
	rows, err := reader.ReadAll()
	servicetest.Check(e.t, err)
	return rows
}

// apply sends a file of rows.
func (e *exported) apply(noun string, rows [][]string, args ...string) servicetest.Ran {
	e.t.Helper()
	var text strings.Builder
	servicetest.Check(e.t, csv.NewWriter(&text).WriteAll(rows))
	file := filepath.Join(e.t.TempDir(), "rows.csv")
	writeFile(e.t, file, text.String())
	return e.try(e.t, noun+" apply --yes", append([]string{file}, args...)...)
}

func (e *exported) put(path, body string) {
	e.t.Helper()
	if got := e.Do(e.token, http.MethodPut, path, body); got.Status != http.StatusOK {
		e.t.Fatalf("PUT %s: got %d %s", path, got.Status, got.Body)
	}
}

// member returns a member of a record as it is now.
func (e *exported) member(path, name string) any {
	e.t.Helper()
	return e.Do(e.token, http.MethodGet, path, "").Object()[name]
}

// cell returns the place of a cell of a row.
func cell(rows [][]string, row int, column string) *string {
	return &rows[row][slices.Index(rows[0], column)]
}

// An export for editing has the revision of each record, in each format, and only then.
func TestExportForEditingHasRevisions(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	for _, noun := range []string{"person", "pledge"} {
		id := (*cell(e.list(noun+" list"), 1, "uuid"))
		plain, _, _ := e.run(t, "", noun, "list", "--limit", "1", "-o", "ndjson")
		if rows := e.list(noun + " list"); slices.Contains(rows[0], "rev") || strings.Contains(plain, "_revision") {
			t.Errorf("%s: a list has revisions that were not asked for", noun)
		}
		revision := strings.Trim(e.Do(e.token, http.MethodGet, "/api/v1/"+noun+"s/"+id, "").Header.Get("Etag"), `"`)
		for _, args := range []string{
			"--for-edit",
			"--for-excel NL",
			"--for-edit --columns uuid",
			"--for-edit --sort-by createdAt",
			"--for-edit --limit 5",
		} {
			rows := e.list(noun + " list " + args)
			if !slices.Contains(rows[0], "rev") {
				t.Fatalf("%s %v: got the columns %v, want rev", noun, args, rows[0])
			}
			for i := range rows[1:] {
				if strings.Contains(*cell(rows, i+1, "uuid"), id) && *cell(rows, i+1, "rev") != revision {
					t.Errorf("%s %v: got revision %q, want %q", noun, args, *cell(rows, i+1, "rev"), revision)
				}
			}
		}
		for format, want := range map[string]string{
			"tsv":    "\t" + revision + "\n",
			"table":  "REV",
			"ndjson": strings.TrimSuffix(strings.TrimSpace(plain), "}") + `,"_revision":` + revision + "}\n",
		} {
			e.try(t, "", noun, "list", "--limit", "1", "--for-edit", "-o", format).Ends(0).Prints(want)
		}
		out, _, _ := e.run(t, "", noun, "list", "--limit", "1", "--for-edit", "-o", "json")
		var records []map[string]any
		if err := json.Unmarshal([]byte(out), &records); err != nil || fmt.Sprint(records[0]["_revision"]) != revision {
			t.Errorf("%s as json: got %s, want _revision %s", noun, out, revision)
		}
	}
}

// Without the extension --for-edit is refused, and --for-excel has no such column.
func TestExportForEditingWithoutTheExtension(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	e.InterfaceOnly()
	e.try(t, "person list --for-edit -o csv").Ends(7, "hint: ")
	if rows := e.list("person list --for-excel NL"); slices.Contains(rows[0], "rev") || len(rows) < 2 {
		t.Errorf("got the columns %v of %d rows", rows[0], len(rows))
	}
}

// A row of an export that was overtaken is left out, whatever changed, unless that is forced; the others are sent.
func TestApplyLeavesOutWhatWasOvertaken(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	rows := e.list("person list --for-edit --limit 4 --columns uuid,firstName,mobilePhoneNumber")
	person := func(row int) string { return "/api/v1/persons/" + *cell(rows, row, "uuid") }
	before := *cell(rows, 1, "mobilePhoneNumber")
	e.put(person(1)+"/actions/update", `{"mobilePhoneNumber":"+31699999999"}`)
	*cell(rows, 1, "firstName") = "Annabel"
	*cell(rows, 2, "firstName") = "Bartholomew"
	e.put(person(3)+"/actions/update", `{"email":"moved@example.org"}`) // Nothing in the file differs.

	dry, errs, code := e.apply("person", rows, "--dry-run", "-o", "ndjson").All()
	if code != 9 || strings.Contains(dry, "Annabel") || !strings.Contains(dry, "Bartholomew") {
		t.Errorf("--dry-run: got exit code %d, %s and %s", code, dry, errs)
	}
	wrong := filepath.Join(t.TempDir(), "wrong.csv")
	out, errs, code := e.apply("person", rows, "--errors", wrong, "-o", "ndjson").All()
	for _, want := range []string{
		"line 2: ", "firstName", "mobilePhoneNumber", `"+99999999999"`, `"xxxxxxx"`, "--force",
	} {
		if !strings.Contains(strings.ReplaceAll(errs, `\"`, `"`), want) {
			t.Errorf("got %s, want %s", errs, want)
		}
	}
	for _, secret := range []string{"Annabel", "+31699999999", before} {
		if secret != "" && strings.Contains(errs, secret) {
			t.Errorf("stderr has %q: %s", secret, errs)
		}
	}
	if code != 9 ||
		e.member(person(1), "mobilePhoneNumber") != "+31699999999" ||
		e.member(person(1), "firstName") == "Annabel" {
		t.Errorf("got exit code %d and %s, want the newer number kept: %v",
			code, errs, e.member(person(1), "mobilePhoneNumber"))
	}
	if e.member(person(2), "firstName") != "Bartholomew" {
		t.Errorf("the other row was not sent: %s", errs)
	}
	if strings.Count(out, `"ok":true`) != 1 || strings.Count(out, `"ok":false`) != 1 {
		t.Errorf("got the results %s", out)
	}
	kept, err := os.ReadFile(wrong)
	if err != nil || strings.Count(string(kept), "\n") != 2 || !strings.Contains(string(kept), *cell(rows, 1, "uuid")) {
		t.Errorf("--errors has %s, %v", kept, err)
	}
	alone := [][]string{rows[0], rows[1]}
	if _, errs, code := e.apply("person", alone).All(); code != 9 || e.member(person(1), "firstName") == "Annabel" {
		t.Errorf("alone: got exit code %d and %s", code, errs)
	}
	e.apply("person", alone, "--force").Ends(0)
	servicetest.Same(t, `e.member(person(1), "firstName")`, "Annabel", e.member(person(1), "firstName"))
	if got := e.member(person(1), "mobilePhoneNumber"); got == "+31699999999" {
		t.Errorf("--force: got the number %v, want that of the file", got)
	}
}

// A row without a revision, and one that equals its record, count as unchanged.
func TestApplyOfRowsThatNeedNoRevision(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	rows := e.list("person list --for-edit --limit 2 --columns uuid,email,gender")
	path := "/api/v1/persons/" + *cell(rows, 1, "uuid")
	e.put(path+"/actions/update", `{"email":"newer@example.org"}`)
	*cell(rows, 1, "email") = "newer@example.org"
	e.apply("person", rows).Ends(0, "nothing differs")
	*cell(rows, 1, "email") = "mine@example.org"
	*cell(rows, 1, "rev") = ""
	e.apply("person", rows).Ends(0)
	servicetest.Same(t, `e.member(path, "email")`, "mine@example.org", e.member(path, "email"))
	*cell(rows, 1, "rev") = "many"
	e.apply("person", rows).Ends(2, "rev: ")
}

// NDJSON of an export has its revisions in the records, and a pledge that moved on by itself is not a mistake.
func TestApplyOfPledgesThatMovedOn(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	out, errs, code := e.run(t, "pledge list --status lead --for-edit -o ndjson")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) < 2 {
		t.Fatalf("got exit code %d, %s and %s", code, out, errs)
	}
	var pledge map[string]any
	servicetest.Check(t, json.Unmarshal([]byte(lines[0]), &pledge))
	path := "/api/v1/pledges/" + pledge["uuid"].(string)
	e.put(path+"/actions/drop", "{}")
	e.stdin = out
	e.try(t, "pledge apply - --yes").Ends(0, "nothing differs")
	pledge["recruitingLocationLabel"] = "Dam"
	edited, err := json.Marshal(pledge)
	servicetest.Check(t, err)
	e.stdin = string(edited) + "\n" + strings.Join(lines[1:], "\n")
	if _, errs, code := e.run(
		t, "pledge apply - --yes",
	); code != 9 || e.member(path, "recruitingLocationLabel") == "Dam" {
		t.Errorf("overtaken: got exit code %d and %s", code, errs)
	}
	e.try(t, "pledge apply - --yes --force").Ends(0)
	servicetest.Same(t, `e.member(path, "recruitingLocationLabel")`, "Dam", e.member(path, "recruitingLocationLabel"))
	if got := e.member(path, "status"); got != "dropped" {
		t.Errorf("got status %v, want dropped", got)
	}
}

// A cell that is empty in the file, and was filled in since, is not a mistake of the file.
func TestApplyOfAnEmptyCellThatWasFilledIn(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	rows := e.list("person list --for-edit --limit 2 --columns uuid,academicTitle,firstName")
	path := "/api/v1/persons/" + *cell(rows, 1, "uuid")
	e.put(path+"/actions/update", `{"academicTitle":"Dr."}`)
	*cell(rows, 2, "firstName") = "Bartholomew"
	e.apply("person", rows).Ends(9)
	servicetest.Same(t, `e.member(path, "academicTitle")`, "Dr.", e.member(path, "academicTitle"))
	servicetest.Same(
		t, "the other row", "Bartholomew", e.member("/api/v1/persons/"+*cell(rows, 2, "uuid"), "firstName"),
	)
	e.apply("person", rows, "--empty", "keep").Ends(0)
}

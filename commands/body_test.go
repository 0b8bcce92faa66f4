package commands

import (
	"strings"
	"testing"
)

// A field of an object that is to be cleared leaves nothing of it behind: an opt-in that was not cleared allows what
// the user has withdrawn.
func TestClearedObjectIsClearedWhole(t *testing.T) {
	t.Parallel()
	l := line{environment: map[string]string{
		"HOME": t.TempDir(), "FUNDESK_BASE_URL": "http://127.0.0.1:1", "FUNDESK_TOKEN": "t",
	}}
	for _, test := range []struct{ args, file, want string }{
		{"--clear optIns,optIns.email", "", `{"optIns":null}`},
		{"--clear optIns.email,optIns", "", `{"optIns":null}`},
		{"--clear optIns.email --opt-in-phone=false", "", `{"optIns":{"email":null,"phone":false}}`},
		{"--clear optIns", `{"optIns":{"email":true}}`, `{"optIns":null}`},
		{"--opt-in-phone=false", `{"optIns":{"email":false}}`, `{"optIns":{"email":false,"phone":false}}`},
		{"--clear optIns --opt-in-phone=false", "", "--opt-in-phone and --clear optIns cannot be combined"},
		{"--clear optIns.phone --opt-in-phone=false", "", "--opt-in-phone and --clear optIns.phone cannot be combined"},
		{"--opt-in-phone=false", `{"optIns":null}`, "--opt-in-phone and optIns of the file cannot be combined"},
		{"--opt-in-phone=false", `{"optIns":"none"}`, "--opt-in-phone and optIns of the file cannot be combined"},
	} {
		args := append([]string{"person", "update", testID, "--dry-run"}, strings.Fields(test.args)...)
		l.stdin = test.file
		if test.file != "" {
			args = append(args, "--file", "-")
		}
		if out, errs, _ := l.run(t, args...); !strings.Contains(out+errs, test.want) {
			t.Errorf("%s %s: got %s and %s, want %s", test.args, test.file, out, errs, test.want)
		}
	}
}

// A body comes from one place.
func TestCreationOfTwoBodies(t *testing.T) {
	t.Parallel()
	l := line{
		environment: map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": "http://127.0.0.1:1", "FUNDESK_TOKEN": "t"},
		stdin:       `{"name":{"lastName":"A"}}`,
	}
	out, errs, code := l.run(t, "person", "create", "-", "--file", "b.json", "--dry-run")
	if code != 2 || out != "" || !strings.Contains(errs, "- and --file cannot be combined") {
		t.Errorf("got %d %q %q, want it refused", code, out, errs)
	}
}

// A row may clear an object that answers show as fields of the record.
func TestApplyClearsWholeObjects(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	person := *cell(e.list("person", "list"), 1, "uuid")
	row := `{"uuid":"` + person + `","optIns":null,"name":null}`
	for _, want := range []string{"1 changed, 0 failed", "nothing differs"} {
		_, errs, code := runWith(t, e.environment, row, "person", "apply", "-", "--yes")
		if code != 0 || !strings.Contains(errs, want) {
			t.Errorf("got %d %q, want %q", code, errs, want)
		}
	}
	row = `{"uuid":"` + person + `","optIns":null,"optInPhone":false}`
	_, errs, code := runWith(t, e.environment, row, "person", "apply", "-", "--yes")
	if code != 2 || !strings.Contains(errs, "optIns: is null, and optInPhone of the row belongs to it") {
		t.Errorf("got %d %q, want the contradiction refused", code, errs)
	}
	const columns = "initials,firstName,lastNamePrefix,lastName,optInEmail,optInPhone,optInMail,optInSms"
	out, _, _ := e.run(t, "person", "get", person, "-o", "tsv", "--columns", columns)
	if strings.TrimSpace(out) != "" {
		t.Errorf("got %q, want names and opt-ins without values", out)
	}
}

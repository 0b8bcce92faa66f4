package commands

import (
	"strings"
	"testing"
)

// A field of an object that is to be cleared leaves nothing of it behind: an opt-in that was not cleared allows what
// the user has withdrawn.
func TestClearedObjectIsClearedWhole(t *testing.T) {
	t.Parallel()
	l := lineAt(t, nowhere, "t")
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
		l.try(t, "", args...).Tells(test.want)
	}
}

// A body comes from one place.
func TestCreationOfTwoBodies(t *testing.T) {
	t.Parallel()
	l := line{
		environment: homeAt(t, nowhere, "t"),
		stdin:       `{"name":{"lastName":"A"}}`,
	}
	l.try(t, "person create - --file b.json --dry-run").Ends(2, "- and --file cannot be combined").PrintsOnly("")
}

// A row may clear an object that answers show as fields of the record.
func TestApplyClearsWholeObjects(t *testing.T) {
	t.Parallel()
	e := newExported(t)
	person := *cell(e.list("person list"), 1, "uuid")
	row := `{"uuid":"` + person + `","optIns":null,"name":null}`
	for _, want := range []string{"1 changed, 0 failed", "nothing differs"} {
		tryWith(t, e.environment, row, "person apply - --yes").Ends(0, want)
	}
	row = `{"uuid":"` + person + `","optIns":null,"optInPhone":false}`
	tryWith(t, e.environment, row, "person apply - --yes").Ends(
		2, "optIns: is null, and optInPhone of the row belongs to it",
	)
	const columns = "initials,firstName,lastNamePrefix,lastName,optInEmail,optInPhone,optInMail,optInSms"
	e.try(t, "person get", person, "-o", "tsv", "--columns", columns).PrintsLine("")
}

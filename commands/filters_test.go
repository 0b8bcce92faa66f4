package commands

import (
	"strings"
	"testing"
)

// A filter that no record can pass is refused before the service is asked: an empty list would look like an answer.
func TestFiltersThatNoRecordPasses(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	for _, test := range []struct{ args, want string }{
		{"person list --iban NL91ABNA0417164301", `--iban "NL91ABNA0417164301" is not a valid IBAN: its check digits do not match`},
		{"person list --iban NL91", "wrong length for its country"},
		{"person list --iban NL9", "is not a valid IBAN: too short"},
		{"person list --email jan@?example.org", "has a blank, and no e-mail address has one"},
		{"person list --created-after 2099-01-01", "lies ahead: no record can be that new"},
		{"call list --updated-after 2099-01-01", "lies ahead"},
		{"call list --completed-on 2099-01-01", "lies ahead"},
		{"call stats --updated-after 2099-01-01", "lies ahead"},
		{"pledge list --updated-after 2099-01-01", "lies ahead"},
		{"pledge list --released-after 2099-01-01", "lies ahead"},
		{"call list --requested-from 2026-11-20 --requested-until 2026-11-10", "is before --requested-from"},
		{"call list --requested-after 2026-11-20 --requested-until 2026-11-10", "is before --requested-after"},
		{"call list --result-code ?", "must not be empty"},
		{"call list --external-status-code ?", "must not be empty"},
	} {
		args := strings.Fields(test.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "?", " ")
		}
		out, errs, code := l.run(t, args...)
		if code != 2 || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("%s: got exit code %d, %q and %q, want 2 and %q", test.args, code, out, errs, test.want)
		}
	}
	for _, args := range []string{
		"person list --created-after tomorrow",
		"call list --requested-after 2099-01-01", // A call may be requested for a later day.
		"call list --requested-from 2026-11-20 --requested-until 2026-11-20",
	} {
		l.must(t, strings.Fields(args)...)
	}
	iban := strings.TrimSpace(l.must(t, "person", "list", "--limit", "1", "-q", "-o", "json", "--jq", ".[].iban"))
	iban = strings.ToLower(strings.Trim(iban, `"`))
	if found := l.must(t, "person", "list", "--iban", iban[:4]+" "+iban[4:], "-o", "id"); found == "" {
		t.Errorf("got no person for %q, which is an IBAN in another form", iban)
	}
}

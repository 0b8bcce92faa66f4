package commands

import (
	"strings"
	"testing"
	"time"
)

// A filter that no record can pass is refused before the service is asked: an empty list would look like an answer. No
// value of a donor is printed.
func TestFiltersThatNoRecordPasses(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	for _, test := range []struct{ args, want string }{
		{"person list --email jan@?example.org", "has a blank, and no e-mail address has one"},
		{"call list --requested-from 2026-11-20 --requested-until 2026-11-10", "is before --requested-from"},
		{"call list --requested-after 2026-11-20 --requested-until 2026-11-10", "is before --requested-after"},
		{"call list --result-code ?", "must not be empty"},
		{"call list --external-status-code ?", "must not be empty"},
	} {
		args := strings.Fields(test.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "?", " ")
		}
		out, errs, code := l.run(t, "", args...)
		isPrinted := strings.Contains(errs, "jan@")
		if code != 2 || out != "" || isPrinted || !strings.Contains(errs, test.want) {
			t.Errorf("%s: got exit code %d, %q and %q, want 2 and %q", test.args, code, out, errs, test.want)
		}
	}
	for _, args := range []string{
		"call list --requested-after 2099-01-01", // A call may be requested for a later day.
		"call list --requested-from 2026-11-20 --requested-until 2026-11-20",
	} {
		l.must(t, args)
	}
	iban := strings.TrimSpace(l.must(t, "person list --limit 1 -q -o json --jq .[].iban"))
	iban = strings.ToLower(strings.Trim(iban, `"`))
	if found := l.must(t, "person list --iban", iban[:4]+" "+iban[4:], "-o", "id"); found == "" {
		t.Errorf("got no person for %q, which is an IBAN in another form", iban)
	}
}

// The clock of a service may be ahead of this computer's. A time ahead chooses the records that it made since.
func TestFiltersByTheClockOfTheService(t *testing.T) {
	t.Parallel()
	h, l := copyHome(t)
	h.Clock.Advance(10 * 24 * time.Hour)
	organization := h.Organization("A")
	made := strings.TrimSpace(l.must(t, "person create --owning-organization", organization.String(),
		"--recruiting-organization", organization.String(), "--last-name", "Bos", "-o", "id"))
	after := h.Clock.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	if got := strings.TrimSpace(l.must(t, "person list --created-after", after, "-o", "id")); got != made {
		t.Errorf("got %q after %s, want the person %s that was made then", got, after, made)
	}
}

// An IBAN with wrong check digits is searched as it is, and a warning says what is wrong with it, without the digits.
func TestIBANThatNoAccountHas(t *testing.T) {
	t.Parallel()
	_, l := copyHome(t)
	for iban, want := range map[string]string{
		"NL91ABNA0417164301": "--iban is not a valid IBAN: its check digits do not match",
		"NL91":               "wrong length for its country",
		"NL9":                "too short",
		"NL91ABNA0417164300": "",
	} {
		for _, command := range []string{"list", "stats"} {
			_, errs, code := l.run(t, "person", command, "--iban", iban, "-q")
			isRight := want == "" && errs == "" || want != "" && strings.Contains(errs, want)
			if code != 0 || !isRight || strings.Contains(errs, iban) {
				t.Errorf("%s %s: got exit code %d and %q, want 0 and %q", command, iban, code, errs, want)
			}
		}
	}
}

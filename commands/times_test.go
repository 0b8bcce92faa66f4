package commands

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// typedForms are the forms of the one grammar of times: each is read in every place. A length of time is ago
// where something was, and ahead where something will be.
var typedForms = []struct {
	text     string
	isLength bool
}{
	{"2026-11-20T09:15:00Z", false},
	{"2026-11-20T09:15:00+01:00", false},
	{"2026-11-20T09:15:00.250Z", false},
	{"20261120T091500Z", false},
	{"2026-11-20 09:15", false},
	{"2026-11-20", false},
	{"20-11-2026 9:15", false},
	{"20.11.2026 9:15", false},
	{"20 nov 2026 9:15", false},
	{"november 20th 2026 09:15", false},
	{"2h", true},
	{"90m", true},
	{"36h", true},
	{"7d", true},
	{"2w", true},
	{"90s", true},
	{"half an hour", true},
	{"tomorrow 18:00", false},
	{"morgen 18 Uhr", false},
	{"morgen 18.00 uur", false},
	{"yesterday 14:00", false},
	{"gestern um 14 Uhr", false},
	{"gisteren om 14.00", false},
	{"in 2 hours", false},
	{"over 2 uur", false},
	{"2 hours ago", false},
	{"vor 2 Stunden", false},
	{"2 uur geleden", false},
	{"now", false},
}

// Each form is read in every place: in a flag, in a filter, in a cell of a file, and as the time of a callback. Its
// meaning is the same in all of them, except that days of records are days in UTC.
func TestEachFormOfATimeInEachPlace(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 15, 30, 0, 0, time.Local)
	stamp := regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	address := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w,
			`{"pageInfo":{"hasNextPage":false,"hasPreviousPage":false,"startCursor":null,"endCursor":null},"edges":[]}`)
	})
	environment := homeAt(t, address, "x")
	for _, form := range typedForms {
		want, err := apitype.ParseTypedTime(form.text, now)
		if err != nil {
			t.Errorf("%q: %v", form.text, err)
			continue
		}
		places := []struct {
			name, in string
			args     []string
			isAhead  bool
			isBody   bool
		}{
			{
				name:   "a flag",
				isBody: true,
				args: []string{
					"call", "create", "--person", testID, "--type", "winback", "--requested-at",
					form.text, "--dry-run",
				},
			},
			{
				name:   "a flag of a change",
				isBody: true,
				args:   []string{"call", "attempt", testID, "--attempted-at", form.text, "--dry-run"},
			},
			{name: "a filter", args: []string{"call", "list", "--requested-after", form.text, "--debug"}},
			{
				name:   "a cell",
				isBody: true,
				in:     "personUuid,type,requestedAt\n" + testID + ",winback,\"" + form.text + "\"\n",
				args:   []string{"call", "import", "-", "--dry-run"},
			},
			{
				name:    "a callback",
				args:    []string{"queue", "later", testID, "--at", form.text, "--anyone", "--dry-run"},
				isAhead: true,
			},
		}
		for _, place := range places {
			var out, errs strings.Builder
			code := Run(t.Context(), place.args, cli.App{
				In:      strings.NewReader(place.in),
				Out:     &out,
				Err:     &errs,
				Now:     func() time.Time { return now },
				Version: func() string { return "test" },
				Getenv:  func(name string) string { return environment[name] },
			})
			got := stamp.FindString(out.String() + errs.String())
			want := want
			if place.isBody {
				want, err = apitype.ParseBodyTime(form.text, now)
				if err != nil {
					t.Errorf("%q: %v", form.text, err)
				}
			}
			if place.isAhead {
				if form.isLength {
					want = apitype.NewTime(now.Add(now.Sub(want.Time)))
				}
				at, err := apitype.ParseTimeAhead(form.text, now, time.Local)
				if err == nil && at.Hour() == 10 && at.Minute() == 0 {
					want = apitype.NewTime(at) // A day without a time begins when people are called.
				}
				if !want.After(now) {
					if got != "" || code == 0 {
						t.Errorf("%q as %s: got %q, want a refusal: it is past", form.text, place.name, got)
					}
					continue
				}
			}
			if got != want.String() {
				t.Errorf("%q as %s: got %q and %.300s, want %s", form.text, place.name, got, errs.String(), want)
			}
		}
	}
}

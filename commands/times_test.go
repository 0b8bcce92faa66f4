package commands

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
	"fundesk/service/servicetest"
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

// Each form is read in every place, and means the same: in a flag, in a filter, in a cell of a file, and where a
// call is put off.
func TestEachFormOfATimeInEachPlace(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 15, 30, 0, 0, time.Local)
	stamp := regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"pageInfo":{"hasNextPage":false,"hasPreviousPage":false,"startCursor":null,"endCursor":null},"edges":[]}`)
	}))
	t.Cleanup(service.Close)
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": service.URL, "FUNDESK_TOKEN": "x"}
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
		}{
			{name: "a flag", args: []string{"call", "create", "--person", testID, "--type", "winback", "--requested-at", form.text, "--dry-run"}},
			{name: "a flag of a change", args: []string{"call", "attempt", testID, "--attempted-at", form.text, "--dry-run"}},
			{name: "a filter", args: []string{"call", "list", "--requested-after", form.text, "--debug"}},
			{name: "a cell", in: "personUuid,type,requestedAt\n" + testID + ",winback,\"" + form.text + "\"\n", args: []string{"call", "import", "-", "--dry-run"}},
			{name: "a callback", args: []string{"queue", "later", testID, "--at", form.text, "--anyone", "--dry-run"}, isAhead: true},
		}
		for _, place := range places {
			var out, errs strings.Builder
			code := Run(t.Context(), place.args, cli.App{
				In: strings.NewReader(place.in), Out: &out, Err: &errs, Now: func() time.Time { return now }, Version: func() string { return "test" },
				Getenv: func(name string) string { return environment[name] },
			})
			got := stamp.FindString(out.String() + errs.String())
			want := want
			if place.isAhead {
				if form.isLength {
					want = apitype.NewTime(now.Add(now.Sub(want.Time)))
				}
				if at, err := apitype.ParseTimeAhead(form.text, now, time.Local); err == nil && at.Hour() == 10 && at.Minute() == 0 {
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

// Every leaf prints each format that the table gives it, as that format, and refuses all
// others before anything is done.
func TestEveryLeafHasItsFormats(t *testing.T) {
	servicetest.Long(t)
	t.Parallel()
	home := t.TempDir()
	if err := CopyDemo(home); err != nil {
		t.Fatal(err)
	}
	ids := demoIDs(t, home)
	leaves := map[string]bool{}
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		_, name, _ := strings.Cut(cmd.CommandPath(), " ")
		leaves[name], leaves[cmd.Name()] = true, true
		if cmd.HasSubCommands() || name == "tui" || name == "demo" {
			return
		}
		args := leafCommand(name, ids)
		for _, format := range render.Formats {
			has := slices.Contains(outputOf(cmd).formats, format)
			out, errs, code := runIn(t, home, "", append(args, "-o", string(format))...)
			switch {
			case !has && (code != 2 || out != "" || !strings.Contains(errs, "-o "+string(format))):
				t.Errorf("%s -o %s: got exit code %d, %q and %q, want 2 and what there is", name, format, code, out, errs)
			case has && strings.Contains(errs, "there is no -o"):
				t.Errorf("%s -o %s: got %q, want it printed", name, format, errs)
			case has && code == 0 && out != "" && !slices.Contains(quiet, name):
				checkFormat(t, name, format, out)
			}
		}
		if _, errs, code := runIn(t, home, "", append(args, "--columns", "nonsense")...); code != 2 {
			t.Errorf("%s --columns nonsense: got exit code %d and %q, want 2", name, code, errs)
		}
	})
	for name := range outputs {
		if !leaves[name] {
			t.Errorf("the table of formats names %q, want a command", name)
		}
	}
}

// checkFormat wants an output to be what its format promises.
func checkFormat(t *testing.T, name string, format render.Format, out string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	for i, line := range lines {
		good := true
		switch format {
		case render.NDJSON:
			good = json.Valid([]byte(line))
		case render.ID:
			good = !strings.ContainsAny(strings.TrimSpace(line), " \t,{")
		case render.CSV:
			good = i > 0 || strings.HasSuffix(line, "\r")
		}
		if !good {
			t.Errorf("%s -o %s: got the line %q", name, format, line)
			return
		}
	}
	if format == render.JSON && !json.Valid([]byte(out)) {
		t.Errorf("%s -o json: got %q", name, out)
	}
}

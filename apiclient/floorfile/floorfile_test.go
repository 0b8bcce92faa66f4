package floorfile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/floorfile"
)

// What is written is read again as it was, and in words that a person edits.
func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	want := apitype.OrganizationSettings{
		UUID:            apitype.NewUUID(),
		MaxCallAttempts: new(6),
		Results: map[apitype.CallType][]apitype.ResultChoice{
			apitype.CallWinback: {
				{Code: "back", Label: "gives again"},
				{Code: "stop", Effect: new(apitype.EffectOptOut), AsksNotes: true},
			},
			apitype.CallVerification: {{Code: "ok"}},
		},
		Scripts: map[string]string{
			"verification.nl": "Goedemiddag,\n\n\"spreek\" ik met {{.Person.Name}}?\n",
			"winback":         "it's '''odd'''\n",
		},
		CallingHours: map[string]apitype.HoursOfDays{
			"NL": {Weekday: "09:00-21:00", Sunday: "-"},
			"DE": {Weekday: "00:00-24:00"},
		},
		RequireOptIn:  []apitype.CallType{apitype.CallWinback},
		YearsAfterEnd: 3,
		Country:       "NL",
		Holidays:      []string{"-NL", "NL:2026-05-05"},
	}
	text, err := floorfile.Write(want)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := floorfile.Read(text)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("got %v, read again (-want +got):\n%s\nof\n%s", err, diff, text)
	}
	for _, line := range []string{
		"[calling_hours.NL]", `weekday = "09:00-21:00"`, "[[results.winback]]",
		`effect = "opt-out"`, "Goedemiddag,", `require_opt_in = ["winback"]`,
		`years_after_end = 3`, `country = "NL"`, `holidays = ["-NL", "NL:2026-05-05"]`,
	} {
		if !slices.Contains(strings.Split(string(text), "\n"), line) {
			t.Errorf("got\n%s\nwant the line %s", text, line)
		}
	}
}

// A problem names the setting, and the line if the decoder gives it.
func TestProblemsNameTheirSetting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"no TOML", "max_attempts = 3\nresults = [\n", "line 2: "},
		{"another kind", "max_attempts = 3\ncalling_hours = 7\n", "calling_hours is a table"},
		{
			name: "a value of another kind",
			text: "max_attempts = 3\n[[results.winback]]\ncode = 7\n",
			want: "line 3: results.winback.code is of another kind",
		},
		{
			name: "a word that is none",
			text: "max_attempts = 3\n[[results.winback]]\ncode = \"a\"\nlable = \"b\"\n",
			want: "there is no setting results.winback.lable",
		},
		{
			name: "a code twice",
			text: "[[results.winback]]\ncode = \"a\"\n\n[[results.winback]]\nlabel = \"b\"\ncode = \"a\"\n",
			want: "results.winback.1.code is there twice",
		},
		{
			name: "no code",
			text: "[[results.winback]]\ncode = \"a\"\n\n[[results.winback]]\nlabel = \"b\"\n",
			want: "results.winback.1.code must be 1 to 100 printable characters",
		},
		{"an effect", "[[results.winback]]\ncode = \"a\"\neffect = \"optout\"\n", "results.winback.0.effect "},
		{"a type", "[[results.win]]\ncode = \"a\"\n", "results.win must be one of verification"},
		{"hours", "[calling_hours.NL]\nweekday = \"9-5\"\n", "calling_hours.NL.weekday "},
		{
			name: "hours in one line",
			text: "[calling_hours]\nDE.weekday = \"-\"\nNL.weekday = \"9-5\"\n",
			want: "calling_hours.NL.weekday ",
		},
		{
			name: "a script",
			text: "[scripts]\n\"winback.nl\" = '''\nweekday = x\n'''\n\"win.nl\" = \"x\"\n",
			want: "scripts.win.nl is not a name of a script",
		},
		{
			name: "a country",
			text: "max_attempts = 3\ncountry = \"Holland\"\n",
			want: "country must be an ISO 3166-1 country code of two capital letters, such as NL",
		},
		{
			name: "a holiday",
			text: "country = \"NL\"\nholidays = [\"-NL\", \"5 May\"]\n",
			want: "holidays.1 is not a change of holidays: \"-NL\" takes",
		},
		{"years", "years_after_end = 100\n", "years_after_end must be a whole number from 1 to 99"},
		{
			name: "years in words",
			text: "country = \"NL\"\nyears_after_end = \"three\"\n",
			want: "line 2: years_after_end is of another kind",
		},
		{
			name: "a type that needs an opt-in",
			text: "\nrequire_opt_in = [\"win\"]\n",
			want: "require_opt_in.0 must be one of verification",
		},
		{
			name: "a day with too many hours",
			text: "[calling_hours.NL]\nweekday = \"00:00-25:00\"\n",
			want: "calling_hours.NL.weekday \"00:00-25:00\" is not a range of hours",
		},
		{"maximum", "# settings\nmax_attempts = -1\n", "max_attempts must be "},
		{"JSON cut off", "{\n\"results\":\n", "line 3: "},
		{"a member that is none", "{\n\"result\": {}}\n", "line 2: there is no result"},
		{"JSON of another kind", "{\"uuid\":null,\n\"results\":\n7}\n", "line 3: results is of another kind"},
		{"a revision that is none", "# revision 7\nmax_attempts = 3\n", "get never prints the revision \"7\""},
		{"a revision cut off", "# revision\nmax_attempts = 3\n", "get never prints the revision \"\""},
		{"a revision of JSON that is none", "{\"_revision\":\"7\"}", "get never prints the revision \"7\""},
		{"a revision of another kind", "{\n\"_revision\":7}", "line 2: _revision is of another kind"},
		{
			name: "a code twice in JSON",
			text: "{\"results\":{\"winback\":[\n{\"code\":\"a\"},\n{\"code\":\"a\"}]}}\n",
			want: "results.winback.1.code is there twice",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := floorfile.Read([]byte(test.text))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// One message lists all problems of a file.
func TestAllProblems(t *testing.T) {
	t.Parallel()
	_, _, err := floorfile.Read([]byte("max_attempts = -1\n[calling_hours.nl]\n"))
	if problems, ok := errors.AsType[floorfile.Problems](err); !ok || len(problems) != 2 {
		t.Errorf("got %v, want two problems", err)
	}
}

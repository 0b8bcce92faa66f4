package desk

import (
	"slices"
	"testing"

	"fundesk/commands/profile"
)

// Without a setting in the profile, the Desk dials through the system if it runs in a graphical session.
func TestDialProgram(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dial    profile.Dial
		system  string
		display string
		want    []string
		refused bool
	}{
		"Linux, graphical":  {nil, "linux", ":0", []string{"xdg-open", "tel:{number}"}, false},
		"Linux, a terminal": {nil, "linux", "", nil, false},
		"macOS":             {nil, "darwin", "", []string{"open", "tel:{number}"}, false},
		"Windows": {
			system: "windows",
			want:   []string{"rundll32", "url.dll,FileProtocolHandler", "tel:{number}"},
		},
		"tel without display": {profile.Dial{"tel"}, "linux", "", []string{"xdg-open", "tel:{number}"}, false},
		"none":                {profile.Dial{"none"}, "darwin", ":0", nil, false},
		"a program": {
			dial:   profile.Dial{"softphone", "call", "{number}"},
			system: "linux",
			want:   []string{"softphone", "call", "{number}"},
		},
		"no number":           {profile.Dial{"softphone", "call"}, "linux", "", nil, true},
		"the number alone":    {profile.Dial{"{number}"}, "linux", "", nil, true},
		"a number as program": {profile.Dial{"{number}", "x"}, "linux", "", nil, true},
		"a word":              {profile.Dial{"softphone"}, "linux", "", nil, true},
	} {
		got, err := dialProgram(test.dial, test.system, func(string) string { return test.display })
		if !slices.Equal(got, test.want) || (err != nil) != test.refused {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

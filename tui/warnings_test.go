package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
)

func TestLanguagesOfTheLocale(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		environment map[string]string
		want        []string
	}{
		{"a locale", map[string]string{"LANG": "nl_NL.UTF-8"}, []string{"nl"}},
		{"several languages", map[string]string{"LANGUAGE": "nl_NL:de:nl", "LANG": "en_US.UTF-8"}, []string{"nl", "de"}},
		{"messages come before the rest", map[string]string{"LC_MESSAGES": "de_DE", "LANG": "en_US"}, []string{"de"}},
		{"no language", map[string]string{"LC_ALL": "C.UTF-8", "LANG": "en_US"}, nil},
		{"nothing", nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := localeLanguages(func(name string) string { return test.environment[name] }); !slices.Equal(got, test.want) {
				t.Errorf("languages: got %v, want %v", got, test.want)
			}
		})
	}
}

func TestManyWarningsAreFolded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Languages = []string{"de", "fy"}
	d := newDriver(t, w.options)
	d.press("n")
	person := d.app.desk.call.Person.Value()
	gates := []apitype.GateResult{}
	for _, name := range []string{"phone", "iban", "address"} {
		gates = append(gates, apitype.GateResult{Identifier: name, Explanation: strings.Repeat("Not as it should be. ", 5), Percentage: apitype.NumberFromInt(10)})
	}
	person.QualityResult = apitype.Embed(apitype.QualityResult{Percentage: apitype.NumberFromInt(20), GateResults: gates})
	d.app.desk.call.Person = apitype.Embed(person)
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	screen := strings.Join(d.app.screen(), "\n")
	for _, want := range []string{"speaks nl; yours: de fy", "low data quality: 20 %", "3 more warnings: W shows all", "+31612345671"} {
		if !strings.Contains(screen, want) {
			t.Errorf("screen: got no %q:\n%s", want, screen)
		}
	}
	d.press("W")
	if screen := strings.Join(d.app.screen(), "\n"); !strings.Contains(screen, "address: Not as it should be.") {
		t.Errorf("screen: got no third gate:\n%s", screen)
	}
}

func TestSameNumberOfSomebodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	for i := range d.app.desk.queue.candidates {
		if c := &d.app.desk.queue.candidates[i]; c.id == callID(5) {
			c.numbers = [2]string{"", "31612345671"}
		}
	}
	if screen := strings.Join(d.app.screen(), "\n"); !strings.Contains(screen, "1 open call of somebody else to the same number") {
		t.Errorf("screen: got no warning:\n%s", screen)
	}
}

package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
)

func TestManyWarningsAreFolded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Languages = []string{"de", "fy"}
	d := newDriver(t, w.options)
	d.press("n")
	person := d.app.Day.Call.Person.Value()
	gates := []apitype.GateResult{}
	for _, name := range []string{"phone", "iban", "address"} {
		gates = append(gates, apitype.GateResult{Identifier: name, Explanation: "The " + name + " is not as it should be. " + strings.Repeat("Ask for it. ", 8), Percentage: apitype.NumberFromInt(10)})
	}
	person.QualityResult = apitype.Embed(apitype.QualityResult{Percentage: apitype.NumberFromInt(20), GateResults: gates})
	d.app.Day.Call.Person = apitype.Embed(person)
	d.send(tea.WindowSizeMsg{Width: 80, Height: 40})
	screen := strings.Join(d.app.screen(), "\n")
	for _, want := range []string{"speaks Dutch; you: German, Frisian", "low data quality: 20 %", "3 more warnings: W shows all", onCard(1)} {
		if !strings.Contains(screen, want) {
			t.Errorf("screen: got no %q:\n%s", want, screen)
		}
	}
	d.press("W")
	if screen := strings.Join(d.app.screen(), "\n"); !strings.Contains(screen, "The address is not as it should be.") {
		t.Errorf("screen: got no third gate:\n%s", screen)
	}
}

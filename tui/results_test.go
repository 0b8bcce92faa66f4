package tui

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The profile has the results of a type of call: their digits, words, and which of them asks for notes. A whole call is
// four keys.
func TestResultsOfTheProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Results = map[apitype.CallType][]apitype.ResultChoice{
		apitype.CallVerification: {
			{Code: "abroad", AsksNotes: true},
			{Code: "wants_to_stop", Effect: new(apitype.EffectOptOut)},
			{Code: "ok", Label: "all is right"},
		},
		apitype.CallWinback: {{Code: "back"}},
	}
	d := newDriver(t, w.options)
	d.enter("n", "c", "1")
	w.seen()
	d.sees("[1 abroad]  2 wants to stop (opt-out)  3 all is right")
	d.lacks("back")
	d.enter("esc", "ctrl+s")
	if text := d.text(); len(w.entries(t)) != 0 || !strings.Contains(text, "abroad asks for them: i") {
		t.Fatalf("got %q and:\n%s\nwant that notes are asked for", w.entries(t), text)
	}
	d.enter("c", "3", "8", "ctrl+s")
	entry := w.entries(t)
	d.sees("all is right: Anna Jansen, sent in 5 s")
	servicetest.Same(t, "entries", 1, len(entry))
}

// A result that was being chosen does not belong to the call that comes instead.
func TestChoiceGoesWithItsCall(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.enter("n", "c")
	d.run(d.app.Perform(d.app.Day.Skip()), 0) // As if a colleague was faster.
	d.enter("1", "2")
	if call := d.app.Day.Call; call == nil || call.UUID == callID(1) || !d.app.Day.Draft().IsEmpty() {
		t.Errorf("got %+v with %+v, want the next call without a result", call, d.app.Day.Form())
	}
}

// Warnings are folded only if the card has no room for them.
func TestManyWarningsAreFolded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Languages = []string{"de", "fy"}
	d := newDriver(t, w.options)
	d.press("n")
	person := d.app.Day.Call.Person.Value()
	gates := []apitype.GateResult{}
	for _, name := range []string{"phone", "iban", "address"} {
		gates = append(gates, apitype.GateResult{
			Identifier:  name,
			Explanation: "The " + name + " is not as it should be. " + strings.Repeat("Ask for it. ", 8),
			Percentage:  apitype.NumberFromInt(10),
		})
	}
	person.QualityResult = apitype.Embed(apitype.QualityResult{
		Percentage:  apitype.NumberFromInt(20),
		GateResults: gates,
	})
	d.app.Day.Call.Person = apitype.Embed(person)
	d.size(80, 40)
	d.sees("The address is not as it should be.")
	d.lacks("more warnings")
	d.size(80, 28)
	screen := strings.Join(d.app.screen(), "\n")
	for _, want := range []string{
		"speaks Dutch; you: German, Frisian",
		"low data quality: 20 %",
		"3 more warnings: W shows all",
		onCard(1),
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("screen: got no %q:\n%s", want, screen)
		}
	}
	d.press("W")
	if screen := strings.Join(d.app.screen(), "\n"); !strings.Contains(screen, "The address is not as it should be.") {
		t.Errorf("screen: got no third gate:\n%s", screen)
	}
}

// Statistics name a result as the floor does, also before the first call.
func TestStatisticsNameResultsAsTheFloorDoes(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	supervisor := w.Token(servicetest.May("calls:read", "settings:write"))
	settings := `{"results":{"verification":[{"code":"reached","label":"spoken to","asksNotes":false}]}}`
	answer := w.Do(supervisor, http.MethodPut, "/fundesk/v1/settings/"+organizationID.String(), settings)
	if answer.Status != http.StatusOK {
		t.Fatalf("settings: got %d %s", answer.Status, answer.Body)
	}
	w.options.ResultCodes = nil
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.press("6")
	d.sees("spoken to")
}

// What a supervisor changes or says stands on the message line until a key, however long the agent talks.
func TestNewsStandsUntilAKey(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.size(140, 36)
	d.press("n")
	pass := func(seconds int) {
		for range seconds {
			w.Clock.Advance(time.Second)
			d.send(ticked{})
		}
	}
	pass(70)
	supervisor := w.Token(servicetest.May("calls:read", "settings:write"))
	put := func(path, body string) {
		t.Helper()
		if answer := w.Do(supervisor, http.MethodPut, path, body); answer.Status/100 != 2 {
			t.Fatalf("%s: got %d %s", path, answer.Status, answer.Body)
		}
	}
	for news, change := range map[string]func(){
		"the settings of the floor were changed": func() {
			put("/fundesk/v1/settings/"+organizationID.String(), `{"results":{"verification":[{"code":"reached"}]}}`)
		},
		"from 16:00 win-back only": func() {
			put("/fundesk/v1/queue/message",
				`{"organizationUuid":"`+organizationID.String()+`","text":"from 16:00 win-back only"}`)
		},
	} {
		change()
		pass(180)
		d.sees(news)
		d.press("right")
		pass(10)
		d.lacks(news)
	}
}

package card

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// A script greets by the time of day in its own language, and names the agent. A name that is not known is an ellipsis.
func TestScriptsNameTheAgent(t *testing.T) {
	t.Parallel()
	const line = "{{.Call.Greeting}}, {{.Agent.Name}}"
	for _, test := range []struct {
		hour                  int
		language, agent, want string
	}{
		{9, "nl", "Anneke", "Goedemorgen, Anneke"},
		{12, "nl", "Anneke", "Goedemiddag, Anneke"},
		{18, "nl", "Anneke", "Goedenavond, Anneke"},
		{11, "de", "Jörg", "Guten Morgen, Jörg"},
		{17, "de", "Jörg", "Guten Tag, Jörg"},
		{20, "de", "Jörg", "Guten Abend, Jörg"},
		{9, "", "", "Good morning, …"},
		{23, "fr", "Zoé", "Good evening, Zoé"},
	} {
		facts := scriptFacts{
			call:     new(apitype.Call),
			language: test.language,
			agent:    test.agent,
			now:      time.Date(2026, 11, 20, test.hour, 0, 0, 0, time.UTC),
		}
		if got, unknown := fillScript(line, facts); got != test.want || unknown != "" {
			t.Errorf("%d h, %q: got %q and the unknown field %q, want %q",
				test.hour, test.language, got, unknown, test.want)
		}
	}
}

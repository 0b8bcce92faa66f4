package desk

import (
	"bytes"
	"strings"
	"testing"

	"fundesk/apiclient/outbox"
	"fundesk/commands/cli"
	"fundesk/tui/desk"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/event"
)

func newLines(said *bytes.Buffer) *lineDesk {
	session := cli.NewSession(cli.App{Err: said, Getenv: func(string) string { return "" }}, nil)
	day := desk.New(desk.Options{Outbox: new(outbox.Outbox)})
	return &lineDesk{session: session, day: day, questions: ask.New(day)}
}

// A key of the accessible desk has one meaning, and none has another one on the screen.
func TestKeysMeanTheSameInBothFaces(t *testing.T) {
	t.Parallel()
	meanings := map[string]string{}
	for _, a := range ask.Actions() {
		for key := range strings.FieldsSeq(a.Keys) {
			meanings[key] = a.ID
		}
	}
	seen := map[string]bool{}
	for _, a := range newLines(new(bytes.Buffer)).answers("") {
		if other := meanings[a.key]; other != "" && other != a.action && a.text != "to send what you entered" {
			t.Errorf("%s is %q here, and %s on the screen", a.key, a.text, other)
		}
		if seen[a.key] {
			t.Errorf("%s has two meanings", a.key)
		}
		seen[a.key] = true
	}
}

// An offer names the key that takes it.
func TestOfferNamesItsKey(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	l := newLines(&said)
	l.tell(event.Notice{Text: "a new call", See: event.SeeOffer, Does: "opens it"})
	if got, want := said.String(), "a new call; l opens it\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

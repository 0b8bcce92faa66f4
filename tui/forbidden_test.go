package tui

import (
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/tui/page"
)

// The key c asks once for a donor who opted out, and then offers the results.
func TestResultOfAForbiddenDonorIsAskedOnce(t *testing.T) {
	t.Parallel()
	d := fixerOf(t, newQueueWorld(t))
	person := d.app.Day.Call.Person.Value()
	person.OptInPhone = new(false)
	d.app.Day.Call.Person = apitype.Embed(person)
	d.press("c")
	if _, asks := d.app.Dialog.(*page.Confirm); !asks || !strings.Contains(d.text(), "This donor may not be called") {
		t.Fatalf("got no question:\n%s", d.text())
	}
	d.enter("y", "1")
	if d.app.Day.Form().ResultCode == "" {
		t.Errorf("got no result after y and 1:\n%s", d.text())
	}
	d.enter("esc", "c")
	if _, asks := d.app.Dialog.(*page.Confirm); asks {
		t.Error("asked twice")
	}
}

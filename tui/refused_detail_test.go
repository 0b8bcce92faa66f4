package tui

import (
	"testing"

	"fundesk/apiclient/apitype"
)

// What is typed after the key of a detail that may not be corrected is dropped until enter or esc: it never runs as the
// key of another detail. A yes or no turns with a second key alone.
func TestRefusedDetailTakesWhatIsTyped(t *testing.T) {
	t.Parallel()
	external := apitype.Pledge{
		DonationAmount:   apitype.Cents(1250),
		DonationInterval: "monthly",
		ExternalSource:   apitype.Embed(apitype.ExternalSource{Name: "crm"}),
	}
	for _, test := range []struct {
		name   string
		keys   []string
		change string // The correction. Empty if there is none.
	}{
		{"digits after a refused amount", []string{"0", "9", "enter", "esc"}, ""},
		{"an amount that is refused", []string{"0", "9", ",", "5", "0", "esc", "esc"}, ""},
		{"a refused interval", []string{"u", "9", "n", "enter", "esc"}, ""},
		{"a refused end", []string{"w", "9", "-", "1", "enter", "enter"}, ""},
		{"a yes or no alone", []string{"9", "esc", "esc"}, ""},
		{"two keys of yes or no", []string{"9", "o", "p", "esc", "esc"}, ""},
		{"a digit after yes or no", []string{"9", "0", "esc", "esc"}, ""},
		{"yes or no, turned", []string{"9", "enter", "esc"}, "no"},
		{"yes or no, said", []string{"9", "n", "esc"}, "no"},
		{"yes or no, said as it is", []string{"9", "y", "esc"}, ""},
	} {
		w := newQueueWorld(t)
		d := fixerOf(t, w)
		d.app.Day.Call.PledgeCase = apitype.Embed(external)
		d.enter("f")
		d.enter(test.keys...)
		fixes := d.app.Day.Form().Corrected()
		switch {
		case test.change == "" && len(fixes) != 0:
			t.Errorf("%s: got %+v, want nothing changed", test.name, fixes)
		case test.change != "" && (len(fixes) != 1 || fixes[0].Is != test.change || fixes[0].Label != "may be phoned"):
			t.Errorf("%s: got %+v, want one correction", test.name, fixes)
		}
		if test.change == "" && d.app.Day.Form().ResultCode != "" {
			t.Errorf("%s: got the result %q proposed", test.name, d.app.Day.Form().ResultCode)
		}
		if d.app.Dialog != nil {
			t.Errorf("%s: got a dialog left open", test.name)
		}
	}
}

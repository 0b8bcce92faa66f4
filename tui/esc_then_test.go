package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// A terminal that joins esc and the key after it sends the same as for alt and that key: each letter is esc and a key.
func TestEscAndAKeyAreTwoKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key  rune
		asks bool
	}{{'b', true}, {'f', true}, {'c', true}, {'r', true}} {
		d := fixerOf(t, newQueueWorld(t))
		d.enter("i")
		d.typing("she said ")
		d.send(tea.KeyPressMsg{Code: test.key, Mod: tea.ModAlt})
		isOpen := d.app.Dialog != nil
		if d.app.desk.Typing() || isOpen != test.asks || d.app.Day.Form().Notes != "she said " {
			t.Errorf("alt+%c: got notes %q with the focus %t, a dialog %t",
				test.key, d.app.Day.Form().Notes, d.app.desk.Typing(), isOpen)
		}
	}
}

// Two presses of esc that are read at once are two: the first leaves the value, the second closes the details.
func TestEscTwiceAtOnceIsTwoKeys(t *testing.T) {
	t.Parallel()
	d := fixerOf(t, newQueueWorld(t))
	d.enter("f", "6")
	d.typing("Kerkstraat")
	d.send(tea.KeyPressMsg{Code: tea.KeyEscape, Mod: tea.ModAlt})
	if d.app.Dialog != nil || len(d.app.Day.Form().Corrections) != 0 {
		t.Errorf("got a dialog %t and %v, want the details closed and nothing corrected",
			d.app.Dialog != nil, d.app.Day.Form().Corrections)
	}
}

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
			t.Errorf("alt+%c: got notes %q with the focus %t, a dialog %t", test.key, d.app.Day.Form().Notes, d.app.desk.Typing(), isOpen)
		}
	}
}

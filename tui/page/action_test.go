package page

import (
	"testing"

	"fundesk/tui/desk/ask"
)

// Each action of the Desk is run by its row in ask/actions.go or by that of screenActions, which has no other rows.
func TestActionsOfTheDeskRun(t *testing.T) {
	t.Parallel()
	screens := screenActions()
	for _, does := range ask.Actions() {
		if does.Run == nil && screens[does.ID].run == nil {
			t.Errorf("%s has a function neither in ask/actions.go nor in screenActions", does.ID)
		}
		delete(screens, does.ID)
	}
	for id := range screens {
		t.Errorf("screenActions has %q, which ask/actions.go does not have", id)
	}
}

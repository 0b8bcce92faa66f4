package canvas

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// A frame that needs the other way of counting is drawn with it, and so is every later
// one: what is on the screen was counted so.
func TestFramesAreCountedAsTheyNeed(t *testing.T) {
	t.Parallel()
	m := newTerminal(20, 1)
	c := begun(t, m, 20, 1)
	for _, step := range []struct {
		content string
		want    ansi.Method
	}{
		{"Zoë │ …", ansi.GraphemeWidth},
		{"世界 │ क्षि", ansi.WcWidth},
		{"Zoë │ …", ansi.WcWidth},
	} {
		c.Show(step.content)
		c.draw()
		if c.method != step.want {
			t.Errorf("%q: got method %d, want %d", step.content, c.method, step.want)
		}
	}
	send(t, c, ansi.EraseEntireScreen) // All is drawn anew.
	if c.method != ansi.WcWidth || c.cells.Method != ansi.WcWidth {
		t.Errorf("anew: got method %d, want as before", c.method)
	}
}

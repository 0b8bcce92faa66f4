package page

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/desk/statefile"
)

// Kept is the user's arrangement of the screen, kept between starts.
type Kept struct {
	Panes int    `json:"panes,omitempty"` // Cells that the left pane is wider than it would be.
	path  string // Empty saves nothing.
}

// ReadKept reads the arrangement of an earlier start. Without a path it is empty. After an error the arrangement is
// usable, and partly empty.
func ReadKept(path string) (Kept, error) {
	var k Kept
	var err error
	if path != "" {
		err = statefile.Read(path, &k)
	}
	k.path = path
	return k, err
}

// Keep puts on disk how the screen is arranged now.
func (e *Env) Keep() tea.Cmd {
	k := e.Kept
	if k.path == "" {
		return nil
	}
	return Load(
		e,
		"arrangement saved",
		func(context.Context) (any, error) { return nil, statefile.Write(k.path, k) },
		func(_ any, err error) tea.Cmd {
			if err != nil {
				e.Messages.Fail("the layout of the screen cannot be saved", err)
			}
			return nil
		},
	)
}

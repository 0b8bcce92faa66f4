package page

import (
	"context"
	"maps"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/desk"
)

// Kept is how somebody has arranged the screen, kept from one start to the next.
type Kept struct {
	Hidden map[string][]string `json:"hiddenColumns,omitempty"` // Of each list, by the titles of its columns.
	Panes  int                 `json:"panes,omitempty"`         // Cells that the left pane is wider than it would be.
	path   string              // "" for nowhere.
}

// ReadKept reads what an earlier start has kept; without a path nothing is. A file that cannot
// be read is an error beside what works.
func ReadKept(path string) (k Kept, err error) {
	if path != "" {
		err = desk.ReadState(path, &k)
	}
	k.path = path
	return k, err
}

// Keep puts on disk how the screen is arranged now.
func (e *Env) Keep() tea.Cmd {
	k := e.Kept
	k.Hidden = maps.Clone(k.Hidden)
	if k.path == "" {
		return nil
	}
	return Load(e, func(context.Context) (any, error) { return nil, desk.WriteState(k.path, k) }, func(_ any, err error) tea.Cmd {
		if err != nil {
			e.Messages.Fail("how the screen is arranged is not kept", err)
		}
		return nil
	})
}

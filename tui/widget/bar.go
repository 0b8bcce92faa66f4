package widget

import (
	"charm.land/bubbles/v2/progress"
	"charm.land/lipgloss/v2"
)

// Bar returns how far something has come, of which there is a known number, in width cells. It is
// the library's progress without its movement: a screen on which nothing happens is not
// drawn anew.
func Bar(done, all, width int, ascii bool) string {
	full, empty := '█', '░'
	if ascii {
		full, empty = '#', '.'
	}
	bar := progress.New(progress.WithoutPercentage(), progress.WithWidth(width), progress.WithFillCharacters(full, empty))
	bar.FullColor, bar.EmptyColor = lipgloss.NoColor{}, lipgloss.NoColor{} // Who draws it colours it.
	return bar.ViewAs(float64(done) / float64(max(all, 1)))
}

package widget

import (
	"charm.land/bubbles/v2/progress"
	"charm.land/lipgloss/v2"
)

// Bar draws progress towards a known number in width cells. It is the library's progress bar without animation, so that
// an idle screen is not drawn again.
func Bar(done, all, width int, ascii bool) string {
	full, empty := '█', '░'
	if ascii {
		full, empty = '#', '.'
	}
	bar := progress.New(
		progress.WithoutPercentage(),
		progress.WithWidth(width),
		progress.WithFillCharacters(full, empty),
	)
	bar.FullColor, bar.EmptyColor = lipgloss.NoColor{}, lipgloss.NoColor{} // The caller sets the colours.
	return bar.ViewAs(float64(done) / float64(max(all, 1)))
}

package say

import (
	"os"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// The Desk uses the Dutch and German terms of the glossary in docs/contributing.
func TestTermsAreThoseOfTheGlossary(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/contributing/glossary.md")
	servicetest.Check(t, err)
	_, rows, _ := strings.Cut(string(page), "|---|---|---|\n")
	terms, checked := 0, 0
	for row := range strings.Lines(rows) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "| "), " | ")
		if len(cells) != 3 {
			t.Fatalf("%q has %d cells, want English, Dutch and German", row, len(cells))
		}
		terms++
		english := cells[0]
		if _, isText := languages["nl"]().texts[english]; !isText {
			continue
		}
		checked++
		servicetest.Same(t, english+" in Dutch", cells[1], languages["nl"]().texts[english])
		servicetest.Same(t, english+" in German", cells[2], languages["de"]().texts[english])
	}
	if terms != 60 || checked < 40 {
		t.Errorf("got %d terms, %d of them texts of the Desk; want 60, and at least 40", terms, checked)
	}
}

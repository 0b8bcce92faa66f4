package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// A list that does not fit says which of its rows is chosen; one that fits says nothing.
func TestListSaysWhereYouAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := 10; n < 60; n++ {
		w.loadPerson(n, "Anna", fmt.Sprint("Jansen", n))
		w.loadPledge(n)
		w.loadCall(n)
	}
	d := newDriver(t, w.options)
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		d.enter("2", "g", "j")
		if text := d.text(); !strings.Contains(text, "2 of 56") {
			t.Errorf("%v: got\n%s\nwant the second row of 56", size, text)
		}
		if d.press("5"); strings.Contains(d.text(), " of ") {
			t.Errorf("%v: got\n%s\nwant no place in an outbox that fits", size, d.text())
		}
	}
}

// Help shows each line whole, at each width, and keeps its size while it is filtered: what is behind it is not drawn anew.
func TestHelpCutsNoLineAndKeepsItsSize(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := fixerOf(t, w)
	for _, width := range []int{60, 80, 120} {
		d.send(tea.WindowSizeMsg{Width: width, Height: 60})
		d.press("?")
		_, lines := d.app.Dialog.View(d.app.Styles, width-8, 58)
		text := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
		for _, want := range []string{"tick the fact that was checked, or take the tick back; a digit after it chooses the fact", "write notes (esc leaves them)"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d columns: got\n%s\nwant %q whole", width, d.text(), want)
			}
		}
		before := frameOf(d)
		if d.enter("d", "i", "a", "l"); frameOf(d) != before {
			t.Errorf("%d columns: got the frame %s of the filtered help, want %s", width, frameOf(d), before)
		}
		d.press("esc")
	}
}

// frameOf returns where the corners of the dialog stand.
func frameOf(d *driver) (corners string) {
	for y, line := range d.app.screen() {
		if line = ansi.Strip(line); strings.Contains(line, "╭─ Help") {
			corners += fmt.Sprint(y, strings.Index(line, "╭─ Help"))
		}
	}
	for y, line := range d.app.screen() {
		if strings.Contains(line, "─╯") || strings.Contains(line, "╰─") {
			corners += fmt.Sprint(" ", y)
		}
	}
	return corners
}

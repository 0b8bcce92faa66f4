package canvas

import (
	"math/rand/v2"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// However frames follow each other, with fewer lines or more and at other sizes, the
// screen shows the last one.
func TestAnyFrameAfterAnyOther(t *testing.T) {
	t.Parallel()
	const width, height = 24, 8
	random := rand.New(rand.NewPCG(3, 14))
	some := []string{
		"", "plain", "\x1b[1mbold\x1b[m and plain", "Zoë │ … │ ✓", strings.Repeat("x", width), "ab 世界 cd", "世", "\x1b[7mchosen 世\x1b[m", "   far",
		"│\x1b[2m a  b\x1b[m      │\x1b[4m under  \x1b[m│", "│ \x1b[41m red   x\x1b[m  │\x1b[9;31m struck  \x1b[m│", "│ a  b      │ \x1b[1;32mgreen \x1b[m │",
	}
	m := newTerminal(width, height)
	c := begun(t, m, width, height)
	for n := range 500 {
		lines := make([]string, 1+random.IntN(height))
		for i := range lines {
			lines[i] = some[random.IntN(min(len(some), 5+n/50))] // First those that are counted by characters.
		}
		if random.IntN(20) == 0 {
			send(t, c, ansi.EraseEntireScreen)
		}
		c.Show(strings.Join(lines, "\n"))
		c.draw()
		want := strings.TrimRight(ansi.Strip(strings.Join(lines, "\n")), "\n")
		if got := strings.ReplaceAll(m.text(), "\r", ""); got != want {
			t.Fatalf("frame %d: got\n%s\nwant\n%s", n, got, want)
		}
		once := newTerminal(width, height)
		_, _ = once.Write([]byte(strings.Join(lines, "\r\n")))
		for y := range height {
			for x := range width {
				got, want := m.screen.CellAt(x, y), once.screen.CellAt(x, y)
				if got, want := seen(got), seen(want); !got.Equal(&want) {
					t.Fatalf("frame %d: cell %d of line %d: got %+v, want %+v in %q", n, x, y, got, want, lines[y])
				}
			}
		}
	}
}

// seen returns c without what cannot be seen on a blank.
func seen(c *uv.Cell) uv.Cell {
	if c == nil {
		return uv.EmptyCell
	}
	shown := *c
	if c.Content == " " {
		shown.Style.Attrs &= uv.AttrReverse | uv.AttrStrikethrough
		if shown.Style.Attrs == 0 {
			shown.Style.Fg = nil
		}
	}
	return shown
}

// A key that moves in a list changes the row at the left and the preview at the right, and
// costs what these cost: not the cells between them.
func TestUnchangedCellsBetweenChangesAreNotSent(t *testing.T) {
	t.Parallel()
	m := newTerminal(80, 4)
	c := begun(t, m, 80, 4)
	show := func(left, right string) int {
		c.Show(strings.Repeat(left+strings.Repeat(" between", 8)+right+"\n", 3))
		m.written = nil
		c.draw()
		return len(strings.Join(m.written, ""))
	}
	show("a", "b")
	if got := show("c", "d"); got > 3*30 {
		t.Errorf("bytes of two cells in each of three lines of 66: got %d, want at most 90: %q", got, m.written)
	}
}

package canvas

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// However frames follow each other, with fewer lines or more and at other sizes, the
// screen shows the last one.
func TestAnyFrameAfterAnyOther(t *testing.T) {
	t.Parallel()
	const width, height = 24, 8
	random := rand.New(rand.NewPCG(3, 14))
	some := []string{"", "plain", "\x1b[1mbold\x1b[m and plain", "Zoë │ … │ ✓", strings.Repeat("x", width), "ab 世界 cd", "世", "\x1b[7mchosen 世\x1b[m", "   far"}
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
	}
}

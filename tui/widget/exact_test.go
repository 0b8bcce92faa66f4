package widget

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

// The window follows the cursor by half of itself, and no further than the list.
func TestWrapKeepsDatesAndAmountsWhole(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"sinds 11-10-2026, een e-mail": {"sinds", "11-10-2026,", "een e-mail"},
		"een half-jaarlijks":           {"een half-", "jaarlijks"},
		"u geeft nu € 10,00":           {"u geeft nu", "€ 10,00"},
		"wir buchen 50,00 € ab":        {"wir buchen", "50,00 € ab"},
	} {
		if got := Wrap(text, 12); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTableFollowsItsCursor(t *testing.T) {
	t.Parallel()
	rows := make([]int, 20)
	for i := range rows {
		rows[i] = i
	}
	var table Table[int, int]
	if table.Height() != 1 || len(table.InSight(rows)) != 1 {
		t.Errorf("got %d rows in sight of a table without a height, want 1", table.Height())
	}
	table.SetHeight(6)
	for _, step := range []struct{ by, cursor, top int }{
		{0, 0, 0},
		{5, 5, 0},
		{1, 6, 4},
		{3, 9, 4},
		{1, 10, 8},
		{9, 19, 14},
		{1, 19, 14},
		{-5, 14, 14},
		{-1, 13, 10},
		{-3, 10, 10},
		{-1, 9, 6},
		{-99, 0, 0},
	} {
		table.Move(step.by, len(rows))
		if sight := table.InSight(rows); table.Cursor() != step.cursor || sight[0] != step.top || len(sight) != 6 {
			t.Errorf("by %d: got row %d below %d, want %d below %d",
				step.by, table.Cursor(), sight[0], step.cursor, step.top)
		}
	}
	table.Place(10, 20)
	for _, click := range []struct {
		line, count int
		want        bool
		cursor      int
	}{
		{-1, 20, false, 10},
		{6, 20, false, 10},
		{0, 20, true, 8},
		{5, 20, true, 13},
		{0, 8, false, 13},
		{0, 9, true, 8},
	} {
		if got := table.Click(click.line, click.count); got != click.want || table.Cursor() != click.cursor {
			t.Errorf("line %d of %d: got %t and row %d, want %t and %d",
				click.line, click.count, got, table.Cursor(), click.want, click.cursor)
		}
	}
	table.Place(5, 20)
	top := table.InSight(rows)[0]
	if table.Shift(3, 23); table.Cursor() != 8 || table.InSight(append(rows, 20, 21, 22))[0] != top+3 {
		t.Errorf("got row %d below %d, want it on its row", table.Cursor(), table.InSight(rows)[0])
	}
	if table.Place(3, 0); table.Cursor() != 0 || len(table.InSight(nil)) != 0 {
		t.Error("got rows of an empty list in sight")
	}
}

// Texts are cut and padded to the cell.
func TestFitToTheCell(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text        string
		width       int
		left, right string
	}{
		{"abc", 0, "", ""},
		{"abc", -1, "", ""},
		{"abc", 1, "…", "…"},
		{"abc", 2, "a…", "a…"},
		{"abc", 3, "abc", "abc"},
		{"abc", 5, "abc  ", "  abc"},
		{"日本", 4, "日本", "日本"},
		{"日本", 3, "日…", "日…"},
		{"日本", 5, "日本 ", " 日本"},
		{"", 2, "  ", "  "},
		{"a", 130, "a" + strings.Repeat(" ", 129), strings.Repeat(" ", 129) + "a"},
	} {
		left, right := Fit(test.text, test.width), FitRight(test.text, test.width)
		if left != test.left || right != test.right {
			t.Errorf("%q in %d: got %q and %q, want %q and %q",
				test.text, test.width, left, right, test.left, test.right)
		}
	}
	for width, want := range map[int][]string{
		0: nil,
		3: {"one", "two", "日"},
		7: {"one two", "日"},
		6: {"one", "two", "日"},
	} {
		if got := Wrap("one two\n日", width); !slices.Equal(got, want) {
			t.Errorf("wrapped at %d: got %q, want %q", width, got, want)
		}
	}
	if got := Block([]string{"a", "bcd", "e"}, 2, 2); !slices.Equal(got, []string{"a ", "b…"}) {
		t.Errorf("got %q", got)
	}
	if got := Block(nil, 2, -1); len(got) != 0 {
		t.Errorf("got %q of no height", got)
	}
	got := Beside("|", []string{"a", "b"}, []string{"c", "d"}, []string{"e", "f"})
	if !slices.Equal(got, []string{"a|c|e", "b|d|f"}) {
		t.Errorf("got %q", got)
	}
	if Beside("|") != nil {
		t.Error("got lines of no block")
	}
}

// A frame surrounds its lines, over the middle of a screen.
func TestFrameToTheCell(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		title         string
		width, height int
		want          []string
	}{
		{"T", 9, 4, []string{"+- T ---+", "| ab   \x1b[m |", "| cd   \x1b[m |", "+-------+"}},
		{"", 6, 3, []string{"+----+", "| ab\x1b[m |", "+----+"}},
		{"longer", 6, 2, []string{"+- l……", "+----+"}},
	} {
		frame := Frame{Border: ASCIIBorder, Width: test.width}
		got := frame.Close(append([]string{frame.Top(test.title, "")}, frame.Lines("ab", "cd")...), test.height)
		if test.title == "longer" {
			got[0], test.want[0] = "", "" // How it is cut is the business of Fit.
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q in %dx%d:\ngot  %q\nwant %q", test.title, test.width, test.height, got, test.want)
		}
	}
	bare, framed := Frame{Border: LineBorder, Width: 20, Bare: true}, Frame{Border: LineBorder, Width: 20}
	for _, test := range [][2]string{
		{bare.Top("Title", "aside"), "Title          aside"},
		{bare.Rule("Check", "f"), "─ Check ──────── f ─"},
		{framed.Rule("Check", "f"), "├─ Check ────── f ─┤"},
		{framed.Rule("Check", "much too long for it"), "├─ Check ──────────┤"},
	} {
		if test[0] != test[1] {
			t.Errorf("got  %q\nwant %q", test[0], test[1])
		}
	}
	// Lines of a frame: a word would not be torn.
	lines := func(texts ...string) []string {
		for i, text := range texts {
			texts[i] = strings.Map(func(r rune) rune {
				if r >= 'A' && r <= 'Z' {
					return '─' + r - 'A'
				}
				return r
			}, text)
		}
		return texts
	}
	screen := lines("ABCDEF", "GHIJKL", "MNOPQR", "STUVWX", "YZABCD")
	for _, test := range []struct {
		block []string
		width int
		want  []string
	}{
		{nil, 6, screen},
		{[]string{"##", "%%"}, 6, lines("ABCDEF", "GH\x1b[m##\x1b[mKL", "MN\x1b[m%%\x1b[mQR", "STUVWX", "YZABCD")},
		{[]string{"###"}, 6, lines("ABCDEF", "GHIJKL", "M\x1b[m###\x1b[mQR", "STUVWX", "YZABCD")},
		{
			block: []string{"1", "2", "3", "4", "5", "6"},
			width: 6,
			want: lines("AB\x1b[m1\x1b[mDEF", "GH\x1b[m2\x1b[mJKL", "MN\x1b[m3\x1b[mPQR", "ST\x1b[m4\x1b[mVWX",
				"YZ\x1b[m5\x1b[mBCD"),
		},
		{[]string{"wider than all"}, 6, lines("ABCDEF", "GHIJKL", "\x1b[mwider…\x1b[m", "STUVWX", "YZABCD")},
	} {
		if diff := cmp.Diff(test.want, Over(screen, test.block, test.width)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.block, diff)
		}
	}
}

func TestScrollOverTheBounds(t *testing.T) {
	t.Parallel()
	var s Scroll
	s.Set([]string{"1", "2", "3", "4", "5", "6"}, 2)
	for _, step := range []struct{ first, last, top, below int }{
		{0, 1, 0, 4},
		{1, 2, 0, 4},
		{2, 3, 1, 3},
		{2, 4, 2, 2},
		{5, 6, 4, 0},
		{3, 4, 3, 1},
		{0, 3, 1, 3},
	} {
		if s.Keep(step.first, step.last); s.Top() != step.top || s.Below() != step.below {
			t.Errorf("lines %d to %d: got line %d on top and %d below, want %d and %d",
				step.first, step.last, s.Top(), s.Below(), step.top, step.below)
		}
	}
}

// No word is torn at the edges of what lies over a screen.
func TestNothingTornBesideABlock(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ under, want string }{
		{"Geburtsdatum Heidelberg,", "         [####]         "},
		{"one two three four five ", "one two  [####]    five "},
		{"│ aaaaaaaaaaaaaaaaaaaa │", "│        [####]        │"},
		{"────────────────────────", "─────────[####]─────────"},
		{"abcdefgh          abc de", "abcdefgh [####]   abc de"},
	} {
		if got := ansi.Strip(Over([]string{test.under}, []string{"[####]"}, 24)[0]); got != test.want {
			t.Errorf("%q: got %q, want %q", test.under, got, test.want)
		}
	}
}

package render_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"fundesk/render"
)

// Whatever a value holds, a csv reader finds it again, and tsv keeps its columns.
func FuzzDelimited(f *testing.F) {
	for _, seed := range []string{"a,b", "\"", "a\nb", "\r\n", "\t", "=1+1", "-", "\ufeff", "", " x ", "\xff", "\x00"} {
		f.Add(seed, seed)
	}
	type row struct{ a, b string }
	columns := []render.Column[row]{
		{Name: "a", Default: true, Value: func(r row) string { return r.a }},
		{Name: "b", Default: true, Value: func(r row) string { return r.b }},
	}
	write := func(t *testing.T, r row, o render.Options) string {
		t.Helper()
		var out bytes.Buffer
		list, err := render.NewList(&out, columns, o)
		if err == nil {
			err = list.Add([]byte("{}"), func() (row, error) { return r, nil })
		}
		if err == nil {
			err = list.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.Contains(a+b, "\r") { // A csv reader takes a line break of two characters for one.
			return
		}
		got, err := csv.NewReader(strings.NewReader(write(t, row{a, b}, render.Options{Format: render.CSV}))).ReadAll()
		if err != nil || len(got) != 2 || got[1][0] != a || got[1][1] != b {
			t.Errorf("%q, %q: got %q, %v", a, b, got, err)
		}
		if out := write(t, row{a, b}, render.Options{Format: render.TSV}); strings.Count(out, "\t") != 1 || strings.Count(out, "\n") != 1 {
			t.Errorf("%q, %q: got %q, want one line of two columns", a, b, out)
		}
		safe, err := csv.NewReader(strings.NewReader(write(t, row{a, b}, render.Options{Format: render.CSV, SpreadsheetSafe: true}))).ReadAll()
		if err != nil || len(safe) != 2 || safe[1][0] != "" && strings.ContainsRune("=+-@\t\r", rune(safe[1][0][0])) {
			t.Errorf("%q: got %q, %v, want no formula", a, safe, err)
		}
	})
}

// Nothing that moves a terminal comes through, and what is clean stays as it is.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"\x1b]0;title\x07", "\u202e", "\u200b", "\x9b31m", "a\rb", "漢字", "\U000e0041", "\xff", "e\u0301"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean := render.Clean(text)
		for _, r := range clean {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Errorf("%q: got %q", text, clean)
			}
		}
		if again := render.Clean(clean); again != clean {
			t.Errorf("%q: got %q and then %q", text, clean, again)
		}
		if cut := render.Cut(clean, 10); render.Width(cut) > 10 {
			t.Errorf("%q: got %q of width %d, want at most 10", text, cut, render.Width(cut))
		}
	})
}

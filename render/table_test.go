package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// A table is as wide as its cells, or as the terminal: what may be cut is cut from its widest
// column on, down to eight cells, and what has no room is left out.
func TestTableFits(t *testing.T) {
	t.Parallel()
	columns := []Column[[]string]{
		{Name: "a", Default: true, Flexible: true, Value: func(row []string) string { return row[0] }},
		{Name: "b", Default: true, Flexible: true, Value: func(row []string) string { return row[1] }},
		{Name: "c", Title: "n", Default: true, Right: true, Value: func(row []string) string { return row[2] }},
	}
	row := []string{"aaaaaaaaaa", "bbbbbbbbbb", "7"}
	for _, test := range []struct {
		name    string
		o       Options
		missing string
		want    string
	}{
		{"of any width", Options{}, "", "A           B           N\naaaaaaaaaa  bbbbbbbbbb  7\n"},
		{"as wide as its cells", Options{Width: 25}, "", "A           B           N\naaaaaaaaaa  bbbbbbbbbb  7\n"},
		{"a cell too narrow", Options{Width: 24}, "", "A          B           N\naaaaaaaa…  bbbbbbbbbb  7\n"},
		{"two cells too narrow", Options{Width: 23}, "", "A          B          N\naaaaaaaa…  bbbbbbbb…  7\n"},
		{"as narrow as it gets", Options{Width: 21}, "", "A         B         N\naaaaaaa…  bbbbbbb…  7\n"},
		{"without room for the last", Options{Width: 20}, "c", "A         B\naaaaaaa…  bbbbbbb…\n"},
		{"with room for nothing but the blanks", Options{Width: 18}, "c", "A         B\naaaaaaa…  bbbbbbb…\n"},
		{"with part of a column", Options{Width: 17}, "b,c", "A         B\naaaaaaa…  bbbbbb…\n"},
		{"with one cell of a column", Options{Width: 11}, "b,c", "A         B\naaaaaaa…  …\n"},
		{"with one column", Options{Width: 10}, "b,c", "A\naaaaaaa…\n"},
		{
			name: "painted",
			o:    Options{Width: 25, Color: true},
			want: "\x1b[1mA\x1b[0m           \x1b[1mB\x1b[0m           \x1b[1mN\x1b[0m\naaaaaaaaaa  bbbbbbbbbb  7\n",
		},
		{"without a header", Options{NoHeader: true}, "", "aaaaaaaaaa  bbbbbbbbbb  7\n"},
	} {
		var out bytes.Buffer
		missing := ""
		test.o.Format, test.o.TooNarrow = Table, func(_, m []string) { missing = strings.Join(m, ",") }
		list, err := NewList(&out, columns, test.o)
		if err != nil {
			t.Fatal(err)
		}
		if err := list.Add(nil, func() ([]string, error) { return row, nil }); err != nil {
			t.Fatal(err)
		}
		if err := list.Close(); err != nil || out.String() != test.want || missing != test.missing {
			t.Errorf("%s: got no room for %q, %v and\n%swant %q and\n%s",
				test.name, missing, err, out.String(), test.missing, test.want)
		}
	}
}

// The first five hundred rows decide how wide a column is.
func TestWidthsAreDecidedByTheFirstRows(t *testing.T) {
	t.Parallel()
	var shapes []shape
	for range 498 {
		shapes = append(shapes, shape{Name: "a"})
	}
	shapes = append(shapes, shape{Name: "aaaaaaaa"}, shape{Name: "bbbbbbbbbbbb"}, shape{Name: "cccccccccccccccc"})
	out := printShapes(t, Options{Format: Table, Columns: []string{"name", "uuid"}}, shapes...)
	want := "a\naaaaaaaa\nbbbbbbbbbbbb\nccccccccccc…\n"
	if !strings.HasPrefix(out, "NAME          UUID\na\n") ||
		!strings.HasSuffix(out, want) ||
		strings.Count(out, "\n") != 502 {
		t.Errorf("got\n…%s, want\n…%s", out[max(0, len(out)-80):], want)
	}
}

// A cell of csv is quoted if it has to be. A safe one is not a formula.
func TestCells(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value string
		safe  bool
		want  string
	}{
		{"", true, ""},
		{"a b", false, "a b"},
		{" a", false, `" a"`},
		{"a ", false, `"a "`},
		{`a"b`, false, `"a""b"`},
		{"a,b", false, `"a,b"`},
		{"a\rb", false, "\"a\rb\""},
		{"=a", false, "=a"},
		{"=a", true, "'=a"},
		{"+1", true, "'+1"},
		{"\ta", true, "'\ta"},
		{"a=", true, "a="},
	} {
		if got := csvCell(test.value, test.safe); got != test.want {
			t.Errorf("%q: got %s, want %s", test.value, got, test.want)
		}
	}
}

// What Excel would take for a number, a day or a time is text, and is read again as it was.
func TestExcelCells(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"+31612345678", "1234", "1E5", "NOV26", "1-dec", "12 Jan 26", "1 mei", "10 A", "9:30 pm",
	} {
		got := excelCell(text, false, "GB")
		if want := `="` + text + `"`; got != want || WithoutTextMark(got) != text {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"Anna", "1234 AB", "10 bis A", "1980-05-17", "2026-11-20T09:15:00.000Z", "a 1"} {
		if got := excelCell(text, false, "GB"); got != text {
			t.Errorf("%s: got %s, want it as it is", text, got)
		}
	}
}

// JSON is put on one line, and made safe for a terminal. Other texts are not lost.
func TestLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": 1}`:            `{"a": 1}`,
		"{\n\"a\": 1}":        `{"a":1}`,
		"{\r\"a\": 1}":        `{"a":1}`,
		"\n{\"a\": 1}":        `{"a":1}`,
		"\r{\"a\": 1}":        `{"a":1}`,
		"{\r\n\"a\": 1":       `{  "a": 1`,
		"{\"a\":1,\n\"a\":2}": `{"a":1,"a":2}`,
	} {
		if got := string(compactLine([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"\"\xff\"":             `"\ufffd"`,
		"\"\ufffd\"":           "\"\ufffd\"",
		"{\t\"é\":\r\n1}":      "{\t\"é\": \n1}",
		"\"\u202e\U000e0001\"": `"\u202e\udb40\udc01"`,
		"\"\U0001f600\"":       "\"\U0001f600\"",
	} {
		if got := string(CleanJSON([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	var out bytes.Buffer
	for _, terminal := range []bool{true, false} {
		if err := Line(&out, Options{Terminal: terminal}, []byte(" {\n\"a\":\"\u202e\"}\n")); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "{\"a\":\"\\u202e\"}\n{\"a\":\"\u202e\"}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Pad("ab", 3)+Pad("ab", 2)+Cut("ab", 1)+Cut("ab", 0)+Cut("ab", -1), "ab ab…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// shapes are records with a name and a number.
type shape struct{ UUID, Name, Size string }

func shapeColumns() []Column[shape] {
	return []Column[shape]{
		{Name: "uuid", Default: true, Value: func(s shape) string { return s.UUID }},
		{Name: "name", Default: true, Flexible: true, Value: func(s shape) string { return s.Name }},
		{Name: "size", Default: true, Value: func(s shape) string { return s.Size }},
		{Name: "hidden", Value: func(s shape) string { return s.Size + s.Size }},
	}
}

// printShapes prints records by options.
func printShapes(t *testing.T, o Options, shapes ...shape) string {
	t.Helper()
	var out bytes.Buffer
	list, err := NewList(&out, shapeColumns(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		if err := list.Add([]byte(`{"name":"`+s.Name+`"}`), func() (shape, error) { return s, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := list.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Sorting has numbers by their value, and nothing last in both directions.
func TestSortBy(t *testing.T) {
	t.Parallel()
	shapes := []shape{
		{Name: "a", Size: "10"},
		{Name: "b"},
		{Name: "C", Size: "9"},
		{Name: "d", Size: "-1"},
		{Name: "e", Size: "few"},
		{Name: "f", Size: "Any"},
		{Name: "g", Size: "1E1"},
		{Name: "h"},
	}
	for by, want := range map[string]string{
		"size":  "dCagfebh",
		"-size": "efagCdbh",
		"name":  "abCdefgh",
		"-name": "hgfedCba",
	} {
		out := printShapes(t, Options{Format: TSV, Columns: []string{"name"}, SortBy: by}, shapes...)
		if got := strings.ReplaceAll(out, "\n", ""); got != want {
			t.Errorf("by %s: got %s, want %s", by, got, want)
		}
	}
	out := printShapes(t, Options{Format: JSON, SortBy: "size"}, shapes...)
	if !json.Valid([]byte(out)) || strings.Index(out, `"d"`) > strings.Index(out, `"C"`) {
		t.Errorf("got %s, want the array in order", out)
	}
	if _, err := NewList(&bytes.Buffer{}, shapeColumns(), Options{SortBy: "nonsense"}); err == nil {
		t.Error("got no error for a column that is not there")
	}
}

// A narrow table shortens identifiers first. Columns that do not fit are reported, and those on request stay.
func TestNarrowTable(t *testing.T) {
	t.Parallel()
	row := shape{UUID: "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10", Name: "Wilhelmina", Size: strings.Repeat("x", 30)}
	for _, test := range []struct {
		name               string
		width              int
		columns            []string
		shortened, missing string
		want               string
	}{
		{"wide enough", 90, nil, "", "", "Wilhelmina"},
		{"an identifier is shortened", 60, nil, "uuid", "", "Wilhelmina"},
		{"a column has no room", 30, nil, "uuid", "size", "Wilhelm…"},
		{"asked for", 30, []string{"uuid", "name", "size"}, "uuid", "", strings.Repeat("x", 30)},
	} {
		var shortened, missing []string
		o := Options{
			Format:    Table,
			Width:     test.width,
			Columns:   test.columns,
			TooNarrow: func(s, m []string) { shortened, missing = s, m },
		}
		out := printShapes(t, o, row)
		if strings.Join(shortened, ",") != test.shortened ||
			strings.Join(missing, ",") != test.missing ||
			!strings.Contains(out, test.want) {
			t.Errorf("%s: got %v shortened, %v missing and\n%s", test.name, shortened, missing, out)
		}
	}
	out := printShapes(t, Options{Format: Wide, Width: 30}, row)
	if !strings.Contains(out, row.UUID) || !strings.Contains(out, "HIDDEN") {
		t.Errorf("wide: got\n%s", out)
	}
}

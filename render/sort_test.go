package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

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
	shapes := []shape{{Name: "a", Size: "10"}, {Name: "b"}, {Name: "C", Size: "9"}, {Name: "d", Size: "-1"}, {Name: "e", Size: "few"}, {Name: "f", Size: "Any"}, {Name: "g", Size: "1E1"}, {Name: "h"}}
	for by, want := range map[string]string{"size": "dCagfebh", "-size": "efagCdbh", "name": "abCdefgh", "-name": "hgfedCba"} {
		out := printShapes(t, Options{Format: TSV, Columns: []string{"name"}, SortBy: by}, shapes...)
		if got := strings.ReplaceAll(out, "\n", ""); got != want {
			t.Errorf("by %s: got %s, want %s", by, got, want)
		}
	}
	if out := printShapes(t, Options{Format: JSON, SortBy: "size"}, shapes...); !json.Valid([]byte(out)) || strings.Index(out, `"d"`) > strings.Index(out, `"C"`) {
		t.Errorf("got %s, want the array in order", out)
	}
	if _, err := NewList(&bytes.Buffer{}, shapeColumns(), Options{SortBy: "nonsense"}); err == nil {
		t.Error("got no error for a column that is not there")
	}
}

// A narrow table shortens identifiers first; what does not fit is told, and columns that were
// asked for stay.
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
		o := Options{Format: Table, Width: test.width, Columns: test.columns, TooNarrow: func(s, m []string) { shortened, missing = s, m }}
		out := printShapes(t, o, row)
		if strings.Join(shortened, ",") != test.shortened || strings.Join(missing, ",") != test.missing || !strings.Contains(out, test.want) {
			t.Errorf("%s: got %v shortened, %v missing and\n%s", test.name, shortened, missing, out)
		}
	}
	if out := printShapes(t, Options{Format: Wide, Width: 30}, row); !strings.Contains(out, row.UUID) || !strings.Contains(out, "HIDDEN") {
		t.Errorf("wide: got\n%s", out)
	}
}

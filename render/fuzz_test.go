package render_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// Whatever a value holds, a csv reader finds it again, and tsv keeps its columns.
func FuzzDelimited(f *testing.F) {
	for _, seed := range []string{
		"0612", "a,b", "\"", "a\nb", "\r\n", "\t", "=1+1", "-", "\ufeff", "", " x ", "\xff",
		"\x00",
	} {
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
		out := write(t, row{a, b}, render.Options{Format: render.TSV})
		if strings.Count(out, "\t") != 1 || strings.Count(out, "\n") != 1 {
			t.Errorf("%q, %q: got %q, want one line of two columns", a, b, out)
		}
		file := strings.TrimPrefix(write(t, row{a, b}, render.Options{Format: render.CSV, Excel: "EN"}), "\uFEFF")
		safe, err := csv.NewReader(strings.NewReader(file)).ReadAll()
		if err != nil || len(safe) != 2 {
			t.Fatalf("%q: got %q, %v, want one row", a, safe, err)
		}
		cell := safe[1][0]
		isMarked := render.WithoutTextMark(cell) != cell // The mark is a formula that only keeps a text as it is.
		if !isMarked && cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			t.Errorf("%q: got %q, want no formula", a, cell)
		}
	})
}

// Nothing that moves a terminal comes through, and what is clean stays as it is.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		"\x1b]0;title\x07", "\u202e", "\u200b", "\x9b31m", "a\rb", "漢字", "\U000e0041", "\xff",
		"e\u0301",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean := render.Clean(text)
		for _, r := range clean {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e ||
				r >= 0x2066 && r <= 0x2069 {
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

// Any path of the JSON of a record may be a column: what is not there is empty, and a name that no record
// has is refused.
func TestPathsAsColumns(t *testing.T) {
	t.Parallel()
	raw := `{"uuid":"3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11","status":"completed","attemptsCount":2,"requestedAt":"2026-11-20T09:15:00Z",
		"externalMetadata":{"applicationName":"d","additionalProperties":{"line":{"number":7}}},
		"person":{"optInPhone":false,"createdAt":"2026-11-20T09:15:00Z","address":{"city":"Utrecht"},"qualityResult":{"score":3.50}},
		"pledgeCase":{"donationAmount":12.5,"externalMetadata":{"source":"street"},"person":{"address":{"zipCode":"1234 AB"}}},
		"attempts":[{"userUuid":null,"attemptAt":"2026-11-20T09:15:00Z"}]}`
	for path, want := range map[string]string{
		"person.address.city":                               "Utrecht",
		"person.address.street":                             "",
		"person.optInPhone":                                 "false",
		"person.qualityResult.score":                        "3.50",
		"person.qualityResult.createdAt":                    "",
		"person.createdAt":                                  "2026-11-20T09:15:00.000Z",
		"person.mandate.createdAt":                          "",
		"pledgeCase.donationAmount":                         "12.5",
		"pledgeCase.externalMetadata.source":                "street",
		"pledgeCase.externalMetadata.nothing":               "",
		"pledgeCase.person.address.zipCode":                 "1234 AB",
		"externalMetadata.additionalProperties.line.number": "7",
		"attempts":     `[{"userUuid":null,"attemptAt":"2026-11-20T09:15:00.000Z","createdAt":null}]`,
		"transactions": "",
	} {
		if got := list(t, render.Options{Format: render.TSV, Columns: []string{path}}, raw); got != want+"\n" {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{
		"person.address.cty", "uuid.x", "attempts.0", "status.", ".status", "requestedAt.Time", "",
	} {
		if _, err := render.Select(render.CallColumns(), []string{path}, false); err == nil {
			t.Errorf("%s: got a column, want a refusal", path)
		}
	}
}

// What the service left out is an empty cell, and never a value that looks like one.
func TestMissingIdentifiers(t *testing.T) {
	t.Parallel()
	const zero = "00000000-0000-0000-0000-000000000000"
	for noun, got := range map[string]string{
		"call":   row(t, render.CallColumns(), apitype.Call{}),
		"person": row(t, render.PersonColumns(), apitype.Person{}),
		"pledge": row(t, render.PledgeColumns(), apitype.Pledge{}),
	} {
		if strings.Contains(got, zero) {
			t.Errorf("%s: got %s, want no identifier", noun, got)
		}
	}
}

// row returns a record with all its columns.
func row[T any](t *testing.T, columns []render.Column[T], record T) string {
	t.Helper()
	var out strings.Builder
	if err := render.Record(&out, columns, render.Options{Format: render.CSV}, []byte("{}"), func() (T, error) {
		return record, nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Names are sorted, as gojq and gh print them; numbers keep their text.
func TestResultsOfAQuery(t *testing.T) {
	t.Parallel()
	const record = `{"x":"b","l":["c"],"a":1.50,"b":{"z":2,"y":12345678901234567890},"c":3}`
	for _, test := range []struct{ expression, want string }{
		{".", `{"a":1.50,"b":{"y":12345678901234567890,"z":2},"c":3,"l":["c"],"x":"b"}`},
		{"{c, a}", `{"a":1.50,"c":3}`},
		{"{}", `{}`},
		{"[]", `[]`},
		{"{c, a} | [.c, .a]", `[3,1.50]`},
		{`"bye"`, `"bye"`},
		{"halt", ""},
	} {
		q, err := ParseQuery(test.expression)
		if err != nil {
			t.Fatalf("%s: %v", test.expression, err)
		}
		var out bytes.Buffer
		err = q.Print(&out, Options{Format: JSON}, []byte(record))
		if got := strings.TrimSuffix(out.String(), "\n"); err != nil || got != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.expression, got, err, test.want)
		}
	}
}

// The description of an expression has no values of the record.
func TestQueryThatFails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ expression, record, want string }{
		{".a.b", `{"a":"secret"}`, "jq: expected an object but got: string"},
		{".a | error", `{"a":"rai\u0007sed"}`, "jq: error: rai␇sed"},
		{`"bye" | halt_error`, `{}`, "jq: halt error: bye"},
		{".", `{"a":1`, "read a record: unexpected EOF"},
		{"length", `"` + strings.Repeat(",", 500_001) + `"`, "the answer holds too many values for --jq"},
		{"length", `"` + strings.Repeat(",", 500_000) + `"`, "<nil>"},
	} {
		q, err := ParseQuery(test.expression)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(q.Print(&bytes.Buffer{}, Options{Format: JSON}, []byte(test.record))); got != test.want {
			t.Errorf("%s: got %s, want %s", test.expression, got, test.want)
		}
	}
}

// An expression without an end goes on for as long as its reader takes what it makes.
func TestQueryWithoutAnEnd(t *testing.T) {
	t.Parallel()
	q, err := ParseQuery("range(infinite)")
	if err != nil {
		t.Fatal(err)
	}
	closed, w := io.Pipe()
	printed := make(chan error)
	go func() { printed <- q.Print(w, Options{Format: NDJSON}, []byte(`{"a":1}`)) }()
	if _, err := io.ReadFull(closed, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	if err := <-printed; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want the end of the reader", err)
	}
}

// The fast count of widths equals the one with the large tables, and joins no character with its neighbours.
func TestMethodsAgreeWhereEitherIsUsed(t *testing.T) {
	t.Parallel()
	simple := 0
	for r := rune(' '); r <= utf8.MaxRune; r++ {
		if r > '~' && !isSimple(r) {
			continue
		}
		simple++
		for _, text := range []string{string(r), "a" + string(r) + "z", string(r) + string(r), "…" + string(r) + "é"} {
			got, ok := simpleWidth(text)
			if want := ansi.StringWidthWc(text); got != want || !ok || ansi.StringWidth(text) != want {
				t.Errorf("%q (%U): got %d cells by hand (%v), %d by characters, want %d",
					text, r, got, ok, ansi.StringWidth(text), want)
			}
		}
	}
	if simple < 1000 {
		t.Errorf("got %d code points, want the letters and signs of most screens", simple)
	}
	for text, want := range map[string]ansi.Method{
		"Zoë … │ ✓ €":       ansi.GraphemeWidth,
		"\x1b[1mbold\x1b[m": ansi.GraphemeWidth,
		"e\u0301":           ansi.WcWidth,
		"a\u200db":          ansi.WcWidth,
		"世":                 ansi.WcWidth,
		"🇳🇱":                ansi.WcWidth,
	} {
		if got := Method(text); got != want {
			t.Errorf("%q: got method %d, want %d", text, got, want)
		}
	}
}

// Styles take no cells; what is neither text nor a style is left to the library.
func TestSimpleWidth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":                         0,
		"Zoë":                      3,
		"\x1b[1;38;5;3mbold\x1b[m": 4,
		"\x1b[m":                   0,
		"a\x1b[4:3m│":              2,
		"\x1b[0;99mb":              1,
		"\x1b":                     -1,
		"\x1b[":                    -1,
		"\x1b[1":                   -1,
		"\x1b[2K":                  -1,
		"\x1b[2Km":                 -1,
		"\x1b[/m":                  -1,
		"\x1b]0;t\a":               -1,
		"a\tb":                     -1,
		"\x7f":                     -1,
		"\u00ad":                   -1,
		"世":                        -1,
		"e\u0301":                  -1,
		"\xff":                     -1,
	} {
		got, ok := simpleWidth(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

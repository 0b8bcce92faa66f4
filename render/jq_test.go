package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
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

// What an expression says of a record is told without the record's values.
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

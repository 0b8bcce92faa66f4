package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Names come in the order in which a record has them, or in that in which the expression names
// them where it builds an object itself.
func TestOrderOfNames(t *testing.T) {
	t.Parallel()
	const record = `{"x":"b","l":["c"],"a":1,"b":{"z":2,"y":3},"c":3}`
	for _, test := range []struct{ expression, want string }{
		{".", record},
		{"[., 1]", "[" + record + ",1]"},
		{"del(.x, .l, .b)", `{"a":1,"c":3}`},
		{". + {d: 1} | del(.x, .l, .b)", `{"a":1,"c":3,"d":1}`},
		{". + {bb: 1} | del(.x, .l, .b)", `{"a":1,"c":3,"bb":1}`},
		{". + {zz: 1, dd: 2} | del(.x, .l, .b)", `{"a":1,"c":3,"zz":1,"dd":2}`},
		{"{c, a}", `{"c":3,"a":1}`},
		{"{zz: .a, aa: .c, c}", `{"zz":1,"aa":3,"c":3}`},
		{"{cc: .a, c: .c, aa: .c}", `{"cc":1,"c":3,"aa":3}`},
		{"{}", `{}`},
		{"[]", `[]`},
		{"{c, a} | [.c, .a]", `[3,1]`},
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

// A name in an expression is a word of its own: no part of another, no field and no variable.
func TestPlaceOfAName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		expression string
		want       int
	}{
		{"ab", 0},
		{" ab", 1},
		{"{ab:1}", 1},
		{"xab ab", 4},
		{"abx ab", 4},
		{".ab ab", 4},
		{"$ab ab", 4},
		{"abab", 4},
		{"x", 1},
	} {
		if got := (&keyOrder{expression: test.expression}).position("ab"); got != test.want {
			t.Errorf("%q: got %d, want %d", test.expression, got, test.want)
		}
	}
	for c := range 256 {
		if got, want := isWordByte(byte(c)), strings.IndexByte("_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", byte(c)) >= 0; got != want {
			t.Errorf("%q: got %t, want %t", rune(c), got, want)
		}
	}
}

// The names of the first hundred records are noted.
func TestNotedNames(t *testing.T) {
	t.Parallel()
	k := &keyOrder{}
	for n := range 101 {
		k.note(fmt.Appendf(nil, `{"n%d":%d`, n, n)) // What is cut has names, too.
	}
	if k.rank["n0"] != 1 || k.rank["n99"] != 100 || k.rank["n100"] != 0 {
		t.Errorf("got %d, %d and %d, want the first hundred in their order", k.rank["n0"], k.rank["n99"], k.rank["n100"])
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

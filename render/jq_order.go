package render

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/itchyny/gojq"
)

// keyOrder is the order of names in what a query makes. The library forgets it: objects come
// out as they were sent, and those that the expression builds in the order in which it names
// their members.
type keyOrder struct {
	expression string
	rank       map[string]int // By the first object that has the name.
	noted      int
}

// maxNoted is of how many records the names are noted: later ones have the same.
const maxNoted = 100

// note notes the names of a record.
func (k *keyOrder) note(raw []byte) {
	if k.noted++; k.noted > maxNoted {
		return
	}
	if k.rank == nil {
		k.rank = map[string]int{}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return
		}
		kind, count := dec.StackIndex(dec.StackDepth())
		if isName := kind == '{' && count%2 == 1 && token.Kind() == '"'; isName {
			if name := token.String(); k.rank[name] == 0 {
				k.rank[name] = len(k.rank) + 1
			}
		}
	}
}

// appendValue writes a value as JSON.
func (k *keyOrder) appendValue(out []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case map[string]any:
		out = append(out, '{')
		for i, name := range k.sorted(v) {
			if i > 0 {
				out = append(out, ',')
			}
			quoted, err := gojq.Marshal(name)
			if err != nil {
				return nil, err
			}
			if out, err = k.appendValue(append(append(out, quoted...), ':'), v[name]); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	case []any:
		out = append(out, '[')
		for i, element := range v {
			if i > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = k.appendValue(out, element); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	default:
		text, err := gojq.Marshal(v)
		return append(out, text...), err
	}
}

// sorted are the names of an object in their order.
func (k *keyOrder) sorted(object map[string]any) []string {
	names := slices.Sorted(maps.Keys(object))
	built := strings.Contains(k.expression, "{")
	for _, name := range names {
		built = built && strings.Contains(k.expression, name)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		if !built && (k.rank[a] > 0 || k.rank[b] > 0) {
			return cmp.Compare(cmp.Or(k.rank[a], len(k.rank)+1), cmp.Or(k.rank[b], len(k.rank)+1))
		}
		return cmp.Compare(k.position(a), k.position(b))
	})
	return names
}

// position is where the expression names a member.
func (k *keyOrder) position(name string) int {
	for at := 0; ; {
		i := strings.Index(k.expression[at:], name)
		if i < 0 {
			return len(k.expression)
		}
		at += i
		before, after := byte(' '), byte(' ')
		if at > 0 {
			before = k.expression[at-1]
		}
		if end := at + len(name); end < len(k.expression) {
			after = k.expression[end]
		}
		if !isWordByte(before) && before != '.' && before != '$' && !isWordByte(after) {
			return at
		}
		at += len(name)
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

package render

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// sortable is a record that waits for the others.
type sortable[T any] struct {
	raw    []byte
	record T
	key    string
	number *apitype.Number
}

// keep gathers a record; its text may lie in a page that is used again.
func (l *List[T]) keep(raw []byte, record T) {
	s := sortable[T]{raw: bytes.Clone(raw), record: record, key: strings.ToLower(l.order[0].Value(record))}
	if n, err := apitype.ParseNumber(s.key); err == nil {
		s.number = &n
	}
	l.kept = append(l.kept, s)
	if most := l.options.Most; most > 0 && len(l.kept) >= 2*most {
		l.sort()
	}
}

// sort puts the gathered records in their order, and lets go of those beyond the most that are written:
// numbers by their value, before texts; nothing comes last.
func (l *List[T]) sort() {
	direction := 1
	if strings.HasPrefix(l.options.SortBy, "-") {
		direction = -1
	}
	slices.SortStableFunc(l.kept, func(a, b sortable[T]) int {
		switch {
		case a.key == "" || b.key == "":
			return cmp.Compare(len(b.key), len(a.key))
		case a.number != nil && b.number != nil:
			return direction * a.number.Compare(*b.number)
		case a.number != nil:
			return -direction
		case b.number != nil:
			return direction
		default:
			return direction * strings.Compare(a.key, b.key)
		}
	})
	if most := l.options.Most; most > 0 && len(l.kept) > most {
		clear(l.kept[most:])
		l.kept, l.Cut = l.kept[:most], true
	}
}

// release writes the gathered records in their order.
func (l *List[T]) release() error {
	l.sort()
	kept := l.kept
	l.kept = nil
	for _, s := range kept {
		if err := l.write(s.raw, s.record); err != nil {
			return err
		}
	}
	return nil
}

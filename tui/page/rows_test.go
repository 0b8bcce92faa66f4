package page

import (
	"strconv"
	"testing"
	"time"
	"unsafe"
)

// A list keeps a row of every record that it has shown: what one takes is multiplied by
// 10,000.
func TestRowsAreSmall(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]uintptr{
		"call": unsafe.Sizeof(CallRow{}), "person": unsafe.Sizeof(PersonRow{}), "pledge": unsafe.Sizeof(PledgeRow{}),
	} {
		if size > 112 {
			t.Errorf("a %s takes %d bytes, want at most 112", name, size)
		}
	}
}

func TestWordsAndMoments(t *testing.T) {
	t.Parallel()
	if text := (interned{}).String(); text != "" || intern("") != (interned{}) {
		t.Errorf("the zero word: got %q, want the empty one", text)
	}
	if a, b := intern("requested"), intern("reques"+strconv.Itoa(0)[:0]+"ted"); a != b || a.String() != "requested" {
		t.Errorf("got %q and %q, want one word", a, b)
	}
	for _, at := range []time.Time{{}, time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC), time.Date(1900, 1, 1, 0, 0, 0, 1000, time.UTC)} {
		if got := newTimestamp(at).time(); !got.Equal(at) {
			t.Errorf("got %s, want %s", got, at)
		}
	}
}

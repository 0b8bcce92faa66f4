package service

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

// seedOnly is a store that answers nothing but its secret: whatever reaches for a
// record panics.
type seedOnly struct{ Store }

// SigningSeed returns a constant secret.
func (seedOnly) SigningSeed(context.Context) ([]byte, error) { return make([]byte, 32), nil }

func newTestService(t *testing.T) *Service {
	t.Helper()
	s, err := New(t.Context(), Options{Store: seedOnly{}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCursors(t *testing.T) {
	t.Parallel()
	s := newTestService(t)
	place := Position{At: apitype.TimeFromMilli(-2208988800000), UUID: apitype.NewUUID()} // 1900
	cursor := string(s.cursors(callCursor).append(nil, place))
	got, ok := s.cursors(callCursor).parse(cursor)
	if !ok || got.compare(place) != 0 {
		t.Fatalf("got %v %v, want %v", got, ok, place)
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.cursors(personCursor).parse(cursor); ok {
		t.Error("a cursor of another list was taken")
	}
	for i := range raw {
		raw[i] ^= 1
		if _, ok := s.cursors(callCursor).parse(base64.RawURLEncoding.EncodeToString(raw)); ok {
			t.Errorf("a cursor altered at byte %d was taken", i)
		}
		raw[i] ^= 1
	}
	for i := range cursor {
		if _, ok := s.cursors(callCursor).parse(cursor[:i]); ok {
			t.Errorf("a cursor cut at %d was taken", i)
		}
	}
}

// A page ends before its edges get longer than 4 MiB less a KiB, at the end that it was read towards, and has one
// row in any case. Spec gap: S32.
func TestPageIsCut(t *testing.T) {
	t.Parallel()
	const most = 4<<20 - 1<<10
	for _, test := range []struct {
		name     string
		rows     []int // How long the part of each gets.
		backward bool
		want     pageOf[int]
		bytes    int
	}{
		{"none", nil, false, pageOf[int]{}, 0},
		{"as much as may be", []int{most - 2, 1, 1}, false, pageOf[int]{rows: []int{most - 2, 1, 1}}, most},
		{"a byte more", []int{most - 1, 1, 1}, false, pageOf[int]{rows: []int{most - 1, 1}, next: true}, most},
		{"one that is longer", []int{most + 1}, false, pageOf[int]{rows: []int{most + 1}}, most + 1},
		{
			name:  "one that is longer, and another",
			rows:  []int{most + 1, 1},
			want:  pageOf[int]{rows: []int{most + 1}, next: true},
			bytes: most + 1,
		},
		{"as much as may be, backward", []int{1, 1, most - 2}, true, pageOf[int]{rows: []int{1, 1, most - 2}}, most},
		{
			name:     "a byte more, backward",
			rows:     []int{1, 1, most - 1},
			backward: true,
			want:     pageOf[int]{rows: []int{1, most - 1}, hasPrevious: true},
			bytes:    most,
		},
		{
			name:     "one that is longer, backward",
			rows:     []int{1, 2, most + 1},
			backward: true,
			want:     pageOf[int]{rows: []int{most + 1}, hasPrevious: true},
			bytes:    most + 1,
		},
	} {
		page := pageOf[int]{rows: test.rows}
		bytes := page.cut(test.backward, func(row int) int { return row })
		if diff := cmp.Diff(test.want, page, cmp.AllowUnexported(pageOf[int]{})); diff != "" || bytes != test.bytes {
			t.Errorf("%s: got %d bytes, want %d: %s", test.name, bytes, test.bytes, diff)
		}
	}
}

func FuzzCursor(f *testing.F) {
	s := new(Service)
	s.keys.known.Store(testKeys(f, 0))
	good := string(s.cursors(callCursor).append(nil, Position{At: testNow, UUID: apitype.UUID{1}}))
	f.Add(good)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		place, ok := s.cursors(callCursor).parse(text)
		if ok && string(s.cursors(callCursor).append(nil, place)) != text {
			t.Errorf("%q is read as another cursor's place", text)
		}
	})
}

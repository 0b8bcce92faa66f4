package service

import (
	"encoding/base64"
	"testing"

	"fundesk/apiclient/apitype"
)

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

package queue

import (
	"fmt"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// What is remembered holds for less than its life, and not when the clock was put back.
func TestMemo(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var m memo[int]
	m.put("calls", 7, apitype.NewTime(start), time.Second)
	for after, want := range map[time.Duration]bool{
		-time.Millisecond: false, 0: true, 999 * time.Millisecond: true, time.Second: false, time.Hour: false,
	} {
		if value, ok := m.get("calls", apitype.NewTime(start.Add(after))); ok != want || ok && value != 7 {
			t.Errorf("%s later: got %d %t, want %t", after, value, ok, want)
		}
	}
	if _, ok := m.get("pledges", apitype.NewTime(start)); ok {
		t.Error("what nobody asked for was answered")
	}
	for i := range 2000 {
		m.put(fmt.Sprint(i), i, apitype.NewTime(start), time.Hour)
	}
	if len(m.kept) > 1000 {
		t.Errorf("%d answers are remembered, want at most 1,000", len(m.kept))
	}
}

package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var testNow = apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))

// ago is a time before testNow, or after it.
func ago(d time.Duration) *apitype.Time { return new(apitype.NewTime(testNow.Add(-d))) }

// TestAgentCounts counts what users do and did since a time.
func TestAgentCounts(t *testing.T) {
	t.Parallel()
	since, user := *ago(time.Hour), apitype.NewUUID()
	call := func(n byte) apitype.UUID { return apitype.UUID{n} }
	lease := func(n byte, taken time.Duration, change func(*service.LeaseRow)) service.LeaseRow {
		l := service.LeaseRow{Type: apitype.CallWinback, SeenAt: *ago(taken), Lease: apitype.Lease{
			CallUUID: call(n), UserUUID: user, TakenAt: *ago(taken), ExpiresAt: *ago(-time.Minute),
		}, ShownAt: ago(taken)}
		change(&l)
		return l
	}
	ended := func(at time.Duration, by service.LeaseEnd) func(*service.LeaseRow) {
		return func(l *service.LeaseRow) { l.EndedAt, l.EndedBy = ago(at), by }
	}
	holds := func(*service.LeaseRow) {}
	counts := agentCounts{}
	for _, l := range []service.LeaseRow{
		lease(1, 2*time.Hour, holds), // Taken before.
		lease(2, time.Hour, holds),   // Taken at that time.
		lease(3, 30*time.Minute, holds),
		lease(4, 40*time.Minute, holds),
		lease(5, 10*time.Minute, func(l *service.LeaseRow) { l.ExpiresAt = testNow }), // It holds no more.
		lease(6, 5*time.Minute, ended(time.Minute, service.EndedByReturn)),
		lease(7, 5*time.Minute, ended(time.Minute, service.EndedByDeferral)),
		lease(8, 3*time.Hour, ended(time.Hour, service.EndedByCancel)), // Ended at that time.
		lease(9, 3*time.Hour, ended(time.Hour+time.Millisecond, service.EndedByCancel)),
		lease(10, 5*time.Minute, ended(time.Minute, service.EndedByExpiry)),
		lease(11, 5*time.Minute, ended(time.Minute, service.EndedByAttempt)), // Which is counted itself.
		lease(12, 5*time.Minute, ended(time.Minute, service.EndedByTime)),
	} {
		counts.lease(l, since, testNow)
	}
	for _, w := range []service.Work{
		{At: *ago(2 * time.Minute), Work: service.WorkAttempt},
		{At: *ago(4 * time.Minute), Work: service.WorkAttempt},
		{At: *ago(3 * time.Minute), Work: service.WorkComplete, Code: new("confirmed")},
		{At: *ago(3 * time.Minute), Work: service.WorkComplete, Code: new("confirmed")},
		{At: *ago(3 * time.Minute), Work: service.WorkComplete},
	} {
		w.User = user
		counts.work(w)
	}
	counts.work(service.Work{At: *ago(0), User: apitype.UUID{}, Work: service.WorkAttempt})
	none := apitype.QueueAgent{LastSeenAt: *ago(0), Attempts: 1, ByResult: map[string]int{}}
	want := apitype.QueueAgents{Agents: []apitype.QueueAgent{none, {
		UserUUID: user, CallUUID: new(call(3)), Type: new(apitype.CallWinback), TakenAt: ago(30 * time.Minute), LastSeenAt: *ago(2 * time.Minute),
		Taken: 9, Released: 2, Cancelled: 1, Expired: 1, Attempts: 2, Completed: 3, ByResult: map[string]int{"confirmed": 2},
	}}}
	if diff := cmp.Diff(want, counts.answer()); diff != "" {
		t.Error(diff)
	}
}

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

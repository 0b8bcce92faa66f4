package service

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

// ago returns a time before testNow, or after it.
func ago(d time.Duration) *apitype.Time { return new(apitype.NewTime(testNow.Add(-d))) }

// TestQueueRowIsReady lists when a call may be given, and whether that time has changed. Spec gaps: C5, S34.
func TestQueueRowIsReady(t *testing.T) {
	t.Parallel()
	const never = time.Duration(1 << 62)
	tests := []struct {
		name     string
		row      QueueRow
		eligible time.Duration // Before testNow.
	}{
		{"requested now", QueueRow{RequestedAt: testNow}, 0},
		{"requested later", QueueRow{RequestedAt: testLater}, -45 * time.Minute},
		{"requested before", QueueRow{RequestedAt: *ago(time.Hour)}, time.Hour},
		{"rung 4 h ago", QueueRow{RequestedAt: *ago(5 * time.Hour), ContactedAt: ago(4 * time.Hour)}, 0},
		{
			name:     "rung almost 4 h ago",
			row:      QueueRow{RequestedAt: *ago(5 * time.Hour), ContactedAt: ago(4*time.Hour - time.Millisecond)},
			eligible: -time.Millisecond,
		},
		{"rung long ago", QueueRow{RequestedAt: *ago(time.Hour), ContactedAt: ago(6 * time.Hour)}, time.Hour},
		{"due later", QueueRow{RequestedAt: *ago(time.Hour), DueAt: ago(-time.Hour)}, -time.Hour},
		{"due before it was requested", QueueRow{RequestedAt: *ago(time.Hour), DueAt: ago(2 * time.Hour)}, time.Hour},
		{"leased", QueueRow{RequestedAt: *ago(time.Hour), LeasedUntil: ago(-time.Minute)}, -time.Minute},
		{"opted out", QueueRow{RequestedAt: testNow, OptedOut: true}, never},
		{"its last attempt is left", QueueRow{RequestedAt: testNow, Attempts: 2, MaxAttempts: new(3)}, 0},
		{"no attempt is left", QueueRow{RequestedAt: testNow, Attempts: 3, MaxAttempts: new(3)}, never},
		{"more attempts than there may be", QueueRow{RequestedAt: testNow, Attempts: 4, MaxAttempts: new(3)}, never},
		{
			name: "external, with as many attempts",
			row:  QueueRow{RequestedAt: testNow, Attempts: 4, MaxAttempts: new(3), External: true},
		},
		{"with as many attempts as any", QueueRow{RequestedAt: testNow, Attempts: 1000, External: true}, never},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			row := test.row
			row.refresh(testNow)
			if test.eligible == never {
				if row.EligibleAt != nil || row.Ready {
					t.Errorf("got it eligible at %v, ready: %t, want never", row.EligibleAt, row.Ready)
				}
			} else if want := ago(test.eligible); row.EligibleAt == nil ||
				!row.EligibleAt.Equal(*want) ||
				row.Ready != (test.eligible >= 0) {
				t.Errorf("got it eligible at %v, ready: %t, want at %v", row.EligibleAt, row.Ready, want)
			}
			if row.refresh(testNow) {
				t.Error("got another time when nothing had changed")
			}
		})
	}
	for name, known := range map[string]QueueRow{
		"another time":         {EligibleAt: ago(time.Hour), Ready: true},
		"a time where none is": {EligibleAt: nil, Ready: true},
		"that has not come":    {EligibleAt: ago(0), Ready: false},
	} {
		known.RequestedAt = testNow
		if !known.refresh(testNow) {
			t.Errorf("%s: got no change", name)
		}
	}
	gone := QueueRow{RequestedAt: testNow, OptedOut: true, EligibleAt: ago(0)}
	if !gone.refresh(testNow) {
		t.Error("a call that sleeps and is not to be given: got no change")
	}
}

// TestLastContact finds when a person was contacted last: by an attempt, a completion or the lease
// that it ended, not what is too long ago to matter, and nothing that lies ahead.
func TestLastContact(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		attempts         []time.Duration // Before testNow.
		completed, taken *apitype.Time
		want             *apitype.Time
	}{
		{"never", nil, nil, nil, nil},
		{"an hour ago", []time.Duration{time.Hour}, nil, nil, ago(time.Hour)},
		{"twice", []time.Duration{2 * time.Hour, time.Hour}, nil, nil, ago(time.Hour)},
		{"twice, the last first", []time.Duration{time.Hour, 2 * time.Hour}, nil, nil, ago(time.Hour)},
		{"4 h ago", []time.Duration{4 * time.Hour}, nil, nil, ago(4 * time.Hour)},
		{"more than 4 h ago", []time.Duration{4*time.Hour + time.Millisecond}, nil, nil, nil},
		{"in an hour", []time.Duration{2 * time.Hour, -time.Hour}, nil, nil, ago(0)},
		{"completed", nil, ago(time.Minute), nil, ago(time.Minute)},
		{"completed after an attempt", []time.Duration{time.Hour}, ago(time.Minute), nil, ago(time.Minute)},
		{"completed in an hour", nil, ago(-time.Hour), nil, ago(0)},
		{"dated before its lease", []time.Duration{5 * time.Hour}, nil, ago(time.Minute), ago(time.Minute)},
		{"dated after its lease", []time.Duration{time.Second}, nil, ago(time.Minute), ago(time.Second)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var attempts []apitype.CallAttempt
			for _, before := range test.attempts {
				attempts = append(attempts, apitype.CallAttempt{AttemptAt: *ago(before)})
			}
			got := lastContact(attempts, test.completed, test.taken, testNow)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEndOfTokens lists until when a token is accepted. Spec gap: A5.
func TestEndOfTokens(t *testing.T) {
	t.Parallel()
	account := apitype.NewUUID()
	tests := []struct {
		name           string
		expires, ended *apitype.Time
		ofAccount      bool // It names its account alone.
		end            *apitype.Time
		isGood         bool // At testNow.
	}{
		{"that lasts", ago(-time.Hour), nil, false, ago(-time.Hour), true},
		{
			name:    "within the leeway",
			expires: ago(30*time.Second - time.Millisecond),
			end:     ago(30*time.Second - time.Millisecond),
			isGood:  true,
		},
		{"past the leeway", ago(30 * time.Second), nil, false, ago(30 * time.Second), false},
		{"that ends before", ago(-time.Hour), ago(-time.Minute), false, ago(-time.Minute), true},
		{"that ended", ago(-time.Hour), ago(0), false, ago(0), false},
		{"that expires first", ago(-time.Minute), ago(-time.Hour), false, ago(-time.Minute), true},
		{"of whose end nobody knows", nil, nil, false, nil, true},
		{"that ends, of whose end nobody knows", nil, ago(-time.Minute), false, ago(-time.Minute), true},
		{"of an earlier version, one of which expired", ago(time.Hour), nil, true, ago(time.Hour), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			token := IssuedToken{
				UUID:      apitype.NewUUID(),
				Account:   account,
				ExpiresAt: test.expires,
				EndedAt:   test.ended,
			}
			if test.ofAccount {
				token.UUID = account
			}
			if diff := cmp.Diff(test.end, token.End()); diff != "" {
				t.Errorf("its end: %s", diff)
			}
			if got := token.isGood(testNow.Time); got != test.isGood {
				t.Errorf("got it accepted: %t, want %t", got, test.isGood)
			}
		})
	}
}

// An account that asks for much waits for itself: others come next, in turn, however many of its
// requests wait.
// Promise S32: the next turn is of the account that has the fewest.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(2)
		names := map[string]context.Context{}
		for _, name := range []string{"greedy", "a", "b"} {
			names[name] = WithRequest(t.Context(), Request{Account: apitype.NewUUID()})
		}
		var order []string
		ask := func(n int, name string) (end func()) {
			done := make(chan struct{})
			go func() {
				if err := turns.Take(names[name]); err != nil {
					t.Error(err)
				}
				order = append(order, fmt.Sprint(name, n))
				<-done
				turns.End(names[name])
			}()
			synctest.Wait()
			return func() {
				close(done)
				synctest.Wait()
			}
		}
		var ends []func()
		for n, name := range []string{"greedy", "greedy", "greedy", "greedy", "a", "a", "b"} {
			ends = append(ends, ask(n, name))
		}
		if turns.TryTake(names["b"]) || turns.Held() != 2 {
			t.Errorf("got %d turns, want 2 and no more", turns.Held())
		}
		gone, cancel := context.WithCancel(names["b"])
		cancel()
		if err := turns.Take(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v for a caller who has gone", err)
		}
		for _, first := range []int{0, 1, 4, 6, 5, 2, 3} { // Each has its turn when it ends.
			ends[first]()
		}
		want := []string{"greedy0", "greedy1", "a4", "b6", "greedy2", "a5", "greedy3"}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Error(diff)
		}
		if turns.Held() != 0 || len(turns.accounts) != 0 {
			t.Errorf("got %d turns of %d accounts in the end, want none", turns.Held(), len(turns.accounts))
		}
	})
}

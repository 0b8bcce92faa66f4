package service

import (
	"testing"
	"testing/synctest"
	"time"

	"fundesk/apiclient/apitype"
)

// TestTakeGroups lets takes come while others wait, are made, and have ended.
func TestTakeGroups(t *testing.T) {
	t.Parallel()
	var groups takeGroups
	come := func(asked string, request apitype.UUID) (*takeGroup, bool) {
		return groups.join(asked, &taking{request: apitype.TakeRequest{RequestUUID: request}})
	}
	waits, first := come("a", apitype.NewUUID())
	if !first || waits.before != nil {
		t.Error("who comes alone does not go first, or waits for somebody")
	}
	for n := 2; n <= 16; n++ {
		if joined, first := come("a", apitype.NewUUID()); first || joined != waits {
			t.Errorf("take %d of one kind is not made with the others", n)
		}
	}
	same := apitype.NewUUID()
	other, first := come("b", same)
	if !first || other.before != nil {
		t.Error("a take of another kind is made with these, or after them")
	}
	if again, first := come("b", same); !first || again.before != other.done {
		t.Error("a request is made beside itself")
	}
	full, first := come("a", apitype.NewUUID())
	if !first || full.before != waits.done {
		t.Error("a full group is joined, or not waited for")
	}
	if got := len(groups.begin(full)); got != 1 {
		t.Errorf("got %d takes in a new group, want 1", got)
	}
	after, first := come("a", apitype.NewUUID())
	if !first || after.before != full.done {
		t.Error("a group is joined that has begun, or not waited for")
	}
	for _, g := range []*takeGroup{waits, full, after} {
		groups.end("a", g)
	}
	if alone, first := come("a", apitype.NewUUID()); !first || alone.before != nil {
		t.Error("who comes when all have ended waits for somebody")
	}
}

// The group before is waited for 50 ms at most, so that a slow commit holds up no more than those
// in it.
func TestSlowGroupIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		before := make(chan struct{})
		g := &takeGroup{before: before}
		began := time.Now()
		g.await()
		if waited := time.Since(began); waited != 50*time.Millisecond {
			t.Errorf("got %v for a group that does not end, want 50ms", waited)
		}
		close(before)
		began = time.Now()
		if g.await(); time.Since(began) != 0 {
			t.Errorf("got %v for a group that has ended, want none", time.Since(began))
		}
	})
}

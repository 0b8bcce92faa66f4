package apitype

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDeferRequestBounds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	for after, want := range map[time.Duration]int{-time.Millisecond: 1, 0: 0, 400 * 24 * time.Hour: 0, 400*24*time.Hour + time.Millisecond: 1} {
		r := DeferRequest{NotBefore: new(NewTime(now.Add(after)))}
		if got := r.Validate(now); len(got) != want {
			t.Errorf("%v: got %v, want %d violations", after, got, want)
		}
	}
	if got := new(DeferRequest).Validate(now); len(got) > 0 {
		t.Errorf("got %v without a time", got)
	}
}

// TestQueueOptionsComeBack writes options as parameters and reads them.
func TestQueueOptionsComeBack(t *testing.T) {
	t.Parallel()
	id := MustParseUUID("5d0c1f7e-9f5b-4b5e-8a38-0f7a3a1d9b11")
	want := QueueCallListOptions{
		QueueOptions: QueueOptions{UserUUID: &id, QueueFilter: QueueFilter{Types: CallTypes, Languages: []string{"de", "nl"}, OwningOrganizationUUIDs: []UUID{id, id}}},
		First:        new(7), After: "abc",
	}
	got, violations := ParseQueueCallListOptions(want.Query())
	if diff := cmp.Diff(want, got); diff != "" || len(violations) > 0 {
		t.Errorf("%s %v", diff, violations)
	}
	calls := CallListOptions{Statuses: []CallStatus{CallRequested, CallExpired}}
	if got, violations := ParseCallListOptions(calls.Query()); len(violations) > 0 || !cmp.Equal(got.Statuses, calls.Statuses) {
		t.Errorf("got %v %v", got, violations)
	}
	if _, violations := ParseCallListOptions(map[string][]string{"status": {"requested,open"}}); len(violations) != 1 || violations[0].Parameter != "status" {
		t.Errorf("got %v", violations)
	}
}

package privacy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var (
	testNow   = apitype.NewTime(time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC))
	testLater = apitype.NewTime(testNow.Add(45 * time.Minute))
)

// ago returns a time before testNow.
func ago(d time.Duration) *apitype.Time { return new(apitype.NewTime(testNow.Add(-d))) }

// TestReasons lists reasons that an erasure refuses, and close ones that it accepts.
func TestReasons(t *testing.T) {
	t.Parallel()
	const notValid = "the request has values that are not valid: "
	for _, test := range []struct{ name, reason, want string }{
		{"no reason", " ", notValid + "reason is required"},
		{"a long reason", " " + strings.Repeat("é", 1000) + " ", ""},
		{"a longer reason", strings.Repeat("é", 1001), notValid + "reason must have 1000 characters at most"},
		{"a reason with a NUL", "a\x00", notValid + "reason must not contain a NUL character"},
	} {
		got := ""
		if err := check(apitype.EraseRequest{Reason: test.reason}); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestWhoIsOver lists the persons without anything to come. Retention erases no others.
func TestWhoIsOver(t *testing.T) {
	t.Parallel()
	now, old := testNow, *ago(time.Millisecond)
	person := func(created apitype.Time) service.PersonRow { return service.PersonRow{CreatedAt: created} }
	call := func(requested, updated apitype.Time) []service.CallRow {
		return []service.CallRow{{RequestedAt: old, UpdatedAt: old}, {RequestedAt: requested, UpdatedAt: updated}}
	}
	pledge := func(status apitype.PledgeStatus, updated apitype.Time) []service.PledgeRow {
		return []service.PledgeRow{
			{Status: apitype.PledgeDropped, UpdatedAt: old},
			{Status: status, UpdatedAt: updated},
		}
	}
	for _, test := range []struct {
		name  string
		kept  service.Kept
		leads bool
		want  bool
	}{
		{"a lead", service.Kept{Person: person(old)}, true, true},
		{"a lead, as a person", service.Kept{Person: person(old)}, false, false},
		{"a lead made then", service.Kept{Person: person(now)}, true, false},
		{"a lead who was erased", service.Kept{Person: person(old), ErasedAt: &old}, true, false},
		{"a lead with calls", service.Kept{Person: person(old), Calls: call(old, old)}, true, true},
		{
			name:  "a lead with a call that waits",
			kept:  service.Kept{Person: person(old), Calls: call(old, old), Waiting: 1},
			leads: true,
		},
		{"a lead with a call of then", service.Kept{Person: person(old), Calls: call(now, old)}, true, false},
		{"a lead with a call that changed then", service.Kept{Person: person(old), Calls: call(old, now)}, true, false},
		{"a person", service.Kept{Person: person(old), Pledges: pledge(apitype.PledgeFulfilled, old)}, false, true},
		{
			name:  "a person, as a lead",
			kept:  service.Kept{Person: person(old), Pledges: pledge(apitype.PledgeFulfilled, old)},
			leads: true,
		},
		{
			name: "a person with a pledge to be released",
			kept: service.Kept{Person: person(old), Pledges: pledge(apitype.PledgeLead, old)},
		},
		{
			name: "a person with a pledge that holds",
			kept: service.Kept{Person: person(old), Pledges: pledge(apitype.PledgeActive, old)},
		},
		{
			name: "a person with a pledge that ended then",
			kept: service.Kept{Person: person(old), Pledges: pledge(apitype.PledgeCancelled, now)},
		},
	} {
		if got := isOver(test.kept, service.RetainQuery{Before: now, Leads: test.leads}); got != test.want {
			t.Errorf("%s: got it over: %t, want %t", test.name, got, test.want)
		}
	}
}

// TestErasureCounts counts the records of a person, and the live leases. An erased person has none.
func TestErasureCounts(t *testing.T) {
	t.Parallel()
	id := apitype.NewUUID()
	lease := func(expires apitype.Time, ended *apitype.Time) service.LeaseRow {
		return service.LeaseRow{Lease: apitype.Lease{ExpiresAt: expires}, EndedAt: ended}
	}
	kept := service.Kept{
		Person:       service.PersonRow{UUID: id},
		Calls:        make([]service.CallRow, 1),
		Pledges:      make([]service.PledgeRow, 2),
		Transactions: make([]service.TransactionRow, 3),
		Signatures:   make([]service.SignatureRow, 4),
		Waiting:      5,
		Leases: []service.LeaseRow{
			lease(testLater, nil),
			lease(testLater, nil),
			lease(testNow, nil),
			lease(testLater, &testNow),
		},
	}
	want := Erasure{
		PersonUUID:   id,
		ErasedAt:     testNow,
		Calls:        1,
		Pledges:      2,
		Transactions: 3,
		Signatures:   4,
		Waiting:      5,
		Leases:       2,
	}
	if diff := cmp.Diff(want, erasureOf(kept, testNow)); diff != "" {
		t.Error(diff)
	}
	kept.ErasedAt = ago(time.Hour)
	diff := cmp.Diff(Erasure{PersonUUID: id, ErasedAt: *ago(time.Hour), Repeated: true}, erasureOf(kept, testNow))
	if diff != "" {
		t.Error(diff)
	}
}

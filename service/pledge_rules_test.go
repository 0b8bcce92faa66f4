package service

import (
	"fmt"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// TestPledgeActions walks state × action × mode × released × ended. Spec gap: G1.
func TestPledgeActions(t *testing.T) {
	t.Parallel()
	to := map[apitype.PledgeAction]apitype.PledgeStatus{
		apitype.ActionActivate: apitype.PledgeActive,
		apitype.ActionDrop:     apitype.PledgeDropped,
		apitype.ActionCancel:   apitype.PledgeCancelled,
		apitype.ActionFulfill:  apitype.PledgeFulfilled,
	}
	allowed := func(from apitype.PledgeStatus, action apitype.PledgeAction, released, ended bool) bool {
		switch fmt.Sprint(from, " ", action) {
		case "lead activate", "lead cancel":
			return released
		case "lead drop":
			return !released
		case "active cancel":
			return true
		case "active fulfill":
			return ended
		default:
			return false
		}
	}
	truths := []bool{false, true}
	for _, from := range apitype.PledgeStatuses {
		for _, action := range apitype.PledgeActions {
			for _, external := range truths {
				for _, isReleased := range truths {
					for _, ended := range truths {
						name := fmt.Sprintf("%s %s, external %v, released %v, ended %v",
							action, from, external, isReleased, ended)
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							row, pledge := pledgeIn(from, external, isReleased, ended)
							err := actOnPledge(&row, &pledge, action, testLater)
							switch {
							case from == to[action]:
								if err != nil || !pledge.UpdatedAt.Equal(testNow) {
									t.Errorf("got %v, updated %v, want the pledge as it was", err, pledge.UpdatedAt)
								}
							case external || allowed(from, action, isReleased, ended):
								if err != nil || pledge.Status != to[action] || !pledge.UpdatedAt.Equal(testLater) {
									t.Errorf("got %v and %s, want %s", err, pledge.Status, to[action])
								}
							default:
								if KindOf(err) != Conflict || pledge.Status != from {
									t.Errorf("got %v and %s, want a conflict and %s", err, pledge.Status, from)
								}
							}
						})
					}
				}
			}
		}
	}
}

// pledgeIn returns a pledge in a state.
func pledgeIn(status apitype.PledgeStatus, external, isReleased, ended bool) (PledgeRow, apitype.Pledge) {
	row := PledgeRow{
		External:   external,
		Private:    []byte(`{}`),
		ReleasedAt: new(apitype.NewTime(testLater.Add(time.Hour))),
	}
	if isReleased {
		row.ReleasedAt = new(testLater) // The very moment counts.
	}
	pledge := apitype.Pledge{Status: status, UpdatedAt: testNow}
	if ended {
		pledge.EndsAt = new(testLater)
	}
	return row, pledge
}

func TestDroppedPledgeIsNeverReleased(t *testing.T) {
	t.Parallel()
	row, pledge := pledgeIn(apitype.PledgeLead, false, false, false)
	if err := actOnPledge(&row, &pledge, apitype.ActionDrop, testLater); err != nil {
		t.Fatal(err)
	}
	if row.ReleasedAt != nil || released(row, apitype.NewTime(testLater.AddDate(1, 0, 0))) {
		t.Errorf("got release time %v, want none", row.ReleasedAt)
	}
}

// TestPledgeEnds finds when a pledge ended: the latest time that is known of its end.
// Promise S84: without one it is the last change of status, whatever was changed since.
func TestPledgeEnds(t *testing.T) {
	t.Parallel()
	before, after := ago(48*time.Hour), ago(24*time.Hour)
	tests := []struct {
		name    string
		status  apitype.PledgeStatus
		endsAt  *apitype.Time
		private pledgePrivate
		want    *apitype.Time
	}{
		{"a lead has not ended", apitype.PledgeLead, before, pledgePrivate{}, nil},
		{
			name:    "nor has an active pledge that was cancelled before",
			status:  apitype.PledgeActive,
			private: pledgePrivate{CancelledAt: before},
		},
		{"at the end that was agreed", apitype.PledgeFulfilled, before, pledgePrivate{StatusAt: after}, before},
		{"at the cancellation", apitype.PledgeCancelled, before, pledgePrivate{CancelledAt: after}, after},
		{"at the end, later than the drop", apitype.PledgeDropped, after, pledgePrivate{DroppedAt: before}, after},
		{
			name:    "at the fulfilment",
			status:  apitype.PledgeFulfilled,
			private: pledgePrivate{FulfilledAt: before, StatusAt: after},
			want:    before,
		},
		{"when the status changed", apitype.PledgeCancelled, nil, pledgePrivate{StatusAt: before}, before},
		{"at the last update, where nothing is known", apitype.PledgeCancelled, nil, pledgePrivate{}, &testNow},
	}
	for _, test := range tests {
		pledge := apitype.Pledge{Status: test.status, EndsAt: test.endsAt, UpdatedAt: testNow}
		if got := test.private.end(pledge); !equalTimes(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
	row, pledge := pledgeIn(apitype.PledgeActive, false, true, false)
	if err := actOnPledge(&row, &pledge, apitype.ActionCancel, testNow); err != nil {
		t.Fatal(err)
	}
	pledge.UpdatedAt = testLater // An update of another field.
	if err := row.write(pledge); err != nil || !equalTimes(row.EndedAt, &testNow) {
		t.Errorf("got %v %v, want the time of the cancellation", row.EndedAt, err)
	}
}

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
						name := fmt.Sprintf("%s %s, external %v, released %v, ended %v", action, from, external, isReleased, ended)
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

// pledgeIn is a pledge in a state.
func pledgeIn(status apitype.PledgeStatus, external, isReleased, ended bool) (PledgeRow, apitype.Pledge) {
	row := PledgeRow{External: external, ReleasedAt: new(apitype.NewTime(testLater.Add(time.Hour)))}
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

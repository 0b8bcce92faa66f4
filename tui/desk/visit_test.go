package desk

import (
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// Each event leads from one state of a visit to another.
func TestStatesOfAVisit(t *testing.T) {
	t.Parallel()
	show := func(v *visit) { v.show(callRead{call: apitype.Call{}}, false) }
	none := func(v *visit) { v.setNoneLeft(true) }
	some := func(v *visit) { v.setNoneLeft(false) }
	for _, test := range []struct {
		name     string
		event    func(*visit)
		from, to state
	}{
		{"the source has none", none, stateWaiting, stateNoneLeft},
		{"the source has some again", some, stateNoneLeft, stateWaiting},
		{"the source has none for an agent who waits for none", none, stateEmpty, stateEmpty},
		{"the source has none after the call on the Desk", none, stateRead, stateRead},
		{"an opened call was read", show, stateOpening, stateRead},
		{"a listed call was read", show, stateListed, stateRead},
		{"a call was read again", show, stateRead, stateRead},
		{"a listed call is old", (*visit).sleep, stateListed, stateListedStale},
		{"a call that was read is old", (*visit).sleep, stateRead, stateReadStale},
		{"it is older still", (*visit).sleep, stateReadStale, stateReadStale},
		{"a listed call and its lease were read after a sleep", (*visit).refresh, stateListedStale, stateListed},
		{"a call and its lease were read after a sleep", (*visit).refresh, stateReadStale, stateRead},
		{"an opened call and its lease were read", (*visit).refresh, stateOpening, stateOpening},
		{"a listed call was read without an answer about its lease", show, stateListedStale, stateReadStale},
		{"a call was read without an answer about its lease", show, stateReadStale, stateReadStale},
	} {
		v := &visit{state: test.from}
		test.event(v)
		servicetest.Same(t, test.name, test.to, v.state)
	}
}

package desk

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// requested returns an open call of a person of its own, n hours ago.
func requested(n int) apitype.Call {
	return apitype.Call{
		UUID:        callID(n),
		PersonUUID:  callID(100 + n),
		Status:      apitype.CallRequested,
		Type:        apitype.CallHappy,
		RequestedAt: apitype.NewTime(morning.Add(-time.Duration(n) * time.Hour)),
	}
}

func TestStaleResultsAreDropped(t *testing.T) {
	t.Parallel()
	d := newDay()
	d.Take(callID(1))
	first := d.reading
	d.Take(callID(2))
	d.onReread(callRead{reading: first, call: apitype.Call{UUID: callID(1)}}, nil)
	if d.Call != nil {
		t.Errorf("got call %s, want none yet", d.Call.UUID)
	}
	d.onReread(callRead{reading: d.reading, call: apitype.Call{UUID: callID(2)}}, nil)
	if !d.IsOn(callID(2)) {
		t.Errorf("got %+v, want the second call", d.Call)
	}
}

package tui

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// A list is mostly calls that ended: the queue counts their results and keeps nothing
// else of them, also when they end while they wait.
func TestQueueKeepsNothingOfEndedCalls(t *testing.T) {
	t.Parallel()
	code := "confirmed"
	ended := func(n int) apitype.Call {
		c := apitype.Call{UUID: callID(n), Status: apitype.CallCompleted}
		c.Result = apitype.Embed(apitype.CallResult{ResultCode: &code})
		return c
	}
	q := newQueue(time.Now())
	for n := range 100 {
		q.learn(ended(n))
	}
	q.learn(apitype.Call{UUID: callID(100), Status: apitype.CallRequested})
	if len(q.candidates) != 1 || len(q.known) != 1 || q.codes[code] != 100 {
		t.Errorf("got %d candidates, %d known calls and %v, want one, one, and 100 results", len(q.candidates), len(q.known), q.codes)
	}
	q.learn(ended(100))
	if len(q.candidates) != 0 || len(q.known) != 0 {
		t.Errorf("got %d candidates and %d known calls, want none", len(q.candidates), len(q.known))
	}
}

package tui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// Two agents of one service have a callback each. Each pane lists the agent's own alone, and each bell rings for that.
func TestCallbacksOfTwoAgents(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	due := apitype.NewTime(w.Clock.Now().Add(5 * time.Minute))
	reasons := []string{"after work", "before lunch"}
	desks, logs := make([]*driver, len(reasons)), make([]bytes.Buffer, len(reasons))
	for i, reason := range reasons {
		agent := ids(0xe1, i+1)
		request := apitype.DeferRequest{NotBefore: &due, UserUUID: &agent, Reason: &reason}
		servicetest.Check(t, w.client.Queue.Later(t.Context(), callID(4+i), request))
		w.connect(t, t.TempDir())
		w.options.Agent, w.options.Log = &agent, &logs[i]
		desks[i] = newDriver(t, w.options)
		desks[i].send(tea.WindowSizeMsg{Width: 200, Height: 50})
	}
	for range 4 * 60 {
		w.Clock.Advance(time.Second)
		for _, d := range desks {
			d.send(ticked{})
		}
	}
	for i, d := range desks {
		d.sees("My callbacks · 1", reasons[i])
		d.lacks(reasons[1-i])
		if n := strings.Count(logs[i].String(), "message: tea.RawMsg"); n != 1 {
			t.Errorf("desk %d: the bell rang %d times, want once", i, n)
		}
	}
}

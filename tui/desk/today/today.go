// Package today has the work of the agent since midnight, in this session and, if the service reports it, before and
// elsewhere.
package today

import (
	"context"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pause"
)

// readEvery is the time after which the work is read again.
const readEvery = time.Minute

// Work has the work of the agent since midnight. Set the exported fields once.
type Work struct {
	Events   *event.Queue
	Client   *apiclient.Client
	Now      func() time.Time
	Agent    func() apitype.UUID
	Pause    *pause.Pause   // It learns the state that the service has for the agent.
	IsEmpty  func() bool    // No call is on the Desk, and none is being read for it.
	Accepted map[string]int // The accepted changes of this session, by operation.

	askedAt         time.Time
	missed, reached int // Without the changes of this session that the service had accepted by then.
}

// Counts returns how many calls the agent has made today, and how many donors were reached.
func (w *Work) Counts() (called, reached int) {
	reached = w.reached + w.Accepted[apiclient.OpCompleteCall]
	return reached + w.missed + w.Accepted[apiclient.OpAddAttempt], reached
}

// IsAsked reports whether the service was asked.
func (w *Work) IsAsked() bool { return !w.askedAt.IsZero() }

// IsOld reports whether the work must be read again.
func (w *Work) IsOld() bool { return w.Now().Sub(w.askedAt) >= readEvery }

// Read asks what the agent has done today. An account that may not know counts this session.
func (w *Work) Read() {
	w.askedAt = w.Now()
	year, month, day := w.askedAt.Local().Date()
	since := apitype.NewTime(time.Date(year, month, day, 0, 0, 0, 0, time.Local))
	agent, changes := w.Agent(), w.Pause.Changes()
	options := apitype.QueueAgentsOptions{Since: &since}
	if w.Client.Announces(apitype.ExtensionAgentsByUser) { // Other services count all agents.
		options.UserUUID = &agent
	}
	event.Do(w.Events, "work of the day read", func(ctx context.Context) (apitype.QueueAgents, error) {
		return apiclient.Decoded(w.Client.Queue.Agents(ctx, options))
	}, func(answer apitype.QueueAgents, err error) {
		if err != nil {
			return
		}
		own := apitype.QueueAgent{}
		isOwn := func(a apitype.QueueAgent) bool { return a.UserUUID == agent }
		if i := slices.IndexFunc(answer.Agents, isOwn); i >= 0 {
			own = answer.Agents[i]
		}
		w.Pause.OnOwnState(own, changes, w.IsEmpty())
		w.missed = max(own.Attempts-w.Accepted[apiclient.OpAddAttempt], 0)
		w.reached = max(own.Completed-w.Accepted[apiclient.OpCompleteCall], 0)
	})
}

package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/callbacks"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/debounce"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/lease"
	"fundesk/tui/desk/pause"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/refused"
	"fundesk/tui/desk/transition"
)

// newBase returns what all parts share. onLogin is called when the service accepts the token again.
func newBase(o Options, onLogin func()) *base {
	b := &base{Options: o, Queue: event.New(o.Texts)}
	b.State = connection.New(b.Queue, onLogin)
	b.floor = &floor.Settings{
		Texts:  o.Texts,
		Events: b.Queue,
		Client: o.Client,
		Now:    b.now,
		Path:   b.Beside(".settings.json"),
	}
	return b
}

// newCurrent returns a Desk without a call. Its leases and its walk are still missing.
func newCurrent(b *base) *current {
	keys := new(debounce.Keys)
	c := &current{
		base:       b,
		visit:      new(visit),
		Changes:    newChanges(b, keys),
		Keys:       keys,
		refusedOps: map[string]bool{},
	}
	var err error
	c.Codes, err = floor.OpenCodes(b.floor, b.Results, b.ResultCodes, b.StateFile)
	if err != nil {
		b.Fail("the results of earlier calls cannot be read", err)
	}
	b.floor.IsShown = func() bool { return c.Call != nil }
	b.floor.OnChange = c.onFloor
	b.floor.Open()
	return c
}

// newChanges returns a session without changes.
func newChanges(b *base, keys *debounce.Keys) *changes.Session {
	author := changes.Author{Agent: b.Agent, ExternalSourceName: b.ExternalSourceName, Now: b.now}
	return changes.NewSession(author, &changes.Unsent{
		Texts:      b.Texts,
		Events:     b.Queue,
		Connection: b.State,
		Outbox:     b.Outbox,
		Drafts:     drafts.NewList(b.Outbox),
	}, keys)
}

// newSeat returns an empty seat, with the parts that bring calls to it.
func newSeat(c *current) *seat {
	s := &seat{current: c}
	agent := func() apitype.UUID { return s.Leases.Agent() }
	s.Pause = &pause.Pause{
		Texts:     s.Texts,
		Events:    s.Queue,
		Client:    s.Client,
		Now:       s.now,
		Agent:     agent,
		OnStart:   s.onPause,
		OnCrossed: s.onCrossedPause,
	}
	s.Callbacks = &callbacks.List{
		Texts:    s.Texts,
		Events:   s.Queue,
		Client:   s.Client,
		Now:      s.now,
		Agent:    agent,
		IsAtHand: func(call apitype.UUID) bool { return s.IsOn(call) || s.Changes.IsPending(call) },
	}
	s.Leases = s.newLeases()
	s.Changes.OnSaved = s.Leases.OnSaved
	s.Refused = s.newRefused()
	s.Transitions = &transition.Transitions{
		Texts:    s.Texts,
		Events:   s.Queue,
		Now:      s.now,
		Keys:     s.Keys,
		Pause:    s.Pause,
		Call:     func() *apitype.Call { return s.Call },
		Next:     s.next,
		OnAccept: s.Refused.Check,
	}
	s.Walk = s.newQueue()
	return s
}

// newLeases returns the leases of the Desk, which has none yet.
func (s *seat) newLeases() *lease.Leases {
	return lease.New(lease.Leases{
		Texts:      s.Texts,
		Events:     s.Queue,
		Connection: s.State,
		Client:     s.Client,
		Outbox:     s.Outbox,
		Now:        s.now,
		User:       s.Agent,
		AgentName:  s.AgentName,
		Keys:       s.Keys,
		Pause:      s.Pause,
		Callbacks:  s.Callbacks,
		Messages:   &floor.Messages{Texts: s.Texts, Events: s.Queue, AgentName: s.AgentName},
		Codes:      s.Codes,
		Desk: lease.Desk{
			Call:         func() *apitype.Call { return s.Call },
			Holder:       func() *apitype.LeaseHolder { return s.known.Holder },
			Filter:       func() apitype.QueueFilter { return s.Filter },
			IsChanged:    s.Changes.KeepsBack,
			IsWaiting:    func() bool { return s.IsWaiting() },
			MayShow:      s.mayServe,
			Present:      s.present,
			NoneLeft:     func() { s.setNoneLeft(true) },
			Serve:        s.serve,
			OnDiscovered: s.onDiscovered,
			OnFreed:      func() { s.known.IsFreed = true },
			OnPerson:     s.onPerson,
		},
	})
}

// newQueue returns the walk that chooses calls if the service has no queue.
func (s *seat) newQueue() *queue.Walk {
	return queue.New(queue.Walk{
		Texts:       s.Texts,
		Events:      s.Queue,
		Connection:  s.State,
		Client:      s.Client,
		Now:         s.now,
		MaxAttempts: s.MaxAttempts,
		Desk: queue.Desk{
			Agent:     s.Leases.Agent,
			Filter:    func() apitype.QueueFilter { return s.Filter },
			KeepsBack: s.Leases.KeepsBack,
			Wants:     s.mayServe,
			Present:   s.present,
			NoneLeft:  func(isNone bool) { s.setNoneLeft(isNone) },
			Serve:     s.serve,
			See:       s.Codes.See,
			OnNews:    s.onNews,
		},
	})
}

// newRefused returns the refused corrections, which offer their questions at the gate.
func (s *seat) newRefused() *refused.Corrections {
	return &refused.Corrections{
		Texts:      s.Texts,
		Events:     s.Queue,
		Connection: s.State,
		Client:     s.Client,
		Unsent:     s.Changes.Unsent,
		Now:        s.now,
		HasOffer:   func() bool { return s.Transitions.IsProposed() },
		MayCorrect: func(result string) bool { return s.Codes.MayBe(result, apitype.EffectCorrected) },
		Offer: func(o refused.Offer) {
			s.Transitions.Propose(transition.Transition{
				Entry: o.Entry,
				Text:  o.Text,
				Does:  o.Does,
				Run:   o.Run,
			})
		},
	}
}

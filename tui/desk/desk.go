// Package desk is the day of an agent, without a terminal: which call comes next, why not to call now, what was typed,
// and how each change ended.
//
// The methods of Day take what the agent does and what work returns. They answer with events: a Job is work to do in
// the background, whose result goes to Receive, and a Notice is a line for the agent. No method waits. The package
// knows keys by their names only. It has two faces: the terminal interface, and the accessible desk of ACCESSIBLE=1.
//
//	day := desk.New(desk.Options{Client: client, Outbox: box})
//	show(day.Begin())
//	show(day.Next())
package desk

import (
	"context"
	"slices"
	"sync"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/callbacks"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/debounce"
	"fundesk/tui/desk/donors"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/lease"
	"fundesk/tui/desk/pause"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/refused"
	"fundesk/tui/desk/say"
	"fundesk/tui/desk/today"
	"fundesk/tui/desk/transition"
)

// Options of a desk. Client and Outbox are required.
type Options struct {
	say.Texts
	Client  *apiclient.Client
	Outbox  *outbox.Outbox                              // The spool for this service and account.
	Agent   *apitype.UUID                               // Sent with attempts and results.
	Results map[apitype.CallType][]apitype.ResultChoice // From the profile, else ResultCodes.
	// From the profile. Nil means codes from the service.
	ResultCodes        []string
	MaxAttempts        int                          // Of a call. Zero if unknown.
	Languages          []string                     // ISO 639-1 codes. Nil warns of none.
	Filter             apitype.QueueFilter          // The calls that the agent takes. Zero means all.
	Agents             map[apitype.UUID]string      // Names, as far as they are known.
	Hours              card.CallingHours            // Of the countries without the default hours.
	Omitted            func() (n int, first string) // Counts unreadable records and parts. May be nil.
	ExternalSourceName string                       // Sent with processed marks.
	ConfigDir          string                       // The folder of scripts/. Empty without one.
	StateFile          string                       // Stores the Desk's state. Empty stores none.
	QuitWait           time.Duration                // For unsent changes. Zero means 5 s.
	// A program with arguments, see [NumberPlace]. Nil dials none.
	Dial []string
	Now  func() time.Time
}

// quitWait is the default time that quitting waits.
const quitWait = 5 * time.Second

// base has what the parts of a day share: the options, the events, the connection, and the settings of the floor.
type base struct {
	Options
	*event.Queue
	*connection.State
	floor *floor.Settings
}

// Ago returns a time in words, such as 29 days ago.
func (b *base) Ago(t time.Time) string { return b.Texts.Ago(t, b.Now()) }

// Day is an agent's work on one call after the other. It is not safe for concurrent use.
type Day struct {
	*base
	Changes *changes.Session
	Search  *donors.Search
	// Transitions has the changes of the call on the Desk that were not made yet.
	Transitions *transition.Transitions
	Codes       *floor.Codes
	Pause       *pause.Pause
	Refused     *refused.Corrections
	// Callbacks has the agent's callbacks.
	Callbacks *callbacks.List
	Leases    *lease.Leases // Of the queue of the service.
	Work      *today.Work
	Keys      *debounce.Keys

	*visit                  // Of the call on the Desk. Never nil.
	Accepted map[string]int // The accepted changes of this session, by operation.
	// IsRevealed shows secret values without a mask.
	IsRevealed bool
	Caller     *donors.Caller // A caller without an open call, for a question. Nil without one.

	Walk        *queue.Walk     // Chooses calls if the service has no queue.
	opening     apitype.UUID    // The call that was requested for the Desk. Zero without one.
	openedAt    int             // After how many keys it was asked for.
	askedAt     int             // After how many keys the agent asked for the call that is to come.
	scripts     card.Scripts    // Of the configuration folder.
	refusedOps  map[string]bool // Kinds of corrections that the service has forbidden this account.
	guessedTold bool
	awake       time.Time // When the desk was last seen to run, by the wall clock.
	polls       int       // One request each time, in turn for the card, what has changed, the calls and the counts.
}

// callRead is the answer to a reading of the call on the Desk, or for it.
type callRead struct {
	*reading
	call     apitype.Call
	draft    *outbox.Draft // Its entries on disk. Nil without any.
	torn     error         // Why its draft could not be read.
	opened   lease.Opened  // The answer about its lease.
	renews   bool          // The card was old.
	consents *card.Consents
}

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

func (b *base) now() time.Time { return b.Now() }

// New makes a desk; Begin sets it to work.
func New(o Options) *Day {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.QuitWait == 0 {
		o.QuitWait = quitWait
	}
	var d *Day
	b := newBase(o, func() { d.Changes.Sender.Resume() })
	d = &Day{
		base:       b,
		Changes:    newChanges(b),
		Search:     donors.NewSearch(b.Queue, b.State, o.Client),
		Keys:       new(debounce.Keys),
		visit:      new(visit),
		Accepted:   map[string]int{},
		refusedOps: map[string]bool{},
	}
	d.Changes.OnSaved = func(call apitype.UUID) { d.Leases.OnSaved(call) }
	d.Changes.OnReturn = d.onReturn
	d.Changes.OnRead = d.onOutbox
	var err error
	if d.Codes, err = floor.OpenCodes(b.floor, o.Results, o.ResultCodes, o.StateFile); err != nil {
		d.Fail("the results of earlier calls cannot be read", err)
	}
	d.floor.IsShown = func() bool { return d.Call != nil }
	d.floor.OnChange = d.onFloor
	d.floor.Open()
	d.join()
	return d
}

func newChanges(b *base) *changes.Session {
	author := changes.Author{Agent: b.Agent, ExternalSourceName: b.ExternalSourceName, Now: b.now}
	return changes.NewSession(author, &changes.Unsent{
		Texts:      b.Texts,
		Events:     b.Queue,
		Connection: b.State,
		Outbox:     b.Outbox,
		Drafts:     drafts.NewList(b.Outbox),
	})
}

// join hands each part what it needs of the others.
func (d *Day) join() {
	b := d.base
	agent := func() apitype.UUID { return d.Leases.Agent() }
	d.Pause = &pause.Pause{
		Texts:     b.Texts,
		Events:    b.Queue,
		Client:    b.Client,
		Now:       b.now,
		Agent:     agent,
		OnStart:   d.onPause,
		OnCrossed: d.onCrossedPause,
	}
	d.Callbacks = &callbacks.List{
		Texts:    b.Texts,
		Events:   b.Queue,
		Client:   b.Client,
		Now:      b.now,
		Agent:    agent,
		IsAtHand: func(call apitype.UUID) bool { return d.IsOn(call) || d.Changes.IsPending(call) },
	}
	d.Work = &today.Work{
		Events:   b.Queue,
		Client:   b.Client,
		Now:      b.now,
		Agent:    agent,
		Pause:    d.Pause,
		IsEmpty:  func() bool { return d.Call == nil && !d.IsOpening() },
		Accepted: d.Accepted,
	}
	d.Leases = d.newLeases()
	d.Refused = d.newRefused()
	d.Transitions = &transition.Transitions{
		Texts:    b.Texts,
		Events:   b.Queue,
		Now:      b.now,
		Keys:     d.Keys,
		Pause:    d.Pause,
		Call:     func() *apitype.Call { return d.Call },
		Next:     d.next,
		OnAccept: d.Refused.Check,
	}
	d.Walk = d.newQueue()
}

// newLeases returns the leases of the Desk, which has none yet.
func (d *Day) newLeases() *lease.Leases {
	return lease.New(lease.Leases{
		Texts:      d.Texts,
		Events:     d.Queue,
		Connection: d.State,
		Client:     d.Client,
		Outbox:     d.Outbox,
		Now:        d.now,
		User:       d.Agent,
		AgentName:  d.AgentName,
		Keys:       d.Keys,
		Pause:      d.Pause,
		Callbacks:  d.Callbacks,
		Messages:   &floor.Messages{Texts: d.Texts, Events: d.Queue, AgentName: d.AgentName},
		Codes:      d.Codes,
		Desk: lease.Desk{
			Call:         func() *apitype.Call { return d.Call },
			Holder:       func() *apitype.LeaseHolder { return d.holder },
			Filter:       func() apitype.QueueFilter { return d.Filter },
			IsChanged:    d.Changes.KeepsBack,
			IsWaiting:    func() bool { return d.IsWaiting() },
			MayShow:      d.mayServe,
			Present:      d.present,
			NoneLeft:     func() { d.setNoneLeft(true) },
			Serve:        d.serve,
			OnDiscovered: d.onDiscovered,
			OnFreed:      func() { d.isFreed = true },
			OnPerson:     func(holder *apitype.LeaseHolder, isBlocked *bool) { d.onPerson(holder, isBlocked) },
			OnConflict:   d.Work.Read,
		},
	})
}

// newRefused returns the refused corrections, which offer their questions at the gate.
func (d *Day) newRefused() *refused.Corrections {
	return &refused.Corrections{
		Texts:      d.Texts,
		Events:     d.Queue,
		Connection: d.State,
		Client:     d.Client,
		Unsent:     d.Changes.Unsent,
		Now:        d.now,
		HasOffer:   func() bool { return d.Transitions.IsProposed() },
		MayCorrect: func(result string) bool { return d.Codes.MayBe(result, apitype.EffectCorrected) },
		Offer: func(o refused.Offer) {
			d.Transitions.Propose(transition.Transition{Entry: o.Entry, Text: o.Text, Does: o.Does, Run: o.Run})
		},
	}
}

// newQueue returns the walk that chooses calls if the service has no queue.
func (d *Day) newQueue() *queue.Walk {
	return queue.New(queue.Walk{
		Texts:       d.Texts,
		Events:      d.Queue,
		Connection:  d.State,
		Client:      d.Client,
		Now:         d.now,
		MaxAttempts: d.MaxAttempts,
		Desk: queue.Desk{
			Agent:     d.Leases.Agent,
			Filter:    func() apitype.QueueFilter { return d.Filter },
			KeepsBack: d.Leases.KeepsBack,
			IsOn:      func(call apitype.UUID) bool { return d.IsOn(call) },
			Wants:     d.mayServe,
			Present:   d.present,
			NoneLeft:  func(isNone bool) { d.setNoneLeft(isNone) },
			Serve:     d.serve,
			See:       d.Codes.See,
			OnNews:    d.onNews,
		},
	})
}

// onOutbox follows a reading of the outbox. isLatest means that nothing has changed since.
func (d *Day) onOutbox(isLatest bool) {
	if isLatest {
		d.Leases.Reconcile(d.Changes.Entries)
		d.Refused.Check()
	}
	d.Transitions.KeepEntries(func(entry string) bool {
		return slices.ContainsFunc(d.Changes.Entries, func(e outbox.Entry) bool { return e.ID == entry })
	})
	d.serve()
}

// onFloor takes other settings of the floor in.
func (d *Day) onFloor() {
	d.results = nil
	d.pickScript()
}

// onPause clears the Desk for a pause. The queue has the call again that was there.
func (d *Day) onPause() {
	d.leave()
	d.Leases.OnPause()
	d.Leases.ReadQueue()
}

// onCrossedPause leases the call again that the agent opened while a pause was under way, which ended its lease.
func (d *Day) onCrossedPause() {
	d.Leases.OnPause()
	if d.Call != nil {
		d.unleased = d.Call.UUID
	}
	if !d.unleased.IsZero() {
		d.reread(d.unleased, d.askedAt)
	}
}

// Start runs the background work until ctx ends: the sender, and the saving of drafts. Their messages are for Receive.
func (d *Day) Start(ctx context.Context, tell func(event.Result)) *sync.WaitGroup {
	d.Changes.Sender = d.Leases.NewSender(outbox.SenderOptions{Notify: func(e outbox.Event) { tell(d.Told(e)) }})
	d.tellDrafts(tell)
	var group sync.WaitGroup
	group.Go(func() { d.Changes.Sender.Run(ctx) })
	group.Go(func() { d.Changes.Drafts.Run(ctx) })
	return &group
}

// Told returns the sender's messages for Receive.
func (d *Day) Told(e outbox.Event) event.Result {
	return event.Result{Name: "progress of an entry", TakeIn: func() {
		d.Changes.Hear(e)
		if e.Outcome == outbox.OutcomeRejected && apiclient.KindOf(e.Err) == apiclient.KindForbidden {
			d.refusedOps[e.Entry.Op] = true
		}
		d.onOutcome(e)
	}}
}

// Begin starts reading: the outbox, the queue and the scripts.
func (d *Day) Begin() []event.Event {
	d.Keys.Touch(d.Now())
	d.Changes.Read()
	d.Leases.Discover()
	event.Do(
		d.Queue,
		"scripts read",
		func(context.Context) (card.Scripts, error) { return card.ReadScripts(d.ConfigDir) },
		d.onScripts,
	)
	return d.Drain()
}

// Receive handles a result of background work, or a message.
func (d *Day) Receive(r event.Result) []event.Event {
	r.TakeIn()
	if d.Call != nil { // The first call does not wait for them.
		d.floor.Need()
	}
	if d.floor.IsRead() && !d.guessedTold && d.Call != nil {
		if rows, guessed := d.Codes.Of(d.Call); guessed < len(rows) {
			d.guessedTold = true
			d.Sayf(
				"results are guessed from earlier calls; a supervisor sets them: fundesk queue settings set --help",
			)
		}
	}
	if d.Codes.HasNew() {
		save := d.Codes.Save()
		event.Do(d.Queue, "result codes saved", func(context.Context) (any, error) {
			return nil, save()
		}, func(_ any, err error) {
			if err != nil {
				d.Fail("the results of earlier calls cannot be saved", err)
			}
		})
	}
	return d.Drain()
}

// IsReading reports whether the agent waits for a call that may come at any time.
func (d *Day) IsReading() bool {
	return d.Offline == "" && (d.state == stateWaiting || d.state == stateOpening)
}

// Offers returns the calls that come next, in their order, up to limit.
func (d *Day) Offers(limit int) []queue.Candidate { return d.source().Offers(limit) }

// Waiting returns how many requested calls are known; all reports whether there are no others.
func (d *Day) Waiting() (n int, all bool) {
	if state := d.Leases.State; state != nil {
		return state.Waiting, true
	}
	known, all := d.Walk.Known()
	return len(known), all
}

// Next shows the oldest requested call that may be dialled, as soon as it is known. It skips the call on the Desk from
// then on.
func (d *Day) Next() []event.Event { return d.leaveFor("left", "left for another call") }

// Skip passes the call on the desk over.
func (d *Day) Skip() []event.Event { return d.leaveFor("skipped", "skipped by you") }

func (d *Day) leaveFor(what, reason string) []event.Event {
	if d.Call != nil {
		d.Walk.Pass(d.Call.UUID, reason)
		d.Leases.PassOver(d.Call.UUID)
		d.holdStep(what+": "+d.Name(), apitype.UUID{})
	}
	waited := d.IsNoneLeft()
	d.next()
	if waited {
		d.Sayf("asking the service for a call…")
		d.Walk.ReadNews()
	}
	return d.Drain()
}

// serve gives the waiting agent a call, if one was read ahead.
func (d *Day) serve() { d.source().Serve() }

// Take puts a certain call on the desk.
func (d *Day) Take(id apitype.UUID) []event.Event {
	d.takeCall(id)
	return d.Drain()
}

// Resume takes the call of the latest draft.
func (d *Day) Resume() []event.Event {
	for _, draft := range d.Changes.Drafts.All {
		if !d.IsOn(draft.Call) {
			return d.Take(draft.Call)
		}
	}
	d.Sayf("the draft is open already")
	return d.Drain()
}

// leave ends the visit of the call on the Desk and begins an empty one. The draft stays.
func (d *Day) leave() {
	if d.Call != nil {
		d.Over(event.OfCall(d.Call.UUID))
		d.Transitions.CallLeft(d.Call.UUID)
	}
	d.Leases.Unlock(d.locked())
	d.floor.Apply()
	d.Changes.Drafts.FlushSoon()
	if d.HasDraft() {
		// Until the disk is read again, the draft is known from here.
		draft := d.Draft()
		draft.SavedAt = d.Now()
		d.Changes.SetDraft(draft)
	}
	d.visit = new(visit)
}

// Refresh reads the call on the Desk again, and the changes.
func (d *Day) Refresh() []event.Event {
	if d.Call != nil {
		d.reread(d.Call.UUID, d.Keys.Presses)
	} else if d.Leases.HasQueue {
		d.Leases.Check()
	}
	d.readAll()
	return d.Drain()
}

// Name returns the person of the call on the Desk.
func (d *Day) Name() string {
	if d.Call == nil {
		return ""
	}
	return card.CallName(d.Texts, *d.Call)
}

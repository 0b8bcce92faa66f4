// Package refused has the corrections that the service has refused, and the agent's decisions about them.
//
// A refused correction delays the result behind it. The agent is asked about it at once, even if an earlier Desk left
// it. Without an answer the result is sent alone after some time.
package refused

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
)

// answerTime is the time after which the result is sent without a refused correction.
const answerTime = 10 * time.Minute

// Corrections are the refused corrections of the outbox. Set the exported fields once.
type Corrections struct {
	say.Texts
	Events     *event.Queue
	Connection *connection.State
	Client     *apiclient.Client
	Unsent     *changes.Unsent
	Now        func() time.Time
	// Offer offers the agent to decide. HasOffer reports whether something is offered already.
	Offer    func(Offer)
	HasOffer func() bool
	// MayCorrect reports whether a result may confirm corrections.
	MayCorrect func(result string) bool

	since    map[string]time.Time // When each was first seen, by entry.
	asked    map[string]bool      // The agent was asked about it.
	conflict *entry.Conflict      // In the present question. Nil without one.
}

// Offer is a decision that the agent may make with one key.
type Offer struct {
	Entry string // In the outbox. Its end ends the offer.
	Text  string
	Does  string // What accepting it does.
	Run   func()
}

// Check notes which corrections are refused, and offers the first that the agent was not asked about.
func (c *Corrections) Check() {
	refused := c.Unsent.Refused()
	isGone := func(id string) bool {
		return !slices.ContainsFunc(refused, func(e outbox.Entry) bool { return e.ID == id })
	}
	maps.DeleteFunc(c.since, func(id string, _ time.Time) bool { return isGone(id) })
	maps.DeleteFunc(c.asked, func(id string, _ bool) bool { return isGone(id) })
	if c.since == nil {
		c.since, c.asked = map[string]time.Time{}, map[string]bool{}
	}
	for _, e := range refused {
		if _, known := c.since[e.ID]; !known {
			c.since[e.ID] = c.Now()
		}
		if !c.HasOffer() && c.conflict == nil && !c.asked[e.ID] {
			c.Offer(c.offerOf(e))
		}
	}
}

// offerOf returns the offer to decide about a refused correction.
func (c *Corrections) offerOf(e outbox.Entry) Offer {
	name := c.Unsent.Name(e)
	if len(e.Fields) > 0 {
		return Offer{
			Entry: e.ID,
			Text:  c.Say("%s was not sent, the record has changed", name),
			Does:  "asks which value stays",
			Run: func() {
				c.asked[e.ID] = true
				c.read(e)
			},
		}
	}
	text := c.Say("%s was refused", name)
	if e.LastError != "" {
		text += ": " + e.LastError
	}
	return Offer{
		Entry: e.ID,
		Text:  text,
		Does:  "sends the result without it",
		Run: func() {
			c.Unsent.OnDisk(func() error { return c.Unsent.Outbox.Drop(e.ID) })
			c.Events.Over(e.ID)
		},
	}
}

// SendLate sends the change behind a refused correction without it, after the agent has not answered for long enough.
// A result that confirms corrections goes on waiting.
func (c *Corrections) SendLate() {
	for _, e := range c.Unsent.Refused() {
		since, known := c.since[e.ID]
		behind := c.Unsent.Behind(e.ID)
		isLate := known && c.Now().Sub(since) >= answerTime
		if isLate && len(behind) > 0 && !slices.ContainsFunc(behind, c.confirms) {
			c.detach(e)
		}
	}
}

// detach lets the change behind a correction go without it.
func (c *Corrections) detach(e outbox.Entry) {
	text := c.Say(
		"the result was sent alone; not corrected: %s",
		c.Unsent.Name(e)+" ("+c.valuesOf(e)+")",
	)
	event.Do(
		c.Events,
		"entry detached",
		func(context.Context) (any, error) { return nil, c.Unsent.Outbox.Detach(e.ID) },
		func(_ any, err error) {
			if err != nil {
				c.Events.Fail("outbox", err)
				return
			}
			c.Events.Notify(event.Notice{
				Level: event.Failed,
				Text:  text,
				See:   event.SeeOutbox,
				Owner: e.ID,
			})
			c.Unsent.Read()
		},
	)
}

// confirms reports whether an entry completes a call with a result that confirms corrections.
func (c *Corrections) confirms(e outbox.Entry) bool {
	var request apitype.CompleteCallRequest
	if e.Op != apiclient.OpCompleteCall || apitype.DecodeExact(e.Body, &request) != nil || request.Result == nil {
		return false
	}
	return c.MayCorrect(apitype.TextOf(request.Result.ResultCode))
}

// valuesOf returns what a correction would have changed, and to which values. A secret value is left out.
func (c *Corrections) valuesOf(e outbox.Entry) string {
	whole := apitype.Call{Person: apitype.Embed(apitype.Person{}), PledgeCase: apitype.Embed(apitype.Pledge{})}
	var parts []string
	for _, f := range entry.FixesOf(e, fieldsOf(e.Body), whole) {
		part := c.Say(f.Label)
		if !f.IsSecret() {
			part += " " + f.Is
		}
		parts = append(parts, strings.TrimSpace(part))
	}
	return strings.Join(parts, ", ")
}

// fieldsOf returns the fields of a body, those in objects with a point.
func fieldsOf(body []byte) []string {
	var values map[string]any
	_ = apitype.DecodeExact(body, &values) // It was written by this program.
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		inner, isObject := values[name].(map[string]any)
		if !isObject {
			fields = append(fields, name)
			continue
		}
		for _, part := range slices.Sorted(maps.Keys(inner)) {
			fields = append(fields, name+"."+part)
		}
	}
	return fields
}

// Ask asks about a refused correction with overtaken details.
func (c *Corrections) Ask(e outbox.Entry) []event.Event {
	c.read(e)
	return c.Events.Drain()
}

// read reads the record of a refused correction as it is now, and asks about it.
func (c *Corrections) read(e outbox.Entry) {
	event.Do(c.Events, "newer record read", func(ctx context.Context) (entry.Conflict, error) {
		var call apitype.Call
		if e.Op == apiclient.OpUpdatePledge {
			record, err := c.Client.Pledges.Get(ctx, e.UUID)
			pledge, err := apiclient.Decoded(record, err)
			call.PledgeCase, call.Person = apitype.Embed(pledge), apitype.Embed(apitype.Person{})
			return entry.ConflictOf(e, record.Raw, call), err
		}
		record, err := c.Client.Persons.Get(ctx, e.UUID)
		person, err := apiclient.Decoded(record, err)
		call.Person = apitype.Embed(person)
		return entry.ConflictOf(e, record.Raw, call), err
	}, func(found entry.Conflict, err error) {
		if c.Connection.IsRead("cannot read what was changed elsewhere", err) {
			found.Name = c.Unsent.Name(e)
			c.conflict = &found
		}
	})
}

// Asks reports whether there is a question for the agent.
func (c *Corrections) Asks() bool { return c.conflict != nil }

// Next returns the detail to ask about and its record. asks is false without a question.
func (c *Corrections) Next() (whose string, f entry.Fix, asks bool) {
	if c.conflict == nil {
		return "", entry.Fix{}, false
	}
	return c.conflict.Name, c.conflict.Next(), true
}

// Keep takes the answer about Next: the correction, or the recorded value. After the last one it sends the rest of the
// correction, over the values that the agent has seen.
func (c *Corrections) Keep(ours bool) {
	decided := c.conflict
	if !decided.Keep(ours) {
		return
	}
	c.conflict = nil
	id := decided.Entry.ID
	c.Events.Over(id)
	c.Unsent.OnDisk(func() error {
		rest := decided.Rest()
		if rest.Body == nil {
			return c.Unsent.Outbox.Drop(id)
		}
		return c.Unsent.Outbox.Amend(id, rest)
	})
}

// Leave asks no more about a refused correction, which stays in the outbox as it is.
func (c *Corrections) Leave() { c.conflict = nil }

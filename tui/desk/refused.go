package desk

import (
	"context"
	"maps"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// A refused correction delays the result behind it. The agent is asked about it at once, even if an earlier Desk left
// it. Without an answer the result is sent alone.

// answerTime is how long a refused correction waits for an answer before the result is sent without it.
const answerTime = 10 * time.Minute

// refusals are the refused corrections of the outbox.
type refusals struct {
	since map[string]time.Time // When each was first seen.
	asked map[string]bool      // The agent was asked about it.
}

// isFix reports whether an entry corrects a person or a pledge.
func isFix(e outbox.Entry) bool {
	return e.Op == apiclient.OpUpdatePerson || e.Op == apiclient.OpUpdatePledge
}

// refusedFixes returns the refused corrections for the agent's decision: with details that were changed elsewhere, or
// with another change behind them.
func (c *Changes) refusedFixes() []outbox.Entry {
	var found []outbox.Entry
	for _, e := range c.Entries {
		isAsked := len(e.Fields) > 0 || len(c.behind(e.ID)) > 0
		if isFix(e) && e.State == outbox.StateRejected && isAsked {
			found = append(found, e)
		}
	}
	return found
}

// behind returns the entries that wait for an entry, and for those.
func (c *Changes) behind(id string) []outbox.Entry {
	ids := map[string]bool{id: true}
	var found []outbox.Entry
	for _, e := range c.Entries {
		if ids[e.After] && e.After != "" {
			ids[e.ID] = true
			found = append(found, e)
		}
	}
	return found
}

// onRefusals notes which corrections are refused, and offers the first that the agent was not asked about.
func (g *gate) onRefusals() {
	refused := g.day.Changes.refusedFixes()
	isThere := func(id string) bool {
		return slices.ContainsFunc(refused, func(e outbox.Entry) bool { return e.ID == id })
	}
	maps.DeleteFunc(g.refusals.since, func(id string, _ time.Time) bool { return !isThere(id) })
	maps.DeleteFunc(g.refusals.asked, func(id string, _ bool) bool { return !isThere(id) })
	if g.refusals.since == nil {
		g.refusals = refusals{since: map[string]time.Time{}, asked: map[string]bool{}}
	}
	for _, e := range refused {
		if _, known := g.refusals.since[e.ID]; !known {
			g.refusals.since[e.ID] = g.day.Now()
		}
		if g.offered == nil && g.day.conflict == nil && !g.refusals.asked[e.ID] {
			g.offerRefused(e)
		}
	}
}

// offerRefused offers to decide about a refused correction.
func (g *gate) offerRefused(e outbox.Entry) {
	name := g.day.Changes.entryName(e)
	a := arrival{
		entry: e.ID,
		text:  g.day.Say("%s was not sent, the record has changed", name),
		does:  "asks which value stays",
	}
	a.run = func() {
		g.refusals.asked[e.ID] = true
		g.day.readConflict(e)
	}
	if len(e.Fields) == 0 {
		a.text = g.day.Say("%s was refused", name)
		if e.LastError != "" {
			a.text += ": " + e.LastError
		}
		a.does = "sends the result without it"
		a.run = func() { g.day.Changes.drop(e.ID) }
	}
	g.offer(a)
}

// sendAlone sends the change behind a refused correction without it, after the agent has not answered for long enough.
// A result that confirms corrections goes on waiting.
func (g *gate) sendAlone() {
	for _, e := range g.day.Changes.refusedFixes() {
		since, known := g.refusals.since[e.ID]
		behind := g.day.Changes.behind(e.ID)
		isLate := known && g.day.Now().Sub(since) >= answerTime
		if !isLate || len(behind) == 0 || slices.ContainsFunc(behind, g.day.saysCorrected) {
			continue
		}
		text := g.day.Say(
			"the result was sent alone; not corrected: %s",
			g.day.Changes.entryName(e)+" ("+g.day.fixedText(e)+")",
		)
		do(
			&g.day.events,
			"entry detached",
			func(context.Context) (any, error) { return nil, g.Outbox.Detach(e.ID) },
			func(_ any, err error) {
				if err != nil {
					g.day.fail("outbox", err)
					return
				}
				g.day.notify(Notice{Level: Failed, Text: text, See: SeeOutbox, Owner: e.ID})
				g.day.Changes.readOutbox()
			},
		)
	}
}

// saysCorrected reports whether an entry completes a call with a result that confirms corrections.
func (d *Day) saysCorrected(e outbox.Entry) bool {
	var request apitype.CompleteCallRequest
	if e.Op != apiclient.OpCompleteCall || apitype.DecodeExact(e.Body, &request) != nil || request.Result == nil {
		return false
	}
	return d.Codes.mayBe(apitype.TextOf(request.Result.ResultCode), apitype.EffectCorrected)
}

// mayBe reports whether a result has an effect for any type of call.
func (c *Codes) mayBe(code string, effect apitype.ResultEffect) bool {
	tables := []map[apitype.CallType][]apitype.ResultChoice{c.rows}
	for _, of := range c.settings.read().Organizations {
		tables = append(tables, of.Results)
	}
	for _, table := range tables {
		for _, rows := range table {
			if slices.ContainsFunc(rows, func(r apitype.ResultChoice) bool { return r.Code == code && r.Has(effect) }) {
				return true
			}
		}
	}
	return false
}

// bodyFields returns the fields of a body, those in objects with a point.
func bodyFields(body []byte) []string {
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

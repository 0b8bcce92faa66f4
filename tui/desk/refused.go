package desk

import (
	"context"
	"maps"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/event"
)

// A refused correction delays the result behind it. The agent is asked about it at once, even if an earlier Desk left
// it. Without an answer the result is sent alone.

// answerTime is the time after which the result is sent without a refused correction.
const answerTime = 10 * time.Minute

// refusals are the refused corrections of the outbox.
type refusals struct {
	since map[string]time.Time // When each was first seen.
	asked map[string]bool      // The agent was asked about it.
}

// onRefusals notes which corrections are refused, and offers the first that the agent was not asked about.
func (d *Day) onRefusals() {
	refused := d.Changes.Refused()
	isThere := func(id string) bool {
		return slices.ContainsFunc(refused, func(e outbox.Entry) bool { return e.ID == id })
	}
	maps.DeleteFunc(d.refusals.since, func(id string, _ time.Time) bool { return !isThere(id) })
	maps.DeleteFunc(d.refusals.asked, func(id string, _ bool) bool { return !isThere(id) })
	if d.refusals.since == nil {
		d.refusals = refusals{since: map[string]time.Time{}, asked: map[string]bool{}}
	}
	for _, e := range refused {
		if _, known := d.refusals.since[e.ID]; !known {
			d.refusals.since[e.ID] = d.Now()
		}
		if d.Gate.offered == nil && d.conflict == nil && !d.refusals.asked[e.ID] {
			d.offerRefused(e)
		}
	}
}

// offerRefused offers to decide about a refused correction.
func (d *Day) offerRefused(e outbox.Entry) {
	name := d.Changes.Name(e)
	a := arrival{
		entry: e.ID,
		text:  d.Say("%s was not sent, the record has changed", name),
		does:  "asks which value stays",
	}
	a.run = func() {
		d.refusals.asked[e.ID] = true
		d.readConflict(e)
	}
	if len(e.Fields) == 0 {
		a.text = d.Say("%s was refused", name)
		if e.LastError != "" {
			a.text += ": " + e.LastError
		}
		a.does = "sends the result without it"
		a.run = func() {
			d.Changes.OnDisk(func() error { return d.Outbox.Drop(e.ID) })
			d.Over(e.ID)
		}
	}
	d.Gate.offer(a)
}

// sendAlone sends the change behind a refused correction without it, after the agent has not answered for long enough.
// A result that confirms corrections goes on waiting.
func (d *Day) sendAlone() {
	for _, e := range d.Changes.Refused() {
		since, known := d.refusals.since[e.ID]
		behind := d.Changes.Behind(e.ID)
		isLate := known && d.Now().Sub(since) >= answerTime
		if !isLate || len(behind) == 0 || slices.ContainsFunc(behind, d.saysCorrected) {
			continue
		}
		text := d.Say(
			"the result was sent alone; not corrected: %s",
			d.Changes.Name(e)+" ("+d.fixedText(e)+")",
		)
		event.Do(
			d.Queue,
			"entry detached",
			func(context.Context) (any, error) { return nil, d.Outbox.Detach(e.ID) },
			func(_ any, err error) {
				if err != nil {
					d.Fail("outbox", err)
					return
				}
				d.Notify(event.Notice{Level: event.Failed, Text: text, See: event.SeeOutbox, Owner: e.ID})
				d.Changes.Read()
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
	return d.Codes.MayBe(apitype.TextOf(request.Result.ResultCode), apitype.EffectCorrected)
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

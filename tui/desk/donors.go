package desk

import (
	"context"
	"slices"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/donors"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/lease"
	"fundesk/tui/desk/transition"
)

// FindDonors returns the donors for the typed text, up to a limit.
func (d *Day) FindDonors(limit int) []donors.Donor {
	walked, _ := d.Walk.Known()
	known := slices.Concat(d.Leases.Offers(lease.Shown+1), walked)
	open := make([]donors.Open, 0, len(known))
	for _, c := range known {
		open = append(open, donors.Open{
			Call:    c.ID,
			Person:  c.Person,
			Name:    c.Name,
			Numbers: c.Numbers,
		})
	}
	return d.Search.Among(open, d.Changes.IsPending, limit)
}

// OpenDonor puts the open call of a donor on the Desk. It looks for one if none is known, and sets Caller if there is
// none.
func (d *Day) OpenDonor(donor donors.Donor) []event.Event {
	if !donor.OpenCall.IsZero() {
		return d.Take(donor.OpenCall)
	}
	d.Sayf("looking for an open call of %s…", donor.Name)
	asked := d.Keys.Presses
	event.Do(
		d.Queue,
		"calls of a donor read",
		func(ctx context.Context) (donors.Calls, error) { return donors.ReadCalls(ctx, d.Client, donor) },
		func(found donors.Calls, err error) {
			d.Notify(event.Notice{}) // The search is over.
			opens := transition.Transition{
				Asked: asked,
				Text:  d.Say("the open call of %s was found", found.Name),
				Run:   func() { d.takeCall(found.Open) },
			}
			if found.Open.IsZero() {
				if err != nil {
					d.FailRead(d.Say("cannot look for an open call of %s", found.Name), err)
					return
				}
				opens.Text = d.Say("%s has no open call", found.Name)
				opens.Run = func() { d.Caller = &found.Caller }
			}
			d.Transitions.Apply(opens)
		},
	)
	return d.Drain()
}

// NewCall creates a call to the donor on the line, and puts it on the Desk as soon as the service has it. It is not
// held, because the donor waits.
func (d *Day) NewCall(c donors.Caller, kind apitype.CallType) []event.Event {
	id := apitype.NewUUID()
	d.holdStep(d.Say("new call")+": "+c.Name, id)
	change, err := apiclient.CreateCallChange(apitype.CreateCallRequest{
		UUID:                &id,
		PersonUUID:          c.ID,
		RelatedCaseUUID:     c.Pledge,
		Type:                &kind,
		RequestedAt:         *d.Changes.Time(),
		RequestedByUserUUID: d.Agent,
	})
	d.opening, d.openedAt = id, d.Keys.Presses
	d.Leases.Open(id)
	return d.Changes.Submit(
		changes.Change{
			Change: change,
			Label:  d.Say("new call, %s", d.Say(render.Words(string(kind)))) + ": " + c.Name,
			Err:    err,
			AtOnce: true,
		},
	)
}

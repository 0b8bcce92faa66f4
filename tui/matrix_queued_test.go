package tui

import (
	"context"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk"
)

// newID is of what a deed creates.
var newID = ids(0xd0, 1)

// queuedDeeds are the changes that have no screen: another shell's `fundesk … --outbox`
// has put them into the outbox that all share, and this terminal sends them.
func queuedDeeds() []deed {
	generated := func(change apiclient.Change, err error) (apiclient.Change, error) {
		change.Generated = true // As where nobody has chosen the uuid.
		return change, err
	}
	return []deed{
		{name: "create person", queue: func(*world) (apiclient.Change, error) {
			return generated(apiclient.CreatePersonChange(apitype.CreatePersonRequest{
				UUID: &newID, OwningOrganizationUUID: organizationID, RecruitingOrganizationUUID: organizationID, Email: new("new@example.org"),
			}))
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Persons.Get, newID, func(p apitype.Person) bool { return deref(p.Email) == "new@example.org" })
		}},
		{name: "update person", queue: func(*world) (apiclient.Change, error) {
			return apiclient.UpdatePersonChange(personID(1), apitype.UpdatePersonRequest{Email: apitype.Set("changed@example.org")})
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Persons.Get, personID(1), func(p apitype.Person) bool { return deref(p.Email) == "changed@example.org" })
		}},
		{name: "create call", queue: func(w *world) (apiclient.Change, error) {
			return generated(apiclient.CreateCallChange(apitype.CreateCallRequest{
				UUID: &newID, RequestedAt: w.ago(time.Minute), PersonUUID: personID(1), Type: new(apitype.CallWinback), Notes: new("Ask again."),
			}))
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Calls.Get, newID, func(c apitype.Call) bool { return deref(c.Notes) == "Ask again." })
		}},
		{name: "create pledge", queue: func(w *world) (apiclient.Change, error) {
			return generated(apiclient.CreatePledgeChange(apitype.CreatePledgeRequest{
				UUID: &newID, PersonUUID: personID(1), CreatedAt: w.ago(time.Minute), OwningOrganizationUUID: organizationID, RecruitingOrganizationUUID: organizationID,
				InitialDonationInterval: "monthly", InitialDonationAmount: apitype.Cents(700), RecruiterUserUUID: ids(0xe0, 2), StartsAt: w.ago(time.Minute),
			}))
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Pledges.Get, newID, func(p apitype.Pledge) bool { return p.DonationAmount == apitype.Cents(700) })
		}},
		{name: "update pledge", queue: func(*world) (apiclient.Change, error) {
			return apiclient.UpdatePledgeChange(pledgeID(1), apitype.UpdatePledgeRequest{DonationAmount: apitype.Set(apitype.Cents(4321))})
		}, effects: func(t *testing.T, w *world) int {
			t.Helper()
			return shows(t, w.client.Pledges.Get, pledgeID(1), func(p apitype.Pledge) bool { return p.DonationAmount == apitype.Cents(4321) })
		}},
	}
}

// shows is 1 where a record is there and as it is wanted, else 0.
func shows[T any](t *testing.T, get func(context.Context, apitype.UUID) (apiclient.Record[T], error), id apitype.UUID, as func(T) bool) int {
	t.Helper()
	record, err := apiclient.Decoded(get(t.Context(), id))
	if err != nil && apiclient.KindOf(err) != apiclient.KindNotFound {
		t.Fatal(err)
	}
	return count(err == nil && as(record))
}

// queue is what another process does with the same folder: its change has been tried,
// and waits.
func (c *deedCase) queue(m *terminal) {
	c.Helper()
	client := c.w.options.Client
	account, err := client.Identity(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	other, err := outbox.Open(c.dir, outbox.Options{BaseURL: client.BaseURL(), Account: account, Now: c.w.Clock.Now})
	if err != nil {
		c.Fatal(err)
	}
	change, err := c.deed.queue(c.w)
	if err != nil {
		c.Fatal(err)
	}
	entry := outbox.NewEntry(change)
	entry.NotBefore = c.w.Clock.Now().Add(5 * time.Second)
	if _, err = other.Add(entry); err != nil {
		c.Fatal(err)
	}
	m.press("O", "R")
	m.see("Last answer", desk.OpLabel(change.Op))
}

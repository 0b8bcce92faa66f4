package desk

import (
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
)

// Overtaken returns the next overtaken detail and its record. A refused update comes before the call on the Desk.
func (c *current) Overtaken() (whose string, f entry.Fix, asks bool) {
	whose, f, asks = c.Refused.Next()
	if asks {
		return whose, f, true
	}
	f, asks = c.Form().Overtaken()
	return c.Name(), f, asks
}

// Keep takes the agent's answer about the detail of Overtaken: the correction, or the recorded value.
func (c *current) Keep(f entry.Fix, ours bool) []event.Event {
	if c.Refused.Asks() {
		c.Refused.Keep(ours)
	} else {
		c.showLatest()
		c.Form().Keep(f, ours)
	}
	return c.Drain()
}

// showLatest shows the details of the call on the desk as they were read last.
func (c *current) showLatest() {
	if c.latest != nil {
		c.Call.Person, c.Call.PledgeCase, c.latest = c.latest.Person, c.latest.PledgeCase, nil
		c.pickScript()
	}
}

package page

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/desk"
)

// WhyNotLater says what speaks against putting the call off.
func (d *Desk) WhyNotLater() string {
	if why := d.Day.WhyNotLater(); why != "" {
		return why
	}
	return d.WhyNoCall()
}

// AskLater offers times to ring the donor again, in the donor's own time.
func (d *Desk) AskLater() tea.Cmd {
	now, zone := d.Now(), d.DonorZone()
	local := now.In(zone)
	evening := time.Date(local.Year(), local.Month(), local.Day(), 19, 0, 0, 0, zone)
	put := func(at time.Time) Option {
		return Option{Label: d.BothTimes(at), Run: func() tea.Cmd { return d.askForWhom(at) }}
	}
	later := put(now.Add(2 * time.Hour))
	later.Label = "in 2 hours: " + later.Label
	this := put(evening)
	this.Label = "today, this evening: " + this.Label
	if !evening.After(now) {
		this.Why = "it is past"
	}
	tomorrow := put(local.AddDate(0, 0, 1))
	tomorrow.Label = "tomorrow at the same time: " + tomorrow.Label
	d.Dialog = NewChoice("Later", "", []Option{later, this, tomorrow, {Key: "/", Label: "a day and time…", Run: d.typeLater}})
	return nil
}

// typeLater asks for a time as a person types it.
func (d *Desk) typeLater() tea.Cmd {
	p := &Prompt{Title: "When, in the donor's time: 18:00, tomorrow 18:00, fri 10:30, 24-12 14:00"}
	p.done = func(text string) (string, tea.Cmd) {
		at, err := desk.ParseLater(text, d.Now(), d.DonorZone())
		if err != nil {
			return err.Error(), nil
		}
		return "", d.askForWhom(at)
	}
	d.Dialog = p
	return nil
}

// askForWhom asks who is to ring, and puts the call off.
func (d *Desk) askForWhom(at time.Time) tea.Cmd {
	call := d.Call.UUID
	put := func(forMe bool) func() tea.Cmd {
		return func() tea.Cmd {
			if !d.IsOn(call) {
				return nil // The call went while the question stood.
			}
			return d.Perform(d.Later(at, forMe))
		}
	}
	d.Dialog = NewChoice("Later: "+d.BothTimes(at), "", []Option{
		{Key: "m", Label: "for me", Run: put(true)},
		{Key: "a", Label: "for anybody", Run: put(false)},
	})
	return nil
}

package desk

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/event"
)

// NumberPlace is replaced by the number in the arguments of [Options].Dial.
const NumberPlace = "{number}"

// Dial calls a number with the program of the profile, and starts the clock of the call. Without a program
// the agent dials by hand. The number is a part of one argument: no shell reads it.
func (d *Day) Dial(number card.Number) []event.Event {
	rang := d.Card().RangText(number)
	d.dials = append(d.dials, card.DialledNumber{Kind: number.Kind, At: d.Now()})
	if len(d.Options.Dial) == 0 {
		text := d.Say("Dial the %s number by hand: the clock is running.", d.Say(number.Kind))
		d.Notify(event.Notice{Text: text + rang})
		return d.Drain()
	}
	argv := make([]string, len(d.Options.Dial))
	for i, arg := range d.Options.Dial {
		argv[i] = strings.ReplaceAll(arg, NumberPlace, number.Digits)
	}
	owner, program := event.OfCall(d.Call.UUID), d.Options.Dial[0]
	event.Do(d.Queue, "number dialled", func(ctx context.Context) (any, error) {
		// The call goes on when the Desk ends.
		return nil, exec.CommandContext(context.WithoutCancel(ctx), program, argv[1:]...).
			Run()
		//nolint:gosec // The agent's own profile names the program.
	}, func(_ any, err error) {
		if err == nil {
			return
		}
		cause := "it ended with an error"
		if errors.Is(err, exec.ErrNotFound) {
			cause = "there is no such program"
		}
		d.FailOf(owner, d.Say("cannot dial with %s: %s; the setting is dial of the profile", program, d.Say(cause)))
	})
	d.Notify(event.Notice{Text: d.Say("dialling the %s number", d.Say(number.Kind)) + rang})
	return d.Drain()
}

// struckNumber is a number of the donor that does not exist, by an attempt.
type struckNumber struct {
	kind  string         // Of [card.Number].
	group *changes.Group // With the attempt. An undo restores the number.
}

// noteReason keeps the reason that the lease of the call on the Desk has, also for when the lease has ended.
func (d *Day) noteReason() {
	l := d.Leases.Of(d.Call.UUID)
	if l != nil && l.Reason != nil {
		d.callbackReason = *l.Reason
	}
}

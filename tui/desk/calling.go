package desk

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	"fundesk/tui/desk/card"
	"fundesk/tui/desk/event"
)

// Dial calls a number with the program of the profile, and starts the clock of the call. Without a program
// the agent dials by hand. The number is a part of one argument: no shell reads it.
func (c *current) Dial(number card.Number) []event.Event {
	rang := c.Card().RangText(number)
	c.Dials = append(c.Dials, card.DialledNumber{Kind: number.Kind, At: c.Now()})
	if len(c.Options.Dial) == 0 {
		text := c.Say("Dial the %s number by hand: the clock is running.", c.Say(number.Kind))
		c.Notify(event.Notice{Text: text + rang})
		return c.Drain()
	}
	argv := make([]string, len(c.Options.Dial))
	for i, arg := range c.Options.Dial {
		argv[i] = strings.ReplaceAll(arg, NumberPlace, number.Digits)
	}
	owner, program := event.OfCall(c.Call.UUID), c.Options.Dial[0]
	event.Do(c.Queue, "number dialled", func(ctx context.Context) (any, error) {
		// The call goes on when the Desk ends.
		dial := exec.CommandContext(context.WithoutCancel(ctx), program, argv[1:]...) //nolint:gosec // Of the profile.
		return nil, dial.Run()
	}, func(_ any, err error) {
		if err == nil {
			return
		}
		cause := "it ended with an error"
		if errors.Is(err, exec.ErrNotFound) {
			cause = "there is no such program"
		}
		c.FailOf(owner, c.Say("cannot dial with %s: %s; the setting is dial of the profile", program, c.Say(cause)))
	})
	c.Notify(event.Notice{Text: c.Say("dialling the %s number", c.Say(number.Kind)) + rang})
	return c.Drain()
}

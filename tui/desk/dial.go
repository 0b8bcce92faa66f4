package desk

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"time"

	"fundesk/tui/desk/say"
)

// NumberPlace is replaced by the number in the arguments of [Options].Dial.
const NumberPlace = "{number}"

// dialling is a dialled number of the donor.
type dialling struct {
	kind string // Of [Number].
	at   time.Time
}

// Dial calls a number with the program of the profile, and starts the clock of the call. Without a program
// the agent dials by hand. The number is a part of one argument: no shell reads it.
func (d *Day) Dial(number Number) []Event {
	rang := d.Card.rangText(number)
	d.dialled = append(d.dialled, dialling{number.Kind, d.Now()})
	if len(d.Options.Dial) == 0 {
		text := d.Say("Dial the %s number by hand: the clock of the call runs.", d.Say(number.Kind))
		d.notify(Notice{Text: text + rang})
		return d.drain()
	}
	argv := make([]string, len(d.Options.Dial))
	for i, arg := range d.Options.Dial {
		argv[i] = strings.ReplaceAll(arg, NumberPlace, number.Digits)
	}
	owner, program := ofCall(d.Call.UUID), d.Options.Dial[0]
	do(&d.events, "number dialled", func(ctx context.Context) (any, error) {
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
		d.failOf(owner, d.Say("cannot dial with %s: %s; the setting is dial of the profile", program, d.Say(cause)))
	})
	d.notify(Notice{Text: d.Say("dialling the %s number", d.Say(number.Kind)) + rang})
	return d.drain()
}

// rangText returns when another number of the donor was dialled last, or an empty text.
func (k *Card) rangText(than Number) string {
	for _, earlier := range slices.Backward(k.day.dialled) {
		if earlier.kind != than.Kind {
			return " (" + k.Say("%s called at %s", k.Say(earlier.kind), earlier.at.Format("15:04")) + ")"
		}
	}
	return ""
}

// NextNumber returns the number that the next key dials: the one that was dialled the fewest times, without those that
// do not exist. It returns false if the donor has none.
func (k *Card) NextNumber() (next Number, found bool) {
	least := 0
	for _, n := range Numbers(k.day.Call.Person.Pointer()) {
		times := 0
		if k.IsStruck(n.Kind) {
			times = len(k.day.dialled) + 1
		}
		for _, earlier := range k.day.dialled {
			if earlier.kind == n.Kind {
				times++
			}
		}
		if !found || times < least {
			next, least, found = n, times, true
		}
	}
	return next, found
}

// Rang returns when a number of the donor was dialled last, or the zero time.
func (k *Card) Rang(kind string) time.Time {
	for _, earlier := range slices.Backward(k.day.dialled) {
		if earlier.kind == kind {
			return earlier.at
		}
	}
	return time.Time{}
}

// Dialled returns when the agent dialled for the call on the desk; the zero time is never.
func (k *Card) Dialled() time.Time {
	if n := len(k.day.dialled); n > 0 {
		return k.day.dialled[n-1].at
	}
	return time.Time{}
}

// Since returns when work on the call on the desk began: when it was dialled, or else came on the screen.
func (k *Card) Since() time.Time {
	return cmp.Or(k.Dialled(), k.day.Guard.shownAt)
}

// Whose returns the agent with a lease of the call on the Desk, or an empty text if the service has no queue.
func (k *Card) Whose() string {
	switch l := k.day.leases.leaseOf(k.day.Call.UUID); {
	case k.day.holder != nil:
		return "with a colleague"
	case l != nil:
		return "reserved"
	case k.day.leases.state != nil:
		return "not reserved"
	default:
		return ""
	}
}

func whyNotDial(d *Day) string {
	return cmp.Or(whyNoCall(d), say.When(d.Call != nil && len(Numbers(d.Call.Person.Pointer())) == 0, "no number is known"))
}

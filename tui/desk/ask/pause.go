package ask

import (
	"strconv"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
)

// AskPause asks for the reason of a pause.
func (q *Questions) AskPause() Answer {
	ask := &Question{Title: q.Say("Pause"), IsKeyed: true}
	for i, reason := range apitype.PauseReasons {
		ask.Choices = append(ask.Choices, Choice{
			Key:   strconv.Itoa(i + 1),
			Label: q.Say(string(reason)),
			Pick:  does(func() []event.Event { return q.day.Pause.Start(reason) }),
		})
	}
	return ask.again()
}

func whyNotPause(d *desk.Day) string {
	return say.When(
		!d.Has(apitype.ExtensionUserState),
		"this service keeps no pauses: quit, or leave the Desk without a call",
	)
}

package ask

import (
	"fundesk/tui/desk"
	"fundesk/tui/desk/say"
)

// AskCallbacks lists the agent's callbacks, to open one.
func (q *Questions) AskCallbacks() Answer {
	ask := &Question{Title: q.Say("My callbacks"), Hint: q.Say("Enter opens one")}
	if q.day.Callbacks.HasMore() {
		ask.Lines = []string{
			q.Say("the first %d; all of them: fundesk queue callbacks --all", len(q.day.Callbacks.All())),
		}
	}
	for _, c := range q.day.Callbacks.All() {
		ask.Choices = append(ask.Choices, Choice{
			Label: q.day.Callbacks.Text(c),
			Pick:  func() Answer { return Answer{Events: q.day.Take(c.CallUUID)} },
		})
	}
	return ask.again()
}

func whyNoCallbacks(d *desk.Day) string {
	return say.When(len(d.Callbacks.All()) == 0, "you have no callbacks")
}

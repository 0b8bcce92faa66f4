package ask

import (
	"cmp"
	"strconv"

	"fundesk/tui/desk"
	"fundesk/tui/desk/say"
)

// whyNoScript returns why there is no step to go to.
func whyNoScript(d *desk.Day) string {
	return cmp.Or(whyNoCall(d), say.When(len(d.Card().Script.Steps) == 0, "there is no script for this call"))
}

func whyNoStepBack(d *desk.Day) string {
	return cmp.Or(whyNoScript(d), say.When(!d.Card().Walk.HasLeft(), "this is the first step of the script"))
}

// NextStep ticks the present step and goes on. A step with answers asks which one the donor gave.
func (q *Questions) NextStep() Answer {
	d := q.day
	d.BeginScript()
	at, steps := d.Card().StepAt(), d.Card().Script.Steps
	if at == len(steps) || len(steps[at].Answers) == 0 {
		return Answer{Events: d.NextStep(nil)}
	}
	step := steps[at]
	ask := &Question{Title: cmp.Or(step.Heading, q.Say("script")), Lines: step.Text(), IsKeyed: true}
	for i, answer := range step.Answers {
		pick := q.onCall(func() Answer {
			if d.Card().StepAt() != at {
				return Answer{}
			}
			return Answer{Events: d.NextStep(&answer)}
		})
		ask.Choices = append(ask.Choices, Choice{Key: strconv.Itoa(i + 1), Label: answer.Label, Pick: pick})
	}
	return ask.again()
}

// PreviousStep goes back to the step before. What was answered stays in the notes until it is answered again.
func (q *Questions) PreviousStep() Answer {
	q.day.PreviousStep()
	return Answer{}
}

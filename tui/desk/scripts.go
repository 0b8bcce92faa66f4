package desk

import (
	"cmp"
	"slices"
	"strconv"

	"fundesk/tui/desk/card"
	"fundesk/tui/desk/say"
)

// onScripts takes in the scripts of the configuration folder.
func (d *Day) onScripts(scripts card.Scripts, err error) {
	d.scripts = scripts
	if err != nil {
		d.fail("cannot read the scripts", err)
	}
	d.pickScript()
}

// pickScript chooses the script for the call on the Desk.
func (d *Day) pickScript() {
	shown := d.Card()
	if shown.ShownAt.IsZero() {
		shown.ShownAt = d.Now()
	}
	d.script = shown.Pick(d.scripts)
}

// BeginScript shows the first step if the script was not on the screen before.
func (d *Day) BeginScript() { d.walk.Begun = true }

// whyNoScript returns why there is no step to go to.
func whyNoScript(d *Day) string {
	return cmp.Or(whyNoCall(d), say.When(len(d.script.Steps) == 0, "there is no script for this call"))
}

func whyNoStepBack(d *Day) string {
	return cmp.Or(whyNoScript(d), say.When(!d.walk.HasLeft(), "this is the first step of the script"))
}

// NextStep ticks the present step and goes on. A step with answers asks which one the donor gave.
func (q *Questions) NextStep() Answer {
	d := q.day
	d.BeginScript()
	at := d.Card().StepAt()
	if at == len(d.script.Steps) {
		d.sayf("the script is at its end")
		return Answer{Events: d.drain()}
	}
	step := d.script.Steps[at]
	if len(step.Answers) == 0 {
		d.goOn(at+1, step)
		return Answer{Events: d.drain()}
	}
	ask := &Question{Title: cmp.Or(step.Heading, q.Say("script")), Lines: step.Text(), IsKeyed: true}
	for i, answer := range step.Answers {
		pick := q.onCall(func() Answer {
			if d.Card().StepAt() == at {
				d.answerStep(at, step, answer)
			}
			return Answer{Events: d.drain()}
		})
		ask.Choices = append(ask.Choices, Choice{Key: strconv.Itoa(i + 1), Label: answer.Label, Pick: pick})
	}
	return ask.again()
}

// PreviousStep goes back to the step before. What was answered stays in the notes until it is answered again.
func (q *Questions) PreviousStep() Answer {
	q.day.walk.GoBack()
	return Answer{}
}

// answerStep notes the donor's answer, and goes on to the next step for it.
func (d *Day) answerStep(at int, step card.Step, answer card.StepAnswer) {
	d.Form().SetNotes(d.walk.Answer(at, step, answer, d.entered.Notes))
	to, found := d.script.After(at, answer)
	if !found {
		d.sayf("the script has no heading %q: on with the next step", answer.LeadsTo)
		to = at + 1
	}
	d.goOn(to, step)
}

// goOn ticks the present step and goes to another. It ticks the required check of the step, too.
func (d *Day) goOn(to int, step card.Step) {
	d.walk.GoOn(to)
	check := step.Check()
	if slices.Contains(d.required(), check) && !slices.Contains(d.entered.Checked, check) {
		d.Form().Tick(check)
	}
	if to == len(d.script.Steps) {
		d.sayf("the script is at its end")
	}
}

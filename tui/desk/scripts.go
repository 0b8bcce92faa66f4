package desk

import (
	"slices"

	"fundesk/tui/desk/card"
	"fundesk/tui/desk/event"
)

// onScripts takes in the scripts of the configuration folder.
func (d *Day) onScripts(scripts card.Scripts, err error) {
	d.scripts = scripts
	if err != nil {
		d.Fail("cannot read the scripts", err)
	}
	d.pickScript()
}

// pickScript chooses the script for the call on the Desk.
func (d *Day) pickScript() { d.script = d.Card().Pick(d.scripts) }

// NextStep ticks the present step of the script and goes to the next one. answer is the donor's, or nil if the step has
// no answers. It goes into the notes. The required check of the step is ticked, too.
func (d *Day) NextStep(answer *card.StepAnswer) []event.Event {
	at := d.Card().StepAt()
	if at == len(d.script.Steps) {
		d.Sayf("the script is at its end")
		return d.Drain()
	}
	step, to := d.script.Steps[at], at+1
	if answer != nil {
		d.Form().SetNotes(d.walk.Answer(at, step, *answer, d.entered.Notes))
		next, found := d.script.After(at, *answer)
		if to = next; !found {
			d.Sayf("the script has no heading %q: on with the next step", answer.LeadsTo)
			to = at + 1
		}
	}
	d.walk.GoOn(to)
	check := step.Check()
	if slices.Contains(d.required(), check) && !slices.Contains(d.entered.Checked, check) {
		d.Form().Tick(check)
	}
	if to == len(d.script.Steps) {
		d.Sayf("the script is at its end")
	}
	return d.Drain()
}

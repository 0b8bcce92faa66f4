package desk

import (
	"slices"

	"fundesk/tui/desk/card"
	"fundesk/tui/desk/event"
)

// onScripts takes in the scripts of the configuration folder.
func (c *current) onScripts(scripts card.Scripts, err error) {
	c.scripts = scripts
	if err != nil {
		c.Fail("cannot read the scripts", err)
	}
	c.pickScript()
}

// pickScript chooses the script for the call on the Desk.
func (c *current) pickScript() { c.known.Script = c.Card().Pick(c.scripts) }

// onFloor takes other settings of the floor in.
func (c *current) onFloor() {
	c.results = nil
	c.pickScript()
}

// NextStep ticks the present step of the script and goes to the next one. answer is the donor's, or nil if the step has
// no answers. It goes into the notes. The required check of the step is ticked, too.
func (c *current) NextStep(answer *card.StepAnswer) []event.Event {
	at := c.Card().StepAt()
	if at == len(c.known.Script.Steps) {
		c.Sayf("the script is at its end")
		return c.Drain()
	}
	step, to := c.known.Script.Steps[at], at+1
	if answer != nil {
		c.Form().SetNotes(c.progress.Walk.Answer(at, step, *answer, c.entered.Notes))
		next, found := c.known.Script.After(at, *answer)
		to = next
		if !found {
			c.Sayf("the script has no heading %q: on with the next step", answer.LeadsTo)
			to = at + 1
		}
	}
	c.progress.Walk.GoOn(to)
	check := step.Check()
	if slices.Contains(c.required(), check) && !slices.Contains(c.entered.Checked, check) {
		c.Form().Tick(check)
	}
	if to == len(c.known.Script.Steps) {
		c.Sayf("the script is at its end")
	}
	return c.Drain()
}

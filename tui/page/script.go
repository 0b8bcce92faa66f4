package page

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/render"
	"fundesk/tui/desk/card"
	"fundesk/tui/widget"
)

// NextStep ticks the present step of the script. Where the script has no pane, the first key only shows its first step.
func (d *Desk) NextStep() tea.Cmd {
	if d.layout.Panes < 3 && !d.Day.Card().Walk.Begun {
		d.Day.BeginScript()
		return nil
	}
	return d.Answer(d.Questions.NextStep(), nil)
}

// The cells before a step of the script, for its sign.
const stepSign = 2

// scriptLines draws the script for its pane. The present step stays in sight.
func (d *Desk) scriptLines(width, height int) []string {
	steps, at := d.Day.Card().Script.Steps, d.Day.Card().StepAt()
	var lines []string
	if remark := d.Day.Card().Script.Remark; remark != "" {
		for _, line := range widget.Wrap(Clean(remark), width-stepSign) {
			lines = append(lines, widget.Fit("", stepSign)+d.Styles.Warn(line))
		}
		lines = append(lines, "")
	}
	from, to := 0, 0 // Of the present step.
	for i, step := range steps {
		if i > 0 {
			lines = append(lines, "")
		}
		if i == at {
			from = len(lines)
		}
		lines = append(lines, d.stepWithSign(i, step, width)...)
		if i == at {
			to = len(lines)
		}
	}
	over := min(max(to-height, 0), from) // Lines above that do not fit.
	return lines[over:]
}

// stepWithSign draws a step. Its sign says whether it was said, or is the present one.
func (d *Desk) stepWithSign(i int, step card.Step, width int) []string {
	s, sign := d.Styles, ""
	if i == d.Day.Card().StepAt() {
		sign = s.Key(s.pointer)
	} else if d.Day.Card().IsSaid(i) {
		sign = s.Good(s.OKSign)
	}
	var lines []string
	for _, line := range d.stepText(step.Lines, step.Answers, width-stepSign) {
		lines = append(lines, widget.Fit(sign, stepSign)+line)
		sign = ""
	}
	return lines
}

// stepText draws lines of a script with their answers, each with its digit.
func (d *Desk) stepText(text []string, all []card.StepAnswer, width int) []string {
	lines := markdown(d.Styles, text, width)
	var answers []string
	for i, answer := range all {
		answers = append(answers, d.Styles.Key(strconv.Itoa(i+1))+" "+Clean(answer.Label))
	}
	if line := strings.Join(answers, "   "); line != "" && render.Width(line) <= width {
		return append(lines, line)
	}
	return append(lines, answers...)
}

// scriptTitle returns the number of the present step and of all steps.
func (d *Desk) scriptTitle(room int) string {
	n := len(d.Day.Card().Script.Steps)
	at := min(d.Day.Card().StepAt()+1, n)
	long := d.Say("step %d of %d", at, n)
	if render.Width(long)+titleGap > room {
		return fmt.Sprintf("%d/%d", at, n)
	}
	return long
}

// mostSaid is the highest number of lines of the present step above the notes.
const mostSaid = 3

// saying draws the present step above the notes, where the script has no pane and the agent goes through it.
func (c *callCard) saying(width int) []string {
	shown := c.Day.Card()
	steps, at := shown.Script.Steps, shown.StepAt()
	if c.layout.Panes == 3 || !shown.Walk.Begun || at == len(steps) {
		return nil
	}
	lines := c.stepText(steps[at].Text(), steps[at].Answers, width)
	if len(lines) > mostSaid && len(steps[at].Answers) == 0 {
		lines[mostSaid-1] = widget.Fit(lines[mostSaid-1], width-1) + "…"
	}
	return lines[:min(len(lines), mostSaid)]
}

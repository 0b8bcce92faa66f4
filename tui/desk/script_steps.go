package desk

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"fundesk/tui/desk/say"
)

// Step is a paragraph of a script, which the agent ticks after reading it aloud.
type Step struct {
	Heading string   // Of its section. Empty without one.
	Lines   []string // As they are written, with headings, without the answers.
	Answers []StepAnswer
}

// StepAnswer is a possible answer of the donor to a step.
type StepAnswer struct {
	Label   string
	leadsTo string // A heading, or endOfScript. Empty leads to the next step.
}

const (
	endOfScript  = "end"
	answerMark   = "- [ ] "
	answerArrow  = "->"
	longestLabel = 60 // Of an answer in the notes, in characters.
)

// stepsOf returns the paragraphs of a script. Headings, and a paragraph that only quotes, belong to the one after.
func stepsOf(script []string) (steps []Step) {
	var step Step
	end := func() {
		if len(step.Text()) > 0 || len(step.Answers) > 0 {
			steps, step = append(steps, step), Step{Heading: step.Heading}
		}
	}
	for _, line := range script {
		text := strings.TrimSpace(line)
		answer, isAnswer := strings.CutPrefix(text, answerMark)
		switch {
		case text == "":
			if end(); len(step.Lines) > 0 { // A remark stays apart from what is said.
				step.Lines = append(step.Lines, "")
			}
		case isHeading(text):
			end()
			step.Heading = strings.TrimSpace(strings.TrimLeft(text, "#"))
			step.Lines = append(step.Lines, text)
		case isAnswer:
			label, leadsTo, _ := strings.Cut(answer, answerArrow)
			step.Answers = append(step.Answers, StepAnswer{strings.TrimSpace(label), strings.TrimSpace(leadsTo)})
		default:
			step.Lines = append(step.Lines, text)
		}
	}
	if end(); len(step.Lines) > 0 { // Nothing is said below them.
		steps = append(steps, step)
	}
	return steps
}

func isHeading(line string) bool { return strings.HasPrefix(line, "#") }

// Text returns the lines to read aloud, without headings and quotations.
func (s Step) Text() []string {
	return slices.DeleteFunc(slices.Clone(s.Lines), func(line string) bool {
		return isHeading(line) || strings.HasPrefix(line, ">")
	})
}

// asks returns the name of a step in the notes: its heading, or its last line.
func (s Step) asks() string {
	name := s.Heading
	if text := s.Text(); name == "" && len(text) > 0 {
		name = strings.TrimRight(text[len(text)-1], "?.! ")
	}
	if utf8.RuneCountInString(name) > longestLabel {
		name = string([]rune(name)[:longestLabel]) + "…"
	}
	return name
}

// walk is how far the agent has come in the script of a call.
type walk struct {
	begun   bool
	before  []int          // The steps up to the present one, in the order in which they were said.
	at      int            // The present step. The number of steps at the end.
	answers map[int]string // The line in the notes, by step.
}

// Steps returns the steps of the script of the call on the Desk.
func (k *Card) Steps() []Step { return k.steps }

// StepAt returns the number of the present step. At the end it is the number of steps.
func (k *Card) StepAt() int { return min(k.day.walk.at, len(k.steps)) }

// IsSaid reports whether a step was ticked.
func (k *Card) IsSaid(step int) bool { return slices.Contains(k.day.walk.before, step) }

// HasBegunScript reports whether the agent goes through the script step by step.
func (k *Card) HasBegunScript() bool { return k.day.walk.begun }

// BeginScript shows the first step if the script was not on the screen before.
func (d *Day) BeginScript() { d.walk.begun = true }

// whyNoScript returns why there is no step to go to.
func whyNoScript(d *Day) string {
	return cmp.Or(whyNoCall(d), say.When(len(d.Card.steps) == 0, "there is no script for this call"))
}

func whyNoStepBack(d *Day) string {
	return cmp.Or(whyNoScript(d), say.When(len(d.walk.before) == 0, "this is the first step of the script"))
}

// NextStep ticks the present step and goes on. A step with answers asks which one the donor gave.
func (q *Questions) NextStep() Answer {
	d := q.day
	d.BeginScript()
	at := d.Card.StepAt()
	if at == len(d.Card.steps) {
		d.sayf("the script is at its end")
		return Answer{Events: d.drain()}
	}
	step := d.Card.steps[at]
	if len(step.Answers) == 0 {
		d.goOn(at+1, step)
		return Answer{Events: d.drain()}
	}
	ask := &Question{Title: cmp.Or(step.Heading, q.Say("script")), Lines: step.Text(), IsKeyed: true}
	for i, answer := range step.Answers {
		pick := q.onCall(func() Answer {
			if d.Card.StepAt() == at {
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
	w := &q.day.walk
	last := len(w.before) - 1
	w.at, w.before = w.before[last], w.before[:last]
	return Answer{}
}

// answerStep notes the donor's answer, and goes on to the next step for it.
func (d *Day) answerStep(at int, step Step, answer StepAnswer) {
	line := step.noteOf(answer)
	notes := strings.Split(d.Form.Notes, "\n")
	earlier := slices.IndexFunc(notes, func(note string) bool { return d.isAnswered(at, step, note) })
	switch {
	case earlier >= 0:
		notes[earlier] = line
	case strings.TrimSpace(d.Form.Notes) == "":
		notes = []string{line}
	default:
		notes = append(notes, line)
	}
	d.Form.SetNotes(strings.Join(notes, "\n"))
	if d.walk.answers == nil {
		d.walk.answers = map[int]string{}
	}
	d.walk.answers[at] = line
	d.goOn(d.leadsTo(at, answer.leadsTo), step)
}

// noteOf returns the line in the notes for an answer.
func (s Step) noteOf(answer StepAnswer) string {
	if asks := s.asks(); asks != "" {
		return asks + ": " + answer.Label
	}
	return answer.Label
}

// isAnswered reports whether a line of the notes is an earlier answer to a step: of this walk, or of one that ended
// with its visit and left the notes as a draft.
func (d *Day) isAnswered(at int, step Step, note string) bool {
	if of := d.walk.answers[at]; of != "" {
		return note == of
	}
	isOfAnother := slices.Contains(slices.Collect(maps.Values(d.walk.answers)), note)
	return step.asks() != "" && !isOfAnother &&
		slices.ContainsFunc(step.Answers, func(a StepAnswer) bool { return step.noteOf(a) == note })
}

// leadsTo returns the step to which an answer leads.
func (d *Day) leadsTo(at int, heading string) int {
	if heading == "" {
		return at + 1
	}
	to, found := stepWith(d.Card.steps, heading)
	if !found {
		d.sayf("the script has no heading %q: on with the next step", heading)
		return at + 1
	}
	return to
}

// stepWith returns the first step below a heading. The end of the script is a heading, too.
func stepWith(steps []Step, heading string) (at int, found bool) {
	if strings.EqualFold(heading, endOfScript) {
		return len(steps), true
	}
	at = slices.IndexFunc(steps, func(s Step) bool { return strings.EqualFold(s.Heading, heading) })
	return at, at >= 0
}

// goOn ticks the present step and goes to another. It ticks the required check of the step, too.
func (d *Day) goOn(to int, step Step) {
	d.walk.before, d.walk.at = append(d.walk.before, d.walk.at), to
	check := "script:" + step.Heading
	if slices.Contains(d.Form.Required(), check) && !slices.Contains(d.Form.Checked, check) {
		d.Form.Tick(Fact{id: check})
	}
	if to == len(d.Card.steps) {
		d.sayf("the script is at its end")
	}
}

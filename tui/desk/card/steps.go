package card

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
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
	LeadsTo string // A heading, or endOfScript. Empty leads to the next step.
}

const (
	endOfScript  = "end"
	quoteMark    = ">" // Before a line that is read aloud word by word.
	answerMark   = "- [ ] "
	answerArrow  = "->"
	longestLabel = 60 // Of an answer in the notes, in characters.
)

// stepsOf returns the paragraphs of a script. A heading belongs to the paragraph after it.
func stepsOf(script []string) []Step {
	var step Step
	var steps []Step
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
			end()
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

// Text returns the lines to read aloud, without headings.
func (s Step) Text() []string { return slices.DeleteFunc(slices.Clone(s.Lines), isHeading) }

// asks returns the name of a step in the notes: its heading, or its last line.
func (s Step) asks() string {
	name := s.Heading
	if text := s.Text(); name == "" && len(text) > 0 {
		name = strings.Trim(text[len(text)-1], quoteMark+"?.! ")
	}
	if utf8.RuneCountInString(name) > longestLabel {
		name = string([]rune(name)[:longestLabel]) + "…"
	}
	return name
}

// Walk is the agent's place in the script of a call. The zero value has not begun.
type Walk struct {
	Begun   bool
	before  []int          // The steps up to the present one, in the order in which they were said.
	at      int            // The present step. The number of steps at the end.
	answers map[int]string // The line in the notes, by step.
}

// StepAt returns the number of the present step. At the end it is the number of steps.
func (k Card) StepAt() int { return min(k.Walk.at, len(k.Script.Steps)) }

// IsSaid reports whether a step was ticked.
func (k Card) IsSaid(step int) bool { return slices.Contains(k.Walk.before, step) }

// HasLeft reports whether there is a step to go back to.
func (w Walk) HasLeft() bool { return len(w.before) > 0 }

// GoOn ticks the present step and goes to another.
func (w *Walk) GoOn(to int) { w.before, w.at = append(w.before, w.at), to }

// GoBack goes back to the step before. What was answered stays in the notes until it is answered again.
func (w *Walk) GoBack() {
	last := len(w.before) - 1
	w.at, w.before = w.before[last], w.before[:last]
}

// Answer returns the notes with the donor's answer to a step. It replaces an earlier answer to it.
func (w *Walk) Answer(at int, step Step, answer StepAnswer, notes string) string {
	line := step.noteOf(answer)
	lines := strings.Split(notes, "\n")
	earlier := slices.IndexFunc(lines, func(note string) bool { return w.isAnswered(at, step, note) })
	switch {
	case earlier >= 0:
		lines[earlier] = line
	case strings.TrimSpace(notes) == "":
		lines = []string{line}
	default:
		lines = append(lines, line)
	}
	if w.answers == nil {
		w.answers = map[int]string{}
	}
	w.answers[at] = line
	return strings.Join(lines, "\n")
}

// isAnswered reports whether a line of the notes is an earlier answer to a step: of this walk, or of one that ended
// with its visit and left the notes as a draft.
func (w *Walk) isAnswered(at int, step Step, note string) bool {
	if of := w.answers[at]; of != "" {
		return note == of
	}
	isOfAnother := slices.Contains(slices.Collect(maps.Values(w.answers)), note)
	return step.asks() != "" && !isOfAnother &&
		slices.ContainsFunc(step.Answers, func(a StepAnswer) bool { return step.noteOf(a) == note })
}

// After returns the step to which an answer to a step leads. It returns false if the script has no such heading.
func (s Script) After(at int, answer StepAnswer) (int, bool) {
	if answer.LeadsTo == "" {
		return at + 1, true
	}
	return stepWith(s.Steps, answer.LeadsTo)
}

// Check returns the name of the check of a step.
func (s Step) Check() string { return "script:" + s.Heading }

// noteOf returns the line in the notes for an answer.
func (s Step) noteOf(answer StepAnswer) string {
	if asks := s.asks(); asks != "" {
		return asks + ": " + answer.Label
	}
	return answer.Label
}

// stepWith returns the first step below a heading. The end of the script is a heading, too.
func stepWith(steps []Step, heading string) (int, bool) {
	if strings.EqualFold(heading, endOfScript) {
		return len(steps), true
	}
	at := slices.IndexFunc(steps, func(s Step) bool { return strings.EqualFold(s.Heading, heading) })
	return at, at >= 0
}

package desk

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/say"
)

// lineAnswer is an answer with everything about it.
type lineAnswer struct {
	key    string
	text   string // What it does.
	action string // The action of the Desk, which a profile may hide. Empty if it has none.
	why    string // Why it does nothing now; "" when it does something.
	run    func(ctx context.Context) error
}

// answers returns all answers in the order in which they are offered. typed is the text after the key.
func (l *lineDesk) answers(typed string) []lineAnswer {
	d := l.day
	has := d.Call != nil
	notHere := func(works bool) string { return say.When(!works, "that is not available now") }
	noPerson := notHere(has && d.Call.Person.Pointer() != nil)
	again := l.action("complete")
	again.text, again.action = "to send what you entered", ""
	again.why = cmp.Or(say.When(!has || d.Form().ResultCode == "", "there is nothing to send again"), again.why)
	find := l.action("find")
	find.text = "find a donor"
	find.run = func(ctx context.Context) error { return l.follow(ctx, l.questions.Find(typed)) }
	accept := l.action("accept")
	accept.text, accept.why, accept.run = "for what was offered", notHere(d.Transitions.IsProposed()), l.accept
	copies := l.action("copy-other")
	copies.text, copies.run = "numbers and other identifiers", l.saying(func() []string {
		return texts(d.Card().Copies(), func(c card.Copy) string { return d.Say(c.Name) + ": " + c.Text })
	})
	skipped := l.action("skipped")
	skipped.why = notHere(len(d.Walk.PassedOver()) > 0)
	skipped.run = l.saying(func() []string {
		return texts(d.Walk.PassedOver(), func(p queue.PassedOver) string { return p.Name + ": " + d.Say(p.Reason) })
	})
	script := l.action("script")
	script.run = l.nextStep
	back := l.action("script-back")
	back.run = l.previousStep
	skip := l.action("skip")
	skip.text = "or empty to skip"
	all := []lineAnswer{
		again,
		l.action("not-reached"),
		l.action("not-reached-why"),
		l.action("result"),
		l.action("cancel"),
		l.action("expire"),
		l.action("fix"),
		l.action("tick"),
		l.action("dial"),
		{"g", "details", "", noPerson, l.saying(l.details)},
		{"v", "bank account", "reveal", notHere(has && l.bankAccount() != ""), l.saying(l.sayBankAccount)},
		{"h", "earlier contacts", "", notHere(has && len(d.Card().Contacts()) > 1), l.saying(d.Card().Contacts)},
		l.action("later"),
		script,
		back,
		copies,
		accept,
		l.action("undo"),
		l.action("resume-draft"),
		skipped,
		l.action("last-calls"),
		find,
		l.action("callbacks"),
		l.action("narrow"),
		l.action("pause"),
		{"?", "help", "", "", l.saying(func() []string { return l.offered(true) })},
		skip,
		{
			"",
			"empty to look again",
			"",
			notHere(!has),
			func(ctx context.Context) error { return l.follow(ctx, ask.Answer{Events: d.Next()}) },
		},
	}
	return slices.DeleteFunc(
		all,
		func(a lineAnswer) bool { return a.action != "" && slices.Contains(l.hidden, a.action) },
	)
}

// action returns the answer for an action of the desk.
func (l *lineDesk) action(id string) lineAnswer {
	a, _ := ask.ActionOf(id)
	return lineAnswer{
		a.LineKey(),
		a.Word,
		id,
		ask.WithKeys(l.day.Say(a.Why(l.day)), l.key),
		func(ctx context.Context) error {
			switch id {
			case "undo", "last-calls": // The call is printed again after an answer that may bring another one.
				l.call = apitype.UUID{}
			case "result", "complete":
				l.tellCorrected(ctx)
			}
			return l.follow(ctx, a.Run(l.questions))
		},
	}
}

// key returns the answer for an action in a text of the Desk. Notes are asked for after the result.
func (l *lineDesk) key(id string) string {
	switch id {
	case "next-call":
		return l.day.Say("an empty answer")
	case "notes":
		id = "result"
	}
	a, _ := ask.ActionOf(id)
	return cmp.Or(a.LineKey(), id)
}

// offered returns the answers that do something now or, for the help, all of them.
func (l *lineDesk) offered(all bool) []string {
	var lines []string
	for _, a := range l.answers("") {
		line := strings.TrimSpace(a.key + " " + l.day.Say(a.text))
		if a.why == "" {
			lines = append(lines, line)
		} else if all {
			lines = append(lines, line+l.day.Say(" (not now)"))
		}
	}
	return append(lines, l.day.Say("q to end"))
}

// answerTo does what an answer asks for.
func (l *lineDesk) answerTo(ctx context.Context, answer string) error {
	if strings.Contains(answer, "\n") { // A paste must never run keys.
		l.say("several lines came at once: none of them counts")
		return nil
	}
	if l.day.Pause.IsOn() && answer != "?" && answer != "help" {
		l.perform(ctx, l.day.Pause.End())
		if answer != "u" && answer != "undo" { // A change is held only for seconds.
			return nil
		}
	}
	key := answer
	switch {
	case answer == "undo":
		key = "u"
	case answer == "help":
		key = "?"
	case answer == "" && l.day.Call != nil && !slices.Contains(l.hidden, "skip"):
		key = "s"
	case strings.HasPrefix(answer, "/"):
		key = "/"
	}
	why := l.day.Say("there is no %s", cli.Quote(answer))
	for _, a := range l.answers(strings.TrimSpace(strings.TrimPrefix(answer, key))) {
		switch {
		case a.key != key:
		case a.why == "":
			return a.run(ctx)
		default:
			why = a.why
		}
	}
	l.say("%s", l.day.Say(why))
	return nil
}

// follow performs an answer, and asks the next question.
func (l *lineDesk) follow(ctx context.Context, a ask.Answer) error {
	for {
		l.perform(ctx, a.Events)
		if a.Wrong != "" {
			l.say("%s", l.day.Say(a.Wrong))
		}
		if a.Then != nil {
			a = a.Then()
			continue
		}
		if a.Next == nil {
			return nil
		}
		next, err := l.put(ctx, a.Next)
		if err != nil {
			return err
		}
		a = next
	}
}

// put asks a question until its answer is one. An empty answer leaves it.
func (l *lineDesk) put(ctx context.Context, q *ask.Question) (ask.Answer, error) {
	for _, line := range q.Lines {
		l.say("%s", l.spoken(l.day.Say(line)))
	}
	keys, prompt := make([]string, len(q.Choices)), l.day.Say(q.Title)+l.day.Say(" (y or n)")
	if !q.IsYesNo() {
		l.sayChoices(q, keys)
		prompt = l.day.Say(q.Title)
		if q.Empty == nil {
			prompt = strings.TrimSuffix(prompt, "?") + l.day.Say(", empty to leave it")
		}
	}
	for {
		text, err := l.question(ctx, prompt)
		if err != nil {
			return ask.Answer{}, err
		}
		if !q.HasLines {
			text = strings.ReplaceAll(text, "\n", " ")
		}
		i := slices.Index(keys, text)
		var a ask.Answer
		switch {
		case q.IsYesNo() && text == "y":
			return q.Choices[0].Pick(), nil
		case text == "" && q.Empty != nil:
			a = q.Empty()
		case text == "" || q.IsYesNo():
			if q.Left == nil {
				return a, nil
			}
			a.Next = q.Left()
			return a, nil
		case i >= 0 && q.Choices[i].Why != "":
			a.Wrong = q.Choices[i].Label + ": " + ask.WithKeys(q.Choices[i].Why, l.key)
		case i >= 0:
			a = q.Choices[i].Pick()
		case q.Typed != nil:
			a = q.Typed(text)
		default:
			a.Wrong = l.day.Say("there is no %s", cli.Quote(text))
		}
		if a.Wrong == "" {
			return a, nil
		}
		l.say("%s", l.day.Say(a.Wrong))
	}
}

// sayChoices prints the choices, each with its key or number.
func (l *lineDesk) sayChoices(q *ask.Question, keys []string) {
	n := 0
	for i, c := range q.Choices {
		keys[i] = c.Key
		if c.Key == "" {
			n++
			keys[i] = strconv.Itoa(n)
		}
		line := keys[i] + " " + l.spoken(l.day.Say(c.Label))
		if c.IsOn != nil && *c.IsOn {
			line += l.day.Say(", chosen")
		}
		if c.Why != "" {
			line += ": " + l.day.Say("not here, %s", ask.WithKeys(l.day.Say(c.Why), l.key))
		}
		l.say("%s", line)
	}
}

// spoken returns a text of the desk without the signs of a screen.
func (l *lineDesk) spoken(text string) string {
	becomes := ", " + l.day.Say("to be") + " "
	return strings.NewReplacer(" "+card.FixSign, "", ": → ", ": "+l.day.Say("none")+becomes, " → ", becomes, "  ",
		", ").
		Replace(text)
}

// accept opens the offered call.
func (l *lineDesk) accept(ctx context.Context) error {
	l.perform(ctx, l.day.Transitions.Accept())
	if !l.day.Refused.Asks() {
		return nil
	}
	return l.follow(ctx, l.questions.Overtaken(func() ask.Answer { return ask.Answer{} }))
}

// tellCorrected prints the corrections that are sent with the result, and the ones that the account may not make.
func (l *lineDesk) tellCorrected(ctx context.Context) {
	for _, f := range l.day.Form().Corrected() {
		l.say("to be corrected: %s", l.spoken(l.day.Say(f.Label)+": "+l.day.Card().FixText(f)))
	}
	for _, f := range l.day.Form().RefusedCorrections() {
		l.say("you may not correct: %s", l.day.Say(f.Label))
	}
}

// saying returns an answer that prints some lines.
func (l *lineDesk) saying(lines func() []string) func(context.Context) error {
	return func(context.Context) error {
		for _, line := range lines() {
			l.say("%s", onOneLine(line))
		}
		return nil
	}
}

// nextStep ticks the present step of the script and prints the next one. The first key prints the first step. A step
// with answers asks at once.
func (l *lineDesk) nextStep(ctx context.Context) error {
	d := l.day
	if d.Card().Walk.Begun {
		if err := l.follow(ctx, l.questions.NextStep()); err != nil {
			return err
		}
	}
	d.BeginScript()
	for {
		at, steps := d.Card().StepAt(), d.Card().Script.Steps
		if d.Call == nil || at >= len(steps) {
			return nil
		}
		if at == 0 && d.Card().Script.Remark != "" {
			l.say("%s", d.Card().Script.Remark)
		}
		if len(steps[at].Answers) == 0 {
			return l.sayStep(steps[at])
		}
		if err := l.follow(ctx, l.questions.NextStep()); err != nil || d.Card().StepAt() == at {
			return err
		}
	}
}

// previousStep prints the step of the script before.
func (l *lineDesk) previousStep(ctx context.Context) error {
	if err := l.follow(ctx, l.questions.PreviousStep()); err != nil {
		return err
	}
	return l.sayStep(l.day.Card().Script.Steps[l.day.Card().StepAt()])
}

func (l *lineDesk) sayStep(step card.Step) error {
	for _, line := range step.Lines {
		l.say("%s", onOneLine(strings.TrimLeft(line, "#> ")))
	}
	return nil
}

// texts returns a line for each of some values.
func texts[T any](all []T, text func(T) string) []string {
	var lines []string
	for _, one := range all {
		lines = append(lines, text(one))
	}
	return lines
}

// onOneLine returns a text of several lines as one is heard.
func onOneLine(text string) string { return strings.ReplaceAll(text, "\n", ": ") }

// details returns what an agent checks with the donor, in the order of the card.
func (l *lineDesk) details() []string {
	var lines []string
	for _, f := range l.day.Card().Facts(func(said string) string { return l.day.Say(cmp.Or(said, "unknown")) }) {
		text := l.spoken(f.String())
		if account := l.bankAccount(); f.IsSecret() && !f.IsChanged() && len(account) > 8 {
			text = l.day.Say("ends in %s", account[len(account)-4:]) // v prints all of it.
		}
		if f.Checked {
			text += ", " + l.day.Say("checked")
		}
		if text != "" {
			lines = append(lines, f.Label+": "+text)
		}
	}
	return lines
}

func (l *lineDesk) sayBankAccount() []string {
	return []string{l.day.Say("bank account") + ": " + l.bankAccount()}
}

// bankAccount returns the IBAN of the donor on the Desk, or "".
func (l *lineDesk) bankAccount() string { return apitype.TextOf(l.day.Call.Person.Value().IBAN) }

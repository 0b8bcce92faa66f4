package desk

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
	"fundesk/tui/desk"
)

// lineAnswer is an answer that does something: all that there is to say of it.
type lineAnswer struct {
	key    string
	text   string // What it does; "" where it is not said.
	action string // Of the drawn Desk: a profile may take it away. "" for none of its own.
	can    bool   // It does something now.
	run    func(ctx context.Context) error
}

// onOneLine is a text of several lines as one is heard.
func onOneLine(text string) string { return strings.ReplaceAll(text, "\n", ": ") }

func fixLine(f desk.Fix) string {
	was := f.Was
	if f.IsSecret() {
		was = render.MaskIBAN(was)
	}
	if was == "" {
		was = "none"
	}
	if f.IsChanged() && f.Is == "" {
		return was + ", to be none"
	}
	if f.IsChanged() {
		return was + ", to be " + f.Is
	}
	return was
}

// mostFound is how many donors are offered.
const mostFound = 9

// answers are all answers, in the order in which they are said.
func (l *lineDesk) answers() []lineAnswer {
	has := l.Call != nil
	open := has && l.Ended() == ""
	fixes := open && l.Call.Person.Pointer() != nil
	all := []lineAnswer{
		{"r", "to send what you entered", "", has && l.Form.Code != "", l.sendEntered},
		{"a", "not reached", "not-reached", open, l.notReached},
		{"c", "completed", "result", open, l.askForm},
		{"x", "cancel", "cancel", open, func(ctx context.Context) error { return l.askEnd(ctx, "cancel", l.CancelCall) }},
		{"e", "expire", "expire", open, func(ctx context.Context) error { return l.askEnd(ctx, "expire", l.ExpireCall) }},
		{"f", "correct details", "fix", fixes, l.askFixes},
		{"g", "details", "", fixes, l.saying(l.details)},
		{"v", "bank account", "reveal", has && l.bankAccount() != "", l.saying(func() []string { return []string{"bank account: " + l.bankAccount()} })},
		{"h", "earlier contacts", "", has && len(l.Contacts()) > 1, l.saying(l.contacts)},
		{"b", "later", "later", has && l.HasQueue(), l.askLater},
		{"s", "script", "", has && len(l.Script) > 0, l.saying(func() []string { return l.Script })},
		{"o", "for what was offered", "", l.IsOffered(), l.accept},
		{"u", "to take the last one back", "", l.CanUndo(), l.undo},
		{"d", "latest draft", "resume-draft", len(l.Drafts) > 0, l.doing((*desk.Day).Resume)},
		{"k", "passed over", "skipped", len(l.PassedOver()) > 0, l.saying(l.passedOver)},
		{"l", "your last calls", "last-calls", len(l.Recent) > 0, l.askRecent},
		{"/", "find a donor", "find", true, l.askDonor},
		{"t", "types and languages that you take", "narrow", true, l.askNarrow},
		{"?", "help", "", true, l.saying(l.help)},
		{"", "empty to skip", "skip", has, l.doing((*desk.Day).Skip)},
		{"", "empty to look again", "", !has, l.doing((*desk.Day).Next)},
	}
	return slices.DeleteFunc(all, func(a lineAnswer) bool { return a.action != "" && slices.Contains(l.hidden, a.action) })
}

func (l *lineDesk) choices() string {
	var all []string
	for _, a := range l.answers() {
		if a.can {
			all = append(all, strings.TrimSpace(a.key+" "+a.text))
		}
	}
	return strings.Join(append(all, "q to end"), ", ")
}

func (l *lineDesk) answerTo(ctx context.Context, answer string) error {
	key := answer
	switch {
	case answer == "undo":
		key = "u"
	case answer == "help":
		key = "?"
	case strings.HasPrefix(answer, "/"):
		key = "/"
	}
	known := false
	for _, a := range l.answers() {
		if a.key != key {
			continue
		}
		if known = true; a.can {
			l.typed = strings.TrimSpace(strings.TrimPrefix(answer, key))
			return a.run(ctx)
		}
	}
	switch {
	case answer == "":
		return errLeave
	case known && l.Call != nil && l.Ended() != "":
		l.say("%s", l.Ended())
	case key == "r" && l.Call != nil:
		l.say("there is nothing to send again")
	default:
		l.say("there is no %s", cli.Quote(answer))
	}
	return nil
}

// help is every answer on a line of its own, with those that do nothing now.
func (l *lineDesk) help() (lines []string) {
	for _, a := range l.answers() {
		line := strings.TrimSpace(a.key + " " + a.text)
		if !a.can {
			line += " (not now)"
		}
		lines = append(lines, line)
	}
	return append(lines, "q to end")
}

func (l *lineDesk) doing(do func(*desk.Day) []desk.Event) func(context.Context) error {
	return func(ctx context.Context) error {
		l.perform(ctx, do(l.Day))
		return nil
	}
}

func (l *lineDesk) accept(ctx context.Context) error {
	l.perform(ctx, l.Accept())
	if l.HasConflict() {
		return l.askOvertaken(ctx)
	}
	return nil
}

// askOvertaken asks which value of each overtaken detail stays.
func (l *lineDesk) askOvertaken(ctx context.Context) error {
	for whose, f, asks := l.Overtaken(); asks; whose, f, asks = l.Overtaken() {
		answer, err := l.question(ctx, f.Label+" of "+whose+" was changed elsewhere: k keeps theirs, "+fixLine(f)+": o for ours, empty to decide later")
		switch {
		case err != nil:
			return err
		case answer == "k" || answer == "o":
			l.perform(ctx, l.Keep(f, answer == "o"))
		default:
			l.LeaveConflict()
			return nil
		}
	}
	return nil
}

func (l *lineDesk) undo(ctx context.Context) error {
	l.call = apitype.UUID{} // It is told again.
	l.perform(ctx, l.Undo())
	return nil
}

func (l *lineDesk) sendEntered(ctx context.Context) error {
	if why := l.WhyNotComplete(); why != "" {
		l.say("%s", why)
		return nil
	}
	return l.complete(ctx)
}

// notReached records an attempt, and asks first where notes go.
func (l *lineDesk) notReached(ctx context.Context) error {
	end := l.Day.NotReached
	if l.AsksWhereNotes() {
		answer, err := l.question(ctx, "your notes: n for whoever calls next, d into a draft, empty to go back")
		switch {
		case err != nil || answer == "":
			return err
		case answer == "n":
			end = l.NotReachedWithNote
		case answer != "d":
			l.say("there is no %s", cli.Quote(answer))
			return nil
		}
	}
	if l.Call != nil {
		l.perform(ctx, end())
	}
	return nil
}

func (l *lineDesk) saying(lines func() []string) func(context.Context) error {
	return func(context.Context) error {
		for _, line := range lines() {
			l.say("%s", line)
		}
		return nil
	}
}

func (l *lineDesk) passedOver() (lines []string) {
	for _, p := range l.PassedOver() {
		lines = append(lines, p.Name+": "+p.Reason)
	}
	return lines
}

func (l *lineDesk) contacts() (lines []string) {
	for _, text := range l.Contacts() {
		lines = append(lines, onOneLine(text))
	}
	return lines
}

// details are what an agent checks with the donor.
func (l *lineDesk) details() (lines []string) {
	p := l.Call.Person.Value()
	tell := func(label, text string) {
		if text != "" {
			lines = append(lines, label+": "+text)
		}
	}
	tell("address", desk.Address(p.Address.Pointer()))
	tell("e-mail", desk.Value(p.Email))
	if p.DateOfBirth != nil {
		tell("born", l.Locale.Date(p.DateOfBirth.Midnight(), "2 January 2006"))
	}
	if account := l.bankAccount(); len(account) > 8 {
		tell("bank account", "ends in "+account[len(account)-4:]) // v says all of it.
	}
	tell("may be reached by", desk.OptInWords(p))
	return lines
}

func (l *lineDesk) bankAccount() string {
	if l.Call == nil {
		return ""
	}
	return desk.Value(l.Call.Person.Value().IBAN)
}

// pick asks for one of some lines by its number; ok is false for an empty answer.
func (l *lineDesk) pick(ctx context.Context, question string, lines []string) (index int, ok bool, err error) {
	for i, line := range lines {
		l.say("%d %s", i+1, line)
	}
	for {
		answer, err := l.question(ctx, question+", empty for none")
		if err != nil || answer == "" {
			return 0, false, err
		}
		if n, wrong := strconv.Atoi(answer); wrong == nil && n >= 1 && n <= len(lines) {
			return n - 1, true, nil
		}
		l.say("there is no %s", cli.Quote(answer))
	}
}

// askFixes asks which details are wrong, and what is right. They are sent with the result.
func (l *lineDesk) askFixes(ctx context.Context) error {
	l.perform(ctx, l.LearnFixes())
	for l.Call != nil {
		for _, f := range l.Fixes() {
			line := f.Press + " " + f.Label + ": " + fixLine(f)
			if f.Why != "" {
				line = f.Press + " " + f.Label + ": not here, " + f.Why
			}
			l.say("%s", line)
		}
		answer, err := l.question(ctx, "what is wrong, empty for none")
		if err != nil || answer == "" {
			return err
		}
		i := slices.IndexFunc(l.Fixes(), func(f desk.Fix) bool { return f.Press == answer })
		switch {
		case i < 0:
			l.say("there is no %s", cli.Quote(answer))
			continue
		case l.Fixes()[i].Why != "":
			l.say("%s: %s", l.Fixes()[i].Label, l.Fixes()[i].Why)
			continue
		}
		if err := l.askFix(ctx, l.Fixes()[i]); err != nil {
			return err
		}
	}
	return nil
}

// askFix asks for the right value of a detail. The words for deleting and undoing are no values.
func (l *lineDesk) askFix(ctx context.Context, f desk.Fix) error {
	answer := "no"
	if f.IsYesNo() && f.Is == "no" {
		answer = "yes"
	}
	if !f.IsYesNo() {
		question := f.Label + ", delete to delete it, undo for as recorded, empty to leave it"
		if f.IsInterval() {
			question = f.Label + ": once, monthly, quarterly, half-yearly or yearly, undo for as recorded, empty to leave it"
		}
		var err error
		if answer, err = l.question(ctx, question); err != nil || answer == "" {
			return err
		}
	}
	switch answer {
	case "undo":
		l.Uncorrect(f)
		l.tellCorrected(ctx)
		return nil
	case "delete":
		answer = ""
	}
	if question, choices := l.AskFix(f, answer); choices != nil {
		var keys []string
		for _, c := range choices {
			keys = append(keys, c.Key+" "+c.Label)
		}
		which, err := l.question(ctx, question+" "+strings.Join(keys, ", ")+", empty to leave it")
		i := slices.IndexFunc(choices, func(c desk.FixChoice) bool { return c.Key == which })
		if err != nil || i < 0 {
			return err
		}
		answer = choices[i].Value
	}
	if wrong := l.Correct(f, answer); wrong != "" {
		l.say("%s %s", f.Label, wrong)
		return nil
	}
	l.tellCorrected(ctx)
	if why, missing := l.HalfAddress(); why != "" && strings.HasPrefix(f.Key, "address/") {
		l.say("%s", why)
		return l.askFix(ctx, missing)
	}
	return nil
}

// tellCorrected says what is sent besides the result, and what the account may not correct.
func (l *lineDesk) tellCorrected(ctx context.Context) {
	l.perform(ctx, l.LearnPermissions())
	for _, f := range l.Corrected() {
		l.say("to be corrected: %s: %s", f.Label, fixLine(f))
	}
	for _, f := range l.RefusedCorrections() {
		l.say("this account may not correct: %s", f.Label)
	}
}

// askLater asks when the donor is called again, and for whom.
func (l *lineDesk) askLater(ctx context.Context) error {
	call, offers := l.Call.UUID, l.LaterOffers()
	keys := []string{"x", "y", "z"}
	for i, o := range offers {
		l.say("%s %s: %s", keys[i], o.Label, l.BothTimes(o.At))
	}
	for l.IsOn(call) {
		answer, err := l.question(ctx, "when, in the donor's time: 18:00, tomorrow 18:00, fri 10:30, in 2 hours; x, y or z for a time above, empty for not")
		if err != nil || answer == "" {
			return err
		}
		var at time.Time
		if i := slices.Index(keys, answer); i >= 0 {
			at = offers[i].At
		} else if at, err = l.readLater(ctx, answer); err != nil || at.IsZero() {
			return err
		}
		if why := l.OutsideHours(at); why != "" {
			if sure, err := l.question(ctx, why+". Save it all the same? y or n"); err != nil {
				return err
			} else if sure != "y" {
				continue
			}
		}
		who, err := l.question(ctx, l.BothTimes(at)+": m for you, a for anybody, empty for not")
		if err != nil || (who != "m" && who != "a") || !l.IsOn(call) {
			return err
		}
		l.perform(ctx, l.Later(at, who == "m"))
		return nil
	}
	return nil
}

// readLater reads a time until it has one meaning. A zero time is none.
func (l *lineDesk) readLater(ctx context.Context, text string) (time.Time, error) {
	for text != "" {
		at, err := l.ReadLater(text)
		ambiguous, isAmbiguous := errors.AsType[*apitype.AmbiguousTime](err)
		switch {
		case err == nil:
			return at, nil
		case !isAmbiguous:
			l.say("%s", err)
			text, err = l.question(ctx, "when, empty for not")
		default:
			keys := desk.ReadingKeys(ambiguous.Readings)
			for i, r := range ambiguous.Readings {
				l.say("%s %s", keys[i], desk.ReadingText(r, l.BothTimes(r.At)))
			}
			var which string
			if which, err = l.question(ctx, strconv.Quote(text)+" has more than one meaning: "+strings.Join(keys, " or ")+", or another time; empty for not"); err == nil {
				if i := slices.Index(keys, which); i >= 0 {
					return ambiguous.Readings[i].At, nil
				}
			}
			text = which
		}
		if err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, nil
}

// askNarrow asks which types and languages are taken; none chosen is all of them.
func (l *lineDesk) askNarrow(ctx context.Context) error {
	for {
		var lines []string
		choices := l.NarrowChoices()
		for _, c := range choices {
			if c.Chosen {
				c.Name += ", chosen"
			}
			lines = append(lines, c.Name)
		}
		i, ok, err := l.pick(ctx, "number to take or to leave", lines)
		if err != nil || !ok {
			return err
		}
		l.perform(ctx, l.Toggle(choices[i]))
		if to := l.NarrowedTo(); to != "" {
			l.say("only %s", to)
		} else {
			l.say("all calls")
		}
	}
}

func (l *lineDesk) askRecent(ctx context.Context) error {
	var lines []string
	for _, r := range l.Recent {
		fate := r.Fate.String()
		if r.Fate == desk.FateHeld && l.HeldFor(r) > 0 {
			fate += ", u takes it back"
		}
		lines = append(lines, r.At.Format("15:04")+" "+r.Name+", "+r.What+": "+fate)
	}
	i, ok, err := l.pick(ctx, "number to open again", lines)
	if err == nil && ok {
		l.call = apitype.UUID{}
		l.perform(ctx, l.Take(l.Recent[i].Call))
	}
	return err
}

// askDonor looks for a donor who rings back.
func (l *lineDesk) askDonor(ctx context.Context) error {
	search := l.typed
	if search == "" {
		var err error
		if search, err = l.question(ctx, "name, city, or digits of a number"); err != nil || search == "" {
			return err
		}
	}
	found, err := l.lookFor(ctx, search, l.SearchDonors())
	if err != nil {
		return err
	}
	if len(found) == 0 {
		if !l.HasMoreDonors() {
			l.say("nobody has that name or number")
		}
		return nil
	}
	var lines []string
	for _, donor := range found {
		known := slices.DeleteFunc([]string{donor.Name, l.Locale.Phone(donor.Phone), donor.City}, func(part string) bool { return part == "" })
		lines = append(lines, strings.Join(known, ", "))
	}
	i, ok, err := l.pick(ctx, "number of the donor", lines)
	if err != nil || !ok {
		return err
	}
	l.perform(ctx, l.OpenDonor(found[i]))
	if caller := l.Caller; caller != nil {
		l.Caller = nil
		return l.askNewCall(ctx, *caller)
	}
	return nil
}

// lookFor reads donors until enough are found. Where nobody is among the newest it asks
// whether to read on.
func (l *lineDesk) lookFor(ctx context.Context, search string, events []desk.Event) ([]desk.Donor, error) {
	for len(events) > 0 && len(l.FindDonors(search, mostFound)) < mostFound {
		events = l.performOne(ctx, events)
	}
	found := l.FindDonors(search, mostFound)
	if len(found) == 0 && l.HasMoreDonors() {
		n, _ := l.DonorsRead()
		answer, err := l.question(ctx, "nobody among the newest "+cli.Count(n, "donor")+"; m looks through more, empty for not")
		if err == nil && answer == "m" {
			return l.lookFor(ctx, search, l.SearchOn())
		}
		if err != nil {
			return nil, err
		}
	}
	l.LeaveSearch()
	return found, nil
}

// askNewCall asks what a call to a donor without an open one is to be about.
func (l *lineDesk) askNewCall(ctx context.Context, c desk.Caller) error {
	l.say("%s has no open call", c.Name)
	var lines []string
	for _, kind := range apitype.CallTypes {
		lines = append(lines, "a new call: "+render.Words(string(kind)))
	}
	i, ok, err := l.pick(ctx, "number", lines)
	if err == nil && ok {
		l.perform(ctx, l.NewCall(c, apitype.CallTypes[i]))
	}
	return err
}

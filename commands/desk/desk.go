package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
	"fundesk/commands/cli"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/say"
)

// deskOptions returns the options of both faces of the Desk, and their target.
func deskOptions(ctx context.Context, s *cli.Session) (o desk.Options, t *cli.Target, err error) {
	o = desk.Options{
		ConfigDir: s.ConfigDir(),
		Texts:     say.Texts{Locale: s.Locale(), Language: render.TextLanguage(s.App.Getenv)},
		Now:       s.App.Now,
		Omitted:   s.Omitted.Read,
	}
	o.Client, err = s.Connect(ctx)
	if err != nil {
		return o, nil, err
	}
	// First: what cannot be kept must not be asked for.
	o.Outbox, err = s.Outbox(ctx)
	if err != nil {
		return o, nil, err
	}
	o.Client.Pin(o.Outbox.Account())
	t, err = s.Resolve()
	if err != nil {
		return o, nil, err
	}
	dir, err := s.StateDir()
	if err != nil {
		return o, t, err
	}
	o.StateFile = filepath.Join(dir, "desk", t.Name+"-"+durable.NameOf(t.BaseURL)+".json")
	err = inProfile(s, t, deskSettings(t.Profile, &o))
	if err == nil {
		err = s.Agent(&o.Agent)
	}
	if o.Agent == nil && s.Embedded() != nil && !s.Embedded().Agent().IsZero() {
		o.Agent = new(s.Embedded().Agent())
	}
	if o.Agent == nil && err == nil && s.Embedded() == nil {
		o.Agent = signedInAgent(ctx, s, t, o.Client)
	}
	return o, t, err
}

// askPerson limits the wait for the person at the start.
const askPerson = 3 * time.Second

// signedInAgent returns the person behind the token, if the service knows one. A login stores it in the profile, so
// that a Desk without a network has it too.
func signedInAgent(ctx context.Context, s *cli.Session, t *cli.Target, client *apiclient.Client) *apitype.UUID {
	ctx, cancel := context.WithTimeout(ctx, askPerson)
	defer cancel()
	token, err := s.CurrentToken(ctx, t)
	if err != nil {
		return nil
	}
	person, err := s.SignedIn(ctx, client, token)
	if err != nil || person == nil {
		return nil
	}
	id, err := apitype.ParseUUID(person.UUID)
	if err != nil {
		return nil
	}
	return &id
}

// ByLines works calls without a drawn screen. Every change goes through the outbox and is held for a few seconds, as on
// the screen. look is the time between two polls while a question is open. Zero means [pollEvery].
func ByLines(ctx context.Context, s *cli.Session, look time.Duration) error {
	ctx, stopHearing := signal.NotifyContext(ctx, syscall.SIGHUP) // The terminal was closed.
	defer stopHearing()
	options, t, err := deskOptions(ctx, s)
	if err != nil {
		return err
	}
	day := desk.New(options)
	l := &lineDesk{
		session:   s,
		day:       day,
		questions: ask.New(day),
		polled:    s.App.Now(),
		hidden:    t.Profile.HiddenActions,
		login:     cli.AnotherToken(t),
		look:      cmp.Or(look, pollEvery),
	}
	l.day.Transitions.Busy = func() bool { return l.asking }
	defer s.MarkPastes()()
	defer colleagues(s)()
	beside, stop := context.WithCancel(ctx)
	group := l.day.Start(beside, l.told.put)
	err = l.work(ctx)
	l.day.Changes.Written()
	if saved := l.day.Changes.Drafts.Flush(); err == nil && saved != nil {
		err = fmt.Errorf("save the draft: %w", saved)
	}
	if err == nil {
		l.day.Changes.Finish(ctx, l.day.QuitWait)
	}
	l.day.End()
	stop()
	group.Wait()
	if err == nil {
		l.listen(ctx) // The last words of the sender, too.
	}
	lines, remaining := l.day.Changes.Remaining()
	for _, line := range lines {
		l.say("%s", line)
	}
	return errors.Join(err, remaining)
}

// work asks until the agent leaves.
func (l *lineDesk) work(ctx context.Context) error {
	l.say("Work calls line by line. An empty answer skips; q ends.")
	if s := l.session.Embedded(); s != nil && !s.Agent().IsZero() {
		l.say(inventedNotice)
	}
	l.day.Keys.Touch(l.session.App.Now()) // The agent has just started it.
	l.perform(ctx, l.day.Begin())
	if n := len(l.day.Changes.Drafts.All); n > 0 {
		l.say("%s not sent yet; D goes on with the latest", l.day.Count(n, "draft is", "drafts are"))
	}
	l.perform(ctx, l.day.Next())
	for ctx.Err() == nil {
		l.listen(ctx)
		if l.day.Changes.Release(); l.session.App.Now().Sub(l.polled) >= pollEvery {
			l.poll(ctx)
		}
		before := l.call
		l.tellCall()
		if err := l.dropAhead(ctx, before); err != nil {
			return err
		}
		idle := l.day.IsNoneLeft()
		if idle && !l.idle {
			l.sayIdle()
		}
		l.idle = idle
		answer, shown, err := l.next(ctx)
		if err == nil && !shown {
			err = l.answerTo(ctx, answer)
		}
		if errors.Is(err, errLeave) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// dropAhead drops what was typed before the call was printed: it was meant for the call before.
func (l *lineDesk) dropAhead(ctx context.Context, before apitype.UUID) error {
	if l.call == before || l.call.IsZero() {
		return nil
	}
	isDropped, err := l.session.DropAhead(ctx)
	if isDropped {
		l.say("what you typed before the call was shown does not count")
	}
	if errors.Is(err, io.EOF) { // The next question finds it, too.
		return nil
	}
	return err
}

// sayIdle prints that there is no call now.
func (l *lineDesk) sayIdle() {
	shown := l.day.Count(l.shown, "call", "calls")
	if closed := l.day.Leases.ClosedText(); closed != "" {
		l.say("%s; %s shown. A message appears when a call arrives.", closed, shown)
		return
	}
	if l.day.Walk.IsCut() {
		l.say("None of the newest %s calls can be made now.", l.day.Locale.Count(queue.MostRead))
		return
	}
	l.say("No other call is waiting; %s shown. A message appears when one arrives.", shown)
}

// next asks for the next step. Without a call it polls for one and announces it. With a call it polls whether the agent
// still has it. An answer for another call, or for one that was not announced, only prints the present one.
func (l *lineDesk) next(ctx context.Context) (answer string, shows bool, err error) {
	asked := l.onDesk()
	answer, err = l.ask(ctx, strings.Join(l.offered(false), ", "), func() {
		l.listen(ctx)
		l.day.Changes.Release()
		if asked != (apitype.UUID{}) {
			l.poll(ctx) // Changes of the call are announced.
			return
		}
		if l.day.Call != nil {
			return
		}
		l.poll(ctx)
		if l.perform(ctx, l.day.Next()); l.day.Call != nil {
			l.say("")
			l.say("A call has arrived: Enter shows it.")
		}
	})
	return answer, l.onDesk() != asked, err
}

func (l *lineDesk) onDesk() apitype.UUID {
	if l.day.Call == nil {
		return apitype.UUID{}
	}
	return l.day.Call.UUID
}

// ask asks for one answer, and does something every few seconds until it is there. The end of the input, and q,
// leave the desk.
func (l *lineDesk) ask(ctx context.Context, text string, meanwhile func()) (string, error) {
	l.session.Prompt(text + ": ")
	answered := make(chan struct{})
	var answer string
	var err error
	go func() {
		defer close(answered)
		answer, err = l.session.Answer(ctx)
	}()
	look := time.NewTicker(l.look)
	defer look.Stop()
	for l.asking = true; ; {
		select {
		case <-answered:
			l.asking = false
			l.perform(ctx, l.day.Wake())          // After the computer slept, all is read before the answer counts.
			l.day.Keys.Touch(l.session.App.Now()) // The call on the desk stays the agent's.
			answer = strings.TrimSpace(answer)
			if errors.Is(err, cli.ErrLineCut) {
				l.say("that line is longer than a terminal passes on, and does not count: make it shorter")
				return l.ask(ctx, text, meanwhile)
			}
			if errors.Is(err, io.EOF) && answer == "" {
				l.say("")
				return "", errLeave
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return "", err
			}
			if answer == "q" {
				return "", errLeave
			}
			return answer, nil
		case <-look.C:
			meanwhile()
		}
	}
}

func (l *lineDesk) poll(ctx context.Context) {
	l.polled = l.session.App.Now()
	l.perform(ctx, l.day.Poll())
}

// perform runs the events of the day one after the other, and the events that follow.
func (l *lineDesk) perform(ctx context.Context, events []event.Event) {
	for len(events) > 0 {
		next := events[0]
		events = events[1:]
		switch e := next.(type) {
		case event.Job:
			events = append(l.day.Receive(e(ctx)), events...)
		case event.Notice:
			l.tell(e)
		}
	}
}

func (l *lineDesk) listen(ctx context.Context) {
	for _, r := range l.told.drain() {
		l.perform(ctx, l.day.Receive(r))
	}
	l.tellTrouble()
}

// tellTrouble says once that what was typed is not on disk.
func (l *lineDesk) tellTrouble() {
	trouble := l.day.Changes.Drafts.Trouble()
	if trouble != nil && !l.troubled {
		l.say("%s: %s", l.day.Say("the draft is not saved"), l.day.Say(connection.Cause(trouble)))
	}
	l.troubled = trouble != nil
}

func (l *lineDesk) tell(n event.Notice) {
	switch n.Text = l.day.Say(n.Text); n.See {
	case event.SeeOutbox:
		n.Text = l.day.Say("%s; see: fundesk outbox list", n.Text)
	case event.SeeOffer:
		n.Text += "; " + l.key("accept") + " " + n.Does
	}
	if n.Text == "" {
		return
	}
	if l.asking {
		l.say("") // The question is still on the line.
	}
	if n.Rings && cli.IsTerminal(l.session.App.Err) {
		fmt.Fprint(l.session.App.Err, "\a")
	}
	l.say("%s", n.Text)
}

func (l *lineDesk) say(format string, args ...any) {
	fmt.Fprintln(l.session.App.Err, render.Clean(l.day.Say(format, args...)))
}

// question asks for one line of an entry. The end of the input leaves the Desk. The agent keeps the call meanwhile.
func (l *lineDesk) question(ctx context.Context, text string) (string, error) {
	return l.ask(ctx, text, func() { l.perform(ctx, l.day.KeepLeases()) })
}

// tellCall prints the warnings before the number is dialled, once for each call, and the changes that can be undone.
func (l *lineDesk) tellCall() {
	if held := l.day.Changes.HeldText("u"); held != "" {
		l.say("%s", held)
	}
	if l.day.Call == nil {
		l.call = (apitype.UUID{})
		if l.day.Offline != "" {
			why := l.day.Say(l.day.Offline)
			if l.day.LoggedOut && l.login != "" {
				why += ". " + l.day.Say(l.login)
			}
			if l.day.Stranger {
				why += ". " + l.day.Say(
					"Log in as before, or quit and start again as the other account; changes that wait here stay "+
						"with this one.",
				)
			}
			l.say("no call can be read: %s", why)
		}
		return
	}
	if l.call == l.day.Call.UUID {
		return
	}
	call, person := l.day.Call, l.day.Call.Person.Pointer()
	l.call = call.UUID
	l.shown++
	l.say("")
	tries, most := l.day.Card().Tries()
	l.say(
		"%s call for %s, requested %s, %s%s",
		strings.TrimSuffix(l.day.Say(render.Words(string(call.Type))), " call"),
		l.day.Name(),
		l.day.Ago(call.RequestedAt.Time),
		tries,
		most,
	)
	if person != nil {
		for _, about := range l.day.Card().About(*person) {
			l.say("%s", about)
		}
	}
	for _, number := range card.Numbers(person) {
		l.say("%s number: %s", l.day.Say(number.Kind), l.day.Locale.Spoken(number.Digits))
	}
	if person != nil {
		l.tellConsents(*person)
	}
	for _, warning := range l.day.Warnings() {
		l.say("warning: %s", warning)
	}
	if reason := l.day.Card().CallbackReason; reason != "" {
		l.say("callback: %s", reason)
	}
	if notes := l.day.Card().NextNotes(); notes != "" {
		l.say("note for you: %s", onOneLine(notes))
	}
	if pledge := call.PledgeCase.Pointer(); pledge != nil {
		word, day := l.day.Card().Joined(*pledge)
		gives := l.day.Say("%s: %s euros %s, %s, %s %s",
			l.day.Say(card.GivesWord(pledge.Status)),
			l.day.Locale.Grouped(pledge.DonationAmount),
			l.day.Say(render.Words(string(pledge.DonationInterval))),
			l.day.Say(card.PledgeWords(pledge.Status)),
			l.day.Say(word),
			l.day.Date(l.day.Locale.Date(day, "2 January 2006")))
		if to := l.day.Card().GivesTo(*pledge); to != "" {
			gives = l.day.Say("%s, to %s", gives, strings.ReplaceAll(to, " · ", ", "))
		}
		l.say("%s", gives)
	}
	if contacts := l.day.Card().Contacts(); len(contacts) > 0 {
		l.say("last: %s", onOneLine(contacts[0]))
	}
	if call.Notes != nil {
		l.say("notes: %s", *call.Notes)
	}
	if l.day.HasDraft() {
		l.say("entered before and not sent: %s", l.entered())
	}
}

// tellConsents prints for each channel with a known consent whether the donor may be contacted, and the proof.
func (l *lineDesk) tellConsents(person apitype.Person) {
	for i, optIn := range card.OptIns(person) {
		if proof := l.day.Card().ConsentText(apitype.ConsentChannels[i]); proof != "" {
			yesNo := cmp.Or(render.YesNo(optIn.In), "unknown")
			l.say("%s: %s", l.day.Say(optIn.Name), l.day.Say(yesNo)+", "+proof)
		}
	}
}

// entered returns the content of the form in one line.
func (l *lineDesk) entered() string {
	parts := []string{l.day.Say("result %s", l.day.Form().ResultCode)}
	if l.day.Form().ResultCode == "" {
		parts[0] = l.day.Say("no result")
	}
	if l.day.Form().Rating != nil {
		parts = append(parts, l.day.Say("rating %d", *l.day.Form().Rating))
	}
	if l.day.Form().Notes != "" {
		parts = append(parts, l.day.Say("notes")+": "+l.day.Form().Notes)
	}
	for _, f := range l.day.Form().Corrected() {
		parts = append(parts, l.spoken(l.day.Say(f.Label)+": "+l.day.Card().FixText(f)))
	}
	if checked := l.day.Card().CheckedText(); checked != "" {
		parts = append(parts, checked)
	}
	if words := l.day.Form().UnfinishedWords(); len(words) > 0 {
		parts = append(parts, l.spoken(l.day.Say("not finished: %s", strings.Join(words, ", "))))
	}
	return strings.Join(parts, ", ")
}

// errLeave ends the desk.
var errLeave = errors.New("leave")

// pollEvery is the age after which the calls are read again before a question, and the interval in which the Desk polls
// for a call.
const pollEvery = 15 * time.Second

// lineDesk is the desk by questions and answers: the day of the screen, read line by line.
type lineDesk struct {
	session   *cli.Session
	day       *desk.Day
	questions *ask.Questions // Of the day.
	told      inbox
	shown     int          // Calls so far.
	call      apitype.UUID // The call that was printed last.
	polled    time.Time
	hidden    []string // Actions of the Desk that the profile takes away.
	login     string   // How the agent gets another token.
	idle      bool     // The lack of calls was announced.
	troubled  bool     // It was said that what is typed is not on disk.
	asking    bool     // A question is open.
	look      time.Duration
}

// inbox keeps messages from the background until the next question.
type inbox struct {
	mu      sync.Mutex
	results []event.Result
}

func (i *inbox) put(r event.Result) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.results = append(i.results, r)
}

func (i *inbox) drain() []event.Result {
	i.mu.Lock()
	defer i.mu.Unlock()
	taken := i.results
	i.results = nil
	return taken
}

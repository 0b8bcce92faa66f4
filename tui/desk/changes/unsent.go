package changes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk/connection"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pending"
	"fundesk/tui/desk/say"
)

// Unsent has the content of the outbox as it was read last, of all terminals of the agent. Set the exported fields
// once; a reading replaces Entries and Damaged.
type Unsent struct {
	say.Texts
	Events     *event.Queue
	Connection *connection.State
	Outbox     *outbox.Outbox
	Sender     *outbox.Sender
	Drafts     *drafts.List // Is read with the entries.
	// OnRead is called after each reading. isLatest means that nothing has changed since it began.
	OnRead func(isLatest bool)

	Entries []outbox.Entry
	Damaged []outbox.Damaged
	Labels  map[string]string // Of the entries of this session, as they are shown. Nil without any.

	isReading, readAgain bool // A reading is under way; something has changed since it began.
}

// contents is a reading of the outbox.
type contents struct {
	entries []outbox.Entry
	damaged []outbox.Damaged
	drafts  []outbox.Draft
}

// Refresh is Read for the face of the Desk.
func (u *Unsent) Refresh() []event.Event {
	u.Read()
	return u.Events.Drain()
}

// Read reads the outbox and the drafts from disk. A request during a reading is served by one more reading after it.
func (u *Unsent) Read() {
	if u.isReading {
		u.readAgain = true
		return
	}
	u.isReading = true
	event.Do(u.Events, "outbox read", func(context.Context) (contents, error) {
		entries, damaged, err := u.Outbox.List()
		if err != nil {
			return contents{}, err
		}
		drafts, err := u.Outbox.Drafts()
		return contents{entries: entries, damaged: damaged, drafts: drafts}, err
	}, u.takeIn)
}

func (u *Unsent) takeIn(read contents, err error) {
	again := u.readAgain
	u.isReading, u.readAgain = false, false
	if again {
		u.Read()
	}
	if err != nil {
		u.Drafts.Read()
		u.Events.Fail("cannot read the outbox", err)
		u.OnRead(false)
		return
	}
	u.Entries, u.Damaged = read.entries, read.damaged
	if u.Drafts.TakeIn(read.drafts) {
		u.tellLines()
	}
	u.OnRead(!again)
}

// tellLines tells which lines of no call an earlier Desk has left.
func (u *Unsent) tellLines() {
	if words := u.Drafts.UnfinishedWords(u.Texts); len(words) > 0 {
		text := u.Say("not finished: %s", strings.Join(words, ", "))
		u.Events.Notify(event.Notice{Level: event.Told, Text: text})
	}
	if ahead := u.Drafts.Lines[drafts.AheadLine]; ahead != "" {
		u.Events.Fail(NoCallCame, errors.New(ahead))
		u.Drafts.KeepLine(drafts.AheadLine, "")
	}
}

// NoCallCame is the error about text that was typed for a call which did not come. The text follows it, so that it can
// be used elsewhere.
const NoCallCame = "no call came for what you typed"

// SetDraft puts a newer draft in the list until the disk is read again.
func (u *Unsent) SetDraft(draft outbox.Draft) {
	u.Drafts.Set(draft)
	if u.isReading {
		u.Drafts.Outdate()
		u.readAgain = true
	}
}

// Waiting returns how many changes wait, without those refused.
func (u *Unsent) Waiting() int { return waiting(u.Entries) }

func waiting(entries []outbox.Entry) int {
	var n int
	for _, e := range entries {
		if e.State != outbox.StateRejected {
			n++
		}
	}
	return n
}

// IsPending reports whether a record has a change that was not sent yet.
func (u *Unsent) IsPending(id apitype.UUID) bool {
	return slices.ContainsFunc(u.Entries, func(e outbox.Entry) bool {
		return e.UUID == id && e.State != outbox.StateRejected
	})
}

// KeepsBack reports whether a change of a call waits, or one that ends it was refused.
func (u *Unsent) KeepsBack(call apitype.UUID) bool {
	return u.IsPending(call) || slices.ContainsFunc(u.Entries, func(e outbox.Entry) bool {
		return e.UUID == call && e.State == outbox.StateRejected && pending.EndsCall(e.Op)
	})
}

// Refused returns the refused corrections for the agent's decision: those with details that were changed elsewhere, or
// with another change behind them.
func (u *Unsent) Refused() []outbox.Entry {
	var found []outbox.Entry
	for _, e := range u.Entries {
		isCorrection := e.Op == apiclient.OpUpdatePerson || e.Op == apiclient.OpUpdatePledge
		isAsked := len(e.Fields) > 0 || len(u.Behind(e.ID)) > 0
		if isCorrection && e.State == outbox.StateRejected && isAsked {
			found = append(found, e)
		}
	}
	return found
}

// Behind returns the entries that wait for an entry, and the entries that wait for those.
func (u *Unsent) Behind(id string) []outbox.Entry {
	ids := map[string]bool{id: true}
	var found []outbox.Entry
	for _, e := range u.Entries {
		if ids[e.After] && e.After != "" {
			ids[e.ID] = true
			found = append(found, e)
		}
	}
	return found
}

// OpLabel returns an operation in words.
func OpLabel(op string) string { return apiclient.OperationOf(op).Label }

// Name returns an entry in words, as it is shown.
func (u *Unsent) Name(e outbox.Entry) string {
	if label := u.Labels[e.ID]; label != "" {
		return u.Say(label)
	}
	return u.Say(OpLabel(e.Op)) + " " + render.ShortID(e.UUID)
}

// OnDisk works on the outbox at the agent's word, and reads it again.
func (u *Unsent) OnDisk(work func() error) {
	event.Do(
		u.Events,
		"outbox changed",
		func(context.Context) (any, error) { return nil, work() },
		func(_ any, err error) {
			if err != nil {
				u.Events.Fail("outbox", err)
			}
			u.Read()
		},
	)
}

// SendAgain queues a refused or unsure entry again.
func (u *Unsent) SendAgain(id string) []event.Event {
	u.OnDisk(func() error { return u.Outbox.Requeue(id) })
	return u.Events.Drain()
}

// Drop erases an entry, and ends the notice that its text is kept. An entry that the agent has seen as one that was
// never sent stays if it was sent since.
func (u *Unsent) Drop(seen outbox.Entry) []event.Event {
	isUnsent := seen.State != outbox.StateRejected && seen.State != outbox.StateUnsure && seen.SentAt.IsZero()
	if isUnsent {
		u.OnDisk(func() error {
			_, err := u.Outbox.Recall(seen.ID)
			return err
		})
		return u.Events.Drain()
	}
	u.OnDisk(func() error { return u.Outbox.Drop(seen.ID) })
	u.Events.Over(seen.ID)
	return u.Events.Drain()
}

// DropDraft erases the draft of a call, as the agent has seen it.
func (u *Unsent) DropDraft(call apitype.UUID) []event.Event {
	u.OnDisk(u.Drafts.Erase(call))
	return u.Events.Drain()
}

// SendNow tries all that waits.
func (u *Unsent) SendNow() []event.Event {
	u.Events.Sayf("trying everything again…")
	event.Do(u.Events, "outbox sent", u.Sender.SendDue, func(report outbox.Report, err error) {
		if err == nil {
			err = report.Err // Such as an account that was replaced.
		}
		if err != nil && !u.Connection.NoteConnection(err) {
			u.Events.FailOf(event.OfConnection, event.ErrorText("not all is sent", err))
		}
		u.Read()
	})
	return u.Events.Drain()
}

// sendRest sends held changes, too, until ctx ends. The others stay in the outbox.
func (u *Unsent) sendRest(ctx context.Context) {
	_ = u.Drafts.Flush() // The caller that ends the program flushes again and reports.
	if u.Outbox.Release() != nil {
		return
	}
	for ctx.Err() == nil && !u.isQuiet() {
		report, err := u.Sender.SendDue(ctx)
		if err != nil || report.Err != nil {
			return
		}
		// The other sender of this program may have the rest in hand.
		_ = apiclient.Pause(ctx, 20*time.Millisecond)
	}
}

// isQuiet reports whether nothing is left that waiting a little would send.
func (u *Unsent) isQuiet() bool {
	entries, _, err := u.Outbox.List()
	return err != nil || !slices.ContainsFunc(entries, func(e outbox.Entry) bool {
		return e.State == outbox.StateSending || (e.State == outbox.StateQueued && e.Tries == 0)
	})
}

// Remaining returns a line for each kind of change that is in the outbox on disk.
func (u *Unsent) Remaining() ([]string, error) {
	entries, _, err := u.Outbox.List()
	queued := waiting(entries)
	var lines []string
	if queued > 0 {
		lines = append(
			lines,
			u.Say("%s in the outbox; to send: fundesk outbox send", u.Count(queued, "change stays", "changes stay")),
		)
	}
	if refused := len(entries) - queued; refused > 0 {
		lines = append(
			lines,
			u.Say(
				"%s; see: fundesk outbox list",
				u.Count(refused, "change was refused by the service", "changes were refused by the service"),
			),
		)
	}
	return lines, err
}

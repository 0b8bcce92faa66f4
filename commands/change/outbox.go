package change

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/commands/cli"
	"fundesk/render"
)

// Outbox returns the command outbox.
func Outbox(s *cli.Session) *cobra.Command {
	return cli.Group(
		s,
		"outbox",
		"Changes that were not sent yet, or were refused. The terminal interface and --outbox put them here;\n"+
			"they are on disk before they are sent.",
		"  fundesk outbox list\n  fundesk outbox send",
		cli.Verbs{"list": outboxList, "show": outboxShow, "send": outboxSend, "drop": outboxDrop},
	)
}

func shownEntry(e outbox.Entry) render.Entry {
	shown := render.Entry{
		ID:        e.ID,
		State:     string(e.State),
		Op:        e.Op,
		Method:    e.Method,
		Path:      e.Path,
		CreatedAt: new(apitype.NewTime(e.CreatedAt)),
		Tries:     e.Tries,
		Service:   e.BaseURL,
	}
	if !e.UUID.IsZero() {
		shown.UUID = new(e.UUID.String())
	}
	if e.LastError != "" {
		shown.LastError = &e.LastError
	}
	return shown
}

func outboxList(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List unsent changes",
		Args:  cli.NoArgs,
		Long: "List changes that wait for the service, were refused, or have an unknown outcome. They stay on disk\n" +
			"until they are sent or dropped.",
		Example: "  fundesk outbox list\n" +
			"  fundesk outbox list -o json --jq '.[] | select(.state == \"rejected\") | .id'",
		RunE: func(_ *cobra.Command, _ []string) error {
			entries, damaged, err := s.AllEntries()
			if err != nil {
				return err
			}
			shown := make([]render.Entry, len(entries))
			for i, entry := range entries {
				shown[i] = shownEntry(entry)
				if first, found := outbox.Behind(entry, entries); found && entry.State != outbox.StateRejected {
					shown[i].After = &first.ID
					if shown[i].LastError == nil {
						shown[i].LastError = new("waits for " + first.ID + ", which is " + string(first.State))
					}
				}
			}
			warnOfDamaged(s, damaged)
			return cli.ShowList(s, "id", render.EntryColumns(), shown)
		},
	}
}

func outboxShow(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show one change as it will be sent",
		Args:  cli.NeedExactly(1),
		Long: "Show one change with the exact bytes that will be sent, and why it was not sent yet. For a day after\n" +
			"its end, a change is shown as accepted, rejected or dropped.",
		Example: "  fundesk outbox show 01k3f9c2\n" +
			"  fundesk outbox show 01k3f9c2 -o json --jq .body",
		RunE: func(_ *cobra.Command, args []string) error {
			box, err := s.AnyOutbox()
			if err != nil {
				return err
			}
			entry, err := box.Show(args[0])
			if errors.Is(err, outbox.ErrNotFound) {
				return showEnding(s, box, args[0])
			}
			if err != nil {
				return aboutEntry(args[0], err)
			}
			shown := shownEntry(entry)
			if json.Valid(entry.Body) {
				shown.Body = entry.Body
			}
			fields := []cli.Pair{
				{"id", entry.ID},
				{"state", string(entry.State)},
				{"op", entry.Op},
				{"uuid", apitype.TextOf(shown.UUID)},
				{"service", entry.BaseURL},
				{"request", entry.Method + " " + entry.Path},
				{"body", string(shown.Body)},
				{"created", shown.CreatedAt.String()},
				{"tries", strconv.Itoa(entry.Tries)},
			}
			if entry.LastError != "" {
				fields = append(fields, cli.Pair{"last error", entry.LastError})
			}
			return cli.ShowOne(s, shown, fields)
		},
	}
}

// showEnding prints the outcome of an entry that is no longer in the outbox.
func showEnding(s *cli.Session, box *outbox.Outbox, id string) error {
	ending, isKnown, err := box.Ending(id)
	if err != nil {
		return aboutEntry(id, err)
	}
	if !isKnown {
		return aboutEntry(id, outbox.ErrNotFound)
	}
	operation := apiclient.OperationOf(ending.Op)
	shown := render.Entry{
		ID:      ending.ID,
		State:   string(ending.Outcome),
		Op:      ending.Op,
		Method:  operation.Method,
		Service: ending.BaseURL,
		EndedAt: new(apitype.NewTime(ending.At)),
	}
	if !ending.UUID.IsZero() {
		shown.UUID = new(ending.UUID.String())
	}
	return cli.ShowOne(s, shown, []cli.Pair{
		{"id", ending.ID},
		{"state", shown.State},
		{"op", ending.Op},
		{"uuid", apitype.TextOf(shown.UUID)},
		{"service", ending.BaseURL},
		{"ended", shown.EndedAt.String()},
	})
}

func aboutEntry(id string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, outbox.ErrNotFound) {
		return cli.WithHint(
			cli.Failure(apiclient.KindNotFound, "there is no entry %s in the outbox", cli.Quote(id)),
			"see: fundesk outbox list",
		)
	}
	return cli.Failure(apiclient.KindFailure, "entry %s: %s", cli.Quote(id), err)
}

func outboxSend(s *cli.Session) *cobra.Command {
	var without, yes bool
	cmd := &cobra.Command{
		Use:   "send",
		Short: "Send unsent changes",
		Args:  cli.NoArgs,
		Long: "Send the unsent changes for this service and account. Held changes wait for their time. The exit\n" +
			"code is 9 while a change is refused, is blocked by a refused change, or was made by a later version of\n" +
			"fundesk. outbox list shows these.\n" +
			"A result waits while a correction of the same call is refused. On a terminal send asks whether to\n" +
			"send the result alone. The refused correction stays in the outbox.",
		Example: "  fundesk outbox send --profile prod\n" +
			"  fundesk outbox send --without-refused -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := s.Outbox(cmd.Context())
			if err != nil {
				return err
			}
			err = sendAlone(cmd.Context(), s, box, without, yes)
			if err != nil {
				return err
			}
			notify := func(e outbox.Event) {
				if e.EditedSince {
					s.Warn("%s %s: %s", e.Entry.Operation().Noun(), e.Entry.UUID, createdAndEdited)
				}
			}
			report, err := box.Sender(s.Client, outbox.SenderOptions{Notify: notify}).SendDue(cmd.Context())
			if err != nil {
				return cli.UnsavedFailure("send the outbox: %s", err)
			}
			_, damaged, err := box.List()
			if err != nil {
				return cli.Failure(apiclient.KindFailure, "read the outbox: %s", err)
			}
			warnOfDamaged(s, damaged)
			problem := cmp.Or(sendOutcome(report), othersWait(s, box))
			if problem != nil && cli.WantsJSON(s.Args) { // stdout stays empty if there is an error line.
				return problem
			}
			counts := map[string]int{"sent": report.Accepted, "refused": report.Refused, "waiting": report.Waiting}
			shown := cli.ShowOne(s, counts, []cli.Pair{
				{"sent", strconv.Itoa(report.Accepted)},
				{"refused", strconv.Itoa(report.Refused)},
				{"waiting", strconv.Itoa(report.Waiting)},
			})
			return errors.Join(shown, problem)
		},
	}
	cmd.Flags().BoolVar(&without, "without-refused", false, "send results without the corrections that were refused")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask; results wait for a refused correction")
	return cmd
}

// warnOfDamaged names the files that cannot be read, and so are not sent.
func warnOfDamaged(s *cli.Session, damaged []outbox.Damaged) {
	for _, d := range damaged {
		switch {
		case d.IsNewer:
			s.Warn("left alone: %s (it %s)", d.Path, d.Reason)
		case d.IsUnread:
			s.Warn("a file cannot be read: %s (%s)", d.Path, d.Reason)
		default:
			s.Warn("a damaged file is never sent: %s (%s)", d.Path, d.Reason)
		}
	}
}

// sendAlone lets results be sent without the refused corrections before them, if the user agrees. quiet asks nothing,
// and then they wait.
func sendAlone(ctx context.Context, s *cli.Session, box *outbox.Outbox, without, quiet bool) error {
	entries, _, err := box.List()
	if err != nil {
		return cli.Failure(apiclient.KindFailure, "read the outbox: %s", err)
	}
	for _, e := range entries {
		isFix := e.Op == apiclient.OpUpdatePerson || e.Op == apiclient.OpUpdatePledge
		isHolding := slices.ContainsFunc(entries, func(other outbox.Entry) bool { return other.After == e.ID })
		isRefusedFix := isFix && e.State == outbox.StateRejected
		if !isRefusedFix || !isHolding {
			continue
		}
		if !without && (quiet || !s.CanAsk()) {
			continue
		}
		if s.Ask(ctx, without, "Send the result without the refused correction "+e.ID) != nil {
			continue // It waits on.
		}
		if err := box.Detach(e.ID); err != nil {
			return cli.Failure(apiclient.KindFailure, "send without %s: %s", e.ID, err)
		}
	}
	return nil
}

// othersWait names the other accounts with changes in the outbox.
func othersWait(s *cli.Session, own *outbox.Outbox) error {
	all, _, err := s.AllEntries()
	if err != nil {
		return err
	}
	elsewhere, accounts := 0, map[string]int{}
	for _, e := range all {
		switch {
		case own.Owns(e.BaseURL, e.Account):
		case e.BaseURL != s.Client.BaseURL():
			elsewhere++
		default:
			accounts[e.Account]++
		}
	}
	for _, account := range slices.Sorted(maps.Keys(accounts)) {
		s.Note(
			"%s kept for another account at this service: %s; its token sends them, fundesk outbox drop ID drops them",
			cli.Count(accounts[account], "change"),
			account,
		)
	}
	if elsewhere > 0 {
		s.Note("%s kept for other services; see: fundesk outbox list", cli.Count(elsewhere, "change"))
	}
	return nil
}

func sendOutcome(report outbox.Report) error {
	waiting := report.Err != nil
	switch {
	case waiting && apiclient.KindOf(report.Err) == apiclient.KindUnauthenticated:
		return report.Err
	case waiting && apiclient.KindOf(report.Err) == apiclient.KindInterrupted:
		return cli.WithHint(
			cli.Failure(apiclient.KindInterrupted, "interrupted; %d waiting", report.Waiting),
			"see: fundesk outbox list",
		)
	case report.Rejected > 0:
		return cli.WithHint(
			cli.Failure(apiclient.KindPartial, "%d refused: %s", report.Refused, report.RejectedErr),
			"see: fundesk outbox list",
		)
	case report.Refused > 0:
		return cli.WithHint(
			cli.Failure(apiclient.KindPartial, "%d refused earlier", report.Refused),
			"see: fundesk outbox list",
		)
	case report.Newer > 0:
		return cli.WithHint(
			cli.Failure(
				apiclient.KindPartial,
				"%d made by a later version of fundesk, which can send them",
				report.Newer,
			),
			"see: fundesk outbox list",
		)
	case report.Damaged > 0:
		return cli.WithHint(
			cli.Failure(apiclient.KindPartial, "%s not read and not sent", cli.Count(report.Damaged, "change")),
			"see: fundesk doctor",
		)
	case report.Stuck > 0:
		return cli.WithHint(
			cli.Failure(
				apiclient.KindPartial,
				"%d waiting for a change that was refused or whose outcome is unknown",
				report.Stuck,
			),
			"see: fundesk outbox list",
		)
	case waiting:
		return cli.Failure(apiclient.KindUnavailable, "%d waiting: %s", report.Waiting, report.Err)
	default:
		return nil
	}
}

func outboxDrop(s *cli.Session) *cobra.Command {
	var yes, all bool
	cmd := &cobra.Command{
		Use:   "drop ID… | --all",
		Short: "Delete unsent changes",
		Args:  cobra.ArbitraryArgs,
		Long: "Delete changes that are unsent or refused. drop asks first, because the text in them is lost.\n" +
			"Dropping a held change (--hold) stops it before it is sent.",
		Example: "  fundesk outbox drop 01k3f9c2 --yes\n  fundesk outbox drop --all --yes\n" +
			"  fundesk outbox list -o tsv --jq '.[] | select(.state == \"rejected\") | .id' |\n" +
			"    xargs --no-run-if-empty fundesk outbox drop --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return cli.UsageError("--all cannot be combined with IDs")
			}
			if !all && len(args) == 0 {
				return cli.Missing(cmd, 0)
			}
			return dropEntries(cmd.Context(), s, args, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&all, "all", false, "delete everything, for every service and account")
	return cmd
}

// dropEntries throws away the entries that are named, all of them without a name.
func dropEntries(ctx context.Context, s *cli.Session, ids []string, yes bool) error {
	box, err := s.AnyOutbox()
	if err != nil {
		return err
	}
	var entries []outbox.Entry
	for _, id := range ids {
		entry, err := box.Show(id)
		if err != nil {
			return aboutEntry(id, err)
		}
		entries = append(entries, entry)
	}
	if len(ids) == 0 {
		entries, _, err = box.List()
		if err != nil {
			return cli.Failure(apiclient.KindFailure, "list the outbox: %s", err)
		}
	}
	if len(entries) == 0 {
		s.Note("the outbox is empty")
		return nil
	}
	if err := s.Ask(ctx, yes, dropQuestion(entries)); err != nil {
		return err
	}
	var failed []error
	var dropped []outbox.Entry
	for _, entry := range entries {
		if err := aboutEntry(entry.ID, box.Drop(entry.ID)); err != nil {
			failed = append(failed, err)
			continue
		}
		dropped = append(dropped, entry)
	}
	freeDonors(ctx, s, dropped)
	if len(entries) == 1 {
		return errors.Join(failed...)
	}
	return cli.Partial(failed, len(entries))
}

// dropQuestion describes the entries to be dropped, and their service.
func dropQuestion(entries []outbox.Entry) string {
	services := map[string]bool{}
	for _, entry := range entries {
		services[(&cli.Target{BaseURL: entry.BaseURL}).Service()] = true
	}
	at := " at " + strings.Join(slices.Sorted(maps.Keys(services)), ", ")
	if len(entries) == 1 {
		return "throw away entry " + entries[0].ID + ", " + entries[0].Op + at
	}
	return "throw away " + strconv.Itoa(len(entries)) + " entries" + at
}

// Enqueue puts changes into the outbox and then tries all of them once, at once or after they
// were held.
func Enqueue(ctx context.Context, s *cli.Session, changes []apiclient.Change, hold time.Duration) ([]delivery, error) {
	box, err := s.Outbox(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]delivery, len(changes))
	ids := make([]string, len(changes))
	for i, ch := range changes {
		results[i].Item = ch
		// By the time it is sent, its record may have changed.
		entry := outbox.Entry{Change: s.Client.WithShown(ctx, ch)}
		if hold > 0 {
			entry.NotBefore = s.App.Now().Add(hold)
		}
		entry, err := box.Add(entry)
		if err != nil {
			results[i].Err = cli.UnsavedFailure("put the change into the outbox: %s", err)
			continue
		}
		ids[i] = entry.ID
	}
	held := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
	if hold > 0 && len(held) > 0 {
		if err := waitHeld(ctx, s, box, held, hold); err != nil {
			return nil, err
		}
	}
	events := map[string]outbox.Event{}
	_, err = box.Sender(s.Client, outbox.SenderOptions{Notify: func(e outbox.Event) { events[e.Entry.ID] = e }}).
		SendDue(ctx)
	for i, id := range ids {
		if results[i].Err != nil {
			continue
		}
		event, isKnown := events[id]
		if !isKnown {
			event = endOf(ctx, s, box, id)
		}
		results[i].Value, results[i].Err = queuedResult(s, id, event, err)
	}
	return results, nil
}

// endOf returns the outcome of an entry that another process sent or dropped. While that process works on it, endOf
// waits.
func endOf(ctx context.Context, s *cli.Session, box *outbox.Outbox, id string) outbox.Event {
	const often = 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += often {
		event, isOver := box.End(id)
		if isOver || waited > s.Flags.Timeout || apiclient.Pause(ctx, often) != nil {
			return event
		}
	}
}

// waitHeld waits for the end of a hold. An interrupt undoes the changes. A change that is gone by then was dropped, or
// another program has it.
func waitHeld(ctx context.Context, s *cli.Session, box *outbox.Outbox, ids []string, hold time.Duration) error {
	what := "fundesk outbox drop " + ids[0]
	if len(ids) > 1 {
		what = "fundesk outbox drop ID"
	}
	s.Note("held for %s; ctrl+c or %s undoes it", hold, what)
	wait := s.App.Sleep
	if wait == nil {
		wait = apiclient.Pause
	}
	if wait(ctx, hold) == nil {
		return nil
	}
	back := 0
	for _, id := range ids {
		if _, err := box.Recall(id); err == nil {
			back++
		}
	}
	return cli.Failure(
		apiclient.KindInterrupted,
		"interrupted; %d of %s taken back, and not sent",
		back,
		cli.Count(len(ids), "change"),
	)
}

// queuedResult returns the answer to an accepted entry, without a body if the outbox has no record, or the reason why
// the entry is still in the outbox.
func queuedResult(s *cli.Session, id string, event outbox.Event, spool error) (*apiclient.Response, error) {
	why := "it waits for its turn"
	switch {
	case event.Outcome == outbox.OutcomeDropped && event.Entry.SentAt.IsZero():
		return nil, cli.Failure(apiclient.KindFailure, "the change was undone and not sent")
	case event.Outcome == outbox.OutcomeDropped, errors.Is(event.Err, outbox.ErrNotFound):
		return nil, &apiclient.Error{
			Kind:    apiclient.KindUnknownOutcome,
			Sent:    true,
			Message: "the change left the outbox, and its outcome is unknown",
		}
	case event.Outcome == outbox.OutcomeAccepted:
		header := http.Header{}
		header.Set(apitype.EffectsHeader, string(event.Effect))
		return &apiclient.Response{
			Status:      http.StatusOK,
			Header:      header,
			Body:        event.Record,
			EditedSince: event.EditedSince,
		}, nil
	case event.Outcome == outbox.OutcomeRejected && event.Err != nil:
		return nil, cli.WithHint(event.Err, "it stays in the outbox: fundesk outbox show "+id)
	case event.Err != nil:
		why = event.Err.Error()
	case spool != nil:
		why = spool.Error()
	}
	return nil, waitHint(s, &apiclient.Error{
		Kind:      apiclient.KindUnknownOutcome,
		Retryable: true,
		Message:   fmt.Sprintf("the change waits in the outbox as %s: %s", id, why),
	})
}

// waitHint adds the command that sends what waits to an error.
func waitHint(s *cli.Session, err error) error {
	return cli.WithHint(err, "send it: fundesk outbox send"+cli.TargetFlag(s.Target))
}

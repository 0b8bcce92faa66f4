package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
	"fundesk/apiclient/outbox"
	"fundesk/commands/bulk"
	"fundesk/render"
)

func outboxCommand(s *session) *cobra.Command {
	return group(s, "outbox", "Changes that were not sent yet, or were refused. The terminal interface and --outbox put them here;\nthey are on disk before they are sent.",
		"  fundesk outbox list\n  fundesk outbox send",
		verb{"list", outboxList}, verb{"show", outboxShow}, verb{"send", outboxSend}, verb{"drop", outboxDrop})
}

// outbox opens the spool of the chosen service and account.
func (s *session) outbox(ctx context.Context) (*outbox.Outbox, error) {
	client, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	account, err := client.Identity(ctx)
	if err != nil {
		return nil, err
	}
	return s.openOutbox(outbox.Options{BaseURL: client.BaseURL(), Account: account, Now: s.app.Now})
}

// anyOutbox opens the spool without asking for a token: to look, not to send.
func (s *session) anyOutbox() (*outbox.Outbox, error) {
	return s.openOutbox(outbox.Options{Now: s.app.Now})
}

func (s *session) openOutbox(o outbox.Options) (*outbox.Outbox, error) {
	dir, err := s.stateDir()
	if err != nil {
		return nil, err
	}
	err = durable.CheckTrust(dir)
	var box *outbox.Outbox
	if err == nil {
		box, err = outbox.Open(filepath.Join(dir, "outbox"), o)
	}
	if err != nil {
		return nil, withHint(failure(apiclient.KindFailure, "open the outbox: %s", err), "FUNDESK_STATE_DIR names another folder for it")
	}
	return box, nil
}

// shownEntry is an entry as outbox list shows it.
type shownEntry struct {
	ID        string          `json:"id"`
	State     outbox.State    `json:"state"`
	Op        string          `json:"op"`
	UUID      *string         `json:"uuid"` // Nil: of no single record.
	Method    string          `json:"method"`
	Path      string          `json:"path"`
	CreatedAt string          `json:"createdAt"`
	Tries     int             `json:"tries"`
	LastError *string         `json:"lastError"`
	Service   string          `json:"service"`
	Body      json.RawMessage `json:"body,omitempty"`
}

func newShownEntry(e outbox.Entry) shownEntry {
	shown := shownEntry{
		ID: e.ID, State: e.State, Op: e.Op, Method: e.Method, Path: e.Path,
		CreatedAt: apitype.NewTime(e.CreatedAt).String(), Tries: e.Tries, Service: e.BaseURL,
	}
	if !e.UUID.IsZero() {
		shown.UUID = new(e.UUID.String())
	}
	if e.LastError != "" {
		shown.LastError = &e.LastError
	}
	return shown
}

// orNone is a text, "" for nil.
func orNone(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func entryColumns() []render.Column[shownEntry] {
	text := func(name string, value func(shownEntry) string) render.Column[shownEntry] {
		return render.Column[shownEntry]{Name: name, Default: true, Value: value}
	}
	created := text("createdAt", func(e shownEntry) string { return e.CreatedAt })
	created.Title = "created"
	created.Cell = func(e shownEntry, v render.View) render.Text {
		t, err := time.Parse(time.RFC3339, e.CreatedAt)
		if err != nil {
			return render.Text{Text: e.CreatedAt}
		}
		return render.Text{Text: v.Locale.Relative(t, v.Now)}
	}
	problem := text("lastError", func(e shownEntry) string { return orNone(e.LastError) })
	problem.Flexible = true
	return []render.Column[shownEntry]{
		text("id", func(e shownEntry) string { return e.ID }),
		text("state", func(e shownEntry) string { return string(e.State) }),
		text("op", func(e shownEntry) string { return e.Op }),
		text("uuid", func(e shownEntry) string { return orNone(e.UUID) }),
		created,
		text("tries", func(e shownEntry) string { return strconv.Itoa(e.Tries) }),
		problem,
		{Name: "method", Value: func(e shownEntry) string { return e.Method }},
		{Name: "path", Value: func(e shownEntry) string { return e.Path }},
		{Name: "service", Value: func(e shownEntry) string { return e.Service }},
	}
}

func outboxList(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List what is not sent yet", Args: noArgs,
		Long: "List changes that wait for the service, whose outcome is not known, or that it refused. They stay on disk\n" +
			"until they are sent or dropped.",
		Example: "  fundesk outbox list\n  fundesk outbox list -o json --jq '.[] | select(.state == \"rejected\") | .id'",
		RunE: func(_ *cobra.Command, _ []string) error {
			box, err := s.anyOutbox()
			if err != nil {
				return err
			}
			entries, damaged, err := box.List()
			if err != nil {
				return failure(apiclient.KindFailure, "list the outbox: %s", err)
			}
			shown := make([]shownEntry, len(entries))
			for i, entry := range entries {
				shown[i] = newShownEntry(entry)
			}
			for _, d := range damaged {
				s.warn("a damaged file was set aside: %s (%s)", d.Path, d.Reason)
			}
			return showList(s, "id", entryColumns(), shown)
		},
	}
}

func outboxShow(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show one change as it will be sent", Args: needExactly(1),
		Long: "Show one change with the exact bytes that will be sent, and why it was not sent yet.",
		Example: "  fundesk outbox show 01k3f9c2\n" +
			"  fundesk outbox show 01k3f9c2 -o json --jq .body",
		RunE: func(_ *cobra.Command, args []string) error {
			_, entry, err := s.entry(args[0])
			if err != nil {
				return err
			}
			shown := newShownEntry(entry)
			if json.Valid(entry.Body) {
				shown.Body = entry.Body
			}
			return showOne(s, shown, entryFields(shown))
		},
	}
}

func entryFields(e shownEntry) []pair {
	fields := []pair{
		{"id", e.ID},
		{"state", string(e.State)},
		{"op", e.Op},
		{"uuid", orNone(e.UUID)},
		{"service", e.Service},
		{"request", e.Method + " " + e.Path},
		{"body", string(e.Body)},
		{"created", e.CreatedAt},
		{"tries", strconv.Itoa(e.Tries)},
	}
	if e.LastError != nil {
		fields = append(fields, pair{"last error", *e.LastError})
	}
	return fields
}

// entry finds an entry of any service.
func (s *session) entry(id string) (*outbox.Outbox, outbox.Entry, error) {
	box, err := s.anyOutbox()
	if err != nil {
		return nil, outbox.Entry{}, err
	}
	entry, err := box.Show(id)
	return box, entry, aboutEntry(id, err)
}

// aboutEntry is the error of an entry.
func aboutEntry(id string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, outbox.ErrNotFound) {
		return withHint(failure(apiclient.KindNotFound, "there is no entry %s in the outbox", quote(id)), "see: fundesk outbox list")
	}
	return failure(apiclient.KindFailure, "entry %s: %s", quote(id), err)
}

func outboxSend(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "send", Short: "Send what waits", Args: noArgs,
		Long: "Send what waits for this service and account. What is held is not sent before its time.",
		Example: "  fundesk outbox send --profile prod\n" +
			"  fundesk outbox send -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			box, err := s.outbox(cmd.Context())
			if err != nil {
				return err
			}
			report, err := box.Sender(s.client, outbox.SenderOptions{}).SendDue(cmd.Context())
			if err != nil {
				return failure(apiclient.KindFailure, "send the outbox: %s", err)
			}
			if n := s.othersWait(box); n > 0 {
				s.note("%s kept for other accounts or services; see: fundesk outbox list", count(n, "change"))
			}
			problem := sendOutcome(report)
			if problem != nil && wantsJSON(s.args) { // stdout stays empty beside an error line.
				return problem
			}
			counts := map[string]int{"sent": report.Accepted, "refused": report.Rejected, "waiting": report.Waiting}
			return errors.Join(showOne(s, counts, []pair{
				{"sent", strconv.Itoa(report.Accepted)}, {"refused", strconv.Itoa(report.Rejected)}, {"waiting", strconv.Itoa(report.Waiting)},
			}), problem)
		},
	}
}

// othersWait is how many changes lie beside those of this service and account.
func (s *session) othersWait(own *outbox.Outbox) int {
	box, err := s.anyOutbox()
	if err != nil {
		return 0
	}
	all, _, err := box.List()
	if err != nil {
		return 0
	}
	mine, _, err := own.List()
	if err != nil {
		return 0
	}
	return len(all) - len(mine)
}

// sendOutcome is the error of a round of sending.
func sendOutcome(report outbox.Report) error {
	waiting := report.Err != nil
	switch {
	case waiting && apiclient.KindOf(report.Err) == apiclient.KindUnauthenticated:
		return report.Err
	case waiting && apiclient.KindOf(report.Err) == apiclient.KindInterrupted:
		return withHint(failure(apiclient.KindInterrupted, "interrupted; %d wait", report.Waiting), "see: fundesk outbox list")
	case report.Rejected > 0:
		return withHint(failure(apiclient.KindPartial, "%d refused: %s", report.Rejected, errorText(report.RejectedErr)), "see: fundesk outbox list")
	case waiting:
		return failure(apiclient.KindUnavailable, "%d wait: %s", report.Waiting, report.Err)
	default:
		return nil
	}
}

func errorText(err error) string {
	if err == nil {
		return "see the outbox"
	}
	return err.Error()
}

func outboxDrop(s *session) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "drop ID", Short: "Throw away a change", Args: needExactly(1),
		Long: "Throw away a change that is not sent yet, or that the service refused. It asks first; what was typed into\n" +
			"it is gone.",
		Example: "  fundesk outbox drop 01k3f9c2 --yes\n" +
			"  fundesk outbox list -o tsv --columns id | head -1 | xargs fundesk outbox drop --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			box, entry, err := s.entry(args[0])
			if err != nil {
				return err
			}
			of := &target{baseURL: entry.BaseURL}
			if err := s.ask(cmd.Context(), yes, "throw away entry "+args[0]+", "+entry.Op+" at "+of.service()); err != nil {
				return err
			}
			return aboutEntry(args[0], box.Drop(args[0]))
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// queueChange puts a change into the outbox and tries it at once. The record is nil
// when it waits.
func (s *session) queueChange(ctx context.Context, ch apiclient.Change) (json.RawMessage, error) {
	results, err := s.queueChanges(ctx, []apiclient.Change{ch})
	if err != nil {
		return nil, err
	}
	return results[0].Value, results[0].Err
}

// queueChanges puts changes into the outbox and then tries all of them once.
func (s *session) queueChanges(ctx context.Context, changes []apiclient.Change) ([]bulk.Outcome[apiclient.Change, json.RawMessage], error) {
	box, err := s.outbox(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]bulk.Outcome[apiclient.Change, json.RawMessage], len(changes))
	ids := make([]string, len(changes))
	for i, ch := range changes {
		results[i].Item = ch
		entry, err := box.Add(outbox.NewEntry(ch))
		if err != nil {
			results[i].Err = failure(apiclient.KindFailure, "put the change into the outbox: %s", err)
		}
		ids[i] = entry.ID
	}
	events := map[string]outbox.Event{}
	_, err = box.Sender(s.client, outbox.SenderOptions{Notify: func(e outbox.Event) { events[e.Entry.ID] = e }}).SendDue(ctx)
	for i, id := range ids {
		if results[i].Err == nil {
			event, tried := events[id]
			results[i].Value, results[i].Err = queuedResult(id, event, tried, err)
		}
	}
	return results, nil
}

// queuedResult is the record of an entry that was accepted, or why it is still in the
// outbox.
func queuedResult(id string, event outbox.Event, tried bool, spool error) (json.RawMessage, error) {
	why := "it waits for its turn"
	switch {
	case event.Outcome == outbox.OutcomeAccepted:
		return event.Record, nil
	case event.Outcome == outbox.OutcomeRejected && event.Err != nil:
		return nil, withHint(event.Err, "it stays in the outbox: fundesk outbox show "+id)
	case tried && event.Err != nil:
		why = event.Err.Error()
	case spool != nil:
		why = spool.Error()
	}
	return nil, withHint(&apiclient.Error{Kind: apiclient.KindUnknownOutcome, Retryable: true, Message: fmt.Sprintf("the change waits in the outbox as %s: %s", id, why)},
		"send it: fundesk outbox send")
}

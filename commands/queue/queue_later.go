package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/change"
	"fundesk/commands/cli"
)

// putOff describes how calls are deferred or given back.
type putOff struct {
	at                      string
	user                    *apitype.UUID
	anyone                  bool
	reason                  string
	yes, dryRun, allowEmpty bool
	method, path            string // Of the request; %s is the call or the lease.
	send                    func(*apiclient.QueueService, context.Context, apitype.UUID, apitype.DeferRequest) error
	endsLease               bool // The arguments are leases. A lease uses up the callback of its call.
}

func (d *putOff) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.at, "at", "", "when it is due: RFC 3339, 2026-11-24 14:00, tomorrow 18:00, fri 10:30, in 2 hours")
	f.Var(cli.UUIDValue(&d.user), "user", "reserve it for this user (default: the profile's agent)")
	f.BoolVar(&d.anyone, "anyone", false, "let any agent get it")
	f.StringVar(&d.reason, "reason", "", "what the callback is about, 200 characters at most")
	f.BoolVar(&d.yes, "yes", false, "do not ask")
	f.BoolVar(&d.dryRun, "dry-run", false, "print the request and send nothing")
	cli.OnPage(cmd, "changes", "yes", "dry-run")
}

func (d *putOff) request(s *cli.Session) (apitype.DeferRequest, error) {
	var r apitype.DeferRequest
	if d.anyone && d.user != nil {
		return r, cli.UsageError("--user and --anyone cannot be combined")
	}
	if d.at == "" {
		if d.anyone || d.user != nil {
			return r, cli.UsageError("--user and --anyone go with --at")
		}
		if d.reason != "" {
			return r, cli.UsageError("--reason needs --at")
		}
		return r, nil
	}
	at, err := apitype.ParseTimeAhead(d.at, s.App.Now(), time.Local)
	if err != nil {
		return r, cli.UsageError("--at " + err.Error())
	}
	r.NotBefore, r.UserUUID = new(apitype.NewTime(at)), d.user
	if d.reason != "" {
		r.Reason = &d.reason
		if err := change.Refuse(r.Validate(s.App.Now())); err != nil {
			return r, err
		}
	}
	if !d.anyone {
		err = s.Agent(&r.UserUUID)
	}
	return r, err
}

// run gives back or defers the calls or leases that the arguments name, and notes until when.
func (d *putOff) run(s *cli.Session, cmd *cobra.Command, args []string) error {
	r, err := d.request(s)
	if err != nil {
		return err
	}
	named, err := s.Targets(cmd.Context(), args, d.allowEmpty)
	if err != nil {
		return err
	}
	printed, err := change.NewResults(s) // Before anything is sent.
	if err != nil {
		return err
	}
	ids, many := bulk.Distinct(named), len(args) > 1 || args[0] == "-"
	if d.dryRun {
		noteUntil(s, r)
		body, _ := json.Marshal(r)
		return change.PrintRequests(s, many, bulk.Each(slices.Values(ids), func(id apitype.UUID) apiclient.Change {
			return apiclient.Change{Method: d.method, Path: fmt.Sprintf(d.path, id), Body: body}
		}))
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	if r.Reason != nil {
		has, err := client.Has(cmd.Context(), apitype.ExtensionAttempts)
		if err != nil {
			return err
		}
		if !has {
			return cli.Failure(apiclient.KindRejected, "the service keeps no reason of a callback")
		}
	}
	now, err := d.readCallbacks(cmd.Context(), client, r, ids)
	if err != nil {
		return err
	}
	noteUntil(s, r)
	question, asks, err := d.question(s, cmd.Name(), r, len(ids), now)
	if err != nil {
		return err
	}
	if len(ids) > 0 && (many || asks) {
		if err := s.AskChange(cmd.Context(), d.yes, question, nil, len(ids)); err != nil {
			return err
		}
	}
	send := func(ctx context.Context, id apitype.UUID) error {
		return aboutDeferral(d.send(client.Queue, ctx, id, now.against(id, r)))
	}
	if !many {
		return send(cmd.Context(), ids[0])
	}
	answered := func(ctx context.Context, id apitype.UUID) (*apiclient.Response, error) {
		return &apiclient.Response{Status: http.StatusNoContent}, send(ctx, id)
	}
	outcomes := bulk.InOrder(cmd.Context(), bulk.DefaultConcurrency, slices.Values(ids), answered)
	return change.PrintOutcomes(printed, outcomes, func(id apitype.UUID) apitype.UUID { return id }, len(ids))
}

// callbacks are the present callbacks, against which deferrals are made.
type callbacks struct {
	of       map[apitype.UUID]apitype.Deferral // By call; of the calls that are deferred.
	replaces bool                              // The service compares them.
}

// readCallbacks reads the callbacks of the calls. The call of a lease has none.
func (d *putOff) readCallbacks(
	ctx context.Context,
	client *apiclient.Client,
	r apitype.DeferRequest,
	ids []apitype.UUID,
) (callbacks, error) {
	var now callbacks
	if r.NotBefore == nil {
		return now, nil
	}
	has, err := client.Has(ctx, apitype.ExtensionPending)
	if err != nil {
		return now, err
	}
	now.replaces = has
	if d.endsLease || len(ids) == 0 {
		return now, nil
	}
	wanted := make(map[apitype.UUID]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	now.of = make(map[apitype.UUID]apitype.Deferral)
	options := apiclient.AllOptions{PageSize: apitype.MaxPageSize}
	for record, err := range client.Queue.Deferrals.All(ctx, apitype.QueueDeferralListOptions{}, options) {
		deferral, err := apiclient.Decoded(record, err)
		if err != nil {
			return now, err
		}
		if wanted[deferral.CallUUID] {
			now.of[deferral.CallUUID] = deferral
		}
		if len(now.of) == len(wanted) {
			break
		}
	}
	return now, nil
}

// against returns the deferral of a call with the callback that it replaces.
func (c callbacks) against(id apitype.UUID, r apitype.DeferRequest) apitype.DeferRequest {
	if !c.replaces {
		return r
	}
	r.Replaces = &apitype.Replaces{}
	if deferral, has := c.of[id]; has {
		r.Replaces.NotBefore = &deferral.NotBefore
	}
	return r
}

// ofOthers returns the callbacks that are kept for other users than the given ones.
func (c callbacks) ofOthers(users ...*apitype.UUID) []apitype.Deferral {
	var others []apitype.Deferral
	for _, deferral := range c.of {
		isOwn := func(user *apitype.UUID) bool { return user != nil && *user == *deferral.UserUUID }
		if deferral.UserUUID != nil && !slices.ContainsFunc(users, isOwn) {
			others = append(others, deferral)
		}
	}
	return others
}

// question returns the question before the deferrals. It reports whether to ask it of one call, too: the deferral
// replaces a callback of another user, or is far ahead.
func (d *putOff) question(
	s *cli.Session,
	verb string,
	r apitype.DeferRequest,
	calls int,
	now callbacks,
) (text string, asks bool, err error) {
	var agent *apitype.UUID
	if err := s.Agent(&agent); err != nil {
		return "", false, err
	}
	others := now.ofOthers(agent, r.UserUUID)
	text = "queue " + verb + " for " + cli.Count(calls, "call")
	switch len(others) {
	case 0:
	case 1:
		text += ", replacing the callback of " + keeper(s, others[0]) + " (" + spoken(others[0].NotBefore) + ")"
	default:
		text += ", replacing " + cli.Count(len(others), "callback") + " of other users"
	}
	isFar := r.NotBefore != nil && r.NotBefore.Sub(s.App.Now()) > farAhead
	if isFar {
		text += ", more than 60 days ahead (" + spoken(*r.NotBefore) + ")"
	}
	return text, len(others) > 0 || isFar, nil
}

// farAhead is the time ahead beyond which a callback is asked about.
const farAhead = 60 * 24 * time.Hour

// keeper names the user that a callback is kept for, off a terminal by the identifier alone.
func keeper(s *cli.Session, deferral apitype.Deferral) string {
	if deferral.Name != nil && cli.IsTerminal(s.App.Err) {
		return *deferral.Name
	}
	return "user " + deferral.UserUUID.String()
}

// aboutDeferral adds a hint to a conflict.
func aboutDeferral(err error) error {
	if apiclient.KindOf(err) != apiclient.KindConflict {
		return err
	}
	if _, isLeased := errors.AsType[*apiclient.LeaseHeldError](err); isLeased {
		return cli.WithHint(err, "its user can defer it; see: fundesk queue leases, and fundesk queue release")
	}
	return cli.WithHint(
		err,
		"fundesk queue callbacks lists what is deferred now; to replace that, run the command again",
	)
}

// noteUntil notes the time that was understood.
func noteUntil(s *cli.Session, r apitype.DeferRequest) {
	if r.NotBefore != nil {
		s.Note("due %s", spoken(*r.NotBefore))
	}
}

func spoken(at apitype.Time) string {
	return at.In(time.Local).Format("Monday 2 January 2006 15:04 MST")
}

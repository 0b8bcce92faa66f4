package commands

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// watchFlags are the flags of call watch.
type watchFlags struct {
	filters  callFilters
	interval time.Duration
	count    int
	since    *apitype.Time
}

func callWatch(s *session) *cobra.Command {
	w := &watchFlags{}
	cmd := &cobra.Command{
		Use: "watch", Short: "Print calls as they change", Args: noArgs,
		Long: "Ask the service again and again for calls that changed, and print each change once, until it is\ninterrupted. The service has no events: it is polled with updatedAfter. One that\ngoes away is tried on, and what changed meanwhile is printed then; a refusal ends the watch.",
		Example: "  fundesk call watch --status completed\n" +
			"  fundesk call watch --interval 10s -o ndjson --jq '{uuid, status}'",
		RunE: func(cmd *cobra.Command, _ []string) error { return w.run(s, cmd) },
	}
	w.filters.register(s, cmd)
	f := cmd.Flags()
	s.unpagedFlag(cmd)
	f.DurationVar(&w.interval, "interval", 5*time.Second, "time between two requests, at least 1s")
	f.IntVar(&w.count, "count", 0, "end after this many changes (default: never)")
	f.Var(timeValue(s.app.Now, &w.since), "since", "begin with what changed after this time (default: now)")
	return cmd
}

func (w *watchFlags) run(s *session, cmd *cobra.Command) error {
	if err := w.filters.check(); err != nil {
		return err
	}
	if w.interval < time.Second || w.count < 0 {
		return usageError("--interval must be at least 1s, and --count not negative")
	}
	w.filters.includeFor(s.wantedColumns())
	if w.filters.options.UpdatedAfter != nil {
		return usageError("--updated-after is what watch keeps itself; use --since")
	}
	options, err := s.output()
	if err != nil {
		return err
	}
	if options.Format == render.JSON { // Of --jq alone.
		options.Format = render.NDJSON
	}
	options.Endless = true
	client, err := s.connect(cmd.Context())
	if err != nil {
		return err
	}
	watcher := &watcher{flags: w, session: s, options: options, client: client, seen: map[apitype.UUID]callVersion{}, fromNow: w.since == nil, passes: w.filters.passes()}
	s.setNow(&w.since)
	watcher.after = *w.since
	for {
		done, err := watcher.poll(cmd.Context())
		wait := w.interval
		if err != nil {
			if wait, err = watcher.outage(err); err != nil {
				return err
			}
		}
		if done {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-cmd.Context().Done():
			timer.Stop()
			return cmd.Context().Err()
		}
	}
}

// watcher is one watch: what it has printed, and where it asks from.
type watcher struct {
	flags      *watchFlags
	session    *session
	options    render.Options
	client     *apiclient.Client
	seen       map[apitype.UUID]callVersion
	after      apitype.Time
	fromNow    bool // Now was meant, and the service has not told its own yet.
	passes     func(apitype.Call) bool
	printed    int
	reached    bool // The service has answered.
	outageTold bool // It did not the last time, and that was told.
}

// outage is how long to wait for a service that went away, or the error that ends the
// watch. A restart is told once, and what changed meanwhile is printed after it.
func (w *watcher) outage(err error) (time.Duration, error) {
	known, _ := errorAs(err)
	if !w.reached || known == nil || known.Kind != apiclient.KindUnavailable || !known.Retryable {
		return 0, err
	}
	if !w.outageTold {
		w.session.note("%s; trying on", known)
	}
	w.outageTold = true
	return max(w.flags.interval, known.RetryAfter), nil
}

// poll prints what changed since the last poll, oldest first.
func (w *watcher) poll(ctx context.Context) (done bool, err error) {
	var changed []apiclient.Record[apitype.Call]
	seen := map[apitype.UUID]callVersion{} // Not w.seen yet: what breaks off is not printed.
	o := w.flags.filters.options
	o.UpdatedAfter = new(w.after)
	var newest apitype.Time
	for record, err := range w.client.Calls.All(ctx, o, apiclient.AllOptions{Answered: w.answered}) {
		if err != nil {
			return false, err
		}
		call, err := record.Decode()
		if err != nil {
			return false, err
		}
		if call.LastUpdatedAt.After(newest.Time) {
			newest = call.LastUpdatedAt
		}
		version := versionOf(call)
		if holds(w.seen, call.UUID, version) || holds(seen, call.UUID, version) {
			continue
		}
		seen[call.UUID] = version
		if w.passes == nil || w.passes(call) {
			changed = append(changed, record)
		}
	}
	w.reached, w.outageTold = true, false
	maps.Copy(w.seen, seen)
	// A change may become visible after a later one: look back a little, and know what
	// was printed.
	if back := newest.Add(-pullOverlap); back.After(w.after.Time) {
		w.after = apitype.NewTime(back)
		maps.DeleteFunc(w.seen, func(_ apitype.UUID, v callVersion) bool { return v.updated <= back.UnixMilli() })
	}
	return w.print(changed)
}

// callVersion tells a call that changed from the same one: by more than the time, of which
// a service may keep whole seconds only.
type callVersion struct {
	updated  int64 // Milliseconds of the epoch.
	status   apitype.CallStatus
	attempts int
}

func versionOf(call apitype.Call) callVersion {
	return callVersion{call.LastUpdatedAt.UnixMilli(), call.Status, call.AttemptsCount}
}

// holds reports whether a call was seen as it is.
func holds(seen map[apitype.UUID]callVersion, id apitype.UUID, version callVersion) bool {
	known, ok := seen[id]
	return ok && known == version
}

// answered begins with the service's own now, if it is earlier: a clock of this machine
// that is ahead would hide all changes until the service's has come up with it.
func (w *watcher) answered(header http.Header) {
	if now := began(header, w.after.Time); w.fromNow && now.Before(w.after.Time) {
		w.after = apitype.NewTime(now)
	}
	w.fromNow = false
}

func (w *watcher) print(changed []apiclient.Record[apitype.Call]) (done bool, err error) {
	if len(changed) == 0 {
		return false, nil
	}
	list, err := render.NewList(w.session.app.Out, render.CallColumns(), w.options)
	if err != nil {
		return false, usageError(err.Error())
	}
	w.options.NoHeader = true
	for _, record := range slices.Backward(changed) {
		if err := list.Add(json.RawMessage(record.Raw), record.Decode); err != nil {
			return false, err
		}
		if w.printed++; w.printed == w.flags.count {
			return true, list.Close()
		}
	}
	return false, list.Close()
}

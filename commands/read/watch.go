package read

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
)

// watchFlags are the flags of the verb watch.
type watchFlags struct {
	interval time.Duration
	count    int
	since    *apitype.Time
}

// watchedNoun is how the changes of a noun are found.
type watchedNoun[T any, O apiclient.ListOptions] struct {
	options *O
	after   func(apitype.Time) // Puts the time after which to ask into the options.
	of      func(*apiclient.Client) *apiclient.Collection[T, O]
	columns []render.Column[T]
	version func(T) version
	passes  func(T) bool // Nil: everything passes.
}

// version tells a record that changed from the same one: by more than the time, of which a
// service may keep whole seconds only.
type version struct {
	id      apitype.UUID
	updated int64 // By which the service filters, in milliseconds of the epoch.
	state   string
}

func CallWatch(s *cli.Session) *cobra.Command {
	filters := &CallFilters{}
	cmd := watchCommand(s, "call", "change", "updatedAfter", func() (watchedNoun[apitype.Call, apitype.CallListOptions], error) {
		o := &filters.Options
		err := filters.Check()
		return watchedNoun[apitype.Call, apitype.CallListOptions]{
			options: o, after: func(t apitype.Time) { o.UpdatedAfter = &t }, of: Calls, columns: filters.Columns(s), passes: filters.Passes(),
			version: func(c apitype.Call) version {
				return version{c.UUID, c.LastUpdatedAt.UnixMilli(), string(c.Status) + " " + strconv.Itoa(c.AttemptsCount)}
			},
		}, err
	})
	cmd.Example = "  fundesk call watch --status completed\n  fundesk call watch --interval 10s -o ndjson --jq '{uuid, status}'"
	filters.Register(s, cmd, "updatedAfter")
	return cmd
}

func PersonWatch(s *cli.Session) *cobra.Command {
	o := &apitype.PersonListOptions{}
	cmd := watchCommand(s, "person", "are created", "createdAfter", func() (watchedNoun[apitype.Person, apitype.PersonListOptions], error) {
		return watchedNoun[apitype.Person, apitype.PersonListOptions]{
			options: o, after: func(t apitype.Time) { o.CreatedAfter = &t }, of: Persons, columns: render.PersonColumns(),
			version: func(p apitype.Person) version { return version{id: p.UUID, updated: p.CreatedAt.UnixMilli()} },
		}, nil
	})
	cmd.Example = "  fundesk person watch\n  fundesk person watch --since today -o ndjson"
	cli.RegisterFilters(s, cmd, apitype.PersonFilters()[:1], o) // The others are no filter of what is new.
	return cmd
}

func PledgeWatch(s *cli.Session) *cobra.Command {
	o := &apitype.PledgeListOptions{}
	cmd := watchCommand(s, "pledge", "change", "updatedAfter", func() (watchedNoun[apitype.Pledge, apitype.PledgeListOptions], error) {
		return watchedNoun[apitype.Pledge, apitype.PledgeListOptions]{
			options: o, after: func(t apitype.Time) { o.UpdatedAfter = &t }, of: Pledges, columns: FilledColumns(s, render.PledgeColumns(), func(string) bool { return false }),
			version: func(p apitype.Pledge) version { return version{p.UUID, p.UpdatedAt.UnixMilli(), string(p.Status)} },
		}, RefuseParameters(o.Validate())
	})
	cmd.Example = "  fundesk pledge watch --status active\n  fundesk pledge watch --since today -o ndjson --jq '{uuid, status}'"
	cli.RegisterFilters(s, cmd, cli.Without(apitype.PledgeFilters(), "updatedAfter"), o)
	return cmd
}

// watchCommand is the verb watch of a noun; happens is what is watched for, parameter what the
// service is asked with.
func watchCommand[T any, O apiclient.ListOptions](s *cli.Session, noun, happens, parameter string, watched func() (watchedNoun[T, O], error)) *cobra.Command {
	f := &watchFlags{}
	cmd := &cobra.Command{
		Use: "watch", Short: "Print " + noun + "s as they " + happens, Args: cli.NoArgs,
		Long: "Ask the service again and again for " + noun + "s that " + happens + ", and print each once, until it is\n" +
			"interrupted. The service has no events: it is polled with " + parameter + ". One that\n" +
			"goes away is tried on, and what came meanwhile is printed then; a refusal ends the watch.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.interval < time.Second || f.count < 0 {
				return cli.UsageError("--interval must be at least 1s, and --count not negative")
			}
			w, err := watched()
			if err != nil {
				return err
			}
			return runWatch(s, cmd, f, w)
		},
	}
	flags := cmd.Flags()
	s.UnpagedFlag(cmd)
	flags.DurationVar(&f.interval, "interval", 5*time.Second, "time between two requests, at least 1s")
	flags.IntVar(&f.count, "count", 0, "end after this many (default: never)")
	flags.Var(cli.TimeValue(s.App.Now, &f.since), "since", "begin with what came after this time (default: now)")
	return cmd
}

func runWatch[T any, O apiclient.ListOptions](s *cli.Session, cmd *cobra.Command, f *watchFlags, noun watchedNoun[T, O]) error {
	options, err := s.Output()
	if err != nil {
		return err
	}
	if options.Format == render.JSON { // Of --jq alone.
		options.Format = render.NDJSON
	}
	options.Endless = true
	if _, err := render.Select(noun.columns, options.Columns, false); err != nil {
		return err
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	w := &watcher[T, O]{watchedNoun: noun, flags: f, session: s, output: options, client: client, seen: map[apitype.UUID]version{}, fromNow: f.since == nil}
	s.SetNow(&f.since)
	w.from = *f.since
	for {
		done, err := w.poll(cmd.Context())
		wait := f.interval
		if err != nil {
			if wait, err = w.outage(err); err != nil {
				return err
			}
		}
		if done {
			return w.unreadable()
		}
		if err := apiclient.Pause(cmd.Context(), wait); err != nil {
			return err
		}
	}
}

// watcher is one watch: what it has printed, and where it asks from.
type watcher[T any, O apiclient.ListOptions] struct {
	watchedNoun[T, O]
	flags      *watchFlags
	session    *cli.Session
	output     render.Options
	client     *apiclient.Client
	seen       map[apitype.UUID]version
	from       apitype.Time
	fromNow    bool // Now was meant, and the service has not told its own yet.
	printed    int
	reached    bool // The service has answered.
	outageTold bool // It did not the last time, and that was told.
	unread     []error
}

// passOver tells of a record that cannot be read, once.
func (w *watcher[T, O]) passOver(err error) {
	if !slices.ContainsFunc(w.unread, func(known error) bool { return known.Error() == err.Error() }) {
		w.unread = append(w.unread, err)
		w.session.Warn("%s", err)
	}
}

// unreadable is the error of a watch that has passed over records.
func (w *watcher[T, O]) unreadable() error {
	if len(w.unread) == 0 {
		return nil
	}
	return unreadable(w.unread, true)
}

// outage is how long to wait for a service that went away, or the error that ends the
// watch. A restart is told once, and what changed meanwhile is printed after it.
func (w *watcher[T, O]) outage(err error) (time.Duration, error) {
	known, _ := cli.ErrorAs(err)
	if !w.reached || known == nil || known.Kind != apiclient.KindUnavailable || !known.Retryable {
		return 0, err
	}
	if !w.outageTold {
		w.session.Note("%s; trying on", known)
	}
	w.outageTold = true
	return max(w.flags.interval, known.RetryAfter), nil
}

// poll prints what changed since the last poll, oldest first.
func (w *watcher[T, O]) poll(ctx context.Context) (done bool, err error) {
	var changed []apiclient.Record[T]
	seen := map[apitype.UUID]version{} // Not w.seen yet: what breaks off is not printed.
	w.after(w.from)
	var newest int64
	for record, err := range w.of(w.client).All(ctx, *w.options, apiclient.AllOptions{Answered: w.answered}) {
		value, err := apiclient.Decoded(record, err)
		if errors.Is(err, apiclient.ErrUnreadable) && (record.Raw != nil || errors.Is(err, apiclient.ErrAtEnd)) {
			w.passOver(err)
			continue
		}
		if err != nil {
			return false, err
		}
		v := w.version(value)
		newest = max(newest, v.updated)
		if w.seen[v.id] == v || seen[v.id] == v {
			continue
		}
		seen[v.id] = v
		if w.passes == nil || w.passes(value) {
			changed = append(changed, record)
		}
	}
	w.reached, w.outageTold = true, false
	maps.Copy(w.seen, seen)
	// A change may become visible after a later one: look back a little, and know what
	// was printed.
	if back := time.UnixMilli(newest).Add(-pullOverlap); back.After(w.from.Time) {
		w.from = apitype.NewTime(back)
		maps.DeleteFunc(w.seen, func(_ apitype.UUID, v version) bool { return v.updated <= back.UnixMilli() })
	}
	return w.print(changed)
}

// answered begins with the service's own now, if it is earlier: a clock of this machine
// that is ahead would hide all changes until the service's has come up with it.
func (w *watcher[T, O]) answered(header http.Header) {
	if now := began(header, w.from.Time); w.fromNow && now.Before(w.from.Time) {
		w.from = apitype.NewTime(now)
	}
	w.fromNow = false
}

func (w *watcher[T, O]) print(changed []apiclient.Record[T]) (done bool, err error) {
	if len(changed) == 0 {
		return false, nil
	}
	list, err := render.NewList(w.session.App.Out, w.columns, w.output)
	if err != nil {
		return false, cli.UsageError(err.Error())
	}
	w.output.NoHeader = true
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

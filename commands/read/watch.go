package read

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// defaultInterval is the time between two readings of what has changed.
const defaultInterval = 5 * time.Second

// checkInterval refuses an --interval that is too short, or of a command that ends by itself.
func checkInterval(cmd *cobra.Command, isRepeated bool, interval time.Duration) error {
	switch given := cmd.Flags().Changed("interval"); {
	case given && !isRepeated:
		return cli.UsageError("--interval goes with what is done again and again")
	case interval < time.Second:
		return cli.UsageError("--interval must be at least 1s")
	default:
		return nil
	}
}

// follow reads again and again, until a round is the last one, fails, or is interrupted. A service that
// answered once and went away is tried on.
func follow(ctx context.Context, s *cli.Session, interval time.Duration, round func() (isLast bool, err error)) error {
	hasAnswered, isTold := false, false
	for {
		wait := interval
		isLast, err := round()
		known, _ := cli.ErrorAs(err)
		switch {
		case err == nil && isLast:
			return nil
		case err == nil:
			hasAnswered, isTold = true, false
		case !hasAnswered || known == nil || known.Kind != apiclient.KindUnavailable || !known.Retryable:
			return err
		default:
			if !isTold {
				s.Note("%s; trying on", known)
			}
			isTold, wait = true, max(interval, known.RetryAfter)
		}
		if err := apiclient.Pause(ctx, wait); err != nil {
			return err
		}
	}
}

// watcher prints what has changed in a list, round by round.
type watcher[T any, O apiclient.ListOptions] struct {
	List[T, O]
	session *cli.Session
	client  *apiclient.Client
	output  cli.Printer[T]
	most    int // Records to print in all, 0 for any number.
	printed int
	unread  []error
}

// watch prints the records of a list that change from now on, or from the time of its filter on.
func watch[T any, O apiclient.ListOptions](s *cli.Session, cmd *cobra.Command, flags *ListFlags, l List[T, O]) error {
	client, print, err := l.open(cmd.Context(), s, flags)
	if err != nil {
		return err
	}
	print.Endless = true
	w := &watcher[T, O]{List: l, session: s, client: client, output: print}
	if cmd.Flags().Changed("limit") {
		w.most = flags.limit
	}
	feed := l.Of(client).Feed(*l.Options, l.Since)
	feed.Live = true
	at := apiclient.Position{After: apitype.NewTime(s.App.Now())}
	if begin, err := apitype.ParseTime(feed.Query.Get(l.Since)); err == nil {
		at.After = begin
	}
	feed.Query.Del(l.Since)
	err = follow(cmd.Context(), s, flags.interval, func() (isLast bool, err error) {
		round := feed.From(at)
		if isLast, err = w.round(cmd.Context(), round); err == nil {
			at = round.Next()
		}
		return isLast, err
	})
	if err == nil && len(w.unread) > 0 {
		err = unreadable(w.unread, true)
	}
	return err
}

// round prints what has changed since the last one, the oldest first. What breaks off is not printed.
func (w *watcher[T, O]) round(ctx context.Context, round *apiclient.Round) (isLast bool, err error) {
	var changed []apiclient.Record[T]
	for record, err := range w.embedded(ctx, w.client, apiclient.Changes[T](ctx, w.client, round, apiclient.AllOptions{})) {
		value, err := apiclient.Decoded(record, err)
		isKnown := func(known error) bool { return known.Error() == err.Error() }
		switch {
		case errors.Is(err, apiclient.ErrUnreadable) && (record.Raw != nil || errors.Is(err, apiclient.ErrAtEnd)):
			if !slices.ContainsFunc(w.unread, isKnown) { // It is passed over, and told once.
				w.unread = append(w.unread, err)
				w.session.Warn("%s", err)
			}
		case err != nil:
			return false, err
		case w.Passes == nil || w.Passes(value):
			changed = append(changed, record)
		}
	}
	if len(changed) == 0 {
		return false, nil
	}
	w.output.Now = w.session.App.Now()
	list, err := w.output.List()
	if err != nil {
		return false, err
	}
	w.output.NoHeader = true
	for _, record := range slices.Backward(changed) {
		if err := list.Add(record.Raw, record.Decode); err != nil {
			return false, err
		}
		if w.printed++; w.printed == w.most {
			return true, list.Close()
		}
	}
	return false, list.Close()
}

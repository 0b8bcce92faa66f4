package read

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/commands/cli"
)

// defaultInterval is the time between two readings of what has changed.
const defaultInterval = 5 * time.Second

// checkInterval refuses an --interval that is too short, or of a command that ends by itself.
func checkInterval(cmd *cobra.Command, isRepeated bool, interval time.Duration) error {
	given := cmd.Flags().Changed("interval")
	if given && !isRepeated {
		return cli.UsageError("--interval needs --follow or --watch")
	}
	if interval < time.Second {
		return cli.UsageError("--interval must be at least 1s")
	}
	return nil
}

// follow reads again and again, until a round is the last one, fails, or is interrupted. A service that
// answered once and went away is tried on.
func follow(ctx context.Context, s *cli.Session, interval time.Duration, round func() (isLast bool, err error)) error {
	hasAnswered, isTold := false, false
	for {
		wait := interval
		isLast, err := round()
		s.TellRepaired()
		known, _ := cli.ErrorAs(err)
		mayReturn := known != nil && known.Kind == apiclient.KindUnavailable && known.Retryable
		switch {
		case err == nil && isLast:
			return nil
		case err == nil:
			hasAnswered, isTold = true, false
		case !hasAnswered || !mayReturn:
			return err
		default:
			if !isTold {
				s.Note("%s; still trying", known)
			}
			isTold, wait = true, max(interval, known.RetryAfter)
		}
		if err := apiclient.Pause(ctx, wait); err != nil {
			return err
		}
	}
}

// ended returns the error of a command that follows. A unit that systemd stops ends well.
func ended(ctx context.Context, s *cli.Session, isFollowing bool, err error) error {
	isTerminated := errors.Is(context.Cause(ctx), cli.ErrTerminated)
	if !isFollowing || !isTerminated {
		return err
	}
	if s.App.Getenv("INVOCATION_ID") != "" {
		return nil
	}
	return &apiclient.Error{Kind: apiclient.KindInterrupted, Message: "terminated", Err: cli.ErrTerminated}
}

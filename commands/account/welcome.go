package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fundesk/apiclient"
	"fundesk/commands/cli"
	"fundesk/render"
)

// situation is the state of a new user, with the commands that lead on.
type situation struct {
	what string
	next []cli.Pair // A command and its purpose.
}

// welcomeTimeout keeps the prompt near when the service is away.
const welcomeTimeout = 3 * time.Second

// Welcome prints the next steps.
func Welcome(ctx context.Context, s *cli.Session) error {
	here := situationNow(ctx, s)
	width := 0
	for _, step := range here.next {
		width = max(width, render.Width(step[0]))
	}
	if _, err := fmt.Fprintf(s.App.Out, "%s\n\n", render.Clean(here.what)); err != nil {
		return err
	}
	for _, step := range append(here.next, cli.Pair{"fundesk --help", "every command"}) {
		command, does := render.Pad(render.Clean(step[0]), width), render.Clean(step[1])
		if _, err := fmt.Fprintf(s.App.Out, "  %s  %s\n", command, does); err != nil {
			return err
		}
	}
	return nil
}

// situationNow returns the state of the user: no profile, no token, an expired one, offline, or ready.
func situationNow(ctx context.Context, s *cli.Session) situation {
	s.Flags.Timeout = min(s.Flags.Timeout, welcomeTimeout)
	demo := cli.Pair{"fundesk demo", "work calls on sample data"}
	t, err := s.Resolve()
	if err != nil {
		what := "No service is set up yet."
		if config, broken := s.Store().Load(); broken != nil || len(config.Profiles) > 0 || s.Flags.Profile != "" {
			what = "The service is not found: " + err.Error() + "."
		}
		return situation{
			what,
			[]cli.Pair{demo, {"fundesk auth login --profile NAME --base-url https://…", "log in to a service"}},
		}
	}
	if t.IsEmbedded() {
		return situation{
			"Profile " + t.Label() + " is a service on this machine; nothing needs to be set up.",
			[]cli.Pair{
				{"fundesk tui" + cli.TargetFlag(t), "work calls in the terminal"},
				{"fundesk --profile " + t.Label() + " call list", "the same data for scripts"},
			},
		}
	}
	login := cli.Pair{"fundesk auth login" + cli.TargetFlag(t), "log in again"}
	if t.EnvToken != "" {
		login = cli.Pair{"unset FUNDESK_TOKEN", "use the stored token, or set another one: this comes first"}
	}
	token, err := s.Token(ctx, t)
	if err != nil && apiclient.KindOf(err) != apiclient.KindUnavailable {
		login[1] = "log in"
		return situation{"Profile " + t.Label() + " cannot be used yet: " + err.Error() + ".", []cli.Pair{login, demo}}
	}
	if expired := apiclient.ClaimsOf(token).Ends; !expired.IsZero() && expired.Before(s.App.Now()) {
		return situation{
			"The token of " + t.Label() + " expired " + render.RelativeTime(expired, s.App.Now()) + ".",
			[]cli.Pair{login},
		}
	}
	return askedSituation(ctx, s, t, login)
}

func askedSituation(ctx context.Context, s *cli.Session, t *cli.Target, login cli.Pair) situation {
	findOut := cli.Pair{"fundesk doctor" + cli.TargetFlag(t), "find out why"}
	waiting := cli.Pair{"fundesk outbox list" + cli.TargetFlag(t), "changes that wait to be sent"}
	client, err := s.Connect(ctx)
	if err == nil {
		_, err = cli.Probe(ctx, client)
	}
	switch apiclient.KindOf(err) {
	case "", apiclient.KindForbidden:
		return situation{"Logged in to " + t.Service() + "; the service answers.", []cli.Pair{
			{"fundesk tui" + cli.TargetFlag(t), "work calls in the terminal"},
			{"fundesk call list --status requested" + cli.TargetFlag(t), "the calls that wait"},
			waiting,
		}}
	case apiclient.KindUnauthenticated:
		return situation{"The service " + t.Service() + " does not accept the token.", []cli.Pair{login, findOut}}
	case apiclient.KindUnavailable:
		if _, reached := errors.AsType[cli.Hinted](err); reached {
			return situation{err.Error() + ".", []cli.Pair{findOut, {"fundesk profile show", "look at the base URL"}}}
		}
		fallthrough
	default:
		return situation{
			"The service at " + cli.ShownURL(t.BaseURL) + " is not in reach: " + err.Error() + ".",
			[]cli.Pair{
				findOut, waiting,
				{"fundesk tui" + cli.TargetFlag(t), "go on; what you do waits in the outbox"},
			},
		}
	}
}

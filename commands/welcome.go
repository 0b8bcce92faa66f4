package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fundesk/apiclient"
	"fundesk/render"
)

// situation is where a person who typed nothing but the name of the program is, and the
// commands that lead on from there.
type situation struct {
	what string
	next []pair // A command, and what it is for.
}

// welcomeTimeout keeps the prompt near when the service is away.
const welcomeTimeout = 3 * time.Second

// welcome says what to do next.
func (s *session) welcome(ctx context.Context) error {
	here := s.situation(ctx)
	width := 0
	for _, step := range here.next {
		width = max(width, render.Width(step.name))
	}
	if _, err := fmt.Fprintf(s.app.Out, "%s\n\n", render.Clean(here.what)); err != nil {
		return err
	}
	for _, step := range append(here.next, pair{"fundesk --help", "every command"}) {
		if _, err := fmt.Fprintf(s.app.Out, "  %s  %s\n", render.Pad(render.Clean(step.name), width), render.Clean(step.value)); err != nil {
			return err
		}
	}
	return nil
}

// situation finds out where the person is: no profile, no token, an expired one, offline,
// or ready.
func (s *session) situation(ctx context.Context) situation {
	s.flags.timeout = min(s.flags.timeout, welcomeTimeout)
	demo := pair{"fundesk demo", "work calls on sample data"}
	t, err := s.resolve()
	if err != nil {
		what := "No service is set up yet."
		if config, broken := s.store().Load(); broken != nil || len(config.Profiles) > 0 || s.flags.profile != "" {
			what = "The service is not found: " + err.Error() + "."
		}
		return situation{what, []pair{demo, {"fundesk auth login --profile NAME --base-url https://…", "log in to a service"}}}
	}
	if t.isEmbedded() {
		return situation{
			"Profile " + t.label() + " is a service on this machine; nothing needs to be set up.",
			[]pair{{"fundesk tui" + profileFlag(t), "work calls in the terminal"}, {"fundesk --profile " + t.label() + " call list", "the same data for scripts"}},
		}
	}
	login := pair{"fundesk auth login" + profileFlag(t), "log in again"}
	if t.envToken != "" {
		login = pair{"unset FUNDESK_TOKEN", "use the stored token, or set another one: this comes first"}
	}
	token, err := s.token(ctx, t)
	if err != nil {
		login.value = "log in"
		return situation{"Profile " + t.label() + " cannot be used yet: " + err.Error() + ".", []pair{login, demo}}
	}
	if expired := expiry(token); !expired.IsZero() && expired.Before(s.app.Now()) {
		return situation{"The token of " + t.label() + " expired " + render.RelativeTime(expired, s.app.Now()) + ".", []pair{login}}
	}
	return s.askedSituation(ctx, t, login)
}

// askedSituation asks the service.
func (s *session) askedSituation(ctx context.Context, t *target, login pair) situation {
	doctor := pair{"fundesk doctor" + profileFlag(t), "find out why"}
	waiting := pair{"fundesk outbox list" + profileFlag(t), "changes that wait to be sent"}
	client, err := s.connect(ctx)
	if err == nil {
		_, err = probe(ctx, client)
	}
	switch apiclient.KindOf(err) {
	case "", apiclient.KindForbidden:
		return situation{"Logged in to " + t.service() + "; the service answers.", []pair{
			{"fundesk tui" + profileFlag(t), "work calls in the terminal"},
			{"fundesk call list --status requested" + profileFlag(t), "the calls that wait"},
			waiting,
		}}
	case apiclient.KindUnauthenticated:
		return situation{"The service " + t.service() + " does not accept the token.", []pair{login, doctor}}
	case apiclient.KindUnavailable:
		if _, reached := errors.AsType[hinted](err); reached {
			return situation{err.Error() + ".", []pair{doctor, {"fundesk profile show", "look at the base URL"}}}
		}
		fallthrough
	default:
		return situation{"The service at " + shownURL(t.baseURL) + " is not in reach: " + err.Error() + ".", []pair{
			doctor, waiting,
			{"fundesk tui" + profileFlag(t), "go on; what you do waits in the outbox"},
		}}
	}
}

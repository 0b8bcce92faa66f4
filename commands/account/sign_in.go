package account

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient"
	"fundesk/apiclient/signin"
	"fundesk/commands/cli"
	"fundesk/commands/profile"
	"fundesk/render"
)

// findOffer asks the service of a profile where persons sign in. It returns signin.ErrNotOffered if they do not.
func findOffer(ctx context.Context, s *cli.Session, t *cli.Target) (signin.Offer, error) {
	client, err := s.ProviderClient(t, t.BaseURL)
	if err != nil {
		return signin.Offer{}, err
	}
	return signin.Find(ctx, client, t.BaseURL)
}

// signIn lets the person sign in at the identity provider of a service, and stores the session.
func signIn(
	ctx context.Context,
	s *cli.Session,
	t *cli.Target,
	offer signin.Offer,
	insecure, noBrowser bool,
) (storage string, person *cli.Person, err error) {
	if s.Flags.NoInput {
		return "", nil, cli.WithHint(
			cli.UsageError("signing in needs a person; run it without --no-input"),
			"store a token of a program: fundesk auth login --with-token < token.txt",
		)
	}
	if !insecure {
		err = s.Tokens().CheckKeyring(t.Name)
		if err != nil {
			return "", nil, noPlace(t, err)
		}
	}
	provider, err := s.ProviderClient(t, offer.Issuer)
	if err != nil {
		return "", nil, err
	}
	flow, err := signin.Begin(ctx, provider, offer)
	if err != nil {
		return "", nil, providerError(ctx, err)
	}
	showCode(s, flow, noBrowser)
	session, err := flow.Wait(ctx, func() {
		s.Note("%s asks for fewer requests; still waiting", cli.ShownURL(offer.Issuer))
	})
	if err != nil {
		return "", nil, providerError(ctx, err)
	}
	session = cli.Described(session)
	person, err = trySession(ctx, s, t, session)
	if err == nil {
		err = checkService(s, t)
	}
	if err != nil {
		revoke(s, t, session)
		return "", nil, err
	}
	err = replaceToken(ctx, s, t, func() (err error) {
		storage, err = s.Tokens().Set(t.Name, t.Profile, session.Stored(), insecure)
		if errors.Is(err, profile.ErrTooLarge) {
			storage, err = s.Tokens().Set(t.Name, t.Profile, session.StoredWithoutAccess(), insecure)
		}
		return err
	})
	if err != nil {
		revoke(s, t, session)
		return "", nil, noPlace(t, err)
	}
	if session.RefreshToken == "" {
		s.Warn("%s gave no refresh token: you have to sign in again after %s; ask the service's operator for the "+
			"scope offline_access", cli.ShownURL(session.Issuer), session.ExpiresAt.Local().Format("15:04"))
	}
	return storage, person, nil
}

// replaceToken replaces or removes the stored token of a profile by write. If it was a person's session, that ends at
// its provider. No program renews the session meanwhile: it would store it again.
func replaceToken(ctx context.Context, s *cli.Session, t *cli.Target, write func() error) error {
	if _, isSession := storedSession(ctx, s, t); !isSession {
		return write()
	}
	unlock, err := s.Tokens().LockRenewal(ctx, t.Name, apiclient.Pause)
	if err != nil {
		return cli.WithHint(
			cli.Failure(apiclient.KindFailure, "another program renews the session of profile %s: %s", t.Name, err),
			"try again",
		)
	}
	former, wasSession := storedSession(ctx, s, t) // It may have been renewed.
	err = write()
	unlock()
	if err == nil && wasSession {
		revoke(s, t, former)
	}
	return err
}

// storedSession returns the stored session of a profile. It runs no token_command.
func storedSession(ctx context.Context, s *cli.Session, t *cli.Target) (signin.Session, bool) {
	if t.Profile.Storage() == profile.StorageCommand {
		return signin.Session{}, false
	}
	return s.StoredSession(ctx, t)
}

// noPlace returns the error of a session that cannot be stored, with a hint.
func noPlace(t *cli.Target, err error) error {
	if _, hasHint := errors.AsType[cli.Hinted](err); hasHint {
		return err
	}
	return cli.WithHint(
		cli.Failure(apiclient.KindFailure, "the session cannot be stored: %s", err),
		"use "+fileStorage(t),
	)
}

// providerError returns the error of a sign-in with what to do.
func providerError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cli.Failure(apiclient.KindInterrupted, "interrupted")
	}
	const again = "begin again: fundesk auth login"
	if errors.Is(err, signin.ErrExpired) {
		return cli.WithHint(cli.Failure(apiclient.KindUnauthenticated, "%s", err), again)
	}
	if errors.Is(err, signin.ErrDenied) || errors.Is(err, signin.ErrLost) {
		return cli.WithHint(cli.Failure(apiclient.KindUnauthenticated, "%s; nothing was stored", err), again)
	}
	return cli.Failure(apiclient.KindUnavailable, "signing in failed: %s", err)
}

// showCode prints the address and the code on one line, which can be clicked and typed, and opens the page.
func showCode(s *cli.Session, flow *signin.Flow, noBrowser bool) {
	address := render.Clean(flow.Address)
	target := flow.Address
	if flow.Complete != "" {
		target = flow.Complete
	}
	shown := address
	onTerminal := cli.IsTerminal(s.App.Err) && !s.IsAccessible()
	if onTerminal && render.Clean(target) == target {
		shown = ansi.SetHyperlink(target) + address + ansi.ResetHyperlink()
	}
	fmt.Fprintf(s.App.Err, "Open %s and enter the code %s\n", shown, render.Clean(flow.Code))
	if !noBrowser && onTerminal && s.App.Getenv("SSH_CONNECTION") == "" {
		openBrowser(s, target)
	}
	if !flow.EndsAt.IsZero() {
		left := flow.EndsAt.Sub(s.App.Now()).Round(time.Minute)
		s.Note("waiting for up to %s until you have signed in; ctrl+c ends it", left)
	}
}

// openBrowser opens a page if there is a graphical session. The line above it does without.
func openBrowser(s *cli.Session, address string) {
	var command []string
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open", address}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	default:
		if s.App.Getenv("DISPLAY") == "" && s.App.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
		command = []string{"xdg-open", address}
	}
	browser := exec.Command(command[0], command[1:]...) //nolint:noctx // It outlives the command.
	if browser.Start() == nil {
		go func() { _ = browser.Wait() }() // It may fail: the line above it does without.
	}
}

// trySession asks the service for the person. Without a role nothing is stored.
func trySession(ctx context.Context, s *cli.Session, t *cli.Target, session signin.Session) (*cli.Person, error) {
	tried := *t
	tried.EnvToken = session.AccessToken
	s.Target = &tried
	client, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	user, err := client.SignedIn(ctx) // Asked for every token: only the service knows which ones it accepts.
	s.ForgetToken()                   // It is renewed by itself from now on.
	switch apiclient.KindOf(err) {
	case apiclient.KindForbidden:
		return nil, cli.WithHint(err, "nothing was stored; ask the service's operator for a role")
	case apiclient.KindUnauthenticated:
		if apiclient.ClaimsOf(session.AccessToken).Issuer == "" {
			return nil, cli.WithHint(err, "nothing was stored; the access tokens of the provider are no JWTs, "+
				"which no service can check; ask the service's operator")
		}
		return nil, cli.WithHint(err, "nothing was stored; the service does not accept the tokens of its provider, "+
			"or your access has ended; ask its operator, who finds the reason in the log at this request")
	}
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, cli.Failure(apiclient.KindUnauthenticated, "the service accepts the token, but names no person")
	}
	return &cli.Person{UUID: user.UUID.String(), Name: user.Name}, nil
}

// revoke ends a session at its provider, as far as that can be reached.
func revoke(s *cli.Session, t *cli.Target, session signin.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), revokeLimit)
	defer cancel()
	client, err := s.ProviderClient(t, session.TokenURL)
	if err != nil {
		return
	}
	err = signin.Revoke(ctx, client, session)
	if err != nil {
		s.Note("%s did not confirm the end of the session: %s", cli.ShownURL(session.Issuer), err)
	}
}

// revokeLimit limits the time that the end of a session takes.
const revokeLimit = 5 * time.Second

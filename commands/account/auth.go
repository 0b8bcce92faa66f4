// Package account keeps services and tokens: the commands auth and profile, over package profile.
package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/apiclient/signin"
	"fundesk/commands/cli"
	"fundesk/commands/localcopy"
	"fundesk/commands/profile"
	"fundesk/render"
)

// Auth returns the command auth.
func Auth(s *cli.Session) *cobra.Command {
	return cli.Group(
		s,
		"auth",
		"Keep the token of a service account. It is stored in the keyring of your system and sent to the\n"+
			"service of its profile only.",
		"  fundesk auth login --profile prod --base-url https://api.example.org\n  fundesk auth status",
		cli.Verbs{"login": authLogin, "logout": authLogout, "status": authStatus, "token": authToken},
	)
}

func authLogin(s *cli.Session) *cobra.Command {
	var o loginOptions
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Sign in, or store a token after trying it",
		Args:  cli.NoArgs,
		Long: "Sign in at the identity provider of the service: a line has the address and the code to enter there.\n" +
			"Without one, read a token from a hidden prompt, or from stdin with --with-token. Both are tried and\n" +
			"stored in the keyring. Without a keyring nothing is stored, unless --insecure-storage allows a file.\n" +
			"The profile keeps --base-url and --ca-cert.",
		Example: "  fundesk auth login --base-url https://api.example.org\n" +
			"  fundeskd token issue 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b | fundesk auth login " +
			"--profile prod --with-token",
		RunE: func(cmd *cobra.Command, _ []string) error { return login(s, cmd, o) },
	}
	cmd.Flags().BoolVar(&o.withToken, "with-token", false, "read the token from stdin")
	cmd.Flags().BoolVar(&o.insecure, "insecure-storage", false, "store the token in a file that only you can read")
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "do not open the page of the identity provider")
	cli.YesFlag(cmd)
	return cmd
}

// loginOptions are the flags of auth login.
type loginOptions struct{ withToken, insecure, noBrowser bool }

func login(s *cli.Session, cmd *cobra.Command, o loginOptions) error {
	config, err := s.Config()
	if err != nil {
		return err
	}
	name := cmp.Or(s.ProfileName(config), "default")
	if err := profile.CheckName(name); err != nil {
		return cli.UsageError(err.Error())
	}
	p := config.Profiles[name]
	chosen := chosenURL(s, p)
	if p.BaseURL != "" && chosen != p.BaseURL {
		return isForAnother(name, p, chosen)
	}
	p.BaseURL = chosen
	if p.BaseURL == "" {
		return cli.WithHint(
			cli.UsageError("no base URL is given"),
			"fundesk auth login --profile "+name+" --base-url https://…",
		)
	}
	if p.IsEmbedded() {
		return cli.UsageError("the embedded service needs no token")
	}
	if p.TokenStorage == profile.StorageKeyring && o.insecure {
		return cli.UsageError(
			"profile " + cli.Quote(name) + " keeps its token in the keyring; to change that: fundesk profile set " +
				name + " token_storage=file",
		)
	}
	if err := applyGiven(&p, keptFlags(cmd)); err != nil {
		return err
	}
	o.insecure = o.insecure || p.TokenStorage == profile.StorageFile
	t := &cli.Target{
		Name:        name,
		Profile:     p,
		BaseURL:     p.BaseURL,
		FromProfile: true,
	}
	done, err := obtain(s, cmd, t, o)
	if err != nil {
		return err
	}
	s.Target = t // The token that was tried is now that of the profile.
	return keepLogin(s, name, p.BaseURL, keptFlags(cmd), done)
}

// chosenURL returns the base URL of a login or logout: of the flag, of the profile that a flag names, of the
// environment, or of the profile in use.
func chosenURL(s *cli.Session, p profile.Profile) string {
	if s.Flags.BaseURL == "" && s.Flags.Profile != "" && p.BaseURL != "" {
		return p.BaseURL
	}
	return apitype.BaseURL(cmp.Or(s.Flags.BaseURL, s.App.Getenv("FUNDESK_BASE_URL"), p.BaseURL))
}

// loggedIn is the result of a login.
type loggedIn struct {
	storage string
	person  *cli.Person // Nil for a token of a program.
}

// obtain signs the person in, or reads a token, and stores what it got.
func obtain(s *cli.Session, cmd *cobra.Command, t *cli.Target, o loginOptions) (loggedIn, error) {
	var done loggedIn
	if !o.withToken {
		offer, err := findOffer(cmd.Context(), s, t)
		if err == nil {
			done.storage, done.person, err = signIn(cmd.Context(), s, t, offer, o.insecure, o.noBrowser)
			return done, err
		}
		isAway := !errors.Is(err, signin.ErrNotOffered) && cli.IsTerminal(s.App.In) && !s.Flags.NoInput
		if isAway {
			return done, cli.Failure(apiclient.KindUnavailable, "%s", err)
		}
	}
	token, err := readToken(cmd.Context(), s, o.withToken)
	if err != nil {
		return done, err
	}
	if err := tryToken(s, cmd, t.Profile, token); err != nil {
		return done, err
	}
	if err := checkService(s, t); err != nil {
		return done, err
	}
	err = replaceToken(cmd.Context(), s, t, func() (err error) {
		done.storage, err = s.Tokens().Set(t.Name, t.Profile, token, o.insecure)
		return err
	})
	if err != nil {
		return done, cli.WithHint(
			cli.Failure(apiclient.KindFailure, "the token is good, but it was not stored: %s", err),
			"use FUNDESK_TOKEN, a token_command in the profile (fundesk profile add "+t.Name+" --base-url "+
				cli.ShownURL(t.BaseURL)+" --set token_command=…), or "+fileStorage(t),
		)
	}
	return done, nil
}

// fileStorage returns what keeps a token in a file. A profile that names the keyring refuses --insecure-storage.
func fileStorage(t *cli.Target) string {
	if t.Profile.TokenStorage == profile.StorageKeyring {
		return "a file: fundesk profile set " + t.Name + " token_storage=file"
	}
	return "--insecure-storage for a file"
}

// keepLogin stores the way to the service, the place of the token and the signed-in person in the profile.
func keepLogin(s *cli.Session, name, baseURL string, flags []given, done loggedIn) error {
	err := s.Store().Change(func(config *profile.Config) error {
		kept := config.Profiles[name] // It may have been changed while the token was typed.
		if kept.BaseURL != "" && kept.BaseURL != baseURL {
			return isForAnother(name, kept, baseURL)
		}
		kept.BaseURL, kept.TokenStorage = baseURL, done.storage
		if err := applyGiven(&kept, flags); err != nil {
			return err
		}
		if done.person != nil {
			kept.Agent = done.person.UUID
		}
		config.Keep(name, kept)
		return nil
	})
	if err != nil {
		return err
	}
	if done.person != nil {
		s.Note("signed in to %s as %s, profile %s; the session is in the %s",
			baseURL, done.person.Name, name, done.storage)
	} else {
		s.Note("logged in to %s as profile %s; the token is in the %s", baseURL, name, done.storage)
	}
	if s.App.Getenv("FUNDESK_TOKEN") != "" {
		s.Note("FUNDESK_TOKEN is set and takes precedence; unset it to use the stored token")
	}
	return nil
}

// checkService refuses to store a token under a profile that another program has made for another service meanwhile.
func checkService(s *cli.Session, t *cli.Target) error {
	config, err := s.Config()
	p := config.Profiles[t.Name]
	if err != nil || p.BaseURL == "" || p.BaseURL == t.BaseURL {
		return err
	}
	return isForAnother(t.Name, p, t.BaseURL)
}

// maxToken is more than any token has, in bytes.
const maxToken = 64 << 10

func readToken(ctx context.Context, s *cli.Session, withToken bool) (string, error) {
	if withToken {
		data, err := s.ReadAll(ctx, io.LimitReader(s.App.In, maxToken+1))
		if err != nil {
			return "", err
		}
		if len(data) > maxToken {
			return "", cli.UsageError("the input on stdin is too large for a token")
		}
		return checkToken(string(data))
	}
	file, ok := s.App.In.(*os.File)
	if !ok || !cli.IsTerminal(s.App.In) || s.Flags.NoInput {
		return "", cli.WithHint(
			cli.UsageError("the token cannot be asked for without a terminal"),
			"pipe it in: fundesk auth login --with-token < token.txt",
		)
	}
	text, err := s.ReadSecret(ctx, file, "Token: ")
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	return checkToken(text)
}

func checkToken(text string) (string, error) {
	token := strings.TrimSpace(text)
	if token == "" {
		return "", cli.UsageError("the token is empty")
	}
	return token, nil
}

// tryToken sends one request with a token and returns the reason if the service refuses it. An account that may not
// list calls is still an account.
func tryToken(s *cli.Session, cmd *cobra.Command, p profile.Profile, token string) error {
	s.Target = &cli.Target{
		Profile:     p,
		BaseURL:     p.BaseURL,
		FromProfile: true,
		EnvToken:    token,
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	_, err = client.Calls.List(cmd.Context(), apitype.CallListOptions{Paging: apitype.Paging{First: new(1)}})
	switch apiclient.KindOf(err) {
	case apiclient.KindForbidden:
		return nil
	case apiclient.KindUnauthenticated:
		return cli.WithHint(err, "nothing was stored; ask the service's operator for another token")
	default:
		return err
	}
}

func authLogout(s *cli.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Sign out, or remove the stored token",
		Args:  cli.NoArgs,
		Long: "Remove the token of the profile from the keyring or the file where login put it. The session of a\n" +
			"person ends at the identity provider too; a token stays valid until it expires or is revoked. Local\n" +
			"copies of the profile are deleted.",
		Example: "  fundesk auth logout --profile prod\n" +
			"  fundesk auth logout",
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := s.Config()
			if err != nil {
				return err
			}
			name := s.ProfileName(config)
			if name == "" {
				s.Note("no profile is chosen, so no token is stored")
				return nil
			}
			p, err := cli.FindProfile(config, name)
			if err != nil {
				return err
			}
			if storage := p.Storage(); storage == "" || storage == profile.StorageCommand {
				s.Note("no token is stored for %s", cli.Quote(name))
				return nil
			}
			if chosen := chosenURL(s, p); chosen != p.BaseURL {
				return cli.WithHint(
					notFor(name, p, chosen),
					"to log out of profile "+name+": fundesk auth logout --profile "+name+"; see: fundesk profile list",
				)
			}
			t := &cli.Target{
				Name:        name,
				Profile:     p,
				BaseURL:     p.BaseURL,
				FromProfile: true,
			}
			warnUnsent(s, t)
			if err := removeToken(cmd.Context(), s, t); err != nil {
				return err
			}
			if err := forgetCopies(cmd.Context(), s, t, false); err != nil {
				return err
			}
			isLoggedIn := false
			err = s.Store().Change(func(config *profile.Config) error {
				kept, ok := config.Profiles[name]
				isLoggedIn = ok && s.Tokens().IsStored(name, kept)
				if ok && !isLoggedIn {
					kept.TokenStorage = ""
					config.Profiles[name] = kept
				}
				return nil
			})
			if err != nil {
				return err
			}
			if isLoggedIn {
				s.Warn("another program logged in to profile %s meanwhile, and stays logged in", name)
				return nil
			}
			s.Note("logged out of profile %s", name)
			return nil
		},
	}
	cli.YesFlag(cmd)
	return cmd
}

// warnUnsent says how many changes for the service of a profile wait in the outbox. They stay there, and only a login
// of their account sends them.
func warnUnsent(s *cli.Session, t *cli.Target) {
	entries, _, err := s.AllEntries()
	if err != nil {
		return // Without a folder of ours there is no outbox.
	}
	isElsewhere := func(e outbox.Entry) bool { return e.BaseURL != t.BaseURL }
	if n := len(slices.DeleteFunc(entries, isElsewhere)); n > 0 {
		s.Warn("%s for %s not sent; log in as the same account to send, see fundesk outbox list",
			cli.Count(n, "change"), t.Service())
	}
}

// removeToken removes the stored token of a profile, and ends the session that it was.
func removeToken(ctx context.Context, s *cli.Session, t *cli.Target) error {
	err := replaceToken(ctx, s, t, func() error { return s.Tokens().Delete(t.Name, t.Profile) })
	if _, hasHint := errors.AsType[cli.Hinted](err); hasHint || err == nil {
		return err
	}
	err = cli.Failure(apiclient.KindFailure, "the token was not removed: %s", err)
	if t.Profile.Storage() == profile.StorageKeyring {
		err = cli.WithHint(
			err,
			"unlock the keyring, or leave the token there: fundesk profile set "+t.Name+
				" token_storage=; then try again",
		)
	}
	return err
}

// forgetCopies deletes the local copies of a profile, or, if it is removed, those that no other profile used.
func forgetCopies(ctx context.Context, s *cli.Session, t *cli.Target, isRemoved bool) error {
	state, err := s.StateDir()
	if err != nil {
		return nil // Without a folder of ours there is no copy.
	}
	if err := localcopy.Forget(ctx, state, t.BaseURL, t.Name, isRemoved); err != nil {
		return cli.Failure(apiclient.KindFailure, "the copy was not deleted: %s", err)
	}
	return nil
}

// authState is the output of auth status.
type authState struct {
	Profile   string  `json:"profile"`
	Service   string  `json:"service"`
	BaseURL   string  `json:"baseUrl"`
	Source    string  `json:"tokenSource"`
	Subject   *string `json:"subject"`
	ExpiresAt *string `json:"expiresAt"`
	Accepted  *bool   `json:"accepted"` // Null: the service could not be asked.
	// User is the signed-in person. Null for the token of a program.
	User *cli.Person `json:"user"`

	ends   time.Time
	renews bool // The token is one of a stored session, which can be renewed.
}

func authStatus(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the account and whether the service accepts it",
		Args:  cli.NoArgs,
		Long: "Show the profile, where its token comes from, the data in the token, and whether the service\n" +
			"accepts it. A refused token ends with exit code 4, after the state was printed.",
		Example: "  fundesk auth status\n  fundesk auth status -o json --jq .accepted",
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := s.Resolve()
			if err != nil {
				return err
			}
			client, err := s.Connect(cmd.Context())
			if err != nil {
				return err
			}
			state := authState{
				Profile: t.Name,
				Service: t.Service(),
				BaseURL: t.BaseURL,
				Source:  t.TokenSource(),
			}
			token, err := s.CurrentToken(cmd.Context(), t)
			if err != nil {
				return err
			}
			state.note(apiclient.ClaimsOf(token))
			if t.EnvToken == "" {
				session, _ := storedSession(cmd.Context(), s, t)
				state.renews = session.RefreshToken != ""
			}
			_, problem := client.Calls.List(
				cmd.Context(),
				apitype.CallListOptions{Paging: apitype.Paging{First: new(1)}},
			)
			switch apiclient.KindOf(problem) {
			case "", apiclient.KindForbidden:
				state.Accepted = new(true)
				state.User, problem = s.SignedIn(cmd.Context(), client, token)
			case apiclient.KindUnauthenticated:
				state.Accepted = new(false)
			}
			return errors.Join(cli.ShowOne(s, state, state.fields(s.App.Now())), problem)
		},
	}
}

func (a *authState) note(claims apiclient.Claims) {
	if claims.Subject != "" {
		a.Subject = &claims.Subject
	}
	a.ends = claims.Ends
	if !a.ends.IsZero() {
		a.ExpiresAt = new(apitype.NewTime(a.ends).String())
	}
}

func (a *authState) fields(now time.Time) []cli.Pair {
	fields := []cli.Pair{{"profile", a.Profile}, {"service", a.Service}, {"token from", a.Source}}
	if a.Subject != nil {
		fields = append(fields, cli.Pair{"subject", *a.Subject})
	}
	if a.ExpiresAt != nil {
		expires := *a.ExpiresAt + " (" + render.RelativeTime(a.ends, now) + ")"
		if a.renews {
			expires += "; the session renews it before"
		}
		fields = append(fields, cli.Pair{"expires", expires})
	}
	if a.User != nil {
		fields = append(fields, cli.Pair{"signed in as", a.User.Name + " (" + a.User.UUID + ")"})
	}
	accepted := "not known: the service could not be asked"
	if a.Accepted != nil {
		accepted = "no"
		if *a.Accepted {
			accepted = "yes"
		}
	}
	return append(fields, cli.Pair{"accepted", accepted})
}

func authToken(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "token",
		Short: "Print the token",
		Args:  cli.NoArgs,
		Long:  "Print the token that requests carry, for other programs. Anyone who sees your screen can use it.",
		Example: "  fundesk auth token | sed 's/^/Authorization: Bearer /' | curl -H @- " +
			"https://api.example.org/api/v1/calls\n" +
			"  fundesk auth token --profile demo -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := s.Resolve()
			if err != nil {
				return err
			}
			if t.IsEmbedded() {
				if err := s.OpenEmbedded(cmd.Context(), t); err != nil {
					return err
				}
			}
			token, err := s.CurrentToken(cmd.Context(), t)
			if err != nil {
				return err
			}
			return cli.ShowOne(s, map[string]string{"token": token}, []cli.Pair{{"", token}})
		},
	}
}

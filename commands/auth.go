package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/profile"
	"fundesk/render"
)

func authCommand(s *session) *cobra.Command {
	return group(s, "auth", "Keep the token of a service account. It is stored in the keyring of your system and sent to the\nservice of its profile only.",
		"  fundesk auth login --profile prod --base-url https://api.example.org\n  fundesk auth status",
		verb{"login", authLogin}, verb{"logout", authLogout}, verb{"status", authStatus}, verb{"token", authToken})
}

func authLogin(s *session) *cobra.Command {
	var withToken, insecure bool
	cmd := &cobra.Command{
		Use: "login", Short: "Store a token after trying it", Args: noArgs,
		Long: "Read a token from a hidden prompt, or from stdin with --with-token, try it against the service and\n" +
			"store it in the keyring. Without a keyring nothing is stored, unless --insecure-storage allows a file.",
		Example: "  fundesk auth login --profile prod --base-url https://api.example.org\n" +
			"  fundeskd token issue 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b | fundesk auth login --profile prod --with-token",
		RunE: func(cmd *cobra.Command, _ []string) error { return s.login(cmd, withToken, insecure) },
	}
	cmd.Flags().BoolVar(&withToken, "with-token", false, "read the token from stdin")
	cmd.Flags().BoolVar(&insecure, "insecure-storage", false, "store the token in a file that only you can read")
	return cmd
}

// login reads, tries and stores a token.
func (s *session) login(cmd *cobra.Command, withToken, insecure bool) error {
	config, err := s.store().Load()
	if err != nil {
		return usageError(err.Error())
	}
	name := s.profileName(config)
	if name == "" {
		name = "default"
	}
	if err := profile.CheckName(name); err != nil {
		return usageError(err.Error())
	}
	p := config.Profiles[name]
	if name == profile.Demo && p.BaseURL == "" {
		p.BaseURL = profile.DemoURL
	}
	chosen := strings.TrimRight(s.loginURL(p), "/")
	if explicit := s.flags.profile != "" && s.flags.baseURL != ""; p.BaseURL != "" && chosen != p.BaseURL && !explicit {
		return withHint(usageError("profile "+quote(name)+" is for "+shownURL(p.BaseURL)+", not for "+shownURL(chosen)),
			"log in under another name: fundesk auth login --profile NAME --base-url "+shownURL(chosen))
	}
	p.BaseURL = chosen
	if p.BaseURL == "" {
		return withHint(usageError("no base URL is given"), "fundesk auth login --profile "+name+" --base-url https://…")
	}
	if p.IsEmbedded() {
		return usageError("the embedded service needs no token")
	}
	if p.TokenStorage == profile.StorageKeyring && insecure {
		return usageError("profile " + quote(name) + " keeps its token in the keyring; to change that: fundesk profile add " + name + " --token-storage file")
	}
	if p.TokenStorage == profile.StorageFile {
		insecure = true
	}
	token, err := s.readToken(cmd.Context(), withToken)
	if err != nil {
		return err
	}
	if err := s.tryToken(cmd, p, token); err != nil {
		return err
	}
	storage, err := s.tokens().Set(name, p, token, insecure)
	if err != nil {
		return withHint(failure(apiclient.KindFailure, "the token is good, but it was not stored: %s", err),
			"use FUNDESK_TOKEN, a token_command in the profile (fundesk profile add "+name+" --token-command …), or --insecure-storage for a file")
	}
	err = s.store().Change(func(config *profile.Config) error {
		kept := config.Profiles[name] // Somebody may have changed it while the token was typed.
		kept.BaseURL, kept.TokenStorage = p.BaseURL, storage
		config.Keep(name, kept)
		return nil
	})
	if err != nil {
		return err
	}
	s.note("logged in to %s as profile %s; the token is in the %s", p.BaseURL, name, storage)
	if s.app.Getenv("FUNDESK_TOKEN") != "" {
		s.note("FUNDESK_TOKEN is set and comes before it; unset it to use the stored token")
	}
	return nil
}

// loginURL is where a login goes: flag, the profile that was named, environment, profile.
func (s *session) loginURL(p profile.Profile) string {
	if s.flags.profile != "" && s.flags.baseURL == "" && p.BaseURL != "" {
		return p.BaseURL
	}
	return cmp.Or(s.flags.baseURL, s.app.Getenv("FUNDESK_BASE_URL"), p.BaseURL)
}

// maxToken is more than any token has, in bytes.
const maxToken = 64 << 10

// readToken reads a token without showing it.
func (s *session) readToken(ctx context.Context, withToken bool) (string, error) {
	if withToken {
		data, err := s.readAll(ctx, io.LimitReader(s.app.In, maxToken+1))
		switch {
		case err != nil:
			return "", err
		case len(data) > maxToken:
			return "", usageError("what came through stdin is too large for a token")
		}
		return checkToken(string(data))
	}
	file, ok := s.app.In.(*os.File)
	if !ok || !isTerminal(s.app.In) || s.flags.noInput {
		return "", withHint(usageError("there is nobody to ask for the token"), "pipe it in: fundesk auth login --with-token < token.txt")
	}
	text, err := s.readSecret(ctx, file, "Token: ")
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	return checkToken(text)
}

func checkToken(text string) (string, error) {
	token := strings.TrimSpace(text)
	if token == "" {
		return "", usageError("the token is empty")
	}
	return token, nil
}

// tryToken sends one request with a token: the service accepts it, or says why not. An
// account that may not list calls is still an account.
func (s *session) tryToken(cmd *cobra.Command, p profile.Profile, token string) error {
	s.target = &target{profile: p, baseURL: p.BaseURL, fromProfile: true, envToken: token}
	client, err := s.connect(cmd.Context())
	if err != nil {
		return err
	}
	_, err = client.Calls.List(cmd.Context(), apitype.CallListOptions{Paging: apitype.Paging{First: new(1)}})
	switch apiclient.KindOf(err) {
	case apiclient.KindForbidden:
		return nil
	case apiclient.KindUnauthenticated:
		return withHint(err, "nothing was stored; ask who operates the service for another token")
	default:
		return err
	}
}

func authLogout(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Remove the stored token", Args: noArgs,
		Long: "Remove the token of the profile from the keyring or the file where login put it. The token itself stays\n" +
			"valid until it expires or is revoked at the service.",
		Example: "  fundesk auth logout --profile prod\n" +
			"  fundesk auth logout",
		RunE: func(_ *cobra.Command, _ []string) error {
			config, err := s.config()
			if err != nil {
				return err
			}
			name := s.profileName(config)
			if name == "" {
				s.note("no profile is chosen, so that no token is stored")
				return nil
			}
			p, err := findProfile(config, name)
			if err != nil {
				return err
			}
			if storage := p.Storage(); storage == "" || storage == profile.StorageCommand {
				s.note("no token is stored for %s", quote(name))
				return nil
			}
			if err := s.tokens().Delete(name, p); err != nil {
				return failure(apiclient.KindFailure, "the token was not removed: %s", err)
			}
			err = s.store().Change(func(config *profile.Config) error {
				if kept, ok := config.Profiles[name]; ok {
					kept.TokenStorage = ""
					config.Profiles[name] = kept
				}
				return nil
			})
			if err != nil {
				return err
			}
			s.note("logged out of profile %s", name)
			return nil
		},
	}
}

// authState is what auth status shows.
type authState struct {
	Profile   string  `json:"profile"`
	Service   string  `json:"service"`
	BaseURL   string  `json:"baseUrl"`
	Source    string  `json:"tokenSource"`
	Subject   *string `json:"subject"`
	ExpiresAt *string `json:"expiresAt"`
	Accepted  *bool   `json:"accepted"` // Null: the service could not be asked.
	ends      time.Time
}

func authStatus(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the account and whether the service accepts it", Args: noArgs,
		Long: "Show the profile, where its token comes from, what the token says of itself, and whether the service\n" +
			"accepts it. A refused token ends with exit code 4.",
		Example: "  fundesk auth status\n  fundesk auth status -o json --jq .accepted",
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := s.resolve()
			if err != nil {
				return err
			}
			client, err := s.connect(cmd.Context())
			if err != nil {
				return err
			}
			state := authState{Profile: t.name, Service: t.service(), BaseURL: t.baseURL, Source: t.tokenSource()}
			token, err := s.currentToken(cmd, t)
			if err != nil {
				return err
			}
			state.note(claimsOf(token))
			_, problem := client.Calls.List(cmd.Context(), apitype.CallListOptions{Paging: apitype.Paging{First: new(1)}})
			switch apiclient.KindOf(problem) {
			case "", apiclient.KindForbidden:
				state.Accepted, problem = new(true), nil
			case apiclient.KindUnauthenticated:
				state.Accepted = new(false)
			}
			if problem != nil && wantsJSON(s.args) { // stdout stays empty beside an error line.
				return problem
			}
			return errors.Join(showOne(s, state, state.fields(s.app.Now())), problem)
		},
	}
}

// currentToken is the token that requests carry.
func (s *session) currentToken(cmd *cobra.Command, t *target) (string, error) {
	if t.isEmbedded() {
		return s.embedded.Token(), nil
	}
	return s.token(cmd.Context(), t)
}

// claimsOf is what a JWT says of itself, nothing for an opaque token; nothing is verified.
func claimsOf(token string) (claims jwt.RegisteredClaims) {
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil {
		return jwt.RegisteredClaims{}
	}
	return claims
}

func (a *authState) note(claims jwt.RegisteredClaims) {
	if claims.Subject != "" {
		a.Subject = &claims.Subject
	}
	if at := claims.ExpiresAt; at != nil {
		a.ExpiresAt, a.ends = new(apitype.NewTime(at.Time).String()), at.Time
	}
}

func (a *authState) fields(now time.Time) []pair {
	fields := []pair{{"profile", a.Profile}, {"service", a.Service}, {"token from", a.Source}}
	if a.Subject != nil {
		fields = append(fields, pair{"subject", *a.Subject})
	}
	if a.ExpiresAt != nil {
		fields = append(fields, pair{"expires", *a.ExpiresAt + " (" + render.RelativeTime(a.ends, now) + ")"})
	}
	accepted := "not known: the service could not be asked"
	if a.Accepted != nil {
		if accepted = "no"; *a.Accepted {
			accepted = "yes"
		}
	}
	return append(fields, pair{"accepted", accepted})
}

func authToken(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "token", Short: "Print the token", Args: noArgs,
		Long: "Print the token that requests carry, for other programs. Mind who can see your screen.",
		Example: "  curl -H \"Authorization: Bearer $(fundesk auth token)\" https://api.example.org/api/v1/calls\n" +
			"  fundesk auth token --profile demo -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := s.resolve()
			if err != nil {
				return err
			}
			if t.isEmbedded() {
				if err := s.openEmbedded(cmd.Context(), t); err != nil {
					return err
				}
			}
			token, err := s.currentToken(cmd, t)
			if err != nil {
				return err
			}
			return showOne(s, map[string]string{"token": token}, []pair{{"", token}})
		},
	}
}

// expiry is when a token says that it ends; zero when it does not.
func expiry(token string) time.Time {
	if at := claimsOf(token).ExpiresAt; at != nil {
		return at.Time
	}
	return time.Time{}
}

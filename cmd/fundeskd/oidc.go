package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/signin"
)

const oidcHelp = `With --oidc-issuer, --oidc-audience and --oidc-map, persons sign in with your
identity provider: fundeskd also accepts its access tokens. The map is a file
that gives the values of a claim a role and organizations. A sandbox has no
sign-in.`

// oidcOptions are the flags of sign-in.
type oidcOptions struct {
	issuer   string // Empty without sign-in.
	audience string
	file     string
	clientID string
	scopes   []string
}

func (o *oidcOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.issuer, "oidc-issuer", "", "`URL` of the issuer of access tokens, as its discovery names it")
	flags.StringVar(&o.audience, "oidc-audience", "", "`name` of the audience that these tokens must have")
	flags.StringVar(&o.file, "oidc-map", "", "`FILE` that gives claims a role and organizations")
	flags.StringVar(&o.clientID, "oidc-client-id", "", "`ID` of fundesk at the issuer, for fundesk auth login")
	flags.StringSliceVar(&o.scopes, "oidc-scopes", []string{"openid", "profile", "offline_access"},
		"`scopes` that fundesk auth login asks for")
}

// check refuses flags that mean nothing without each other.
func (o *oidcOptions) check() error {
	needed := []string{o.issuer, o.audience, o.file}
	isWhole := o.issuer != "" && o.audience != "" && o.file != ""
	if strings.Join(needed, "") != "" && !isWhole {
		return usage("--oidc-issuer, --oidc-audience and --oidc-map go together")
	}
	if o.clientID != "" && !isWhole {
		return usage("--oidc-client-id needs --oidc-issuer")
	}
	return nil
}

// provider returns the provider with its map, or nil without sign-in. It reads nothing of the issuer.
func (o *oidcOptions) provider(logger *slog.Logger) (*signin.Provider, *signin.Map, error) {
	if o.issuer == "" {
		return nil, nil, nil
	}
	table, err := signin.ReadMap(o.file)
	if err != nil {
		return nil, nil, usage("--oidc-map: %w", err)
	}
	provider, err := signin.New(signin.Options{
		Issuer:   o.issuer,
		Audience: o.audience,
		Map:      table,
		Logger:   logger,
	})
	if err != nil {
		return nil, nil, usage("--oidc-issuer: %w", err)
	}
	return provider, table, nil
}

// offered returns what clients get to know of the sign-in, or nil without.
func (o *oidcOptions) offered() *httpapi.SignIn {
	if o.issuer == "" {
		return nil
	}
	var scopes []string
	for _, text := range o.scopes { // Typed with commas, blanks or both.
		scopes = append(scopes, strings.Fields(text)...)
	}
	return &httpapi.SignIn{Issuer: o.issuer, ClientID: o.clientID, Scopes: scopes}
}

// checkMapped refuses a map with an organization that the database does not have.
func checkMapped(ctx context.Context, s *service.Service, table *signin.Map) error {
	if table == nil {
		return nil
	}
	organizations, err := s.Organizations(ctx)
	if err != nil {
		return err
	}
	missing := table.Organizations()
	for _, o := range organizations {
		delete(missing, o.UUID)
	}
	var problems []error
	for id, entry := range missing {
		problems = append(problems, fmt.Errorf("entry %d: there is no organization %s", entry, id))
	}
	if len(problems) > 0 {
		return usage("--oidc-map: %w", errors.Join(problems...))
	}
	return nil
}

// checkedToken holds the permissions and scope of a token.
type checkedToken struct {
	Accepted      bool                 `json:"accepted"`
	Reason        string               `json:"reason,omitempty"` // Why it is refused.
	User          *apitype.UserName    `json:"user"`
	ExpiresAt     *apitype.Time        `json:"expiresAt"`
	Permissions   []service.Permission `json:"permissions"`
	All           bool                 `json:"allOrganizations"`
	Organizations []apitype.UUID       `json:"organizations"`
}

func (p *program) oidcCheck() *cobra.Command {
	var o oidcOptions
	var file string
	c := &cobra.Command{
		Use:   "check TOKEN-FILE",
		Short: "Print what an access token would be allowed, or why it is refused",
		Long: "Check reads an access token from a file (- is stdin), asks the issuer for its\n" +
			"keys, and prints the user, the permissions and the organizations by the map.\n" +
			"A refused token is exit code 1. It does not open the database, so it does not\n" +
			"know users who have ended, or the subjects that fundeskd user set gave. The\n" +
			"flags are those of serve, with their variables.",
		Example: "  fundeskd oidc check token.txt --oidc-issuer https://login.example/realms/charity" +
			" --oidc-audience fundesk --oidc-map map.toml",
	}
	wanted := []argument{textArgument("TOKEN-FILE", &file)}
	c.Args = exactly(wanted)
	c.RunE = reading(wanted, func(c *cobra.Command) error {
		err := p.readVariables(c)
		if err != nil {
			return err
		}
		err = o.check()
		if err != nil {
			return err
		}
		if o.issuer == "" {
			return usage("use --oidc-issuer, --oidc-audience and --oidc-map, or their variables")
		}
		return p.checkToken(c.Context(), o, file)
	})
	o.addFlags(c.Flags())
	return c
}

// maxTokenFile is more than any token has, in bytes.
const maxTokenFile = 64 << 10

func (p *program) checkToken(ctx context.Context, o oidcOptions, file string) error {
	in := p.In
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read the token: %w", err)
		}
		defer opened.Close()
		in = opened
	}
	var text []byte
	err := untilInterrupted(ctx, func() (err error) {
		text, err = io.ReadAll(io.LimitReader(in, maxTokenFile))
		return err
	})
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	provider, _, err := o.provider(nil)
	if err != nil {
		return err
	}
	err = provider.Read(ctx)
	if err != nil {
		return err
	}
	person, err := provider.Explain(ctx, strings.TrimSpace(string(text)), p.Now())
	if err != nil {
		return fmt.Errorf("the token is refused: %w", err)
	}
	checked := checkedToken{
		Accepted:      person.IsMapped,
		User:          &apitype.UserName{UUID: person.Subject, Name: person.Name},
		ExpiresAt:     new(apitype.NewTime(person.Expires)),
		Permissions:   append([]service.Permission{}, person.Permissions...),
		All:           person.Scope.All,
		Organizations: append([]apitype.UUID{}, person.Scope.Organizations...),
	}
	if !person.IsMapped {
		checked.Reason = person.Unmapped
	}
	err = p.print(checked, func(w io.Writer) { checked.write(w) })
	if err != nil || person.IsMapped {
		return err
	}
	return errors.New("the token is valid, but every request gets 403: " + person.Unmapped)
}

func (c checkedToken) write(w io.Writer) {
	fmt.Fprintf(w, "user           %s  %s\n", c.User.UUID, printable(c.User.Name))
	fmt.Fprintf(w, "ends           %s\n", c.ExpiresAt)
	fmt.Fprintf(w, "permissions    %s\n", strings.Join(names(c.Permissions), " "))
	organizations := "all"
	if !c.All {
		organizations = strings.Join(mapped(c.Organizations, apitype.UUID.String), " ")
	}
	fmt.Fprintf(w, "organizations  %s\n", organizations)
}

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/sqlstore"
)

// endDay returns the day on which a token ends, in UTC.
func endDay(t service.IssuedToken) string {
	end := t.End()
	if end == nil {
		return "unknown"
	}
	return end.UTC().Format(time.DateOnly)
}

type tokenView struct {
	Token     string                `json:"token"`
	Account   apitype.UUID          `json:"account"`
	ExpiresAt apitype.Time          `json:"expiresAt"`
	Replaced  []service.IssuedToken `json:"replaced,omitzero"` // Nil without --replace.
}

// tokenOrder holds the flags of token issue.
type tokenOrder struct {
	account apitype.UUID
	ttl     time.Duration
	replace bool
	overlap time.Duration
}

func (p *program) tokenIssue() *cobra.Command {
	var o tokenOrder
	c := &cobra.Command{
		Use:   "issue ACCOUNT-UUID",
		Short: "Issue a new token for an account",
		Long: "Issue prints a new token. The account's earlier tokens stay valid until they\n" +
			"end. With --replace they are refused from the next request on, in every process.\n" +
			"--overlap keeps them valid for that long. stderr names the tokens concerned.",
		Example: "  fundeskd token issue 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --ttl 24h\n" +
			"  fundeskd token issue 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --replace --overlap 48h",
	}
	wanted := []argument{uuidArgument("ACCOUNT-UUID", "account", &o.account)}
	c.Args = exactly(wanted)
	c.RunE = reading(wanted, func(c *cobra.Command) error {
		if o.ttl < time.Second {
			return usage("--ttl must be a second at least")
		}
		if c.Flags().Changed("overlap") && !o.replace {
			return usage("--overlap is for --replace only")
		}
		if o.overlap < 0 || o.overlap >= o.ttl {
			return usage("--overlap %s is not from 0s to less than --ttl %s", o.overlap, o.ttl)
		}
		return p.withService(c.Context(), access{}, func(s *service.Service) error {
			if o.replace {
				return p.replaceTokens(c.Context(), s, o)
			}
			return p.issueToken(c.Context(), s, o)
		})
	})
	flags := c.Flags()
	addTokenLife(flags, &o.ttl)
	flags.BoolVar(&o.replace, "replace", false, "end the earlier tokens of the account")
	flags.DurationVar(&o.overlap, "overlap", 0,
		"with --replace, how long the earlier tokens stay valid (default: they end at once)")
	return c
}

func (p *program) issueToken(ctx context.Context, s *service.Service, o tokenOrder) error {
	token, expires, err := s.IssueToken(ctx, o.account, o.ttl)
	if err != nil {
		return fmt.Errorf("issue a token: %w", err)
	}
	return p.printToken(tokenView{Token: token, Account: o.account, ExpiresAt: expires})
}

func (p *program) replaceTokens(ctx context.Context, s *service.Service, o tokenOrder) error {
	token, expires, ended, err := s.ReplaceTokens(ctx, o.account, o.ttl, o.overlap)
	if err != nil {
		return fmt.Errorf("replace the tokens: %w", err)
	}
	err = p.printToken(tokenView{
		Token:     token,
		Account:   o.account,
		ExpiresAt: expires,
		Replaced:  append([]service.IssuedToken{}, ended...),
	})
	if err != nil || p.output == "json" {
		return err
	}
	for _, t := range ended {
		fmt.Fprintf(
			p.Err,
			"token %s, issued on %s, ends %s\n",
			t.UUID,
			t.IssuedAt.UTC().Format(time.DateOnly),
			t.EndedAt,
		)
	}
	if len(ended) == 0 {
		fmt.Fprintln(p.Err, "the account had no other token")
	}
	return nil
}

func (p *program) printToken(t tokenView) error {
	return p.print(t, func(w io.Writer) { fmt.Fprintln(w, t.Token) })
}

func (p *program) keyRotate() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Replace the signing key, which ends every token",
		Long: "Rotate replaces the signing key of the database. Every token of every account is\n" +
			"refused from then on, within seconds in every process, and so are cursors and\n" +
			"links to signatures. Issue new tokens with fundeskd token issue. Rotate prints\n" +
			"how many tokens end, and asks. A database that lost its key gets a new one.",
		Example: "  fundeskd key rotate --yes",
		Args:    exactly(nil),
		RunE: func(c *cobra.Command, _ []string) error {
			var rotation service.KeyRotation
			err := p.withStore(c.Context(), access{}, func(store *sqlstore.Store) (err error) {
				rotation, err = p.rotateKey(c.Context(), store, yes)
				return err
			})
			if err != nil {
				return err
			}
			return p.print(rotation, func(w io.Writer) {
				fmt.Fprintf(w, "tokens are signed with %s now\n", rotation.Key)
				printEndedTokens(w, rotation.Ended)
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func (p *program) rotateKey(ctx context.Context, store *sqlstore.Store, yes bool) (service.KeyRotation, error) {
	ending, err := service.CountTokens(ctx, store, p.Now)
	if err != nil {
		return service.KeyRotation{}, err
	}
	question := fmt.Sprintf("A new signing key ends every token, %d of them. Replace the key?", ending)
	err = p.confirm(ctx, question, yes)
	if err != nil {
		return service.KeyRotation{}, err
	}
	return service.RotateKey(ctx, store, p.Now)
}

// printEndedTokens prints how many tokens a new key has ended, and how to issue new ones.
func printEndedTokens(w io.Writer, ended int) {
	fmt.Fprintf(
		w,
		"%s ended; fundeskd account list names the accounts, and fundeskd token issue UUID makes a new token for "+
			"each\n",
		count(ended, "token"),
	)
}

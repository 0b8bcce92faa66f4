package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/sqlstore"
)

// endOf is the day on which a token ends.
func endOf(t service.IssuedToken) string {
	if end := t.End(); end != nil {
		return end.UTC().Format(time.DateOnly)
	}
	return "unknown"
}

type issuedToken struct {
	Token     string                `json:"token"`
	Account   apitype.UUID          `json:"account"`
	ExpiresAt apitype.Time          `json:"expiresAt"`
	Replaced  []service.IssuedToken `json:"replaced,omitzero"` // Nil: none were to be.
}

func (p *program) tokenIssue() *cobra.Command {
	var ttl, overlap time.Duration
	var replace bool
	c := &cobra.Command{
		Use:   "issue ACCOUNT-UUID",
		Short: "Issue a new token for an account",
		Long: "Issue prints a new token. The account's earlier tokens stay valid until they\n" +
			"end. With --replace they are refused from the next request on, in every process.\n" +
			"--overlap keeps them valid for that long. stderr names the tokens concerned.",
		Example: "  fundeskd token issue 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --ttl 24h\n" +
			"  fundeskd token issue 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --replace --overlap 48h",
		Args: exactly("ACCOUNT-UUID"),
		RunE: about("account", func(c *cobra.Command, id apitype.UUID) error {
			switch {
			case ttl < time.Second:
				return usage("--ttl must be a second at least")
			case c.Flags().Changed("overlap") && !replace:
				return usage("--overlap is for --replace only")
			case overlap < 0 || overlap >= ttl:
				return usage("--overlap %s is not from 0s to less than --ttl %s", overlap, ttl)
			}
			return p.with(c.Context(), func(s *service.Service) error {
				if replace {
					return p.replaceTokens(c.Context(), s, id, ttl, overlap)
				}
				token, expires, err := s.IssueToken(c.Context(), id, ttl)
				if err != nil {
					return fmt.Errorf("issue a token: %w", err)
				}
				return p.printToken(issuedToken{Token: token, Account: id, ExpiresAt: expires})
			})
		}),
	}
	flags := c.Flags()
	flags.DurationVar(&ttl, "ttl", defaultTTL, "how long the token is valid")
	flags.BoolVar(&replace, "replace", false, "end the earlier tokens of the account")
	flags.DurationVar(&overlap, "overlap", 0, "with --replace, how long the earlier tokens stay good (default: they end at once)")
	return c
}

func (p *program) replaceTokens(ctx context.Context, s *service.Service, id apitype.UUID, ttl, overlap time.Duration) error {
	token, expires, ended, err := s.ReplaceTokens(ctx, id, ttl, overlap)
	if err != nil {
		return fmt.Errorf("replace the tokens: %w", err)
	}
	issued := issuedToken{Token: token, Account: id, ExpiresAt: expires, Replaced: append([]service.IssuedToken{}, ended...)}
	if err := p.printToken(issued); err != nil || p.output == "json" {
		return err
	}
	for _, t := range ended {
		used := "" // One of the last minute is not saved yet: that there was none cannot be said.
		if t.LastUsedOn != nil {
			used = ", last used on " + t.LastUsedOn.String()
		}
		fmt.Fprintf(p.Err, "token %s, issued on %s%s, ends %s\n", t.UUID, t.IssuedAt.UTC().Format(time.DateOnly), used, t.EndedAt)
	}
	if len(ended) == 0 {
		fmt.Fprintln(p.Err, "the account had no other token")
	}
	return nil
}

func (p *program) printToken(t issuedToken) error {
	return p.print(t, func(w io.Writer) { fmt.Fprintln(w, t.Token) })
}

func (p *program) keyRotate() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Replace the signing key, which ends every token",
		Long: "Rotate puts a new signing key in the place of the database's own. Every token of\n" +
			"every account is refused from then on, within seconds in every process, and so\n" +
			"are cursors and links to signatures. Issue new tokens with fundeskd token issue.\n" +
			"It says how many tokens end, and asks. A database that lost its key gets one.",
		Example: "  fundeskd key rotate --yes",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			p.store.AnswerTimeout = defaultAnswerTimeout
			store, err := p.openStore(c.Context())
			if err != nil {
				return err
			}
			rotation, err := p.rotateKey(c.Context(), store, yes)
			if err := errors.Join(err, store.Close()); err != nil {
				return err
			}
			return p.print(rotation, func(w io.Writer) {
				fmt.Fprintf(w, "tokens are signed with %s now\n", rotation.Key)
				tellEnded(w, rotation.Ended)
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func (p *program) rotateKey(ctx context.Context, store *sqlstore.Store, yes bool) (rotation service.KeyRotation, err error) {
	ends, err := service.CountTokens(ctx, store, p.Now)
	if err != nil {
		return rotation, err
	}
	if err := p.confirm(fmt.Sprintf("A new signing key ends every token, %d of them. Replace the key?", ends), yes); err != nil {
		return rotation, err
	}
	return service.RotateKey(ctx, store, p.Now)
}

// tellEnded says how many tokens a new key has ended, and how to go on.
func tellEnded(w io.Writer, ended int) {
	fmt.Fprintf(w, "%s ended; fundeskd account list names the accounts, and fundeskd token issue UUID makes a new token for each\n", count(ended, "token"))
}

package change

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
	"fundesk/render"
)

// Consent returns the commands for the consents of persons.
func Consent(s *cli.Session) *cobra.Command {
	cmd := cli.Group(
		s,
		"consent",
		"Consents are the proofs of opt-ins. They are only added: the newest of a channel decides its opt-in.",
		"  fundesk person consent list 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11\n"+
			"  fundesk person consent add 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --channel phone --basis consent \\\n"+
			"    --source 'web form' --at 2026-05-12",
		cli.Verbs{"list": consentList, "add": consentAdd},
	)
	cmd.Short = "List and add the proofs of opt-ins"
	return cmd
}

func consentList(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "list UUID",
		Short: "List the consents of a person, newest first",
		Args:  cli.NeedExactly(1),
		Long:  "List the consents of a person, newest first. The first one of a channel decides its opt-in.",
		Example: "  fundesk person consent list 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11\n" +
			"  fundesk person consent list 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 -o csv > consents.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := cli.ParseID(args[0])
			if err != nil {
				return err
			}
			client, print, err := cli.Open(cmd.Context(), s, "at", render.ConsentColumns())
			if err != nil {
				return err
			}
			consents, err := client.Consents(cmd.Context(), id)
			return print.Members("consents", consents.Raw, err)
		},
	}
}

// addedConsent is the flags of a new consent.
type addedConsent struct {
	channel, basis  string
	source, wording string
	at              *apitype.Time
	user            *apitype.UUID
}

func consentAdd(s *cli.Session) *cobra.Command {
	flags, c := &Flags{}, &addedConsent{}
	cmd := &cobra.Command{
		Use:   "add UUID… | -",
		Short: "Add a consent of persons",
		Args:  cli.NeedArgs(1),
		Long: "Add the proof of an opt-in, or of an objection. --basis consent sets the opt-in of the channel,\n" +
			"withdrawn clears it, and customer (a donor with a relationship to the organization) changes nothing. A\n" +
			"consent that is older than the newest of its channel changes no opt-in. For phone, withdrawn blocks\n" +
			"the donor's numbers, and consent unblocks them. Consents are never removed. Several persons get the\n" +
			"same consent.",
		Example: "  fundesk person consent add 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --channel phone " +
			"--basis consent \\\n" +
			"    --source 'web form' --wording 'You may call me about my gift.' --at '2026-05-12 14:30'\n" +
			"  fundesk person consent add 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --channel email --basis withdrawn \\\n" +
			"    --source 'unsubscribe link' --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			consent, err := c.consent(s, cmd)
			if err != nil {
				return err
			}
			var persons []apitype.UUID
			change := func(id apitype.UUID) (apiclient.Change, error) {
				persons = append(persons, id)
				return apiclient.AddConsentChange(id, consent)
			}
			err = Moves[apitype.Consent]{Columns: render.ConsentColumns(), Change: change}.Run(s, cmd, flags, args)
			mayBeOverruled := consent.OptIn() != nil && cmd.Flags().Changed("at")
			if mayBeOverruled && !flags.dryRun && !flags.outbox {
				err = errors.Join(err, warnOverruled(cmd.Context(), s, flags.concurrency, persons, consent))
			}
			return err
		},
	}
	flags.Register(cmd, true)
	f := cmd.Flags()
	f.Var(wordValue(&c.channel, apitype.Texts(apitype.ConsentChannels)), "channel", "phone, email, mail or sms")
	f.Var(wordValue(&c.basis, apitype.Texts(apitype.ConsentBases)), "basis", "consent, customer or withdrawn")
	f.StringVar(&c.source, "source", "", "where it was given, such as 'web form'; a consent needs one")
	f.StringVar(&c.wording, "wording", "", "what the donor agreed to, in the words that were shown")
	f.Var(cli.BodyTimeValue(s.App.Now, &c.at), "at", "when it was given (default: now)")
	f.Var(cli.UUIDValue(&c.user), "user", "user who recorded it (default: the profile's agent)")
	return cmd
}

// warnOverruled names the persons whose opt-in did not change, because a later consent decides it. Someone who enters
// the day of a withdrawal alone may mean a later time of that day.
func warnOverruled(
	ctx context.Context,
	s *cli.Session,
	concurrency int,
	persons []apitype.UUID,
	added apitype.Consent,
) error {
	client, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	for read := range bulk.InOrder(ctx, concurrency, slices.Values(persons), client.Consents) {
		known, err := apiclient.Decoded(read.Value, read.Err)
		if err != nil {
			continue // Perhaps the account may not read persons. The change itself was reported.
		}
		isAdded := slices.ContainsFunc(known.Consents, added.Equal)
		if later := known.Overruling(added); isAdded && later != nil {
			s.Warn(
				"%s: the opt-in for %s is as before, because the consent of %s is later; --at takes a time of day, too",
				read.Item,
				added.Channel,
				later.At,
			)
		}
	}
	return nil
}

// wordValue returns a flag with a fixed set of values.
func wordValue(word *string, words []string) *cli.Value {
	return &cli.Value{
		Word:   "text",
		Text:   func() string { return *word },
		Read:   func(text string) error { *word = text; return nil },
		Choice: func() []string { return words },
	}
}

// consent returns the consent that the flags describe.
func (c *addedConsent) consent(s *cli.Session, cmd *cobra.Command) (apitype.Consent, error) {
	s.SetNow(&c.at)
	if err := s.Agent(&c.user); err != nil {
		return apitype.Consent{}, err
	}
	consent := apitype.Consent{
		Channel:  apitype.ConsentChannel(c.channel),
		Basis:    apitype.ConsentBasis(c.basis),
		At:       *c.at,
		UserUUID: c.user,
	}
	if cmd.Flags().Changed("source") {
		consent.Source = &c.source
	}
	if cmd.Flags().Changed("wording") {
		consent.Wording = &c.wording
	}
	wrong := consent.Validate(s.App.Now())
	if len(wrong) > 0 {
		return consent, cli.UsageError("--" + wrong[0].Where() + " " + ofFlag(wrong[0].Message))
	}
	return consent, nil
}

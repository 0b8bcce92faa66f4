package change

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// privacyClient returns the client of a service in which this account may export and erase.
func privacyClient(ctx context.Context, s *cli.Session) (*apiclient.Client, error) {
	client, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	has, err := client.Has(ctx, apitype.ExtensionErase)
	if err == nil && !has {
		err = cli.WithHint(cli.Failure(apiclient.KindRejected, "the service does not offer this to the account"),
			"ask the service's operator to run fundeskd person export|erase, or for the permission persons:erase")
	}
	return client, err
}

// Export returns the verb export of persons.
func Export(s *cli.Session) *cobra.Command {
	local := localFlags{}
	cmd := &cobra.Command{
		Use:   "export UUID",
		Short: "Print everything stored about a person, as JSON",
		Args:  cli.NeedExactly(1),
		Long: "Print the person with consents, calls, pledges, transactions, signature files, marks, queue data\n" +
			"and audit lines. The output is a complete answer to a request for access. Notes may mention\n" +
			"other people, so read it first. The account needs the permission persons:erase.\n\n" +
			"With --local: list the files of this computer that name the person: drafts, the outbox, copies and\n" +
			"pull positions. Drafts and changes of calls name only the call, so name the person's calls with\n" +
			"--call.",
		Example: "  fundesk person export 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 -o json > answer.json\n" +
			"  fundesk person export 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --jq '.calls[].notes'",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := cli.ParseID(args[0])
			if err != nil {
				return err
			}
			if local.local {
				return local.exportLocal(cmd.Context(), s, id)
			}
			options, err := s.Output()
			if err != nil {
				return err
			}
			client, err := privacyClient(cmd.Context(), s)
			if err != nil {
				return err
			}
			answer, err := client.Export(cmd.Context(), id)
			if err == nil {
				err = answer.Err()
			}
			if err != nil {
				return err
			}
			return cli.PrintAnswer(s, options, answer)
		},
	}
	local.register(cmd, "list")
	return cmd
}

// Erase returns the verb erase of persons.
func Erase(s *cli.Session) *cobra.Command {
	r, yes, dry, local := apitype.EraseRequest{}, false, false, localFlags{}
	cmd := &cobra.Command{
		Use:   "erase UUID --reason TEXT",
		Short: "Erase a person permanently",
		Args:  cli.NeedExactly(1),
		Long: "Erase a person. Only amounts, dates, codes and links stay, for the books. erase asks first and names\n" +
			"the organization and the service; off a terminal it needs --yes. The audit keeps the reason, which\n" +
			"must not name the person. The account needs the permission persons:erase.\n\n" +
			"With --local: erase the files of this computer that name the person, and nothing in the service.\n" +
			"Unsent changes are lost with them.",
		Example: "  fundesk person erase 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --reason 'request 2026-17' --dry-run\n" +
			"  fundesk person erase 3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11 --reason 'request 2026-17' --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := cli.ParseID(args[0])
			if err != nil {
				return err
			}
			if local.local {
				return local.eraseLocal(cmd.Context(), s, id, dry, yes)
			}
			if r.Reason == "" {
				return cli.WithHint(
					cli.UsageError("no reason is given"),
					"add --reason TEXT, such as the number of the request",
				)
			}
			body, err := json.Marshal(r)
			if err != nil {
				return err
			}
			erasure := apiclient.Change{
				Method: http.MethodPost,
				Path:   "/fundesk/v1/persons/" + id.String() + "/erase",
				Body:   body,
			}
			if dry {
				return printChange(s, erasure)
			}
			return erasePerson(cmd.Context(), s, id, erasure, yes)
		},
	}
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why, such as the number of the request; never who the person is")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the request and send nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cli.OnPage(cmd, "changes", "dry-run", "yes")
	local.register(cmd, "erase")
	return cmd
}

// erasePerson asks, with what makes a mistaken uuid noticed, and erases.
func erasePerson(ctx context.Context, s *cli.Session, id apitype.UUID, erasure apiclient.Change, yes bool) error {
	options, err := s.Output()
	if err != nil {
		return err
	}
	client, err := privacyClient(ctx, s)
	if err != nil {
		return err
	}
	question := "erase for good a person"
	person, err := client.Persons.Get(ctx, id)
	switch {
	case apiclient.KindOf(err) == apiclient.KindNotFound:
		// The answer to an earlier erasure may have been lost. Otherwise the result is 404 as well.
		question = "finish the erasure of a person"
	case err != nil:
		return err
	default:
		known, err := person.Decode()
		if err != nil {
			return err
		}
		if owner := known.OwningOrganization.Pointer(); owner != nil {
			question += " of " + owner.Name
		}
	}
	if err := s.AskChange(ctx, yes, question, []cli.RecordRef{{Noun: "person", ID: id}}, 1); err != nil {
		return err
	}
	answer, err := client.Do(ctx, erasure.Method, erasure.Path, nil, erasure.Body, nil)
	if err == nil {
		err = answer.Err()
	}
	if err != nil {
		return cli.OutcomeOf(false, err)
	}
	noteUnclean(s, answer.Body)
	return cli.PrintAnswer(s, options, answer)
}

// noteUnclean names the files of the service that still have data of an erased person.
func noteUnclean(s *cli.Session, erasure []byte) {
	var done struct {
		Scrubbed struct{ Later []string }
	}
	if json.Unmarshal(erasure, &done) == nil && len(done.Scrubbed.Later) > 0 { // Another service may answer otherwise.
		s.Warn(
			"the erased bytes stay in unused space of the service's database (%s) until its next cleaning: fundeskd "+
				"clean, which its package runs every night",
			strings.Join(done.Scrubbed.Later, ", "),
		)
	}
}

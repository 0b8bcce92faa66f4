package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (p *program) personExport() *cobra.Command {
	c := &cobra.Command{
		Use:   "export UUID",
		Short: "Print everything that is kept of a person, as JSON",
		Long: "Export prints the person, calls, pledges, transactions, signature files, marks, what the queue keeps, and the\n" +
			"lines of the audit about them; with -o ndjson one record a line, with its kind. notAnswered holds what no\n" +
			"answer of the interface shows. That it was exported is noted in the audit.",
		Example: "  fundeskd person export 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c > answer.json",
		Args:    exactly("UUID"),
		RunE: about("person", func(c *cobra.Command, id apitype.UUID) error {
			p.store.Existing = true
			return p.with(c.Context(), func(s *service.Service) error {
				export, err := s.ExportPerson(c.Context(), id)
				if err == nil {
					err = export.Write(c.Context(), p.Out, p.output == ndjson)
				}
				if err == nil && p.output != ndjson {
					_, err = fmt.Fprintln(p.Out)
				}
				if err != nil {
					return fmt.Errorf("export the person: %w", err)
				}
				return nil
			})
		}),
	}
	streams(c)
	return c
}

func (p *program) personErase() *cobra.Command {
	var request service.EraseRequest
	var yes bool
	c := &cobra.Command{
		Use:   "erase UUID --reason TEXT",
		Short: "Erase what is known of a person, for good",
		Long: "Erase blanks the person's name, address, contacts, birth, identifiers and bank data, the notes, external metadata\n" +
			"and recordings of their calls, the external metadata of their pledges, their signature files, and who paid in\n" +
			"their transactions. Amounts, dates, codes and links stay, for the books. The person is 404 from then on, and the\n" +
			"uuid is not given again. Their calls and pledges take no changes any more.\n\n" +
			"The bytes remain in unused space of the database's files until the next fundeskd clean, since a file or a table that\n" +
			"is written anew holds up whoever uses it. Backups, and PostgreSQL's WAL, hold them until they end; who was erased\n" +
			"when is noted in a file outside of the database, so that fundeskd erasures replay erases it again when a backup was\n" +
			"restored.\n\n" +
			"The reason is kept in the audit: it must not tell who the person is.",
		Example: "  fundeskd person erase 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --reason \"request 2026-17\" --dry-run\n" +
			"  fundeskd person erase 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --reason \"request 2026-17\" --yes",
		Args: exactly("UUID"),
		RunE: about("person", func(c *cobra.Command, id apitype.UUID) (err error) {
			switch {
			case request.Reason == "":
				return usage("--reason is needed; it is kept in the audit")
			case !yes && !request.DryRun:
				return usage("what is erased does not come back: use --dry-run to see what it would be, and --yes to erase it")
			}
			if request.Record, err = p.erasures(); err != nil {
				return err
			}
			p.store.Existing, p.store.AnswerTimeout = true, forgoTimeout
			return answer(c.Context(), p, "erase the person", func(s *service.Service) (service.Erasure, error) {
				return s.ErasePerson(c.Context(), id, request)
			}, writeErasure)
		}),
	}
	flags := c.Flags()
	flags.StringVar(&request.Reason, "reason", "", "`text`, why; such as the number of the request, never who the person is")
	flags.BoolVar(&request.DryRun, "dry-run", false, "only count what would be erased")
	flags.BoolVar(&yes, "yes", false, "erase it")
	p.erasuresFlag(c)
	return c
}

// writeErasure tells what was erased.
func writeErasure(w io.Writer, e service.Erasure) {
	switch {
	case e.Repeated:
		fmt.Fprintf(w, "person %s was erased at %s\n", e.PersonUUID, e.ErasedAt)
	case e.DryRun:
		fmt.Fprintf(w, "would erase person %s", e.PersonUUID)
	default:
		fmt.Fprintf(w, "erased person %s", e.PersonUUID)
	}
	if !e.Repeated {
		fmt.Fprintf(w, ": %s, %s, %s, %s; %s of the queue, %s\n", count(e.Calls, "call"), count(e.Pledges, "pledge"),
			count(e.Transactions, "transaction"), count(e.Signatures, "signature file"), count(e.Waiting, "call"), count(e.Leases, "lease"))
	}
	if e.Scrubbed != nil && len(e.Scrubbed.Later) > 0 {
		fmt.Fprintf(w, "the bytes remain in unused space (%s) until the next fundeskd clean\n", strings.Join(e.Scrubbed.Later, ", "))
	}
}

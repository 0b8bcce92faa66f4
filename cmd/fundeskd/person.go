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
		Short: "Print everything stored about a person, as JSON",
		Long: "Export prints the person with calls, pledges, transactions, signature files,\n" +
			"marks, queue data and audit lines. With -o ndjson it prints one record per line,\n" +
			"with its kind. notAnswered holds what no answer of the interface shows. The\n" +
			"audit records the export.",
		Example: "  fundeskd person export 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c > answer.json",
		Args:    exactly("UUID"),
		RunE: about("person", func(c *cobra.Command, id apitype.UUID) error {
			p.store.Existing = true
			return p.with(c.Context(), func(s *service.Service) error {
				export, err := s.ExportPerson(c.Context(), id)
				if err == nil {
					err = export.Write(c.Context(), p.Out, p.output == ndjson)
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
		Short: "Erase a person permanently",
		Long: "Erase blanks the person's name, address, contacts, birth, identifiers and bank\n" +
			"data. In calls and pledges it blanks notes, external metadata and recordings,\n" +
			"and deletes signature files. In transactions it blanks the payer. Amounts,\n" +
			"dates, codes and links stay, for the books. The person is 404 from then on, and\n" +
			"the uuid is never used again. The person's calls and pledges accept no changes.\n\n" +
			"The bytes stay in unused space of the database's files until the next fundeskd\n" +
			"clean. Backups and PostgreSQL's WAL keep them as long as you keep those. A file\n" +
			"outside the database records uuid and time, so fundeskd erasures replay can\n" +
			"repeat the erasure after a restore.\n\n" +
			"The audit keeps the reason, which must not name the person.",
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

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/privacy"
)

func (p *program) personExport() *cobra.Command {
	var id apitype.UUID
	wanted := []argument{uuidArgument("UUID", "person", &id)}
	return streams(&cobra.Command{
		Use:   "export UUID",
		Short: "Print everything stored about a person, as JSON",
		Long: "Export prints the person with calls, pledges, transactions, signature files,\n" +
			"marks, queue data and audit lines. With -o ndjson it prints one record per line,\n" +
			"with its kind. notAnswered holds what no answer of the interface shows. The\n" +
			"audit records the export.",
		Example: "  fundeskd person export 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c > answer.json",
		Args:    exactly(wanted),
		RunE: reading(wanted, func(c *cobra.Command) error {
			err := p.withService(c.Context(), access{}, func(s *service.Service) error {
				export, err := privacy.New(s, nil).Export(c.Context(), id)
				if err != nil {
					return err
				}
				return export.Write(c.Context(), p.Out, p.output == ndjson)
			})
			if err != nil {
				return fmt.Errorf("export the person: %w", err)
			}
			return nil
		}),
	})
}

func (p *program) personErase() *cobra.Command {
	var (
		id      apitype.UUID
		request apitype.EraseRequest
		yes     bool
		log     string
	)
	return operation[privacy.Erasure]{
		use:   "erase UUID --reason TEXT",
		short: "Erase a person permanently",
		long: "Erase blanks the person's name, address, contacts, birth, identifiers and bank\n" +
			"data. In calls and pledges it blanks notes, external metadata and recordings,\n" +
			"and deletes signature files. In transactions it blanks the payer. Amounts,\n" +
			"dates, codes and links stay, for the books. The person is 404 from then on, and\n" +
			"the uuid is never used again. The person's calls and pledges accept no changes.\n\n" +
			"The bytes stay in unused space of the database's files until the next fundeskd\n" +
			"clean. Backups and PostgreSQL's WAL keep them as long as you keep those. A file\n" +
			"outside the database records uuid and time, so fundeskd erasures replay can\n" +
			"repeat the erasure after a restore.\n\n" +
			"The audit keeps the reason, which must not name the person.",
		example: "  fundeskd person erase 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --reason \"request 2026-17\"" +
			" --dry-run\n" +
			"  fundeskd person erase 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --reason \"request 2026-17\" --yes",
		args: []argument{uuidArgument("UUID", "person", &id)},
		flags: func(flags *pflag.FlagSet) {
			flags.StringVar(&request.Reason, "reason", "",
				"why, a `text` such as the number of the request; never the person's name")
			flags.BoolVar(&request.DryRun, "dry-run", false, "only count what would be erased")
			flags.BoolVar(&yes, "yes", false, "erase it")
			erasuresFlag(flags, &log)
		},
		check: func(context.Context, *pflag.FlagSet) error {
			if request.Reason == "" {
				return usage("--reason is needed; it is kept in the audit")
			}
			if !yes && !request.DryRun {
				return usage(
					"an erasure cannot be undone: use --dry-run to see what it would erase, and --yes to erase it",
				)
			}
			_, err := p.erasuresFile(log)
			return err
		},
		access:  access{patient: true},
		failure: "erase the person",
		run: func(ctx context.Context, s *service.Service) (privacy.Erasure, error) {
			return privacy.New(s, p.recordErasures(log)).Erase(ctx, id, request)
		},
		text: writeErasure,
	}.command(p)
}

func writeErasure(w io.Writer, e privacy.Erasure) {
	if e.Repeated {
		fmt.Fprintf(w, "person %s was erased at %s\n", e.PersonUUID, e.ErasedAt)
	} else {
		writeErased(w, e)
	}
	if e.Scrubbed != nil && len(e.Scrubbed.Later) > 0 {
		fmt.Fprintf(
			w,
			"the bytes remain in unused space (%s) until the next fundeskd clean\n",
			strings.Join(e.Scrubbed.Later, ", "),
		)
	}
}

// writeErased counts what was erased with a person, or would be.
func writeErased(w io.Writer, e privacy.Erasure) {
	done := "erased"
	if e.DryRun {
		done = "would erase"
	}
	fmt.Fprintf(w, "%s person %s: %s, %s, %s, %s; %s of the queue, %s\n",
		done, e.PersonUUID,
		count(e.Calls, "call"), count(e.Pledges, "pledge"),
		count(e.Transactions, "transaction"), count(e.Signatures, "signature file"),
		count(e.Waiting, "call"), count(e.Leases, "lease"))
}

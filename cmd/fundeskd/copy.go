package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

func (p *program) copyCommand() *cobra.Command {
	var from, to string
	c := &cobra.Command{
		Use:   "copy --from DATABASE --to DATABASE",
		Short: "Move everything into another database",
		Long: "Copy moves records with their identifiers, times and revisions, accounts, marks and the signing key into an\n" +
			"empty database, so that tokens and cursors hold there; the target's own key gives way. Each part is compared\n" +
			"after it was written, and each table's rows are counted. A copy that was interrupted goes on when the command\n" +
			"is run again. Stop the programs that write to the source first: what they change afterwards is not copied. A\n" +
			"program that serves the target must be started again afterwards.",
		Example: "  fundeskd copy --from sqlite:/var/lib/fundesk/fundeskd.db --to 'postgres://fundesk@db/fundesk'",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if from == "" || to == "" || from == to {
				return usage("copy needs two different databases, --from and --to")
			}
			p.kept = "; what was copied is kept, and the same command goes on from there"
			tables, err := p.copyAll(c.Context(), from, to)
			if err != nil {
				return fmt.Errorf("copy: %w", err)
			}
			return p.print(map[string][]sqlstore.CopiedTable{"tables": tables}, func(w io.Writer) {
				for _, t := range tables {
					fmt.Fprintf(w, "%d %s %s\n", t.Rows, t.Table, t.Checksum)
				}
			})
		},
	}
	c.Flags().StringVar(&from, "from", "", "`database` to read: sqlite:PATH or postgres://…")
	c.Flags().StringVar(&to, "to", "", "empty `database` to fill, or one where a copy was interrupted")
	return c
}

// copyEvery is how many rows go by between two lines of progress.
const copyEvery = 100_000

func (p *program) copyAll(ctx context.Context, from, to string) (tables []sqlstore.CopiedTable, err error) {
	source, err := sqlstore.Open(ctx, sqlstore.Options{Database: from, Postgres: pgdriver.Driver{}, NoMigrate: p.store.NoMigrate, Existing: true})
	if err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := sqlstore.Open(ctx, sqlstore.Options{Database: to, Postgres: pgdriver.Driver{}, Bulk: true})
	if err != nil {
		return nil, fmt.Errorf("to: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	said := map[string]int64{}
	return source.CopyTo(ctx, target, func(table string, rows int64) {
		if rows >= said[table]+copyEvery {
			said[table] = rows
			fmt.Fprintf(p.Err, "%d %s\n", rows, table)
		}
	})
}

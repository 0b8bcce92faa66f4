package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fundesk/service/sqlstore"
)

func (p *program) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the database",
		Long: "Restore puts a backup and its key, FILE and FILE.key, in the place of the database and of its key. Stop\n" +
			"what serves the database first. The backup is copied, brought up to date and checked before anything is\n" +
			"replaced; it stays as it is. What was there before stays beside, with .before- and the time in its names.\n" +
			"A restore that was interrupted is run again; until then the database is not opened by anybody. A backup\n" +
			"knows nothing of who was erased since it was made: run fundeskd erasures replay before it is served.",
		Example: "  fundeskd restore /backup/fundeskd-2026-11-20.db",
		Args:    exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			name, err := p.databaseName()
			if err != nil {
				return err
			}
			kept, err := sqlstore.Restore(c.Context(), args[0], name)
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			view := struct {
				Database string   `json:"database"`
				Kept     []string `json:"kept"`
			}{name, append([]string{}, kept...)}
			return p.print(view, func(w io.Writer) {
				fmt.Fprintf(w, "%s is %s now\n", name, args[0])
				for _, file := range kept {
					fmt.Fprintf(w, "kept %s\n", file)
				}
			})
		},
	}
}

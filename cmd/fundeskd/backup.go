package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/service"
	"fundesk/service/sqlstore"
)

// unfinished is what the names of files end with that are not whole yet.
const unfinished = ".unfinished"

func (p *program) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE|-",
		Short: "Back up the database while it is served",
		Long: "Backup writes a complete copy of the database to FILE, and prints the SHA-256 of\n" +
			"the copy, which fundeskd restore --sha256 wants. The file holds the signing key:\n" +
			"keep it as you keep the database. An existing file is not touched. FILE exists\n" +
			"only when it is complete. A killed backup leaves a file that ends with\n" +
			".unfinished, which you may delete. With - the copy goes to stdout, and the sum\n" +
			"to stderr.",
		Example: "  fundeskd backup /backup/fundeskd-2026-11-20.db\n  sudo -u fundeskd fundeskd backup - > /srv/backup/fundeskd-2026-11-20.db",
		Args:    exactly("FILE|-"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			var sum string
			err = p.on(c.Context(), func(store *sqlstore.Store, s *service.Service) (err error) {
				if args[0] == "-" {
					sum, err = p.streamBackup(c.Context(), store)
				} else {
					sum, err = store.Backup(c.Context(), args[0])
				}
				if err != nil {
					return fmt.Errorf("backup: %w", err)
				}
				if failed := s.NoteBackup(c.Context()); failed != nil {
					fmt.Fprintf(p.Err, "fundeskd: the backup is whole, but its time was not noted for /metrics: %s\n", told(failed))
				}
				return nil
			})
			if err != nil {
				return err
			}
			if args[0] == "-" {
				fmt.Fprintf(p.Err, "%s  -\n", sum)
				return nil
			}
			return p.print(map[string]string{"file": args[0], "sha256": sum}, func(w io.Writer) { fmt.Fprintf(w, "%s  %s\n", sum, args[0]) })
		},
	}
}

// streamBackup writes a backup to stdout. It is made beside the database first: a reader that is slow holds up nothing.
func (p *program) streamBackup(ctx context.Context, store *sqlstore.Store) (sum string, err error) {
	if isTerminal(p.Out) {
		return "", usage("a backup is not shown: fundeskd backup - > FILE")
	}
	name, err := p.databaseName()
	if err != nil {
		return "", err
	}
	path, isFile := strings.CutPrefix(name, "sqlite:")
	if !isFile {
		return store.Backup(ctx, "-") // Its error names the way out.
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), "fundeskd-backup-") // 0700
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	made := filepath.Join(folder, "fundeskd.db")
	sum, err = store.Backup(ctx, made)
	if err != nil {
		return "", err
	}
	file, err := os.Open(made)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(p.Out, file)
	return sum, errors.Join(err, file.Close())
}

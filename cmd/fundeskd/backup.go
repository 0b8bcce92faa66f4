package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"fundesk/service"
	"fundesk/service/sqlstore"
)

// Names of incomplete files end with this.
const unfinished = ".unfinished"

func (p *program) backupCommand() *cobra.Command {
	var to string
	wanted := []argument{textArgument("FILE|-", &to)}
	return &cobra.Command{
		Use:   "backup FILE|-",
		Short: "Back up the database while it is served",
		Long: "Backup writes a complete copy of the database to FILE, and prints the SHA-256 of\n" +
			"the copy, for fundeskd restore --sha256. The file holds the signing key: protect\n" +
			"it as you protect the database. An existing file is not touched. FILE exists\n" +
			"only when it is complete. A killed backup leaves files with .unfinished in their\n" +
			"names. Delete them: erasures do not reach them. With - the copy goes to stdout,\n" +
			"and the sum to stderr.",
		Example: "  fundeskd backup /backup/fundeskd-2026-11-20.db\n" +
			"  sudo -u fundeskd fundeskd backup - > /srv/backup/fundeskd-2026-11-20.db",
		Args: exactly(wanted),
		RunE: reading(wanted, func(c *cobra.Command) error {
			sum, err := p.backup(c.Context(), to)
			if err != nil {
				return err
			}
			if to == "-" {
				fmt.Fprintf(p.Err, "%s  -\n", sum)
				return nil
			}
			return p.print(map[string]string{"file": to, "sha256": sum}, func(w io.Writer) {
				fmt.Fprintf(w, "%s  %s\n", sum, to)
			})
		}),
	}
}

// backup writes a copy to a file, or to stdout for "-", and returns its SHA-256.
func (p *program) backup(ctx context.Context, to string) (string, error) {
	var sum string
	err := p.withBoth(ctx, access{patient: true}, func(store *sqlstore.Store, s *service.Service) (err error) {
		if to == "-" {
			sum, err = p.streamBackup(ctx, store)
		} else {
			sum, err = store.Backup(ctx, to)
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("backup: %s already exists; name another file", to)
		}
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		noteErr := s.NoteBackup(ctx)
		if noteErr != nil {
			fmt.Fprintf(
				p.Err,
				"fundeskd: the backup is complete, but its time was not saved for /metrics: %s\n",
				oneLine(noteErr),
			)
		}
		return nil
	})
	return sum, err
}

// streamBackup writes a backup to stdout. It makes the copy next to the database first, so that a slow reader delays
// nothing.
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
		return store.Backup(ctx, "-") // Its error has a hint.
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
	signal.Ignore(syscall.SIGPIPE) // The reader may go away, and the caller gets an error.
	// From here on a killed program leaves no copy. Windows removes no open file, so it is removed at the end there.
	_ = os.RemoveAll(folder)
	_, err = io.Copy(p.Out, file)
	return sum, errors.Join(err, file.Close())
}

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

func (p *program) restoreCommand() *cobra.Command {
	var sum string
	var keepTokens bool
	c := &cobra.Command{
		Use:   "restore FILE|-",
		Short: "Put a backup in the place of the database",
		Long: "Restore puts a backup in the place of the database. Stop what serves the\n" +
			"database first. The backup is copied, brought up to date and checked before\n" +
			"anything is replaced; it stays as it is. What was there before stays in a file\n" +
			"with .before- and the time in its name. If a restore was interrupted, run it\n" +
			"again: until then no command opens the database. With --sha256 it takes the file\n" +
			"of which fundeskd backup printed that sum. With - it reads the file from stdin.\n\n" +
			"A backup knows nothing of what was revoked since. Restore therefore makes a new\n" +
			"signing key, and every token ends: revoke what was revoked since, then issue new\n" +
			"ones with fundeskd token issue. --keep-tokens keeps the key of the backup. It\n" +
			"undoes every revocation and every narrowed permission since the backup.\n" +
			"A backup knows nothing of the erasures since either: run fundeskd erasures\n" +
			"replay before you serve it.",
		Example: "  fundeskd restore /backup/fundeskd-2026-11-20.db --sha256 \"$SUM\"\n" +
			"  sudo -u fundeskd fundeskd restore -",
		Args: exactly("FILE|-"),
		RunE: func(c *cobra.Command, args []string) error {
			err := p.restore(c.Context(), args[0], strings.ToLower(sum), keepTokens)
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&sum, "sha256", "", "the `sum` that the backup must have")
	c.Flags().BoolVar(&keepTokens, "keep-tokens", false, "keep the tokens of the backup, which undoes revocations and narrowed permissions since")
	return c
}

// restored says what a restore did.
type restored struct {
	Database   string   `json:"database"`
	Kept       []string `json:"kept"`
	Ended      int      `json:"ended"` // Tokens of the backup.
	KeptTokens bool     `json:"keptTokens"`
}

func (p *program) restore(ctx context.Context, file, sum string, keepTokens bool) (err error) {
	view := restored{KeptTokens: keepTokens}
	view.Database, err = p.databaseName()
	if err != nil {
		return err
	}
	shown := file
	if file == "-" {
		shown = "the backup from stdin"
		file, err = readBackup(p.In, view.Database)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(file)) }()
	}
	if sum != "" {
		got, err := sqlstore.SumOf(file)
		if err != nil {
			return err
		}
		if got != sum {
			return fmt.Errorf("%s has the SHA-256 %s, not %s; nothing was replaced", shown, got, sum)
		}
	}
	kept, err := sqlstore.Restore(ctx, file, view.Database, func(store *sqlstore.Store) (err error) {
		view.Ended, err = p.beginAgain(ctx, store, keepTokens)
		return err
	})
	if err != nil {
		return err
	}
	view.Kept = append([]string{}, kept...)
	return p.print(view, func(w io.Writer) { writeRestored(w, view, shown) })
}

// beginAgain ends the tokens of a database that was put back, unless they are kept, and begins another epoch.
func (p *program) beginAgain(ctx context.Context, store *sqlstore.Store, keepTokens bool) (ended int, err error) {
	if !keepTokens {
		rotation, err := service.RotateKey(ctx, store, p.Now)
		if err != nil {
			return 0, err
		}
		ended = rotation.Ended
	}
	s, err := service.New(ctx, service.Options{Store: store, Now: p.Now})
	if err != nil {
		return 0, err
	}
	return ended, s.ChangeEpoch(ctx)
}

func writeRestored(w io.Writer, view restored, shown string) {
	fmt.Fprintf(w, "%s is %s now\n", view.Database, shown)
	for _, file := range view.Kept {
		fmt.Fprintf(w, "kept %s\n", file)
	}
	if view.KeptTokens {
		fmt.Fprintln(w, undone)
		return
	}
	fmt.Fprintln(w, "accounts are as they were in the backup: revoke and narrow what was revoked and narrowed since")
	tellEnded(w, view.Ended)
}

// undone names what is undone where a database that was put back keeps its tokens.
const undone = "tokens were kept: those that were revoked since the backup are good again, and so are permissions that were narrowed"

// readBackup copies stdin into a file beside the database: it needs the room, and the protection, that the database has.
func readBackup(from io.Reader, database string) (name string, err error) {
	path, isFile := strings.CutPrefix(database, "sqlite:")
	if !isFile {
		return "", errors.New("only an SQLite database is restored; PostgreSQL has pg_restore")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+unfinished) // 0600
	if err != nil {
		return "", err
	}
	_, err = io.Copy(file, from)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

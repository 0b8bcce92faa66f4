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

// restoreOrder holds the flags of restore.
type restoreOrder struct {
	file       string // "-" for stdin.
	sum        string // The SHA-256 that it must have. Empty accepts any.
	keepTokens bool
}

// shownFile returns the name of the backup in messages.
func (o restoreOrder) shownFile() string {
	if o.file == "-" {
		return "the backup from stdin"
	}
	return o.file
}

func (p *program) restoreCommand() *cobra.Command {
	var o restoreOrder
	wanted := []argument{textArgument("FILE|-", &o.file)}
	c := &cobra.Command{
		Use:   "restore FILE|-",
		Short: "Replace the database with a backup",
		Long: "Restore replaces the database with a backup. Stop what serves the database\n" +
			"first. The backup is copied, brought up to date and checked before anything is\n" +
			"replaced; it stays as it is. The earlier database stays in a file with\n" +
			".before- and the time in its name. If a restore was interrupted, run it\n" +
			"again: until then no command opens the database. With --sha256 it accepts only\n" +
			"the file for which fundeskd backup printed that sum. With - it reads the file\n" +
			"from stdin.\n\n" +
			"A backup does not know what was revoked later. Restore therefore makes a new\n" +
			"signing key, which ends every token: repeat the revocations, then issue new\n" +
			"tokens with fundeskd token issue. --keep-tokens keeps the key of the backup. It\n" +
			"undoes every revocation and every narrowed permission since the backup. A backup\n" +
			"does not know later erasures either: run fundeskd erasures replay before you\n" +
			"serve it.",
		Example: "  fundeskd restore /backup/fundeskd-2026-11-20.db --sha256 \"$SUM\"\n" +
			"  sudo -u fundeskd fundeskd restore -",
		Args: exactly(wanted),
		RunE: reading(wanted, func(c *cobra.Command) error {
			view, err := p.restore(c.Context(), o)
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			return p.print(view, func(w io.Writer) { view.write(w, o.shownFile()) })
		}),
	}
	c.Flags().StringVar(&o.sum, "sha256", "", "the `sum` that the backup must have")
	c.Flags().BoolVar(&o.keepTokens, "keep-tokens", false,
		"keep the tokens of the backup, which undoes revocations and narrowed permissions since")
	return c
}

// restoreView is the result of a restore.
type restoreView struct {
	Database   string   `json:"database"`
	Kept       []string `json:"kept"`  // The files of the earlier database.
	Ended      int      `json:"ended"` // Tokens of the backup.
	KeptTokens bool     `json:"keptTokens"`
}

func (v restoreView) write(w io.Writer, from string) {
	fmt.Fprintf(w, "%s is %s now\n", v.Database, from)
	for _, file := range v.Kept {
		fmt.Fprintf(w, "kept %s\n", file)
	}
	if v.KeptTokens {
		fmt.Fprintln(w, keptTokensWarning)
		return
	}
	fmt.Fprintln(w, "the accounts are those of the backup: repeat every later revocation and change of permissions")
	printEndedTokens(w, v.Ended)
}

// keptTokensWarning names what --keep-tokens undoes.
const keptTokensWarning = "tokens were kept: those that were revoked since the backup are valid again, " +
	"and permissions that were narrowed are wide again"

func (p *program) restore(ctx context.Context, o restoreOrder) (view restoreView, err error) {
	database, err := p.databaseName()
	if err != nil {
		return view, err
	}
	file := o.file
	if file == "-" {
		file, err = saveBackup(ctx, p.In, database)
		if err != nil {
			return view, err
		}
		defer func() { err = errors.Join(err, os.Remove(file)) }()
	}
	if o.sum != "" {
		got, err := sqlstore.SumOf(file)
		if err != nil {
			return view, err
		}
		if got != strings.ToLower(o.sum) {
			return view, fmt.Errorf("%s has the SHA-256 %s, not %s; nothing was replaced",
				o.shownFile(), got, strings.ToLower(o.sum))
		}
	}
	view = restoreView{Database: database, KeptTokens: o.keepTokens}
	kept, err := sqlstore.Restore(ctx, file, database, func(store *sqlstore.Store) (err error) {
		view.Ended, err = p.beginEpoch(ctx, store, o.keepTokens)
		return err
	})
	view.Kept = append([]string{}, kept...)
	return view, err
}

// beginEpoch begins another epoch of a restored database, and ends its tokens unless they are kept.
func (p *program) beginEpoch(ctx context.Context, store *sqlstore.Store, keepTokens bool) (int, error) {
	var ended int
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

// saveBackup copies a stream into a file beside the database, which has the room and the protection that it needs.
func saveBackup(ctx context.Context, from io.Reader, database string) (string, error) {
	path, isFile := strings.CutPrefix(database, "sqlite:")
	if !isFile {
		return "", errors.New("only an SQLite database is restored; PostgreSQL has pg_restore")
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+unfinished) // 0600
	if err != nil {
		return "", err
	}
	err = untilInterrupted(ctx, func() error {
		_, err := io.Copy(file, from)
		return err
	})
	err = errors.Join(err, file.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/sqlstore"
)

func (p *program) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE|-",
		Short: "Put a backup in the place of the database",
		Long: "Restore puts a backup and its key, FILE and FILE.key, in the place of the\n" +
			"database and of its key. Stop what serves the database first. The backup is\n" +
			"copied, brought up to date and checked before anything is replaced; it stays as\n" +
			"it is. What was there before stays beside, with .before- and the time in its\n" +
			"names. A restore that was interrupted is run again; until then the database is\n" +
			"not opened by anybody. What was revoked in the replaced database stays revoked.\n" +
			"A backup knows nothing of the erasures since it was made: run fundeskd erasures\n" +
			"replay before you serve it. With - the archive of fundeskd backup - is read from\n" +
			"stdin.",
		Example: "  fundeskd restore /backup/fundeskd-2026-11-20.db\n  cat /srv/backup/fundeskd-2026-11-20.tar | sudo -u fundeskd fundeskd restore -",
		Args:    exactly("FILE|-"),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] != "-" {
				return p.restore(c.Context(), args[0], args[0])
			}
			return p.besideDatabase(func(folder string) error {
				file, err := p.readArchive(folder)
				if err != nil {
					return fmt.Errorf("restore: %w", err)
				}
				return p.restore(c.Context(), file, "the backup of the archive")
			})
		},
	}
}

// restore puts a backup in the place of the database; shown is what the backup is called.
func (p *program) restore(ctx context.Context, file, shown string) error {
	name, err := p.databaseName()
	if err != nil {
		return err
	}
	revoked := 0
	kept, err := sqlstore.Restore(ctx, file, name, func(before *sqlstore.Store, unread error, restored *sqlstore.Store) (err error) {
		to, err := service.New(ctx, service.Options{Store: restored})
		if err != nil {
			return err
		}
		if err := to.ChangeEpoch(ctx); err != nil {
			return err
		}
		revoked, err = p.carryAccess(ctx, before, unread, to)
		return err
	})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	view := struct {
		Database string   `json:"database"`
		Kept     []string `json:"kept"`
		Revoked  int      `json:"revoked"` // Accounts and tokens that lost what they had at the backup.
	}{name, append([]string{}, kept...), revoked}
	return p.print(view, func(w io.Writer) {
		fmt.Fprintf(w, "%s is %s now\n", name, shown)
		for _, file := range kept {
			fmt.Fprintf(w, "kept %s\n", file)
		}
		if revoked > 0 {
			fmt.Fprintf(w, "accounts and tokens revoked or narrowed again, as in the replaced database: %d\n", revoked)
		}
	})
}

// carryAccess takes from the accounts and tokens of a restored database what was taken from them in the
// one that it replaces, and returns how many it changed.
func (p *program) carryAccess(ctx context.Context, before *sqlstore.Store, unread error, to *service.Service) (revoked int, err error) {
	var changes []service.AccessChange
	if unread == nil {
		var from *service.Service
		if from, unread = service.New(ctx, service.Options{Store: before}); unread == nil {
			changes, unread = from.AccessChanges(ctx, nil)
		}
	}
	if unread != nil {
		fmt.Fprintf(p.Err, "fundeskd: the replaced database cannot be read: %s. Accounts and tokens that were revoked since the backup are good again; revoke them before you serve it\n", unread)
		return 0, nil
	}
	return to.ReplayAccess(ctx, changes)
}

// accessFile returns the file beside that of the erasures in which it is noted what was taken from
// accounts and tokens of a PostgreSQL database. A restore of SQLite reads the replaced file instead.
func accessFile(erasures string) string { return strings.TrimSuffix(erasures, ".erasures") + ".access" }

// noteAccess notes what an account has now, or all of them, where a restore cannot look.
func (p *program) noteAccess(ctx context.Context, s *service.Service, of *apitype.UUID) error {
	database, err := p.databaseName()
	if err != nil || strings.HasPrefix(database, "sqlite:") {
		return err
	}
	erasures, err := p.erasuresFile()
	if err != nil {
		return err
	}
	changes, err := s.AccessChanges(ctx, of)
	if err != nil {
		return err
	}
	return appendNotes(accessFile(erasures), changes...)
}

// readAccess returns the last of what is noted of each account, and all that is noted of tokens; nothing where
// there is no file.
func readAccess(name string) (changes []service.AccessChange, err error) {
	last := make(map[apitype.UUID]int)
	err = readNotes(name, "change of access", func(change service.AccessChange) bool {
		if change.Account != nil {
			if at, known := last[*change.Account]; known {
				changes[at] = change
				return true
			}
			last[*change.Account] = len(changes)
		}
		changes = append(changes, change)
		return true
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return changes, err
}

// archived is the name of the database in an archive; its key follows it with .key.
const archived = "fundeskd.db"

// besideDatabase runs do with a folder of its own beside the database: what is in it needs the room, and the
// protection, that the database has.
func (p *program) besideDatabase(do func(folder string) error) error {
	name, err := p.databaseName()
	if err != nil {
		return err
	}
	path, isFile := strings.CutPrefix(name, "sqlite:")
	if !isFile {
		return errors.New("only an SQLite database is archived; PostgreSQL has pg_dump and pg_restore")
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), "fundeskd-archive-") // 0700
	if err != nil {
		return err
	}
	return errors.Join(do(folder), os.RemoveAll(folder))
}

// writeArchive writes a backup and its key to stdout, as one archive.
func (p *program) writeArchive(ctx context.Context, store *sqlstore.Store) error {
	if isTerminal(p.Out) {
		return usage("an archive holds secrets, and is not shown: fundeskd backup - > FILE")
	}
	return p.besideDatabase(func(folder string) error {
		if err := store.Backup(ctx, filepath.Join(folder, archived)); err != nil {
			return err
		}
		archive := tar.NewWriter(p.Out)
		if err := archive.AddFS(os.DirFS(folder)); err != nil {
			return err
		}
		return archive.Close()
	})
}

// readArchive unpacks an archive from stdin into a folder, and returns the path of the database.
func (p *program) readArchive(folder string) (string, error) {
	archive, found := tar.NewReader(p.In), 0
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) && found == 2 {
			return filepath.Join(folder, archived), nil
		}
		if err == nil && header.Name != archived && header.Name != archived+".key" {
			err = fmt.Errorf("it holds %q", header.Name)
		}
		if err == nil {
			err = unpack(archive, filepath.Join(folder, header.Name))
		}
		if err != nil {
			return "", fmt.Errorf("stdin is not the whole archive of a fundeskd backup -: %w", err)
		}
		found++
	}
}

func unpack(from io.Reader, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}

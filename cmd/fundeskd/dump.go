package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"fundesk/apiclient/durable"
	"fundesk/service"
	"fundesk/service/sqlstore"
)

func (p *program) dumpCommand() *cobra.Command {
	var to string
	var retire bool
	wanted := []argument{textArgument("FILE|-", &to)}
	c := &cobra.Command{
		Use:   "dump FILE|-",
		Short: "Write everything as NDJSON, in the form that load reads",
		Long: "Dump writes the signing key, accounts, records, marks and the audit, as they are\n" +
			"at one moment: a line of {\"kind\":…,\"data\":{…}} each. fundeskd load reads it into\n" +
			"an empty database on either engine; tokens, cursors and revisions stay valid.\n" +
			"The file can sign tokens of every account: protect it as you protect the\n" +
			"database. Stop the programs that write first; it does not hold what they change\n" +
			"later.\n\n" +
			"With --retire the database is refused from then on by fundeskd serve and by\n" +
			"every command that writes; reading and another dump still work. It is refused\n" +
			"while a service uses the database, and a dump that fails retires nothing. Then\n" +
			"name the new database in FUNDESKD_DATABASE, and delete the dump.",
		Example: "  fundeskd dump all.ndjson\n  fundeskd dump all.ndjson --retire",
		Args:    exactly(wanted),
		RunE: reading(wanted, func(c *cobra.Command) error {
			counts, err := p.dump(c.Context(), to, retire)
			if err != nil {
				return fmt.Errorf("dump: %w", err)
			}
			if to == "-" {
				return nil
			}
			return p.print(counts, func(w io.Writer) { writeDumped(w, counts, retire) })
		}),
	}
	c.Flags().BoolVar(&retire, "retire", false, "mark the database as moved away: it is only read from then on")
	return c
}

func writeDumped(w io.Writer, rows map[string]int, isRetired bool) {
	for _, table := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintln(w, rows[table], table)
	}
	if isRetired {
		fmt.Fprintln(
			w,
			"the database is retired; load the dump, name the new database in FUNDESKD_DATABASE, and delete the dump",
		)
	}
}

// dump writes a whole file or none, or stdout for "-", and returns the number of rows of each table.
func (p *program) dump(ctx context.Context, to string, retire bool) (map[string]int, error) {
	if retire {
		return p.retire(ctx, to)
	}
	return p.dumpStore(ctx, to)
}

// readOnly opens a database for a dump, also if it is retired.
var readOnly = access{retired: true, patient: true}

// retire marks the database as moved away and dumps it. The mark comes first, so that no change is lost. It is taken
// back if the dump fails, unless an earlier dump had retired the database.
func (p *program) retire(ctx context.Context, to string) (map[string]int, error) {
	signal.Ignore(syscall.SIGPIPE) // The reader of the dump may go away, and the mark has to be taken back.
	isNew, err := p.markRetired(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := p.dumpUnused(ctx, to)
	if err != nil && isNew {
		return nil, errors.Join(err, p.reinstate(context.WithoutCancel(ctx)))
	}
	return rows, err
}

// markRetired marks a database that no service uses. isNew is false if it was retired before.
func (p *program) markRetired(ctx context.Context) (isNew bool, err error) {
	err = p.checkUnused()
	if err != nil {
		return false, err
	}
	err = p.withBoth(ctx, readOnly, func(store *sqlstore.Store, s *service.Service) error {
		err := checkNoSessions(ctx, store)
		if err != nil {
			return err
		}
		isNew, err = store.Retire(ctx, s.Now())
		if err != nil {
			return err
		}
		err = checkNoSessions(ctx, store) // One may have begun before the mark. No later one opens the database.
		if err != nil && isNew {
			return errors.Join(err, store.Reinstate(context.WithoutCancel(ctx)))
		}
		return err
	})
	return isNew, err
}

// dumpUnused dumps a database that was marked. It refuses an SQLite file that another program opened before the mark.
func (p *program) dumpUnused(ctx context.Context, to string) (map[string]int, error) {
	err := p.checkUnused()
	if err != nil {
		return nil, err
	}
	return p.dumpStore(ctx, to)
}

// reinstate takes the mark back.
func (p *program) reinstate(ctx context.Context) error {
	return p.withStore(ctx, readOnly, func(store *sqlstore.Store) error { return store.Reinstate(ctx) })
}

func (p *program) dumpStore(ctx context.Context, to string) (map[string]int, error) {
	var rows map[string]int
	err := p.withStore(ctx, readOnly, func(store *sqlstore.Store) (err error) {
		rows, err = p.dumpFile(ctx, store, to)
		return err
	})
	return rows, err
}

// dumpFile writes a new file, which exists only when it is complete.
func (p *program) dumpFile(ctx context.Context, store *sqlstore.Store, to string) (map[string]int, error) {
	if to == "-" {
		return p.dumpTo(ctx, store, p.Out)
	}
	file, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*"+unfinished) // 0600
	if err != nil {
		return nil, err
	}
	rows, err := p.dumpTo(ctx, store, file)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = publish(file.Name(), to)
	}
	return rows, errors.Join(err, os.Remove(file.Name()), durable.SyncFolder(filepath.Dir(to)))
}

// publish gives a complete file its name. It replaces no file.
func publish(from, to string) error {
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists; name another file", to)
	}
	return err
}

func (p *program) dumpTo(ctx context.Context, store *sqlstore.Store, to io.Writer) (map[string]int, error) {
	out := bufio.NewWriter(to)
	rows := map[string]int{}
	progress := p.newProgress(0)
	progress.restart()
	err := store.Dump(ctx, func(record service.LoadRecord) error {
		line, err := record.Encode()
		if err != nil {
			return err
		}
		row, isRow := record.Data.(service.LoadedRow)
		if isRow {
			rows[row.Table]++
		}
		progress.add(len(line))
		_, err = out.Write(line)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, out.Flush()
}

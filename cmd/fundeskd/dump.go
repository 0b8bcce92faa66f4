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
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"fundesk/apiclient/durable"
	"fundesk/service"
	"fundesk/service/sqlstore"
)

func (p *program) dumpCommand() *cobra.Command {
	var retire bool
	c := &cobra.Command{
		Use:   "dump FILE|-",
		Short: "Write everything as NDJSON, in the form that load reads",
		Long: "Dump writes the signing key, accounts, records, marks and the audit, as they are\n" +
			"at one moment: a line of {\"kind\":…,\"data\":{…}} each. fundeskd load reads it into\n" +
			"an empty database on either engine; tokens, cursors and revisions hold there.\n" +
			"The file signs tokens of every account: keep it as you keep the database. Stop\n" +
			"the programs that write first; what they change afterwards is not in it.\n\n" +
			"With --retire the database is refused from then on by fundeskd serve and by\n" +
			"every command that writes; reading and another dump still work. It is refused\n" +
			"while a service uses the database, and a dump that fails retires nothing. Then\n" +
			"name the new database in FUNDESKD_DATABASE, and delete the dump.",
		Example: "  fundeskd dump all.ndjson\n  fundeskd dump all.ndjson --retire",
		Args:    exactly("FILE|-"),
		RunE: func(c *cobra.Command, args []string) error {
			counts, err := p.dump(c.Context(), args[0], retire)
			if err != nil {
				return fmt.Errorf("dump: %w", err)
			}
			if args[0] == "-" {
				return nil
			}
			return p.print(counts, func(w io.Writer) {
				for _, table := range slices.Sorted(maps.Keys(counts)) {
					fmt.Fprintln(w, counts[table], table)
				}
				if retire {
					fmt.Fprintln(w, "the database is retired; load the dump, name the new database in FUNDESKD_DATABASE, and delete the dump")
				}
			})
		},
	}
	c.Flags().BoolVar(&retire, "retire", false, "mark the database as moved away: it is only read from then on")
	return c
}

// dump writes a whole file or none, "-" to stdout, and returns the rows of each table.
func (p *program) dump(ctx context.Context, name string, retire bool) (counts map[string]int, err error) {
	if retire {
		if err := p.alone(); err != nil {
			return nil, err
		}
	}
	err = p.on(ctx, func(store *sqlstore.Store, s *service.Service) (err error) {
		if !retire {
			counts, err = p.dumpInto(ctx, store, name)
			return err
		}
		if err := aloneAt(ctx, store); err != nil {
			return err
		}
		// Before the dump: what would be changed after it would be lost.
		if err := store.Retire(ctx, s.Now()); err != nil {
			return err
		}
		counts, err = p.dumpInto(ctx, store, name)
		if err != nil {
			return errors.Join(err, store.Reinstate(context.WithoutCancel(ctx)))
		}
		return nil
	})
	return counts, err
}

// aloneAt refuses a PostgreSQL database that other programs of ours use.
func aloneAt(ctx context.Context, store *sqlstore.Store) error {
	others, err := store.Others(ctx)
	if err == nil && others > 0 {
		return fmt.Errorf("other sessions of fundeskd at the database: %d; stop what serves it first", others)
	}
	return err
}

func (p *program) dumpInto(ctx context.Context, store *sqlstore.Store, name string) (counts map[string]int, err error) {
	if name == "-" {
		return p.dumpTo(ctx, store, p.Out)
	}
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*"+unfinished) // 0600
	if err != nil {
		return nil, err
	}
	counts, err = p.dumpTo(ctx, store, file)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Link(file.Name(), name)
		if errors.Is(err, fs.ErrExist) { // It replaces nothing.
			err = fmt.Errorf("%s is there already; name another file", name)
		}
	}
	return counts, errors.Join(err, os.Remove(file.Name()), durable.SyncFolder(filepath.Dir(name)))
}

func (p *program) dumpTo(ctx context.Context, store *sqlstore.Store, to io.Writer) (map[string]int, error) {
	out, progress, counts := bufio.NewWriter(to), p.newProgress(), map[string]int{}
	defer progress.restart()()
	err := store.Dump(ctx, func(record service.LoadRecord) error {
		line, err := record.Encode()
		if err != nil {
			return err
		}
		if row, ok := record.Data.(service.LoadedRow); ok {
			counts[row.Table]++
		}
		progress.add(len(line))
		_, err = out.Write(line)
		return err
	})
	if err != nil {
		return nil, err
	}
	return counts, out.Flush()
}

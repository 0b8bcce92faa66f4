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
)

func (p *program) dumpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "dump FILE|-",
		Short: "Write everything as NDJSON, in the form that load reads",
		Long: "Dump writes the signing key, accounts, records, marks and the audit, as they are\n" +
			"at one moment: a line of {\"kind\":…,\"data\":{…}} each. fundeskd load reads it into\n" +
			"an empty database on either engine; tokens, cursors and revisions hold there.\n" +
			"The file signs tokens of every account: keep it as you keep the database. Stop\n" +
			"the programs that write first; what they change afterwards is not in it.",
		Example: "  fundeskd dump all.ndjson",
		Args:    exactly("FILE|-"),
		RunE: func(c *cobra.Command, args []string) error {
			p.store.Existing = true
			counts := map[string]int{}
			if err := p.dump(c.Context(), args[0], counts); err != nil {
				return fmt.Errorf("dump: %w", err)
			}
			if args[0] == "-" {
				return nil
			}
			return p.print(counts, func(w io.Writer) {
				for _, table := range slices.Sorted(maps.Keys(counts)) {
					fmt.Fprintln(w, counts[table], table)
				}
			})
		},
	}
}

// dump writes a whole file or none, "-" to stdout.
func (p *program) dump(ctx context.Context, name string, counts map[string]int) (err error) {
	if name == "-" {
		return p.dumpTo(ctx, p.Out, counts)
	}
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.unfinished") // 0600
	if err != nil {
		return err
	}
	if err = errors.Join(p.dumpTo(ctx, file, counts), file.Sync(), file.Close()); err == nil {
		if err = os.Link(file.Name(), name); errors.Is(err, fs.ErrExist) { // It replaces nothing.
			err = fmt.Errorf("%s is there already; name another file", name)
		}
	}
	return errors.Join(err, os.Remove(file.Name()), durable.SyncFolder(filepath.Dir(name)))
}

func (p *program) dumpTo(ctx context.Context, to io.Writer, counts map[string]int) (err error) {
	store, _, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	out, progress := bufio.NewWriter(to), p.newProgress()
	progress.restart()
	defer progress.end()
	err = store.Dump(ctx, func(record service.LoadRecord) error {
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
	return errors.Join(err, out.Flush())
}

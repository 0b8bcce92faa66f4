package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/httpapi"
	"fundesk/service/privacy"
	"fundesk/service/sqlstore"
)

func (p *program) loadCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "load FILE|-",
		Short: "Load records of any kind, or a dump, from NDJSON",
		Long: `Load reads lines of {"kind":…,"data":{…}}, each after those that it refers to,` +
			"\nand saves all of them or none. Kinds: organization, user, focusArea, person,\npledge, call, transaction; of a dump, which goes into an empty database: key,\nsetting, account, token, row.",
		Example: "  fundeskd load records.ndjson\n  zcat records.ndjson.gz | fundeskd load - --skip-existing",
		Args:    exactly("FILE|-"),
		RunE: func(c *cobra.Command, args []string) error {
			p.kept = nothingSaved
			saved, err := p.loadFile(c.Context(), args[0])
			if err != nil {
				return err
			}
			return p.printSaved(saved)
		},
	}
	c.Flags().BoolVar(&p.skipExisting, "skip-existing", false, "skip records that exist, instead of refusing the whole file")
	return c
}

// loadFile saves the records of a file, "-" for stdin.
func (p *program) loadFile(ctx context.Context, name string) (saved service.Saved, err error) {
	from, size := p.In, int64(0)
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, usageError{err}
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if there, err := file.Stat(); err == nil && there.Mode().IsRegular() {
			size = there.Size()
		}
		from = file
	}
	p.store.Bulk = true
	progress := p.newProgress()
	progress.size = size
	err = p.fill(ctx, func(s *service.Service) (err error) {
		saved, err = s.LoadRecords(ctx, p.skipExisting, func(add func(service.LoadRecord) error) error {
			if progress.read > 0 { // The database wants the transaction again.
				file, ok := from.(io.Seeker)
				if !ok || size == 0 {
					return errors.New("another program changed what was read; nothing was saved, load it again")
				}
				if _, err := file.Seek(0, io.SeekStart); err != nil {
					return err
				}
			}
			defer progress.restart()()
			return readLines(ctx, from, size > 0, func(record service.LoadRecord, bytes int) error {
				progress.add(bytes)
				return add(record)
			})
		})
		return err
	})
	if err != nil {
		err = fmt.Errorf("load: %w", err)
	}
	return saved, err
}

// nothingSaved is what is left of a load that was interrupted.
const nothingSaved = "; nothing was saved"

// bulkGarbage is the GC percent of what writes much: nearly all that it makes is short-lived
// and little is kept, so that collecting it rarely saves a fifth of the processor time for
// some ten MB.
const bulkGarbage = 400

// fill runs what writes much, and lets the database look at its data afterwards: what is
// saved then stays saved, also when the command is interrupted.
func (p *program) fill(ctx context.Context, run func(*service.Service) error) error {
	defer debug.SetGCPercent(debug.SetGCPercent(bulkGarbage))
	return p.on(ctx, func(store *sqlstore.Store, s *service.Service) error {
		if err := run(s); err != nil {
			return err
		}
		return store.Analyze(context.WithoutCancel(ctx))
	})
}

func (p *program) printSaved(saved service.Saved) error {
	return p.print(saved, func(w io.Writer) {
		for _, kind := range service.LoadKinds {
			if saved[kind] > 0 {
				fmt.Fprintln(w, count(saved[kind], string(kind)))
			}
		}
		if len(saved) == 0 {
			fmt.Fprintln(w, "0 records")
		}
	})
}

func (p *program) sampleCommand() *cobra.Command {
	var o embedded.SampleOptions
	c := &cobra.Command{
		Use:   "sample",
		Short: "Fill the database with believable sample data",
		Long: "Sample makes two organizations with persons, invented pledges, calls and\n" +
			"transactions. The same seed makes the same records.",
		Example: "  fundeskd sample --persons 500 --seed 7",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Persons < 1 {
				return usage("--persons must be 1 at least")
			}
			o.Now = p.Now()
			p.store.Bulk, p.kept = true, nothingSaved
			var saved service.Saved
			err := p.fill(c.Context(), func(s *service.Service) (err error) {
				saved, err = sample(c.Context(), s, o, p.newProgress())
				return err
			})
			if refused, ok := errors.AsType[*service.Error](err); ok && refused.Kind == service.Conflict {
				return fmt.Errorf("sample: the records of seed %d are there already; another --seed makes others", o.Seed)
			}
			if err != nil {
				return fmt.Errorf("sample: %w", err)
			}
			return p.printSaved(saved)
		},
	}
	c.Flags().IntVar(&o.Persons, "persons", embedded.DefaultSamplePersons, "how many persons, `N`, to make")
	c.Flags().Uint64Var(&o.Seed, "seed", 0, "`number` that chooses among all possible data sets")
	return c
}

func sample(ctx context.Context, s *service.Service, o embedded.SampleOptions, progress *progress) (service.Saved, error) {
	return s.LoadRecords(ctx, false, func(add func(service.LoadRecord) error) error {
		persons := 0
		defer progress.restart()()
		return embedded.Sample(o, func(record service.LoadRecord) error {
			if record.Kind == service.LoadPerson {
				persons++
				progress.part(persons, o.Persons)
			}
			progress.add(0)
			return add(record)
		})
	})
}

func (p *program) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "migrate",
		Short:   "Bring the schema up to date",
		Example: "  fundeskd migrate --database sqlite:/var/lib/fundesk/fundeskd.db",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			p.store.NoMigrate = false
			store, err := p.openStore(c.Context())
			if err != nil {
				return err
			}
			version, err := store.Version(c.Context())
			if err == nil {
				_, err = store.SigningSeed(c.Context()) // A database is whole with its key.
			}
			if err := errors.Join(err, store.Close()); err != nil {
				return err
			}
			return p.print(map[string]int{"version": version}, func(w io.Writer) {
				fmt.Fprintf(w, "the schema is of version %d\n", version)
			})
		},
	}
}

func (p *program) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check the database: its file and the references between its records",
		Long: "Check only reads: no byte of the database or of its log changes. It\n" +
			"refuses an empty file, a database of another program or of another version, and\n" +
			"one without its key.",
		Example: "  fundeskd check",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := p.check(c.Context())
			if err != nil {
				return fmt.Errorf("check: %w", err)
			}
			result := struct {
				OK       bool     `json:"ok"`
				Problems []string `json:"problems"`
			}{len(found) == 0, append([]string{}, found...)}
			if err := p.print(result, func(w io.Writer) {
				for _, problem := range found {
					fmt.Fprintln(w, problem)
				}
				if len(found) == 0 {
					fmt.Fprintln(w, "ok")
				}
			}); err != nil {
				return err
			}
			if len(found) > 0 {
				return fmt.Errorf("check: the database has %s", count(len(found), "problem"))
			}
			return nil
		},
	}
}

// check is what is wrong with the database. One that cannot even be read as one is
// damaged like any other.
func (p *program) check(ctx context.Context) (found []string, err error) {
	p.store.Inspect = true
	store, err := p.openStore(ctx)
	if err == nil {
		found, err = store.Check(ctx)
		ahead, failed := p.checkTimes(ctx, store)
		err = errors.Join(err, failed, p.tellUnclean(ctx, store), store.Close())
		found = append(found, ahead...)
	}
	if sqlstore.Damaged(err) {
		return append(found, told(err)), nil
	}
	return found, err
}

// checkTimes names a highest time that is much ahead of the clock.
func (p *program) checkTimes(ctx context.Context, store *sqlstore.Store) ([]string, error) {
	s, err := service.New(ctx, service.Options{Store: store, Now: p.Now})
	if err != nil {
		return nil, err
	}
	ahead, err := tellAhead(ctx, s)
	if err != nil || ahead == "" {
		return nil, err
	}
	return []string{ahead}, nil
}

// tellUnclean tells of erasures after which the files still hold what was erased: no damage, but
// to be done.
func (p *program) tellUnclean(ctx context.Context, store *sqlstore.Store) error {
	waiting, err := store.Unclean(ctx)
	if err != nil {
		return err
	}
	p.tellLater(privacy.TablesLeft(waiting))
	if len(waiting) > 0 {
		fmt.Fprintf(p.Err, "fundeskd: the files still hold what was erased (%s); run fundeskd clean, which the package's timer does every night\n", strings.Join(slices.Sorted(maps.Keys(waiting)), ", "))
	}
	return nil
}

func (p *program) openAPICommand() *cobra.Command {
	return &cobra.Command{
		Use:     "openapi",
		Short:   "Print the description of the interface, OpenAPI 3.1",
		Example: "  fundeskd openapi > openapi.json",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := p.Out.Write(httpapi.OpenAPI)
			return err
		},
	}
}

// maxLine is the longest line of a load, in bytes: a signature file may be in it.
const maxLine = 64 << 20

// readLines hands the records of NDJSON to add in their order, with the size of the line; an error of a line
// names it. Empty lines are passed over. A goroutine reads: a pipe may be silent when the context ends. After
// an error the reading of a file is waited for, so that it can be read again.
func readLines(ctx context.Context, from io.Reader, file bool, add func(record service.LoadRecord, bytes int) error) (err error) {
	lines, stop, ended := make(chan []byte, 64), make(chan struct{}), make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(from)
		scanner.Buffer(make([]byte, 0, 64<<10), maxLine)
		defer func() { ended <- scanner.Err() }()
		defer close(lines)
		for scanner.Scan() {
			select {
			case lines <- bytes.Clone(scanner.Bytes()):
			case <-stop:
				return
			}
		}
	}()
	defer func() {
		close(stop)
		if file && err != nil {
			for range lines { // Until it is closed.
			}
		}
	}()
	for n := 1; ; n++ {
		select {
		case line, more := <-lines:
			if !more {
				return atLine(n, <-ended)
			}
			text := bytes.TrimSpace(line)
			if len(text) == 0 {
				continue
			}
			record, err := service.DecodeLoadRecord(text)
			if err != nil {
				return atLine(n, err)
			}
			record.Line = n // The service says it of a record that it refuses.
			if err := add(record, len(line)+1); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func atLine(n int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", n, err)
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/sqlstore"
)

func (p *program) loadCommand() *cobra.Command {
	var name string
	var skipExisting bool
	wanted := []argument{textArgument("FILE|-", &name)}
	c := &cobra.Command{
		Use:   "load FILE|-",
		Short: "Load records of any kind, or a dump, from NDJSON",
		Long: `Load reads lines of {"kind":…,"data":{…}}, each after those that it refers to,` +
			"\nand saves all of them or none. Kinds: organization, user, focusArea, person,\n" +
			"pledge, call, transaction; of a dump, which goes into an empty database: key,\n" +
			"setting, account, token, row, end.",
		Example: "  fundeskd load records.ndjson\n  zcat records.ndjson.gz | fundeskd load - --skip-existing",
		Args:    exactly(wanted),
		RunE: reading(wanted, func(c *cobra.Command) error {
			saved, err := p.loadFile(c.Context(), name, skipExisting)
			if err != nil {
				return unsavedError{err}
			}
			return p.printSaved(saved)
		}),
	}
	c.Flags().
		BoolVar(&skipExisting, "skip-existing", false, "skip records that exist, instead of refusing the whole file")
	return c
}

// loadFile saves the records of a file, or of stdin for "-".
func (p *program) loadFile(ctx context.Context, name string, skipExisting bool) (service.Saved, error) {
	input := loadInput{from: p.In}
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, usageError{err}
		}
		defer file.Close() //nolint:errcheck // It was only read.
		input, err = fileInput(file)
		if err != nil {
			return nil, err
		}
	}
	input.progress = p.newProgress(input.size)
	var saved service.Saved
	err := p.fill(ctx, func(s *service.Service) (err error) {
		saved, err = s.LoadRecords(ctx, skipExisting, func(add func(service.LoadRecord) error) error {
			return input.each(ctx, add)
		})
		return err
	})
	isTaken := service.KindOf(err) == service.Conflict
	if isTaken && !skipExisting {
		return nil, fmt.Errorf("load: %w; --skip-existing skips the records that exist", err)
	}
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return saved, nil
}

// loadInput is the file, or the pipe, of a load.
type loadInput struct {
	from     io.Reader
	size     int64 // In bytes. Zero for a pipe.
	progress *progress
	wasRead  bool
}

func fileInput(file *os.File) (loadInput, error) {
	info, err := file.Stat()
	if err != nil {
		return loadInput{}, err
	}
	input := loadInput{from: file}
	if info.Mode().IsRegular() {
		input.size = info.Size()
	}
	return input, nil
}

// each hands over all records. The database may want them a second time, which only a file can give.
func (i *loadInput) each(ctx context.Context, add func(service.LoadRecord) error) error {
	if i.wasRead {
		err := i.rewind()
		if err != nil {
			return err
		}
	}
	i.progress.restart()
	return readLines(ctx, i.from, i.size > 0, func(record service.LoadRecord, bytes int) error {
		i.wasRead = true
		i.progress.add(bytes)
		return add(record)
	})
}

func (i *loadInput) rewind() error {
	file, ok := i.from.(io.Seeker)
	if !ok || i.size == 0 {
		return errors.New("another program changed the records during the load; nothing was saved: load it again")
	}
	_, err := file.Seek(0, io.SeekStart)
	return err
}

// fill runs a command that writes many records. Then it looks at donors who were changed meanwhile, and the engine
// analyzes its tables. The records stay saved if that is interrupted or fails.
func (p *program) fill(ctx context.Context, run func(*service.Service) error) error {
	a := access{create: true, bulk: true, patient: true}
	return p.withBoth(ctx, a, func(store *sqlstore.Store, s *service.Service) error {
		began, err := s.StoreTime(ctx)
		if err != nil {
			return err
		}
		err = run(s)
		if err != nil {
			return err
		}
		err = s.LookAgain(context.WithoutCancel(ctx), began)
		if err != nil {
			fmt.Fprintf(p.Err, "fundeskd: the records are saved, but calls of donors who were changed during the load "+
				"may not wait until these donors change again: %s\n", oneLine(err))
		}
		err = store.Analyze(context.WithoutCancel(ctx))
		if err != nil {
			fmt.Fprintf(p.Err, "fundeskd: the records are saved, but the statistics of the tables are old; "+
				"run ANALYZE: %s\n", oneLine(err))
		}
		return nil
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
		Args:    exactly(nil),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Persons < 1 {
				return usage("--persons must be 1 at least")
			}
			o.Now = p.Now()
			saved, err := p.fillSample(c.Context(), o)
			if err != nil {
				return unsavedError{fmt.Errorf("sample: %w", err)}
			}
			return p.printSaved(saved)
		},
	}
	c.Flags().IntVar(&o.Persons, "persons", embedded.DefaultSamplePersons, "make `N` persons")
	c.Flags().Uint64Var(&o.Seed, "seed", 0, "the same `number` makes the same records")
	return c
}

func (p *program) fillSample(ctx context.Context, o embedded.SampleOptions) (service.Saved, error) {
	progress := p.newProgress(0)
	var saved service.Saved
	err := p.fill(ctx, func(s *service.Service) (err error) {
		saved, err = s.LoadRecords(ctx, false, func(add func(service.LoadRecord) error) error {
			progress.restart()
			return embedded.Sample(o, func(record service.LoadRecord) error {
				progress.add(0)
				return add(record)
			})
		})
		return err
	})
	refusal, ok := errors.AsType[*service.Error](err)
	if ok && refusal.Kind == service.Conflict {
		return nil, fmt.Errorf("the records of seed %d already exist; choose another --seed", o.Seed)
	}
	return saved, err
}

// maxLine is the longest line of a load, in bytes. A line may hold a signature file.
const maxLine = 64 << 20

// readLines hands the records of NDJSON to add, in order, with the size of each line. It skips empty lines. An error
// names its line. A goroutine reads, because a pipe may be silent when the context ends. After an error the goroutine
// of a file is awaited, so that the file can be read again.
func readLines(ctx context.Context, from io.Reader, isFile bool, add func(service.LoadRecord, int) error) (err error) {
	lines := make(chan []byte, 64)
	stop := make(chan struct{})
	ended := make(chan error, 1)
	go scanLines(from, lines, stop, ended)
	defer func() {
		close(stop)
		if isFile && err != nil {
			for range lines { // Until scanLines closes it.
			}
		}
	}()
	for n := 1; ; n++ {
		select {
		case line, more := <-lines:
			if !more {
				return atLine(n, <-ended)
			}
			err := addLine(n, line, add)
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// scanLines sends copies of the lines until it is stopped, and then the error of the reader, or nil.
func scanLines(from io.Reader, lines chan<- []byte, stop <-chan struct{}, ended chan<- error) {
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
}

// addLine decodes one line and hands it to add, unless it is empty.
func addLine(n int, line []byte, add func(service.LoadRecord, int) error) error {
	text := bytes.TrimSpace(line)
	if len(text) == 0 {
		return nil
	}
	record, err := service.DecodeLoadRecord(text)
	if err != nil {
		return atLine(n, err)
	}
	record.Line = n // The service names it if it refuses the record.
	return add(record, len(line)+1)
}

func atLine(n int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", n, err)
}

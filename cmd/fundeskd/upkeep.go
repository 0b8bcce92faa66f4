package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/privacy"
	"fundesk/service/sqlstore"
)

func (p *program) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "migrate",
		Short:   "Bring the schema up to date",
		Example: "  fundeskd migrate --database sqlite:/var/lib/fundesk/fundeskd.db",
		Args:    exactly(nil),
		RunE: func(c *cobra.Command, _ []string) error {
			p.noMigrate = false
			version := 0
			err := p.withStore(
				c.Context(),
				access{create: true, patient: true},
				func(store *sqlstore.Store) (err error) {
					version, err = store.Version(c.Context())
					if err != nil {
						return err
					}
					_, err = store.SigningSeed(c.Context()) // Makes the key of a new database.
					return err
				},
			)
			if err != nil {
				return err
			}
			return p.print(map[string]int{"version": version}, func(w io.Writer) {
				fmt.Fprintf(w, "the schema is of version %d\n", version)
			})
		},
	}
}

type checkView struct {
	OK       bool     `json:"ok"`
	Problems []string `json:"problems"`
}

func (v checkView) write(w io.Writer) {
	if v.OK {
		fmt.Fprintln(w, "ok")
	}
	for _, problem := range v.Problems {
		fmt.Fprintln(w, problem)
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
		Args:    exactly(nil),
		RunE: func(c *cobra.Command, _ []string) error {
			problems, err := p.findProblems(c.Context())
			if err != nil {
				return fmt.Errorf("check: %w", err)
			}
			view := checkView{OK: len(problems) == 0, Problems: append([]string{}, problems...)}
			err = p.print(view, view.write)
			if err != nil {
				return err
			}
			if len(problems) > 0 {
				return fmt.Errorf("check: the database has %s", count(len(problems), "problem"))
			}
			return nil
		},
	}
}

// findProblems returns the problems of the database. A file that cannot be read as a database has one problem.
func (p *program) findProblems(ctx context.Context) ([]string, error) {
	a := access{inspect: true, retired: true, patient: true}
	var problems []string
	err := p.withStore(ctx, a, func(store *sqlstore.Store) (err error) {
		problems, err = store.Check(ctx)
		more, moreErr := p.findOperatorsProblems(ctx, store)
		problems = append(problems, more...)
		return errors.Join(err, moreErr, p.warnUnclean(ctx, store))
	})
	if sqlstore.Damaged(err) {
		return append(problems, oneLine(err)), nil
	}
	return problems, err
}

// findOperatorsProblems returns the problems of a sound database that the operator solves: a highest time that is much
// ahead of the clock, and lost erasures.
func (p *program) findOperatorsProblems(ctx context.Context, store *sqlstore.Store) ([]string, error) {
	s, err := service.New(ctx, service.Options{Store: store, Now: p.Now})
	if err != nil {
		return nil, err
	}
	ahead, aheadErr := timesAheadWarning(ctx, s)
	lost, err := p.lostErasures(ctx, s)
	var problems []string
	for _, problem := range []string{ahead, lostWarning(lost)} {
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems, errors.Join(aheadErr, err)
}

// timesAheadWarning returns a sentence about a highest time that is much ahead of the clock, or an empty text.
func timesAheadWarning(ctx context.Context, s *service.Service) (string, error) {
	newest, now, isMuch, err := s.TimesAhead(ctx)
	if err != nil || !isMuch {
		return "", err
	}
	return fmt.Sprintf("the highest time of the database, %s, is %s ahead of the clock; "+
		"set the clock right, or run fundeskd clock reset", newest, newest.Sub(now.Time).Round(time.Second)), nil
}

// warnUnclean warns of erased bytes that are still in the files. That is not damage.
func (p *program) warnUnclean(ctx context.Context, store *sqlstore.Store) error {
	waiting, err := store.Unclean(ctx)
	if err != nil {
		return err
	}
	p.warnTablesLeft(privacy.TablesLeft(waiting))
	if len(waiting) > 0 {
		fmt.Fprintf(p.Err, "fundeskd: the files still hold erased bytes (%s); "+
			"run fundeskd clean, which the package's timer does every night\n",
			strings.Join(slices.Sorted(maps.Keys(waiting)), ", "))
	}
	return nil
}

// SQLite rewrites a file at this rate at least, in bytes a second.
const rewriteRate = 20 << 20

func (p *program) cleanCommand() *cobra.Command {
	clean := operation[service.Scrubbed]{
		use:   "clean",
		short: "Remove the bytes of erased data from the database's files",
		long: "Clean removes erased data from the unused space of the database's files. If\n" +
			"nothing was erased since the last run, it does nothing. Run it every night; the\n" +
			"package has a timer for it.\n\n" +
			"On SQLite it rewrites the file, and changes wait for it. It first prints how\n" +
			"long that takes. On PostgreSQL it rewrites the tables one by one (VACUUM FULL),\n" +
			"each when it is free. It asks for a lock for one second and tries again for a\n" +
			"minute. Then it names the table and leaves it to the next run. Requests to a\n" +
			"table wait while it is rewritten. A table of more than 1 GiB is only named:\n" +
			"run VACUUM FULL on it in a quiet hour.",
		example: "  fundeskd clean",
		access:  access{patient: true},
		failure: "clean",
		run: func(ctx context.Context, s *service.Service) (service.Scrubbed, error) {
			p.warnRewriteTime()
			done, err := privacy.New(s, nil).Clean(ctx)
			if err != nil {
				return done, err
			}
			p.warnTablesLeft(done.Later)
			return done, nil
		},
		text: func(w io.Writer, done service.Scrubbed) {
			if len(done.Rewritten) == 0 {
				fmt.Fprintln(w, "nothing was rewritten")
				return
			}
			fmt.Fprintln(w, "rewritten: "+strings.Join(done.Rewritten, ", "))
		},
	}
	return clean.command(p)
}

func (p *program) maintainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "maintain",
		Short: "Rebuild indexes and partition the audit",
		Long: "Maintain does the work of each month beside a running serve; the package has a\n" +
			"timer for it. On PostgreSQL it rebuilds the indexes without a lock that requests\n" +
			"wait for (REINDEX CONCURRENTLY), makes the partitions of the audit for the next\n" +
			"months, and drops those that a prune has emptied. It needs free space for the\n" +
			"largest index. On SQLite it updates statistics; clean rebuilds the file.",
		Example: "  fundeskd maintain",
		Args:    exactly(nil),
		RunE: func(c *cobra.Command, _ []string) error {
			var done sqlstore.Maintained
			err := p.withStore(c.Context(), access{patient: true}, func(store *sqlstore.Store) (err error) {
				done, err = store.Maintain(c.Context(), p.Now())
				return err
			})
			if err != nil {
				return fmt.Errorf("maintain: %w", err)
			}
			return p.print(done, func(w io.Writer) { writeMaintained(w, done) })
		},
	}
}

func writeMaintained(w io.Writer, done sqlstore.Maintained) {
	if done.Analyzed {
		fmt.Fprintln(w, "statistics are up to date")
		return
	}
	for _, result := range []struct {
		name   string
		tables []string
	}{
		{"partitions made", done.Made},
		{"partitions dropped", done.Dropped},
		{"indexes rebuilt", done.Rebuilt},
	} {
		if len(result.tables) > 0 {
			fmt.Fprintln(w, result.name+": "+strings.Join(result.tables, ", "))
		}
	}
	if done.Elsewhere {
		fmt.Fprintln(w, "another fundeskd maintain rebuilds the indexes")
	}
}

// warnRewriteTime prints how long changes may wait while SQLite rewrites its file.
func (p *program) warnRewriteTime() {
	name, err := p.databaseName()
	if err != nil {
		return
	}
	path, isFile := strings.CutPrefix(name, "sqlite:")
	if !isFile {
		return
	}
	file, err := os.Stat(path)
	if err != nil {
		return
	}
	wait := time.Duration(file.Size()/rewriteRate+1) * time.Second
	fmt.Fprintf(p.Err, "fundeskd: if there is anything to clean, changes wait for up to %s\n", wait)
}

// warnTablesLeft names the tables that still hold erased bytes.
func (p *program) warnTablesLeft(tables []string) {
	if len(tables) == 0 {
		return
	}
	fmt.Fprintf(
		p.Err,
		"fundeskd: erased bytes stay in the unused space of the tables %s until the next fundeskd clean; "+
			"of a table that has more than 1 GiB or belongs to another role, until its owner runs VACUUM FULL\n",
		strings.Join(tables, ", "),
	)
}

func (p *program) openAPICommand() *cobra.Command {
	return &cobra.Command{
		Use:     "openapi",
		Short:   "Print the description of the interface, OpenAPI 3.1",
		Example: "  fundeskd openapi > openapi.json",
		Args:    exactly(nil),
		RunE: func(*cobra.Command, []string) error {
			_, err := p.Out.Write(httpapi.OpenAPI)
			return err
		},
	}
}

func (p *program) clockReset() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "reset",
		Short: "Give records with future times the present time",
		Long: "The times that the service gives never go back. If the clock was ahead, records\n" +
			"have future times, and later changes get the same time until the clock has\n" +
			"reached it; check names such a database. Stop fundeskd and correct the clock,\n" +
			"then reset gives these records the present time. Programs that keep a copy must\n" +
			"begin again: fundesk pull then ends with 8 and names --reset.",
		Example: "  fundeskd clock reset --yes",
		Args:    exactly(nil),
		RunE: func(c *cobra.Command, _ []string) error {
			changed, err := p.resetClock(c.Context(), yes)
			if err != nil {
				return fmt.Errorf("clock reset: %w", err)
			}
			return p.print(map[string]int{"changed": changed}, func(w io.Writer) {
				fmt.Fprintf(w, "%s set to the present time\n", count(changed, "record"))
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// resetClock asks, and returns how many records got the present time. It is refused while the database is in use.
func (p *program) resetClock(ctx context.Context, yes bool) (int, error) {
	err := p.checkUnused()
	if err != nil {
		return 0, err
	}
	var changed int
	err = p.withBoth(ctx, access{patient: true}, func(store *sqlstore.Store, s *service.Service) error {
		err := checkNoSessions(ctx, store)
		if err != nil {
			return err
		}
		newest, now, _, err := s.TimesAhead(ctx)
		if err != nil {
			return err
		}
		ahead := max(newest.Sub(now.Time), 0).Round(time.Second)
		err = p.confirm(ctx, fmt.Sprintf("The highest time of the database is %s ahead of the clock (%s). "+
			"Give these records the present time?", ahead, now), yes)
		if err != nil {
			return err
		}
		changed, err = s.ResetClock(ctx)
		return err
	})
	return changed, err
}

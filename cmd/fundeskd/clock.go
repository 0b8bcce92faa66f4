package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/service"
	"fundesk/service/sqlstore"
)

// clockReset gives records that lie ahead of the clock the present time.
func (p *program) clockReset() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "reset",
		Short: "Give records that lie ahead of the clock the present time",
		Long: "The times that the service gives never go back. After a clock that was wrong,\n" +
			"records lie ahead, and later changes get the same time until the clock has come\n" +
			"there; check names such a database. Stop what serves it and set the clock right,\n" +
			"then reset gives these records the present time. Programs that keep a copy must\n" +
			"begin again: fundesk pull then ends with 8 and names --reset.",
		Example: "  fundeskd clock reset --yes",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.alone(); err != nil {
				return fmt.Errorf("clock reset: %w", err)
			}
			return p.on(c.Context(), func(store *sqlstore.Store, s *service.Service) error {
				if err := aloneAt(c.Context(), store); err != nil {
					return fmt.Errorf("clock reset: %w", err)
				}
				changed, err := p.resetClock(c.Context(), s, yes)
				if err != nil {
					return fmt.Errorf("clock reset: %w", err)
				}
				return p.print(map[string]int{"changed": changed}, func(w io.Writer) {
					fmt.Fprintf(w, "%s given the present time\n", count(changed, "record"))
				})
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// alone refuses an SQLite file that another program has open.
func (p *program) alone() error {
	name, err := p.databaseName()
	if err != nil {
		return err
	}
	if sqlstore.IsServed(name) {
		return errors.New("another program has the database open; stop what serves it first")
	}
	return nil
}

func (p *program) resetClock(ctx context.Context, s *service.Service, yes bool) (int, error) {
	newest, now, _, err := s.TimesAhead(ctx)
	if err != nil {
		return 0, err
	}
	ahead := max(newest.Sub(now.Time), 0).Round(time.Second)
	if err := p.confirm(fmt.Sprintf("The highest time of the database is %s ahead of the clock (%s). Give these records the present time?", ahead, now), yes); err != nil {
		return 0, err
	}
	return s.ResetClock(ctx)
}

// confirm asks a question, unless it is answered already. Where none can be asked, that is a mistake.
func (p *program) confirm(question string, yes bool) error {
	if yes {
		return nil
	}
	if !isTerminal(p.In) || !isTerminal(p.Err) {
		return usage("%s Nothing was changed; --yes does it", question)
	}
	fmt.Fprintf(p.Err, "%s [y/N] ", question)
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	if answer != "y" && answer != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}

// tellAhead names a database whose highest time is much ahead of the clock.
func tellAhead(ctx context.Context, s *service.Service) (string, error) {
	newest, now, isMuch, err := s.TimesAhead(ctx)
	if err != nil || !isMuch {
		return "", err
	}
	return fmt.Sprintf("the highest time of the database, %s, is %s ahead of the clock; set the clock right, or run fundeskd clock reset",
		newest, newest.Sub(now.Time).Round(time.Second)), nil
}

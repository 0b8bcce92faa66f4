package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/service"
	"fundesk/service/privacy"
)

func (p *program) retentionSet() *cobra.Command {
	var organization, calls, leads, persons string
	c := &cobra.Command{
		Use:   "set --organization UUID",
		Short: "Set an organization's retention periods",
		Long: "--calls: calls that have ended lose their notes, external metadata and\n" +
			"recording. --leads: persons without a pledge are erased. --persons: persons\n" +
			"whose pledges have all ended are erased. The months count from the last event of\n" +
			"the call or the person. A person with a waiting call stays. Nothing happens\n" +
			"before fundeskd retention run. A period that you do not name stays; never\n" +
			"removes one.",
		Example: "  fundeskd retention set --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c --calls 24mo --leads 12mo --persons 84mo",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			id, err := parseUUID("--organization", organization)
			if err != nil {
				return err
			}
			var changes []func(*service.Retention)
			for _, flag := range []struct {
				name, text string
				field      func(*service.Retention) **int
			}{
				{"calls", calls, func(r *service.Retention) **int { return &r.Calls }},
				{"leads", leads, func(r *service.Retention) **int { return &r.Leads }},
				{"persons", persons, func(r *service.Retention) **int { return &r.Persons }},
			} {
				if !c.Flags().Changed(flag.name) {
					continue
				}
				months, err := parseMonths(flag.text)
				if err != nil {
					return usage("--%s %q %w", flag.name, flag.text, err)
				}
				changes = append(changes, func(r *service.Retention) { *flag.field(r) = months })
			}
			if len(changes) == 0 {
				return usage("use --calls, --leads or --persons, as in --calls 24mo")
			}
			return answer(c.Context(), p, "change the retention", func(s *service.Service) (retentionView, error) {
				r, err := privacy.New(s, nil).SetRetention(c.Context(), id, func(r *service.Retention) {
					for _, change := range changes {
						change(r)
					}
				})
				return viewRetention(r), err
			}, func(w io.Writer, view retentionView) { table(w, []retentionView{view}, retentionView.cells) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&organization, "organization", "", "`uuid` of the organization that owns the persons")
	flags.StringVar(&calls, "calls", "", "`months`, such as 24mo or 2y: what calls lose their notes after; or never")
	flags.StringVar(&leads, "leads", "", "`months` after which persons without a pledge are erased; or never")
	flags.StringVar(&persons, "persons", "", "`months` after which persons without a pledge that holds are erased; or never")
	return c
}

// parseMonths reads 24mo, 2y or never, which is nil.
func parseMonths(text string) (*int, error) {
	if text == "never" {
		return nil, nil //nolint:nilnil // None is no mistake.
	}
	number, each := strings.TrimSuffix(text, "mo"), 1
	if number == text {
		number, each = strings.TrimSuffix(text, "y"), 12
	}
	n, err := strconv.Atoi(number)
	if err != nil || number == text || n < 1 || n > 1200 {
		return nil, fmt.Errorf("must be months such as 24mo, years such as 2y, or never")
	}
	n *= each
	return &n, nil
}

type retentionView struct {
	Organization string  `json:"organization"`
	Calls        *string `json:"calls"`
	Leads        *string `json:"leads"`
	Persons      *string `json:"persons"`
}

func viewRetention(r service.Retention) retentionView {
	view := func(months *int) *string {
		if months == nil {
			return nil
		}
		return new(strconv.Itoa(*months) + "mo")
	}
	return retentionView{r.Organization.String(), view(r.Calls), view(r.Leads), view(r.Persons)}
}

func (r retentionView) cells() []string {
	cell := func(name string, months *string) string {
		if months == nil {
			return name + " never"
		}
		return name + " " + *months
	}
	return []string{r.Organization, cell("calls", r.Calls), cell("leads", r.Leads), cell("persons", r.Persons)}
}

func (p *program) retentionShow() *cobra.Command {
	all := func(s *service.Service, ctx context.Context) ([]service.Retention, error) {
		return privacy.New(s, nil).Retentions(ctx)
	}
	return listCommand(p, "show", "Show the retention periods", "  fundeskd retention show", all, viewRetention, retentionView.cells)
}

func (p *program) retentionRun() *cobra.Command {
	var o privacy.RetentionRun
	c := &cobra.Command{
		Use:   "run",
		Short: "Apply the retention periods",
		Long: "Run works in small steps beside a running serve. You may interrupt it and run it\n" +
			"again. It erases persons as fundeskd person erase does, and records them in the\n" +
			"same file with the number of the run. At its end it cleans the files, as\n" +
			"fundeskd clean does. On SQLite, changes wait for that, so run it at night.\n\n" +
			"Run stops with exit code 1, and erases nothing, in two cases. The first: the\n" +
			"clock is more than a day later than the newest change or run. The second: it\n" +
			"would erase at least 50 persons and more than 5 % of all. --yes runs it anyway.",
		Example: "  fundeskd retention run --dry-run",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			record, err := p.erasures()
			if err != nil {
				return err
			}
			if o.After, err = p.lastRun(); err != nil {
				return err
			}
			p.store.AnswerTimeout = forgoTimeout
			return answer(c.Context(), p, "", func(s *service.Service) ([]privacy.Retired, error) {
				all, later, err := privacy.New(s, record).RunRetention(c.Context(), o)
				if err == nil && len(later) > 0 {
					p.tellLater(later)
				}
				return all, err
			}, func(w io.Writer, all []privacy.Retired) {
				table(w, all, func(r privacy.Retired) []string {
					cells := []string{r.Organization.String(), count(r.Calls, "call"), count(r.Leads, "lead"), count(r.Persons, "person")}
					if r.Run > 0 {
						cells = append(cells, "run "+strconv.Itoa(r.Run))
					}
					return cells
				})
			})
		},
	}
	c.Flags().BoolVar(&o.Sure, "yes", false, "run although the clock or the number of persons is doubtful")
	c.Flags().BoolVar(&o.Dry, "dry-run", false, "only count what would be taken back")
	p.erasuresFlag(c)
	return c
}

// rewriteRate is how fast an SQLite file is written anew at least, in bytes a second.
const rewriteRate = 20 << 20

func (p *program) cleanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Remove the bytes of erased data from the database's files",
		Long: "Clean removes erased data from the unused space of the database's files. If\n" +
			"nothing was erased since the last run, it does nothing. Run it every night; the\n" +
			"package has a timer for it.\n\n" +
			"On SQLite it rewrites the file, and changes wait meanwhile. It first says how\n" +
			"long that takes. On PostgreSQL it rewrites the tables one by one (VACUUM FULL),\n" +
			"each when it is free. It asks for a lock for one second and tries again for a\n" +
			"minute. Then it names the table and leaves it to the next run. Requests to a\n" +
			"table wait while it is rewritten. A table of more than 1 GiB is only named:\n" +
			"VACUUM FULL it in a quiet hour.",
		Example: "  fundeskd clean",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			p.store.AnswerTimeout = forgoTimeout
			name, err := p.databaseName()
			if err != nil {
				return err
			}
			if path, ok := strings.CutPrefix(name, "sqlite:"); ok {
				if file, err := os.Stat(path); err == nil {
					fmt.Fprintf(p.Err, "fundeskd: where something is to be cleaned, changes wait for up to %s\n", (time.Duration(file.Size()/rewriteRate+1) * time.Second))
				}
			}
			return answer(c.Context(), p, "clean", func(s *service.Service) (service.Scrubbed, error) {
				done, err := privacy.New(s, nil).Clean(c.Context())
				if err == nil {
					p.tellLater(done.Later)
				}
				return done, err
			}, func(w io.Writer, done service.Scrubbed) {
				if len(done.Rewritten) == 0 {
					fmt.Fprintln(w, "nothing was written anew")
				} else {
					fmt.Fprintln(w, "written anew: "+strings.Join(done.Rewritten, ", "))
				}
			})
		},
	}
}

// tellLater names the tables that still hold what was erased.
func (p *program) tellLater(tables []string) {
	if len(tables) > 0 {
		fmt.Fprintf(p.Err, "fundeskd: what was erased lies in the unused space of the tables %s until the next fundeskd clean; where a table holds more than 1 GiB or belongs to another role, until its owner runs VACUUM FULL\n",
			strings.Join(tables, ", "))
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/privacy"
)

// period is a retention period of the command line.
type period struct {
	isSet  bool
	months *int // Nil means never.
}

func periodFlag(flags *pflag.FlagSet, to *period, name, help string) {
	parse := func(text string) (period, error) {
		months, err := parseMonths(text)
		return period{isSet: true, months: months}, err
	}
	flags.Var(&flagValue[period]{to: to, parse: parse}, name, help)
}

// apply changes a period if the command line names it.
func (p period) apply(to **int) {
	if p.isSet {
		*to = p.months
	}
}

func (p *program) retentionSet() *cobra.Command {
	var organization *apitype.UUID
	var calls, leads, persons, audit period
	return operation[retentionView]{
		use:   "set",
		short: "Set the retention of an organization, or of the audit",
		long: "--calls: calls that have ended lose their notes, external metadata and\n" +
			"recording. --leads: persons without a pledge are erased. --persons: persons\n" +
			"whose pledges have all ended are erased. The months count from the last event of\n" +
			"the call or the person. A person with a waiting call stays. Nothing happens\n" +
			"before fundeskd retention run. A period that you do not name stays; never\n" +
			"removes one.\n\n" +
			"--audit holds for the whole database: a run deletes older lines of the audit.\n" +
			"Lines of the last 31 days always stay.",
		example: "  fundeskd retention set --organization 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c " +
			"--calls 24mo --leads 12mo --persons 84mo\n" +
			"  fundeskd retention set --audit 24mo",
		flags: func(flags *pflag.FlagSet) {
			uuidFlag(flags, &organization, "organization", "`uuid` of the organization that owns the persons")
			periodFlag(
				flags,
				&calls,
				"calls",
				"`months`, such as 24mo or 2y, after which calls lose their notes; or never",
			)
			periodFlag(flags, &leads, "leads", "`months` after which persons without a pledge are erased; or never")
			periodFlag(flags, &persons, "persons",
				"`months` after which persons without a pledge in force are erased; or never")
			periodFlag(flags, &audit, "audit", "`months` after which lines of the audit are deleted; or never")
		},
		check: func(ctx context.Context, flags *pflag.FlagSet) error {
			isOfOrganization := organization != nil || calls.isSet || leads.isSet || persons.isSet
			if audit.isSet && isOfOrganization {
				return usage("--audit holds for the whole database; set it by itself, without --organization")
			}
			if audit.isSet {
				return nil
			}
			err := needOrganization(ctx, flags)
			if err != nil {
				return err
			}
			if !calls.isSet && !leads.isSet && !persons.isSet {
				return usage("use --calls, --leads or --persons, as in --calls 24mo")
			}
			return nil
		},
		failure: "change the retention",
		run: func(ctx context.Context, s *service.Service) (retentionView, error) {
			r, err := privacy.New(s, nil).
				SetRetention(ctx, *cmp.Or(organization, new(apitype.UUID)), func(r *service.Retention) {
					calls.apply(&r.Calls)
					leads.apply(&r.Leads)
					persons.apply(&r.Persons)
					audit.apply(&r.Audit)
				})
			return viewRetention(r), err
		},
		text: func(w io.Writer, view retentionView) {
			writeTable(w, []retentionView{view}, retentionView.cells)
		},
	}.command(p)
}

var errMonths = errors.New("must be months such as 24mo, years such as 2y (100y at most), or never")

// maxMonths is the longest retention period.
const maxMonths = 1200

// parseMonths reads 24mo or 2y. It returns nil for never.
func parseMonths(text string) (*int, error) {
	if text == "never" {
		return nil, nil //nolint:nilnil // Never is not an error.
	}
	unit := 1
	number, hasUnit := strings.CutSuffix(text, "mo")
	if !hasUnit {
		unit = 12
		number, hasUnit = strings.CutSuffix(text, "y")
	}
	n, err := strconv.Atoi(number)
	isPeriod := err == nil && hasUnit
	if !isPeriod || n < 1 || n*unit > maxMonths {
		return nil, errMonths
	}
	return new(n * unit), nil
}

type retentionView struct {
	Organization apitype.UUID `json:"organization,omitzero"` // Zero for the whole database.
	Calls        *string      `json:"calls"`
	Leads        *string      `json:"leads"`
	Persons      *string      `json:"persons"`
	Audit        *string      `json:"audit,omitzero"`
}

func viewRetention(r service.Retention) retentionView {
	view := func(months *int) *string {
		if months == nil {
			return nil
		}
		return new(strconv.Itoa(*months) + "mo")
	}
	return retentionView{
		Organization: r.Organization,
		Calls:        view(r.Calls),
		Leads:        view(r.Leads),
		Persons:      view(r.Persons),
		Audit:        view(r.Audit),
	}
}

func (r retentionView) cells() []string {
	cell := func(name string, months *string) string {
		if months == nil {
			return name + " never"
		}
		return name + " " + *months
	}
	if r.Organization.IsZero() {
		return []string{wholeDatabase, cell("audit", r.Audit)}
	}
	return []string{r.Organization.String(), cell("calls", r.Calls), cell("leads", r.Leads), cell("persons", r.Persons)}
}

// wholeDatabase is printed instead of an organization.
const wholeDatabase = "the whole database"

func (p *program) retentionShow() *cobra.Command {
	return recordList[service.Retention, retentionView]{
		use:     "show",
		short:   "Show the retention periods",
		example: "  fundeskd retention show",
		all: func(ctx context.Context, s *service.Service) ([]service.Retention, error) {
			return privacy.New(s, nil).Retentions(ctx)
		},
		view:  viewRetention,
		cells: retentionView.cells,
	}.command(p)
}

func (p *program) retentionRun() *cobra.Command {
	var o privacy.RetentionRun
	var log string
	return operation[[]privacy.Retired]{
		use:   "run",
		short: "Apply the retention periods",
		long: "Run works in small steps beside a running serve. You may interrupt it and run it\n" +
			"again. It erases persons as fundeskd person erase does, and records them in the\n" +
			"same file. At its end it cleans the files, as fundeskd clean does. On SQLite,\n" +
			"changes wait for that, so run it at night.\n\n" +
			"Run stops with exit code 1, and erases nothing, in two cases. The first: the\n" +
			"clock is more than a day later than the newest change or run. The second: it\n" +
			"would erase at least 50 persons and more than 5 % of all. --yes runs it anyway.",
		example: "  fundeskd retention run --dry-run",
		flags: func(flags *pflag.FlagSet) {
			flags.BoolVar(&o.Sure, "yes", false, "run although the clock or the number of persons is doubtful")
			flags.BoolVar(&o.Dry, "dry-run", false, "only count what would be erased")
			erasuresFlag(flags, &log)
		},
		check: func(context.Context, *pflag.FlagSet) error {
			_, err := p.erasuresFile(log)
			return err
		},
		access: access{patient: true},
		run: func(ctx context.Context, s *service.Service) ([]privacy.Retired, error) {
			all, left, err := privacy.New(s, p.recordErasures(log)).RunRetention(ctx, o)
			if err != nil {
				return nil, err
			}
			p.warnTablesLeft(left)
			return all, nil
		},
		text: func(w io.Writer, all []privacy.Retired) { writeTable(w, all, retiredCells) },
	}.command(p)
}

func retiredCells(r privacy.Retired) []string {
	if r.Organization.IsZero() {
		return []string{wholeDatabase, count(r.AuditLines, "line") + " of the audit"}
	}
	return []string{
		r.Organization.String(),
		count(r.Calls, "call"),
		count(r.Leads, "lead"),
		count(r.Persons, "person"),
	}
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/privacy"
)

func auditCells(v privacy.ExportAudit) []string {
	account, user := "an operator", "-"
	if v.Account != nil {
		account = v.Account.String()
	}
	if v.User != nil {
		user = v.User.String()
	}
	details := strings.Join(v.Fields, ",")
	if v.Record != nil {
		details = v.Record.String() + "  " + details
	}
	if v.Count != nil {
		details = count(*v.Count, "record") + "  " + details
	}
	if v.Reason != "" {
		details += "  (" + v.Reason + ")"
	}
	return []string{v.Time.String(), account, user, cmp.Or(v.RequestID, "-"), string(v.Operation), details}
}

func (p *program) auditList() *cobra.Command {
	var filter service.AuditFilter
	c := streams(&cobra.Command{
		Use:   "list",
		Short: "List changes, the oldest first",
		Long: "List prints one line per change: time, account, user, request, operation,\n" +
			"record, and the names of changed fields. It never prints values. An operator's\n" +
			"commands have no account. With fundeskd serve --audit-reads, it also prints\n" +
			"which accounts read donors, one by one and in lists. --person finds the lists\n" +
			"that showed the donor, and -o ndjson names the donors whom a list showed.",
		Example: "  fundeskd audit list --person 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c\n" +
			"  fundeskd audit list --since 7d -o ndjson",
		Args: exactly(nil),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withService(c.Context(), access{retired: true}, func(s *service.Service) error {
				out := p.newLineWriter()
				err := privacy.New(s, nil).Audit(c.Context(), filter, func(line service.AuditLine) error {
					view := privacy.ExportedAudit(line)
					view.Shown = line.Shown
					return out.add(view, func() []string { return auditCells(view) })
				})
				if err != nil {
					return err
				}
				return out.close()
			})
		},
	})
	p.auditFlags(c.Flags(), &filter)
	return c
}

func (p *program) auditFlags(flags *pflag.FlagSet, to *service.AuditFilter) {
	uuidFlag(flags, &to.Person, "person", "only what was done to, or shown of, the person of this `uuid`")
	uuidFlag(flags, &to.Account, "account", "only what the account of this `uuid` did")
	uuidFlag(flags, &to.User, "user", "only what the user of this `uuid` did")
	p.pastFlag(flags, &to.Since, "since", "only from this `time` on: RFC 3339, a date, or an age such as 7d")
}

// pastFlag adds a flag for a time that may be an age.
func (p *program) pastFlag(flags *pflag.FlagSet, to **apitype.Time, name, help string) {
	parse := func(text string) (*apitype.Time, error) {
		at, err := apitype.ParseTypedTime(text, p.Now())
		return &at, err
	}
	flags.Var(&flagValue[*apitype.Time]{to: to, parse: parse}, name, help)
}

type prunedView struct {
	Deleted int `json:"deleted"`
}

func (p *program) auditPrune() *cobra.Command {
	var before *apitype.Time
	var yes bool
	return operation[prunedView]{
		use:   "prune",
		short: "Delete old lines of the audit",
		long: "Prune prints how many lines are older than a time, asks, and deletes them in\n" +
			"small steps beside a running serve. Lines of the last 31 days always stay. A\n" +
			"line of the audit records each step. fundeskd retention set --audit makes it\n" +
			"part of each run.",
		example: "  fundeskd audit prune --before 2024-12-31",
		flags: func(flags *pflag.FlagSet) {
			p.pastFlag(
				flags,
				&before,
				"before",
				"delete the lines before this `time`: RFC 3339, a date, or an age such as 800d",
			)
			flags.BoolVar(&yes, "yes", false, "do not ask")
		},
		check: func(context.Context, *pflag.FlagSet) error {
			if before == nil {
				return usage("use --before TIME, as in --before 2024-12-31")
			}
			if before.After(p.Now()) {
				return usage("--before %s is ahead of the clock", before)
			}
			return nil
		},
		access:  access{patient: true},
		failure: "audit prune",
		run: func(ctx context.Context, s *service.Service) (prunedView, error) {
			audit := privacy.New(s, nil)
			lines, err := audit.CountPrunable(ctx, *before)
			if err != nil || lines == 0 {
				return prunedView{}, err
			}
			err = p.confirm(ctx, fmt.Sprintf("Delete %s of the audit?", count(lines, "line")), yes)
			if err != nil {
				return prunedView{}, err
			}
			deleted, err := audit.PruneAudit(ctx, *before, "before "+before.String())
			return prunedView{deleted}, err
		},
		text: func(w io.Writer, view prunedView) {
			fmt.Fprintf(w, "%s of the audit deleted\n", count(view.Deleted, "line"))
		},
	}.command(p)
}

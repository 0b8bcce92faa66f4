package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/privacy"
)

func auditCells(v privacy.ExportAudit) []string {
	who := "an operator"
	if v.Account != nil {
		who = v.Account.String()
	}
	what := strings.Join(v.Fields, ",")
	if v.Record != nil {
		what = v.Record.String() + "  " + what
	}
	if v.Count != nil {
		what = count(*v.Count, "record") + "  " + what
	}
	if v.Reason != "" {
		what += "  (" + v.Reason + ")"
	}
	return []string{v.Time.String(), who, string(v.Operation), what}
}

func (p *program) auditList() *cobra.Command {
	var person, account, since string
	c := &cobra.Command{
		Use:   "list",
		Short: "List changes, the oldest first",
		Long: "List prints one line per change: time, account, user, request, operation,\n" +
			"record, and the names of changed fields. It never prints values. An operator's\n" +
			"commands have no account. With fundeskd serve --audit-reads, it also prints\n" +
			"which accounts read donors.",
		Example: "  fundeskd audit list --person 3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c\n  fundeskd audit list --since 7d -o ndjson",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			var f service.AuditFilter
			if f.Person, err = optionalUUID("--person", person); err != nil {
				return err
			}
			if f.Account, err = optionalUUID("--account", account); err != nil {
				return err
			}
			if since != "" {
				at, err := apitype.ParseTypedTime(since, p.Now())
				if err != nil {
					return usage("--since %q %w", since, err)
				}
				f.Since = &at
			}
			return p.with(c.Context(), func(s *service.Service) error {
				out := p.lines()
				err := privacy.New(s, nil).Audit(c.Context(), f, func(line service.AuditLine) error {
					view := privacy.ExportedAudit(line)
					return out.add(view, func() []string { return auditCells(view) })
				})
				return out.end(err)
			})
		},
	}
	streams(c)
	c.Flags().StringVar(&person, "person", "", "only what is about the person of this `uuid`")
	c.Flags().StringVar(&account, "account", "", "only what the account of this `uuid` did")
	c.Flags().StringVar(&since, "since", "", "only from this `time` on: RFC 3339, a date, or an age such as 7d")
	return c
}

// optionalUUID reads an identifier of the command line, nil for none.
func optionalUUID(what, text string) (*apitype.UUID, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // None is no mistake.
	}
	id, err := parseUUID(what, text)
	return &id, err
}

// ndjson is the output format of commands that print records one by one.
const ndjson = "ndjson"

// streams notes of a command that it prints records one by one.
func streams(c *cobra.Command) { c.Annotations = map[string]string{ndjson: ""} }

type lineWriter struct {
	p       *program
	encoder *json.Encoder
	printed bool
}

func (p *program) lines() *lineWriter {
	w := &lineWriter{p: p, encoder: json.NewEncoder(p.Out)}
	w.encoder.SetEscapeHTML(false)
	return w
}

// add prints a record: an element of an array, a line of its own, or cells.
func (w *lineWriter) add(value any, cells func() []string) error {
	switch w.p.output {
	case "":
		_, err := fmt.Fprintln(w.p.Out, strings.Join(cleaned(cells()), "  "))
		return err
	case "json":
		before := "["
		if w.printed {
			before = ","
		}
		if _, err := io.WriteString(w.p.Out, before); err != nil {
			return err
		}
	}
	w.printed = true
	return w.encoder.Encode(value)
}

// end ends the array, unless something went wrong: half an array must not look whole.
func (w *lineWriter) end(err error) error {
	if err != nil || w.p.output != "json" {
		return err
	}
	after := "]\n"
	if !w.printed {
		after = "[]\n"
	}
	_, err = io.WriteString(w.p.Out, after)
	return err
}

package load

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/render"
)

// plannedChange describes a change of a row that is not sent.
type plannedChange struct {
	Line    int             `json:"line"`
	UUID    string          `json:"uuid"`
	Changes []fieldChange   `json:"changes"` // Empty if the record is created.
	Method  string          `json:"method"`
	Path    string          `json:"path"`
	Body    json.RawMessage `json:"body"`
	Service string          `json:"service,omitempty"`
}

// diffLine is one field of a change in a table.
type diffLine struct {
	Line        int
	UUID, Field string
	From, To    string
}

// show prints the planned changes: field by field in a table, with the requests in JSON.
func (r *rowRun) show() error {
	s := r.session
	if !r.compares {
		return change.PrintRequests(s, true, changesOf(r.lines.All()))
	}
	service, err := s.ServiceName()
	if err != nil {
		return err
	}
	print, err := cli.Print(s, "uuid", diffColumns())
	if err != nil {
		return err
	}
	if print.Format.IsJSON() || print.Format == render.ID || print.Query != nil {
		return cli.ShowEach(s, "uuid", nil, bulk.Each(r.lines.All(), func(line plannedLine) plannedChange {
			ch := line.Change
			return plannedChange{
				line.Row.Line,
				ch.UUID.String(),
				append([]fieldChange{}, line.Changes...),
				ch.Method,
				ch.Path,
				ch.Body,
				service,
			}
		}))
	}
	err = print.Each(func(yield func(diffLine) bool) {
		for line := range r.lines.All() {
			changes := line.Changes
			if line.Change.Operation().Creates { // A new record is one line.
				changes = []fieldChange{{Field: "(new)", To: string(line.Change.Body)}}
			}
			for _, c := range changes {
				uuid, from, to := line.Change.UUID.String(), render.FieldText(c.From), render.FieldText(c.To)
				if !yield(diffLine{line.Row.Line, uuid, c.Field, from, to}) {
					return
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if !r.planOnly && !r.dryRun { // They are sent next.
		return nil
	}
	where := ""
	if service != "" {
		where = " to " + service
	}
	s.Note("%s not sent%s; %s", cli.Count(r.lines.Len, "change"), where, cli.Count(r.unchanged, "record")+" unchanged")
	return nil
}

// showPlan prints the plan of --match: each change on stdout, unless results are printed there, and the counts.
func (r *rowRun) showPlan() error {
	hasResults := r.session.Flags.Output != "" || r.session.Flags.JQ != ""
	if r.planOnly || !hasResults && !r.dryRun {
		if err := r.show(); err != nil {
			return err
		}
	}
	r.session.Note("plan: %s", r.planText())
	return r.lines.Err()
}

// changesOf returns the changes of lines, in their order.
func changesOf(lines iter.Seq[plannedLine]) iter.Seq[apiclient.Change] {
	return func(yield func(apiclient.Change) bool) {
		for line := range lines {
			for _, change := range append([]apiclient.Change{line.Change}, line.After...) {
				if !yield(change) {
					return
				}
			}
		}
	}
}

func diffColumns() []render.Column[diffLine] {
	cleared := func(text string) render.Text {
		if text == "" {
			return render.Text{Text: "(none)", Role: render.Faint}
		}
		return render.Text{Text: text}
	}
	return []render.Column[diffLine]{
		{
			Name:    "line",
			Default: true,
			Right:   true,
			Value:   func(d diffLine) string { return strconv.Itoa(d.Line) },
		},
		{Name: "uuid", Default: true, Value: func(d diffLine) string { return d.UUID }},
		{Name: "field", Default: true, Value: func(d diffLine) string { return d.Field }},
		{
			Name:     "from",
			Default:  true,
			Flexible: true,
			Value:    func(d diffLine) string { return d.From },
			Cell:     func(d diffLine, _ render.View) render.Text { return cleared(d.From) },
		},
		{
			Name:     "to",
			Default:  true,
			Flexible: true,
			Value:    func(d diffLine) string { return d.To },
			Cell:     func(d diffLine, _ render.View) render.Text { return cleared(d.To) },
		},
	}
}

// printTemplate prints a header and a possible row.
func printTemplate(s *cli.Session, shape Rows, creates bool) error {
	fields := shape.Creates[1:] // Without the uuid, which is chosen.
	row := map[string]any{}
	var columns []render.Column[map[string]any]
	column := func(name, example string) {
		columns = append(
			columns,
			render.Column[map[string]any]{
				Name:    name,
				Default: true,
				Value:   func(map[string]any) string { return example },
			},
		)
	}
	if !creates {
		fields = shape.Updates
		row["uuid"] = apitype.ExampleUUID
		column("uuid", apitype.ExampleUUID)
	}
	for _, field := range fields {
		if isConsent(field.Path) { // Not every service keeps them.
			continue
		}
		column(field.Path, field.Example)
		if field.Example == "" {
			continue
		}
		value, err := change.FieldJSON(s, field, []string{field.Example})
		if err != nil {
			return fmt.Errorf("the example of %s: %w", field.Path, err)
		}
		change.SetPath(row, field.Path, value)
	}
	print, err := cli.Print(s, "", columns)
	if err != nil {
		return err
	}
	if s.Flags.Output == "" && print.Query == nil {
		print.Format = render.CSV
	}
	return print.Each(slices.Values([]map[string]any{row}))
}

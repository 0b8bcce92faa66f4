package commands

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
)

// outputKind describes the output of a command.
type outputKind struct {
	formats []render.Format
	columns bool // --columns chooses among them.
	endless bool // It is printed as it comes, and never whole.
}

// The kinds of output. Commands that print nothing, or text for people, accept -o json and ndjson for their errors.
var (
	spoken  = outputKind{formats: []render.Format{render.JSON, render.NDJSON}}
	value   = outputKind{formats: []render.Format{render.Table, render.TSV, render.JSON, render.NDJSON}}
	answers = outputKind{formats: []render.Format{render.JSON, render.NDJSON, render.ID}}
	numbers = outputKind{
		formats: []render.Format{render.Table, render.Wide, render.TSV, render.CSV, render.JSON, render.NDJSON},
		columns: true,
	}
	records = outputKind{formats: render.Formats, columns: true}
	written = outputKind{
		formats: []render.Format{render.Table, render.JSON, render.NDJSON},
	} // Text for people, or JSON.
	pulled = outputKind{
		formats: []render.Format{render.NDJSON, render.CSV, render.TSV, render.ID},
		columns: true,
		endless: true,
	}
	stream = outputKind{
		formats: []render.Format{render.Table, render.Wide, render.TSV, render.CSV, render.NDJSON, render.ID},
		columns: true,
		endless: true,
	}
)

// outputs has the kinds by the name of a verb, or of a verb below its noun if that differs. Other verbs print nothing.
var outputs = map[string]outputKind{
	"list":                records,
	"get":                 records,
	"create":              records,
	"update":              records,
	"import":              records,
	"apply":               records,
	"mark":                records,
	"attempt":             records,
	"complete":            records,
	"cancel":              records,
	"expire":              records,
	"action":              records,
	"take":                records,
	"extend":              records,
	"release":             records,
	"later":               records,
	"agents":              records,
	"leases":              records,
	"callbacks":           records,
	"pause":               records,
	"ready":               records,
	"message":             records,
	"export":              answers,
	"erase":               answers,
	"api":                 answers,
	"stats":               numbers,
	"queue status":        numbers,
	"pull status":         records,
	"query":               numbers,
	"copy status":         value,
	"copy sync":           value,
	"doctor":              numbers,
	"person":              pulled,
	"call":                pulled,
	"pledge":              pulled,
	"erased":              pulled,
	"changes":             pulled,
	"show":                value,
	"outbox send":         value,
	"auth status":         value,
	"auth token":          value,
	"version":             value,
	"queue settings get":  written,
	"person consent list": numbers,
	"person consent add":  numbers,
	"call checks":         records,
}

func outputOf(cmd *cobra.Command) outputKind {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	for _, name := range []string{name, cmd.Name()} {
		if kind, ok := outputs[name]; ok && !cmd.HasSubCommands() {
			return kind
		}
	}
	return spoken
}

// checkOutput refuses a format or columns that a command does not have, so that nothing requested is left out in
// silence.
func checkOutput(s *cli.Session, cmd *cobra.Command) error {
	kind := outputOf(cmd)
	isWatched, err := cmd.Flags().GetBool("watch")
	if err == nil && isWatched {
		kind = stream
	}
	if len(s.Flags.Columns) > 0 && !kind.columns {
		return cli.UsageError("this command has no columns; " + kind.advice())
	}
	if s.Flags.SortBy != "" && (!kind.columns || kind.endless) {
		return cli.UsageError("this command prints no list that --sort-by could sort")
	}
	asked := render.Format(s.Flags.Output)
	hasOwnColumns := asked.IsJSON() || asked == render.ID || asked == render.Wide
	if len(s.Flags.Columns) > 0 && (hasOwnColumns || s.Flags.JQ != "") {
		return cli.UsageError("--columns needs -o table, tsv or csv; choose fields by --jq")
	}
	if s.Flags.JQ != "" && slices.Equal(kind.formats, spoken.formats) {
		return cli.UsageError("this command prints nothing that --jq could read")
	}
	if s.Flags.JQ == "" && len(s.Flags.Arguments) > 0 {
		return cli.UsageError("--arg needs --jq")
	}
	if s.Flags.Output == "" {
		return nil
	}
	format, err := render.ParseFormat(s.Flags.Output)
	if err != nil && s.Flags.Output == "yaml" {
		return cli.WithHint(cli.UsageError(err.Error()), "-o json | yq -P")
	}
	if err != nil {
		return cli.UsageError(err.Error())
	}
	raw := format == render.TSV || format == render.ID // Of a text that --jq makes.
	if s.Flags.JQ != "" && raw {
		return nil
	}
	if s.Flags.JQ != "" && !format.IsJSON() {
		return cli.UsageError("--jq needs -o json, ndjson, tsv or id")
	}
	if !slices.Contains(kind.formats, format) {
		return cli.UsageError("this command has no -o " + string(format) + "; " + kind.advice())
	}
	return nil
}

func (k outputKind) advice() string {
	names := apitype.Texts(k.formats)
	last := len(names) - 1
	if last == 0 {
		return "there is " + names[0]
	}
	return "there are " + strings.Join(names[:last], ", ") + " and " + names[last]
}

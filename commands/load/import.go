// Package load makes many changes from the rows of a file: import creates records, apply also changes existing ones.
// Package bulk reads files and sends many changes.
package load

import (
	"github.com/spf13/cobra"

	"fundesk/commands/cli"
)

// aboutRows describes files in the help.
const aboutRows = "fundesk recognises CSV by its name or content, and its delimiter by the header. --map names fields for other\n" +
	"headers. --country reads a country's phone numbers, days and amounts, and --encoding reads what Excel saves.\n" +
	"--template prints a header with an example.\n\n" +
	"Every line is checked before the first change. Errors are listed by line, and --errors FILE.csv keeps the bad rows\n" +
	"with the reason. --results FILE keeps one result per line; run again with the same file to continue.\n" +
	"-o prints a line per record, and -o id the uuids of those that worked."

// Import returns the verb import of a noun.
func Import(s *cli.Session, shape Rows) *cobra.Command {
	f := &rowFlags{}
	cmd := &cobra.Command{
		Use:   "import FILE | -",
		Short: "Create many " + shape.Record + "s from NDJSON or CSV",
		Args:  f.args,
		Long: "Create records from a file: NDJSON of request bodies, or CSV with a header of field names, dotted where they are\n" +
			"nested. Nothing is created twice.\n\n" + aboutRows,
		Example: "  fundesk " + shape.Record + " import new.ndjson --results new.results --yes\n" +
			"  fundesk " + shape.Record + " import new.csv --results new.results --yes --concurrency 8\n" +
			"  fundesk " + shape.Record + " import --template > new.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(s, cmd, shape, args, false)
		},
	}
	f.register(cmd, shape.Creates)
	return cmd
}

// args wants a file, unless a template is asked for.
func (f *rowFlags) args(cmd *cobra.Command, args []string) error {
	if f.template {
		return cli.NoArgs(cmd, args)
	}
	return cli.NeedExactly(1)(cmd, args)
}

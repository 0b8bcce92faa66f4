// Package load makes many changes from the rows of a file: import creates records, apply also changes existing ones.
// Package bulk reads files and sends many changes.
package load

import (
	"github.com/spf13/cobra"

	"fundesk/commands/cli"
)

// aboutRows describes files in the help.
const aboutRows = "fundesk recognises CSV by its name or content, and its delimiter by the header. --mapping\n" +
	"FILE.toml describes the file of another program: encoding, country, columns and values. --guess\n" +
	"prints a first mapping. --map, --value, --default and --country replace its lines. A row's own\n" +
	"country, or else that one, decides how phone numbers are read, and completes an address.\n" +
	"--template prints an example file.\n\n" +
	"Every line is checked before the first change. Errors name line and column; --errors FILE.csv\n" +
	"keeps the bad rows with their values and the reason. --skip-wrong sends the others. After 20 equal\n" +
	"refusals the service is not asked again unless you agree or give --keep-going. -o prints a line\n" +
	"per record, and -o id only the UUIDs that succeeded."

// aboutResults describes the results of creations in the help.
const aboutResults = "FILE.results.ndjson keeps what was created at which service. A file that is imported\n" +
	"again, sorted, extended, or moved with its results, creates only the rows that are new. --results\n" +
	"names another file; stdin has none without it.\n\n"

// Import returns the verb import of a noun.
func Import(s *cli.Session, shape Rows) *cobra.Command {
	f := &rowFlags{}
	cmd := &cobra.Command{
		Use:   "import FILE | -",
		Short: "Create many " + shape.Record + "s from NDJSON or CSV",
		Args:  f.args,
		Long: "Create records from a file: NDJSON of request bodies, or CSV with a header of field names,\n" +
			"dotted where they are nested.\n\n" + aboutResults + aboutRows,
		Example: "  fundesk " + shape.Record + " import new.ndjson --results new.results --yes\n" +
			"  fundesk " + shape.Record + " import new.csv --results new.results --yes --concurrency 8\n" +
			"  fundesk " + shape.Record + " import --template > new.csv\n" +
			"  fundesk " + shape.Record + " import crm.csv --guess > crm.toml\n" +
			"  fundesk " + shape.Record + " import crm.csv --mapping crm.toml --skip-wrong --errors wrong.csv --yes",
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

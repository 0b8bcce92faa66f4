package read

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/commands/cli"
	"fundesk/commands/localcopy"
	"fundesk/render"
)

// answerRow is a row of an answer: texts, numbers, and nil for nothing.
type answerRow []any

// Query returns the command query.
func Query(s *cli.Session) *cobra.Command {
	var offline bool
	cmd := &cobra.Command{
		Use:   "query SQL",
		Short: "Answer a question from the copy, in SQL",
		Args:  cli.NeedExactly(1),
		Long: "Bring the copy up to date, as fundesk copy sync does, and answer one SELECT from it. WITH …\n" +
			"SELECT and VALUES work too. Anything else, and wrong SQL, is exit code 2. --offline does not ask\n" +
			"the service. consents and checks are read only for SQL that names them.\n\n" + aboutTables(),
		Example: "  fundesk query 'SELECT status, count(*) AS calls FROM calls GROUP BY status'\n" +
			"  fundesk query \"SELECT uuid FROM calls WHERE completedAt > strftime('%FT%T', 'now', '-7 days')\"\n" +
			"  fundesk query 'SELECT lastName, email FROM persons WHERE address_city IS NULL' --offline -o csv",
		RunE: func(cmd *cobra.Command, args []string) error { return runQuery(s, cmd, args[0], offline) },
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "answer from the copy as it is")
	return cmd
}

func runQuery(s *cli.Session, cmd *cobra.Command, query string, offline bool) error {
	ctx := cmd.Context()
	if err := localcopy.Check(query); err != nil {
		return aboutQuery(err)
	}
	options, err := s.Output() // What cannot be printed is refused before anything is read.
	if err != nil {
		return err
	}
	var path string
	if offline {
		path, err = s.CopyPath(ctx)
	} else {
		path, _, err = syncCopy(ctx, s, false, localcopy.DetailsIn(query))
	}
	if err != nil {
		return err
	}
	var list *render.List[answerRow]
	var names []string
	begin := func(columns []string) (err error) {
		names = distinct(columns)
		list, err = render.NewList(s.App.Out, answerColumns(names), options)
		return err
	}
	var unwritten error
	add := func(cells []any) error {
		raw, err := rawRow(names, cells)
		if err != nil {
			return err
		}
		unwritten = list.Add(raw, func() (answerRow, error) { return cells, nil })
		return unwritten
	}
	err = localcopy.Query(ctx, path, query, begin, add)
	if unwritten != nil {
		return EndList(list, unwritten)
	}
	if list == nil {
		return aboutQuery(err)
	}
	if err != nil {
		return EndList(list, aboutQuery(err))
	}
	return list.Close()
}

// aboutQuery returns a command's error for that of a question.
func aboutQuery(err error) error {
	if wrong, ok := errors.AsType[*localcopy.WrongSQLError](err); ok {
		return cli.WithHint(cli.UsageError(wrong.Message), "the tables are in: fundesk query --help")
	}
	if errors.Is(err, localcopy.ErrNeverSynced) {
		return cli.WithHint(
			cli.Failure(apiclient.KindFailure, "%s", err),
			"make it: fundesk copy sync",
		)
	}
	if _, isColumn := errors.AsType[*render.ColumnError](err); isColumn || cli.IsClosedPipe(err) {
		return err
	}
	return aboutCopy(err)
}

// distinct returns names of which none repeats.
func distinct(columns []string) []string {
	names, seen := make([]string, len(columns)), map[string]int{}
	for i, name := range columns {
		seen[name]++
		if n := seen[name]; n > 1 {
			name += ":" + strconv.Itoa(n)
		}
		names[i] = name
	}
	return names
}

// answerColumns returns the columns of an answer. A column of numbers is aligned by its cells, not as a whole.
func answerColumns(names []string) []render.Column[answerRow] {
	columns := make([]render.Column[answerRow], len(names))
	for i, name := range names {
		columns[i] = render.Column[answerRow]{
			Name:     name,
			Default:  true,
			Flexible: true,
			Value:    func(row answerRow) string { return cellText(row[i]) },
			IsNumber: func(row answerRow) bool { return isExcelNumber(row[i]) },
		}
	}
	return columns
}

// isExcelNumber reports whether a value is a number that Excel keeps: it has 15 digits.
func isExcelNumber(cell any) bool {
	const most = 999_999_999_999_999
	switch v := cell.(type) {
	case int64:
		return -most <= v && v <= most
	case float64:
		return math.Abs(v) <= most
	default:
		return false
	}
}

// cellText returns a value as text. Bytes are hexadecimal, and nothing is "".
func cellText(cell any) string {
	switch v := cell.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		return hex.EncodeToString(v)
	case string:
		return v
	default:
		return ""
	}
}

// rawRow returns a row as a JSON object, its members in the order of the columns.
func rawRow(names []string, cells []any) (json.RawMessage, error) {
	raw := []byte{'{'}
	for i, name := range names {
		cell := cells[i]
		if bytes, ok := cell.([]byte); ok {
			cell = hex.EncodeToString(bytes)
		}
		if number, ok := cell.(float64); ok && (math.IsInf(number, 0) || math.IsNaN(number)) {
			cell = nil // JSON has no such number.
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(cell)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(append(append(raw, key...), ':'), value...)
	}
	return append(raw, '}'), nil
}

package sqlstore

import (
	"context"

	"fundesk/apiclient/apitype"
)

// TableRows are all rows of a table, with the statement that inserts one.
type TableRows struct {
	Table   string
	Columns []string
	Insert  string
	Rows    [][]any
}

// Rows are all rows of a database, for the floors of benchmarks.
func (s *Store) Rows(ctx context.Context) (all []TableRows, err error) {
	err = s.engine.view(ctx, func(c *conn) error {
		for _, t := range copyTables {
			rows, err := t.read(c, nil, nil, 0)
			if err != nil {
				return err
			}
			all = append(all, TableRows{t.name, t.columns, insertText(t.name, t.columns), rows})
		}
		return nil
	})
	return all, err
}

// Binary are the rows with identifiers as PostgreSQL's client library takes them fastest.
func (t TableRows) Binary() ([][]any, error) {
	rows := make([][]any, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = append([]any{}, row...)
		for k, value := range row {
			if text, ok := value.(string); ok && uuidColumns[t.Columns[k]] {
				id, err := apitype.ParseUUID(text)
				if err != nil {
					return nil, err
				}
				rows[i][k] = [16]byte(id)
			}
		}
	}
	return rows, nil
}

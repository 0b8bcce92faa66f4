package sqlstore

import "context"

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

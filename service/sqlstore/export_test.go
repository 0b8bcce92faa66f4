package sqlstore

import (
	"context"
	"strconv"
	"strings"
)

// TableRows are all rows of a table, with the statement that inserts one.
type TableRows struct {
	Insert string
	Rows   [][]any
}

// Rows are all rows of a database, for the floors of benchmarks.
func (s *Store) Rows(ctx context.Context) (all []TableRows, err error) {
	err = s.engine.view(ctx, func(c *conn) error {
		for _, t := range copyTables {
			rows, err := t.read(c, nil, nil, 0)
			if err != nil {
				return err
			}
			places := make([]string, len(t.columns))
			for i := range places {
				places[i] = "$" + strconv.Itoa(i+1)
			}
			insert := `INSERT INTO ` + t.name + ` (` + strings.Join(t.columns, `, `) + `) VALUES (` + strings.Join(places, `, `) + `)`
			all = append(all, TableRows{insert, rows})
		}
		return nil
	})
	return all, err
}

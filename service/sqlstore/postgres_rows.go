package sqlstore

import (
	"database/sql"
	"slices"
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// insertPersonAudited adds a person, and the line about it by the number that the person got.
var insertPersonAudited = sync.OnceValue(func() string {
	return `WITH person AS (` + insertPerson() + ` ON CONFLICT DO NOTHING RETURNING number)
	INSERT INTO audit (` + strings.Join(auditColumns, `, `) + `)
	SELECT ` + strings.Join(placesFrom(len(personColumns)+1, auditArguments), `, `) + `, number FROM person`
})

// insertPerson is one statement: being run at all is most of what a second one costs.
func (e *postgresEngine) insertPerson(c *conn, person, line []any) error {
	n, err := c.exec(insertPersonAudited(), slices.Concat(person, line)...)
	if err == nil && n == 0 {
		return service.ErrExists
	}
	return err
}

// insertAll writes many rows by COPY, the engine's way for many.
func (e *postgresEngine) insertAll(c *conn, table string, columns []string, rows [][]any, skip bool) error {
	if skip {
		return insertOneByOne(c, table, columns, rows, skip)
	}
	err := c.fail(e.copy(c, table, columns, rows))
	if e.driver.Code(err) == uniqueViolation {
		return service.ErrExists
	}
	return err
}

func (e *postgresEngine) copy(c *conn, table string, columns []string, rows [][]any) error {
	return c.raw.Raw(func(connection any) error {
		return e.driver.Copy(c.ctx, connection, table, columns, len(rows), func(i int) ([]any, error) { return rows[i], nil })
	})
}

// reserve takes numbers that no other transaction gets. The server tells of each run
// without a gap, of which there is one unless others take numbers at the same time.
func (e *postgresEngine) reserve(c *conn, table string, rows int) ([]int64, error) {
	numbers := make([]int64, 0, rows)
	err := c.each(`SELECT MIN(number), MAX(number)
		FROM (SELECT i, nextval('`+table+`_number_seq') AS number FROM generate_series(1, $1) AS i) AS taken
		GROUP BY number - i ORDER BY 1`, []any{rows}, func(result *sql.Rows) error {
		var first, last int64
		err := result.Scan(&first, &last)
		for number := first; err == nil && number <= last; number++ {
			numbers = append(numbers, number)
		}
		return err
	})
	return numbers, err
}

// advanceNumbers moves the sequence behind the numbers that rows were written with.
func (e *postgresEngine) advanceNumbers(c *conn, table string) error {
	_, err := c.exec(`SELECT setval('` + table + `_number_seq', (SELECT MAX(number) FROM ` + table + `))`)
	return err
}

// insertNew writes by COPY. Only when that is refused it asks which identifiers are there:
// asking first would make every load wait for what hardly ever is.
func (e *postgresEngine) insertNew(c *conn, rows newRows) (taken []apitype.UUID, err error) {
	if _, err := c.raw.ExecContext(c.ctx, `SAVEPOINT rows`); err != nil {
		return nil, c.fail(err)
	}
	refusal := e.copy(c, rows.table, rows.columns, rows.values)
	if refusal == nil {
		_, err = c.raw.ExecContext(c.ctx, `RELEASE rows`)
		return nil, c.fail(err)
	}
	if e.driver.Code(refusal) != uniqueViolation {
		return nil, c.fail(refusal)
	}
	if _, err := c.raw.ExecContext(c.ctx, `ROLLBACK TO rows`); err != nil {
		return nil, c.fail(err)
	}
	key := rows.columns[0]
	cond, arg := e.among(key, rows.ids)
	taken, err = c.identifiers(`SELECT `+key+` FROM `+rows.table+` WHERE `+cond, arg)
	if err == nil && len(taken) == 0 {
		err = meanwhile(refusal)
	}
	return taken, err
}

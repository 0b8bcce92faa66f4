package sqlstore

import (
	"slices"
	"strings"
	"sync"

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

// advanceNumbers moves the sequence behind the numbers that rows were written with.
func (e *postgresEngine) advanceNumbers(c *conn, table string) error {
	_, err := c.exec(`SELECT setval('` + table + `_number_seq', (SELECT MAX(number) FROM ` + table + `))`)
	return err
}

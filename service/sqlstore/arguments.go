package sqlstore

import (
	"strings"

	"fundesk/apiclient/apitype"
)

// Lists of identifiers and numbers as one argument, as each engine reads them: a statement is the same
// for any number of them.

func (e *sqliteEngine) among(column string, ids []apitype.UUID) (cond string, arg any) {
	return column + ` IN (SELECT unhex(value, '-') FROM json_each($1))`, `["` + strings.Join(texts(ids), `","`) + `"]`
}

func (e *sqliteEngine) amongNumbers(column string, numbers []int64) (cond string, arg any) {
	return column + ` IN (SELECT value FROM json_each($1))`, `[` + joined(numbers) + `]`
}

func (e *postgresEngine) among(column string, ids []apitype.UUID) (cond string, arg any) {
	return column + ` = ANY($1::uuid[])`, `{` + strings.Join(texts(ids), `,`) + `}`
}

func (e *postgresEngine) amongNumbers(column string, numbers []int64) (cond string, arg any) {
	return column + ` = ANY($1::bigint[])`, `{` + joined(numbers) + `}`
}

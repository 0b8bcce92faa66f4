package sqlstore

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// listQuery builds the query of one page. A filter is one line: where, if its rows lie together in
// an index in the order of the list, else check. So an index gives only what passes all of where,
// and holds what check looks at: however little passes, no row is read to be passed over. testdata/lists.sql
// shows the query of each kind of list, which TestQuestionsOfLists keeps true.
type listQuery struct {
	table    string // With its alias t.
	time     string // The column that the list is sorted by.
	conds    []string
	checks   []string // Further conditions, for which the engine chooses no index.
	branches []string // Disjoint conditions; a row must meet one. Empty if none is needed.
	args     []any
	bySort   string // Sort the rows that a filter by this column finds. Empty walks the list in order.
	records  string // The table of the rows, found by another one. Empty for the table itself.
	repeats  bool   // A branch may have a record more than once.
}

// arg binds a value and is its place.
func (q *listQuery) arg(value any) string {
	q.args = append(q.args, value)
	return "$" + strconv.Itoa(len(q.args))
}

// bind binds values, and is their places.
func bind[T any](q *listQuery, values []T, as func(T) any) []string {
	var places []string
	for _, value := range values {
		places = append(places, q.arg(as(value)))
	}
	return places
}

// isOne returns the condition, after a column, that it is in a list.
func isOne(places []string) string { return ` IN (` + strings.Join(places, `, `) + `)` }

// where adds a condition with one value. %s is the place of the value.
func (q *listQuery) where(cond string, value any) {
	q.conds = append(q.conds, fmt.Sprintf(cond, q.arg(value)))
}

// check adds a condition that must not choose an index. The engine assumes that conditions are independent, and would
// walk the wrong index.
func (q *listQuery) check(cond string) { q.checks = append(q.checks, `(`+cond+`) IS TRUE`) }

// maxBranches is the number of organizations that are looked up one by one and merged. With more, the list is walked in
// order and other rows are skipped.
const maxBranches = 16

// scope limits the list to organizations by one column. Each is a branch of its own, so
// that its index gives it in order.
func (q *listQuery) scope(scope service.Scope, column string) {
	placeholders, some := q.organizations(scope)
	if !some {
		return
	}
	if len(placeholders) > maxBranches {
		q.check(column + isOne(placeholders))
		return
	}
	for _, placeholder := range placeholders {
		q.branches = append(q.branches, column+` = `+placeholder)
	}
}

// checkBranches makes checks of the branches: another condition has the index.
func (q *listQuery) checkBranches() {
	if len(q.branches) > 0 {
		q.check(`(` + strings.Join(q.branches, `) OR (`) + `)`)
		q.branches = nil
	}
}

// organizations binds the organizations of a scope. some is false if there is nothing to limit: all are visible, or
// none.
func (q *listQuery) organizations(scope service.Scope) (placeholders []string, some bool) {
	if scope.All {
		return nil, false
	}
	placeholders = bind(q, scope.Organizations, identifier)
	if len(placeholders) == 0 {
		q.conds = append(q.conds, `1 = 0`)
	}
	return placeholders, len(placeholders) > 0
}

// visible returns a further condition of a joined row: one of some columns names an organization of the scope.
func (q *listQuery) visible(scope service.Scope, columns ...string) string {
	if scope.All {
		return ``
	}
	if len(scope.Organizations) == 0 {
		return ` AND 1 = 0`
	}
	among := isOne(bind(q, scope.Organizations, identifier))
	return ` AND (` + strings.Join(columns, among+` OR `) + among + `)`
}

func (q *listQuery) inRange(r service.Range) {
	for _, end := range []struct {
		bound    *service.Bound
		operator string
	}{{r.Above, ">"}, {r.Below, "<"}} {
		if end.bound == nil {
			continue
		}
		operator := end.operator
		if end.bound.Inclusive {
			operator += "="
		}
		at, id := q.arg(end.bound.At.UnixMilli()), q.arg(identifier(end.bound.UUID))
		q.conds = append(q.conds, fmt.Sprintf(`(t.%s, t.uuid) %s (%s, %s)`, q.time, operator, at, id))
	}
}

// condition returns the WHERE clause of one branch.
func (q *listQuery) condition(branch string) string {
	conds := slices.Concat(q.conds, q.checks)
	if branch != "" {
		conds = append([]string{branch}, conds...)
	}
	if len(conds) == 0 {
		return ""
	}
	return ` WHERE ` + strings.Join(conds, ` AND `)
}

// order returns the ORDER BY clause. A plus sign keeps the engine from walking the index.
func (q *listQuery) order(alias string, backward bool) string {
	direction, plus := ` DESC`, ``
	if backward {
		direction = ``
	}
	if q.bySort != "" {
		plus = `+`
	}
	return ` ORDER BY ` + plus + alias + `.` + q.time + direction + `, ` + alias + `.uuid` + direction
}

// asLimit follows a bound limit: SQLite plans a statement again for each value of a bare one.
const asLimit = ` + 0`

// page returns the query of a page's columns, with joins to other tables. Skipping, sorting and merging use the indexes
// only, and the rows of the page are read afterwards. They are read by their time, too, because that finds their
// partition.
func (q *listQuery) page(columns, joins string, r service.Range) string {
	q.inRange(r)
	limit := ` LIMIT ` + q.arg(r.Limit) + asLimit
	one := strings.Join(q.branches, ``)
	found := `SELECT t.number, t.` + q.time + ` FROM ` + q.table + ` t` + q.condition(one) + q.order("t", r.Backward) +
		limit
	if len(q.branches) > 1 || q.records != "" {
		found = q.merged(r.Backward, limit)
	} else if q.bySort == "" && len(q.checks) == 0 {
		return `SELECT ` + columns + ` FROM ` + q.table + ` t` + joins + q.condition(one) + q.order("t", r.Backward) +
			limit
	}
	q.bySort = ""
	return `SELECT ` + columns + ` FROM ` + q.rows(found) + joins + q.order("t", r.Backward)
}

// rows selects the rows with the numbers and times that a query finds, each once.
func (q *listQuery) rows(found string) string {
	table := cmp.Or(q.records, q.table)
	return fmt.Sprintf(`(%s) f JOIN %s t ON t.number = f.number AND t.%s = f.%s`, found, table, q.time, q.time)
}

// merged selects the numbers and times of the first rows of all branches together. A row found through another table
// may be in several branches.
func (q *listQuery) merged(backward bool, limit string) string {
	keys := make([]string, len(q.branches))
	distinct, union := ``, ` UNION ALL `
	if q.repeats {
		distinct = `DISTINCT `
	}
	if q.records != "" {
		union = ` UNION `
	}
	for i, branch := range q.branches {
		keys[i] = fmt.Sprintf(`SELECT number, uuid, %s FROM (SELECT %st.number, t.uuid, t.%s FROM %s t%s%s%s) b%d`,
			q.time, distinct, q.time, q.table, q.condition(branch), q.order("t", backward), limit, i)
	}
	return `SELECT k.number, k.uuid, k.` + q.time + ` FROM (` + strings.Join(keys, union) + `) k` +
		q.order("k", backward) + limit
}

// errFull ends the reading of a range of which nothing more is wanted.
var errFull = errors.New("the range is read as far as it is wanted")

// readPage reads the rows of a range until it has enough.
func readPage[T interface{ Size() int }](
	r *reader,
	text string,
	args []any,
	part service.Range,
	scan func(*sql.Rows) (T, error),
) ([]T, error) {
	bytes := 0
	var rows []T
	err := r.each(text, args, func(result *sql.Rows) error {
		row, err := scan(result)
		if err != nil {
			return err
		}
		rows = append(rows, row)
		if part.IsFull(len(rows)-1, bytes) {
			return errFull
		}
		bytes += row.Size()
		return nil
	})
	return rows, err
}

// few is the number of rows up to which they are sorted instead of walking the list. walked is the number of rows that
// a walk looks at before it sorts the matching rows after all.
var few, walked = 3000, 1000

// A timeFilter is a filter by a time other than the list's own.
type timeFilter struct {
	column string
	after  apitype.Time
	// Alternative conditions, each with an index that begins with the column. Empty if there is one index.
	parts []string
}

// filterByTime decides how such a list is read. If few rows pass the filter, its index finds them, and they are sorted.
// If many do, the list is walked, as long as that soon fills the page or ends. Otherwise, for example if the oldest
// records were changed last, the rows are sorted by the index alone, because a walk would skip all others one by one.
func (r *reader) filterByTime(q *listQuery, f timeFilter, part service.Range) error {
	after := f.after.UnixMilli()
	many, err := r.many(q.table, f)
	if err != nil {
		return err
	}
	if many {
		soon, err := r.walkSoonHas(q, f, part)
		if err != nil {
			return err
		}
		if soon {
			// The engine does not know that few rows pass an expression, so it walks.
			q.check(`t.` + f.column + ` + 0 > ` + q.arg(after))
			return nil
		}
	}
	for _, cond := range q.conds {
		if !slices.Contains(f.parts, cond) { // It has its index.
			q.check(cond)
		}
	}
	q.conds = nil
	q.checkBranches()
	q.bySort, q.branches = f.column, f.parts
	q.where(`t.`+f.column+` > %s`, after)
	return nil
}

// many reports whether more than a few rows pass the filter alone.
func (r *reader) many(table string, f timeFilter) (bool, error) {
	parts := f.parts
	if len(parts) == 0 {
		parts = []string{`1 = 1`}
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = `SELECT 1 FROM (SELECT 1 FROM ` + table + ` t WHERE ` + part + ` AND t.` + f.column + ` > $1
			ORDER BY t.` + f.column + ` LIMIT $2) p` + strconv.Itoa(i)
	}
	var last int
	err := r.row(`SELECT 1 FROM (`+strings.Join(texts, ` UNION ALL `)+`) m
		LIMIT 1 OFFSET $2 - 1`, f.after.UnixMilli(), few).
		scan(&last)
	if errors.Is(err, service.ErrNoRow) {
		return false, nil
	}
	return err == nil, err
}

// walkSoonHas looks at the first rows of a part of the list, in order, before any is passed over:
// whether there are no more, or enough of them pass.
func (r *reader) walkSoonHas(q *listQuery, f timeFilter, part service.Range) (bool, error) {
	walk := *q
	walk.conds, walk.args, walk.checks = slices.Clone(q.conds), slices.Clone(q.args), nil
	walk.inRange(part)
	looked := max(walked, 2*part.Limit)
	limit := ` LIMIT ` + walk.arg(looked) + asLimit
	passes := strings.Join(append(slices.Clone(q.checks), `t.`+f.column+` > `+walk.arg(f.after.UnixMilli())), ` AND `)
	rows := walk.table + ` t` + walk.condition(strings.Join(walk.branches, ``)) + walk.order("t", part.Backward) + limit
	keys := `SELECT t.uuid FROM ` + rows
	if len(walk.branches) > 1 {
		keys = walk.merged(part.Backward, limit)
		rows = walk.rows(keys)
	}
	text := `SELECT
		(SELECT COUNT(*) FROM (
			SELECT 1 FROM (SELECT CASE WHEN ` + passes + ` THEN 1 ELSE 0 END AS passes FROM ` + rows + `) w
			WHERE w.passes = 1 LIMIT ` + walk.arg(part.Limit) + `) m),
		(SELECT 1 FROM (` + keys + `) e LIMIT 1 OFFSET ` + walk.arg(looked-1) + `)`
	var pass int
	var more sql.NullInt64
	err := r.row(text, walk.args...).scan(&pass, &more)
	return pass == part.Limit || !more.Valid, err
}

// identifier binds an identifier: as its bytes, which both engines take.
func identifier(id apitype.UUID) any { return id[:] }

// A uuidDest reads an identifier column, and binds one. So do the others for theirs.
type uuidDest struct{ id *apitype.UUID }

// Scan reads the bytes, or the text that PostgreSQL sends; zero of a row that was joined and is not there.
func (d uuidDest) Scan(value any) error {
	var err error
	switch v := value.(type) {
	case nil:
		*d.id = apitype.UUID{}
	case []byte:
		if len(v) != len(d.id) {
			return fmt.Errorf("an identifier column holds %d bytes", len(v))
		}
		*d.id = apitype.UUID(v)
	case string:
		*d.id, err = apitype.ParseUUID(v)
	default:
		return fmt.Errorf("an identifier column holds a %T", value)
	}
	return err
}

func (d uuidDest) Value() (driver.Value, error) { return d.id[:], nil }

// A nullUUIDDest reads an identifier column that may be null.
type nullUUIDDest struct{ id **apitype.UUID }

func (d nullUUIDDest) Scan(value any) error {
	*d.id = nil
	if value == nil {
		return nil
	}
	*d.id = new(apitype.UUID)
	return uuidDest{*d.id}.Scan(value)
}

func (d nullUUIDDest) Value() (driver.Value, error) { return nullUUID(*d.id), nil }

// A uuidsDest reads identifiers that are packed in a column of bytes. Null has none.
type uuidsDest struct{ ids *[]apitype.UUID }

// Scan reads 16 bytes for each identifier.
func (d uuidsDest) Scan(value any) error {
	*d.ids = nil
	raw, ok := value.([]byte)
	if !ok && value != nil || len(raw)%len(apitype.UUID{}) != 0 {
		return fmt.Errorf("a column of identifiers holds a %T of %d bytes", value, len(raw))
	}
	for id := range slices.Chunk(raw, len(apitype.UUID{})) {
		*d.ids = append(*d.ids, apitype.UUID(id))
	}
	return nil
}

func (d uuidsDest) Value() (driver.Value, error) {
	if len(*d.ids) == 0 {
		return nil, nil //nolint:nilnil // It binds null.
	}
	raw := make([]byte, 0, len(*d.ids)*len(apitype.UUID{}))
	for _, id := range *d.ids {
		raw = append(raw, id[:]...)
	}
	return raw, nil
}

// A timeDest reads a column of milliseconds.
type timeDest struct{ t *apitype.Time }

// Scan reads milliseconds since 1970.
func (d timeDest) Scan(value any) error {
	ms, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time column holds a %T", value)
	}
	*d.t = apitype.TimeFromMilli(ms)
	return nil
}

func (d timeDest) Value() (driver.Value, error) { return d.t.UnixMilli(), nil }

// A nullTimeDest reads a column of milliseconds that may be null.
type nullTimeDest struct{ t **apitype.Time }

// Scan reads milliseconds since 1970, or null.
func (d nullTimeDest) Scan(value any) error {
	*d.t = nil
	if value == nil {
		return nil
	}
	*d.t = new(apitype.Time)
	return timeDest{*d.t}.Scan(value)
}

func (d nullTimeDest) Value() (driver.Value, error) { return nullTime(*d.t), nil }

// nullUUID and nullTime bind values that may be null.
func nullUUID(id *apitype.UUID) any {
	if id == nil {
		return nil
	}
	return identifier(*id)
}

func nullTime(t *apitype.Time) any {
	if t == nil {
		return nil
	}
	return t.UnixMilli()
}

// A milliDest reads a duration in milliseconds.
type milliDest struct{ d *time.Duration }

func (d milliDest) Scan(value any) error {
	ms, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a column of a duration holds a %T", value)
	}
	*d.d = time.Duration(ms) * time.Millisecond
	return nil
}

func (d milliDest) Value() (driver.Value, error) { return d.d.Milliseconds(), nil }

// A jsonDest reads a document into a value. Without a document the value does not change.
type jsonDest struct{ value any }

func (d jsonDest) Scan(value any) error {
	var doc []byte
	err := docDest{&doc}.Scan(value)
	if err == nil && doc != nil {
		err = json.Unmarshal(doc, d.value)
	}
	return err
}

func (d jsonDest) Value() (driver.Value, error) { return json.Marshal(d.value) }

// A bitDest reads a truth value: the engines agree on numbers.
type bitDest struct{ b *bool }

func (d bitDest) Scan(value any) error {
	n, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a column of truth values holds a %T", value)
	}
	*d.b = n != 0
	return nil
}

func (d bitDest) Value() (driver.Value, error) { return bit(*d.b), nil }

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// A docDest reads a document without another copy. The drivers give every value memory
// of its own, though database/sql does not promise it: TestDocumentsAreKept watches.
type docDest struct{ doc *[]byte }

func (d docDest) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*d.doc = nil
	case []byte:
		*d.doc = v
	default:
		return fmt.Errorf("a document column holds a %T", value)
	}
	return nil
}

func (d docDest) Value() (driver.Value, error) {
	if *d.doc == nil {
		return nil, nil //nolint:nilnil // It binds null.
	}
	return *d.doc, nil
}

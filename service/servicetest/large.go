package servicetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/embedded"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// What a large database is made of: the rows of a small sample, again and again with
// identifiers, times and references of their own. Each person gets more calls than in
// the sample, so that ten million fit on an ordinary disk.
const (
	largeTemplates = 200 // Persons of the sample.
	callsAPerson   = 10
	largeSpan      = 2 * 365 * day // From the first record to the last.
	largeCommit    = 50_000        // Rows of one COPY or transaction.
	day            = 24 * time.Hour
	// A person's calls lie within two days, and within some calls of all persons. Otherwise a page of a small database
	// would repeat few persons, and a page of a large one would have another person with each call.
	callsAmong = 3000
)

// FillLarge makes a database with about as many calls, and their persons, pledges and transactions. It bypasses the
// service: bare inserts without flushing on SQLite, COPY and then the indexes on PostgreSQL. It calls said with the
// progress.
func FillLarge(t testing.TB, database string, calls int, said func(string)) {
	t.Helper()
	if err := fillLarge(t.Context(), t.TempDir(), database, calls, said); err != nil {
		t.Fatal(err)
	}
}

func fillLarge(ctx context.Context, folder, database string, calls int, said func(string)) (err error) {
	template := "sqlite:" + filepath.Join(folder, "template.db")
	if err := fillTemplate(ctx, template); err != nil {
		return err
	}
	store, err := sqlstore.Open(ctx, sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}})
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		return err
	}
	m := &multiplier{
		random:  rand.New(rand.NewPCG(7, uint64(calls))),
		tables:  map[string]*largeTable{},
		numbers: map[string]int{},
	}
	if err := m.read(ctx, strings.TrimPrefix(template, "sqlite:")); err != nil {
		return err
	}
	m.to, err = openBulk(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.to.close(ctx)) }()
	for _, name := range []string{"organizations", "users", "focus_areas"} {
		if err := m.to.insert(ctx, name, m.tables[name].columns, m.tables[name].rows); err != nil {
			return err
		}
	}
	return m.multiply(ctx, calls, said)
}

func fillTemplate(ctx context.Context, database string) error {
	store, err := sqlstore.Open(ctx, sqlstore.Options{Database: database})
	if err != nil {
		return err
	}
	s, err := service.New(ctx, service.Options{Store: store, Now: func() time.Time { return Start }})
	if err == nil {
		err = Load(ctx, s, func(add func(service.LoadRecord) error) error {
			return embedded.Sample(embedded.SampleOptions{Persons: largeTemplates, Now: Start}, add)
		})
	}
	return errors.Join(err, store.Close())
}

// largeTable is a table of the template, then of the copy until it is written.
type largeTable struct {
	columns []string
	rows    [][]any
	next    [][]any // Of the copy.
	number  int64   // Of its last row.
}

// multiplier makes many rows of few.
type multiplier struct {
	random *rand.Rand
	tables map[string]*largeTable
	to     bulk
	// How many texts begin with a prefix.
	numbers map[string]int
}

// read takes the rows of the template into memory.
func (m *multiplier) read(ctx context.Context, file string) (err error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, name := range []string{
		"organizations", "users", "focus_areas", "persons", "pledges", "transactions",
		"calls",
	} {
		m.tables[name], err = readTable(ctx, db, name)
		if err != nil {
			return err
		}
	}
	return nil
}

func readTable(ctx context.Context, db *sql.DB, name string) (table *largeTable, err error) {
	rows, err := db.QueryContext(ctx, `SELECT * FROM `+name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	table = &largeTable{}
	table.columns, err = rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row, dest := make([]any, len(table.columns)), make([]any, len(table.columns))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		table.rows = append(table.rows, row)
	}
	return table, rows.Err()
}

// household are the rows of one person of the template.
type household struct {
	person                       []any
	pledges, transactions, calls [][]any
}

func (m *multiplier) households() []household {
	persons, pledges := m.tables["persons"], m.tables["pledges"]
	transactions, calls := m.tables["transactions"], m.tables["calls"]
	var all []household
	for _, person := range persons.rows {
		h := household{person: person}
		of := map[any]bool{}
		for _, row := range pledges.rows {
			if pledges.at(row, "person_number") == persons.at(person, "number") {
				h.pledges, of[pledges.at(row, "number")] = append(h.pledges, row), true
			}
		}
		for _, row := range transactions.rows {
			if of[transactions.at(row, "pledge_number")] {
				h.transactions = append(h.transactions, row)
			}
		}
		for _, row := range calls.rows {
			if calls.at(row, "person_number") == persons.at(person, "number") {
				h.calls = append(h.calls, row)
			}
		}
		if len(h.calls) > 0 {
			all = append(all, h)
		}
	}
	return all
}

// multiply writes copies of the households until there are enough calls, from the
// oldest to the newest.
func (m *multiplier) multiply(ctx context.Context, calls int, said func(string)) error {
	all := m.households()
	start := time.Now()
	spread := max(2*day, largeSpan/time.Duration(calls)*callsAmong)
	for done := 0; done < calls; done += callsAPerson {
		at := Start.Add(-largeSpan + time.Duration(float64(largeSpan)*float64(done)/float64(calls))).UnixMilli()
		m.household(all[m.random.IntN(len(all))], at, spread)
		if done/largeCommit != (done+callsAPerson)/largeCommit {
			if err := m.flush(ctx); err != nil {
				return err
			}
			if said != nil && done%1_000_000 < callsAPerson*2 {
				said(fmt.Sprintf("%d calls after %v", done, time.Since(start).Round(time.Second)))
			}
		}
	}
	return m.flush(ctx)
}

// household adds a copy of one household from a moment on, with calls within some time.
func (m *multiplier) household(h household, at int64, spread time.Duration) {
	names := renaming{
		identifiers: map[string]string{},
		numbers:     map[string]map[any]any{"person_number": {}, "pledge_number": {nil: nil}},
	}
	now := Start.UnixMilli() - 1
	later := func(from int64, within time.Duration) int64 {
		return min(from+m.random.Int64N(within.Milliseconds()+1), now)
	}
	m.add("persons", h.person, names, map[string]any{"created_at": at, "iban": m.numbered("NL00TEST")})
	for _, row := range h.pledges {
		created := later(at, day)
		change := map[string]any{"created_at": created, "updated_at": later(at, 20*day)}
		if m.tables["pledges"].at(row, "released_at") != nil {
			change["released_at"] = created + (14 * day).Milliseconds()
		}
		m.add("pledges", row, names, change)
	}
	for i, row := range h.transactions {
		if i < len(h.pledges) {
			m.add("transactions", row, names, map[string]any{"created_at": later(at, 30*day)})
		}
	}
	for i := range callsAPerson {
		row := h.calls[i%len(h.calls)]
		requested := later(at, spread)
		change := map[string]any{"requested_at": requested, "updated_at": later(requested, 20*day)}
		if m.tables["calls"].at(row, "external_reference") != nil {
			change["external_reference"] = m.numbered("D-")
		}
		m.add("calls", row, names, change)
	}
}

// numbered returns a text that is unique among rows. The texts of 0 to 9 are in every database.
func (m *multiplier) numbered(prefix string) string {
	n := m.numbers[prefix]
	m.numbers[prefix]++
	return fmt.Sprintf("%s%010d", prefix, n)
}

// at returns the value of a column.
func (t *largeTable) at(row []any, column string) any { return row[slices.Index(t.columns, column)] }

// renaming has the identifiers of a copy by the template's, and the numbers by which some columns name its rows.
type renaming struct {
	identifiers map[string]string
	numbers     map[string]map[any]any
}

// add makes one row of the copy.
func (m *multiplier) add(name string, row []any, names renaming, change map[string]any) {
	table := m.tables[name]
	id := apitype.NewUUID()
	names.identifiers[apitype.UUID(table.at(row, "uuid").([]byte)).String()] = id.String()
	made := make([]any, len(row))
	for i, column := range table.columns {
		switch column {
		case "number":
			table.number++
			made[i] = table.number
			if named := names.numbers[strings.TrimSuffix(name, "s")+"_number"]; named != nil {
				named[row[i]] = table.number
			}
		case "person_number", "pledge_number":
			made[i] = names.numbers[column][row[i]]
		case "uuid":
			made[i] = id[:]
		case "doc":
			made[i] = names.document(row[i].([]byte))
		default:
			made[i] = row[i]
		}
		if value, ok := change[column]; ok {
			made[i] = value
		}
	}
	table.next = append(table.next, made)
}

// document returns a document with the identifiers of the copy.
func (r renaming) document(doc []byte) []byte {
	for from, to := range r.identifiers {
		doc = bytes.ReplaceAll(doc, []byte(from), []byte(to))
	}
	return doc
}

func (m *multiplier) flush(ctx context.Context) error {
	for _, name := range []string{"persons", "pledges", "transactions", "calls"} {
		table := m.tables[name]
		if err := m.to.insert(ctx, name, table.columns, table.next); err != nil {
			return fmt.Errorf("fill %s: %w", name, err)
		}
		table.next = table.next[:0]
	}
	return nil
}

// bulk writes rows the way that an engine has for many.
type bulk interface {
	insert(ctx context.Context, table string, columns []string, rows [][]any) error
	close(ctx context.Context) error
}

func openBulk(ctx context.Context, database string) (bulk, error) {
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		db, err := sql.Open(
			"sqlite",
			"file:"+path+"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=cache_size(-3000000)",
		)
		if err != nil {
			return sqliteBulk{db}, err
		}
		db.SetMaxOpenConns(1)
		return sqliteBulk{db}, nil
	}
	db, err := pgx.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	p := &postgresBulk{db: db}
	return p, p.dropIndexes(ctx)
}

type sqliteBulk struct{ db *sql.DB }

func (s sqliteBulk) insert(ctx context.Context, table string, columns []string, rows [][]any) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	places := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	text := `INSERT INTO ` + table + ` (` + strings.Join(columns, `, `) + `) VALUES (` + places + `)`
	insert, err := tx.PrepareContext(ctx, text) //nolint:sqlclosecheck // The end of the transaction closes it.
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	for _, row := range rows {
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (s sqliteBulk) close(context.Context) error { return s.db.Close() }

type postgresBulk struct {
	db      *pgx.Conn
	indexes []string // What makes them again.
}

// dropIndexes takes away the indexes until the rows are there.
func (p *postgresBulk) dropIndexes(ctx context.Context) error {
	rows, err := p.db.Query(
		ctx,
		`SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
			AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
	)
	if err != nil {
		return err
	}
	var names []string
	var name, text string
	if _, err := pgx.ForEachRow(rows, []any{&name, &text}, func() error {
		names, p.indexes = append(names, name), append(p.indexes, text)
		return nil
	}); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := p.db.Exec(ctx, `DROP INDEX `+name); err != nil {
			return err
		}
	}
	return nil
}

func (p *postgresBulk) insert(ctx context.Context, table string, columns []string, rows [][]any) error {
	_, err := p.db.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
	return err
}

func (p *postgresBulk) close(ctx context.Context) error {
	texts := append([]string{`SET maintenance_work_mem = '1GB'`}, p.indexes...)
	for _, table := range []string{"persons", "pledges", "calls"} {
		texts = append(texts, `SELECT setval('`+table+`_number_seq', (SELECT MAX(number) FROM `+table+`))`)
	}
	for _, text := range append(texts, `VACUUM ANALYZE`, `CHECKPOINT`) {
		if _, err := p.db.Exec(ctx, text); err != nil {
			return err
		}
	}
	return p.db.Close(ctx)
}

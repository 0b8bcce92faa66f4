// Package localcopy keeps the records of one service and account in an SQLite file on this computer, and answers
// questions about them. It knows no command.
package localcopy

import (
	"fmt"
	"hash/crc32"
	"maps"
	"reflect"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// table is one table of the copy. The help and the SQL are made of it.
type table struct {
	name    string
	columns []column
	key     []string // The primary key.
	index   string   // A column that rows are found by. Empty if the key is enough.
}

// column is a column of a table.
type column struct {
	name, kind string
	isFilled   bool // An empty text is NULL.
}

// The kinds of columns.
const (
	text    = "TEXT"
	integer = "INTEGER"
	numeric = "NUMERIC"
)

// values are the fields of a record of type T: the columns, and a value for each.
type values[T any] struct {
	columns []column
	of      []func(T) any
}

// add appends a column.
func (v *values[T]) add(name, kind string, of func(T) any) {
	v.columns = append(v.columns, column{name: name, kind: kind})
	v.of = append(v.of, func(record T) any { return stored(of(record)) })
}

// addFilled appends a column of texts. An empty one is NULL.
func (v *values[T]) addFilled(name string, of func(T) string) {
	v.columns = append(v.columns, column{name: name, kind: text, isFilled: true})
	v.of = append(v.of, func(record T) any { return filled(of(record)) })
}

// row returns the values of a record, in memory of a batch.
func (v *values[T]) row(b *batch, record T) []cell {
	row := b.room(len(v.of))
	for i, value := range v.of {
		row[i] = b.cell(value(record))
	}
	return row
}

// fieldsOf returns the columns of some fields, with an underscore for each dot. It leaves out what begins with one of
// the prefixes.
func fieldsOf[T any](fields []apitype.Field[T], without ...string) *values[T] {
	v := &values[T]{}
	for _, field := range fields {
		isOther := slices.ContainsFunc(
			without,
			func(prefix string) bool { return strings.HasPrefix(field.Name, prefix) },
		)
		if field.Name == "" || field.Value == nil || isOther {
			continue
		}
		v.addField(strings.ReplaceAll(field.Name, ".", "_"), field)
	}
	return v
}

// addField appends the column of a field. An amount has a second one, in cents. Both are numbers, because texts are
// compared by their first digits.
func (v *values[T]) addField(name string, field apitype.Field[T]) {
	switch field.Kind {
	case apitype.NumberField:
		v.add(name, numeric, field.Value)
	case apitype.YesNoField:
		v.add(name, integer, field.Value)
	case apitype.AmountField:
		v.add(name, numeric, field.Value)
		v.add(name+"_cents", integer, func(record T) any { return cents(field.Value(record)) })
	default:
		v.add(name, text, field.Value)
	}
}

// cents returns an amount in cents, or nil if it is not a whole number of them.
func cents(value any) any {
	amount, isAmount := value.(apitype.Amount)
	n, isWhole := amount.Cents()
	if !isAmount || !isWhole {
		return nil
	}
	return n
}

// stored returns a value as SQLite keeps it: a text, a number, or nil.
func stored(value any) any {
	switch v := value.(type) {
	case nil, string:
		return v
	case *string:
		if v == nil {
			return nil
		}
		return *v
	case apitype.UUID:
		return storedUUID(v)
	case *apitype.UUID:
		if v == nil {
			return nil
		}
		return storedUUID(*v)
	case apitype.Time:
		return storedTime(v)
	case *apitype.Time:
		if v == nil {
			return nil
		}
		return storedTime(*v)
	case apitype.Amount:
		return v.Fixed()
	case apitype.Number:
		if n, isWhole := v.Int(); isWhole {
			return n
		}
		return v.Float64()
	default:
		return storedKind(value)
	}
}

func storedUUID(id apitype.UUID) any {
	if id.IsZero() {
		return nil
	}
	return id.String()
}

func storedTime(at apitype.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.String()
}

// storedKind returns a value of a type that is less frequent.
func storedKind(value any) any {
	of := reflect.ValueOf(value)
	if of.Kind() == reflect.Pointer {
		if of.IsNil() {
			return nil
		}
		return stored(of.Elem().Interface())
	}
	if text, ok := value.(fmt.Stringer); ok {
		return text.String()
	}
	switch of.Kind() {
	case reflect.String:
		return of.String()
	case reflect.Bool:
		if of.Bool() {
			return int64(1)
		}
		return int64(0)
	default:
		return of.Int()
	}
}

// attempt is one attempt of a call.
type attempt struct {
	call   apitype.UUID
	number int
	apitype.CallAttempt
}

// result is the result of a call, with the user of its completion.
type result struct {
	call apitype.UUID
	user *apitype.UUID
	apitype.CallResult
}

// payment is a transaction of a pledge.
type payment struct {
	pledge apitype.UUID
	apitype.Transaction
}

// consent is a consent of a person.
type consent struct {
	person apitype.UUID
	number int
	apitype.Consent
}

// check is a check of a call.
type check struct {
	call apitype.UUID
	user *apitype.UUID
	apitype.Check
}

// fields has the columns of all tables.
type fields struct {
	persons      *values[apitype.Person]
	calls        *values[apitype.Call]
	attempts     values[attempt]
	results      values[result]
	pledges      *values[apitype.Pledge]
	transactions values[payment]
	consents     values[consent]
	checks       values[check]
	marks        values[apitype.ProcessedEntry]
}

func newFields() *fields {
	f := &fields{
		persons: fieldsOf(apitype.PersonFields(), "qualityResult.", "socialSecurityNumber"),
		calls:   fieldsOf(apitype.CallFields(), "result.", "person.", "pledgeCase."),
		pledges: fieldsOf(apitype.PledgeFields(), "person."),
	}
	f.persons.add("qualityResult_percentage", numeric, func(p apitype.Person) any {
		if q := p.QualityResult.Pointer(); q != nil {
			return q.Percentage
		}
		return nil
	})
	f.pledges.add("personUuid", text, func(p apitype.Pledge) any { return p.Person.Value().UUID })
	f.pledges.addFilled("owningOrganization_name", func(p apitype.Pledge) string {
		return p.OwningOrganization.Value().Name
	})
	f.addAttempts()
	f.addResults()
	f.addTransactions()
	f.addDetails()
	return f
}

// filled returns a text, or nil if it is empty.
func filled(value string) any {
	if value == "" {
		return nil
	}
	return value
}

func (f *fields) addAttempts() {
	f.attempts.add("callUuid", text, func(a attempt) any { return a.call })
	f.attempts.add("number", integer, func(a attempt) any { return a.number })
	f.attempts.add("attemptAt", text, func(a attempt) any { return a.AttemptAt })
	f.attempts.add("createdAt", text, func(a attempt) any { return a.CreatedAt })
	f.attempts.add("userUuid", text, func(a attempt) any { return a.UserUUID })
}

func (f *fields) addResults() {
	f.results.add("callUuid", text, func(r result) any { return r.call })
	f.results.add("resultCode", text, func(r result) any { return r.ResultCode })
	f.results.add("completedAt", text, func(r result) any { return r.CompletedAt })
	f.results.add("notes", text, func(r result) any { return r.Notes })
	f.results.add("donorRetentionRating", numeric, func(r result) any { return r.DonorRetentionRating })
	f.results.add("userUuid", text, func(r result) any { return r.user })
}

func (f *fields) addTransactions() {
	origin := func(p payment) (source apitype.ExternalSource) {
		if p.Origin != nil {
			source = *p.Origin
		}
		return source
	}
	f.transactions.add("uuid", text, func(p payment) any { return p.UUID })
	f.transactions.add("pledgeUuid", text, func(p payment) any { return p.pledge })
	f.transactions.add("personUuid", text, func(p payment) any { return p.PersonUUID })
	f.transactions.add("status", text, func(p payment) any { return p.Status })
	f.transactions.add("amount", numeric, func(p payment) any { return p.Amount })
	f.transactions.add("amount_cents", integer, func(p payment) any { return cents(p.Amount) })
	f.transactions.add("name", text, func(p payment) any { return p.Name })
	f.transactions.add("iban", text, func(p payment) any { return p.IBAN })
	f.transactions.add("description", text, func(p payment) any { return p.Description })
	f.transactions.add("provider", text, func(p payment) any { return p.Provider })
	f.transactions.add("method", text, func(p payment) any { return p.Method })
	f.transactions.add("referenceId", text, func(p payment) any { return p.ReferenceID })
	f.transactions.add("transactionId", text, func(p payment) any { return p.TransactionID })
	f.transactions.addFilled("origin_name", func(p payment) string { return origin(p).Name })
	f.transactions.addFilled("origin_identifier", func(p payment) string { return origin(p).Identifier })
	f.transactions.add("createdAt", text, func(p payment) any { return p.CreatedAt })
	f.transactions.add("updatedAt", text, func(p payment) any { return p.UpdatedAt })
}

// addDetails adds the columns of consents, checks and marks.
func (f *fields) addDetails() {
	f.consents.add("personUuid", text, func(c consent) any { return c.person })
	f.consents.add("number", integer, func(c consent) any { return c.number })
	f.consents.add("channel", text, func(c consent) any { return c.Channel })
	f.consents.add("basis", text, func(c consent) any { return c.Basis })
	f.consents.add("source", text, func(c consent) any { return c.Source })
	f.consents.add("wording", text, func(c consent) any { return c.Wording })
	f.consents.add("at", text, func(c consent) any { return c.At })
	f.consents.add("userUuid", text, func(c consent) any { return c.UserUUID })
	f.checks.add("callUuid", text, func(c check) any { return c.call })
	f.checks.add("name", text, func(c check) any { return c.Name })
	f.checks.add("at", text, func(c check) any { return c.At })
	f.checks.add("userUuid", text, func(c check) any { return c.user })
	f.marks.add("entityName", text, func(e apitype.ProcessedEntry) any { return e.EntityName })
	f.marks.add("entityUuid", text, func(e apitype.ProcessedEntry) any { return e.EntityUUID })
	f.marks.add("processedAt", text, func(e apitype.ProcessedEntry) any { return e.ProcessedAt })
	f.marks.add("externalSourceName", text, func(e apitype.ProcessedEntry) any { return e.ExternalSourceName })
	f.marks.add("consumerIdentifier", text, func(e apitype.ProcessedEntry) any { return e.ConsumerIdentifier })
}

// tables returns all tables, in the order of the help.
func (f *fields) tables() []table {
	return []table{
		{name: "persons", columns: f.persons.columns, key: []string{"uuid"}},
		{
			name:    "calls",
			columns: f.calls.columns,
			key:     []string{"uuid"},
			index:   "personUuid",
		},
		{name: "attempts", columns: f.attempts.columns, key: []string{"callUuid", "number"}},
		{name: "results", columns: f.results.columns, key: []string{"callUuid"}},
		{
			name:    "pledges",
			columns: f.pledges.columns,
			key:     []string{"uuid"},
			index:   "personUuid",
		},
		{
			name:    "transactions",
			columns: f.transactions.columns,
			key:     []string{"uuid"},
			index:   "pledgeUuid",
		},
		{name: "consents", columns: f.consents.columns, key: []string{"personUuid", "number"}},
		{name: "checks", columns: f.checks.columns, key: []string{"callUuid", "name"}},
		{name: "marks", columns: f.marks.columns, key: []string{"entityName", "entityUuid", "externalSourceName"}},
	}
}

// sql returns the statement that creates a table.
func (t table) sql() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (", t.name)
	for i, c := range t.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.name + " " + c.kind)
	}
	b.WriteString(")")
	return b.String()
}

// indexes returns the indexes of a table by their names, as statements that create them. A first reading is twice as
// fast without them.
func (t table) indexes() map[string]string {
	create := "INDEX IF NOT EXISTS %s ON " + t.name + " (%s)"
	all := map[string]string{
		t.name + "_key": fmt.Sprintf("CREATE UNIQUE "+create, t.name+"_key", strings.Join(t.key, ", ")),
	}
	if t.index != "" {
		name := t.name + "_" + t.index
		all[name] = fmt.Sprintf("CREATE "+create, name, t.index)
	}
	return all
}

// insert returns the statement that stores a row or replaces an earlier one.
func (t table) insert() string {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.columns)), ", ")
	return "INSERT OR REPLACE INTO " + t.name + " VALUES (" + marks + ")"
}

// internal are the tables that sync keeps for itself: positions of feeds, records with unread details, and whether a
// sync came to its end.
const internal = `CREATE TABLE IF NOT EXISTS _positions (feed TEXT PRIMARY KEY, position TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS _due (detail TEXT, uuid TEXT, PRIMARY KEY (detail, uuid)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS _synced (at TEXT);
`

// schema returns the statements that create all tables.
func (f *fields) schema() string {
	var b strings.Builder
	for _, t := range f.tables() {
		b.WriteString(t.sql() + ";\n")
		for _, name := range slices.Sorted(maps.Keys(t.indexes())) {
			b.WriteString(t.indexes()[name] + ";\n")
		}
	}
	return b.String() + internal
}

// version returns a number that differs if the tables do.
func version(schema string) int32 { return int32(crc32.ChecksumIEEE([]byte(schema)) >> 1) }

// helpWidth is the width of the help of the tables, in columns.
const helpWidth = 78

// Help returns the tables with their columns, for people.
func Help() string {
	var b strings.Builder
	for _, t := range newFields().tables() {
		line := "  " + t.name + "  "
		for i, c := range t.columns {
			word := c.name
			if c.kind == integer {
				word += "*"
			}
			if i < len(t.columns)-1 {
				word += ","
			}
			if len(line)+len(word) > helpWidth {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = "      "
			}
			line += word + " "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

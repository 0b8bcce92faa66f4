package sqlstore

import (
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// A person has a row in search_terms for each term, and one in search_persons with all of them. The transaction of a
// change keeps both, an erasure removes them, and a load makes them: a dump has none. Both engines ask the same, which
// FTS5 and pg_trgm would not. The part of a search with the fewest rows leads, and the others are looked at in each
// person. The rows of few terms are merged in the order of the list. Of many terms, few rows are sorted. Of many rows,
// the list is walked if its first persons fill the page.

// mostTerms is how many terms of the database a search merges. With more it sorts what it finds, or walks the list.
const mostTerms = 8

// A searchPart is a part of a search with what the database has of it.
type searchPart struct {
	wanted []service.Term
	terms  []string // All that begin as wanted. Nil if they are more than mostTerms.
	rows   int      // At most few.
}

// searchQuery filters persons by a search. The part that fewest persons match leads; the others are checks.
func (r *reader) searchQuery(f service.PersonFilter, part service.Range) (*listQuery, error) {
	var parts []searchPart
	for _, wanted := range f.Search {
		found, err := r.searchPart(wanted, len(f.Search) == 1)
		if err != nil {
			return nil, err
		}
		if found.rows == 0 {
			return &listQuery{table: "persons", time: "created_at", conds: []string{`1 = 0`}}, nil
		}
		parts = append(parts, found)
	}
	lead := slices.MinFunc(parts, searchPart.compare)
	if lead.terms == nil && lead.rows >= few {
		soon, err := r.walkFinds(f, part)
		if err != nil {
			return nil, err
		}
		if soon {
			q := unsearchedQuery(f)
			q.checkTerms(f.Search)
			return q, nil
		}
	}
	q := &listQuery{table: "search_terms", time: "created_at", records: "persons"}
	q.lead(lead)
	if places, some := q.organizations(f.Scope); some {
		q.check(`t.owner` + isOne(places))
	}
	if f.CreatedAfter != nil {
		q.where(`t.created_at > %s`, f.CreatedAfter.UnixMilli())
	}
	if f.IBAN != "" {
		q.check(`(SELECT p.iban = ` + q.arg(f.IBAN) + ` FROM persons p WHERE p.number = t.number)`)
	}
	if f.UpdatedAfter != nil {
		q.check(`(SELECT p.updated_at > ` + q.arg(f.UpdatedAfter.UnixMilli()) + ` FROM persons p WHERE p.number = t.number)`)
	}
	if len(f.Search) > 1 {
		q.checkTerms(f.Search)
	}
	return q, nil
}

// unsearchedQuery filters persons by everything but the search.
func unsearchedQuery(f service.PersonFilter) *listQuery {
	q := &listQuery{table: "persons", time: "created_at"}
	q.persons(f)
	if f.UpdatedAfter != nil {
		q.check(`t.updated_at > ` + q.arg(f.UpdatedAfter.UnixMilli()))
	}
	return q
}

// compare puts the part in front by which a search is rather led.
func (p searchPart) compare(other searchPart) int {
	if p.rows != other.rows {
		return p.rows - other.rows
	}
	if (p.terms == nil) != (other.terms == nil) {
		return len(other.terms) - len(p.terms)
	}
	return len(other.wanted[0].Begin) - len(p.wanted[0].Begin)
}

// afterTerms follows in the order of terms whatever begins as a term does.
const afterTerms = "\U0010FFFF"

// The terms between two, each found by the one before it.
const termsBetween = `WITH RECURSIVE found (term) AS (
		SELECT MIN(term) FROM search_terms WHERE term >= $1 AND term < $2
		UNION ALL
		SELECT (SELECT MIN(t.term) FROM search_terms t WHERE t.term > found.term AND t.term < $2) FROM found WHERE found.term IS NOT NULL
	)
	SELECT term FROM found WHERE term IS NOT NULL LIMIT $3`

// searchPart looks up what the database has of a part. Rows are counted if they decide how to search.
func (r *reader) searchPart(wanted []service.Term, isAlone bool) (searchPart, error) {
	p := searchPart{wanted: wanted}
	isMany := false
	for _, term := range wanted {
		found, err := all(r.conn, termsBetween, []any{term.Begin, term.Begin + afterTerms, mostTerms + 1}, textDest)
		if err != nil {
			return p, err
		}
		isMany = isMany || len(found) > mostTerms
		found = slices.DeleteFunc(found, func(text string) bool { return !strings.HasSuffix(text, term.End) })
		p.terms = append(p.terms, found...)
	}
	isMany = isMany || len(p.terms) > mostTerms
	if !isMany && (isAlone || len(p.terms) == 0) {
		p.rows = len(p.terms)
		return p, nil
	}
	if isMany {
		p.terms = nil
	}
	for _, term := range wanted {
		var rows int
		err := r.row(`SELECT COUNT(*) FROM (SELECT 1 FROM search_terms WHERE term >= $1 AND term < $2 LIMIT $3) c`,
			term.Begin, term.Begin+afterTerms, few).scan(&rows)
		if err != nil {
			return p, err
		}
		p.rows = min(p.rows+rows, few)
	}
	return p, nil
}

// lead makes the rows of a part those of the list: those of few terms are merged in the order of the list, and those
// between terms are sorted.
func (q *listQuery) lead(p searchPart) {
	if p.terms == nil {
		q.repeats = true
		for _, term := range p.wanted {
			q.branches = append(q.branches, `t.term >= `+q.arg(term.Begin)+` AND t.term < `+q.arg(term.Begin+afterTerms))
		}
		return
	}
	for _, term := range p.terms {
		q.branches = append(q.branches, `t.term = `+q.arg(term))
	}
	for range 1<<bits.Len(uint(len(p.terms)-1)) - len(p.terms) { // There are few statements of different sizes.
		q.branches = append(q.branches, `t.term = `+q.arg(``))
	}
}

var likeText = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// checkTerms lets a person pass who has a term of each part.
func (q *listQuery) checkTerms(search service.Search) {
	var parts []string
	for _, wanted := range search {
		var alternatives []string
		for _, term := range wanted {
			pattern := `% ` + likeText.Replace(term.Begin) + `%`
			alternatives = append(alternatives, `s.terms LIKE `+q.arg(pattern)+` ESCAPE '\'`)
		}
		parts = append(parts, `(`+strings.Join(alternatives, ` OR `)+`)`)
	}
	q.check(`(SELECT ` + strings.Join(parts, ` AND `) + ` FROM search_persons s WHERE s.person_number = t.number)`)
}

// walkFinds reports whether the first persons of a part of the list hold the page of a search. To look at one is
// cheaper than where a list is filtered by a time: its row is not read.
func (r *reader) walkFinds(f service.PersonFilter, part service.Range) (bool, error) {
	q := unsearchedQuery(f)
	q.inRange(part)
	limit := ` LIMIT ` + q.arg(5*walked) + asLimit
	rows := `SELECT t.number FROM persons t` + q.condition(strings.Join(q.branches, ``)) + q.order("t", part.Backward) + limit
	if len(q.branches) > 1 {
		rows = q.merged(part.Backward, limit)
	}
	passing := &listQuery{args: q.args}
	passing.checkTerms(f.Search)
	text := `SELECT COUNT(*) FROM (SELECT 1 FROM (` + rows + `) t` + passing.condition("") + ` LIMIT ` + passing.arg(part.Limit) + asLimit + `) c`
	var found int
	err := r.row(text, passing.args...).scan(&found)
	return found == part.Limit, err
}

// eachTerm splits the text of terms of a row s of search_persons: as x.value.
func (*sqliteEngine) eachTerm() string {
	return `json_each('["' || REPLACE(LTRIM(s.terms), ' ', '","') || '"]') x`
}

func (*postgresEngine) eachTerm() string {
	return `LATERAL unnest(string_to_array(LTRIM(s.terms), ' ')) AS x (value)`
}

// joinTerms returns terms as search_persons holds them.
func joinTerms(terms []string) string {
	if len(terms) == 0 {
		return ""
	}
	return " " + strings.Join(terms, " ")
}

var searchColumns = []string{"person_number", "created_at", "terms"}

// searched is a person that is to be found.
type searched struct {
	person    apitype.UUID
	createdAt apitype.Time
	terms     []string
}

func searchedRow(p service.PersonRow) searched { return searched{p.UUID, p.CreatedAt, p.Terms} }

// insertSearchRows adds rows of search_persons. onConflict says what becomes of those that are there.
func (c *conn) insertSearchRows(persons []searched, onConflict string) error {
	return inGroups(persons, func(group []searched) error {
		var args []any
		for _, p := range group {
			args = append(args, identifier(p.person), p.createdAt.UnixMilli(), joinTerms(p.terms))
		}
		_, err := c.exec(insertRows("search_persons", searchColumns, len(group), true)+onConflict, args...)
		return err
	})
}

// insertSearched lets new persons be found.
func (c *conn) insertSearched(persons []searched) error {
	if err := c.insertSearchRows(persons, ` ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	ids := make([]apitype.UUID, len(persons))
	for i, p := range persons {
		ids[i] = p.person
	}
	return c.insertTerms(ids)
}

// insertTerms adds the terms of persons that are not there yet.
func (c *conn) insertTerms(persons []apitype.UUID) error {
	if len(persons) == 0 {
		return nil
	}
	cond, arg := c.engine.among("p.uuid", persons)
	_, err := c.exec(`INSERT INTO search_terms (term, created_at, uuid, owner, number)
		SELECT x.value, p.created_at, p.uuid, p.owner, p.number
		FROM persons p JOIN search_persons s ON s.person_number = p.number CROSS JOIN `+c.engine.eachTerm()+`
		WHERE x.value <> '' AND `+cond+` ON CONFLICT DO NOTHING`, arg)
	return err
}

// searchedPerson reads by what a person is found.
func (c *conn) searchedPerson(id apitype.UUID) (searched, error) {
	p := searched{person: id}
	var text string
	err := c.row(`SELECT created_at, terms FROM search_persons WHERE person_number = (SELECT number FROM persons WHERE uuid = $1)`, identifier(id)).
		scan(timeDest{&p.createdAt}, &text)
	p.terms = strings.Fields(text)
	return p, err
}

// deleteTerms lets a person not be found by some terms any more.
func (c *conn) deleteTerms(p searched, terms []string) error {
	if len(terms) == 0 {
		return nil
	}
	cond, arg := c.engine.amongTexts("term", "$1", terms)
	_, err := c.exec(`DELETE FROM search_terms WHERE `+cond+` AND created_at = $2 AND uuid = $3`, arg, p.createdAt.UnixMilli(), identifier(p.person))
	return err
}

// updateSearched lets a person be found by what it is now.
func (c *conn) updateSearched(p service.PersonRow) error {
	before, err := c.searchedPerson(p.UUID)
	if errors.Is(err, service.ErrNoRow) {
		return c.insertSearched([]searched{searchedRow(p)})
	}
	if err != nil {
		return err
	}
	terms := slices.Clone(p.Terms)
	for _, term := range before.terms {
		if service.IsPayerTerm(term) {
			terms = append(terms, term)
		}
	}
	isMoved := before.createdAt.UnixMilli() != p.CreatedAt.UnixMilli()
	if !isMoved && slices.Equal(terms, before.terms) {
		return nil
	}
	gone := slices.DeleteFunc(slices.Clone(before.terms), func(term string) bool { return !isMoved && slices.Contains(terms, term) })
	if err := c.deleteTerms(before, gone); err != nil {
		return err
	}
	_, err = c.exec(`UPDATE search_persons SET created_at = $2, terms = $3 WHERE person_number = (SELECT number FROM persons WHERE uuid = $1)`,
		identifier(p.UUID), p.CreatedAt.UnixMilli(), joinTerms(terms))
	if err != nil {
		return err
	}
	return c.insertTerms([]apitype.UUID{p.UUID})
}

// eraseSearched lets a person not be found any more.
func (c *conn) eraseSearched(id apitype.UUID) error {
	p, err := c.searchedPerson(id)
	if errors.Is(err, service.ErrNoRow) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.deleteTerms(p, p.terms); err != nil {
		return err
	}
	_, err = c.exec(`DELETE FROM search_persons WHERE person_number = (SELECT number FROM persons WHERE uuid = $1)`, identifier(id))
	return err
}

// insertLoaded lets the persons of new rows be found.
func (c *conn) insertLoaded(rows service.Rows) error {
	var persons []searched
	for _, p := range rows.Persons {
		persons = append(persons, searchedRow(p))
	}
	if err := c.insertSearched(persons); err != nil {
		return err
	}
	var pledges []apitype.UUID
	for _, t := range rows.Transactions {
		pledges = append(pledges, t.Pledge)
	}
	slices.SortFunc(pledges, apitype.UUID.Compare)
	pledges = slices.Compact(pledges)
	if len(pledges) == 0 {
		return nil
	}
	return c.addPayers(c.engine.among("l.uuid", pledges))
}

// payersOf reads the payments of some pledges, with the persons who are found by them.
const payersOf = `SELECT p.uuid, p.created_at, s.terms, t.doc FROM pledges l
	JOIN persons p ON p.number = l.person_number AND p.erased_at IS NULL
	JOIN search_persons s ON s.person_number = l.person_number
	JOIN transactions t ON t.pledge_number = l.number
	WHERE `

// addPayers lets the persons of pledges be found by the IBANs of their payments.
func (c *conn) addPayers(pledges string, arg any) error {
	payers := map[apitype.UUID]searched{}
	err := c.each(payersOf+pledges, []any{arg}, func(rows *sql.Rows) error {
		var p searched
		var known string
		var doc []byte
		if err := rows.Scan(uuidDest{&p.person}, timeDest{&p.createdAt}, &known, docDest{&doc}); err != nil {
			return err
		}
		term, err := service.PayerTerm(doc)
		p.terms = payers[p.person].terms
		isKnown := slices.Contains(p.terms, term) || slices.Contains(strings.Fields(known), term)
		if term != "" && !isKnown {
			p.terms = append(p.terms, term)
			payers[p.person] = p
		}
		return err
	})
	if err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(payers), apitype.UUID.Compare)
	added := make([]searched, len(ids))
	for i, id := range ids {
		added[i] = payers[id]
	}
	if err := c.insertSearchRows(added, ` ON CONFLICT (person_number) DO UPDATE SET terms = search_persons.terms || excluded.terms`); err != nil {
		return err
	}
	return c.insertTerms(ids)
}

// searchDumped lets the persons of rows of a dump be found.
func (c *conn) searchDumped(table string, rows []map[string]json.RawMessage) error {
	switch table {
	case "persons":
		return c.searchDumpedPersons(rows)
	case "transactions":
		pledges := make([]int64, len(rows))
		for i, row := range rows {
			if err := json.Unmarshal(row["pledge_number"], &pledges[i]); err != nil {
				return err
			}
		}
		return c.addPayers(c.engine.amongNumbers("l.number", pledges))
	default:
		return nil
	}
}

func (c *conn) searchDumpedPersons(rows []map[string]json.RawMessage) error {
	var persons []searched
	for _, row := range rows {
		if string(row["erased_at"]) != "null" {
			continue
		}
		var p searched
		var createdAt int64
		err := errors.Join(json.Unmarshal(row["uuid"], &p.person), json.Unmarshal(row["created_at"], &createdAt))
		if err != nil {
			return err
		}
		p.createdAt = apitype.TimeFromMilli(createdAt)
		p.terms, err = service.DecodedTerms(row["doc"])
		if err != nil {
			return err
		}
		persons = append(persons, p)
	}
	return c.insertSearched(persons)
}

package sqlstore

import (
	"database/sql"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"fundesk/service"
)

// A person has a row in search_terms for each term, and one in search_persons with all of them. The transaction of a
// change keeps both, an erasure removes them, and a load makes them: a dump has none. Both engines ask the same, which
// FTS5 and pg_trgm would not. The part of a search with the fewest rows leads. The others are checked in each person:
// first by the letters of the row, then by all terms. The rows of few terms are merged in the order of the list. Of
// many terms, few rows are sorted. Of many rows, the list is walked if its first persons fill the page.

// mostTerms limits the terms of the database that a search merges. With more it sorts what it finds, or walks the list.
const mostTerms = 8

// How many persons a search walks at first, and then if these hold its share of the page.
const (
	firstWalk  = 2  // Times walked.
	secondWalk = 10 // Times the first walk.
)

// countedOf is the share of few up to which the rows of a part are counted.
const countedOf = 6

// A searchPart is a part of a search with what the database has of it.
type searchPart struct {
	wanted []string // The beginnings that some term of the database has.
	terms  []string // All that begin as wanted. Nil if they are more than mostTerms.
	rows   int      // At most few/countedOf.
}

// A beginning is one of those that a part wants.
type beginning struct {
	part *searchPart
	text string
}

// searchQuery filters persons by a search. The part that fewest persons match leads; the others are checks.
func (r *reader) searchQuery(f service.PersonFilter, part service.Range) (*listQuery, error) {
	if f.IBAN != "" {
		f.Search = append(slices.Clone(f.Search), []string{service.IBANTerm(f.IBAN)})
	}
	parts, err := r.searchParts(f.Search)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(parts, searchPart.isNone) {
		return &listQuery{table: "persons", time: "created_at", conds: []string{noNumber}}, nil
	}
	lead := slices.MinFunc(parts, searchPart.compare)
	f.Search = make(service.Search, len(parts))
	var checked service.Search // By terms. The rows of the lead have one of its terms.
	for i, p := range parts {
		f.Search[i] = p.wanted
		if !slices.Equal(p.wanted, lead.wanted) && !isOfLetters(p.wanted) {
			checked = append(checked, p.wanted)
		}
	}
	if lead.terms == nil && lead.rows >= few/countedOf {
		numbers, err := r.walk(f, part)
		if err != nil {
			return nil, err
		}
		if len(numbers) == part.Limit {
			cond, arg := r.engine.amongNumbers("t.number", numbers)
			return &listQuery{
				table:  "persons",
				time:   "created_at",
				bySort: "number",
				conds:  []string{notErased, cond},
				args:   []any{arg},
			}, nil
		}
	}
	q := &listQuery{table: "search_terms", time: "created_at", records: "persons"}
	q.lead(lead)
	if f.CreatedAfter != nil {
		q.where(`t.created_at > %s`, f.CreatedAfter.UnixMilli())
	}
	q.checkLetters(f.Search)
	if places, some := q.organizations(f.Scope); some {
		q.check(`t.owner` + isOne(places))
	}
	if f.IBAN != "" {
		q.check(`(SELECT p.iban = ` + q.arg(f.IBAN) + ` FROM persons p WHERE p.number = t.number)`)
	}
	if f.UpdatedAfter != nil {
		q.check(
			`(SELECT p.updated_at > ` + q.arg(f.UpdatedAfter.UnixMilli()) +
				` FROM persons p WHERE p.number = t.number)`,
		)
	}
	q.checkTerms(checked)
	q.checkPayers(r.engine, f.Scope, f.Search)
	return q, nil
}

// noNumber is a condition that no row fulfills, by its key.
const noNumber = `t.number = 0`

// isNone reports whether no person matches the part.
func (p searchPart) isNone() bool { return p.rows == 0 }

// compare puts the part first that should lead the search.
func (p searchPart) compare(other searchPart) int {
	if p.rows != other.rows {
		return p.rows - other.rows
	}
	if (p.terms == nil) != (other.terms == nil) {
		return len(other.terms) - len(p.terms)
	}
	return len(other.wanted[0]) - len(p.wanted[0])
}

// afterTerms follows in the order of terms whatever begins as a term does.
const afterTerms = "\U0010FFFF"

// The terms between two, each found by the one before it, for each of some rows of a beginning and an end.
const (
	wantedTerms = `WITH RECURSIVE wanted (ordinal, low, high) AS (VALUES `
	foundTerms  = `),
	found (ordinal, high, n, term) AS (
		SELECT w.ordinal, w.high, 1, (SELECT MIN(t.term) FROM search_terms t WHERE t.term >= w.low AND t.term < w.high)
		FROM wanted w
		UNION ALL
		SELECT f.ordinal, f.high, f.n + 1, (SELECT MIN(t.term) FROM search_terms t WHERE t.term > f.term
		AND t.term < f.high)
		FROM found f WHERE f.term IS NOT NULL AND f.n <= %d
	)
	SELECT ordinal, term FROM found WHERE term IS NOT NULL`
)

// searchParts looks up what the database has of each part. Rows are counted if they decide how to search.
func (r *reader) searchParts(search service.Search) ([]searchPart, error) {
	parts := make([]searchPart, len(search))
	q := &listQuery{}
	var wanted []string
	var asked []beginning
	for i, part := range search {
		for _, term := range part {
			low, high := q.arg(term), q.arg(term+afterTerms)
			wanted = append(wanted, fmt.Sprintf(`(%d, CAST(%s AS TEXT), CAST(%s AS TEXT))`, len(asked), low, high))
			asked = append(asked, beginning{&parts[i], term})
		}
	}
	text := wantedTerms + strings.Join(wanted, `, `) + fmt.Sprintf(foundTerms, mostTerms)
	err := r.each(text, q.args, func(rows *sql.Rows) error {
		var i int
		var term string
		if err := rows.Scan(&i, &term); err != nil {
			return err
		}
		p := asked[i].part
		if !slices.Contains(p.wanted, asked[i].text) {
			p.wanted = append(p.wanted, asked[i].text)
		}
		p.terms = append(p.terms, term)
		p.rows++
		return nil
	})
	if err != nil {
		return nil, err
	}
	isMany := func(p searchPart) bool { return p.rows > mostTerms }
	for i := range parts {
		if isMany(parts[i]) {
			parts[i].terms = nil
		}
	}
	isDecided := slices.ContainsFunc(parts, searchPart.isNone) || len(parts) == 1 && !isMany(parts[0])
	if isDecided {
		return parts, nil
	}
	return parts, r.countParts(parts)
}

// countParts counts the rows of parts, but not all of many.
func (r *reader) countParts(parts []searchPart) error {
	q := &listQuery{}
	limit := q.arg(few / countedOf)
	var counts []string
	dest := make([]any, len(parts))
	for i := range parts {
		var branches []string
		for _, term := range parts[i].wanted {
			low, high := q.arg(term), q.arg(term+afterTerms)
			branches = append(branches, `SELECT 1 FROM search_terms WHERE term >= `+low+` AND term < `+high)
		}
		rows := strings.Join(branches, ` UNION ALL `) + ` LIMIT ` + limit + asLimit
		counts = append(counts, `(SELECT COUNT(*) FROM (`+rows+`) c)`)
		dest[i] = &parts[i].rows
	}
	return r.row(`SELECT `+strings.Join(counts, `, `), q.args...).scan(dest...)
}

// lead puts the rows of a part into the order of the list. It merges the rows of few terms, and sorts the rows between
// terms.
func (q *listQuery) lead(p searchPart) {
	if p.terms == nil {
		q.repeats = true
		for _, term := range p.wanted {
			q.branches = append(q.branches, `t.term >= `+q.arg(term)+` AND t.term < `+q.arg(term+afterTerms))
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

// checkTerms adds the condition that a person has a term of each part.
func (q *listQuery) checkTerms(search service.Search) {
	if len(search) == 0 {
		return
	}
	var parts []string
	for _, wanted := range search {
		parts = append(parts, q.hasTerm(wanted))
	}
	q.check(ofTerms(strings.Join(parts, ` AND `)))
}

// hasTerm is the condition that the row s of search_persons has one of some terms.
func (q *listQuery) hasTerm(wanted []string) string {
	var alternatives []string
	for _, term := range wanted {
		pattern := `% ` + likeText.Replace(term) + `%`
		alternatives = append(alternatives, `s.terms LIKE `+q.arg(pattern)+` ESCAPE '\'`)
	}
	return `(` + strings.Join(alternatives, ` OR `) + `)`
}

// ofTerms is a condition on the row s of search_persons of a person t.
func ofTerms(cond string) string {
	return `(SELECT ` + cond + ` FROM search_persons s WHERE s.created_at = t.created_at AND s.uuid = t.uuid)`
}

// ibanSeparators may stand between the characters of an IBAN. Its term has none of them.
const ibanSeparators = " \u00A0-."

// checkPayers adds the condition that persons who are found by a payer alone have a pledge in the scope that was paid
// so. The terms of a person do not tell whose pledge it is. Spec gap: A3.
func (q *listQuery) checkPayers(engine engine, scope service.Scope, search service.Search) {
	if scope.All {
		return
	}
	iban := `LOWER(CASE WHEN LENGTH(x.doc) > 0 THEN ` + engine.json(`x.doc`) + ` ->> 'iban' END)`
	for _, separator := range ibanSeparators {
		iban = `REPLACE(` + iban + `, '` + string(separator) + `', '')`
	}
	for _, wanted := range search {
		others := slices.DeleteFunc(slices.Clone(wanted), service.IsPayerTerm)
		if len(others) == len(wanted) {
			continue
		}
		var payers []string
		for _, term := range wanted {
			if service.IsPayerTerm(term) {
				pattern := likeText.Replace(service.PayerIBAN(term)) + `%`
				payers = append(payers, iban+` LIKE `+q.arg(pattern)+` ESCAPE '\'`)
			}
		}
		cond := `EXISTS (SELECT 1 FROM pledges l JOIN transactions x ON x.pledge_number = l.number
			WHERE l.person_number = t.number AND (` + strings.Join(payers, ` OR `) + `)` +
			q.visible(scope, `l.owner`, `l.recruiting`) + `)`
		if len(others) > 0 {
			cond = ofTerms(q.hasTerm(others)) + ` OR ` + cond
		}
		q.check(cond)
	}
}

// isOfLetters reports whether checkLetters alone decides about a part.
func isOfLetters(wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(term string) bool { return !service.IsFirstLetter(term) })
}

// checkLetters adds a condition on the first letters of names. It needs no other row.
func (q *listQuery) checkLetters(search service.Search) {
	for _, wanted := range search {
		var all []int64
		for _, term := range wanted {
			all = append(all, service.Letters(term))
		}
		if slices.Contains(all, 0) {
			continue
		}
		var alternatives []string
		for _, bits := range all {
			place := q.arg(bits)
			alternatives = append(alternatives, `(t.letters & `+place+`) = `+place)
		}
		q.check(strings.Join(alternatives, ` OR `))
	}
}

// walk returns the numbers of the first persons in a part of the list that match a search. It stops at the size of the
// part, or when a walk stops paying off.
func (r *reader) walk(f service.PersonFilter, part service.Range) ([]int64, error) {
	looked := max(firstWalk*walked, 2*part.Limit)
	numbers, err := r.walkSome(f, part, looked)
	isEnough := len(numbers) == part.Limit
	if err != nil || isEnough || len(numbers)*secondWalk < part.Limit {
		return numbers, err
	}
	return r.walkSome(f, part, secondWalk*looked)
}

func (r *reader) walkSome(f service.PersonFilter, part service.Range, looked int) ([]int64, error) {
	q := walkedQuery(f)
	q.inRange(part)
	limit := ` LIMIT ` + q.arg(looked) + asLimit
	columns := `t.number, t.uuid, t.created_at`
	isByTerms := q.table == "search_persons"
	if isByTerms {
		columns += `, t.letters`
	}
	cond := q.condition(strings.Join(q.branches, ``))
	rows := `SELECT ` + columns + ` FROM ` + q.table + ` t` + cond + q.order("t", part.Backward) + limit
	if len(q.branches) > 1 {
		rows = q.merged(part.Backward, limit)
	}
	passing := &listQuery{args: q.args}
	checked := f.Search
	if isByTerms {
		passing.checkLetters(f.Search)
		checked = slices.DeleteFunc(slices.Clone(checked), isOfLetters)
	}
	passing.checkTerms(checked)
	passing.checkPayers(r.engine, f.Scope, f.Search)
	text := `SELECT t.number FROM (` + rows + `) t` + passing.condition("") + ` LIMIT ` + passing.arg(part.Limit) +
		asLimit
	return all(r.conn, text, passing.args, func(n *int64) []any { return []any{n} })
}

// walkedQuery filters persons by everything but the search.
func walkedQuery(f service.PersonFilter) *listQuery {
	q := &listQuery{table: "search_persons", time: "created_at"}
	isByTerms := f.Scope.All && f.UpdatedAfter == nil && f.IBAN == ""
	if isByTerms {
		if f.CreatedAfter != nil {
			q.where(`t.created_at > %s`, f.CreatedAfter.UnixMilli())
		}
		return q
	}
	q.table = "persons"
	q.persons(f)
	if f.UpdatedAfter != nil {
		q.check(`t.updated_at > ` + q.arg(f.UpdatedAfter.UnixMilli()))
	}
	if f.IBAN != "" {
		q.check(`t.iban = ` + q.arg(f.IBAN))
	}
	return q
}

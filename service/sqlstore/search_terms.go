package sqlstore

import (
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

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

// searched is a person with its search terms.
type searched struct {
	person    apitype.UUID
	owner     apitype.UUID
	createdAt apitype.Time
	terms     []string
}

func searchedRow(p service.PersonRow) searched {
	return searched{p.UUID, p.Owner, p.CreatedAt, p.Terms}
}

// The columns of search_persons, and the places of one row of values.
const (
	searchColumns = `created_at, uuid, owner, letters, terms, number`
	searchPlaces  = 5
)

// insertSearchRows adds rows of search_persons. onConflict is the clause for existing rows.
func (c *conn) insertSearchRows(persons []searched, onConflict string) error {
	return inGroups(persons, func(group []searched) error {
		var args []any
		var rows []string
		for i, p := range group {
			places := placesFrom(i*searchPlaces+1, searchPlaces)
			rows = append(
				rows,
				`(`+strings.Join(places, `, `)+`, (SELECT number FROM persons WHERE uuid = `+places[1]+`))`,
			)
			args = append(args, searchValues(p)...)
		}
		text := `INSERT INTO search_persons (` + searchColumns + `) VALUES ` + strings.Join(rows, `, `)
		_, err := c.exec(text+onConflict, args...)
		return err
	})
}

func searchValues(p searched) []any {
	return []any{
		p.createdAt.UnixMilli(),
		identifier(p.person),
		identifier(p.owner),
		service.Letters(p.terms...),
		joinTerms(p.terms),
	}
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
	_, err := c.exec(`INSERT INTO search_terms (term, created_at, uuid, owner, number, letters)
		SELECT x.value, s.created_at, s.uuid, s.owner, s.number, s.letters
		FROM persons p JOIN search_persons s ON s.created_at = p.created_at AND s.uuid = p.uuid
			CROSS JOIN `+c.engine.eachTerm()+`
		WHERE x.value <> '' AND `+cond+` ON CONFLICT DO NOTHING`, arg)
	return err
}

// searchedPerson reads the search terms of a person.
func (c *conn) searchedPerson(id apitype.UUID) (searched, error) {
	p := searched{person: id}
	var text string
	err := c.row(`SELECT s.owner, s.created_at, s.terms
		FROM persons p JOIN search_persons s ON s.created_at = p.created_at AND s.uuid = p.uuid
		WHERE p.uuid = $1`, identifier(id)).
		scan(uuidDest{&p.owner}, timeDest{&p.createdAt}, &text)
	p.terms = strings.Fields(text)
	return p, err
}

// deleteTerms lets a person not be found by some terms any more.
func (c *conn) deleteTerms(p searched, terms []string) error {
	if len(terms) == 0 {
		return nil
	}
	cond, arg := c.engine.amongTexts("term", "$1", terms)
	_, err := c.exec(`DELETE FROM search_terms WHERE `+cond+` AND created_at = $2 AND uuid = $3`,
		arg, p.createdAt.UnixMilli(), identifier(p.person))
	return err
}

// updateSearched replaces the search terms of a changed person.
func (c *conn) updateSearched(before searched, p service.PersonRow) error {
	now := before
	now.createdAt = p.CreatedAt
	now.terms = slices.Clone(p.Terms)
	for _, term := range before.terms {
		if service.IsPayerTerm(term) {
			now.terms = append(now.terms, term)
		}
	}
	isMoved := before.createdAt.UnixMilli() != now.createdAt.UnixMilli() ||
		service.Letters(before.terms...) != service.Letters(now.terms...)
	if !isMoved && slices.Equal(now.terms, before.terms) {
		return nil
	}
	gone := before.terms
	if !isMoved {
		gone = slices.DeleteFunc(slices.Clone(gone), func(term string) bool { return slices.Contains(now.terms, term) })
	}
	if err := c.deleteSearched(before, gone); err != nil {
		return err
	}
	return c.insertSearched([]searched{now})
}

// deleteSearched deletes the row of a person, and some of its terms.
func (c *conn) deleteSearched(p searched, terms []string) error {
	if err := c.deleteTerms(p, terms); err != nil {
		return err
	}
	_, err := c.exec(`DELETE FROM search_persons WHERE created_at = $1 AND uuid = $2`,
		p.createdAt.UnixMilli(), identifier(p.person))
	return err
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
	return c.deleteSearched(p, p.terms)
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
const payersOf = `SELECT p.uuid, p.owner, p.created_at, s.terms, t.doc FROM pledges l
	JOIN persons p ON p.number = l.person_number AND p.erased_at IS NULL
	JOIN search_persons s ON s.created_at = p.created_at AND s.uuid = p.uuid
	JOIN transactions t ON t.pledge_number = l.number
	WHERE `

// addPayers lets the persons of pledges be found by the IBANs of their payments.
func (c *conn) addPayers(pledges string, arg any) error {
	payers := map[apitype.UUID]searched{}
	err := c.each(payersOf+pledges, []any{arg}, func(rows *sql.Rows) error {
		var p searched
		var known string
		var doc []byte
		err := rows.Scan(uuidDest{&p.person}, uuidDest{&p.owner}, timeDest{&p.createdAt}, &known, docDest{&doc})
		if err != nil {
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
	const addTerms = ` ON CONFLICT (created_at, uuid) DO UPDATE SET terms = search_persons.terms || excluded.terms`
	if err := c.insertSearchRows(added, addTerms); err != nil {
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
		err := errors.Join(
			json.Unmarshal(row["uuid"], &p.person),
			json.Unmarshal(row["owner"], &p.owner),
			json.Unmarshal(row["created_at"], &createdAt),
		)
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

package localcopy

import (
	"encoding/json"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// source is a feed, and the way from its records to rows.
type source[T any] struct {
	name   string
	feed   apiclient.Feed
	reader *recordReader         // Nil reads each record by its type.
	byType func(T, *batch) found // Used for what the reader leaves.
	store  func(apiclient.Record[T], found)
	isRead *bool // The reader has the present record.
}

// identify returns the uuid and the time of a record, if the reader can read it.
func (s source[T]) identify(raw json.RawMessage, b *batch) (id apitype.UUID, at apitype.Time, ok bool) {
	*s.isRead = s.reader != nil && s.reader.read(raw, b)
	if !*s.isRead {
		return id, at, false
	}
	return s.reader.id, s.reader.time, true
}

// read returns the record that was identified last.
func (s source[T]) read(record apiclient.Record[T], b *batch) (found, error) {
	if *s.isRead {
		return s.reader.found, nil
	}
	value, err := record.Decode()
	if err != nil {
		return found{}, err
	}
	return s.byType(value, b), nil
}

// timed are the members by which the service filters records, by the filters. No record shows when a person changed.
var timed = map[string]string{
	"createdAfter":  "createdAt",
	"updatedAfter":  "updatedAt",
	"releasedAfter": "releasedAt",
}

func (s *syncing) persons(feed apiclient.Feed) source[apitype.Person] {
	person := rowsOf(s.insert("persons"), s.fields.persons, "", "")
	return source[apitype.Person]{
		name:   feedPersons,
		feed:   feed,
		reader: newReader[apitype.Person](person, nil, nil, timed[feed.Since]),
		isRead: new(bool),
		byType: func(p apitype.Person, b *batch) found {
			return found{id: p.UUID, rows: []tableRow{{person, s.fields.persons.row(b, p)}}}
		},
		store: s.person,
	}
}

func (s *syncing) person(r apiclient.Record[apitype.Person], p found) {
	hadRows := s.dropRecord(feedPersons, p.id)
	s.putAll(p.rows)
	switch {
	case !s.hasConsents:
	case s.hasDetails:
		s.replaceConsents(p.id, r.Consents, hadRows)
	default:
		s.due(Consents, p.id)
	}
}

func (s *syncing) calls(feed apiclient.Feed) source[apitype.Call] {
	call := rowsOf(s.insert("calls"), s.fields.calls, "", "")
	attempts := rowsOf(s.insert("attempts"), &s.fields.attempts, "callUuid", "number")
	results := rowsOf(s.insert("results"), &s.fields.results, "callUuid", "")
	tables := map[string]*rows{"attempts": attempts, "result": results}
	user := results.column("userUuid")
	return source[apitype.Call]{
		name:   feedCalls,
		feed:   feed,
		reader: newReader[apitype.Call](call, tables, nil, "lastUpdatedAt"),
		isRead: new(bool),
		byType: func(c apitype.Call, b *batch) found {
			all := []tableRow{{call, s.fields.calls.row(b, c)}}
			for i, a := range c.Attempts.Value() {
				all = append(all, tableRow{attempts, s.fields.attempts.row(b, attempt{c.UUID, i + 1, a})})
			}
			if r := c.Result.Pointer(); r != nil {
				all = append(all, tableRow{results, s.fields.results.row(b, result{c.UUID, nil, *r})})
			}
			return found{id: c.UUID, rows: all}
		},
		store: func(r apiclient.Record[apitype.Call], c found) {
			for _, row := range c.rows {
				if row.rows == results {
					row.values[user] = s.cell(stored(r.CompletedBy))
				}
			}
			s.call(r, c)
		},
	}
}

func (s *syncing) call(r apiclient.Record[apitype.Call], c found) {
	hadRows := s.dropRecord(feedCalls, c.id)
	s.putAll(c.rows)
	switch {
	case !s.hasChecks:
	case !s.hasDetails:
		s.due(Checks, c.id)
	case r.Checks == nil:
		s.replaceChecks(c.id, apitype.CallChecks{}, hadRows)
	default:
		s.replaceChecks(c.id, *r.Checks, hadRows)
	}
}

func (s *syncing) pledges(name string, feed apiclient.Feed) source[apitype.Pledge] {
	pledge := rowsOf(s.insert("pledges"), s.fields.pledges, "", "")
	payments := rowsOf(s.insert("transactions"), &s.fields.transactions, "pledgeUuid", "")
	tables := map[string]*rows{"transactions": payments}
	names := map[string]string{"person_uuid": "personUuid"}
	return source[apitype.Pledge]{
		name:   name,
		feed:   feed,
		reader: newReader[apitype.Pledge](pledge, tables, names, timed[feed.Since]),
		isRead: new(bool),
		byType: func(p apitype.Pledge, b *batch) found {
			all := []tableRow{{pledge, s.fields.pledges.row(b, p)}}
			for _, t := range p.Transactions.Value() {
				all = append(all, tableRow{payments, s.fields.transactions.row(b, payment{p.UUID, t})})
			}
			return found{id: p.UUID, rows: all}
		},
		store: func(_ apiclient.Record[apitype.Pledge], p found) {
			s.dropRecord(feedPledges, p.id)
			s.putAll(p.rows)
		},
	}
}

// erasures deletes persons. Their calls and pledges stay, as the service keeps them: they were read again without what
// named the person.
func (s *syncing) erasures() source[apitype.ErasedPerson] {
	return source[apitype.ErasedPerson]{
		name:   feedErased,
		feed:   apiclient.Feed{Path: "/fundesk/v1/erasures"},
		isRead: new(bool),
		byType: func(p apitype.ErasedPerson, _ *batch) found { return found{id: p.UUID} },
		store: func(_ apiclient.Record[apitype.ErasedPerson], p found) {
			for _, place := range []string{"persons.uuid", "consents.personUuid"} {
				s.drop(place, p.id)
			}
			s.do("DELETE FROM _due WHERE uuid = ? AND detail <> ?", p.id.String(), remains)
		},
	}
}

// putAll stores the rows of a record.
func (s *syncing) putAll(all []tableRow) {
	for _, row := range all {
		s.add(row.statement, row.values)
	}
}

// replaceConsents stores the consents of a person, which come newest first, instead of the earlier ones, if there may
// be some.
func (s *syncing) replaceConsents(person apitype.UUID, consents []apitype.Consent, hadRows bool) {
	if hadRows {
		s.drop("consents.personUuid", person)
	}
	for i, c := range consents {
		s.put(Consents, s.fields.consents.row(s.batch, consent{person, len(consents) - i, c}))
	}
}

// replaceChecks stores the checks of a call instead of the earlier ones, if there may be some.
func (s *syncing) replaceChecks(call apitype.UUID, checks apitype.CallChecks, hadRows bool) {
	if hadRows {
		s.drop("checks.callUuid", call)
	}
	for _, item := range checks.Items {
		s.put(Checks, s.fields.checks.row(s.batch, check{call, checks.UserUUID, item}))
	}
}

package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// A consent proves an opt-in: it has the person, the channel, the place and the time. Consents are only added. The
// newest of a channel sets the opt-in, in the transaction that adds it. Spec gap: S81.

// AddConsent adds a consent to a person. One with the values of another one is a repeat after a lost answer, and
// changes nothing.
// POST /fundesk/v1/persons/{uuid}/consents
func (s *Service) AddConsent(ctx context.Context, c Caller, id apitype.UUID, request apitype.Consent) (Answer, error) {
	if err := c.Require(PersonsUpdate); err != nil {
		return Answer{}, err
	}
	user, err := c.ActingUser(request.UserUUID)
	if err != nil {
		return Answer{}, err
	}
	request.UserUUID = user
	if err := NotValid(request.Validate(s.clock())); err != nil {
		return Answer{}, err
	}
	err = s.Write(ctx, WriteIsolated, "add the consent", func(tx Tx) error {
		row, err := VisiblePerson(tx, c, id)
		if err != nil {
			return err
		}
		known, err := tx.Consents(id)
		if err != nil || slices.ContainsFunc(known, request.Equal) {
			return err
		}
		if len(known) >= apitype.MaxConsents {
			return &Error{
				Kind:   Conflict,
				Detail: fmt.Sprintf("the person has %d consents, and takes no more", len(known)),
			}
		}
		now, err := s.ChangeTime(tx)
		if err != nil {
			return err
		}
		line := c.Audited(AuditPersonConsent, id, now).By(request.UserUUID)
		optIn, err := optInBy(tx, row, request, known)
		if err != nil {
			return err
		}
		return s.addConsent(tx, line, row, request, len(known)+1, optIn)
	})
	if err != nil {
		return Answer{}, err
	}
	return Answered(request, nil)
}

// optInBy returns the opt-in that a consent sets, given the known ones, or nil. An older proof lifts no
// later objection.
func optInBy(tx Tx, row PersonRow, c apitype.Consent, known []apitype.Consent) (*bool, error) {
	if (apitype.Consents{Consents: known}).Later(c) != nil {
		return nil, nil
	}
	person, err := row.person()
	if err != nil {
		return nil, err
	}
	optIn, now := c.OptIn(), *optInOf(&person, c.Channel)
	isOptedIn := now != nil && *now
	isLifting := optIn != nil && *optIn && !isOptedIn
	if !isLifting {
		return optIn, nil
	}
	objected, err := tx.ObjectedAt(row.UUID, c.Channel)
	if err != nil || objected != nil && objected.After(c.At.Time) {
		return nil, err
	}
	return optIn, nil
}

// addConsent saves a consent and the opt-in that it sets, if any. Line is the line of the change. The person changes
// in any case: consumers see the consent, and two consents at one moment are saved in order.
func (s *Service) addConsent(tx Tx, line AuditLine, row PersonRow, c apitype.Consent, ordinal int, optIn *bool) error {
	person, err := row.person()
	if err != nil {
		return err
	}
	before := row
	if optIn != nil {
		*optInOf(&person, c.Channel) = optIn
	}
	if err := row.write(person); err != nil {
		return err
	}
	row.UpdatedAt = line.At
	if err := tx.UpdatePerson(row); err != nil {
		return err
	}
	if err := tx.InsertConsent(row.UUID, ordinal, c); err != nil {
		return err
	}
	if optIn != nil && c.Channel == apitype.ChannelPhone {
		if err := numbersConsented(tx, row, person, c, line, s.TimeOf(tx)); err != nil {
			return err
		}
	}
	if err := personChanged(tx, row.UUID, person, s.TimeOf(tx)); err != nil {
		return err
	}
	if c.Channel == apitype.ChannelPhone { // It may lift the end of the last pledge.
		if err := pledgesChanged(tx, row.UUID, row.Owner, s.TimeOf(tx)); err != nil {
			return err
		}
	}
	line = personAudited(line, before, row)
	line.Fields = strings.TrimSuffix("consents."+string(c.Channel)+","+line.Fields, ",")
	return tx.Audit(line)
}

// numbersConsented unblocks the numbers of a person if the person agreed to phone calls, and blocks them after an
// objection. A number that a supervisor blocked after the consent was given stays blocked.
func numbersConsented(
	tx Tx,
	row PersonRow,
	person apitype.Person,
	c apitype.Consent,
	line AuditLine,
	clock apitype.Time,
) error {
	if c.Basis == apitype.BasisConsent {
		_, err := unblockPerson(tx, row, person, &c.At, clock)
		return err
	}
	block := Block{
		Organization: row.Owner,
		Person:       row.UUID,
		At:           line.At,
		User:         line.User,
	}
	return blockNumbers(tx, phoneNumbers(person), block, clock)
}

// optInOf returns the opt-in of a channel.
func optInOf(p *apitype.Person, channel apitype.ConsentChannel) **bool {
	switch channel {
	case apitype.ChannelEmail:
		return &p.OptInEmail
	case apitype.ChannelMail:
		return &p.OptInMail
	case apitype.ChannelSMS:
		return &p.OptInSMS
	default:
		return &p.OptInPhone
	}
}

// Consents returns the consents of a person, newest first.
// GET /fundesk/v1/persons/{uuid}/consents
func (s *Service) Consents(ctx context.Context, c Caller, id apitype.UUID) (Answer, error) {
	if err := c.Require(PersonsRead); err != nil {
		return Answer{}, err
	}
	found, err := View(ctx, s, "read the consents", func(r Reader) (apitype.Consents, error) {
		if _, err := VisiblePerson(r, c, id); err != nil {
			return apitype.Consents{}, err
		}
		consents, err := r.Consents(id)
		return apitype.Consents{Consents: append([]apitype.Consent{}, consents...)}, err
	})
	if err == nil {
		err = s.NoteRead(ctx, c.Audited(AuditPersonGet, id, s.Now()).Of(id))
	}
	if err != nil {
		return Answer{}, err
	}
	return Answered(found, nil)
}

// ConsentSize returns how many bytes of text a consent has, about.
func ConsentSize(c apitype.Consent) int {
	size := 160
	for _, text := range []*string{c.Source, c.Wording} {
		if text != nil {
			size += len(*text)
		}
	}
	return size
}

// withConsents adds the consents of each person to a page, as a member of its edge.
func withConsents(l listing[PersonRow]) listing[PersonRow] {
	var of map[apitype.UUID]jsontext.Value
	l.more = func(r Reader, rows []PersonRow) (err error) {
		of, err = consentsOf(r, rows, l.paging.IsBackward())
		return err
	}
	size, node := l.size, l.node
	l.size = func(row PersonRow) int {
		consents, isRead := of[row.UUID]
		if !isRead {
			return PageBytes // The page ends before it.
		}
		return size(row) + len(consents)
	}
	l.node = func(dst []byte, row PersonRow) []byte {
		dst = node(dst, row)
		if consents := of[row.UUID]; len(consents) > 0 {
			dst = append(append(dst, `,"consents":`...), consents...)
		}
		return dst
	}
	return l
}

// consentsOf reads the consents of a page of persons as JSON, empty for a person without any. If they are longer than
// a page, it reads those of fewer persons, from the end of the page that a request walks from.
func consentsOf(r Reader, rows []PersonRow, backward bool) (map[apitype.UUID]jsontext.Value, error) {
	ids := make([]apitype.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.UUID
	}
	if backward {
		slices.Reverse(ids)
	}
	for {
		limit := PageBytes
		if len(ids) <= 1 { // A page has one person at least.
			limit = 0
		}
		found, isWhole, err := r.ConsentsOf(ids, limit)
		if err != nil {
			return nil, err
		}
		if isWhole {
			return consentsAsJSON(ids, found)
		}
		ids = ids[:len(ids)/2]
	}
}

func consentsAsJSON(
	persons []apitype.UUID,
	found map[apitype.UUID][]apitype.Consent,
) (map[apitype.UUID]jsontext.Value, error) {
	of := make(map[apitype.UUID]jsontext.Value, len(persons))
	for _, id := range persons {
		of[id] = nil
		if len(found[id]) == 0 {
			continue
		}
		text, err := json.Marshal(found[id])
		if err != nil {
			return nil, err
		}
		of[id] = text
	}
	return of, nil
}

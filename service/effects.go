package service

import (
	"cmp"

	"fundesk/apiclient/apitype"
)

// A result may have an effect on the donor, by the settings of the person's organization. The service carries it
// out when the call is completed, in the same transaction and for every client: an objection must not depend on the
// program that recorded it. Spec gap: S78.

// effectOf returns the effect that completing a call has on its person, or "".
func effectOf(r Reader, row *CallRow, call *apitype.Call) (apitype.ResultEffect, error) {
	result := call.Result.Pointer()
	if result == nil || result.ResultCode == nil {
		return "", nil
	}
	settings, err := r.OrganizationSettings(Scope{Organizations: []apitype.UUID{row.Owner}})
	if err != nil || len(settings) == 0 {
		return "", err
	}
	for _, choice := range settings[0].ResultsOf(call.Type) {
		if choice.Code == *result.ResultCode && choice.Effect != nil && choice.Effect.IsOfPerson() {
			return *choice.Effect, nil
		}
	}
	return "", nil
}

// effectOperations are the audit's names of the effects.
var effectOperations = map[apitype.ResultEffect]AuditOperation{
	apitype.EffectOptOut:    AuditPersonOptOut,
	apitype.EffectNoContact: AuditPersonNoContact,
}

// EffectOfNoContact is a part of the private text of a call that was completed with that effect.
const EffectOfNoContact = `"effect":"` + string(apitype.EffectNoContact) + `"`

// applyEffect changes the person of a call for an effect. Line is the line of the completion. A person without a
// difference is not saved.
func applyEffect(tx Tx, line AuditLine, call *CallRow, effect apitype.ResultEffect, clock apitype.Time) error {
	if effect == "" {
		return nil
	}
	id := call.Person
	call.PersonRow = nil // It changes.
	row, err := tx.Person(id, Scope{All: true})
	if err != nil {
		return err
	}
	person, err := row.person()
	if err != nil {
		return err
	}
	person.OptInPhone = new(false)
	if effect == apitype.EffectNoContact {
		person.OptInEmail = new(false)
		person.OptInMail = new(false)
		person.OptInSMS = new(false)
	}
	if effect == apitype.EffectOptOut { // The number of a dead donor may belong to the whole household.
		block := Block{
			Organization: row.Owner,
			Person:       id,
			At:           line.At,
			Call:         line.Record,
			User:         line.User,
		}
		if err := blockNumbers(tx, phoneNumbers(person), block, clock); err != nil {
			return err
		}
	}
	before := row
	if err := row.write(person); err != nil {
		return err
	}
	row.UpdatedAt = line.At
	line.Operation = effectOperations[effect]
	line = personAudited(line, before, row)
	if line.Fields == "" { // The objection counts anyway: an older consent that is added at this moment sees it.
		return cmp.Or(tx.HoldPerson(id), tx.Audit(line))
	}
	if err := tx.UpdatePerson(row); err != nil {
		return err
	}
	return cmp.Or(personChanged(tx, id, person, clock), tx.Audit(line))
}

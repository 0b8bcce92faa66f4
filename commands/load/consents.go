package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
)

// A row of a person may have consents, which are sent after the person. They are added as they are in the file. A
// consent that the person has already is not added again.

// isConsent reports whether a field belongs to a consent.
func isConsent(name string) bool { return strings.HasPrefix(name, apitype.ConsentsMember+".") }

// takeConsents takes the consents out of the body of a creation.
func (r *rowReader) takeConsents(object map[string]any) ([]apitype.Consent, error) {
	raw, has := object[apitype.ConsentsMember]
	delete(object, apitype.ConsentsMember)
	if !has || raw == nil {
		return nil, nil
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	var given apitype.NewestConsents
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil {
		var wrong apitype.Violations
		wrong.Add(
			"/"+apitype.ConsentsMember,
			"must have channels (phone, email, mail, sms) with source, wording, at and basis",
		)
		return nil, wrong
	}
	var consents []apitype.Consent
	var wrong apitype.Violations
	for _, channel := range apitype.ConsentChannels {
		of := given.Of(channel)
		if of == nil {
			continue
		}
		consent := apitype.Consent{
			Channel: channel,
			Basis:   of.Basis,
			Source:  of.Source,
			Wording: of.Wording,
		}
		if of.At != nil {
			consent.At = *of.At
		}
		for _, v := range consent.Validate(r.session.App.Now()) {
			v.Pointer = "/" + apitype.ConsentsMember + "/" + string(channel) + v.Pointer
			wrong = append(wrong, v)
		}
		consents = append(consents, consent)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return consents, nil
}

// consentsOf returns the consents that a row has, and its other fields.
func (r *rowReader) consentsOf(fields []wantedField) ([]apitype.Consent, []wantedField, reasons) {
	var own, others []wantedField
	for _, f := range fields {
		if isConsent(f.name) {
			own = append(own, f)
		} else {
			others = append(others, f)
		}
	}
	if len(own) == 0 {
		return nil, fields, reasons{}
	}
	b := &body{object: map[string]any{}}
	b.fill(own)
	consents, err := r.takeConsents(b.object)
	return consents, others, r.mistakesIn(own, b.wrong, err)
}

// consentChanges returns the changes that add consents to a person.
func consentChanges(person apitype.UUID, consents []apitype.Consent) ([]apiclient.Change, error) {
	var changes []apiclient.Change
	for _, consent := range consents {
		change, err := apiclient.AddConsentChange(person, consent)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// missingConsents returns those consents that a person does not have, and how many of these change no opt-in, because a
// later one decides. The user of a consent is not in a file.
func missingConsents(
	ctx context.Context,
	client *apiclient.Client,
	person apitype.UUID,
	consents []apitype.Consent,
) (missing []apitype.Consent, overruled int, err error) {
	if len(consents) == 0 {
		return nil, 0, nil
	}
	read, err := client.Consents(ctx, person)
	known, err := apiclient.Decoded(read, err)
	if err != nil {
		return nil, 0, err
	}
	isKnown := func(consent apitype.Consent) bool {
		return slices.ContainsFunc(known.Consents, func(k apitype.Consent) bool {
			k.UserUUID = nil
			return k.Equal(consent)
		})
	}
	missing = slices.DeleteFunc(consents, isKnown)
	for _, consent := range missing {
		if known.Overruling(consent) != nil {
			overruled++
		}
	}
	return missing, overruled, nil
}

// withConsents adds consents to the line of an existing person. Without a change, the first consent becomes the change.
// It returns nil if nothing changes.
func withConsents(line *plannedLine, w wanted, consents []apitype.Consent) (*plannedLine, error) {
	changes, err := consentChanges(w.id, consents)
	if err != nil || len(changes) == 0 {
		return line, err
	}
	if line == nil {
		line = w.line(changes[0])
		changes = changes[1:]
	}
	line.After = changes
	for _, consent := range consents {
		name := apitype.ConsentsMember + "." + string(consent.Channel)
		line.Changes = append(line.Changes, fieldChange{name, nil, string(consent.Basis)})
	}
	return line, nil
}

// joinViolations joins the violations of a body and of its consents.
func joinViolations(body, consents error) error {
	more, isViolations := errors.AsType[apitype.Violations](consents)
	all, isBody := errors.AsType[apitype.Violations](body)
	if body == nil || !isBody || !isViolations {
		return cmp.Or(body, consents)
	}
	return slices.Concat(all, more)
}

// requireConsents refuses a service that keeps no consents, before anything is sent.
func requireConsents(ctx context.Context, client *apiclient.Client) error {
	has, err := client.Has(ctx, apitype.ExtensionConsents)
	if err != nil || has {
		return err
	}
	failed := cli.Failure(apiclient.KindRejected, "the service keeps no consents; nothing was sent")
	return cli.WithHint(failed, "--map 'consents.phone.source=-' leaves a column out")
}

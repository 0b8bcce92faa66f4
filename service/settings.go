package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// Settings are what agents work by, of the organizations that the account sees, and the names of users.
// GET /fundesk/v1/settings
func (s *Service) Settings(ctx context.Context, c Caller) (Answer, error) {
	if err := c.Require(CallsRead); err != nil {
		return Answer{}, err
	}
	return viewed(ctx, s, "read the settings", func(r Reader) (Answer, error) { return settingsAnswer(r, c.Scope) })
}

// settingsAnswer answers with all settings of a scope. Their revision is made of what they say: it holds in
// every process, and for each scope on its own. Spec gap: S71.
func settingsAnswer(r Reader, scope Scope) (answer Answer, err error) {
	var all apitype.Settings
	if all.Organizations, err = r.OrganizationSettings(scope); err != nil {
		return answer, err
	}
	users, err := r.Users(scope)
	if err != nil {
		return answer, err
	}
	all.Users = mapped(users, func(u User) apitype.UserName { return apitype.UserName{UUID: u.UUID, Name: u.Name} })
	answer.JSON, err = json.Marshal(all, json.Deterministic(true))
	sum := sha256.Sum256(answer.JSON)
	answer.Rev = int64(binary.BigEndian.Uint64(sum[:]) >> 1)
	return answer, err
}

// PutSettings replaces the settings of an organization, where the revision of all that the account sees is
// one of m.
// PUT /fundesk/v1/settings/{organizationUuid}
func (s *Service) PutSettings(ctx context.Context, c Caller, id apitype.UUID, m Match, settings apitype.OrganizationSettings) (answer Answer, err error) {
	if err := cmp.Or(c.Require(CallsRead), c.Require(SettingsWrite)); err != nil {
		return Answer{}, err
	}
	violations := settings.Validate()
	if !settings.UUID.IsZero() && settings.UUID != id {
		violations.Add("/uuid", "is not that of the path")
	}
	if err := invalid(violations); err != nil {
		return Answer{}, err
	}
	if !c.Scope.Contains(id) {
		return Answer{}, orUnknown(ErrNoRow, "organization", id)
	}
	err = described("set the settings", s.store.Write(ctx, WriteShared, coveredChange(ctx, func(tx Tx) error {
		line := AuditLine{Account: &c.UUID, RequestID: c.RequestID}
		if _, err := s.changeOrganization(tx, id, line, func(o *Organization) error {
			before, err := settingsAnswer(tx, c.Scope)
			o.Settings, o.MaxCallAttempts = &settings, settings.MaxCallAttempts
			return cmp.Or(err, m.check(before.Rev))
		}); err != nil {
			return err
		}
		answer, err = settingsAnswer(tx, c.Scope)
		return err
	})))
	if err != nil {
		return Answer{}, err
	}
	settings.UUID = id
	answer.JSON, err = json.Marshal(settings, json.Deterministic(true))
	return answer, err
}

// settingsChanged names what differs beside the maximum of attempts.
func settingsChanged(before, after apitype.OrganizationSettings) (names []string) {
	if !maps.EqualFunc(before.Results, after.Results, func(a, b []apitype.ResultChoice) bool {
		return slices.EqualFunc(a, b, func(a, b apitype.ResultChoice) bool {
			return a.Code == b.Code && a.Label == b.Label && equal(a.Effect, b.Effect) && a.AsksNotes == b.AsksNotes
		})
	}) {
		names = append(names, "results")
	}
	if !maps.Equal(before.Scripts, after.Scripts) {
		names = append(names, "scripts")
	}
	if !maps.Equal(before.CallingHours, after.CallingHours) {
		names = append(names, "callingHours")
	}
	return names
}

package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// Settings returns the settings for agents of the organizations in the account's scope, and the names of users.
// GET /fundesk/v1/settings
func (s *Service) Settings(ctx context.Context, c Caller) (Answer, error) {
	if err := c.Require(CallsRead); err != nil {
		return Answer{}, err
	}
	return View(ctx, s, "read the settings", func(r Reader) (Answer, error) {
		all, err := settingsOf(r, c.Scope)
		if err != nil {
			return Answer{}, err
		}
		return settingsAnswer(all)
	})
}

// settingsOf reads all settings of a scope.
func settingsOf(r Reader, scope Scope) (apitype.Settings, error) {
	var all apitype.Settings
	var err error
	all.Organizations, err = r.OrganizationSettings(scope)
	if err != nil {
		return all, err
	}
	users, err := r.Users(scope)
	all.Users = mapped(users, func(u User) apitype.UserName { return apitype.UserName{UUID: u.UUID, Name: u.Name} })
	return all, err
}

// settingsAnswer answers with settings. Their revision is computed from their content, so it holds in every process,
// and for each scope on its own. Spec gap: S71.
func settingsAnswer(all apitype.Settings) (Answer, error) {
	var answer Answer
	var err error
	answer.JSON, err = json.Marshal(all, json.Deterministic(true))
	sum := sha256.Sum256(answer.JSON)
	answer.Rev = int64(binary.BigEndian.Uint64(sum[:]) >> 1)
	return answer, err
}

// PutSettings replaces the settings of an organization if m has the present revision of all settings in the account's
// scope.
// PUT /fundesk/v1/settings/{organizationUuid}
func (s *Service) PutSettings(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	m Match,
	settings apitype.OrganizationSettings,
) (Answer, error) {
	if err := cmp.Or(c.Require(CallsRead), c.Require(SettingsWrite)); err != nil {
		return Answer{}, err
	}
	violations := settings.Validate()
	if !settings.UUID.IsZero() && settings.UUID != id {
		violations.Add("/uuid", "is not that of the path")
	}
	if err := NotValid(violations); err != nil {
		return Answer{}, err
	}
	if !c.Scope.Contains(id) {
		return Answer{}, OrUnknown(ErrNoRow, "organization", id)
	}
	var all apitype.Settings
	var err error
	err = s.Write(ctx, WriteShared, "set the settings", func(tx Tx) error {
		line := c.Audited(AuditOrganizationSet, id, apitype.Time{})
		_, err := s.changeOrganization(tx, id, line, func(o *Organization) error {
			all, err = settingsOf(tx, c.Scope)
			if err != nil {
				return err
			}
			before, err := settingsAnswer(all)
			err = cmp.Or(err, m.check(before.Rev))
			if err != nil {
				return err
			}
			o.Settings, o.MaxCallAttempts = &settings, settings.MaxCallAttempts
			// Keep the other organizations' settings as they were checked: the caller has not seen newer ones.
			settings.UUID = id
			for i := range all.Organizations {
				if all.Organizations[i].UUID == id {
					all.Organizations[i] = settings
				}
			}
			return nil
		})
		return err
	})
	if err != nil {
		return Answer{}, err
	}
	answer, err := settingsAnswer(all)
	if err != nil {
		return Answer{}, err
	}
	answer.JSON, err = json.Marshal(settings, json.Deterministic(true))
	return answer, err
}

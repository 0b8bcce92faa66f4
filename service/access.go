package service

import (
	"context"
	"errors"
	"slices"

	"fundesk/apiclient/apitype"
)

// tokensEnded is the setting that holds when all tokens of earlier keys were ended.
const tokensEnded = "tokens-ended"

// AccessChange is what was taken from an account or a token, as it is kept outside the database, so
// that a restore does not give it back. It holds identifiers and times, and no token.
type AccessChange struct {
	Account       *apitype.UUID  `json:"account,omitzero"`
	RevokedAt     *apitype.Time  `json:"revokedAt,omitzero"`
	Permissions   []Permission   `json:"permissions,omitzero"`   // All that the account has.
	Organizations []apitype.UUID `json:"organizations,omitzero"` // All that it sees; nil: every one.

	Token   *apitype.UUID `json:"token,omitzero"`
	EndedAt *apitype.Time `json:"endedAt,omitzero"`

	TokensBefore *apitype.Time `json:"tokensBefore,omitzero"` // Every token that was issued before is ended.
}

// AccessChanges returns what this database knows of an account and its tokens; nil: of all accounts,
// and of tokens that were ended together.
func (s *Service) AccessChanges(ctx context.Context, of *apitype.UUID) ([]AccessChange, error) {
	return View(ctx, s, "read the accounts", func(r Reader) (all []AccessChange, err error) {
		accounts, err := r.Accounts()
		if err != nil {
			return nil, err
		}
		for _, a := range accounts {
			if of != nil && a.UUID != *of {
				continue
			}
			change := AccessChange{Account: &a.UUID, RevokedAt: a.RevokedAt, Permissions: append([]Permission{}, a.Permissions...)}
			if !a.Scope.All {
				change.Organizations = append([]apitype.UUID{}, a.Scope.Organizations...)
			}
			all = append(all, change)
		}
		tokens, err := r.Tokens(of)
		for _, t := range tokens {
			if t.EndedAt != nil {
				all = append(all, AccessChange{Token: &t.UUID, EndedAt: t.EndedAt})
			}
		}
		ended, settingErr := r.Setting(tokensEnded)
		if err = errors.Join(err, settingErr); err == nil && of == nil && ended != "" {
			var before apitype.Time
			before, err = apitype.ParseTime(ended)
			all = append(all, AccessChange{TokensBefore: &before})
		}
		return all, err
	})
}

// ReplayAccess takes from the accounts and tokens of a restored database what was taken from them
// since its backup, and returns how many it changed. It never gives anything.
func (s *Service) ReplayAccess(ctx context.Context, changes []AccessChange) (changed int, err error) {
	endAll := false
	err = s.Write(ctx, WriteIsolated, "replay the changes of access", func(tx Tx) error {
		changed = 0
		for _, change := range changes {
			done, err := s.replayAccess(tx, change)
			if err != nil {
				return err
			}
			if done {
				changed++
				endAll = endAll || change.TokensBefore != nil
			}
		}
		return nil
	})
	if err == nil && endAll {
		_, err = s.RotateKey(ctx, true) // The key was given up together with its tokens.
	}
	return changed, err
}

func (s *Service) replayAccess(tx Tx, change AccessChange) (done bool, err error) {
	if change.Account == nil {
		return endTokens(tx, change)
	}
	account, err := tx.Account(*change.Account)
	if errors.Is(err, ErrNoRow) { // It was added after the backup.
		return false, nil
	}
	after := account.without(change)
	fields := account.changed(after)
	if account.RevokedAt == nil && after.RevokedAt != nil {
		fields = "revokedAt"
	}
	if err != nil || fields == "" {
		return false, err
	}
	line := AuditLine{At: s.TimeOf(tx), Operation: AuditAccountSet, Record: change.Account, Fields: fields, Reason: "replayed"}
	return true, errors.Join(tx.UpdateAccount(after), tx.Audit(line))
}

// endTokens ends the token of a change, or all that were issued before its time.
func endTokens(tx Tx, change AccessChange) (done bool, err error) {
	tokens, err := tx.Tokens(nil)
	for _, t := range tokens {
		at := change.EndedAt
		switch {
		case change.Token != nil && *change.Token == t.UUID:
		case change.TokensBefore != nil && t.IssuedAt.Before(change.TokensBefore.Time):
			at = change.TokensBefore
		default:
			continue
		}
		if t.EndedAt == nil || at.Before(t.EndedAt.Time) {
			done, err = true, errors.Join(err, tx.EndToken(t.UUID, *at))
		}
	}
	return done, err
}

// without returns the account with no more than a change left of it.
func (a Account) without(change AccessChange) Account {
	if a.RevokedAt == nil {
		a.RevokedAt = change.RevokedAt
	}
	a.Permissions = slices.DeleteFunc(slices.Clone(a.Permissions), func(p Permission) bool { return !slices.Contains(change.Permissions, p) })
	if change.Organizations != nil {
		if narrowed, _ := a.Scope.Narrow(change.Organizations); len(change.Organizations) == 0 {
			a.Scope = Scope{}
		} else if a.Scope.All || len(narrowed.Organizations) < len(a.Scope.Organizations) {
			a.Scope = narrowed
		}
	}
	return a
}

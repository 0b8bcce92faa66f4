package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
)

// IssuedToken is what is kept of a token, which is not the token itself, and how commands print it.
// Spec gap: A5.
type IssuedToken struct {
	// UUID is what the token names as its identifier. Tokens that a program makes for its own account
	// name none: they have that of the account, and are one to the service.
	UUID       apitype.UUID  `json:"uuid"`
	Account    apitype.UUID  `json:"-"`
	IssuedAt   apitype.Time  `json:"issuedAt"`
	ExpiresAt  *apitype.Time `json:"expiresAt"`  // What the token itself says; nil: not known before one is used.
	EndedAt    *apitype.Time `json:"endedAt"`    // From when on it is refused before that; nil: it is not.
	LastUsedOn *apitype.Date `json:"lastUsedOn"` // In UTC; nil: it was not used.
	SignedBy   *string       `json:"-"`          // The identifier of its key; nil: not known.
}

// End is when the token is refused from; nil: that is not known.
func (t IssuedToken) End() *apitype.Time {
	if t.EndedAt == nil || t.ExpiresAt != nil && t.ExpiresAt.Before(t.EndedAt.Time) {
		return t.ExpiresAt
	}
	return t.EndedAt
}

// isGood reports whether the token may be accepted at a time. Of those that share their account's
// identifier the last one is not known.
func (t IssuedToken) isGood(at time.Time) bool {
	isExpired := t.UUID != t.Account && t.ExpiresAt != nil && !t.ExpiresAt.Add(tokenLeeway).After(at)
	return !isExpired && (t.EndedAt == nil || t.EndedAt.After(at))
}

// IssueToken is a new token of an account, valid for ttl. Spec gap: A1.
func (s *Service) IssueToken(ctx context.Context, id apitype.UUID, ttl time.Duration) (token string, expires apitype.Time, err error) {
	return s.issue(ctx, id, ttl, func(tx Tx, issued IssuedToken) error {
		return tx.Audit(AuditLine{At: issued.IssuedAt, Operation: AuditTokenIssue, Record: &id})
	})
}

// ReplaceTokens is a new token of an account in the place of all earlier ones, which are good for
// overlap still; ended are those that it ends earlier than they would.
func (s *Service) ReplaceTokens(ctx context.Context, id apitype.UUID, ttl, overlap time.Duration) (token string, expires apitype.Time, ended []IssuedToken, err error) {
	if overlap < 0 || overlap >= ttl {
		return "", expires, nil, &Error{Kind: Invalid, Detail: "tokens are replaced at once, or while the new one is valid"}
	}
	token, expires, err = s.issue(ctx, id, ttl, func(tx Tx, issued IssuedToken) error {
		tokens, err := tx.Tokens(&id)
		if err != nil {
			return err
		}
		at := apitype.NewTime(issued.IssuedAt.Add(overlap))
		ended = slices.DeleteFunc(tokens, func(t IssuedToken) bool { return t.UUID == issued.UUID || !t.isGood(at.Time) })
		for i := range ended {
			ended[i].EndedAt = &at
			if err := tx.EndToken(ended[i].UUID, at); err != nil {
				return err
			}
		}
		line := AuditLine{At: issued.IssuedAt, Operation: AuditTokenReplace, Record: &id, Records: new(len(ended))}
		return errors.Join(tx.Audit(line), s.dropKeys(tx))
	})
	return token, expires, ended, err
}

// issue signs a token and saves what is kept of it, in one transaction with change.
func (s *Service) issue(ctx context.Context, id apitype.UUID, ttl time.Duration, change func(Tx, IssuedToken) error) (token string, expires apitype.Time, err error) {
	if ttl < time.Second {
		return "", expires, &Error{Kind: Invalid, Detail: "a token is valid for a second at least"}
	}
	known, err := s.keys.latest(ctx)
	if err != nil {
		return "", expires, err
	}
	now, issued := s.clock(), IssuedToken{UUID: s.newUUID(), Account: id}
	if token, expires, err = known.all[0].sign(issued.UUID, id, now, ttl); err != nil {
		return "", expires, err
	}
	issued.IssuedAt, issued.ExpiresAt, issued.SignedBy = apitype.NewTime(now), &expires, &known.all[0].id
	err = s.update(ctx, "issue the token", func(tx Tx) error {
		if _, err := activeAccount(tx, id); err != nil {
			return err
		}
		return errors.Join(tx.InsertToken(issued), change(tx, issued))
	})
	if err != nil {
		return "", expires, err
	}
	return token, expires, nil
}

// Authenticate is the account behind a token. What is wrong with a token is not told.
func (s *Service) Authenticate(ctx context.Context, token string) (account Account, err error) {
	refusal := &Error{Kind: Unauthenticated, Detail: "the bearer token is missing or not valid"}
	known, ok, err := s.subject(ctx, token)
	if err != nil {
		return Account{}, err
	}
	if !ok {
		return Account{}, refusal
	}
	now, ends := s.clock(), known.expires.Add(-tokenLeeway)
	err = s.read(ctx, ReadRecord, "look up the account", func(r Reader) error {
		found, ended, err := r.AccountOfToken(known.account, known.id)
		if errors.Is(err, ErrNoRow) || err == nil && (found.RevokedAt != nil || ended != nil && !ended.After(now)) {
			return refusal
		}
		if ended != nil && ended.Before(ends) {
			ends = ended.Time
		}
		account = found
		return err
	})
	if err != nil {
		return Account{}, err
	}
	s.uses.note(known, now)
	if s.tellTokenEnds != nil && known.endsSoon(ends, now) {
		s.tellTokenEnds(account, ends)
	}
	return account, nil
}

// subject is a valid token, also when it is of a key that another process has made meanwhile.
func (s *Service) subject(ctx context.Context, token string) (valid verifiedToken, ok bool, err error) {
	known, err := s.keys.fresh(ctx)
	if err != nil {
		return valid, false, err
	}
	if valid, ok = known.subject(token, s.clock()); ok || !known.isOfAnother(token) {
		return valid, ok, nil
	}
	if known, err = s.keys.latest(ctx); err != nil {
		return valid, false, err
	}
	valid, ok = known.subject(token, s.clock())
	return valid, ok, nil
}

// OwnToken is a token of the account that a program keeps under a name in the database for itself,
// made when there is none. It sees everything. Nothing is saved of one token more.
func (s *Service) OwnToken(ctx context.Context, name string, ttl time.Duration) (token string, err error) {
	id, err := s.ownAccount(ctx, name)
	if err != nil {
		return "", err
	}
	known, err := s.keys.latest(ctx)
	if err != nil {
		return "", err
	}
	token, _, err = known.all[0].sign(id, id, s.clock(), ttl)
	return token, err
}

// Tokens are what is kept of all tokens, those of an account together, the oldest first.
func (s *Service) Tokens(ctx context.Context) ([]IssuedToken, error) {
	return viewed(ctx, s, "list the tokens", func(r Reader) ([]IssuedToken, error) { return r.Tokens(nil) })
}

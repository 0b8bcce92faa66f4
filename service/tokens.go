package service

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"fundesk/apiclient/apitype"
)

// The issuer of our tokens, and how far clocks may differ. Spec gap: A1.
const (
	tokenIssuer  = "fundeskd"
	tokenLeeway  = 30 * time.Second
	maxTokenSize = 4096
)

// keys are the secrets of one seed, so that every process on one database has the same.
type keys struct {
	private ed25519.PrivateKey
	id      string // The kid of tokens.
	cursor  []byte // Authenticates cursors.
	link    []byte // Authenticates links to signature files.
}

// deriveKeys makes the secrets from a seed of 32 bytes.
func deriveKeys(seed []byte) keys {
	private := ed25519.NewKeyFromSeed(seed)
	derive := func(purpose string) []byte {
		mac := hmac.New(sha256.New, seed)
		mac.Write([]byte("fundesk " + purpose))
		return mac.Sum(nil)
	}
	sum := sha256.Sum256(private.Public().(ed25519.PublicKey))
	return keys{
		private: private,
		id:      base64.RawURLEncoding.EncodeToString(sum[:9]),
		cursor:  derive("cursor"),
		link:    derive("link"),
	}
}

// sign issues a token for an account. One with the identifier of its account names none.
func (k keys) sign(id, account apitype.UUID, now time.Time, ttl time.Duration) (string, apitype.Time, error) {
	expires := now.Add(ttl).Truncate(time.Second)
	claims := jwt.RegisteredClaims{
		Issuer:    tokenIssuer,
		Subject:   account.String(),
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(expires),
	}
	if id != account {
		claims.ID = id.String()
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	token.Header["kid"] = k.id
	text, err := token.SignedString(k.private)
	return text, apitype.NewTime(expires), err
}

// verify reads a token. It accepts only our own key in our own algorithm, and ignores other keys in the header (jwk,
// jku, x5u). It does not compare the time of issue, because the clock of the issuing process may be ahead.
func (k *knownKey) verify(token string, now time.Time) (verifiedToken, bool) {
	var v verifiedToken
	if len(token) > maxTokenSize {
		return v, false
	}
	var claims jwt.RegisteredClaims
	parsed, err := jwt.ParseWithClaims(token, &claims, func(t *jwt.Token) (any, error) {
		if t.Header["kid"] != k.id {
			return nil, jwt.ErrTokenUnverifiable
		}
		return k.private.Public(), nil
	},
		jwt.WithStrictDecoding(), // A token has one spelling.
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}),
		jwt.WithIssuer(tokenIssuer),
		jwt.WithExpirationRequired(),
		jwt.WithLeeway(tokenLeeway),
		jwt.WithTimeFunc(func() time.Time { return now }),
	)
	if err != nil || !parsed.Valid {
		return v, false
	}
	var problem error
	v.account, err = apitype.ParseUUID(claims.Subject)
	v.id, problem = apitype.ParseUUID(cmp.Or(claims.ID, claims.Subject))
	v.expires = claims.ExpiresAt.Add(tokenLeeway)
	return v, err == nil && problem == nil
}

// isOfAnother reports whether the header of a token names another key.
func (k *knownKey) isOfAnother(token string) bool {
	if len(token) > maxTokenSize {
		return false
	}
	read, _, err := jwt.NewParser().ParseUnverified(token, new(jwt.RegisteredClaims))
	return err == nil && read.Header["kid"] != k.id
}

// verifiedTokens remembers tokens with a good signature: checking one costs more than answering the request. It stores
// only what never changes. Expiry and the account are checked each time. The zero value is ready to use.
type verifiedTokens struct {
	mu     sync.RWMutex
	tokens map[[sha256.Size]byte]verifiedToken
}

type verifiedToken struct {
	id       apitype.UUID // The account's identifier if the token has none.
	account  apitype.UUID
	expires  time.Time     // The last moment at which it is accepted.
	warnedOn *atomic.Int64 // The day of the last warning that it ends soon, since 1970.
}

// soonEnding is the time before the end of a used token at which the log warns.
const soonEnding = 14 * 24 * time.Hour

// isWarningDue reports once a day whether a token ends soon.
func (t verifiedToken) isWarningDue(ends, now time.Time) bool {
	if ends.Sub(now) > soonEnding {
		return false
	}
	today := now.Unix() / (24 * 60 * 60)
	return t.warnedOn.Load() != today && t.warnedOn.Swap(today) != today
}

// maxVerified limits the memory. A full cache is emptied.
const maxVerified = 4096

// subject returns a valid token with its account.
func (k *knownKey) subject(token string, now time.Time) (verifiedToken, bool) {
	sum, v := sha256.Sum256([]byte(token)), k.verified
	v.mu.RLock()
	known, found := v.tokens[sum]
	v.mu.RUnlock()
	if found {
		return known, now.Before(known.expires)
	}
	known, ok := k.verify(token, now)
	if !ok {
		return verifiedToken{}, false
	}
	known.warnedOn = new(atomic.Int64)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tokens == nil || len(v.tokens) >= maxVerified {
		v.tokens = map[[sha256.Size]byte]verifiedToken{}
	}
	v.tokens[sum] = known
	return known, true
}

// IssuedToken is the record of a token, without the token itself, as commands print it.
// Spec gap: A5.
type IssuedToken struct {
	// UUID is the identifier in the token. Tokens that a program makes for its own account have the account's, so they
	// share one row.
	UUID      apitype.UUID  `json:"uuid"`
	Account   apitype.UUID  `json:"-"`
	IssuedAt  apitype.Time  `json:"issuedAt"`
	ExpiresAt *apitype.Time `json:"expiresAt"` // Nil for tokens of a program's own account.
	EndedAt   *apitype.Time `json:"endedAt"`   // Set if it is refused earlier than it expires.
}

// End returns when the token is refused from, or nil if that is unknown.
func (t IssuedToken) End() *apitype.Time {
	if t.EndedAt == nil || t.ExpiresAt != nil && t.ExpiresAt.Before(t.EndedAt.Time) {
		return t.ExpiresAt
	}
	return t.EndedAt
}

// isGood reports whether the token is valid at a time. Of tokens that share their account's identifier, the last one
// is unknown.
func (t IssuedToken) isGood(at time.Time) bool {
	isExpired := t.UUID != t.Account && t.ExpiresAt != nil && !t.ExpiresAt.Add(tokenLeeway).After(at)
	return !isExpired && (t.EndedAt == nil || t.EndedAt.After(at))
}

// IssueToken returns a new token of an account, valid for ttl. Spec gap: A1.
func (s *Service) IssueToken(
	ctx context.Context,
	id apitype.UUID,
	ttl time.Duration,
) (token string, expires apitype.Time, err error) {
	return s.issue(ctx, id, ttl, func(tx Tx, issued IssuedToken) error {
		_, err := activeAccount(tx, id)
		if err != nil {
			return err
		}
		return errors.Join(tx.InsertToken(issued), tx.Audit(issued.line()))
	})
}

// line returns the audit line of the token.
func (t IssuedToken) line() AuditLine {
	return AuditLine{At: t.IssuedAt, Operation: AuditTokenIssue, Record: &t.Account}
}

// ReplaceTokens returns a new token of an account that replaces all earlier ones. These stay valid for overlap. ended
// has the tokens that end earlier than before.
func (s *Service) ReplaceTokens(
	ctx context.Context,
	id apitype.UUID,
	ttl, overlap time.Duration,
) (token string, expires apitype.Time, ended []IssuedToken, err error) {
	if overlap < 0 || overlap >= ttl {
		return "", expires, nil, &Error{
			Kind:   Invalid,
			Detail: "tokens are replaced at once, or while the new one is valid",
		}
	}
	token, expires, err = s.issue(ctx, id, ttl, func(tx Tx, issued IssuedToken) error {
		account, err := activeAccount(tx, id)
		if err != nil {
			return err
		}
		tokens, err := tx.Tokens(&id)
		if err != nil {
			return err
		}
		// Written as it is: of two replacements at one time, the later one runs again and finds the token of the other.
		if err := tx.UpdateAccount(account); err != nil {
			return err
		}
		if slices.ContainsFunc(tokens, func(t IssuedToken) bool { return t.UUID == t.Account }) {
			return conflict("the account is one that a program keeps for itself; its tokens are not replaced")
		}
		at := apitype.NewTime(issued.IssuedAt.Add(overlap))
		ended = slices.DeleteFunc(tokens, func(t IssuedToken) bool { return !t.isGood(at.Time) })
		for i := range ended {
			ended[i].EndedAt = &at
			if err := tx.EndToken(ended[i].UUID, at); err != nil {
				return err
			}
		}
		line := AuditLine{
			At:        issued.IssuedAt,
			Operation: AuditTokenReplace,
			Record:    &id,
			Records:   new(len(ended)),
		}
		return errors.Join(tx.InsertToken(issued), tx.Audit(line))
	})
	return token, expires, ended, err
}

// issue signs a token in the transaction in which save stores its row.
func (s *Service) issue(
	ctx context.Context,
	id apitype.UUID,
	ttl time.Duration,
	save func(Tx, IssuedToken) error,
) (token string, expires apitype.Time, err error) {
	if ttl < time.Second {
		return "", expires, &Error{Kind: Invalid, Detail: "a token is valid for a second at least"}
	}
	if _, err := s.keys.latest(ctx); err != nil { // It makes a key if there is none.
		return "", expires, err
	}
	now, issued := s.clock(), IssuedToken{UUID: apitype.NewUUID(), Account: id}
	issued.IssuedAt, issued.ExpiresAt = apitype.NewTime(now), &expires
	err = s.Write(ctx, WriteIsolated, "issue the token", func(tx Tx) error {
		seed, err := tx.SigningSeed() // It may be another one by now, and stays until the token is stored.
		if err != nil {
			return err
		}
		known, err := newKeys(seed, now)
		if err != nil {
			return err
		}
		token, expires, err = known.sign(issued.UUID, id, now, ttl)
		if err != nil {
			return err
		}
		return save(tx, issued)
	})
	if err != nil {
		return "", expires, err
	}
	return token, expires, nil
}

// errUnauthenticated refuses every token that is not accepted, whatever the reason.
func errUnauthenticated() *Error {
	return &Error{Kind: Unauthenticated, Detail: "the bearer token is missing or not valid"}
}

// Authenticate returns the account of a token. Its error does not name the reason of a refusal.
func (s *Service) Authenticate(ctx context.Context, token string) (Account, error) {
	if s.signIn != nil && s.signIn.Issued(token) {
		return s.authenticatePerson(ctx, token)
	}
	refusal := errUnauthenticated()
	known, ok, err := s.subject(ctx, token)
	if err != nil {
		return Account{}, err
	}
	if !ok {
		return Account{}, refusal
	}
	now, ends := s.clock(), known.expires.Add(-tokenLeeway)
	var account Account
	err = s.Read(ctx, ReadRecord, "look up the account", func(r Reader) error {
		found, ended, err := r.AccountOfToken(known.account, known.id)
		if errors.Is(err, ErrNoRow) {
			return refusal
		}
		if err != nil {
			return err
		}
		hasEnded := ended != nil && !ended.After(now)
		if hasEnded || found.RevokedAt != nil {
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
	if s.warnTokenEnds != nil && known.isWarningDue(ends, now) {
		s.warnTokenEnds(account, ends)
	}
	return account, nil
}

// subject returns a valid token, even one with a key that another process has just made.
func (s *Service) subject(ctx context.Context, token string) (valid verifiedToken, ok bool, err error) {
	known, err := s.keys.fresh(ctx)
	if err != nil {
		return valid, false, err
	}
	valid, ok = known.subject(token, s.clock())
	if ok || !known.isOfAnother(token) {
		return valid, ok, nil
	}
	known, err = s.keys.latest(ctx)
	if err != nil {
		return valid, false, err
	}
	valid, ok = known.subject(token, s.clock())
	return valid, ok, nil
}

// OwnToken returns a token of the account that a program stores under a name for itself. It makes the account if there
// is none. The account sees everything. The token is not stored.
func (s *Service) OwnToken(ctx context.Context, name string, ttl time.Duration) (token string, err error) {
	id, err := s.ownAccount(ctx, name)
	if err != nil {
		return "", err
	}
	known, err := s.keys.latest(ctx)
	if err != nil {
		return "", err
	}
	token, _, err = known.sign(id, id, s.clock(), ttl)
	return token, err
}

// Tokens returns the stored rows of all tokens, by account, the oldest first.
func (s *Service) Tokens(ctx context.Context) ([]IssuedToken, error) {
	return View(ctx, s, "list the tokens", func(r Reader) ([]IssuedToken, error) { return r.Tokens(nil) })
}

// GoodTokens returns the stored rows of the tokens that are accepted now: none of an account that was revoked.
func (s *Service) GoodTokens(ctx context.Context) ([]IssuedToken, error) {
	var good []IssuedToken
	var err error
	err = s.Read(ctx, ReadSnapshot, "list the tokens", func(r Reader) error {
		good, err = goodTokens(r, s.clock())
		return err
	})
	return good, err
}

package service

import (
	"cmp"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
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

// verify reads a token. Only our own keys in our own algorithm count: what the header
// says of other keys (jwk, jku, x5u) is never looked at. When it was issued is not compared: the
// clock of the process that did may be ahead.
func (k *knownKeys) verify(token string, now time.Time) (v verifiedToken, ok bool) {
	if len(token) > maxTokenSize {
		return v, false
	}
	var claims jwt.RegisteredClaims
	parsed, err := jwt.ParseWithClaims(token, &claims, func(t *jwt.Token) (any, error) {
		for _, one := range k.all {
			if t.Header["kid"] == one.id {
				return one.private.Public(), nil
			}
		}
		return nil, jwt.ErrTokenUnverifiable
	},
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

// isOfAnother reports whether a token says that a key signed it which is not known.
func (k *knownKeys) isOfAnother(token string) bool {
	if len(token) > maxTokenSize {
		return false
	}
	read, _, err := jwt.NewParser().ParseUnverified(token, new(jwt.RegisteredClaims))
	return err == nil && !slices.ContainsFunc(k.all, func(one keys) bool { return read.Header["kid"] == one.id })
}

// verifiedTokens remembers tokens whose signature was found good: checking one costs
// more than answering the request. Only what can never change is kept; expiry and the
// account are checked each time. The zero value is ready.
type verifiedTokens struct {
	mu     sync.RWMutex
	tokens map[[sha256.Size]byte]verifiedToken
}

type verifiedToken struct {
	id      apitype.UUID // That of its account, where it names none.
	account apitype.UUID
	expires time.Time     // The last moment at which it is accepted.
	told    *atomic.Int64 // The day, since 1970, on which it was told that it ends soon.
	used    *atomic.Int64 // The day on which it was used last.
}

// soonEnding is how long before its end a token is told of.
const soonEnding = 14 * 24 * time.Hour

// endsSoon reports whether a token is to be told of: once a day, until it is replaced.
func (t verifiedToken) endsSoon(ends, now time.Time) bool {
	return ends.Sub(now) <= soonEnding && isFirst(t.told, now)
}

// isFirst reports whether something happens for the first time on a day.
func isFirst(last *atomic.Int64, now time.Time) bool {
	today := now.Unix() / (24 * 60 * 60)
	return last.Load() != today && last.Swap(today) != today
}

// maxVerified bounds the memory; past it the cache starts anew.
const maxVerified = 4096

// subject is a valid token, with the account that it names.
func (k *knownKeys) subject(token string, now time.Time) (verifiedToken, bool) {
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
	known.told, known.used = new(atomic.Int64), new(atomic.Int64)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tokens == nil || len(v.tokens) >= maxVerified {
		v.tokens = map[[sha256.Size]byte]verifiedToken{}
	}
	v.tokens[sum] = known
	return known, true
}

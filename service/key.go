package service

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"fundesk/apiclient/apitype"
)

// keyFresh is the time after which a process reads the key again.
const keyFresh = 2 * time.Second

// keyReader reads the key of the database, which an operator may replace while it is served. Its times are the
// process's own. Spec gap: A1.
type keyReader struct {
	store   Store
	reading chan struct{} // Holds one while the key is read.
	known   atomic.Pointer[knownKey]
}

// knownKey is the key as it was read at one time.
type knownKey struct {
	keys
	seed     []byte
	readAt   time.Time
	verified *verifiedTokens
}

func newKeys(seed []byte, now time.Time) (*knownKey, error) {
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("the signing key is damaged: it does not hold %d bytes", ed25519.SeedSize)
	}
	return &knownKey{
		keys:     deriveKeys(seed),
		seed:     seed,
		readAt:   now,
		verified: new(verifiedTokens),
	}, nil
}

func newKeyReader(store Store) keyReader {
	return keyReader{store: store, reading: make(chan struct{}, 1)}
}

// fresh returns the key of a short time ago. While one request reads it, which takes long if the database hangs, the
// other requests use the known one.
func (r *keyReader) fresh(ctx context.Context) (*knownKey, error) {
	known := r.known.Load()
	if time.Since(known.readAt) < keyFresh {
		return known, nil
	}
	select {
	case r.reading <- struct{}{}:
		defer func() { <-r.reading }()
		return r.read(ctx)
	default:
		return known, nil
	}
}

// latest returns the key as it is.
func (r *keyReader) latest(ctx context.Context) (*knownKey, error) {
	select {
	case r.reading <- struct{}{}:
		defer func() { <-r.reading }()
		return r.read(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read needs the turn of reading.
func (r *keyReader) read(ctx context.Context) (*knownKey, error) {
	seed, err := r.store.SigningSeed(ctx)
	_, isRefusal := errors.AsType[*Error](err)
	if isRefusal || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, described("read the signing key", err)
	}
	if err != nil { // An operator's hand was in it.
		return nil, &Error{Kind: Unavailable, Detail: "the signing key cannot be read", Cause: err}
	}
	known, now := r.known.Load(), time.Now()
	if known != nil && bytes.Equal(known.seed, seed) {
		same := *known
		same.readAt = now
		r.known.Store(&same)
		return &same, nil
	}
	changed, err := newKeys(seed, now)
	if err != nil {
		return nil, err
	}
	r.known.Store(changed)
	return changed, nil
}

// KeyRotation is the result of a rotation of the key.
type KeyRotation struct {
	Key   string `json:"key"`   // The identifier of the new key, the kid of tokens.
	Ended int    `json:"ended"` // Tokens that were good until then.
}

// RotateKey puts a new signing key in the place of the database's own, and so ends every token, cursor and signed
// link, in every process within seconds. The database may lack its key.
func RotateKey(ctx context.Context, store Store, now func() time.Time) (KeyRotation, error) {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // It never fails.
	s := &Service{store: store, clock: now}
	var rotation KeyRotation
	err := s.Write(ctx, WriteIsolated, "rotate the key", func(tx Tx) error {
		at := s.TimeOf(tx)
		good, err := goodTokens(tx, at.Time)
		if err != nil {
			return err
		}
		for _, token := range good {
			if token.UUID == token.Account { // Later tokens of this account share the row.
				continue
			}
			if err := tx.EndToken(token.UUID, at); err != nil {
				return err
			}
		}
		rotation.Ended = len(good)
		line := AuditLine{At: at, Operation: AuditKeyRotate, Records: &rotation.Ended}
		if err := tx.Audit(line); err != nil {
			return err
		}
		return tx.SetSigningSeed(seed)
	})
	rotation.Key = deriveKeys(seed).id
	return rotation, err
}

// CountTokens returns how many tokens a rotation of the key would end.
func CountTokens(ctx context.Context, store Store, now func() time.Time) (int, error) {
	s := &Service{store: store, clock: now}
	var n int
	err := s.Read(ctx, ReadSnapshot, "count the tokens", func(r Reader) error {
		good, err := goodTokens(r, now())
		n = len(good)
		return err
	})
	return n, err
}

// goodTokens returns the tokens that are valid at a time, by their rows.
func goodTokens(r Reader, at time.Time) ([]IssuedToken, error) {
	accounts, err := r.Accounts()
	if err != nil {
		return nil, err
	}
	isRevoked := map[apitype.UUID]bool{}
	for _, account := range accounts {
		isRevoked[account.UUID] = account.RevokedAt != nil
	}
	tokens, err := r.Tokens(nil)
	if err != nil {
		return nil, err
	}
	var good []IssuedToken
	for _, token := range tokens {
		if token.isGood(at) && !isRevoked[token.Account] {
			good = append(good, token)
		}
	}
	return good, nil
}

package service

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"fundesk/apiclient/apitype"
)

// How old the keys that a process knows may be, and how long it knows a new one before it writes
// cursors and links with it: by then all others know it, too.
const (
	keysFresh   = 2 * time.Second
	keysSettled = 10 * time.Second
)

// keyring are the keys of the database, which an operator may change while it is served. Their
// times are the process's own. Spec gap: A1.
type keyring struct {
	store   Store
	reading chan struct{} // Holds one while they are read.
	known   atomic.Pointer[knownKeys]
}

// knownKeys are the keys as they were read at one time.
type knownKeys struct {
	seed     []byte
	all      []keys // That in use first, then those of which tokens are still good.
	since    time.Time
	readAt   time.Time
	verified *verifiedTokens
}

func newKeys(seed []byte, now time.Time) (*knownKeys, error) {
	if len(seed) == 0 || len(seed)%ed25519.SeedSize != 0 {
		return nil, fmt.Errorf("the signing key is damaged: it does not hold %d bytes", ed25519.SeedSize)
	}
	known := &knownKeys{seed: seed, since: now, readAt: now, verified: new(verifiedTokens)}
	for ; len(seed) > 0; seed = seed[ed25519.SeedSize:] {
		known.all = append(known.all, deriveKeys(seed[:ed25519.SeedSize]))
	}
	return known, nil
}

// writing are those that cursors and links are written with.
func (k *knownKeys) writing() keys {
	if len(k.all) > 1 && time.Since(k.since) < keysSettled {
		return k.all[1]
	}
	return k.all[0]
}

func (k keys) cursorMAC(body []byte) []byte {
	mac := hmac.New(sha256.New, k.cursor)
	mac.Write(body)
	return mac.Sum(nil)[:cursorSize-cursorBody]
}

// wrote reports whether one of the keys authenticated what a cursor says.
func (k *knownKeys) wrote(body, mac []byte) bool {
	return slices.ContainsFunc(k.all, func(one keys) bool { return hmac.Equal(one.cursorMAC(body), mac) })
}

func newKeyring(store Store) keyring { return keyring{store: store, reading: make(chan struct{}, 1)} }

// fresh are the keys as they were a short time ago. While one request reads them, which takes long
// where the database hangs, the others go on with those that are known.
func (r *keyring) fresh(ctx context.Context) (*knownKeys, error) {
	known := r.known.Load()
	if time.Since(known.readAt) < keysFresh {
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

// latest are the keys as they are.
func (r *keyring) latest(ctx context.Context) (*knownKeys, error) {
	select {
	case r.reading <- struct{}{}:
		defer func() { <-r.reading }()
		return r.read(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read needs the turn of reading.
func (r *keyring) read(ctx context.Context) (*knownKeys, error) {
	seed, err := r.store.SigningSeed(ctx)
	_, isRefusal := errors.AsType[*Error](err)
	switch {
	case isRefusal || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return nil, described("read the signing key", err)
	case err != nil: // An operator's hand was in it.
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
	if err == nil {
		r.known.Store(changed)
	}
	return changed, err
}

// KeyRotation is what a rotation left.
type KeyRotation struct {
	Key     string   `json:"key"`     // The identifier of the key in use, the kid of tokens.
	Earlier []string `json:"earlier"` // Those of which tokens are still good.
}

// RotateKey lets a new key sign. Tokens of the earlier ones stay good until they end; with
// endOld they are refused, in every process within seconds.
func (s *Service) RotateKey(ctx context.Context, endOld bool) (rotation KeyRotation, err error) {
	made := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(made) // It never fails.
	var seed []byte
	err = s.Write(ctx, WriteIsolated, "rotate the key", func(tx Tx) error {
		now := s.TimeOf(tx)
		if err := tx.Audit(AuditLine{At: now, Operation: AuditKeyRotate}); err != nil {
			return err
		}
		if endOld {
			if err := tx.SetSetting(tokensEnded, now.String()); err != nil {
				return err
			}
		}
		good, err := s.keysInUse(tx)
		if err != nil {
			return err
		}
		// Last, as SQLite keeps the key in a file: what is refused before leaves the key alone.
		return tx.ChangeSigningSeed(func(known []byte) ([]byte, error) {
			known = bytes.TrimPrefix(known, made) // The transaction is run again.
			if endOld {
				known = nil
			}
			seed, err = earlier(append(bytes.Clone(made), known...), good)
			return seed, err
		})
	})
	if err != nil {
		return rotation, err
	}
	known, err := newKeys(seed, time.Now())
	if err != nil {
		return rotation, err
	}
	ids := mapped(known.all, func(one keys) string { return one.id })
	return KeyRotation{Key: ids[0], Earlier: ids[1:]}, nil
}

// dropKeys removes the earlier keys of which no token is good any more.
func (s *Service) dropKeys(tx Tx) error {
	if known := s.keys.known.Load(); known == nil || len(known.all) == 1 {
		return nil
	}
	good, err := s.keysInUse(tx)
	if err != nil {
		return err
	}
	return tx.ChangeSigningSeed(func(known []byte) ([]byte, error) { return earlier(known, good) })
}

// keysInUse returns a function that reports whether a key signed a token that is still good. A token
// of which the key is not known may be of any.
func (s *Service) keysInUse(tx Tx) (good func(id string) bool, err error) {
	accounts, err := tx.Accounts()
	if err != nil {
		return nil, err
	}
	tokens, err := tx.Tokens(nil)
	now := s.TimeOf(tx).Time
	revoked := make(map[apitype.UUID]bool)
	for _, account := range accounts {
		revoked[account.UUID] = account.RevokedAt != nil
	}
	tokens = slices.DeleteFunc(tokens, func(t IssuedToken) bool { return revoked[t.Account] || !t.isGood(now) })
	return func(id string) bool {
		return slices.ContainsFunc(tokens, func(t IssuedToken) bool { return t.SignedBy == nil || *t.SignedBy == id })
	}, err
}

// earlier returns the seeds of the key in use, the first, and of those that are good.
func earlier(seed []byte, good func(id string) bool) ([]byte, error) {
	known, err := newKeys(seed, time.Time{})
	if err != nil {
		return nil, err
	}
	kept := bytes.Clone(seed[:ed25519.SeedSize])
	for i, one := range known.all[1:] {
		if good(one.id) {
			kept = append(kept, seed[(i+1)*ed25519.SeedSize:(i+2)*ed25519.SeedSize]...)
		}
	}
	return kept, nil
}

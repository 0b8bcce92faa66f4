package sqlstore

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"fundesk/service"
)

// signingKey is the setting that holds the signing key. Spec gap: A1.
const signingKey = "signing-key"

var errKeyMissing = errors.New("its signing key is missing from the table settings: no token is valid without it. " +
	"fundeskd key rotate makes another one; then issue every token again")

// SigningSeed returns the secret of this database. It makes one if there is none and nothing depends on it. It looks
// before it makes one: a server, or a role, may be read-only.
func (s *Store) SigningSeed(ctx context.Context) ([]byte, error) {
	seed, err := readSeed(ctx, s.engine)
	if err != nil {
		return seed, err
	}
	if len(seed) == 0 {
		return s.makeSeed(ctx)
	}
	return seed, nil
}

func readSeed(ctx context.Context, e engine) ([]byte, error) {
	var seed []byte
	err := e.read(ctx, service.ReadRecord, func(c *conn) (err error) {
		seed, err = c.SigningSeed()
		return err
	})
	return seed, err
}

// makeSeed makes the secret, unless something hangs on one. Processes that race for it get the same.
func (s *Store) makeSeed(ctx context.Context) ([]byte, error) {
	made := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(made) // It never fails.
	var seed []byte
	err := s.engine.write(ctx, service.WriteIsolated, func(c *conn) (err error) {
		seed, err = c.SigningSeed()
		if err != nil || len(seed) > 0 {
			return err
		}
		if signed, err := c.signedFor(); err != nil || signed {
			return cmp.Or(err, errKeyMissing)
		}
		const insert = `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`
		if _, err := c.exec(insert, signingKey, hex.EncodeToString(made)); err != nil {
			return err
		}
		seed, err = c.SigningSeed()
		return err
	})
	return seed, err
}

// SigningSeed reads the setting with the key. It is empty without one.
func (c *conn) SigningSeed() ([]byte, error) {
	text, err := c.Setting(signingKey)
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

// SigningSeed does the same for a change, and keeps the key until the transaction ends.
func (t *tx) SigningSeed() ([]byte, error) {
	var text string
	err := t.row(`SELECT value FROM settings WHERE name = $1`+t.engine.locking(`SHARE`), signingKey).scan(&text)
	if errors.Is(err, service.ErrNoRow) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

func (t *tx) SetSigningSeed(seed []byte) error {
	return t.SetSetting(signingKey, hex.EncodeToString(seed))
}

// signedFor reports whether there are accounts: tokens of them were signed with the key.
func (c *conn) signedFor() (there bool, err error) {
	err = c.row(`SELECT EXISTS (SELECT 1 FROM accounts)`).scan(&there)
	return there, err
}

// keyThere refuses a database without its key.
func keyThere(ctx context.Context, e engine) error {
	seed, err := readSeed(ctx, e)
	if err != nil {
		return err
	}
	if len(seed) == 0 {
		return errKeyMissing
	}
	return nil
}

package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"fundesk/apiclient/durable"
	"fundesk/service"
)

// keyPath is where the signing key of an SQLite file lies: beside it, so that only a user who can
// read the records can sign for them. Spec gap: A1.
func keyPath(database string) string { return database + ".key" }

// SigningSeed reads the signing key, and makes it when there is none and nothing hangs on it. Processes
// that race for it get the same: the first whole file that gets the name wins.
func (e *sqliteEngine) SigningSeed(ctx context.Context) ([]byte, error) {
	path := keyPath(e.path)
	seed, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return seed, err
	}
	var signedFor bool
	if err := e.read(ctx, service.ReadRecord, func(c *conn) (err error) {
		signedFor, err = c.signedFor()
		return err
	}); err != nil {
		return nil, err
	}
	if signedFor {
		// Another process may have made the key and then the account.
		if seed, err = readKey(path); errors.Is(err, fs.ErrNotExist) {
			err = e.keyMissing()
		}
		return seed, err
	}
	seed = make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // It never fails.
	if err := writeKey(path, seed); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return readKey(path)
}

// signedFor reports whether there are accounts: tokens of them were signed with the key.
func (c *conn) signedFor() (there bool, err error) {
	err = c.row(`SELECT EXISTS (SELECT 1 FROM accounts)`).scan(&there)
	return there, err
}

// changeSeed puts other signing keys in the place of the file's own, one program at a time: the
// transaction holds the others off.
func (e *sqliteEngine) changeSeed(_ *conn, change func(seed []byte) ([]byte, error)) error {
	known, err := readKey(keyPath(e.path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	seed, err := change(known)
	if err != nil || bytes.Equal(known, seed) {
		return err
	}
	return makeKey(keyPath(e.path), seed, replace)
}

// readKey is the seed in a key file: that of each key, of the one in use first.
// A key that another user could have written signs for every account, and one that others can read is
// no secret: it is refused.
func readKey(path string) (seed []byte, err error) {
	if err := cmp.Or(durable.CheckTrust(path), closedToReaders(path)); err != nil {
		return nil, fmt.Errorf("the signing key is not safe: %w", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s is not a PEM file", path)
	}
	for ; block != nil; block, rest = pem.Decode(rest) {
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		key, ok := parsed.(ed25519.PrivateKey)
		if err != nil || !ok {
			return nil, fmt.Errorf("%s does not hold an Ed25519 key", path)
		}
		seed = append(seed, key.Seed()...)
	}
	return seed, nil
}

// writeKey makes a key file, whole or not at all; one that exists is left alone.
func writeKey(path string, seed []byte) error {
	return makeKey(path, seed, publish)
}

// makeKey writes keys beside their place, and puts them there when they are whole and on the
// disk.
func makeKey(path string, seed []byte, place func(from, to string) error) (err error) {
	var text bytes.Buffer
	for part := range slices.Chunk(seed, ed25519.SeedSize) {
		der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(part))
		if err := errors.Join(err, pem.Encode(&text, &pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
			return err
		}
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+unfinished) // 0600
	if err != nil {
		return err
	}
	_, err = file.Write(text.Bytes())
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = place(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // The first error is the one to tell.
	}
	return err
}

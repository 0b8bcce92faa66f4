package profile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"fundesk/apiclient/durable"
)

// The places of a token, as token_storage names them.
const (
	StorageKeyring = "keyring"
	StorageFile    = "file"
	StorageCommand = "command"
)

// keyringService is the name under which tokens are in the keyring; the user is the
// profile.
const keyringService = "fundesk"

// keyringTimeout limits the time for the keyring. Without a desktop session it can hang for minutes.
const keyringTimeout = 3 * time.Second

// ErrNoToken means that nothing is stored.
var ErrNoToken = errors.New("no token is stored")

// ErrNoKeyring means that there is no keyring, or that it does not answer.
var ErrNoKeyring = errors.New("no keyring is available")

// Tokens finds and keeps the tokens of profiles.
type Tokens struct {
	Dir    string // The configuration folder.
	Getenv func(string) string
}

// OriginError means that a token was stored for another service than the profile names now, because its address was
// edited.
type OriginError struct{ Stored, Named string }

// Error names both services.
func (e *OriginError) Error() string {
	return "the stored token belongs to " + e.Stored + " and is not sent to " + e.Named
}

// Get returns the token of a profile from the place in its settings, and from nowhere else. A stored token goes to its
// own service only.
func (t Tokens) Get(ctx context.Context, name string, p Profile) (string, error) {
	if p.Storage() == StorageCommand {
		return runCommand(ctx, p.TokenCommand)
	}
	token, origin, err := t.readWithOrigin(name, p.Storage())
	if err != nil {
		return "", err
	}
	named := originOf(p.BaseURL)
	switch {
	case token == "", origin == halfStored:
		return "", ErrNoToken
	case origin == "":
		// An earlier version, or another program, has stored the token. A failed write changes nothing.
		_ = t.writeOrigin(name, p.Storage(), named)
	case origin != named:
		return "", &OriginError{Stored: origin, Named: named}
	}
	return token, nil
}

// IsStored reports whether there is a token of a profile in the place that its settings name.
func (t Tokens) IsStored(name string, p Profile) bool {
	token, err := t.read(name, p.Storage())
	return err == nil && token != ""
}

// readWithOrigin returns the token and its service, or no token while another program replaces both.
func (t Tokens) readWithOrigin(name, storage string) (token, origin string, err error) {
	const tries = 3
	for range tries {
		origin, err = t.origin(name, storage)
		if err != nil {
			return "", "", err
		}
		token, err = t.read(name, storage)
		if err != nil {
			return "", "", err
		}
		after, err := t.origin(name, storage)
		if err != nil {
			return "", "", err
		}
		if after == origin {
			return token, origin, nil
		}
	}
	return "", "", nil
}

// Set keeps the token of a profile in the keyring, or in a file when insecure is set. It
// returns where.
func (t Tokens) Set(name string, p Profile, token string, insecure bool) (string, error) {
	var storage string
	storage = StorageKeyring
	if insecure {
		storage = StorageFile
	}
	if storage == StorageKeyring { // Nothing is written for one that does not answer.
		if err := t.CheckKeyring(name); err != nil {
			return "", err
		}
	}
	before, err := t.origin(name, storage)
	if err != nil {
		return "", err
	}
	is := originOf(p.BaseURL)
	if before != is { // In between, neither token goes to the other one's service.
		if err := t.writeOrigin(name, storage, halfStored); err != nil {
			return "", err
		}
	}
	if err := t.write(name, storage, token); err != nil {
		isLate := errors.Is(err, ErrNoKeyring) // It may still store the token.
		if before == "" && !isLate {
			err = errors.Join(err, t.eraseOrigin(name, storage))
		}
		return "", err
	}
	return storage, t.writeOrigin(name, storage, is)
}

// halfStored is the service of a token until it is stored. No address is like it.
const halfStored = "none"

// originOf returns the scheme, host and port of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	if u.Port() == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host = strings.TrimSuffix(host, ":"+u.Port())
	}
	return u.Scheme + "://" + host
}

// CheckKeyring returns why nothing can be kept in the keyring.
func (t Tokens) CheckKeyring(name string) error {
	_, err := t.read(name, StorageKeyring)
	if errors.Is(err, ErrNoToken) {
		return nil
	}
	return err
}

// Replace stores another token of the same service and account over the old one.
func (t Tokens) Replace(name string, p Profile, token string) error {
	return t.write(name, p.Storage(), token)
}

// ErrTooLarge means that the keyring has no room for a token.
var ErrTooLarge = errors.New("the token is too large")

// renewalPatience limits the wait for another program that renews the token.
const renewalPatience = 15 * time.Second

// LockRenewal lets one program at a time renew the token of a profile, until unlock.
func (t Tokens) LockRenewal(
	ctx context.Context,
	name string,
	pause func(context.Context, time.Duration) error,
) (func(), error) {
	path := filepath.Join(t.Dir, "renewals", name)
	err := durable.MakeFolders(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	const step = 50 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		err = durable.TryLock(file)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, durable.ErrHeld) || waited >= renewalPatience {
			return nil, errors.Join(err, file.Close())
		}
		err = pause(ctx, step)
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
}

func (t Tokens) read(name, storage string) (string, error) {
	switch storage {
	case StorageFile:
		err := durable.CheckTrust(t.path(name)) // Otherwise changes could be made in another user's name.
		var data []byte
		if err == nil {
			data, err = os.ReadFile(t.path(name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "", ErrNoToken
		}
		if err != nil {
			return "", fmt.Errorf("read the token file: %w", err)
		}
		return strings.TrimSpace(string(data)), nil
	case StorageKeyring:
		token, err := t.keyring(func() (string, error) { return keyring.Get(keyringService, name) })
		if errors.Is(err, keyring.ErrNotFound) {
			return "", ErrNoToken
		}
		return token, err
	default:
		return "", ErrNoToken
	}
}

func (t Tokens) write(name, storage, token string) error {
	if storage == StorageFile {
		return WriteFile(t.path(name), []byte(token+"\n"))
	}
	if err := fitsKeyring(runtime.GOOS, token); err != nil {
		return err
	}
	_, err := t.keyring(func() (string, error) { return "", keyring.Set(keyringService, name, token) })
	return err
}

// writeOrigin stores the service of a token. It is stored next to the profiles, so that the entry of the keyring is
// only the token, which other programs can read.
func (t Tokens) writeOrigin(name, storage, origin string) error {
	return WriteFile(t.originPath(name, storage), []byte(origin+"\n"))
}

// origin returns the service of the stored token, or "" if that is unknown.
func (t Tokens) origin(name, storage string) (string, error) {
	stored, err := os.ReadFile(t.originPath(name, storage))
	if errors.Is(err, fs.ErrNotExist) {
		stored, err = os.ReadFile(t.formerOriginPath(name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read what service the token is for: %w", err)
	}
	origin := strings.TrimSpace(string(stored))
	if err == nil && origin == "" {
		return halfStored, nil
	}
	return origin, nil
}

// eraseOrigin removes the service of a token that is gone.
func (t Tokens) eraseOrigin(name, storage string) error {
	path, former := t.originPath(name, storage), error(nil)
	if storage == StorageKeyring {
		former = durable.Erase(t.formerOriginPath(name))
	}
	if err := errors.Join(durable.Erase(path), former); err != nil {
		return fmt.Errorf("remove what service the token is for: %w", err)
	}
	_ = os.Remove(filepath.Dir(path)) // The last one leaves nothing behind.
	return nil
}

// fitsKeyring refuses a token that the keyring of a system cannot hold. It is asked
// first: on macOS the library would leave a process behind.
func fitsKeyring(system, token string) error {
	limit, name := 0, ""
	switch system {
	case "windows":
		limit, name = 2560, "Windows" // CRED_MAX_CREDENTIAL_BLOB_SIZE.
	case "darwin":
		limit, name = 2900, "macOS" // A command of security has 4096 bytes: base64, and the names.
	}
	if limit == 0 || len(token) <= limit {
		return nil
	}
	return fmt.Errorf(
		"%w: it has %d bytes, and an entry in the keyring of %s holds %d",
		ErrTooLarge,
		len(token),
		name,
		limit,
	)
}

// Delete removes the token of a profile from its place. A missing one is not an error.
func (t Tokens) Delete(name string, p Profile) error {
	switch p.Storage() {
	case StorageFile:
		// Before what service it is for: without that it would go to any.
		if err := durable.Erase(t.path(name)); err != nil {
			return fmt.Errorf("remove the token file: %w", err)
		}
	case StorageKeyring:
		_, err := t.keyring(func() (string, error) { return "", keyring.Delete(keyringService, name) })
		if err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return err
		}
	}
	return t.eraseOrigin(name, p.Storage())
}

func (t Tokens) path(name string) string { return filepath.Join(t.Dir, "tokens", name) }

// originPath returns the file with the service of a token. Each storage has its own: a keyring that fails keeps a token
// that the profile no longer names.
func (t Tokens) originPath(name, storage string) string {
	return filepath.Join(t.Dir, "origins", name+"."+storage)
}

// formerOriginPath returns the file of 0.2.0 for both storages. It stays when a token file is removed: a keyring may
// keep the token that it is about.
func (t Tokens) formerOriginPath(name string) string { return filepath.Join(t.Dir, "origins", name) }

// keyring runs one operation on the keyring for at most keyringTimeout.
func (t Tokens) keyring(do func() (string, error)) (string, error) {
	if !t.hasBus() {
		return "", fmt.Errorf("%w: there is no session bus", ErrNoKeyring)
	}
	type result struct {
		token string
		err   error
	}
	done := make(chan result, 1)
	go func() {
		token, err := do()
		done <- result{token, err}
	}()
	timer := time.NewTimer(keyringTimeout)
	defer timer.Stop()
	select {
	case r := <-done:
		if r.err == nil || errors.Is(r.err, keyring.ErrNotFound) {
			return r.token, r.err
		}
		if errors.Is(r.err, keyring.ErrSetDataTooBig) {
			return "", fmt.Errorf("%w for the keyring", ErrTooLarge)
		}
		return "", fmt.Errorf("%w: %w", ErrNoKeyring, r.err)
	case <-timer.C:
		return "", fmt.Errorf("%w: it did not answer within %s; is it locked?", ErrNoKeyring, keyringTimeout)
	}
}

// hasBus reports whether the keyring can answer. On Linux without a session bus the library would start daemons that
// never end.
func (t Tokens) hasBus() bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	}
	// autolaunch: asks for a daemon to be started.
	if address := t.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" && !strings.Contains(address, "autolaunch:") {
		return true
	}
	dir := t.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return err == nil
}

package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// rereadPause is the least time between two readings of the keys because of an unknown one. A token without a kid may
// have an unknown key, too. The reading at the start does not count.
const rereadPause = time.Minute

// keySet holds the public keys of an issuer. It keeps them for as long as a reading fails.
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time

	mu       sync.Mutex
	known    []jose.JSONWebKey
	rereadAt time.Time
	isUnread bool          // The latest reading failed.
	reading  chan struct{} // Closed at the end of a reading under way. Nil if no reading runs.
}

// VerifySignature returns the payload of a token that one of the keys has signed. It implements oidc.KeySet.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, err
	}
	if len(signed.Signatures) != 1 {
		return nil, refuse("the token has no single signature")
	}
	id := signed.Signatures[0].Header.KeyID
	payload, isSigned := verifyWith(k.named(id), signed)
	if isSigned {
		return payload, nil
	}
	isKnown := id != "" && len(k.named(id)) > 0
	if isKnown {
		return nil, refuse("the signature is wrong")
	}
	err = k.reread(ctx)
	if err != nil {
		return nil, err
	}
	payload, isSigned = verifyWith(k.named(id), signed)
	if !isSigned {
		return nil, refuse("the issuer has no key that has signed the token")
	}
	return payload, nil
}

// verifyWith returns the payload of a token that one of the keys has signed.
func verifyWith(keys []jose.JSONWebKey, signed *jose.JSONWebSignature) ([]byte, bool) {
	for _, key := range keys {
		payload, err := signed.Verify(key)
		if err == nil {
			return payload, true
		}
	}
	return nil, false
}

// named returns the keys of an identifier, or all for a token without one.
func (k *keySet) named(id string) []jose.JSONWebKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	var found []jose.JSONWebKey
	for _, key := range k.known {
		if id == "" || key.KeyID == id {
			found = append(found, key)
		}
	}
	return found
}

// reread reads the keys again, unless that was done less than a pause ago. Requests at one time share a reading. It
// returns errUnread if the latest reading failed: the token may be good.
func (k *keySet) reread(ctx context.Context) error {
	k.mu.Lock()
	now := k.now()
	isDue := now.Sub(k.rereadAt) >= rereadPause
	if k.reading == nil && isDue {
		k.rereadAt = now
		done := make(chan struct{})
		k.reading = done
		go func() { // A caller that leaves does not end it for the others.
			err := k.read(context.WithoutCancel(ctx))
			k.mu.Lock()
			defer k.mu.Unlock()
			k.isUnread = err != nil
			k.reading = nil
			close(done)
		}()
	}
	done, isUnread := k.reading, k.isUnread
	k.mu.Unlock()
	if done == nil && isUnread {
		return errUnread
	}
	if done == nil {
		return refuse("the issuer had no key for this token less than a minute ago")
	}
	select {
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isUnread {
		return errUnread
	}
	return nil
}

// read replaces the keys by the keys that the issuer publishes now.
func (k *keySet) read(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return fmt.Errorf("read the keys of the issuer: %w", err)
	}
	answer, err := k.client.Do(r)
	if err != nil {
		return fmt.Errorf("read the keys of the issuer: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("read the keys of the issuer: status %d", answer.StatusCode)
	}
	var published struct {
		Keys []json.RawMessage `json:"keys"`
	}
	err = json.NewDecoder(answer.Body).Decode(&published)
	if err != nil {
		return errors.New("read the keys of the issuer: they are not well formed")
	}
	var usable []jose.JSONWebKey
	for _, text := range published.Keys {
		var key jose.JSONWebKey
		isKnown := json.Unmarshal(text, &key) == nil // A kind that is not known is passed over.
		isForSignatures := key.Use == "" || key.Use == "sig"
		if isKnown && isForSignatures && key.IsPublic() {
			usable = append(usable, key)
		}
	}
	if len(usable) == 0 {
		return errors.New("the issuer publishes no key for signatures")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known = usable
	return nil
}

package service

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"fundesk/apiclient/apitype"
)

// testKeys returns the key of a seed that begins with a byte, and is zero else.
func testKeys(t testing.TB, first byte) *knownKey {
	t.Helper()
	seed := append([]byte{first}, make([]byte, ed25519.SeedSize-1)...)
	known, err := newKeys(seed, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// TestForgedTokens tries what is known against JWTs. Spec gap: A1.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	ours, theirs, earlier := testKeys(t, 1), testKeys(t, 2), testKeys(t, 3)
	now, account := testNow.Time, apitype.NewUUID()
	claims := func(change func(jwt.MapClaims)) jwt.MapClaims {
		c := jwt.MapClaims{
			"iss": tokenIssuer,
			"sub": account.String(),
			"iat": now.Unix(),
			"exp": now.Add(time.Hour).Unix(),
		}
		if change != nil {
			change(c)
		}
		return c
	}
	signed := func(method jwt.SigningMethod, key any, header map[string]any, c jwt.MapClaims) string {
		token := jwt.NewWithClaims(method, c)
		token.Header["kid"] = ours.id
		maps.Copy(token.Header, header)
		text, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	eddsa := jwt.SigningMethodEdDSA
	public := []byte(ours.private.Public().(ed25519.PublicKey))
	good := signed(eddsa, ours.private, nil, claims(nil))
	parts := strings.Split(good, ".")
	header, err := json.Marshal(map[string]any{"alg": "EdDSA", "kid": ours.id, "jwk": map[string]string{
		"kty": "OKP",
		"crv": "Ed25519",
		"x":   base64.RawURLEncoding.EncodeToString(theirs.private.Public().(ed25519.PublicKey)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	withJWK := base64.RawURLEncoding.EncodeToString(header) + "." + parts[1]
	tests := []struct {
		name, token string
		want        bool
	}{
		{"good", good, true},
		{"none", signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil, claims(nil)), false},
		{"HMAC with the public key", signed(jwt.SigningMethodHS256, public, nil, claims(nil)), false},
		{"an earlier key", signed(eddsa, earlier.private, map[string]any{"kid": earlier.id}, claims(nil)), false},
		{"an earlier key under the name of the one in use", signed(eddsa, earlier.private, nil, claims(nil)), false},
		{"another key", signed(eddsa, theirs.private, nil, claims(nil)), false},
		{
			name:  "its own key in the header",
			token: withJWK + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(theirs.private, []byte(withJWK))),
		},
		{
			name:  "a key to fetch",
			token: signed(eddsa, theirs.private, map[string]any{"jku": "https://example.org/keys"}, claims(nil)),
		},
		{"another kid", signed(eddsa, ours.private, map[string]any{"kid": "../../etc/passwd"}, claims(nil)), false},
		{"kid of another type", signed(eddsa, ours.private, map[string]any{"kid": 1}, claims(nil)), false},
		{"expired", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) {
			c["exp"] = now.Add(-31 * time.Second).Unix()
		})), false},
		{"expired within the leeway", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) {
			c["exp"] = now.Add(-29 * time.Second).Unix()
		})), true},
		{"without expiry", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) { delete(c, "exp") })), false},
		{"not yet valid", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) {
			c["nbf"] = now.Add(time.Hour).Unix()
		})), false},
		{"issued by a clock that is ahead", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) {
			c["iat"] = now.Add(time.Hour).Unix()
		})), true},
		{"another issuer", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) {
			c["iss"] = "other"
		})), false},
		{"another subject form", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) {
			c["sub"] = "admin"
		})), false},
		{"cut", good[:len(good)-4], false},
		{
			name:  "another payload",
			token: parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"x"}`)) + "." + parts[2],
		},
		{"oversized", good + strings.Repeat("A", 4096), false},
		{"empty", "", false},
		{"dots", "..", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, ok := ours.verify(test.token, now); ok != test.want {
				t.Errorf("got %v, want %v", ok, test.want)
			}
		})
	}
}

// TestRememberedTokenExpires shows that a token that was found good once still ends.
// Promise S11: the expiry of a remembered token is checked each time.
func TestRememberedTokenExpires(t *testing.T) {
	t.Parallel()
	k, account := testKeys(t, 1), apitype.NewUUID()
	token, _, err := k.sign(account, account, testNow.Time, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {time.Hour, true}, {time.Hour + 30*time.Second, false}} {
		got, ok := k.subject(token, testNow.Add(test.after))
		if ok != test.want || (ok && got.account != account) {
			t.Errorf("after %v: got %v %v, want %v", test.after, got.account, ok, test.want)
		}
	}
}

// A token in use is reported once a day in its last 14 days.
func TestTokenThatEndsSoonIsToldOf(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	k := testKeys(t, 1)
	token, ends, err := k.sign(apitype.NewUUID(), apitype.NewUUID(), testNow.Time, 90*day)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		after time.Duration
		want  bool
	}{
		{0, false},
		{75 * day, false},
		{77 * day, true},
		{77*day + time.Minute, false},
		{78 * day, true},
		{89 * day, true},
	} {
		valid, ok := k.subject(token, testNow.Add(test.after))
		if !ok || valid.isWarningDue(ends.Time, testNow.Add(test.after)) != test.want {
			t.Errorf("after %v: got it valid %t and told the other way, want told %t", test.after, ok, test.want)
		}
	}
}

func FuzzToken(f *testing.F) {
	k := testKeys(f, 0)
	// Every process of a fuzzing run must make the same token.
	account := apitype.MustParseUUID("b69dc4c4-ddbc-4324-aa37-eccb64e311c0")
	good, _, err := k.sign(account, account, testNow.Time, time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		// base64url has spare bits at its end: only the same bytes may pass.
		if _, ok := k.verify(token, testNow.Time); ok && token != good {
			t.Errorf("a forged token passed: %q", token)
		}
	})
}

// keyStore is a store with a key that an operator changes.
type keyStore struct {
	Store
	seed []byte
}

func (s *keyStore) SigningSeed(context.Context) ([]byte, error) { return s.seed, nil }

// A process knows a new key 2 s after it was made, and the earlier one no more.
func TestNewKeyIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		earlier, later := testKeys(t, 1), testKeys(t, 2)
		store := &keyStore{seed: earlier.seed}
		reader := newKeyReader(store)
		if _, err := reader.latest(t.Context()); err != nil {
			t.Fatal(err)
		}
		store.seed = later.seed
		id := func() string {
			known, err := reader.fresh(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return known.id
		}
		time.Sleep(2*time.Second - time.Millisecond)
		if id() != earlier.id {
			t.Error("the key was read again before 2 s")
		}
		time.Sleep(time.Millisecond)
		if id() != later.id {
			t.Error("after 2 s: the earlier key is known still")
		}
	})
}

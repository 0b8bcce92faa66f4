package service

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"sync/atomic"
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
		c := jwt.MapClaims{"iss": tokenIssuer, "sub": account.String(), "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
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
		"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(theirs.private.Public().(ed25519.PublicKey)),
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
		{"its own key in the header", withJWK + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(theirs.private, []byte(withJWK))), false},
		{"a key to fetch", signed(eddsa, theirs.private, map[string]any{"jku": "https://example.org/keys"}, claims(nil)), false},
		{"another kid", signed(eddsa, ours.private, map[string]any{"kid": "../../etc/passwd"}, claims(nil)), false},
		{"kid of another type", signed(eddsa, ours.private, map[string]any{"kid": 1}, claims(nil)), false},
		{"expired", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) { c["exp"] = now.Add(-31 * time.Second).Unix() })), false},
		{"expired within the leeway", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) { c["exp"] = now.Add(-29 * time.Second).Unix() })), true},
		{"without expiry", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) { delete(c, "exp") })), false},
		{"not yet valid", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) { c["nbf"] = now.Add(time.Hour).Unix() })), false},
		{"issued by a clock that is ahead", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) { c["iat"] = now.Add(time.Hour).Unix() })), true},
		{"another issuer", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) { c["iss"] = "other" })), false},
		{"another subject form", signed(eddsa, ours.private, nil, claims(func(c jwt.MapClaims) { c["sub"] = "admin" })), false},
		{"cut", good[:len(good)-4], false},
		{"another payload", parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"x"}`)) + "." + parts[2], false},
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

// A token in use is told of once a day in its last 14 days.
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
	}{{0, false}, {75 * day, false}, {77 * day, true}, {77*day + time.Minute, false}, {78 * day, true}, {89 * day, true}} {
		valid, ok := k.subject(token, testNow.Add(test.after))
		if !ok || valid.endsSoon(ends.Time, testNow.Add(test.after)) != test.want {
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

// TestTokenUsesOfADay notes a token at each request: once a day something is to be saved, and what
// could not be saved is not lost.
func TestTokenUsesOfADay(t *testing.T) {
	t.Parallel()
	k, id := testKeys(t, 1), apitype.NewUUID()
	text, ends, err := k.sign(id, apitype.NewUUID(), testNow.Time, 90*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var u tokenUses
	at := func(hours int) {
		t.Helper()
		now := testNow.Add(time.Duration(hours) * time.Hour)
		token, ok := k.subject(text, now)
		if !ok {
			t.Fatalf("after %d hours the token is refused", hours)
		}
		u.note(token, now)
	}
	wants := func(when, on string) map[apitype.UUID]tokenUse {
		t.Helper()
		uses := u.take()
		if got := uses[id]; on == "" && len(uses) > 0 || on != "" && (len(uses) != 1 || got.on.String() != on || got.expires != ends) {
			t.Errorf("%s: got %v, want the use on %q", when, uses, on)
		}
		return uses
	}
	at(0) // 2026-11-20, 9:15 in UTC.
	at(1)
	wants("on the first day", "2026-11-20")
	at(14)
	wants("later on that day", "")
	at(15)
	at(16)
	unsaved := wants("on the next one", "2026-11-21")
	u.putBack(unsaved)
	at(17)
	u.putBack(wants("when it was not saved", "2026-11-21"))
	at(40)
	wants("on the day after that", "2026-11-22")
}

// Of tokens that share an identifier the last end is noted; of 4,096 that were used no more are noted, but for
// those that are; and what was noted since is kept before what could not be saved.
func TestTokenUsesTogether(t *testing.T) {
	t.Parallel()
	var u tokenUses
	use := func(id apitype.UUID, day, lasts int) {
		u.note(verifiedToken{id: id, used: new(atomic.Int64), expires: testNow.AddDate(0, 0, lasts)}, testNow.AddDate(0, 0, day))
	}
	shared := apitype.NewUUID()
	for _, lasts := range []int{5, 9, 7} {
		use(shared, 0, lasts)
	}
	if got, want := u.uses[shared].expires, testNow.AddDate(0, 0, 9).Add(-30*time.Second); !got.Equal(apitype.NewTime(want)) {
		t.Errorf("got the end %v, want %v", got, want)
	}
	for range 4095 {
		use(apitype.NewUUID(), 0, 1)
	}
	use(apitype.NewUUID(), 0, 1)
	use(shared, 1, 1)
	if got := u.uses[shared].on.String(); len(u.uses) != 4096 || got != "2026-11-21" {
		t.Errorf("got %d uses, and the shared one on %s, want 4096 and the next day", len(u.uses), got)
	}
	unsaved := u.take()
	use(shared, 2, 1)
	u.putBack(unsaved)
	if got := u.uses[shared].on.String(); len(u.uses) != 4096 || got != "2026-11-22" {
		t.Errorf("got %d uses, and the shared one on %s, want 4096 and the day after that", len(u.uses), got)
	}
}

// keyStore is a store whose key an operator changes.
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

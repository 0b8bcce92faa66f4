package cli

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/durable"
	"fundesk/apiclient/signin"
	"fundesk/commands/profile"
)

// A signed-in person has a session instead of a token. It is renewed when its access token is about to end.

// The limits of the time of an answer of the identity provider. The answer of a renewal has the next refresh token: a
// provider that takes each one once ends the session of a person who did not wait, whatever --timeout says.
const (
	providerLimit = 10 * time.Second
	renewalLimit  = 30 * time.Second
)

// renewAgain is the least age of a refused access token that is renewed before its end: a service that refuses each new
// one would be asked for ever.
const renewAgain = time.Minute

// tokenCache keeps the token of a client, or the session that has it.
type tokenCache struct {
	mu      sync.Mutex
	plain   string
	session *signin.Session // Nil for a plain token.
	refused string          // The latest token that the service refused.
	// renewal is held during a renewal, and after the end of the program.
	renewal sync.Mutex
	// unsaved is set while the session cannot be stored.
	unsaved atomic.Pointer[unsavedSession]
}

// unsavedSession describes a session that could not be stored.
type unsavedSession struct {
	former string // The stored text that it should replace. Its refresh token is used up.
	err    error
}

// ProviderClient returns an HTTP client for an address, by the network of a target.
func (s *Session) ProviderClient(t *Target, address string) (*http.Client, error) {
	return s.providerClient(t, address, min(providerLimit, s.Flags.Timeout))
}

func (s *Session) providerClient(t *Target, address string, limit time.Duration) (*http.Client, error) {
	transport, err := s.Network(t).Reach(address)
	if err != nil {
		return nil, err
	}
	return signin.Client(transport, limit), nil
}

// refuse records that the service refused a token, so that the next request looks for another token.
func (c *tokenCache) refuse(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plain = ""
	c.refused = token
}

// ForgetToken forgets the token that a sign-in was tried with.
func (s *Session) ForgetToken() {
	s.token.refuse("")
	s.tokenEnds.Store(nil)
}

// cachedToken returns the token of requests to a target. It renews the access token of a person in time.
func (s *Session) cachedToken(ctx context.Context, t *Target) (string, error) {
	c := &s.token
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plain != "" {
		return c.plain, nil
	}
	if c.session != nil && c.isUsable(*c.session, s.App.Now()) {
		s.saveLater(ctx, t)
		return c.session.AccessToken, nil
	}
	text, err := s.storedToken(ctx, t)
	if err != nil {
		return "", err
	}
	session, isSession := c.newest(text)
	if isSession && !c.isUsable(session, s.App.Now()) {
		session, isSession, err = s.renew(ctx, t, session)
	}
	if err != nil {
		return "", err
	}
	if !isSession {
		c.session = nil
		c.plain = session.AccessToken
		return c.plain, nil
	}
	c.session = &session
	return session.AccessToken, nil
}

// newest returns the session of a stored text or, while that cannot be stored, the one that follows it. isSession is
// false for a plain token, which is the access token then.
func (c *tokenCache) newest(text string) (session signin.Session, isSession bool) {
	unsaved := c.unsaved.Load()
	if unsaved != nil && text == unsaved.former {
		return *c.session, true
	}
	c.unsaved.Store(nil) // Another login has stored a newer one.
	session, isSession = signin.Parse(text)
	if !isSession {
		return signin.Session{AccessToken: text}, false
	}
	return session, true
}

// isUsable reports whether a request may be sent with the access token of a session.
func (c *tokenCache) isUsable(session signin.Session, now time.Time) bool {
	if !session.IsFresh(now) {
		return false
	}
	return session.AccessToken != c.refused || now.Sub(session.IssuedAt) < renewAgain
}

// Described returns a session with the claims of its access token.
func Described(session signin.Session) signin.Session {
	claims := apiclient.ClaimsOf(session.AccessToken)
	session.Subject = claims.Subject
	if session.ExpiresAt.IsZero() {
		session.ExpiresAt = claims.Ends
	}
	return session
}

// saveLater stores a session that could not be stored before, unless another login has stored a newer one, or has
// removed it.
func (s *Session) saveLater(ctx context.Context, t *Target) {
	c := &s.token
	unsaved := c.unsaved.Load()
	if unsaved == nil {
		return
	}
	unlock, err := s.Tokens().LockRenewal(ctx, t.Name, doNotWait)
	if err != nil {
		return // With the next request.
	}
	defer unlock()
	text, err := s.storedToken(ctx, t)
	if err != nil || text != unsaved.former {
		return
	}
	if s.saveSession(t.Name, t.Profile, *c.session) == nil {
		c.unsaved.Store(nil)
	}
}

// noteUnsaved warns that the session ends with the program, because its renewal could not be stored.
func (s *Session) noteUnsaved() {
	unsaved := s.token.unsaved.Load()
	if unsaved == nil {
		return
	}
	t := s.Target
	s.Warn("your renewed session was not stored in the %s: %s; sign in again: %s",
		t.Profile.Storage(), unsaved.err, loginCommand(t))
}

// doNotWait gives up at once what another program has.
func doNotWait(context.Context, time.Duration) error { return durable.ErrHeld }

// renew returns the session with another access token, or the plain token that has replaced it meanwhile. Programs that
// renew at one time do it once: an identity provider takes a refresh token only once.
func (s *Session) renew(
	ctx context.Context,
	t *Target,
	known signin.Session,
) (session signin.Session, isSession bool, err error) {
	c := &s.token
	if s.isCompletion { // The answer has the next refresh token, and would be lost with the program.
		known, err = c.orOld(known, s.App.Now(), true, "this command is too short")
		return known, true, err
	}
	unlock, err := s.Tokens().LockRenewal(ctx, t.Name, apiclient.Pause)
	if err != nil {
		known, err = c.orOld(known, s.App.Now(), true, "another program renews it: "+err.Error())
		return known, true, err
	}
	defer unlock()
	text, err := s.storedToken(ctx, t)
	if err != nil {
		return known, true, err
	}
	known, isSession = c.newest(text)
	if !isSession || c.isUsable(known, s.App.Now()) {
		return known, isSession, nil // Another program was first.
	}
	client, err := s.providerClient(t, known.TokenURL, renewalLimit)
	if err != nil {
		return known, true, err
	}
	c.renewal.Lock()
	defer c.renewal.Unlock()
	// A renewal that is cut off could lose the refresh token that it leads to.
	renewed, err := signin.Renew(context.WithoutCancel(ctx), client, known)
	if errors.Is(err, signin.ErrLost) {
		return known, true, WithHint(
			Failure(apiclient.KindUnauthenticated, "your session at %s has ended", ShownURL(known.Issuer)),
			"sign in again: "+loginCommand(t),
		)
	}
	if err != nil {
		isSlow := errors.Is(err, context.DeadlineExceeded) // Trying again at once would only wait again.
		known, err = c.orOld(known, s.App.Now(), !isSlow, err.Error())
		return known, true, err
	}
	renewed = Described(renewed)
	c.unsaved.Store(nil)
	err = s.saveSession(t.Name, t.Profile, renewed)
	if err != nil {
		c.unsaved.Store(&unsavedSession{former: text, err: err})
	}
	return renewed, true, nil
}

// orOld returns the session if its access token is still valid, or else the error of the renewal.
func (c *tokenCache) orOld(
	known signin.Session,
	now time.Time,
	isRetryable bool,
	problem string,
) (signin.Session, error) {
	if known.IsGood(now) && known.AccessToken != c.refused {
		return known, nil
	}
	return known, &apiclient.Error{
		Kind:      apiclient.KindUnavailable,
		Retryable: isRetryable,
		Message:   "your sign-in could not be renewed: " + problem,
	}
}

// saveSession stores a session as the token of the profile. A small keyring gets it without the access token.
func (s *Session) saveSession(name string, p profile.Profile, session signin.Session) error {
	err := s.Tokens().Replace(name, p, session.Stored())
	if errors.Is(err, profile.ErrTooLarge) {
		err = s.Tokens().Replace(name, p, session.StoredWithoutAccess())
	}
	return err
}

// StoredSession returns the session of a target, or false for any other token.
func (s *Session) StoredSession(ctx context.Context, t *Target) (signin.Session, bool) {
	text, err := s.storedToken(ctx, t)
	if err != nil {
		return signin.Session{}, false
	}
	return signin.Parse(text)
}

// identify returns the subject of a person, even after the access token ended: drafts and unsent changes belong to the
// person, also offline.
func (s *Session) identify(ctx context.Context, t *Target) string {
	c := &s.token
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		return c.session.Subject
	}
	if c.plain != "" {
		return ""
	}
	text, err := s.storedToken(ctx, t)
	if err != nil {
		return "" // The request says it.
	}
	session, isSession := signin.Parse(text)
	if !isSession {
		c.plain = text
		return ""
	}
	c.session = &session
	return session.Subject
}

// SignedIn returns the person behind the token of a client, or nil. It asks the service only for tokens that another
// issuer than the service has made.
func (s *Session) SignedIn(ctx context.Context, client *apiclient.Client, token string) (*Person, error) {
	issuer := apiclient.ClaimsOf(token).Issuer
	if issuer == "" || issuer == ownIssuer {
		return nil, nil
	}
	user, err := client.SignedIn(ctx)
	if err != nil || user == nil {
		return nil, err
	}
	return &Person{UUID: user.UUID.String(), Name: user.Name}, nil
}

// ownIssuer is the issuer of tokens of fundeskd for programs.
const ownIssuer = "fundeskd"

// Person is a signed-in person.
type Person struct {
	UUID string `json:"uuid"`
	Name string `json:"name"`
}

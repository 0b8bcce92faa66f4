package signintest

import (
	"context"
	"crypto/rsa"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// signingKey is a key of the provider. It implements op.SigningKey and op.Key.
type signingKey struct {
	id  string
	key *rsa.PrivateKey
}

func (k *signingKey) ID() string                                  { return k.id }
func (k *signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k *signingKey) Key() any                                    { return k.key }

type publicKey struct{ *signingKey }

func (k publicKey) Key() any                           { return &k.key.PublicKey }
func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k publicKey) Use() string                        { return "sig" }

// refreshRequest is the content of a refresh token. It implements op.RefreshTokenRequest.
type refreshRequest struct {
	session, subject, client string
	scopes                   []string
	at                       time.Time
}

func (r *refreshRequest) GetAMR() []string                 { return nil }
func (r *refreshRequest) GetAudience() []string            { return []string{Audience} }
func (r *refreshRequest) GetAuthTime() time.Time           { return r.at }
func (r *refreshRequest) GetClientID() string              { return r.client }
func (r *refreshRequest) GetScopes() []string              { return r.scopes }
func (r *refreshRequest) GetSubject() string               { return r.subject }
func (r *refreshRequest) SetCurrentScopes(scopes []string) { r.scopes = scopes }

// storage keeps the state of a provider. It implements op.Storage and op.DeviceAuthorizationStorage.
type storage struct{ *Provider }

func (s storage) StoreDeviceAuthorization(
	_ context.Context,
	client, deviceCode, userCode string,
	expires time.Time,
	scopes []string,
) error {
	if s.IsBrief {
		scopes = slices.DeleteFunc(scopes, func(scope string) bool { return scope == oidc.ScopeOfflineAccess })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.devices[deviceCode] = &op.DeviceAuthorizationState{
		ClientID: client,
		Audience: []string{Audience},
		Scopes:   scopes,
		Expires:  expires,
	}
	s.codes[userCode] = deviceCode
	return nil
}

func (s storage) GetDeviceAuthorizatonState(
	_ context.Context,
	_, deviceCode string,
) (*op.DeviceAuthorizationState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	device, ok := s.devices[deviceCode]
	if !ok {
		return nil, errors.New("there is no such code")
	}
	state := *device
	return &state, nil
}

func (s storage) life() time.Duration {
	if s.TokenLife > 0 {
		return s.TokenLife
	}
	return 5 * time.Minute
}

func (s storage) CreateAccessToken(context.Context, op.TokenRequest) (id string, expires time.Time, err error) {
	return uuid.NewString(), time.Now().Add(s.life()), nil
}

// CreateAccessAndRefreshTokens replaces the refresh token: an earlier one is refused.
func (s storage) CreateAccessAndRefreshTokens(
	_ context.Context,
	request op.TokenRequest,
	current string,
) (id, refresh string, expires time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := uuid.NewString()
	if current != "" {
		former, ok := s.refreshTokens[current]
		if !ok {
			return "", "", time.Time{}, op.ErrInvalidRefreshToken
		}
		session = former.session
		delete(s.refreshTokens, current)
		s.used[current] = session
		s.renewals++
	}
	refresh = uuid.NewString()
	s.issued = append(s.issued, refresh)
	s.refreshTokens[refresh] = &refreshRequest{
		session: session,
		subject: request.GetSubject(),
		client:  ClientID,
		scopes:  request.GetScopes(),
		at:      time.Now(),
	}
	return uuid.NewString(), refresh, time.Now().Add(s.life()), nil
}

// TokenRequestByRefreshToken ends the session of a refresh token that was used before: a thief may have used it.
func (s storage) TokenRequestByRefreshToken(_ context.Context, token string) (op.RefreshTokenRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.refreshTokens[token]
	if ok {
		return known, nil
	}
	ended, wasUsed := s.used[token]
	maps.DeleteFunc(s.refreshTokens, func(_ string, r *refreshRequest) bool { return wasUsed && r.session == ended })
	return nil, op.ErrInvalidRefreshToken
}

func (s storage) RevokeToken(_ context.Context, token, _, _ string) *oidc.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refreshTokens, token)
	return nil
}

func (s storage) GetRefreshTokenInfo(_ context.Context, _, token string) (user, id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.refreshTokens[token]
	if !ok {
		return "", "", op.ErrInvalidRefreshToken
	}
	return known.subject, token, nil
}

func (s storage) SigningKey(context.Context) (op.SigningKey, error) { return s.signing(), nil }

func (s storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.RS256}, nil
}

func (s storage) KeySet(context.Context) ([]op.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []op.Key
	for _, key := range s.keys {
		keys = append(keys, publicKey{key})
	}
	return keys, nil
}

func (s storage) GetPrivateClaimsFromScopes(
	_ context.Context,
	user, _ string,
	_ []string,
) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.users[user]), nil
}

func (s storage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != ClientID {
		return nil, errors.New("there is no such client")
	}
	return client{s.IsOpaque}, nil
}

// client is the program fundesk at the provider. It implements op.Client.
type client struct{ isOpaque bool }

func (client) GetID() string                        { return ClientID }
func (client) RedirectURIs() []string               { return nil }
func (client) PostLogoutRedirectURIs() []string     { return nil }
func (client) ApplicationType() op.ApplicationType  { return op.ApplicationTypeNative }
func (client) AuthMethod() oidc.AuthMethod          { return oidc.AuthMethodNone }
func (client) ResponseTypes() []oidc.ResponseType   { return nil }
func (client) LoginURL(string) string               { return "" }
func (client) IDTokenLifetime() time.Duration       { return 5 * time.Minute }
func (client) DevMode() bool                        { return false }
func (client) IsScopeAllowed(string) bool           { return true }
func (client) IDTokenUserinfoClaimsAssertion() bool { return false }
func (client) ClockSkew() time.Duration             { return 0 }

func (c client) AccessTokenType() op.AccessTokenType {
	if c.isOpaque {
		return op.AccessTokenTypeBearer
	}
	return op.AccessTokenTypeJWT
}

func (client) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeDeviceCode, oidc.GrantTypeRefreshToken}
}

func (client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return func(scopes []string) []string { return scopes }
}

func (client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return func(scopes []string) []string { return scopes }
}

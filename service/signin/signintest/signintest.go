// Package signintest is a real OpenID Connect provider in the process of a test: github.com/zitadel/oidc with the
// device flow. Only tests import it.
//
//	provider := signintest.Start(t)
//	provider.AddUser("anneke", map[string]any{"name": "Anneke de Vries", "groups": []string{"fundesk-agents"}})
//	token := provider.Token(t, "anneke", nil)
package signintest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The client and the audience of the provider.
const (
	ClientID = "fundesk-cli"
	Audience = "fundesk"
)

// Provider is a running provider. Its exported fields are set before it is used.
type Provider struct {
	URL       string        // The issuer.
	TokenLife time.Duration // Of access tokens. Zero means five minutes.
	// The user that signs in by opening the page of a code. If empty, the test calls Approve.
	ApproveAs string
	// IsOpaque lets access tokens be no JWTs, as certified providers do by default.
	IsOpaque bool
	// IsBrief leaves out the scope offline_access, as providers do that do not offer it to the program.
	IsBrief bool
	// IsPlain lets it be like dex: no session can be ended (RFC 7009), and a used-up refresh token is an
	// invalid_request.
	IsPlain       bool
	server        *httptest.Server
	handler       http.Handler
	mu            sync.Mutex
	keys          []*signingKey // The last one signs.
	users         map[string]map[string]any
	devices       map[string]*op.DeviceAuthorizationState // By device code.
	codes         map[string]string                       // Device codes by user code.
	refreshTokens map[string]*refreshRequest
	used          map[string]string // The sessions of used-up refresh tokens.
	issued        []string          // All refresh tokens, also those that are not valid any more.
	requests      map[string]int    // By path.
	isDown        bool
	hold          chan struct{} // Answers wait until it is closed. Nil holds none.
	held          chan struct{} // Gets a value when an answer waits.
	refusals      []string      // The errors of the next requests for tokens.
	renewals      int
}

// Start starts a provider, which ends with the test.
func Start(t testing.TB) *Provider {
	t.Helper()
	p := New()
	t.Cleanup(p.Close)
	return p
}

// New starts a provider; Close ends it.
func New() *Provider {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return NewAt(listener, "http://"+listener.Addr().String())
}

// NewAt starts a provider that clients reach as issuer; Close ends it.
func NewAt(listener net.Listener, issuer string) *Provider {
	p := &Provider{
		URL:           issuer,
		users:         map[string]map[string]any{},
		devices:       map[string]*op.DeviceAuthorizationState{},
		codes:         map[string]string{},
		refreshTokens: map[string]*refreshRequest{},
		used:          map[string]string{},
		requests:      map[string]int{},
	}
	p.RotateKey(true)
	address, err := url.Parse(issuer)
	if err != nil {
		panic(err)
	}
	var key [32]byte
	_, _ = rand.Read(key[:])
	provider, err := op.NewProvider(&op.Config{
		CryptoKey:             key,
		GrantTypeRefreshToken: true,
		SupportedScopes:       []string{"openid", "profile", "offline_access"},
		DeviceAuthorization: op.DeviceAuthorizationConfig{
			Lifetime:     5 * time.Minute,
			PollInterval: time.Second,
			UserFormPath: address.Path + "/device",
			UserCode:     op.UserCodeBase20,
		},
	}, storage{p}, op.StaticIssuer(p.URL), op.WithAllowInsecure())
	if err != nil {
		panic(err)
	}
	p.handler = provider
	p.server = &httptest.Server{
		Listener: listener,
		Config:   &http.Server{Handler: http.StripPrefix(address.Path, http.HandlerFunc(p.serve))},
	}
	p.server.Start()
	return p
}

// Close ends the provider.
func (p *Provider) Close() {
	p.Release()
	p.server.Close()
}

// serve counts a request, and answers it unless the provider is down.
func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests[r.URL.Path]++
	isDown, hold, held, handler := p.isDown, p.hold, p.held, p.handler
	refusal := ""
	isRefused := r.URL.Path == "/oauth/token" && len(p.refusals) > 0
	if isRefused {
		refusal, p.refusals = p.refusals[0], p.refusals[1:]
	}
	p.mu.Unlock()
	if hold != nil {
		select {
		case held <- struct{}{}:
		default:
		}
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case isDown:
		panic(http.ErrAbortHandler)
	case isRefused && refusal == "":
		w.WriteHeader(http.StatusBadRequest)
	case isRefused:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"` + refusal + `"}`))
	case r.URL.Path == "/device":
		p.visit(w, r)
	case p.IsPlain:
		answerPlainly(w, r, handler)
	default:
		handler.ServeHTTP(w, r)
	}
}

// answerPlainly answers as dex does.
func answerPlainly(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	whole := httptest.NewRecorder()
	handler.ServeHTTP(whole, r)
	var answer map[string]any
	err := json.Unmarshal(whole.Body.Bytes(), &answer)
	if err != nil {
		panic(err)
	}
	delete(answer, "revocation_endpoint")
	if answer["error"] == "invalid_grant" {
		answer["error"] = "invalid_request"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(whole.Code)
	_ = json.NewEncoder(w).Encode(answer)
}

// visit answers the page of a code.
func (p *Provider) visit(w http.ResponseWriter, r *http.Request) {
	if p.ApproveAs == "" {
		_, _ = w.Write([]byte("enter the code\n"))
		return
	}
	err := p.Approve(r.URL.Query().Get("user_code"), p.ApproveAs)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte("you are signed in\n"))
}

// AddUser adds a user with the claims of their access tokens.
func (p *Provider) AddUser(subject string, claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users[subject] = claims
}

// Approve signs a user in with a code.
func (p *Provider) Approve(userCode, subject string) error {
	return p.decide(userCode, func(d *op.DeviceAuthorizationState) {
		d.Done = true
		d.Subject = subject
		d.AuthTime = time.Now()
	})
}

// Deny refuses a code.
func (p *Provider) Deny(userCode string) error {
	return p.decide(userCode, func(d *op.DeviceAuthorizationState) { d.Denied = true })
}

func (p *Provider) decide(userCode string, change func(*op.DeviceAuthorizationState)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	device, ok := p.devices[p.codes[userCode]]
	if !ok {
		return errors.New("there is no such code")
	}
	change(device)
	return nil
}

// Codes returns the user codes that were given.
func (p *Provider) Codes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var codes []string
	for code := range p.codes {
		codes = append(codes, code)
	}
	return codes
}

// RefuseTokens answers the next requests for tokens with errors, such as slow_down. The answer to an empty one has no
// body, as Glewlwyd's has none for a used-up refresh token.
func (p *Provider) RefuseTokens(errors ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusals = errors
}

// SetDown lets the provider answer nothing, or answer again.
func (p *Provider) SetDown(isDown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isDown = isDown
}

// Hold lets all answers wait until Release. The channel gets a value when one waits.
func (p *Provider) Hold() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = make(chan struct{})
	p.held = make(chan struct{}, 1)
	return p.held
}

// Release ends Hold.
func (p *Provider) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hold != nil {
		close(p.hold)
		p.hold = nil
	}
}

// Requests returns how many requests a path has had.
func (p *Provider) Requests(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[path]
}

// Renewals returns how often a refresh token was exchanged.
func (p *Provider) Renewals() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewals
}

// RefreshTokens returns each refresh token that was given.
func (p *Provider) RefreshTokens() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.issued)
}

// EndSessions refuses all refresh tokens from now on.
func (p *Provider) EndSessions() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.refreshTokens)
}

// Sessions returns how many refresh tokens are valid.
func (p *Provider) Sessions() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.refreshTokens)
}

// RotateKey signs with a new key from now on, and publishes the earlier ones if they are kept.
func (p *Provider) RotateKey(keepsEarlier bool) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !keepsEarlier {
		p.keys = nil
	}
	p.keys = append(p.keys, &signingKey{id: uuid.NewString(), key: private})
}

// PublicKey returns the key that verifies the signatures, with its identifier.
func (p *Provider) PublicKey() (string, *rsa.PublicKey) {
	last := p.signing()
	return last.id, &last.key.PublicKey
}

func (p *Provider) signing() *signingKey {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys[len(p.keys)-1]
}

// Claims returns the claims of a good access token of a user.
func (p *Provider) Claims(subject string) map[string]any {
	now := time.Now()
	claims := map[string]any{
		"iss": p.URL,
		"sub": subject,
		"aud": []string{Audience},
		"exp": now.Add(5 * time.Minute).Unix(),
		"nbf": now.Unix(),
		"iat": now.Unix(),
		"jti": uuid.NewString(),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(claims, p.users[subject])
	return claims
}

// Token returns an access token of a user, with some claims replaced. A claim of nil is left out.
func (p *Provider) Token(t testing.TB, subject string, replaced map[string]any) string {
	t.Helper()
	return p.TokenTyped(t, subject, "at+jwt", replaced)
}

// TokenTyped returns a token with the given typ in its header.
func (p *Provider) TokenTyped(t testing.TB, subject, typ string, replaced map[string]any) string {
	t.Helper()
	claims := p.Claims(subject)
	for name, value := range replaced {
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
	}
	key := p.signing()
	return Sign(t, jose.RS256, key.key, map[string]any{"kid": key.id, "typ": typ}, claims)
}

// TokenWithoutKid returns a good token that does not name its key.
func (p *Provider) TokenWithoutKid(t testing.TB, subject string) string {
	t.Helper()
	return Sign(t, jose.RS256, p.signing().key, nil, p.Claims(subject))
}

// Sign returns a token with any header and any key.
func Sign(t testing.TB, algorithm jose.SignatureAlgorithm, key any, header, claims map[string]any) string {
	t.Helper()
	options := &jose.SignerOptions{}
	for name, value := range header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
	if err != nil {
		t.Fatalf("make a signer: %v", err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatalf("sign a token: %v", err)
	}
	return token
}

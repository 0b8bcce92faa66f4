// Package signin lets a person sign in at the identity provider of a service by the device flow (RFC 8628), and renews
// their access token. It must not know where sessions are kept or how anything is shown.
//
//	offer, err := signin.Find(ctx, client, "https://service.example")
//	flow, err := signin.Begin(ctx, client, offer)
//	fmt.Println(flow.Address, flow.Code)
//	session, err := flow.Wait(ctx, nil)
package signin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"fundesk/apiclient/apitype"
)

// maxDocument is the most bytes of an answer that are read.
const maxDocument = 1 << 20

// Offer is the sign-in that a service offers.
type Offer struct {
	Issuer   string
	ClientID string
	Scopes   []string
}

// Session is a signed-in person. It is secret, and is stored as JSON.
type Session struct {
	Issuer       string    `json:"issuer"`
	ClientID     string    `json:"client_id"`
	TokenURL     string    `json:"token_url"`
	RevokeURL    string    `json:"revoke_url,omitempty"`
	RefreshToken string    `json:"refresh_token,omitempty"`
	AccessToken  string    `json:"access_token,omitempty"`
	Subject      string    `json:"subject,omitempty"` // Of the access tokens.
	IssuedAt     time.Time `json:"issued_at,omitzero"`
	ExpiresAt    time.Time `json:"expires_at,omitzero"` // Of the access token. Zero if unknown.
}

// The errors of a sign-in and of a renewal.
var (
	ErrDenied  = errors.New("the sign-in was refused at the identity provider")
	ErrExpired = errors.New("the code expired before it was entered")
	ErrLost    = errors.New("the session has ended")
	// ErrNotOffered means that the service offers no sign-in to this program.
	ErrNotOffered = errors.New("the service offers no sign-in")
)

// Client returns an HTTP client on a transport. It follows no redirect: a secret goes to the issuer alone.
func Client(transport http.RoundTripper, timeout time.Duration) *http.Client {
	return &http.Client{
		Transport:     transport,
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Find asks a service where persons sign in, by GET /.well-known/oauth-protected-resource.
func Find(ctx context.Context, client *http.Client, baseURL string) (Offer, error) {
	var resource apitype.ProtectedResource
	status, err := get(ctx, client, baseURL+"/.well-known/oauth-protected-resource", &resource)
	isAbsent := status >= http.StatusMultipleChoices && status < http.StatusInternalServerError
	if isAbsent || status == http.StatusOK && err != nil {
		return Offer{}, ErrNotOffered
	}
	if err != nil {
		return Offer{}, err
	}
	if len(resource.AuthorizationServers) == 0 || resource.ClientID == "" {
		return Offer{}, ErrNotOffered
	}
	return Offer{
		Issuer:   resource.AuthorizationServers[0],
		ClientID: resource.ClientID,
		Scopes:   resource.ScopesSupported,
	}, nil
}

// get reads a JSON document, and returns the status of the answer. Zero means that there was none.
func get(ctx context.Context, client *http.Client, address string, into any) (int, error) {
	host, err := checkAddress(address)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, errors.New("the address cannot be asked")
	}
	request.Header.Set("Accept", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return 0, unreachable(host, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return answer.StatusCode, fmt.Errorf("%s answers with status %d", host, answer.StatusCode)
	}
	err = json.NewDecoder(io.LimitReader(answer.Body, maxDocument)).Decode(into)
	if err != nil {
		return answer.StatusCode, fmt.Errorf("%s does not answer with a description", host)
	}
	return answer.StatusCode, nil
}

// checkAddress returns the host of an address. It refuses plain http off this machine.
func checkAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return "", errors.New("the identity provider has an address that is not https")
	}
	ip := net.ParseIP(u.Hostname())
	isHere := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !isHere) {
		return "", fmt.Errorf("the address of %s is not https", u.Host)
	}
	return u.Host, nil
}

// unreachable returns the error of a request without an answer, without its address.
func unreachable(host string, err error) error {
	wrapped, ok := errors.AsType[*url.Error](err)
	if ok {
		err = wrapped.Err
	}
	return fmt.Errorf("cannot reach %s: %w", host, err)
}

// Flow is a sign-in that waits for the person.
type Flow struct {
	Address  string // Where the person enters the code.
	Complete string // The same with the code in it. Empty if the issuer has none.
	Code     string
	EndsAt   time.Time // Zero if unknown.

	client  *http.Client
	config  oauth2.Config
	device  *oauth2.DeviceAuthResponse
	session Session
}

// Begin asks the issuer for a code.
func Begin(ctx context.Context, client *http.Client, offer Offer) (*Flow, error) {
	var issuer struct {
		Issuer string `json:"issuer"`
		Device string `json:"device_authorization_endpoint"`
		Token  string `json:"token_endpoint"`
		Revoke string `json:"revocation_endpoint"`
	}
	_, err := get(ctx, client, strings.TrimSuffix(offer.Issuer, "/")+"/.well-known/openid-configuration", &issuer)
	if err != nil {
		return nil, err
	}
	if issuer.Issuer != offer.Issuer {
		return nil, errors.New("the identity provider has a different name than the service says")
	}
	if issuer.Device == "" {
		return nil, errors.New("the identity provider has no sign-in by a code (RFC 8628)")
	}
	for _, address := range []string{issuer.Device, issuer.Token} {
		_, err := checkAddress(address)
		if err != nil {
			return nil, err
		}
	}
	f := &Flow{client: client, config: oauth2.Config{
		ClientID: offer.ClientID,
		Scopes:   offer.Scopes,
		Endpoint: oauth2.Endpoint{
			DeviceAuthURL: issuer.Device,
			TokenURL:      issuer.Token,
			AuthStyle:     oauth2.AuthStyleInParams,
		},
	}}
	f.device, err = f.config.DeviceAuth(withClient(ctx, client))
	if err != nil {
		return nil, describe(issuer.Device, err)
	}
	if _, err := checkAddress(f.device.VerificationURI); err != nil {
		return nil, err
	}
	f.Address = f.device.VerificationURI
	f.Code = f.device.UserCode
	f.EndsAt = f.device.Expiry
	if _, err := checkAddress(f.device.VerificationURIComplete); err == nil {
		f.Complete = f.device.VerificationURIComplete
	}
	f.session = Session{
		Issuer:    offer.Issuer,
		ClientID:  offer.ClientID,
		TokenURL:  issuer.Token,
		RevokeURL: issuer.Revoke,
	}
	return f, nil
}

func withClient(ctx context.Context, client *http.Client) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, client)
}

// Wait waits until the person has signed in. It calls slowDown each time the issuer asks for fewer questions; slowDown
// may be nil.
func (f *Flow) Wait(ctx context.Context, slowDown func()) (Session, error) {
	client := *f.client
	client.Transport = noticing{f.client.Transport, slowDown}
	token, err := f.config.DeviceAccessToken(withClient(ctx, &client), f.device)
	isEnded := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if isEnded {
		return Session{}, ErrExpired
	}
	if err != nil {
		return Session{}, describe(f.config.Endpoint.TokenURL, err)
	}
	return f.session.with(token), nil
}

// noticing is a transport that reports answers with slow_down.
type noticing struct {
	http.RoundTripper

	slowDown func()
}

// RoundTrip sends a request.
func (n noticing) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := n.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument))
	_ = answer.Body.Close() // All that counts was read.
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	var refusal struct {
		Error string `json:"error"`
	}
	isSlowDown := json.Unmarshal(body, &refusal) == nil && refusal.Error == "slow_down"
	if isSlowDown && n.slowDown != nil {
		n.slowDown()
	}
	return answer, nil
}

// with returns the session with the tokens of an answer. An issuer that sends no new refresh token keeps the old one.
func (s Session) with(token *oauth2.Token) Session {
	s.AccessToken = token.AccessToken
	s.IssuedAt = time.Now()
	s.ExpiresAt = token.Expiry
	if token.RefreshToken != "" {
		s.RefreshToken = token.RefreshToken
	}
	return s
}

// Renew returns the session with another access token. It returns ErrLost if the issuer refuses the refresh token.
func Renew(ctx context.Context, client *http.Client, s Session) (Session, error) {
	if s.RefreshToken == "" {
		return s, ErrLost
	}
	_, err := checkAddress(s.TokenURL)
	if err != nil {
		return s, err
	}
	config := oauth2.Config{
		ClientID: s.ClientID,
		Endpoint: oauth2.Endpoint{TokenURL: s.TokenURL, AuthStyle: oauth2.AuthStyleInParams},
	}
	old := &oauth2.Token{RefreshToken: s.RefreshToken}
	token, err := config.TokenSource(withClient(ctx, client), old).Token()
	if isRefused(err) {
		return s, ErrLost
	}
	if err != nil {
		return s, describe(s.TokenURL, err)
	}
	return s.with(token), nil
}

// isRefused reports whether an issuer refuses a refresh token. The standard has invalid_grant for it, but dex says
// invalid_request, others interaction_required or the like, and Glewlwyd says nothing.
func isRefused(err error) bool {
	refusal, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || refusal.Response == nil || refusal.Response.StatusCode >= http.StatusInternalServerError {
		return false
	}
	switch refusal.ErrorCode {
	case "":
		return refusal.Response.StatusCode == http.StatusBadRequest // Proxies have other ones.
	case "slow_down", "temporarily_unavailable", "server_error":
		return false // The same may work later.
	case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		return false // The program is refused, not the person.
	}
	return true
}

// ErrNoEnd means that an issuer has no place where a session can be ended.
var ErrNoEnd = errors.New("it has no way to end one (RFC 7009)")

// Revoke ends a session at the issuer (RFC 7009). It returns ErrNoEnd if that has no place for it.
func Revoke(ctx context.Context, client *http.Client, s Session) error {
	if s.RefreshToken == "" {
		return nil
	}
	if s.RevokeURL == "" {
		return ErrNoEnd
	}
	host, err := checkAddress(s.RevokeURL)
	if err != nil {
		return err
	}
	form := url.Values{
		"token":           {s.RefreshToken},
		"token_type_hint": {"refresh_token"},
		"client_id":       {s.ClientID},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("the address cannot be asked")
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := client.Do(request)
	if err != nil {
		return unreachable(host, err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers with status %d", host, answer.StatusCode)
	}
	return nil
}

// describe returns the error of the issuer in words. It holds nothing of the answer: that may have a token.
func describe(address string, err error) error {
	host := "the identity provider"
	u, parseErr := url.Parse(address)
	if parseErr == nil && u.Host != "" {
		host = u.Host
	}
	refusal, isRefusal := errors.AsType[*oauth2.RetrieveError](err)
	if !isRefusal {
		if errors.Is(err, context.Canceled) {
			return err
		}
		if _, isNetwork := errors.AsType[*url.Error](err); isNetwork {
			return unreachable(host, err)
		}
		return fmt.Errorf("%s does not answer with a token", host)
	}
	switch refusal.ErrorCode {
	case "access_denied":
		return ErrDenied
	case "expired_token":
		return ErrExpired
	case "invalid_grant":
		return ErrLost
	case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		return fmt.Errorf("%s does not let this program sign persons in (%s); ask the service's operator",
			host, refusal.ErrorCode)
	}
	status := 0
	if refusal.Response != nil {
		status = refusal.Response.StatusCode
	}
	return fmt.Errorf("%s answers with status %d", host, status)
}

// shortMargin bounds how long before its end an access token is renewed.
const shortMargin = 30 * time.Second

// IsFresh reports whether the access token is still good for a request. A token of a short life is renewed after two
// thirds of it.
func (s Session) IsFresh(now time.Time) bool {
	if s.AccessToken == "" {
		return false
	}
	if s.ExpiresAt.IsZero() {
		return true
	}
	margin := min(shortMargin, s.ExpiresAt.Sub(s.IssuedAt)/3)
	return now.Before(s.ExpiresAt.Add(-margin))
}

// IsGood reports whether the access token has not ended yet.
func (s Session) IsGood(now time.Time) bool {
	return s.AccessToken != "" && (s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt))
}

// Parse reads a stored session. It returns false for any other text, such as a token.
func Parse(text string) (Session, bool) {
	var s Session
	if !strings.HasPrefix(text, "{") {
		return s, false
	}
	err := json.Unmarshal([]byte(text), &s)
	return s, err == nil && s.TokenURL != ""
}

// Stored returns the session as it is stored.
func (s Session) Stored() string {
	text, _ := json.Marshal(s) // Texts and times always can be.
	return string(text)
}

// StoredWithoutAccess returns the session without its access token, for a keyring with little room.
func (s Session) StoredWithoutAccess() string {
	s.AccessToken = ""
	s.IssuedAt = time.Time{}
	s.ExpiresAt = time.Time{}
	return s.Stored()
}

// Package signin verifies the access tokens of an OpenID Connect issuer, and maps their claims to what a person may do.
// Only fundeskd imports it. It must not know the store: package service keeps the users.
//
//	provider, err := signin.New(signin.Options{Issuer: issuer, Audience: audience, Map: table})
//	go provider.Run(ctx)
//	s, err := service.New(ctx, service.Options{Store: store, SignIn: provider})
package signin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

const (
	leeway      = 30 * time.Second // How far the clocks of the issuer and of this computer may differ.
	maxToken    = 16 << 10         // Bytes of a token.
	maxSubject  = 255              // Bytes, by OpenID Connect.
	maxDocument = 1 << 20          // Bytes of what the issuer publishes.
	issuerLimit = 5 * time.Second  // How long the issuer may take to answer.
)

// algorithms are the accepted signatures. None of them uses a secret that both sides know.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.EdDSA}

// tokenTypes are the accepted types in the header of a token, in lower case. A token may have none.
var tokenTypes = []string{"", "jwt", "at+jwt", "application/at+jwt"}

// Options configure a Provider. Issuer, Audience and Map are required.
type Options struct {
	Issuer   string
	Audience string // That each token must name.
	Map      *Map
	Now      func() time.Time  // The clock of the pauses between two readings of the keys. Nil means the system's.
	Client   http.RoundTripper // The way to the issuer. Nil means the default transport.
	Logger   *slog.Logger      // Nil means no log.
}

// Provider verifies the tokens of one issuer. It is safe for concurrent use.
type Provider struct {
	options Options
	client  *http.Client
	keys    atomic.Pointer[keySet] // Nil until the issuer was read.
}

// New returns a provider, which knows nothing of its issuer yet; [Provider.Run] reads it.
func New(o Options) (*Provider, error) {
	err := checkIssuer(o.Issuer)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	transport := o.Client
	if transport == nil {
		transport = http.DefaultTransport
	}
	client := &http.Client{Timeout: issuerLimit, Transport: limited{transport}}
	return &Provider{options: o, client: client}, nil
}

// checkIssuer refuses an issuer whose keys could be replaced in transit.
func checkIssuer(text string) error {
	issuer, err := url.Parse(text)
	isWeb := err == nil && issuer.Host != "" && (issuer.Scheme == "https" || issuer.Scheme == "http")
	hasMore := isWeb && (issuer.User != nil || issuer.RawQuery != "" || issuer.Fragment != "")
	if !isWeb || hasMore {
		return errors.New("the issuer must be a URL such as https://login.example/realms/charity")
	}
	if issuer.Scheme == "http" && !isLoopback(issuer.Hostname()) {
		return errors.New("the issuer is plain http, which is allowed for this machine only; use https")
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// limited bounds what is read of an answer.
type limited struct{ http.RoundTripper }

// RoundTrip sends a request.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, maxDocument), answer.Body}
	return answer, nil
}

// The pauses between two readings of an issuer that does not answer.
const (
	firstPause = time.Second
	mostPause  = time.Minute
)

// Run reads the issuer until that succeeds, or the context ends.
func (p *Provider) Run(ctx context.Context) {
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		err := p.Read(ctx)
		if err == nil {
			p.options.Logger.Info("persons can sign in", "issuer", p.options.Issuer)
			return
		}
		if ctx.Err() != nil {
			return
		}
		p.options.Logger.Warn("the issuer cannot be read yet; persons cannot sign in until then",
			"issuer", p.options.Issuer, "error", err.Error())
		if service.Pause(ctx, pause) != nil {
			return
		}
	}
}

// Read reads the description and the keys of the issuer.
func (p *Provider) Read(ctx context.Context) error {
	ctx = oidc.ClientContext(ctx, p.client)
	discovered, err := oidc.NewProvider(ctx, p.options.Issuer)
	if err != nil {
		return errors.New(firstLine(err))
	}
	var document struct {
		Keys string `json:"jwks_uri"`
	}
	err = discovered.Claims(&document)
	if err != nil {
		return fmt.Errorf("read the description of the issuer: %w", err)
	}
	err = checkIssuer(document.Keys)
	if err != nil {
		return errors.New("the issuer publishes its keys at an address that is not https")
	}
	keys := &keySet{url: document.Keys, client: p.client, now: p.options.Now}
	err = keys.read(ctx)
	if err != nil {
		return err
	}
	p.keys.Store(keys)
	return nil
}

// config are the checks of go-oidc.
var config = &oidc.Config{
	SupportedSigningAlgs: algorithmNames(),
	SkipClientIDCheck:    true, // Checked by us, because its error has values of the token.
	SkipExpiryCheck:      true, // Checked by our leeway.
}

func algorithmNames() []string {
	var names []string
	for _, algorithm := range algorithms {
		names = append(names, string(algorithm))
	}
	return names
}

// firstLine returns an error without what an issuer sent as a page.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	const most = 300
	return strings.ToValidUTF8(line[:min(len(line), most)], "")
}

// Issued reports whether a token claims to be of the issuer. It verifies nothing.
func (p *Provider) Issued(token string) bool {
	if len(token) > maxToken {
		return false
	}
	_, body, _ := strings.Cut(token, ".")
	body, _, _ = strings.Cut(body, ".")
	payload, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return false
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	return json.Unmarshal(payload, &claims) == nil && claims.Issuer == p.options.Issuer
}

// errUnread refuses tokens whose key could not be read: they may be good.
var errUnread = &service.Error{
	Kind:   service.Unavailable,
	Detail: "the identity provider could not be asked for its keys yet",
}

// reason is why a token is refused. Its text holds nothing of the token, which must not be in the log.
type reason struct {
	text  string
	whole string // The same with values of the token, for the operator who has it. Empty if it is the same.
}

func (r reason) Error() string { return cmp.Or(r.whole, r.text) }

func refuse(format string, args ...any) reason { return reason{text: fmt.Sprintf(format, args...)} }

// with adds values of the token.
func (r reason) with(format string, args ...any) reason {
	r.whole = r.text + fmt.Sprintf(format, args...)
	return r
}

// Verify returns the person of a valid token, or the reason why it is refused. The reason is for the log: it holds
// nothing of the token.
func (p *Provider) Verify(ctx context.Context, token string, now time.Time) (service.SignedIn, error) {
	person, err := p.Explain(ctx, token, now)
	if known, ok := errors.AsType[reason](err); ok {
		return person, errors.New(known.text)
	}
	if err != nil && service.KindOf(err) != service.Unavailable {
		return person, errors.New("the token is not well formed")
	}
	return person, err
}

// Explain returns the person of a valid token, or the reason why it is refused, with values of the token.
func (p *Provider) Explain(ctx context.Context, token string, now time.Time) (service.SignedIn, error) {
	keys := p.keys.Load()
	var person service.SignedIn
	if keys == nil {
		return person, errUnread
	}
	if len(token) > maxToken {
		return person, refuse("the token has more than %d bytes", maxToken)
	}
	err := checkHeader(token)
	if err != nil {
		return person, err
	}
	signature := &signatureCheck{keySet: keys}
	verified, err := oidc.NewVerifier(p.options.Issuer, signature, config).Verify(ctx, token)
	if signature.err != nil {
		return person, signature.err
	}
	if err != nil {
		return person, err
	}
	if !slices.Contains(verified.Audience, p.options.Audience) {
		return person, refuse("the token is not for the audience %q", p.options.Audience).
			with(", but for %q", verified.Audience)
	}
	claims, err := claimsOf(verified)
	if err != nil {
		return person, err
	}
	err = checkTimes(claims, verified.Expiry, now)
	if err != nil {
		return person, err
	}
	if verified.Subject == "" || len(verified.Subject) > maxSubject {
		return person, refuse("the token has no sub of 1 to %d bytes", maxSubject)
	}
	person = p.options.Map.person(claims)
	person.Subject = SubjectOf(p.options.Issuer, verified.Subject)
	person.Expires = verified.Expiry
	return person, nil
}

// signatureCheck keeps the error of a check by the keys, of which go-oidc returns only the text.
type signatureCheck struct {
	*keySet

	err error
}

// VerifySignature implements oidc.KeySet.
func (c *signatureCheck) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	var payload []byte
	payload, c.err = c.keySet.VerifySignature(ctx, token)
	return payload, c.err
}

// SubjectOf returns the digest of an issuer and the sub of its tokens. It is the same in each database.
func SubjectOf(issuer, sub string) apitype.UUID {
	return apitype.UUID(uuid.NewSHA1(uuid.NameSpaceURL, []byte(issuer+"\n"+sub)))
}

// CheckSubject refuses an issuer or a sub that no token can have, such as a sub with a blank at its end.
func CheckSubject(issuer, sub string) error {
	if err := checkIssuer(issuer); err != nil {
		return err
	}
	if sub == "" || len(sub) > maxSubject {
		return fmt.Errorf("the sub has %d bytes, and 1 to %d are accepted", len(sub), maxSubject)
	}
	if strings.TrimSpace(sub) != sub || strings.ContainsFunc(sub, unicode.IsControl) {
		return fmt.Errorf("the sub %q begins or ends with a blank, or has a control character", sub)
	}
	return nil
}

// checkHeader refuses tokens of another purpose, such as logout tokens, and signatures that are not accepted.
func checkHeader(token string) error {
	first, _, _ := strings.Cut(token, ".")
	header, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		return refuse("the token is not a JWT")
	}
	var named struct {
		Type      string                  `json:"typ"`
		Algorithm jose.SignatureAlgorithm `json:"alg"`
	}
	err = json.Unmarshal(header, &named)
	if err != nil {
		return refuse("the token is not a JWT")
	}
	if !slices.Contains(tokenTypes, strings.ToLower(named.Type)) {
		return refuse("the typ of the token is not at+jwt or JWT")
	}
	if !slices.Contains(algorithms, named.Algorithm) {
		return refuse("the token is not signed by %s", strings.Join(algorithmNames(), ", ")).
			with(", but by %q", named.Algorithm)
	}
	return nil
}

// claimsOf returns the claims of a token. Numbers keep their digits.
func claimsOf(token *oidc.IDToken) (map[string]any, error) {
	var raw json.RawMessage
	err := token.Claims(&raw)
	if err != nil {
		return nil, err
	}
	var claims map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return claims, decoder.Decode(&claims)
}

// checkTimes refuses a token that has ended, or does not begin yet.
func checkTimes(claims map[string]any, expires, now time.Time) error {
	if _, has := claims["exp"]; !has {
		return refuse("the token has no exp")
	}
	if !now.Before(expires.Add(leeway)) {
		return refuse("the token has ended").with(", at %s", expires.UTC().Format(time.RFC3339))
	}
	begin, has := claims["nbf"]
	if !has {
		return nil
	}
	number, isNumber := begin.(json.Number)
	if !isNumber {
		return refuse("the nbf of the token is not a time")
	}
	seconds, err := number.Float64()
	if err != nil {
		return refuse("the nbf of the token is not a time")
	}
	from := time.Unix(int64(seconds), 0)
	if now.Add(leeway).Before(from) {
		return refuse("the token has not begun").with(", it begins at %s", from.UTC().Format(time.RFC3339))
	}
	return nil
}

// Package apiclient is the typed client of the Fundraising Data Service: a method for
// each operation, lists that fetch the next page while the current one is used, retries
// of what may be retried, and the settlement of changes whose answer was lost.
//
// It must not know how anything is shown, stored or configured, nor anything of the
// service's insides; it imports only apitype of this module. A client is safe for
// concurrent use.
//
//	client, err := apiclient.New(apiclient.Options{BaseURL: "https://api.example.org", Token: token})
//	if err != nil {
//		return err
//	}
//	for call, err := range client.Calls.All(ctx, apitype.CallListOptions{}, apiclient.AllOptions{}) {
//		if err != nil {
//			return err // the list ended early
//		}
//		fmt.Println(call.Cursor)
//	}
package apiclient

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/apiclient/apitype"
)

// DefaultTimeout is the longest time for one request.
const DefaultTimeout = 30 * time.Second

// These limits bound the memory that a service can make the client use: the bytes of a page and of a record, the
// records of a page, and the values of a record. The largest page of careful services has a tenth of it.
const (
	maxPage    = 16 << 20
	maxRecords = 100_000
)

// Options of a client. Only BaseURL is required.
type Options struct {
	BaseURL string                                    // Such as https://host/base; /api/v1/… is appended.
	Token   func(ctx context.Context) (string, error) // Called for the first request. Nil sends no token.
	// Refused is called with a token that the service refused. With it, Token is called for every request: it keeps the
	// token, and renews it.
	Refused func(token string)
	// Identify returns the subject of tokens that Token may not have yet. An empty text means unknown. It may be nil.
	Identify  func(ctx context.Context) string
	Transport http.RoundTripper // Nil means its own, with https unless the host is this machine.
	Network   Network           // The way there; only of an own transport.
	Timeout   time.Duration     // Of one request. Zero means DefaultTimeout.
	Tries     int               // Of a request that may be repeated, in all. Zero means four.
	UserAgent string
	Trace     io.Writer // Gets masked requests and answers. Nil writes none.

	// Account names the account of a token that names none itself; "": see TokenIdentity. A new
	// token of the same account is then known for one.
	Account string

	PaymentQRParameter string // The name of the pledge filter WithPaymentQR. Empty means apitype.PaymentQRParameter.

	// Unpaged are the nouns (person, call, pledge) with lists that the service sends whole, without pages.
	Unpaged []string
	// Omitted is called for each unreadable embedded object, with its record and its place there. The record is
	// decoded without it. For a record that is left out as a whole, it gets the reason and an empty place. It may be
	// nil.
	Omitted func(record, place string)
	// Repaired is called for each answer in JSON with bytes that are not UTF-8. U+FFFD replaces them. It may be nil.
	Repaired func()

	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error // Waits between retries. Nil means a timer.
}

// Client sends requests to one service on behalf of one account.
type Client struct {
	Persons      *Collection[apitype.Person, apitype.PersonListOptions]
	Calls        *Collection[apitype.Call, apitype.CallListOptions]
	Pledges      *Collection[apitype.Pledge, apitype.PledgeListOptions]
	EntityAccess *EntityAccessService
	Queue        *QueueService
	// MissingChecks are the calls that were completed without required checks. It is an extension.
	// GET /fundesk/v1/calls/missing-checks
	MissingChecks *Collection[apitype.MissingChecks, apitype.MissingChecksOptions]

	options Options
	base    *url.URL
	trace   *tracer
	own     bool // The transport is our own, and reports whether a connection was made.
	behind  atomic.Int64

	extensions atomic.Pointer[[]string]         // The extensions of the service. Nil until they are known.
	person     atomic.Pointer[apitype.UserName] // The person behind the token, if an answer has named one.

	maxPage, maxRecord int // Bytes; constant but for tests.

	pinned atomic.Pointer[string] // The only account whose tokens are sent. Nil allows every account.

	asking sync.Mutex // Held while the token is asked for once.

	mu       sync.Mutex
	token    string
	isProven bool // The service has taken the token.
}

// New makes a client; it sends nothing. Its error is of kind usage.
func New(o Options) (*Client, error) {
	base, err := parseBaseURL(o.BaseURL, o.Transport == nil)
	if err != nil {
		return nil, err
	}
	own := o.Transport == nil
	if own {
		transport := newTransport(base)
		if err := o.Network.apply(transport, base); err != nil {
			return nil, err
		}
		o.Transport = transport
	}
	if o.Tries <= 0 {
		o.Tries = defaultTries
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	o.PaymentQRParameter = cmp.Or(o.PaymentQRParameter, apitype.PaymentQRParameter)
	o.UserAgent = cmp.Or(o.UserAgent, "fundesk")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = Pause
	}
	c := &Client{
		options:   o,
		base:      base,
		own:       own,
		maxPage:   maxPage,
		maxRecord: apitype.MaxRecordBytes,
	}
	if o.Trace != nil {
		c.trace = &tracer{out: o.Trace}
	}
	c.Persons = &Collection[apitype.Person, apitype.PersonListOptions]{
		endpoint[apitype.Person]{client: c, path: personsPath},
	}
	c.Calls = &Collection[apitype.Call, apitype.CallListOptions]{endpoint[apitype.Call]{client: c, path: callsPath}}
	c.Pledges = &Collection[apitype.Pledge, apitype.PledgeListOptions]{
		endpoint[apitype.Pledge]{client: c, path: pledgesPath},
	}
	c.EntityAccess = &EntityAccessService{client: c}
	c.Queue = &QueueService{client: c}
	c.Queue.Calls = &Collection[apitype.Call, apitype.QueueCallListOptions]{
		endpoint[apitype.Call]{client: c, path: queuePath + "/calls", required: c.Queue.required},
	}
	c.MissingChecks = &Collection[apitype.MissingChecks, apitype.MissingChecksOptions]{endpoint[apitype.MissingChecks]{
		client: c,
		path:   extensionsPath + "/calls/missing-checks",
		required: func(ctx context.Context) error {
			return c.required(ctx, apitype.ExtensionChecks, apitype.ExtensionChecks)
		},
	}}
	c.Queue.Deferrals = &Collection[apitype.Deferral, apitype.QueueDeferralListOptions]{
		endpoint[apitype.Deferral]{client: c, path: queuePath + "/deferrals", required: c.Queue.required},
	}
	return c, nil
}

// BaseURL returns the address before every path, without a slash at its end.
func (c *Client) BaseURL() string { return c.base.String() }

// parseBaseURL checks an address; with secure set plain http is for this machine only.
func parseBaseURL(text string, secure bool) (*url.URL, error) {
	usage := func(message string) error { return &Error{Kind: KindUsage, Message: message} }
	base, err := url.Parse(apitype.BaseURL(text))
	if text == "" {
		return nil, usage("no base URL")
	}
	if err != nil || base.Host == "" || base.Opaque != "" {
		return nil, usage("the base URL is not of the form https://host/path")
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, usage("the base URL must not carry a user, a query or a fragment")
	}
	if base.Scheme == "http" && secure && !isLoopback(strings.ToLower(base.Hostname())) {
		return nil, usage("the base URL " + text + " is plain http, which is allowed for this machine only; use https")
	}
	if base.Scheme != "http" && base.Scheme != "https" {
		return nil, usage("the base URL must begin with https://")
	}
	return base, nil
}

// isLoopback reports whether a host is this machine. Names below localhost are not: a resolver or a proxy may send
// them elsewhere.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// newTransport returns the transport for requests to a service. Plain http never leaves this machine, whatever a
// resolver or a proxy answers.
func newTransport(base *url.URL) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.DisableCompression = isLoopback(base.Hostname()) // There packing costs more than sending.
	transport.OnProxyConnectResponse = func(
		_ context.Context, proxy *url.URL, _ *http.Request, answer *http.Response,
	) error {
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf(
				"the proxy %s answered %d %s",
				proxy.Host,
				answer.StatusCode,
				http.StatusText(answer.StatusCode),
			)
		}
		return nil
	}
	if base.Scheme == "http" {
		transport.Proxy, transport.DialContext = nil, dialLoopback
	}
	return transport
}

// dialLoopback connects to this machine at the port of an address.
func dialLoopback(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	if host != "localhost" {
		return dialer.DialContext(ctx, network, address)
	}
	connection, err := dialer.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		if over6, err6 := dialer.DialContext(ctx, network, net.JoinHostPort("::1", port)); err6 == nil {
			return over6, nil
		}
	}
	return connection, err
}

// Identity returns a stable name of the account that is not a secret: the subject of the token, or the account in the
// options for a token without one, or else its TokenIdentity.
func (c *Client) Identity(ctx context.Context) (string, error) {
	name, isNamed, err := c.identity(ctx)
	if err != nil {
		return name, err
	}
	if !isNamed && c.options.Account != "" {
		return c.options.Account, nil
	}
	return name, nil
}

// ErrOtherAccount refuses a token of another account than the pinned one.
var ErrOtherAccount = errors.New("the token belongs to another account")

// Pin lets the client send nothing with a token of another account than this one, as Identity names it. Such a
// request fails with ErrOtherAccount, and the next one asks for the token again.
func (c *Client) Pin(account string) { c.pinned.Store(&account) }

// checkPinned fails if a token belongs to another account than the pinned one.
func (c *Client) checkPinned(token string) error {
	pinned := c.pinned.Load()
	if pinned == nil {
		return nil
	}
	name, isNamed := c.nameOf(token)
	if !isNamed && c.options.Account != "" {
		name = c.options.Account
	}
	if name == *pinned {
		return nil
	}
	c.forget(token)
	return &Error{Kind: KindUnauthenticated, Message: ErrOtherAccount.Error(), Err: ErrOtherAccount}
}

// forget lets the next request ask for another token.
func (c *Client) forget(token string) {
	c.mu.Lock()
	if c.token == token {
		c.token = ""
	}
	c.mu.Unlock()
	if c.options.Refused != nil {
		c.options.Refused(token)
	}
}

// TokenIdentity returns a name that other tokens of the same account may not have: the subject of the token, or the
// beginning of its SHA-256 without one, or "embedded" without a token.
func (c *Client) TokenIdentity(ctx context.Context) (string, error) {
	name, _, err := c.identity(ctx)
	return name, err
}

// identity returns the name of the account of the present token. isNamed is false if the token has none.
func (c *Client) identity(ctx context.Context) (name string, isNamed bool, err error) {
	if c.options.Identify != nil {
		name := c.options.Identify(ctx)
		if name != "" {
			return name, true, nil
		}
	}
	token, err := c.bearer(ctx)
	if err != nil {
		return "", false, err
	}
	name, isNamed = c.nameOf(token)
	return name, isNamed, nil
}

// nameOf returns the name of the account of a token. isNamed is false if the token has none.
func (c *Client) nameOf(token string) (name string, isNamed bool) {
	if token == "" {
		return "embedded", true
	}
	if claims := ClaimsOf(token); claims.Subject != "" {
		return claims.Subject, true
	}
	sum := sha256.Sum256([]byte(token))
	return "token-" + hex.EncodeToString(sum[:8]), false
}

// Claims are the readable parts of a token.
type Claims struct {
	Subject string    // Empty for none.
	Issuer  string    // Empty for none.
	Ends    time.Time // Zero if it does not expire.
}

// ClaimsOf reads a JWT without verifying it. An opaque token has no claims.
func ClaimsOf(token string) Claims {
	parts := strings.Split(token, ".")
	var c Claims
	if len(parts) != 3 {
		return c
	}
	text, _ := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var said struct {
		Subject string   `json:"sub"`
		Issuer  string   `json:"iss"`
		Expires *float64 `json:"exp"` // Seconds.
	}
	_ = json.Unmarshal(text, &said) // An unreadable token has none.
	c.Issuer = said.Issuer
	c.Subject = said.Subject
	if said.Expires != nil {
		c.Ends = time.Unix(int64(*said.Expires), 0)
	}
	return c
}

// bearer returns the token, which it asks for once. It forgets a refused token, so that it finds a new one after a
// login elsewhere.
func (c *Client) bearer(ctx context.Context) (string, error) {
	if c.options.Token == nil {
		return "", nil
	}
	if c.options.Refused != nil { // A renewal takes a while, and answers need no token.
		return c.ask(ctx)
	}
	c.asking.Lock()
	defer c.asking.Unlock()
	c.mu.Lock()
	known := c.token
	c.mu.Unlock()
	if known != "" {
		return known, nil
	}
	return c.ask(ctx)
}

// ask asks for the token, and keeps it.
func (c *Client) ask(ctx context.Context) (string, error) {
	token, err := c.options.Token(ctx)
	if err != nil {
		if known := asError(err); known != nil {
			outer := *known
			outer.Err = err // The wrapping errors stay in the chain.
			return "", &outer
		}
		return "", &Error{Kind: KindUnauthenticated, Message: err.Error(), Err: err}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", &Error{Kind: KindUnauthenticated, Message: "the token holds characters that no token has"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = token
	return token, nil
}

// noteToken stores the effect of a status on the token of its request: a refused token is forgotten. isExpired reports
// that the token was accepted before, or that another one is known by now.
func (c *Client) noteToken(token string, status int) (isExpired bool) {
	if status == http.StatusUnauthorized && c.options.Refused != nil {
		c.options.Refused(token)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if token != c.token {
		return status == http.StatusUnauthorized
	}
	if status != http.StatusUnauthorized {
		c.isProven = true
		return false
	}
	isExpired = c.isProven && token != ""
	c.token, c.isProven = "", false
	return isExpired
}

// Behind returns how far the service's clock was behind Options.Now at its last answer, to the second. It returns zero
// if the clock was not behind, or is unknown. Lists are filtered by the service's times.
func (c *Client) Behind() time.Duration { return time.Duration(c.behind.Load()) }

// noteClock reads the service's own time from an answer to a request of a time of ours.
func (c *Client) noteClock(answer http.Header, sent time.Time) {
	if at, err := http.ParseTime(answer.Get("Date")); err == nil {
		c.behind.Store(int64(max(0, sent.Sub(at))))
	}
}

// Pause lets time pass, unless the context ends before.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

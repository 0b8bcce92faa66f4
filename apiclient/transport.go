package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"fundesk/apiclient/apitype"
)

// Response is an answer of the service, read whole.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	// EditedSince is set for the record of a creation with a lost answer, if it has other values than were sent.
	EditedSince bool

	expired bool // The service refused a token that it took before.
}

// Effect returns the confirmed effect of the result on the person. Empty if there is none.
func (r *Response) Effect() apitype.ResultEffect {
	return apitype.ResultEffect(r.Header.Get(apitype.EffectsHeader))
}

// Do sends one request and returns whatever was answered: no retry, no
// interpretation. The path lies below the base URL. Its errors are of type *Error.
func (c *Client) Do(
	ctx context.Context,
	method, path string,
	query url.Values,
	body []byte,
	header http.Header,
) (*Response, error) {
	return c.once(ctx, request{
		method: method,
		path:   path,
		query:  query,
		body:   body,
		header: header,
	})
}

// Export returns everything that a service keeps of a person, which is longer than a record.
// GET /fundesk/v1/persons/{uuid}/export
func (c *Client) Export(ctx context.Context, person apitype.UUID) (*Response, error) {
	return c.once(
		ctx,
		request{
			method: http.MethodGet,
			path:   extensionsPath + "/persons/" + person.String() + "/export",
			limit:  apitype.MaxExportBytes,
		},
	)
}

// request is one request before it is sent.
type request struct {
	method, path string
	query        url.Values
	body         []byte // Nil sends none.
	header       http.Header
	space        []byte // Memory for the answer's body, which is empty and may grow.
	isPage       bool   // The answer may hold several records.
	limit        int    // The most bytes of the answer. Zero means the limit of a record or a page.
}

// limit returns how many bytes the answer to a request may have.
func (c *Client) limit(r request, status int) int {
	if r.isPage || status/100 != 2 {
		return c.maxPage
	}
	return cmp.Or(r.limit, c.maxRecord)
}

// once sends a request once.
func (c *Client) once(parent context.Context, r request) (*Response, error) {
	if err := parent.Err(); err != nil { // Surely not sent, whatever the transport.
		return nil, c.fault(parent, err, false)
	}
	token, err := c.bearer(parent)
	if err != nil {
		return nil, err
	}
	err = c.checkPinned(token)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(parent, c.options.Timeout)
	defer cancel()
	var connected atomic.Bool
	if c.own {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn:        func(httptrace.GotConnInfo) { connected.Store(true) },
			Got1xxResponse: func(status int, _ textproto.MIMEHeader) error { return interim(status) },
		})
	} else {
		connected.Store(true)
	}
	req, err := c.build(ctx, r, token)
	if err != nil {
		return nil, err
	}
	started := c.options.Now()
	c.trace.request(req, r.body)
	// No http.Client: following a redirect would send the token elsewhere and turn a PUT into a GET, and the error of
	// a failed one has its address.
	answer, err := c.options.Transport.RoundTrip(req)
	if err != nil {
		return nil, c.fault(parent, err, connected.Load())
	}
	defer answer.Body.Close()
	if answer.StatusCode < 200 { // The body is the bare connection, which no context ends.
		return nil, interim(answer.StatusCode)
	}
	defer context.AfterFunc(ctx, func() { _ = answer.Body.Close() })()
	c.noteClock(answer.Header, started)
	c.noteExtensions(answer.Header)
	body, err := readBody(answer, c.limit(r, answer.StatusCode), r.space)
	known := asError(err)
	if known != nil {
		known.answered = answer.StatusCode
		return nil, c.fault(parent, err, true)
	}
	if err != nil && ctx.Err() != nil && parent.Err() == nil {
		return nil, c.tooSlow(body)
	}
	if err != nil {
		return nil, c.fault(parent, err, true)
	}
	c.trace.answer(answer, body, c.options.Now().Sub(started))
	if c.base.Scheme == "http" && answer.StatusCode == http.StatusBadRequest && wantsTLS(body) {
		return nil, &Error{
			Kind:    KindUnavailable,
			Message: c.base.Host + " answers with TLS alone: the base URL has to begin with https://",
		}
	}
	whole := &Response{
		Status:  answer.StatusCode,
		Header:  answer.Header,
		Body:    body,
		expired: c.noteToken(token, answer.StatusCode),
	}
	c.repair(whole)
	return whole, nil
}

// wantsTLS reports whether a port for TLS has refused plain http: the answer comes from its server, and not from the
// service.
func wantsTLS(body []byte) bool {
	for _, refusal := range []string{
		"HTTP request to an HTTPS server",                 // Go.
		"plain HTTP request was sent to HTTPS port",       // nginx.
		"speaking plain HTTP to an SSL-enabled server",    // Apache.
		"This combination of host and port requires TLS.", // Tomcat.
	} {
		if bytes.Contains(body, []byte(refusal)) {
			return true
		}
	}
	return false
}

// repair replaces each byte of an answer in JSON that is not UTF-8, such as an é in Latin-1, by U+FFFD. Programs that
// read our output would refuse such a byte.
func (c *Client) repair(r *Response) {
	if utf8.Valid(r.Body) || !r.isJSON() {
		return
	}
	repaired := make([]byte, 0, len(r.Body)+len(r.Body)/8)
	for rest := r.Body; len(rest) > 0; {
		char, size := utf8.DecodeRune(rest)
		repaired = utf8.AppendRune(repaired, char)
		rest = rest[size:]
	}
	r.Body = repaired
	if c.options.Repaired != nil {
		c.options.Repaired()
	}
}

// build makes the request that is sent.
func (c *Client) build(ctx context.Context, r request, token string) (*http.Request, error) {
	relative, err := url.Parse(r.path)
	isRelative := err == nil && !relative.IsAbs() && relative.Host == ""
	if !isRelative || relative.RawQuery != "" || relative.Fragment != "" {
		return nil, &Error{Kind: KindUsage, Message: "the path is not of the form /api/v1/…"}
	}
	target := c.base.JoinPath(relative.EscapedPath())
	target.RawQuery = r.query.Encode()
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target.String(), body)
	if err != nil {
		return nil, &Error{Kind: KindUsage, Message: "the request cannot be written: " + unwrapURL(err).Error()}
	}
	for name, values := range r.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	// Go's transport would silently repeat a PUT that carries one of these.
	req.Header.Del("Idempotency-Key")
	req.Header.Del("X-Idempotency-Key")
	req.Header.Set("User-Agent", c.options.UserAgent)
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json, application/problem+json")
	}
	if r.body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// fault returns the error of a request without a complete answer.
func (c *Client) fault(parent context.Context, err error, connected bool) *Error {
	err = unwrapURL(err)
	if known := asError(err); known != nil {
		return known
	}
	e := &Error{
		Kind:      KindUnavailable,
		Retryable: true,
		Sent:      connected,
		Err:       err,
	}
	var timeout net.Error
	switch {
	case errors.Is(parent.Err(), context.Canceled):
		return &Error{
			Kind:    KindInterrupted,
			Message: "interrupted",
			Sent:    connected,
			Err:     parent.Err(),
		}
	case parent.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Message = "no whole answer from " + c.base.Host + " within " + c.options.Timeout.String()
	case !connected:
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			err = dial.Err // Without the address, which the message already has.
		}
		e.Message = "cannot reach " + c.base.Host + ": " + err.Error()
	default:
		if alert, ok := TLSAlert(err); ok {
			err = alert // Without the names of Go's functions around it.
		}
		e.Message = "the connection to " + c.base.Host + " broke: " + err.Error()
	}
	return e
}

// TLSAlert returns the alert with which the service refused a connection, such as that it requires a certificate.
func TLSAlert(err error) (*net.OpError, bool) {
	alert, ok := errors.AsType[*net.OpError](err)
	return alert, ok && alert.Op == "remote error"
}

// unwrapURL takes the address off an error: Go's text holds the query, which may hold
// an IBAN.
func unwrapURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// interim returns the error of a status that answers nothing: the request was complete, and asked for no other
// protocol.
func interim(status int) *Error {
	return &Error{
		Kind:    KindUnavailable,
		Status:  status,
		Sent:    true,
		Message: "the service answers without an end; check the base URL",
	}
}

var (
	errTooLarge = errors.New("the answer is too large")
	errTooSlow  = errors.New("the answer takes too long")
)

// tooSlow returns the error of an answer that began and did not end in time. A repeat would take as long.
func (c *Client) tooSlow(read []byte) *Error {
	return &Error{
		Kind:    KindUnavailable,
		Message: "no whole answer from " + c.base.Host + " within " + c.options.Timeout.String(),
		Sent:    true,
		Err:     errors.Join(errTooSlow, context.DeadlineExceeded),
		came:    max(bytes.Count(read, []byte(`"node"`)), len(read)/typicalRecord),
	}
}

// smaller returns how many records to request instead of size after a page that is too large, or takes too long. It
// returns 0 if fewer would change nothing.
func smaller(failed error, size int) int {
	e := asError(failed)
	if size < 2 || e == nil {
		return 0
	}
	if errors.Is(failed, errTooLarge) {
		return size / 2
	}
	if errors.Is(failed, errTooSlow) && e.came > 0 && e.came <= size {
		return max(1, min(size, e.came)/2)
	}
	return 0
}

// tooLarge returns the error of an answer beyond a limit, in bytes. It has the beginning of the answer.
func tooLarge(limit int, read []byte) *Error {
	return &Error{
		Kind:    KindUnavailable,
		Message: "the answer is larger than " + strconv.Itoa(limit>>20) + " MiB",
		Sent:    true,
		Err:     errors.Join(errTooLarge, ErrUnreadable),
		body:    bytes.Clone(read[:min(len(read), maxRefusal)]),
	}
}

// readBody reads an answer up to limit, into buffer as far as it fits. It returns the received part of a broken one.
// It stops early if an answer that should be JSON does not begin like JSON.
func readBody(answer *http.Response, limit int, buffer []byte) ([]byte, error) {
	if n := answer.ContentLength; n > 0 && n <= int64(limit) {
		buffer = slices.Grow(buffer, int(n)+1) // One more, so that the end is seen without growing.
	}
	for {
		if len(buffer) == cap(buffer) {
			buffer = grown(buffer, limit)
		}
		n, err := answer.Body.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if len(buffer) > min(limit, maxRefusal) && answer.StatusCode/100 == 2 &&
			!beginsJSON(buffer) { // All of it would change nothing.
			return nil, broken(&Response{Status: answer.StatusCode, Header: answer.Header}, "it is not JSON")
		}
		if len(buffer) > limit {
			return nil, tooLarge(limit, buffer)
		}
		if errors.Is(err, io.EOF) {
			return buffer, nil
		}
		if err != nil {
			return buffer, err
		}
	}
}

// grown returns a buffer with room for twice as much. A buffer larger than a page gets all the room that it may have
// at once, and the old one is released first.
func grown(buffer []byte, limit int) []byte {
	room := max(4096, 2*len(buffer))
	if room > maxPage {
		room = limit + 1
		debug.FreeOSMemory()
	}
	return append(make([]byte, 0, room), buffer...)
}

// isJSON reports whether an answer has the type JSON, or has no type and looks like JSON.
func (r *Response) isJSON() bool {
	text := r.Header.Get("Content-Type")
	if text == "" {
		return beginsJSON(r.Body)
	}
	media, _, err := mime.ParseMediaType(text)
	return err == nil && (media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json"))
}

// beginsJSON reports whether a body begins as an object or an array.
func beginsJSON(body []byte) bool {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	return len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[')
}

// The bounds of retries.
const (
	defaultTries  = 4
	firstBackoff  = 250 * time.Millisecond
	maxRetryAfter = time.Minute
)

// read sends a GET until it is answered.
func (c *Client) read(ctx context.Context, r request) (*Response, error) {
	r.method = http.MethodGet
	return c.repeat(ctx, r)
}

// checked sends a request once, and wants an answer that may be read as JSON.
func (c *Client) checked(ctx context.Context, r request) (*Response, error) {
	answer, err := c.once(ctx, r)
	if err != nil {
		return answer, err
	}
	err = c.checkJSON(answer, r.method)
	return answer, err
}

// repeat sends a repeatable request until it is answered, at most as many times as the client allows.
func (c *Client) repeat(ctx context.Context, r request) (*Response, error) {
	for try := 1; ; try++ {
		answer, err := c.checked(ctx, r)
		if err == nil {
			return answer, nil
		}
		if err := c.pause(ctx, asError(err), try); err != nil {
			return nil, err
		}
	}
}

// checkJSON returns nil if an answer may be read as JSON.
func (c *Client) checkJSON(r *Response, method string) error {
	if r.Status/100 != 2 {
		e := r.failure(c.options.Now())
		e.Sent = e.Sent && method != http.MethodGet // A read changes nothing.
		return e
	}
	if r.Status == http.StatusPartialContent {
		return broken(r, "it is only a part")
	}
	if r.Status != http.StatusNoContent && !r.isJSON() {
		return broken(r, "it is not JSON")
	}
	return nil
}

// pause waits before the next try. It returns the error to give up with: the tries are
// used up, or it makes no sense to go on.
func (c *Client) pause(ctx context.Context, e *Error, try int) error {
	if !e.Retryable || try >= c.options.Tries {
		return e
	}
	if e.RetryAfter > maxRetryAfter {
		e.Message += "; the service asks to wait until " + c.options.Now().Add(e.RetryAfter).Format(time.RFC3339)
		return e
	}
	wait := firstBackoff << (try - 1)
	wait = wait/2 + rand.N(wait)
	if e.RetryAfter > 0 {
		wait = e.RetryAfter
	}
	if err := c.options.Sleep(ctx, wait); err != nil {
		return &Error{
			Kind:    KindInterrupted,
			Message: "interrupted",
			Sent:    e.Sent,
			Err:     err,
		}
	}
	return nil
}

package apiclient

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Kind is the kind of an error. Scripts rely on its text.
type Kind string

// The kinds of errors.
const (
	KindUsage           Kind = "usage"           // Refused before any request.
	KindNotFound        Kind = "not_found"       // 404.
	KindUnauthenticated Kind = "unauthenticated" // No token, or 401.
	KindForbidden       Kind = "forbidden"       // 403.
	KindConflict        Kind = "conflict"        // 409, 412.
	KindRejected        Kind = "rejected"        // Any other 4xx.
	KindUnavailable     Kind = "unavailable"     // Unreachable, 429, 5xx, or an answer that breaks the interface.
	KindPartial         Kind = "partial"         // Part of several changes failed.
	KindUnknownOutcome  Kind = "unknown_outcome" // A change was sent; whether it took effect is not known.
	KindInterrupted     Kind = "interrupted"     // The caller gave up.
	KindFailure         Kind = "failure"         // Anything else.
)

// Error is the error of a request.
type Error struct {
	Kind       Kind
	Status     int      // HTTP; 0 when there was no answer.
	Message    string   // The first readable sentence.
	Detail     []string // One "field: message" each.
	RequestID  string
	RetryAfter time.Duration // As the service asked; 0 when it did not.
	Retryable  bool          // The same request may succeed later.
	Sent       bool          // A change may have reached the service.
	Err        error         // The cause, if there is one.

	body     []byte // Of the refusal, or the beginning of what is too large.
	answered int    // The status of an answer that could not be read whole.
	came     int    // Records of a page that came in before its time was over.
}

// Error returns the message, with the status before it.
func (e *Error) Error() string {
	if e.Status == 0 {
		return e.Message
	}
	return strconv.Itoa(e.Status) + " " + e.Message
}

// IsOwnFailure reports whether the service itself has answered that it failed, and not
// something in between that gave up on it.
func (e *Error) IsOwnFailure() bool {
	return e.Status == http.StatusServiceUnavailable || e.Status == http.StatusInternalServerError
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of any error, or an empty text for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if known := asError(err); known != nil {
		return known.Kind
	}
	if errors.Is(err, context.Canceled) {
		return KindInterrupted
	}
	return KindFailure
}

// asError returns the Error in err's chain, or nil.
func asError(err error) *Error {
	known, _ := errors.AsType[*Error](err)
	return known
}

// kindOfStatus maps an HTTP status to a kind.
func kindOfStatus(status int) Kind {
	if status == http.StatusUnauthorized {
		return KindUnauthenticated
	}
	if status == http.StatusForbidden {
		return KindForbidden
	}
	if status == http.StatusNotFound {
		return KindNotFound
	}
	if status == http.StatusConflict || status == http.StatusPreconditionFailed {
		return KindConflict
	}
	if status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests ||
		status >= 500 || status < 400 {
		return KindUnavailable
	}
	return KindRejected
}

// Err returns nil for a 2xx answer, or else an *Error with the readable parts of the body.
func (r *Response) Err() error {
	if r.Status >= 200 && r.Status < 300 {
		return nil
	}
	return r.failure(time.Time{})
}

// failure returns the error of an answer that is not 2xx. now is for a Retry-After with a date.
func (r *Response) failure(now time.Time) *Error {
	e := &Error{
		Kind:      kindOfStatus(r.Status),
		Status:    r.Status,
		RequestID: r.Header.Get("X-Request-Id"),
		Retryable: kindOfStatus(r.Status) == KindUnavailable && r.Status >= 400 || r.expired,
		Sent:      r.Status >= 500 || r.Status == http.StatusRequestTimeout,
		body:      r.Body[:min(len(r.Body), maxRefusal)],
	}
	if r.Status < 400 {
		e.Message = "the service redirects elsewhere, and redirects are never followed; check the base URL"
		return e
	}
	e.RetryAfter = retryAfter(r.Header.Get("Retry-After"), now)
	e.readBody(r.Header.Get("Content-Type"), r.Body)
	e.Message = strings.TrimPrefix(e.Message, strconv.Itoa(r.Status)+" ") // As in "502 Bad Gateway".
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(r.Status))
	}
	if e.Message == "" {
		e.Message = "the service refused the request"
	}
	return e
}

// retryAfter reads the header: seconds, or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil || now.IsZero() {
		return 0
	}
	return max(0, at.Sub(now))
}

// broken returns the error of an answer that breaks the interface.
func broken(r *Response, what string) *Error {
	e := &Error{Kind: KindUnavailable, Message: "the answer is not what the interface promises: " + what, Sent: true}
	if r != nil {
		e.Status, e.RequestID = r.Status, r.Header.Get("X-Request-Id")
	}
	return e
}

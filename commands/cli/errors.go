package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fundesk/apiclient"
	"fundesk/render"
)

// Hinted is an error with a hint.
type Hinted struct {
	error
	hint string
}

func (h Hinted) Unwrap() error { return h.error }

// WithHint adds a hint to an error that has none.
func WithHint(err error, hint string) error {
	if _, has := errors.AsType[Hinted](err); has || err == nil || hint == "" {
		return err
	}
	return Hinted{error: err, hint: hint}
}

// UsageError returns the error of wrong arguments, or of input that is refused before any request.
func UsageError(message string, detail ...string) error {
	return &apiclient.Error{Kind: apiclient.KindUsage, Message: message, Detail: detail}
}

// NotOneOf returns the usage error of a flag, an argument or a setting that takes one of some values.
func NotOneOf(name, value string, values []string) error {
	return UsageError(name + " must be one of " + strings.Join(values, ", ") + ", not " + Quote(value))
}

// Failure returns an error of a kind with our own message.
func Failure(kind apiclient.Kind, format string, args ...any) error {
	return &apiclient.Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Quote puts a value from outside into a message.
func Quote(text string) string { return strconv.Quote(render.Cut(render.Clean(text), 80)) }

// ErrorAs returns the client's error in a chain.
func ErrorAs(err error) (*apiclient.Error, bool) { return errors.AsType[*apiclient.Error](err) }

// Partial returns the error of a bulk operation in which some or all failed.
func Partial(failed []error, of int) error {
	if len(failed) == 0 {
		return nil
	}
	e := &apiclient.Error{Kind: apiclient.KindPartial, Message: fmt.Sprintf("%d of %d failed", len(failed), of)}
	for _, err := range failed {
		switch apiclient.KindOf(err) {
		case apiclient.KindInterrupted:
			e.Kind = apiclient.KindInterrupted
		case apiclient.KindUnauthenticated:
			e.Err = err // Its hint holds for all of them.
		}
		e.Detail = append(e.Detail, err.Error())
	}
	return e
}

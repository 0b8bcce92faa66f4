package commands

import (
	"errors"
	"fmt"
	"strconv"

	"fundesk/apiclient"
	"fundesk/render"
)

// hinted is an error with the way out.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// withHint adds the way out to an error that has none.
func withHint(err error, hint string) error {
	if _, has := errors.AsType[hinted](err); has || err == nil || hint == "" {
		return err
	}
	return hinted{error: err, hint: hint}
}

// usageError is wrong arguments, or input that is refused before any request.
func usageError(message string, detail ...string) error {
	return &apiclient.Error{Kind: apiclient.KindUsage, Message: message, Detail: detail}
}

// failure is an error of a kind with a message of our own.
func failure(kind apiclient.Kind, format string, args ...any) error {
	return &apiclient.Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// quote puts a value from outside into a message.
func quote(text string) string { return strconv.Quote(render.Cut(render.Clean(text), 80)) }

// errorAs is the client's error in a chain.
func errorAs(err error) (*apiclient.Error, bool) { return errors.AsType[*apiclient.Error](err) }

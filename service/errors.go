package service

import (
	"errors"
	"fmt"

	"fundesk/apiclient/apitype"
)

// Kind is the sort of a refusal. The transport maps it to a status.
type Kind int

// The kinds of refusals, in the order in which they are checked. Spec gap: R3.
const (
	Internal           Kind = iota // Not the caller's doing.
	Unauthenticated                // The request has no valid account.
	Forbidden                      // The account may not do this.
	Invalid                        // The request is malformed, or a value in it is wrong.
	NotFound                       // The record is unknown, or outside the account's organizations.
	PreconditionFailed             // The record was changed since the caller read it.
	Gone                           // The position in a feed is too old, or of another epoch.
	Conflict                       // The uuid is taken, or the record's state does not allow the move.
	Unavailable                    // The store does not answer now; the same request may work later.
)

// Error is a refusal. Detail and Violations hold no value of the request.
type Error struct {
	Kind       Kind
	Detail     string // One sentence without a full stop.
	Violations apitype.Violations
	Lease      *apitype.LeaseHolder // Of the person, in the refusal of a lease.
	Cause      error                // The error of the store, for the log. Usually nil.
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Error returns the detail and the violations.
func (e *Error) Error() string {
	if len(e.Violations) == 0 {
		return e.Detail
	}
	return e.Detail + ": " + e.Violations.Error()
}

// KindOf returns the kind of an error, or Internal for an error without one.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// NotValid returns the refusal of the values that were found wrong, nil when none was.
func NotValid(v apitype.Violations) error {
	if len(v) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Detail: "the request has values that are not valid", Violations: v}
}

// notFound returns the refusal of a record that is unknown or invisible: both must read the same. Spec gap: R2.
func notFound(kind string) error {
	return &Error{Kind: NotFound, Detail: "there is no such " + kind}
}

// OrNotFound turns ErrNoRow into a NotFound error. It returns any other error unchanged.
func OrNotFound(err error, kind string) error {
	if errors.Is(err, ErrNoRow) {
		return notFound(kind)
	}
	return err
}

// OrUnknown does the work of OrNotFound for an operator. It names the identifier.
func OrUnknown(err error, kind string, id apitype.UUID) error {
	if errors.Is(err, ErrNoRow) {
		return &Error{Kind: NotFound, Detail: "there is no " + kind + " " + id.String()}
	}
	return err
}

func conflict(format string, args ...any) error {
	return &Error{Kind: Conflict, Detail: fmt.Sprintf(format, args...)}
}

// orTaken returns err, or the refusal of a creation if the store already has such a row.
func orTaken(err error, kind string) error {
	if !errors.Is(err, ErrExists) {
		return err
	}
	return taken(kind)
}

// taken returns the refusal of a creation whose uuid is already stored.
func taken(kind string) error {
	article := "a "
	if kind == string(LoadOrganization) {
		article = "an "
	}
	return &Error{
		Kind: Conflict, Detail: article + kind + " with this uuid already exists",
		Violations: apitype.Violations{{Pointer: "/uuid", Message: "is already taken"}},
	}
}

// described adds the operation to an error that is not a refusal.
func described(what string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

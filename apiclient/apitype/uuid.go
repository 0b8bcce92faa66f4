package apitype

import (
	"errors"
	"strings"

	"github.com/google/uuid"
)

// UUID is an identifier. It reads the canonical text form only (36 characters,
// either case) and writes it in lower case. The zero value is the nil UUID, which no
// record has.
type UUID uuid.UUID

// errUUID is the error of a malformed identifier. It does not repeat the value.
var errUUID = errors.New("is not a UUID in its canonical form (8-4-4-4-12 hexadecimal digits)")

// NewUUID returns a random version 4 UUID.
func NewUUID() UUID { return UUID(uuid.New()) }

// ParseUUID reads the canonical form in either case. Spec gap: R4.
func ParseUUID(text string) (UUID, error) {
	if len(text) != 36 {
		return UUID{}, errUUID
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return UUID{}, errUUID
	}
	return UUID(id), nil
}

// MustParseUUID parses a constant. It panics on a malformed text.
func MustParseUUID(text string) UUID {
	id, err := ParseUUID(text)
	if err != nil {
		panic("apitype: " + text + " " + err.Error())
	}
	return id
}

// String returns the canonical form in lower case.
func (u UUID) String() string { return uuid.UUID(u).String() }

// IsZero reports whether u is the nil UUID.
func (u UUID) IsZero() bool { return u == UUID{} }

// IsNew reports whether u may identify a new record: version 4 of the RFC 9562
// variant. Spec gap: R4.
func (u UUID) IsNew() bool {
	return uuid.UUID(u).Version() == 4 && uuid.UUID(u).Variant() == uuid.RFC4122
}

// Compare orders identifiers as their texts are ordered.
func (u UUID) Compare(other UUID) int { return strings.Compare(string(u[:]), string(other[:])) }

// MarshalText writes the canonical form.
func (u UUID) MarshalText() ([]byte, error) { return uuid.UUID(u).MarshalText() }

// UnmarshalText reads what [ParseUUID] reads.
func (u *UUID) UnmarshalText(text []byte) error {
	id, err := ParseUUID(string(text))
	if err != nil {
		return err
	}
	*u = id
	return nil
}

package apitype

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeExact decodes JSON with every digit of its numbers.
func DecodeExact(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(into)
}

// RecordUUID is the uuid of a JSON record, however else the record is; it may be cut behind
// its uuid.
func RecordUUID(raw []byte) (UUID, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return UUID{}, errUUID
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return UUID{}, errUUID
		}
		if name.String() == "uuid" && dec.PeekKind() == '"' {
			id, err := dec.ReadToken()
			if err != nil {
				return UUID{}, errUUID
			}
			return ParseUUID(id.String())
		}
		if dec.SkipValue() != nil {
			break
		}
	}
	return UUID{}, errUUID
}

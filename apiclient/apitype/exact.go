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

// RecordUUID returns the uuid of a JSON record, even if other parts are malformed or cut off. Of several the last one
// counts, as for every decoder of the record.
func RecordUUID(raw []byte) (UUID, error) {
	dec := jsontext.NewDecoder(
		bytes.NewBuffer(raw),
		jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true),
	)
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return UUID{}, errUUID
	}
	err := errUUID
	var id UUID
	for dec.PeekKind() == '"' {
		name, cut := dec.ReadToken()
		if cut != nil {
			break
		}
		if isUUID := name.String() == "uuid"; !isUUID || dec.PeekKind() != '"' {
			if dec.SkipValue() != nil {
				break
			}
			continue
		}
		text, cut := dec.ReadToken()
		if cut != nil {
			break
		}
		id, err = ParseUUID(text.String())
	}
	return id, err
}

package apiclient

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// pageInfo is the position of a page; every part may be absent, or null. Spec gap: L3.
type pageInfo struct {
	startCursor, endCursor       string
	hasPreviousPage, hasNextPage *bool
}

var errPosition = errors.New("its pageInfo is of another kind")

// readPosition reads a position. The first record waits for it, and making a decoder for the type would take longer
// than the reading.
func readPosition(dec *jsontext.Decoder) (pageInfo, error) {
	var info pageInfo
	if _, err := dec.ReadToken(); err != nil {
		return info, errNotWhole
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return info, errNotWhole
		}
		switch token.String() {
		case "startCursor":
			info.startCursor, err = readCursor(dec)
		case "endCursor":
			info.endCursor, err = readCursor(dec)
		case "hasPreviousPage":
			info.hasPreviousPage, err = readFlag(dec)
		case "hasNextPage":
			info.hasNextPage, err = readFlag(dec)
		default:
			err = dec.SkipValue()
		}
		if errors.Is(err, errPosition) {
			return info, err
		}
		if err != nil {
			return info, errNotWhole
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return info, errNotWhole
	}
	return info, nil
}

// readCursor reads a cursor, which is empty if it is null.
func readCursor(dec *jsontext.Decoder) (string, error) {
	switch kind := dec.PeekKind(); kind {
	case '"', 'n', 0: // What is not a value at all is an error of the decoder.
		token, err := dec.ReadToken()
		if err != nil || kind == 'n' {
			return "", err
		}
		return token.String(), nil
	default:
		return "", errPosition
	}
}

// readFlag reads a truth value, or nil for null.
func readFlag(dec *jsontext.Decoder) (*bool, error) {
	switch kind := dec.PeekKind(); kind {
	case 't', 'f', 'n', 0:
		token, err := dec.ReadToken()
		if err != nil || kind == 'n' {
			return nil, err
		}
		return new(token.Bool()), nil
	default:
		return nil, errPosition
	}
}

// locate sets the position of the page in the list. It takes missing parts from the records.
func (r *pageReader[T]) locate() {
	p := &r.Page
	p.StartCursor, p.EndCursor = r.ends[0], r.ends[1]
	if c := r.info.startCursor; c != "" {
		p.StartCursor = c
	}
	if c := r.info.endCursor; c != "" {
		p.EndCursor = c
	}
	if has := r.info.hasNextPage; has != nil {
		p.HasNextPage, p.hasNextKnown = *has, true
	}
	if has := r.info.hasPreviousPage; has != nil {
		p.HasPreviousPage = *has
	}
}

// firstPosition reads the position at the beginning of a page. It is empty if the page begins otherwise.
func firstPosition(dec *jsontext.Decoder) pageInfo {
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return pageInfo{}
	}
	token, err := dec.ReadToken()
	isPosition := err == nil && token.Kind() == '"' && token.String() == "pageInfo" && dec.PeekKind() == '{'
	if !isPosition {
		return pageInfo{}
	}
	info, err := readPosition(dec)
	if err != nil {
		return pageInfo{}
	}
	return info
}

// beginning returns the position in the beginning of a page of one record, and the uuid of the record, which is empty
// if it comes later.
func beginning(prefix []byte) (pageInfo, string) {
	dec := jsontext.NewDecoder(bytes.NewReader(prefix), tolerant)
	info := firstPosition(dec)
	var id string
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return info, ""
		}
		if token.Kind() == '"' && token.String() == "node" && dec.PeekKind() == '{' {
			after := prefix[dec.InputOffset():]
			if found, err := apitype.RecordUUID(after[bytes.IndexByte(after, '{'):]); err == nil {
				id = found.String()
			}
			return info, id
		}
	}
}

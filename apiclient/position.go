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

// readPosition reads a position. The first record waits for it, and a decoder for the type
// would take longer to be made than all that is read with it.
func readPosition(dec *jsontext.Decoder) (info pageInfo, err error) {
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
	case '"', 'n', 0: // What is no value at all is an error of the decoder.
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

// isWhole reports whether the position shows how the list goes on, without the records.
func (i pageInfo) isWhole() bool {
	return i.hasNextPage != nil && (!*i.hasNextPage || i.endCursor != "")
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

// peekCursor looks for the position at the beginning of a page. Cursor is set when
// there is surely a next page; done is false when more must be read.
func peekCursor(prefix []byte) (cursor string, done bool) {
	info, done := peekPosition(jsontext.NewDecoder(bytes.NewReader(prefix), tolerant))
	if info.hasNextPage == nil || !*info.hasNextPage {
		return "", done
	}
	return info.endCursor, done
}

// peekPosition reads the position at the beginning of a page. done is false if more must be read.
func peekPosition(dec *jsontext.Decoder) (info pageInfo, done bool) {
	if dec.PeekKind() != '{' {
		return info, true
	}
	if _, err := dec.ReadToken(); err != nil {
		return info, false
	}
	token, err := dec.ReadToken()
	if err != nil {
		return info, false
	}
	if token.Kind() != '"' || token.String() != "pageInfo" {
		return info, true
	}
	switch kind := dec.PeekKind(); kind {
	case '{':
	case 0:
		return info, false
	default:
		return info, true
	}
	info, err = readPosition(dec)
	if err != nil {
		return pageInfo{}, errors.Is(err, errPosition)
	}
	return info, true
}

// lastPosition returns the position at the end of a page, after its edges. Only the end of the page follows it, so it
// is not part of a record.
func lastPosition(tail []byte) (info pageInfo) {
	at := bytes.LastIndex(tail, []byte(`"pageInfo"`))
	if at < 0 {
		return info
	}
	dec := jsontext.NewDecoder(bytes.NewReader(append([]byte{'{'}, tail[at:]...)), tolerant)
	for range 2 {
		if _, err := dec.ReadToken(); err != nil {
			return info
		}
	}
	if dec.PeekKind() != '{' {
		return info
	}
	info, err := readPosition(dec)
	if err != nil || dec.PeekKind() != '}' || len(bytes.TrimSpace(tail[at+int(dec.InputOffset())-1:])) != 1 {
		return pageInfo{}
	}
	return info
}

// position returns the position in an answer that is too large, and the uuid of its record.
func (e *Error) position() (info pageInfo, id string) {
	if info, id = beginning(e.body); info.hasNextPage == nil && info.endCursor == "" {
		info = lastPosition(e.tail)
	}
	return info, id
}

// beginning returns the position in the beginning of a page of one record, and the uuid of the record, which is empty
// if it comes later.
func beginning(prefix []byte) (info pageInfo, id string) {
	dec := jsontext.NewDecoder(bytes.NewReader(prefix), tolerant)
	info, _ = peekPosition(dec)
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

package apiclient

import (
	"bytes"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// pageInfo is the position of a page; every part may be absent. Spec gap: L3.
type pageInfo struct {
	StartCursor     *string `json:"startCursor"`
	EndCursor       *string `json:"endCursor"`
	HasPreviousPage *bool   `json:"hasPreviousPage"`
	HasNextPage     *bool   `json:"hasNextPage"`
}

// isWhole reports whether the position says how the list goes on, without the records.
func (i pageInfo) isWhole() bool {
	return i.HasNextPage != nil && (!*i.HasNextPage || i.EndCursor != nil && *i.EndCursor != "")
}

// place says where the page stands in the list. What the position leaves out is taken
// from the records.
func (r *pageReader[T]) place() {
	p := &r.Page
	if n := len(p.Records); n > 0 {
		p.StartCursor, p.EndCursor = p.Records[0].Cursor, p.Records[n-1].Cursor
	}
	if c := r.info.StartCursor; c != nil && *c != "" {
		p.StartCursor = *c
	}
	if c := r.info.EndCursor; c != nil && *c != "" {
		p.EndCursor = *c
	}
	if has := r.info.HasNextPage; has != nil {
		p.HasNextPage, p.hasNextKnown = *has, true
	}
	if has := r.info.HasPreviousPage; has != nil {
		p.HasPreviousPage = *has
	}
}

// earlyCursor looks for the position at the beginning of a page. Cursor is set when
// there is surely a next page; done is false when more must be read.
func earlyCursor(prefix []byte) (cursor string, done bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(prefix), tolerant)
	if dec.PeekKind() != '{' {
		return "", true
	}
	if _, err := dec.ReadToken(); err != nil {
		return "", false
	}
	token, err := dec.ReadToken()
	if err != nil {
		return "", false
	}
	if token.Kind() != '"' || token.String() != "pageInfo" {
		return "", true
	}
	value, err := dec.ReadValue()
	if err != nil {
		return "", false
	}
	var info pageInfo
	if jsonv2.Unmarshal(value, &info, tolerant) != nil || info.EndCursor == nil || info.HasNextPage == nil || !*info.HasNextPage {
		return "", true
	}
	return *info.EndCursor, true
}

package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Page is one page of a list.
type Page[T any] struct {
	Records                      []Record[T]
	StartCursor, EndCursor       string // Empty when the service gave none.
	HasPreviousPage, HasNextPage bool

	hasNextKnown bool   // The service said whether there is a next page.
	body         []byte // The answer, in which the records lie.
}

// tolerant reads what no careful service would send, but a client can make sense of.
var tolerant = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// pageInfo is the position of a page; every part may be absent. Spec gap: L3.
type pageInfo struct {
	StartCursor     *string `json:"startCursor"`
	EndCursor       *string `json:"endCursor"`
	HasPreviousPage *bool   `json:"hasPreviousPage"`
	HasNextPage     *bool   `json:"hasNextPage"`
}

// pageReader reads a page out of an answer: the envelope, a bare array, or an object
// with one array in it. Spec gap: L9. The records are cut out of the answer, not
// copied.
type pageReader[T any] struct {
	data   []byte
	dec    *jsontext.Decoder
	page   Page[T]
	info   pageInfo
	placed bool // The position was read.
	edges  bool
	arrays int // Arrays that are not called edges, and the last of them.
	other  []byte
}

// readPage reads a page; its error says what is wrong with it.
func readPage[T any](data []byte) (Page[T], error) {
	r := &pageReader[T]{data: data, dec: jsontext.NewDecoder(bytes.NewBuffer(data), tolerant)}
	if err := r.read(); err != nil {
		return Page[T]{}, err
	}
	r.finish()
	return r.page, nil
}

var (
	errNotWhole = errors.New("it is not whole JSON")
	errNoList   = errors.New("it holds no list of records")
	errTwoLists = errors.New("it holds several lists, and none is called edges")
	errNoRecord = errors.New("an element of the list is not a record")
	errTooMany  = errors.New("a page holds too many records")
)

func (r *pageReader[T]) read() error {
	switch r.dec.PeekKind() {
	case '[':
		if err := r.readList(); err != nil {
			return err
		}
	case '{':
		if err := r.readObject(); err != nil {
			return err
		}
	default:
		return errNoList
	}
	if len(bytes.TrimSpace(r.data[r.dec.InputOffset():])) > 0 {
		return errNotWhole
	}
	return nil
}

// readObject reads the envelope or another object around the list.
func (r *pageReader[T]) readObject() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return errNotWhole
	}
	for r.dec.PeekKind() == '"' {
		token, err := r.dec.ReadToken()
		if err != nil {
			return errNotWhole
		}
		switch name := token.String(); {
		case name == "pageInfo" && r.dec.PeekKind() == '{' && !r.placed:
			r.placed = true // A second one must not contradict what was found early.
			value, err := r.value()
			if err != nil {
				return err
			}
			if jsonv2.Unmarshal(value, &r.info, tolerant) != nil {
				return errors.New("its pageInfo is of another kind")
			}
		case name == "edges" && r.dec.PeekKind() == '[':
			r.edges, r.page.Records = true, nil
			if err := r.readList(); err != nil {
				return err
			}
		case r.dec.PeekKind() == '[':
			value, err := r.value()
			if err != nil {
				return err
			}
			r.arrays++
			r.other = value
		default:
			if r.dec.SkipValue() != nil {
				return errNotWhole
			}
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return errNotWhole
	}
	switch {
	case r.edges:
		return nil
	case r.arrays == 0:
		return errNoList
	case r.arrays > 1:
		return errTwoLists
	}
	inner := &pageReader[T]{data: r.other, dec: jsontext.NewDecoder(bytes.NewBuffer(r.other), tolerant)}
	err := inner.readList()
	r.page.Records = inner.page.Records
	return err
}

func (r *pageReader[T]) readList() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return errNotWhole
	}
	for r.dec.PeekKind() != ']' {
		if r.dec.PeekKind() != '{' {
			if r.dec.SkipValue() != nil {
				return errNotWhole
			}
			return errNoRecord
		}
		record, err := r.readElement()
		if err != nil {
			return err
		}
		if len(r.page.Records) == maxRecords {
			return errTooMany
		}
		r.page.Records = append(r.page.Records, record)
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return errNotWhole
	}
	return nil
}

// readElement reads an edge, or a bare record.
func (r *pageReader[T]) readElement() (Record[T], error) {
	start := int(r.dec.InputOffset())
	if _, err := r.dec.ReadToken(); err != nil {
		return Record[T]{}, errNotWhole
	}
	start += bytes.IndexByte(r.data[start:], '{')
	var edge Record[T]
	isEdge := false
	for r.dec.PeekKind() == '"' {
		token, err := r.dec.ReadToken()
		if err != nil {
			return edge, errNotWhole
		}
		switch name := token.String(); {
		case name == "node" && r.dec.PeekKind() == '{':
			value, err := r.value()
			if err != nil {
				return edge, err
			}
			edge.Raw, isEdge = json.RawMessage(value), true
		case name == "node" && r.edges: // Not a record of its own either.
			if r.dec.SkipValue() != nil {
				return edge, errNotWhole
			}
			return edge, errNoRecord
		case name == "cursor" && r.dec.PeekKind() == '"':
			token, err := r.dec.ReadToken()
			if err != nil {
				return edge, errNotWhole
			}
			edge.Cursor = token.String()
		default:
			if r.dec.SkipValue() != nil {
				return edge, errNotWhole
			}
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return edge, errNotWhole
	}
	if !isEdge {
		edge.Raw = r.data[start:r.dec.InputOffset()]
	}
	return edge, nil
}

// value reads a value and returns its place in the data.
func (r *pageReader[T]) value() ([]byte, error) {
	value, err := r.dec.ReadValue()
	if err != nil {
		return nil, errNotWhole
	}
	end := int(r.dec.InputOffset())
	return r.data[end-len(value) : end : end], nil
}

// finish fills in what the position leaves out.
func (r *pageReader[T]) finish() {
	p := &r.page
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

func asSemantic(err error) (*jsonv2.SemanticError, bool) {
	return errors.AsType[*jsonv2.SemanticError](err)
}

func trimSpace(data []byte) []byte { return bytes.TrimSpace(data) }

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

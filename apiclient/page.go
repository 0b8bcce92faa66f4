package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient/apitype"
)

// Page is one page of a list.
type Page[T any] struct {
	Records                      []Record[T]
	StartCursor, EndCursor       string // Empty when the service gave none.
	HasPreviousPage, HasNextPage bool
	// MayBeCut means that the answer does not show whether the list is complete: it has fewer records than requested,
	// no cursor and no flag. Spec gap: L9.
	MayBeCut bool
	// Fewer is the number of records that were requested in the end, because more were too large together. Zero if all
	// were requested.
	Fewer int

	unread       []unread                   // Unreadable values among the records.
	omitted      func(record, place string) // Called for values that Rows leaves out. May be nil.
	hasNextKnown bool                       // The service reported whether there is one.
}

// Count returns how many records the page has, including unreadable ones.
func (p Page[T]) Count() int { return len(p.Records) + len(p.unread) }

// tolerant reads what no careful service would send, but a client can make sense of.
var tolerant = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// pageReader reads a page out of an answer: the envelope, a bare array, or an object with one array in it.
// The records are cut out of the answer, not copied. Spec gap: L9.
type pageReader[T any] struct {
	Page[T]
	data   []byte
	dec    *jsontext.Decoder
	info   pageInfo
	placed bool // The position was read.
	edges  bool // The edges were read.
	arrays int  // Arrays that are not called edges, and the last of them.
	other  []byte
	begun  int       // Elements of the list that were read.
	ends   [2]string // The cursors of the first and the last element.
}

// readPage reads a page, and its records into space.
func readPage[T any](data []byte, space []Record[T]) (Page[T], error) {
	r := &pageReader[T]{
		Page: Page[T]{Records: space},
		data: data,
		dec:  jsontext.NewDecoder(bytes.NewBuffer(data), tolerant),
	}
	if err := r.read(); err != nil {
		return Page[T]{}, err
	}
	r.locate()
	return r.Page, nil
}

var (
	errNotWhole = errors.New("it is not complete JSON")
	errNoList   = errors.New("it holds no list of records")
	errTwoLists = errors.New("it holds several lists, and none is called edges")
	errTwoEdges = errors.New("it holds several lists called edges")
	errNoRecord = errors.New("an element of the list is not a record")
	errTooMany  = errors.New("a page holds too many records")
)

func (r *pageReader[T]) read() error {
	switch r.dec.PeekKind() {
	case '[':
		if err := r.keep(); err != nil {
			return err
		}
		return r.readEnd()
	case '{':
		if _, err := r.dec.ReadToken(); err != nil {
			return errNotWhole
		}
		return r.readMembers()
	default:
		return errNoList
	}
}

// readMembers reads the members of the envelope, or of another object around the list.
func (r *pageReader[T]) readMembers() error {
	for r.dec.PeekKind() == '"' {
		token, err := r.dec.ReadToken()
		if err != nil {
			return errNotWhole
		}
		switch name := token.String(); {
		case name == "pageInfo" && r.dec.PeekKind() == '{' && !r.placed:
			r.placed = true
			r.info, err = readPosition(r.dec)
			if err != nil {
				return err
			}
		case name == "edges" && r.dec.PeekKind() == '[':
			if r.edges {
				return errTwoEdges
			}
			r.edges = true
			if err := r.keep(); err != nil {
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
			if err := r.skip(nil); err != nil {
				return err
			}
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return errNotWhole
	}
	if err := r.readEnd(); err != nil || r.edges {
		return err
	}
	return r.readOther()
}

// readEnd sees that nothing follows the list.
func (r *pageReader[T]) readEnd() error {
	if len(bytes.TrimSpace(r.data[r.dec.InputOffset():])) > 0 {
		return errNotWhole
	}
	return nil
}

// readOther reads the only array of an object without edges.
func (r *pageReader[T]) readOther() error {
	switch r.arrays {
	case 0:
		return errNoList
	case 1:
		r.data, r.dec = r.other, jsontext.NewDecoder(bytes.NewBuffer(r.other), tolerant)
		return r.keep()
	default:
		return errTwoLists
	}
}

// keep reads the elements of the list.
func (r *pageReader[T]) keep() error {
	for {
		record, isLast, err := r.next()
		switch {
		case err != nil:
			return err
		case isLast:
			return nil
		case record.Raw == nil:
			r.unread = append(r.unread, noRecord(record.Cursor))
		default:
			r.Records = append(r.Records, record)
		}
	}
}

// next reads the next element of the list. isLast means that there was none.
func (r *pageReader[T]) next() (record Record[T], isLast bool, err error) {
	if r.begun == 0 {
		if _, err := r.dec.ReadToken(); err != nil {
			return record, false, errNotWhole
		}
	}
	if r.dec.PeekKind() == ']' {
		if _, err := r.dec.ReadToken(); err != nil {
			return record, false, errNotWhole
		}
		return record, true, nil
	}
	record, err = r.readElement()
	if err == nil && r.begun == maxRecords {
		err = errTooMany
	}
	r.ends[1] = record.Cursor
	if r.begun == 0 {
		r.ends[0] = record.Cursor
	}
	r.begun++
	return record, false, err
}

// readElement reads an edge, or a bare record. Some services send null for a record that they cannot show: then its
// Raw is nil.
func (r *pageReader[T]) readElement() (Record[T], error) {
	switch r.dec.PeekKind() {
	case '{':
	case 'n':
		return Record[T]{}, r.skip(nil)
	default:
		return Record[T]{}, r.skip(errNoRecord)
	}
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
			isEdge = true
			if err := r.skip(nil); err != nil {
				return edge, err
			}
		case name == "cursor" && r.dec.PeekKind() == '"':
			token, err := r.dec.ReadToken()
			if err != nil {
				return edge, errNotWhole
			}
			edge.Cursor = token.String()
		default:
			if err := r.readOurs(name, &edge); err != nil {
				return edge, err
			}
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return edge, errNotWhole
	}
	if !isEdge {
		edge = Record[T]{Cursor: edge.Cursor} // They are members of the record.
		edge.Raw = r.data[start:r.dec.InputOffset()]
	}
	return edge, nil
}

// edgeMembers are the members of an edge that extensions add.
var edgeMembers = []string{"revision", "completedByUserUuid", "attemptReasons", "checks", "consents"}

// readOurs reads a member of an edge that an extension adds, and skips any other. It ignores a value of another kind.
func (r *pageReader[T]) readOurs(name string, edge *Record[T]) error {
	if !slices.Contains(edgeMembers, name) {
		return r.skip(nil)
	}
	value, err := r.value()
	if err != nil {
		return err
	}
	switch name {
	case "revision":
		if jsontext.Value(value).Kind() == '0' {
			edge.ETag = `"` + string(value) + `"`
		}
	case "completedByUserUuid":
		edge.CompletedBy = decodeMember[*apitype.UUID](value)
	case "attemptReasons":
		edge.Reasons = decodeMember[[]apitype.NotReached](value)
	case "checks":
		edge.Checks = decodeMember[*apitype.CallChecks](value)
	case "consents":
		edge.Consents = decodeMember[[]apitype.Consent](value)
	}
	return nil
}

// decodeMember returns a value, or its zero value if it is of another kind.
func decodeMember[V any](value []byte) V {
	var decoded V
	if jsonv2.Unmarshal(value, &decoded, tolerant) != nil {
		var none V
		return none
	}
	return decoded
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

// skip skips a value, and returns its error if it is not complete.
func (r *pageReader[T]) skip(whole error) error {
	if r.dec.SkipValue() != nil {
		return errNotWhole
	}
	return whole
}

package service

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// A document is a record as list answers send it, stored as bytes next to the columns that lists filter by. An answer
// copies it and inserts the parts that depend on the request or on other rows before its last brace. Nothing is decoded
// for reading. Spec gap: L14.

func encode(what string, value any) ([]byte, error) {
	doc, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode the %s: %w", what, err)
	}
	return doc, nil
}

// decode reads a document that a rule is about to change.
func decode(what string, doc []byte, value any) error {
	if err := json.Unmarshal(doc, value); err != nil {
		return fmt.Errorf("decode the stored %s: %w", what, err)
	}
	return nil
}

func revise[T any](what string, doc *[]byte, change func(*T)) error {
	var value T
	err := decode(what, *doc, &value)
	if err != nil {
		return err
	}
	change(&value)
	*doc, err = encode(what, value)
	return err
}

// open appends a document without its last brace, so that members can follow.
func open(dst, doc []byte) []byte { return append(dst, doc[:len(doc)-1]...) }

// member appends one more member to an opened document; nil is null. Spec gap: R14.
func member(dst []byte, name string, value []byte) []byte {
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	if value == nil {
		return append(dst, `null`...)
	}
	return append(dst, value...)
}

// AppendWith appends a document with one more member, which is null where value is nil.
func AppendWith(dst, doc []byte, name string, value []byte) []byte {
	return append(member(open(dst, doc), name, value), '}')
}

// array appends one more member that is an array of documents.
func array[T any](dst []byte, name string, rows []T, node func(dst []byte, row T) []byte) []byte {
	dst = append(append(append(dst, `,"`...), name...), `":[`...)
	for i, row := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = node(dst, row)
	}
	return append(dst, ']')
}

// How long parts of an answer get, at most: pages are cut by it, and a buffer that has to
// grow is copied.

// edgeSize is the length of the members around a node: its cursor, and its revision.
const edgeSize = 112

// Size returns the length of a call's edge, with everything that was joined to it.
func (c CallRow) Size() int { return len(c.Doc) + edgeSize + c.PersonRow.size() + c.PledgeRow.size() }

// Size returns the length of a person's edge.
func (p PersonRow) Size() int { return p.size() + edgeSize }

// Size returns the length of a pledge's edge.
func (p PledgeRow) Size() int { return p.size() + edgeSize }

func (p *PersonRow) size() int {
	if p == nil {
		return 32
	}
	return len(p.Doc) + len(p.Quality) + 48
}

func (p *PledgeRow) size() int {
	if p == nil {
		return 32
	}
	return len(p.Doc) + len(p.RecruiterUser) + p.PersonRow.size() + 400
}

func (p *WholePledge) size() int {
	size := p.PledgeRow.size() + p.PersonRow.size() + sizeOf(p.Transactions) + 64
	for _, call := range p.Calls {
		size += len(call.Doc) + 1
	}
	return size
}

func sizeOf(transactions []TransactionRow) int {
	var size int
	for _, t := range transactions {
		size += len(t.Doc) + 1
	}
	return size
}

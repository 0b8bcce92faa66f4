package apitype

// PageInfo has the position of a page in its list. The cursors are null on an empty page. Spec gap: L3.
type PageInfo struct {
	StartCursor     *string `json:"startCursor"`
	EndCursor       *string `json:"endCursor"`
	HasPreviousPage bool    `json:"hasPreviousPage"`
	HasNextPage     bool    `json:"hasNextPage"`
}

// Edge is one record of a page with the cursor of its place.
type Edge[T any] struct {
	Node   T      `json:"node"`
	Cursor string `json:"cursor"`
}

// Page is the envelope of every list. PageInfo is written first, so that a reader can
// ask for the next page while it reads this one. Spec gap: L15.
type Page[T any] struct {
	PageInfo PageInfo  `json:"pageInfo"`
	Edges    []Edge[T] `json:"edges"`
}

// SentRecord is the answer to a change if the account may not read the record, or if the record is too large to
// answer now. The status of a call or a pledge and the members that were sent follow. SentHeader is on such an answer.
type SentRecord struct {
	UUID     UUID  `json:"uuid"`
	Revision int64 `json:"revision"`
}

// SentHeader has the value true if the answer to a change is a SentRecord.
const SentHeader = "Fundesk-Sent"

// Paging is the part of a list's parameters that chooses the page. All are optional.
type Paging struct {
	Before string // Cursor; the page ends before it.
	Last   *int   // Number of records from the end of the range.
	After  string // Cursor; the page begins after it.
	First  *int   // Number of records from the start of the range.
}

// IsBackward reports whether the page is cut from the end of its range. A cursor alone sets the direction: the records
// before a before cursor are nearest to it. Spec gap: L2.
func (p Paging) IsBackward() bool {
	return p.First == nil && (p.Last != nil || p.Before != "" && p.After == "")
}

// The bounds of a page, in records. Spec gap: L1.
const (
	DefaultPageSize = 50
	MaxPageSize     = 500
)

// pageFilters returns the parameters that choose a page.
func pageFilters() []Filter[Paging] {
	return []Filter[Paging]{
		{Name: "before", field: func(p *Paging) field { return textField(&p.Before) }},
		{Name: "last", field: func(p *Paging) field { return sizeField(&p.Last) }},
		{Name: "after", field: func(p *Paging) field { return textField(&p.After) }},
		{Name: "first", field: func(p *Paging) field {
			f := sizeField(&p.First)
			read := f.read
			f.read = func(q *queryReader, name string) {
				if read(q, name); p.First != nil && p.Last != nil { // Spec gap: L2
					q.violations.addParameter("last", "cannot be combined with first")
				}
			}
			return f
		}},
	}
}

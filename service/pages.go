package service

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash"
	"net/url"
	"slices"
	"strconv"

	"fundesk/apiclient/apitype"
)

// The kinds of cursors: one of another list is refused. Spec gap: L4.
const (
	personCursor   = 'p'
	callCursor     = 'c'
	pledgeCursor   = 'l'
	erasureCursor  = 'e'
	missingCursor  = 'm'
	QueueCursor    = 'q'
	DeferralCursor = 'd'
)

// A cursor is kind, rank, milliseconds, uuid and MAC.
const (
	cursorBody = 2 + 8 + 16
	cursorSize = cursorBody + 16
)

// cursors writes and reads the cursors of one list. It is used by one page only: the
// hash, and the bytes that it authenticates, are kept between cursors.
type cursors struct {
	kind byte
	mac  hash.Hash
	raw  [cursorBody + sha256.Size]byte
}

func (s *Service) cursors(kind byte) *cursors {
	return &cursors{kind: kind, mac: hmac.New(sha256.New, s.keys.known.Load().cursor)}
}

func (c *cursors) append(dst []byte, p Position) []byte {
	raw := &c.raw
	raw[0], raw[1] = c.kind, byte(p.Rank)
	binary.BigEndian.PutUint64(raw[2:], uint64(p.At.UnixMilli()))
	copy(raw[10:], p.UUID[:])
	c.authenticate()
	return base64.RawURLEncoding.AppendEncode(dst, raw[:cursorSize])
}

// authenticate writes the MAC behind the body.
func (c *cursors) authenticate() {
	c.mac.Reset()
	c.mac.Write(c.raw[:cursorBody])
	c.mac.Sum(c.raw[:cursorBody])
}

// parse reads a cursor. ok is false if this list did not write it.
func (c *cursors) parse(text string) (p Position, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != cursorSize || raw[0] != c.kind {
		return p, false
	}
	copy(c.raw[:], raw[:cursorBody])
	c.authenticate()
	if !hmac.Equal(raw[cursorBody:], c.raw[cursorBody:cursorSize]) {
		return p, false
	}
	p.Rank, p.At = int(raw[1]), apitype.TimeFromMilli(int64(binary.BigEndian.Uint64(raw[2:])))
	copy(p.UUID[:], raw[10:])
	return p, true
}

// window is the part of a list that a request asks for.
type window struct {
	after, before *Position
	size          int
	backward      bool
}

// window reads the paging parameters. Spec gaps: L1, L2, L4.
func (c *cursors) window(p apitype.Paging) (window, error) {
	var v apitype.Violations
	place := func(name, text string) *Position {
		if text == "" {
			return nil
		}
		position, ok := c.parse(text)
		if !ok {
			v = append(v, apitype.Violation{Parameter: name, Message: "is not a cursor of this list"})
		}
		return &position
	}
	w := window{
		after:    place("after", p.After),
		before:   place("before", p.Before),
		size:     apitype.DefaultPageSize,
		backward: p.IsBackward(),
	}
	if p.First != nil {
		w.size = *p.First
	} else if p.Last != nil {
		w.size = *p.Last
	}
	return w, NotValid(v)
}

// listed is a row of a list: its position, and the length of its part of a page in bytes.
type listed interface {
	Size() int
	position() Position
}

type listing[T listed] struct {
	what    string
	kind    byte // Of its cursors.
	paging  apitype.Paging
	isEmpty bool // No row can pass the filters.
	rows    func(Reader, Range) ([]T, error)
	several bool                    // The rows take several statements, which have to see one state of the data.
	more    func(Reader, []T) error // Reads what belongs to the rows of a page. Nil reads nothing more.
	size    func(T) int             // Returns the length of a row's part, in bytes.
	node    func(dst []byte, row T) []byte
	rev     func(T) int64  // Returns the revision for the edge of a row. Nil if edges have none.
	note    AuditOperation // The audit's operation for a list that shows persons. Empty if it shows none.
	filters func() url.Values
	shown   func(persons []apitype.UUID, row T) []apitype.UUID // Appends the persons that a row shows.
}

func answerList[T listed](ctx context.Context, s *Service, c Caller, l listing[T]) (Answer, error) {
	cursors := s.cursors(l.kind)
	cursor := func(dst []byte, row T) []byte { return cursors.append(dst, row.position()) }
	w, err := cursors.window(l.paging)
	if err != nil {
		return Answer{}, err
	}
	if l.rev != nil {
		l.node = withRevision(l.node, l.rev)
	}
	settled := s.Settled(ctx) // Before the page is read.
	if l.isEmpty {
		return Answer{JSON: envelope(pageOf[T]{}, 0, cursor, l.node), Settled: settled, Epoch: epochOf(c.Account)}, nil
	}
	page, err := l.page(ctx, s, w)
	if err != nil {
		return Answer{}, err
	}
	size := page.cut(w.backward, l.size)
	if l.note != "" {
		err := noteList(ctx, s, c.listed(l.note, l.filters(), len(page.rows), s.Now()), page.rows, l.shown)
		if err != nil {
			return Answer{}, err
		}
	}
	return Answer{JSON: envelope(page, size, cursor, l.node), Settled: settled, Epoch: epochOf(c.Account)}, nil
}

// withRevision appends the revision of a record after its node, as a member of the edge. Spec gap: L16.
func withRevision[T any](node func(dst []byte, row T) []byte, rev func(T) int64) func(dst []byte, row T) []byte {
	return func(dst []byte, row T) []byte {
		return strconv.AppendInt(append(node(dst, row), `,"revision":`...), rev(row), 10)
	}
}

// ForwardList is a list of the queue, of which requests name the first rows after a cursor alone.
type ForwardList[T any] struct {
	What     string
	Cursor   byte // The kind of its cursors.
	First    *int
	After    string
	Now      apitype.Time
	IsEmpty  bool // No row can pass the filters.
	Rows     func(r Reader, after *Position, limit int) ([]T, error)
	More     func(Reader, []T) error // Reads what belongs to the rows of a page.
	Position func(T) Position
	Node     func(dst []byte, row T) []byte
	Filters  func() url.Values
	Shown    func(persons []apitype.UUID, row T) []apitype.UUID // Appends the persons that a row shows.
}

// AnswerForward answers with a page of such a list.
func AnswerForward[T any](ctx context.Context, s *Service, c Caller, l ForwardList[T]) (Answer, error) {
	cursors := s.cursors(l.Cursor)
	w, err := cursors.window(apitype.Paging{First: l.First, After: l.After})
	if err != nil {
		return Answer{}, err
	}
	var page pageOf[T]
	if !l.IsEmpty {
		page.hasPrevious = w.after != nil // There was one: the cursor names it.
		err = s.Read(ctx, ReadPlanned, l.What, func(r Reader) (err error) {
			page.rows, err = l.Rows(r, w.after, w.size+1)
			if err != nil || len(page.rows) == 0 {
				return err
			}
			page.next = len(page.rows) > w.size
			page.rows = page.rows[:min(w.size, len(page.rows))]
			return l.More(r, page.rows)
		})
	}
	if err != nil {
		return Answer{}, err
	}
	size := page.cut(false, func(row T) int { return len(l.Node(nil, row)) + edgeSize })
	if len(page.rows) > 0 && c.May(PersonsRead) {
		err = noteList(ctx, s, c.listed(AuditQueueList, l.Filters(), len(page.rows), l.Now), page.rows, l.Shown)
	}
	cursor := func(dst []byte, row T) []byte { return cursors.append(dst, l.Position(row)) }
	return Answer{JSON: envelope(page, size, cursor, l.Node)}, err
}

// errSeveral means that one statement is not enough for a page.
var errSeveral = errors.New("the page takes several questions")

// page returns the page of a window, and what belongs to its rows. Most pages need one statement. A page that needs
// several reads them in one snapshot.
func (l listing[T]) page(ctx context.Context, s *Service, w window) (pageOf[T], error) {
	of := func(r Reader, single bool) list[T] {
		return list[T]{func(part Range) ([]T, error) { return l.rows(r, part) }, single}
	}
	var page pageOf[T]
	var err error
	if l.more == nil && !l.several {
		err = s.Read(ctx, ReadList, l.what, func(r Reader) (err error) {
			page, err = of(r, true).read(w)
			return err
		})
		if !errors.Is(err, errSeveral) {
			return page, err
		}
	}
	err = s.Read(ctx, ReadSnapshot, l.what, func(r Reader) (err error) {
		page, err = of(r, false).read(w)
		if err == nil && l.more != nil {
			err = l.more(r, page.rows)
		}
		return err
	})
	return page, err
}

type list[T listed] struct {
	rows   func(Range) ([]T, error)
	single bool // Only one statement may run.
}

// any reports whether a range, which has one end at most, has a row.
func (l list[T]) any(r Range) (bool, error) {
	if l.single {
		return false, errSeveral
	}
	r.Backward, r.Limit = r.Above != nil, 1 // The nearest: the index is walked from there.
	rows, err := l.rows(r)
	return len(rows) > 0, err
}

// pageOf is one page of rows, in list order, with exact flags.
type pageOf[T any] struct {
	rows              []T
	hasPrevious, next bool
}

// PageBytes is the greatest length of a page's edges. The envelope around them is short.
const PageBytes = apitype.MaxPageBytes - 1<<10

// cut ends a page before it gets too long. It returns the length, and the start of the rest. A page has at least one
// row. size returns the length of a row's part. Spec gap: S32.
func (p *pageOf[T]) cut(backward bool, size func(T) int) int {
	var bytes int
	for n := range p.rows {
		at := n
		if backward {
			at = len(p.rows) - 1 - n
		}
		more := size(p.rows[at])
		if n > 0 && bytes+more > PageBytes {
			if backward {
				p.rows, p.hasPrevious = p.rows[at+1:], true
			} else {
				p.rows, p.next = p.rows[:at], true
			}
			return bytes
		}
		bytes += more
	}
	return bytes
}

// read returns the page of a window. Spec gap: L3.
func (l list[T]) read(w window) (pageOf[T], error) {
	var page pageOf[T]
	if w.after != nil && w.before != nil && w.after.compare(*w.before) <= 0 { // The end does not lie after the start.
		return page, nil
	}
	more, beyond := false, false
	var err error
	if w.size > 0 {
		page.rows, beyond, more, err = l.from(w)
		if err != nil {
			return page, err
		}
		if len(page.rows) > w.size {
			page.rows, more = page.rows[:w.size], true
		}
	}
	if len(page.rows) == 0 {
		page.hasPrevious, page.next, err = l.around(w)
		return page, err
	}
	if w.backward {
		slices.Reverse(page.rows)
		page.hasPrevious, page.next = more, beyond
		if !more && w.after != nil {
			first := page.rows[0].position()
			page.hasPrevious, err = l.any(Range{Above: bound(&first, false)})
		}
		return page, err
	}
	page.hasPrevious, page.next = beyond, more
	if !more && w.before != nil {
		last := page.rows[len(page.rows)-1].position()
		page.next, err = l.any(Range{Below: bound(&last, false)})
	}
	return page, err
}

// from returns the rows of a window from its start, with one more than its size if there is one. It also returns
// whether a row is before that place, and whether there are more rows than were read. The row of the cursor is read,
// too. If the filters no longer match that row, or it belongs to another list, a second statement finds that out.
func (l list[T]) from(w window) (rows []T, beyond, more bool, err error) {
	r := Range{Backward: w.backward, Limit: w.size + 1, Bytes: PageBytes}
	r.Below, r.Above = bound(w.after, !w.backward), bound(w.before, w.backward)
	start, other := w.after, Range{Above: bound(w.after, false)}
	if w.backward {
		start, other = w.before, Range{Below: bound(w.before, false)}
	}
	if start == nil {
		rows, more, err = l.within(r)
		return rows, false, more, err
	}
	r.Limit++
	rows, more, err = l.within(r)
	if err != nil || len(rows) == 0 {
		return nil, false, false, err
	}
	if rows[0].position().compare(*start) == 0 {
		return rows[1:], true, more, nil
	}
	beyond, err = l.any(other)
	return rows, beyond, more, err
}

// within returns the rows of a range, and whether rows were left out because of their length.
func (l list[T]) within(r Range) (rows []T, more bool, err error) {
	rows, err = l.rows(r)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	bytes, last := 0, len(rows)-1
	for _, row := range rows[:last] {
		bytes += row.Size()
	}
	if r.IsFull(last, bytes) {
		return rows[:last], true, nil
	}
	return rows, false, nil
}

// around reports whether rows lie before and after the position of an empty page: after the after cursor going
// forward, before the before cursor going backward.
func (l list[T]) around(w window) (previous, next bool, err error) {
	place := w.after
	if w.backward {
		place = w.before
	}
	if place == nil {
		if w.size > 0 && w.after == nil && w.before == nil { // All was looked for.
			return false, false, nil
		}
		some, err := l.any(Range{})
		return some && w.backward, some && !w.backward, err
	}
	previous, err = l.any(Range{Above: bound(place, !w.backward)})
	if err != nil {
		return false, false, err
	}
	next, err = l.any(Range{Below: bound(place, w.backward)})
	return previous, next, err
}

// bound returns an end of a range, or nil if it has none.
func bound(p *Position, inclusive bool) *Bound {
	if p == nil {
		return nil
	}
	return &Bound{Position: *p, Inclusive: inclusive}
}

// envelope writes a page. cursor and node append the parts of one row. pageInfo comes first, so that a reader can
// request the next page while it reads this one. Spec gap: L15.
func envelope[T any](page pageOf[T], size int, cursor, node func(dst []byte, row T) []byte) []byte {
	dst := make([]byte, 0, 256+size)
	dst = append(dst, `{"pageInfo":{"startCursor":`...)
	if len(page.rows) == 0 {
		dst = append(dst, `null,"endCursor":null`...)
	} else {
		dst = append(cursor(append(dst, '"'), page.rows[0]), `","endCursor":"`...)
		dst = append(cursor(dst, page.rows[len(page.rows)-1]), '"')
	}
	dst = strconv.AppendBool(append(dst, `,"hasPreviousPage":`...), page.hasPrevious)
	dst = strconv.AppendBool(append(dst, `,"hasNextPage":`...), page.next)
	dst = append(dst, `},"edges":[`...)
	for i, row := range page.rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = node(append(dst, `{"node":`...), row)
		dst = append(cursor(append(dst, `,"cursor":"`...), row), `"}`...)
	}
	return append(dst, `]}`...)
}

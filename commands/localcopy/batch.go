package localcopy

import (
	"fmt"
	"math"
)

// cell is a value of a row.
type cell struct {
	kind   cellKind
	length int32
	number int64 // A whole number, the bits of a real one, or the place of a text in the batch.
}

type cellKind uint8

// The kinds of values.
const (
	cellNull cellKind = iota
	cellWhole
	cellReal
	cellText
)

// statement is an SQL statement of a writer.
type statement struct {
	sql    string
	handle uintptr // Of SQLite. Zero before its first use.
	isNull []bool  // The parameters that are NULL.
}

// step is a statement with its values.
type step struct {
	*statement
	values []cell
}

// batch has the statements of a page. A transaction has all of them or none. Its memory is used again.
type batch struct {
	steps []step
	cells []cell
	texts []byte
}

// clear empties the batch.
func (b *batch) clear() {
	clear(b.steps)
	b.steps, b.cells, b.texts = b.steps[:0], b.cells[:0], b.texts[:0]
}

// room returns memory for n values. They are NULL.
func (b *batch) room(n int) []cell {
	if len(b.cells)+n > cap(b.cells) {
		b.cells = make([]cell, 0, max(2*cap(b.cells), 1<<12, n)) // Steps hold on to the earlier memory.
	}
	begin := len(b.cells)
	b.cells = b.cells[:begin+n]
	row := b.cells[begin : begin+n : begin+n]
	clear(row)
	return row
}

// add appends a statement.
func (b *batch) add(s *statement, values []cell) { b.steps = append(b.steps, step{s, values}) }

// row returns values as the batch keeps them.
func (b *batch) row(values ...any) []cell {
	row := b.room(len(values))
	for i, value := range values {
		row[i] = b.cell(value)
	}
	return row
}

// cell returns a value as the batch keeps it.
func (b *batch) cell(value any) cell {
	switch v := value.(type) {
	case nil:
		return cell{}
	case string:
		return b.text(v)
	case int64:
		return cell{kind: cellWhole, number: v}
	case float64:
		return cell{kind: cellReal, number: int64(math.Float64bits(v))}
	default:
		return b.text(fmt.Sprint(v))
	}
}

// text stores a text.
func (b *batch) text(text string) cell {
	b.texts = append(b.texts, text...)
	return b.last(len(text))
}

// last returns the text of the last n bytes.
func (b *batch) last(n int) cell {
	return cell{kind: cellText, number: int64(len(b.texts) - n), length: int32(n)}
}

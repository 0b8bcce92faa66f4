package bulk

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"fundesk/apiclient"
	"fundesk/apiclient/durable"
)

// Mistakes are the mistakes in one line of a file.
type Mistakes struct {
	Row  Row      `json:"row"`
	What []string `json:"what"` // One "field: problem" each, as a log may have it.
	// Plain is What with every value. Nil if they are equal.
	Plain []string `json:"plain,omitempty"`
	Cause error    `json:"-"` // Nil if the line was refused before any request.
}

// Error returns the line with all its mistakes.
func (m Mistakes) Error() string {
	return "line " + strconv.Itoa(m.Row.Line) + ": " + strings.Join(m.What, "; ")
}

// Unwrap returns the cause.
func (m Mistakes) Unwrap() error { return m.Cause }

// PartError means that a line was carried out but for its consents.
type PartError struct {
	Change apiclient.Change // Which was made.
	Err    error            // Of a consent.
}

// Error returns what was made, and why the rest was not.
func (p *PartError) Error() string {
	made := "changed"
	if p.Change.Operation().Creates {
		made = "created as " + p.Change.UUID.String()
	}
	return made + ", without all consents: " + Reasons(p.Err)
}

// Unwrap returns the error of the consent.
func (p *PartError) Unwrap() error { return p.Err }

// Reasons returns the reason of a refusal, with the fields if they are known.
func Reasons(err error) string {
	if part, ok := errors.AsType[*PartError](err); ok {
		return part.Error()
	}
	if known, ok := errors.AsType[*apiclient.Error](err); ok && len(known.Detail) > 0 {
		return strings.Join(known.Detail, "; ")
	}
	return err.Error()
}

// The columns of a file of mistakes before the columns of the rows. When a corrected file is read again, they are
// ignored.
const (
	ColumnLine     = "line"
	ColumnMistakes = "mistakes"
)

// IsOwnColumn reports whether a column is of a file of mistakes, and of no record.
func IsOwnColumn(name string) bool { return name == ColumnLine || name == ColumnMistakes }

// CheckMistakes refuses to replace or remove a file that no earlier run has written. A spreadsheet may have saved it
// again.
func CheckMistakes(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Fault{Message: err.Error()}
	}
	defer func() { _ = file.Close() }()
	begin, err := beginningOf(file)
	if err != nil {
		return &Fault{Message: err.Error()}
	}
	after, isOurs := strings.CutPrefix(begin, ColumnLine)
	_, delimiter := utf8.DecodeRuneInString(after)
	if begin == "" || isOurs && strings.HasPrefix(after[delimiter:], ColumnMistakes) {
		return nil
	}
	return &Fault{
		"the file " + path + " holds no mistakes of an import or apply",
		"name a file of its own: --errors FILE",
	}
}

// beginningOf returns the beginning of a file as text, as far as the names of the first columns of a file of mistakes
// go. It is not empty for a file that is no text.
func beginningOf(file io.Reader) (string, error) {
	const most = int64(len(ColumnLine) + utf8.UTFMax + len(ColumnMistakes))
	var begin []byte
	text, _, err := newTextReader(file, "")
	if err == nil {
		begin, err = io.ReadAll(io.LimitReader(text, most))
	}
	if fault, isNoText := errors.AsType[*Fault](err); isNoText {
		return fault.Message, nil
	}
	return string(begin), err
}

// WriteMistakes writes the wrong lines and their mistakes as CSV: rows under their own header and in the form of their
// file, so that what reads the file reads them, and JSON as one cell.
func WriteMistakes(path string, form Form, header []string, wrong iter.Seq[Mistakes]) error {
	err := durable.Write(path, func(file io.Writer) error {
		return form.write(file, func(text io.Writer) error { return writeMistakes(text, form, header, wrong) })
	})
	if err != nil {
		return fmt.Errorf("write the file of mistakes: %w", err)
	}
	return nil
}

func writeMistakes(text io.Writer, form Form, header []string, wrong iter.Seq[Mistakes]) error {
	w := csv.NewWriter(text)
	w.Comma = cmp.Or(form.delimiter, w.Comma)
	keep := make([]int, 0, len(header)) // The columns that are the rows' own.
	names := []string{ColumnLine, ColumnMistakes}
	for i, name := range header {
		if !IsOwnColumn(name) {
			keep = append(keep, i)
			names = append(names, name)
		}
	}
	if header == nil {
		names = append(names, "row")
	}
	_ = w.Write(names) // Flush returns its error, too.
	for m := range wrong {
		what := m.What
		if m.Plain != nil {
			what = m.Plain
		}
		line := []string{strconv.Itoa(m.Row.Line), strings.Join(what, "; ")}
		if m.Row.Text != nil {
			line = append(line, string(m.Row.Text))
		}
		for _, i := range keep {
			if i < len(m.Row.Cells) {
				line = append(line, m.Row.Cells[i])
			}
		}
		_ = w.Write(slices.Concat(line, make([]string, max(0, len(names)-len(line)))))
	}
	w.Flush()
	return w.Error()
}

package bulk

import (
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
	const most = int64(len("\ufeff" + ColumnLine + "," + ColumnMistakes))
	begin, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return &Fault{Message: err.Error()}
	}
	isSeparator := func(r rune) bool { return strings.ContainsRune(",;\t", r) }
	names := strings.FieldsFunc(string(WithoutMark(begin)), isSeparator)
	isOurs := len(names) > 1 && names[0] == ColumnLine && strings.HasPrefix(names[1], ColumnMistakes)
	if len(begin) == 0 || isOurs {
		return nil
	}
	return &Fault{
		"the file " + path + " holds no mistakes of an import or apply",
		"name a file of its own: --errors FILE",
	}
}

// WriteMistakes writes the wrong lines and their mistakes as CSV: rows under their own header, JSON as one cell.
func WriteMistakes(path string, header []string, wrong iter.Seq[Mistakes]) error {
	err := durable.Write(path, func(file io.Writer) error {
		w := csv.NewWriter(file)
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
	})
	if err != nil {
		return fmt.Errorf("write the file of mistakes: %w", err)
	}
	return nil
}

package render

import (
	"bufio"
	"strings"
)

// tsvSpaces replaces what would break a line of tsv.
var tsvSpaces = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// writeTSV writes one row of tsv. It is cleaned in a pipe, too: head and cut show it on a
// terminal as it is.
func writeTSV[T any](w *bufio.Writer, columns []Column[T], record T) error {
	return writeRow(w, columns, "\t", "\n", func(column Column[T]) string {
		return Clean(tsvSpaces.Replace(column.Value(record)))
	})
}

// writeCSVHeader writes the names of the columns.
func writeCSVHeader[T any](w *bufio.Writer, columns []Column[T]) error {
	return writeRow(w, columns, ",", "\r\n", func(column Column[T]) string { return csvCell(column.Name, false) })
}

// writeCSV writes one row of csv.
func writeCSV[T any](w *bufio.Writer, columns []Column[T], record T, o Options) error {
	return writeRow(w, columns, ",", "\r\n", func(column Column[T]) string {
		value := column.Value(record)
		if o.Terminal {
			value = CleanLines(value)
		}
		return csvCell(value, o.SpreadsheetSafe)
	})
}

// writeRow writes the cells of one row.
func writeRow[T any](w *bufio.Writer, columns []Column[T], separator, end string, cell func(Column[T]) string) error {
	row := w.AvailableBuffer()
	for i, column := range columns {
		if i > 0 {
			row = append(row, separator...)
		}
		row = append(row, cell(column)...)
	}
	_, err := w.Write(append(row, end...))
	return err
}

// csvCell quotes a value where RFC 4180 wants it. A safe one begins with an apostrophe
// where a spreadsheet would take it for a formula.
func csvCell(value string, safe bool) string {
	if safe && IsFormula(value) {
		value = "'" + value
	}
	if !strings.ContainsAny(value, "\",\r\n") && strings.TrimSpace(value) == value {
		return value
	}
	return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
}

// IsFormula reports whether a spreadsheet would take a cell for a formula.
func IsFormula(cell string) bool {
	return cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0]))
}

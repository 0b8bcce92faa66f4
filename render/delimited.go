package render

import (
	"bufio"
	"strings"
)

// tsvSpaces replaces what would break a line of tsv.
var tsvSpaces = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// writeTSV writes one row of tsv.
func writeTSV[T any](w *bufio.Writer, columns []Column[T], record T, terminal bool) error {
	for i, column := range columns {
		if i > 0 {
			w.WriteByte('\t')
		}
		value := tsvSpaces.Replace(column.Value(record))
		if terminal {
			value = Clean(value)
		}
		w.WriteString(value)
	}
	return w.WriteByte('\n')
}

// writeCSVHeader writes the names of the columns.
func writeCSVHeader[T any](w *bufio.Writer, columns []Column[T]) error {
	for i, column := range columns {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteString(csvCell(column.Name, false))
	}
	_, err := w.WriteString("\r\n")
	return err
}

// writeCSV writes one row of csv.
func writeCSV[T any](w *bufio.Writer, columns []Column[T], record T, o Options) error {
	for i, column := range columns {
		if i > 0 {
			w.WriteByte(',')
		}
		value := column.Value(record)
		if o.Terminal {
			value = CleanLines(value)
		}
		w.WriteString(csvCell(value, o.SpreadsheetSafe))
	}
	_, err := w.WriteString("\r\n")
	return err
}

// csvCell quotes a value where RFC 4180 wants it. A safe one begins with an apostrophe
// where a spreadsheet would take it for a formula.
func csvCell(value string, safe bool) string {
	if safe && value != "" && strings.ContainsRune("=+-@\t\r", rune(value[0])) {
		value = "'" + value
	}
	if !strings.ContainsAny(value, "\",\r\n") && strings.TrimSpace(value) == value {
		return value
	}
	return `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
}
